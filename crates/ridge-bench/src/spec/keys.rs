//! The keys of a spec: what the reader accepts, what the schema describes and what the reference lists come from here.

/// What a key takes.
#[derive(Debug)]
pub enum Kind {
    /// Any text.
    Text,
    /// A list of texts.
    Texts,
    /// A whole number, or an expression as text.
    Formula,
    /// A number, or an expression as text.
    Number,
    /// One formula, or a list of up to three.
    Extent,
    /// A number of its own, without expressions.
    Plain,
    /// Yes or no.
    Boolean,
    /// One of these words, each with what it means.
    Word(&'static [(&'static str, &'static str)]),
    /// A table.
    Table(&'static Table),
    /// A list of tables.
    Tables(&'static Table),
    /// A table whose keys are names, each with a value of this kind.
    Named(&'static Kind),
    /// A list of numbers, or a table that makes one.
    Axis,
    /// A list of expressions, or one.
    Formulas,
}

/// A key.
#[derive(Debug)]
pub struct Key {
    /// How it is written.
    pub name: &'static str,
    /// Another spelling with the same meaning, or nothing.
    pub also: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// Whether it has to be there.
    pub is_required: bool,
    /// What it means, in words.
    pub meaning: &'static str,
}

/// A table.
#[derive(Debug)]
pub struct Table {
    /// What it is called in messages.
    pub title: &'static str,
    /// Its keys.
    pub keys: &'static [Key],
}

const fn key(name: &'static str, kind: Kind, meaning: &'static str) -> Key {
    Key {
        name,
        also: "",
        kind,
        is_required: false,
        meaning,
    }
}

const fn required(name: &'static str, kind: Kind, meaning: &'static str) -> Key {
    Key {
        is_required: true,
        ..key(name, kind, meaning)
    }
}

const fn also(also: &'static str, key: Key) -> Key {
    Key {
        name: key.name,
        also,
        kind: key.kind,
        is_required: key.is_required,
        meaning: key.meaning,
    }
}

/// Types of elements and scalars.
pub const TYPES: &[(&str, &str)] = &[
    ("f64", "64-bit floating point"),
    ("f32", "32-bit floating point"),
    ("f16", "16-bit floating point"),
    ("bf16", "16-bit floating point with the exponent of f32"),
    ("e4m3", "8-bit floating point up to 448"),
    ("e5m2", "8-bit floating point up to 57344"),
    ("i8", "8-bit integers with sign"),
    ("u8", "8-bit integers"),
    ("i16", "16-bit integers with sign"),
    ("u16", "16-bit integers"),
    ("i32", "32-bit integers with sign"),
    ("u32", "32-bit integers"),
    ("i64", "64-bit integers with sign"),
    ("u64", "64-bit integers"),
];

const INITS: &[(&str, &str)] = &[
    ("zeros", "0"),
    ("constant", "`value`"),
    ("iota", "the index"),
    (
        "random",
        "uniform in [`low`, `high`); integers exclude `high`; default 0 to 1, for integers the whole type's range is not used unless said",
    ),
    (
        "normal",
        "normal with mean 0 and standard deviation 1, for floating point",
    ),
    ("bits", "random bits, for integers"),
    (
        "permutation",
        "a permutation of 0 … length - 1, whose length is a power of two",
    ),
    ("inverse-permutation", "its inverse"),
    ("sorted", "index * `step` + a random number below `step`"),
    (
        "shuffled",
        "element p(index) of the sorted one, p being the permutation",
    ),
];

/// The keys of `[buffers]`.
pub static BUFFER: Table = Table {
    title: "a buffer",
    keys: &[
        required("type", Kind::Word(TYPES), "type of the elements"),
        required("length", Kind::Formula, "number of elements"),
        key(
            "init",
            Kind::Word(INITS),
            "what element it starts with; without it, the buffer is only written: it is filled with a pattern that no result has",
        ),
        key("value", Kind::Number, "the value of `constant`"),
        key("low", Kind::Number, "lower end of `random`"),
        key("high", Kind::Number, "upper end of `random`"),
        key("step", Kind::Formula, "step of `sorted` and `shuffled`"),
        key(
            "seed",
            Kind::Formula,
            "seed of the random numbers; part of the identity of a result",
        ),
        key(
            "take",
            Kind::Formula,
            "with `group` and `offset`: element j has the number of index (j / take) * group + offset + j % take, the same values as another buffer in another layout",
        ),
        key("group", Kind::Formula, "see `take`"),
        key("offset", Kind::Formula, "see `take`"),
        key(
            "symbol",
            Kind::Text,
            "the buffer is this variable of the module (`__device__` or `__constant__`), and need not be an argument",
        ),
        key(
            "output",
            Kind::Boolean,
            "a kernel writes it, and it is checked",
        ),
    ],
};

/// The keys of `[scalars]`.
pub static SCALAR: Table = Table {
    title: "a scalar",
    keys: &[
        required("type", Kind::Word(TYPES), "type of the argument"),
        key(
            "value",
            Kind::Number,
            "its value; without it, that of the size or axis of the same name",
        ),
    ],
};

/// The keys of a launch.
pub static LAUNCH: Table = Table {
    title: "a launch",
    keys: &[
        also(
            "kernel",
            required("entry", Kind::Text, "name of the kernel in the module"),
        ),
        required("grid", Kind::Extent, "blocks in x, y and z"),
        required("block", Kind::Extent, "threads of a block in x, y and z"),
        key("cluster", Kind::Extent, "blocks of a cluster in x, y and z"),
        key("shared", Kind::Formula, "bytes of dynamic shared memory"),
        key(
            "args",
            Kind::Texts,
            "names of buffers and scalars, in the order of the parameters",
        ),
    ],
};

/// The keys of `[kernels.NAME]`.
pub static KERNEL: Table = Table {
    title: "a kernel",
    keys: &[
        also(
            "kernel",
            key("entry", Kind::Text, "name of the kernel in the module"),
        ),
        key("grid", Kind::Extent, "blocks in x, y and z"),
        key("block", Kind::Extent, "threads of a block in x, y and z"),
        key("cluster", Kind::Extent, "blocks of a cluster in x, y and z"),
        key("shared", Kind::Formula, "bytes of dynamic shared memory"),
        key(
            "args",
            Kind::Texts,
            "names of buffers and scalars, in the order of the parameters",
        ),
        key(
            "launch",
            Kind::Tables(&LAUNCH),
            "several launches in order, in place of the keys above; a sample is all of them",
        ),
        key(
            "repeat",
            Kind::Formula,
            "the launches are run that many times in a sample",
        ),
        key(
            "source",
            Kind::Text,
            "a file of its own in place of the spec's `source`",
        ),
        key("options", Kind::Texts, "further compiler options"),
        key(
            "define",
            Kind::Named(&Kind::Number),
            "macros, whose values may use axes: the source is compiled for each",
        ),
        key(
            "axes",
            Kind::Texts,
            "the axes that this kernel has; without it, all",
        ),
        key(
            "where",
            Kind::Formulas,
            "further restrictions, for this kernel",
        ),
        also(
            "min_bytes",
            key("bytes", Kind::Number, "in place of the spec's `bytes`"),
        ),
        key("flops", Kind::Number, "in place of the spec's `flops`"),
        key(
            "simulated_traffic",
            Kind::Number,
            "how often the bytes cross between SMs and L2 on a simulated device; default 1, and nothing to a real one",
        ),
    ],
};

const MODES: &[(&str, &str)] = &[
    ("elements", "element by element"),
    (
        "sum",
        "only the sums of all elements, where their order may differ",
    ),
    ("none", "outputs are not compared"),
];

const ACCUMULATORS: &[(&str, &str)] = &[
    ("f64", "64-bit floating point"),
    ("f32", "32-bit floating point"),
    ("f16", "16-bit floating point"),
    ("bf16", "16-bit floating point with the exponent of f32"),
    ("i32", "32-bit integers"),
];

const PRESETS: &[(&str, &str)] = &[
    ("torch", "as `torch.testing.assert_close`"),
    ("numpy", "as `numpy.allclose`"),
    ("strict", "the right number, rounded to the type"),
    (
        "tensor-core",
        "a product on tensor cores, whose sums are truncated and whose f32 factors are rounded to TF32; needs `terms`",
    ),
    ("fast-math", "functions built with `--use_fast_math`"),
];

/// The keys of `[check]`.
pub static CHECK: Table = Table {
    title: "[check]",
    keys: &[
        key(
            "reference",
            Kind::Text,
            "the kernel of this spec whose outputs are right",
        ),
        key(
            "expression",
            Kind::Named(&Kind::Text),
            "for each output, what element `i` has to be: an expression over sizes, axes, scalars and elements of inputs such as `a[i]`",
        ),
        key(
            "file",
            Kind::Named(&Kind::Text),
            "for each output, a file that holds the right elements as they lie in memory",
        ),
        key(
            "outputs",
            Kind::Texts,
            "buffers to compare; without it, those with `output = true`",
        ),
        key(
            "mode",
            Kind::Word(MODES),
            "what is compared; default `elements`",
        ),
        key(
            "relative",
            Kind::Plain,
            "each element may differ by this share of the right one",
        ),
        key("absolute", Kind::Plain, "and by this much besides"),
        key(
            "tolerance",
            Kind::Plain,
            "the norm of all differences may be this share of the norm of the right ones",
        ),
        key(
            "terms",
            Kind::Formula,
            "an element is a sum of so many products, whose rounding it may differ by (docs/design/numerics.md); in place of `relative` and `absolute`",
        ),
        key(
            "accumulate",
            Kind::Word(ACCUMULATORS),
            "the format that sums are kept in; default `f32`, of `f64` outputs `f64`",
        ),
        key(
            "preset",
            Kind::Word(PRESETS),
            "a known rule in place of `relative` and `absolute`",
        ),
        key(
            "samples",
            Kind::Formula,
            "how many elements of an `expression` are computed, the first and the last among them; default 65536, or 1024 where it has a `sum`",
        ),
        key("slow", Kind::Texts, "outputs of the kernel `slow`"),
        key(
            "fixed",
            Kind::Texts,
            "outputs of the kernel `fixed`, if others",
        ),
    ],
};

const TIMINGS: &[(&str, &str)] = &[
    (
        "device",
        "launches are queued before the first one starts, so that the time is the device's",
    ),
    (
        "host",
        "launches are part of what is timed: nothing is queued ahead",
    ),
];

const SCOPES: &[(&str, &str)] = &[("report", "the finding concerns several kernels")];

/// The keys of a spec.
pub static SPEC: Table = Table {
    title: "the spec",
    keys: &[
        also(
            "case",
            key(
                "name",
                Kind::Text,
                "what the benchmark is called; without it, the name of the file",
            ),
        ),
        key(
            "source",
            Kind::Text,
            "the kernels, relative to the spec: `.cu`, `.ptx`, `.cubin` or `.fatbin`; default `kernels.cu`",
        ),
        key(
            "options",
            Kind::Texts,
            "options of the compiler, such as `--use_fast_math`",
        ),
        key(
            "include",
            Kind::Texts,
            "folders of headers, relative to the spec",
        ),
        key(
            "arch",
            Kind::Text,
            "compile for this architecture, such as `sm_90a`, in place of the device's",
        ),
        key(
            "define",
            Kind::Named(&Kind::Number),
            "macros, whose values may use axes: the source is compiled for each",
        ),
        also(
            "min_bytes",
            key(
                "bytes",
                Kind::Number,
                "bytes that have to cross the border of device memory: each input once, each output once",
            ),
        ),
        key(
            "flops",
            Kind::Number,
            "operations of the computation; a multiply-add is two",
        ),
        key(
            "format",
            Kind::Text,
            "number format of the operations, such as fp32, bf16 or tf32; default fp32",
        ),
        key(
            "unit",
            Kind::Word(&[("vector", "ordinary lanes"), ("tensor", "tensor units")]),
            "the unit whose peak bounds the operations; default `vector`",
        ),
        key(
            "timing",
            Kind::Word(TIMINGS),
            "where the clock is; default `device`",
        ),
        key(
            "sizes",
            Kind::Named(&Kind::Number),
            "named numbers, in order; later ones may use earlier ones and axes",
        ),
        key(
            "axes",
            Kind::Named(&Kind::Axis),
            "named lists of numbers; every combination is a state",
        ),
        key(
            "where",
            Kind::Formulas,
            "conditions that a state has to meet",
        ),
        key(
            "buffers",
            Kind::Named(&Kind::Table(&BUFFER)),
            "device memory",
        ),
        key(
            "scalars",
            Kind::Named(&Kind::Table(&SCALAR)),
            "other arguments",
        ),
        key(
            "kernels",
            Kind::Named(&Kind::Table(&KERNEL)),
            "what is measured, by name",
        ),
        also(
            "compare",
            key(
                "check",
                Kind::Table(&CHECK),
                "how outputs are compared, and with what",
            ),
        ),
        key(
            "slow",
            Kind::Tables(&LAUNCH),
            "launches of a kernel called `slow`, as in the gallery",
        ),
        key(
            "fixed",
            Kind::Tables(&LAUNCH),
            "launches of a kernel called `fixed`, as in the gallery",
        ),
        key("slow_repeat", Kind::Formula, "`repeat` of `slow`"),
        key("fixed_repeat", Kind::Formula, "`repeat` of `fixed`"),
        key(
            "label",
            Kind::Text,
            "the finding that is right for the first kernel; of the gallery, as are the four keys below",
        ),
        key("accept", Kind::Texts, "other findings that are right too"),
        key("fix", Kind::Text, "the remedy in words"),
        key("scope", Kind::Word(SCOPES), "what the finding concerns"),
        key("note", Kind::Text, "what has to be known"),
    ],
};

/// The keys of an axis that is a table.
pub static AXIS: Table = Table {
    title: "an axis",
    keys: &[
        required("from", Kind::Plain, "the first value, or exponent"),
        required(
            "to",
            Kind::Plain,
            "the last value, or exponent, if a step meets it",
        ),
        key("step", Kind::Plain, "what is added each time; default 1"),
        key(
            "power_of",
            Kind::Plain,
            "from, to and step are exponents of this base",
        ),
    ],
};
