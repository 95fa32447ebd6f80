//! What is let through, message by message: a field that is not listed is removed.
//!
//! Field numbers are those of the readers in [`crate::report`].

use super::Subject;
use crate::report::WorkloadKind;

/// A kind of message and what becomes of its fields.
#[derive(Debug)]
pub(super) struct Schema {
    pub(super) name: &'static str,
    pub(super) fields: &'static [(u32, Action)],
}

/// What becomes of a field.
#[derive(Clone, Copy, Debug)]
pub(super) enum Action {
    /// A varint, kept. Other wire types are not: damage can turn a text into one.
    Number,
    /// A 64-bit float, kept.
    Double,
    /// A 32-bit float, kept.
    Float,
    /// A text, kept if the profiler's vocabulary has all its words.
    Words(Subject),
    /// The name of a metric, kept if it has that form.
    MetricName(Subject),
    /// A nested message: if it is damaged, so is its parent.
    Part(&'static Schema),
    /// A nested message: if it is damaged, it is left out and its parent goes on.
    Item(&'static Schema),
    /// The same, if field 1 is text of the profiler's vocabulary; otherwise it is removed.
    Identified(&'static Schema, Subject),
    /// Removed.
    Remove(Subject),
    /// A text, replaced unless it is empty.
    Replace(Subject, &'static str),
    /// Needs more than its bytes.
    Special(Special),
}

/// Fields that need more than their bytes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Special {
    Metric,
    Attribute,
    KernelName,
    Thread,
    CommandLine,
    DeviceName,
    Version,
    FunctionSymbol,
    ObjectSymbol,
    MarkedFile,
    Column,
    ColumnNumbers,
}

use Action::{
    Double, Float, Identified, Item, MetricName, Number, Part, Remove, Replace, Special as Do,
    Words,
};

pub(super) const CAPTURE: Schema = Schema {
    name: "capture details",
    fields: &[
        (1, Remove(Subject::Ids)),
        (2, Remove(Subject::Times)),
        (3, Item(&SYSTEM)),
        (4, Item(&SYSTEM)),
        (5, Remove(Subject::Opaque)),
        (6, Item(&DEVICE)),
        (7, Remove(Subject::Comments)),
        (8, Do(Special::Version)),
        (9, Remove(Subject::Program)),
        (10, Item(&SETTINGS)),
        (11, Do(Special::CommandLine)),
    ],
};

const SYSTEM: Schema = Schema {
    name: "system",
    fields: &[
        (1, Words(Subject::Machine)),
        (2, Remove(Subject::Machine)),
        (3, Remove(Subject::Machine)),
        (4, Words(Subject::Machine)),
        (5, Remove(Subject::Machine)),
        (6, Number),
        (7, Remove(Subject::Machine)),
    ],
};

const DEVICE: Schema = Schema {
    name: "device",
    fields: &[
        (1, Number),
        (2, Do(Special::DeviceName)),
        (3, Do(Special::Attribute)),
    ],
};

const SETTINGS: Schema = Schema {
    name: "profiler settings",
    fields: &[
        (1, Number),
        (2, Number),
        (3, Number),
        (4, Number),
        (5, Item(&FILTER)),
        (6, Item(&OTHER_SETTINGS)),
        (7, Words(Subject::Settings)),
        (8, Number),
        (9, Item(&SAMPLING)),
        (10, Number),
        (11, Number),
        (12, Number),
        (13, Item(&SAMPLING)),
        (14, Number),
        (15, Number),
        (16, Number),
    ],
};

const FILTER: Schema = Schema {
    name: "filter",
    fields: &[
        (1, Remove(Subject::Settings)),
        (2, Number),
        (3, Remove(Subject::Settings)),
        (4, Number),
        (5, Number),
        (6, Number),
        (7, Remove(Subject::Settings)),
    ],
};

const OTHER_SETTINGS: Schema = Schema {
    name: "other settings",
    fields: &[(1, Number), (2, MetricName(Subject::Settings))],
};

const SAMPLING: Schema = Schema {
    name: "sampling settings",
    fields: &[(1, Number), (2, Number), (3, Number), (4, Number)],
};

pub(super) const SOURCE: Schema = Schema {
    name: "source",
    fields: &[
        (1, Number),
        (2, Remove(Subject::SourceFiles)),
        (3, Remove(Subject::IntermediateCode)),
        (4, Remove(Subject::Cubins)),
        (5, Number),
        (6, Number),
        (7, Number),
        (8, Remove(Subject::SourceFiles)),
        (9, Item(&RELOCATIONS)),
    ],
};

const RELOCATIONS: Schema = Schema {
    name: "relocations",
    fields: &[(1, Item(&FUNCTION)), (2, Item(&OBJECT))],
};

const FUNCTION: Schema = Schema {
    name: "function",
    fields: &[(1, Do(Special::FunctionSymbol)), (2, Number), (3, Number)],
};

const OBJECT: Schema = Schema {
    name: "data object",
    fields: &[(1, Do(Special::ObjectSymbol)), (2, Number), (3, Number)],
};

pub(super) fn result(kind: WorkloadKind) -> &'static Schema {
    match kind {
        WorkloadKind::Kernel => &KERNEL,
        WorkloadKind::Range => &RANGE,
        WorkloadKind::CommandList => &COMMAND_LIST,
        WorkloadKind::Graph => &GRAPH,
    }
}

const KERNEL: Schema = Schema {
    name: "kernel result",
    fields: &[
        (1, Do(Special::Thread)),
        (2, Number),
        (3, Remove(Subject::HostAddresses)),
        (4, Remove(Subject::HostAddresses)),
        (5, Do(Special::KernelName)),
        (6, Do(Special::KernelName)),
        (7, Do(Special::KernelName)),
        (8, Number),
        (9, Item(&TRIPLE)),
        (10, Item(&TRIPLE)),
        (11, Item(&TRIPLE)),
        (12, Remove(Subject::Comments)),
        (13, Do(Special::Metric)),
        (14, Remove(Subject::Times)),
        (15, Item(&REFERENCE)),
        (16, Number),
        (17, Identified(&SECTION, Subject::ForeignRules)),
        (18, Remove(Subject::Comments)),
        (19, Identified(&RULE, Subject::ForeignRules)),
        (20, Number),
        (21, Remove(Subject::Nvtx)),
        (22, Number),
        (23, Number),
        (24, Item(&NUMBER_PAIR)),
        (25, Item(&NUMBER_PAIR)),
        (26, Remove(Subject::GivenNames)),
        (27, Remove(Subject::GivenNames)),
        (28, Remove(Subject::CallStacks)),
        (29, Number),
        (30, Number),
        (31, Remove(Subject::GivenNames)),
        (32, Remove(Subject::CallStacks)),
        (33, Remove(Subject::Opaque)),
        (34, Remove(Subject::Opaque)),
        (35, Float),
    ],
};

const RANGE: Schema = Schema {
    name: "range result",
    fields: &[
        (1, Do(Special::Thread)),
        (2, Number),
        (3, Remove(Subject::Comments)),
        (4, Do(Special::Metric)),
        (5, Remove(Subject::Times)),
        (6, Number),
        (7, Identified(&SECTION, Subject::ForeignRules)),
        (8, Remove(Subject::Comments)),
        (9, Number),
        (10, Remove(Subject::Nvtx)),
        (11, Number),
        (12, Item(&NUMBER_PAIR)),
        (13, Remove(Subject::GivenNames)),
        (14, Remove(Subject::CallStacks)),
        (15, Number),
        (16, Number),
        (17, Remove(Subject::CallStacks)),
        (18, Remove(Subject::Opaque)),
        (19, Remove(Subject::Opaque)),
        (20, Identified(&RULE, Subject::ForeignRules)),
        (21, Float),
    ],
};

const COMMAND_LIST: Schema = Schema {
    name: "command-list result",
    fields: &[
        (1, Do(Special::Thread)),
        (2, Number),
        (3, Remove(Subject::Comments)),
        (4, Do(Special::Metric)),
        (5, Remove(Subject::Times)),
        (6, Number),
        (7, Identified(&SECTION, Subject::ForeignRules)),
        (8, Remove(Subject::Comments)),
        (9, Number),
        (10, Remove(Subject::Nvtx)),
        (11, Number),
        (12, Number),
        (13, Item(&NUMBER_PAIR)),
        (14, Remove(Subject::GivenNames)),
        (15, Remove(Subject::GivenNames)),
        (16, Remove(Subject::CallStacks)),
        (17, Number),
        (18, Remove(Subject::GivenNames)),
        (19, Number),
        (20, Item(&LAUNCH)),
        (21, Identified(&RULE, Subject::ForeignRules)),
        (22, Remove(Subject::CallStacks)),
        (23, Remove(Subject::Opaque)),
        (24, Remove(Subject::Opaque)),
        (25, Float),
    ],
};

const GRAPH: Schema = Schema {
    name: "graph result",
    fields: &[
        (1, Do(Special::Thread)),
        (2, Number),
        (3, Remove(Subject::Comments)),
        (4, Do(Special::Metric)),
        (5, Remove(Subject::Times)),
        (6, Number),
        (7, Identified(&SECTION, Subject::ForeignRules)),
        (8, Remove(Subject::Comments)),
        (9, Number),
        (10, Remove(Subject::Nvtx)),
        (11, Number),
        (12, Number),
        (13, Item(&NUMBER_PAIR)),
        (14, Remove(Subject::GivenNames)),
        (15, Remove(Subject::GivenNames)),
        (16, Remove(Subject::CallStacks)),
        (17, Number),
        (18, Number),
        (19, Remove(Subject::CallStacks)),
        (20, Remove(Subject::Opaque)),
        (21, Remove(Subject::Opaque)),
        (22, Identified(&RULE, Subject::ForeignRules)),
        (23, Float),
    ],
};

const TRIPLE: Schema = Schema {
    name: "size",
    fields: &[(1, Number), (2, Number), (3, Number)],
};

const NUMBER_PAIR: Schema = Schema {
    name: "state",
    fields: &[(1, Number), (2, Number)],
};

const REFERENCE: Schema = Schema {
    name: "source reference",
    fields: &[(1, Number)],
};

const LAUNCH: Schema = Schema {
    name: "launch",
    fields: &[(1, Part(&TRIPLE)), (2, Part(&TRIPLE))],
};

const SECTION: Schema = Schema {
    name: "section",
    fields: &[
        (1, Words(Subject::ForeignRules)),
        (2, Words(Subject::ForeignRules)),
        (3, Number),
        (4, Remove(Subject::SectionLayout)),
        (5, Remove(Subject::SectionLayout)),
        (6, Remove(Subject::SectionLayout)),
        (7, Remove(Subject::SectionLayout)),
        (8, Remove(Subject::SectionLayout)),
        (9, Remove(Subject::SectionLayout)),
        (10, Remove(Subject::SectionLayout)),
        (11, Remove(Subject::SectionLayout)),
        (12, Remove(Subject::SectionLayout)),
        (13, Remove(Subject::SectionLayout)),
    ],
};

const RULE: Schema = Schema {
    name: "rule",
    fields: &[
        (1, Words(Subject::ForeignRules)),
        (2, Words(Subject::ForeignRules)),
        (3, Item(&RULE_BODY)),
        (4, Words(Subject::ForeignRules)),
        (5, Item(&MARKER)),
    ],
};

const RULE_BODY: Schema = Schema {
    name: "body",
    fields: &[(1, Item(&RULE_ITEM))],
};

const RULE_ITEM: Schema = Schema {
    name: "item",
    fields: &[
        (1, Part(&MESSAGE)),
        (2, Remove(Subject::RuleTexts)),
        (3, Remove(Subject::RuleTexts)),
        (4, Remove(Subject::RuleTexts)),
        (5, Remove(Subject::RuleTexts)),
        (6, Identified(&PROPOSAL, Subject::ForeignRules)),
        (7, Remove(Subject::RuleTexts)),
        (8, Part(&FOCUS)),
        (9, Part(&SOURCE_METRICS)),
        (10, Part(&SPEEDUP)),
        (11, Remove(Subject::RuleTexts)),
        (12, Part(&TABLE)),
    ],
};

/// What stands in place of a rule's text, so that a page has something to show.
pub(super) const REMOVED_TEXT: &str = "(removed)";

const MESSAGE: Schema = Schema {
    name: "message",
    fields: &[
        (1, Replace(Subject::RuleTexts, REMOVED_TEXT)),
        (2, Number),
        (3, Number),
        (4, Words(Subject::RuleTexts)),
    ],
};

const SOURCE_METRICS: Schema = Schema {
    name: "source metrics",
    fields: &[(1, Words(Subject::RuleTexts)), (3, Part(&SOURCE_METRIC))],
};

const SOURCE_METRIC: Schema = Schema {
    name: "source metric",
    fields: &[(1, MetricName(Subject::RuleTexts))],
};

const PROPOSAL: Schema = Schema {
    name: "proposal",
    fields: &[(1, Words(Subject::ForeignRules))],
};

const FOCUS: Schema = Schema {
    name: "focus metric",
    fields: &[
        (1, Number),
        (2, MetricName(Subject::RuleTexts)),
        (3, Double),
        (4, Number),
        (5, Remove(Subject::RuleTexts)),
    ],
};

const SPEEDUP: Schema = Schema {
    name: "speed-up",
    fields: &[(1, Number), (2, Double)],
};

const TABLE: Schema = Schema {
    name: "table",
    fields: &[(1, Remove(Subject::RuleTexts)), (2, Do(Special::Column))],
};

pub(super) const COLUMN: Schema = Schema {
    name: "column",
    fields: &[
        (1, Words(Subject::RuleTexts)),
        (2, Number),
        (3, Number),
        (4, Replace(Subject::RuleTexts, REMOVED_TEXT)),
        (5, Do(Special::ColumnNumbers)),
        (6, Do(Special::ColumnNumbers)),
        (7, Remove(Subject::RuleTexts)),
    ],
};

/// A column of opcodes: the only texts of a table that are known to be harmless.
pub(super) const OPCODE_COLUMN: &str = "Opcode";

const MARKER: Schema = Schema {
    name: "mark",
    fields: &[
        (1, Number),
        (2, Number),
        (3, Number),
        (4, Replace(Subject::RuleTexts, REMOVED_TEXT)),
        (5, Number),
        (6, Do(Special::MarkedFile)),
    ],
};

pub(super) const VERSION: Schema = Schema {
    name: "version",
    fields: &[
        (1, Words(Subject::Components)),
        (2, Words(Subject::Components)),
    ],
};
