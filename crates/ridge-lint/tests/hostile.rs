//! Sources that are none, cut sources and nested ones: nothing fails, and nothing takes long.

#[path = "../../../fuzz/src/lint.rs"]
pub mod checks;

use std::fmt::Write;
use std::fs;
use std::path::Path;

use proptest::prelude::*;

const PIECES: [&str; 24] = [
    "__global__ void k(float* a, int n) {",
    "}",
    "{",
    "if (threadIdx.x < n) ",
    "for (int i = threadIdx.x; i < n; i += blockDim.x) ",
    "a[i * n] = a[i] * 0.1;",
    "__shared__ float s[32][32];",
    "s[threadIdx.x][0] += 1;",
    "__syncthreads();",
    "k<<<(n + 31) / 32, 32>>>(a, n);",
    "struct S { float x, y[8]; };",
    "template <int N>",
    "#define N 32\n",
    "#if 1\n",
    "#endif\n",
    "// ridge-lint: allow(double-literal)\n",
    "int i = i + i * n / n % 7;",
    "&",
    "(",
    ")",
    "[",
    "<<<",
    "atomicAdd(&a[0], 1);",
    "\u{0}\u{fffd}",
];

proptest! {
    #[test]
    fn any_bytes_are_passed_over(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        checks::lint(&bytes);
    }

    #[test]
    fn any_pieces_in_any_order_are_read(pieces in proptest::collection::vec(0..PIECES.len(), 0..60)) {
        let text: String = pieces.into_iter().map(|piece| PIECES[piece]).collect();
        checks::lint(text.as_bytes());
    }
}

#[test]
fn cut_sources_are_read() {
    let source = fs::read(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../gallery/cube_denoise/kernels.cu"),
    )
    .unwrap();
    for end in (0..source.len()).step_by(101) {
        checks::lint(&source[..end]);
    }
}

#[test]
fn inputs_that_were_trouble_are_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/regressions/lint");
    for entry in fs::read_dir(folder).unwrap() {
        checks::lint(&fs::read(entry.unwrap().path()).unwrap());
    }
}

/// Whatever is nested, walks do not follow it on the stack.
#[test]
fn deep_nesting_is_no_depth_of_the_stack() {
    const DEPTH: usize = 100_000;
    let body = |open: &str, inner: &str, close: &str| {
        let mut text = "__global__ void k(float* a, int n) {".to_owned();
        text.push_str(&open.repeat(DEPTH));
        text.push_str(inner);
        text.push_str(&close.repeat(DEPTH));
        text.push('}');
        text
    };
    for source in [
        body("{", "a[0] = 1;", "}"),
        body("if (n) { int i = n;", "", "}"),
        format!("int x = {}1{};", "(".repeat(DEPTH), ")".repeat(DEPTH)),
        format!(
            "__global__ void k(int* a, int n) {{ a[0] = n{}; }}",
            "+n".repeat(DEPTH)
        ),
        "{".repeat(DEPTH),
        "a[".repeat(DEPTH),
        "#if 1\n".repeat(DEPTH),
        "struct S {".repeat(DEPTH),
        "template <".repeat(DEPTH),
        "k<<<".repeat(DEPTH),
    ] {
        checks::lint(source.as_bytes());
    }
}

/// Variables that depend on several others, which do too: each is looked at a few times, and not once for each way to it.
#[test]
fn variables_that_depend_on_each_other_are_not_followed_on_every_way() {
    let mut text = "__global__ void k(float* a, int n) {\nfloat l[64];\nint j0 = n;\n".to_owned();
    for line in 0..2000 {
        let next = line + 1;
        writeln!(
            text,
            "int j{next}; for (int q = 0; q < j{line}; q++) j{next} += j{line} + j{line} + j{line}; l[j{next}] = 1;"
        )
        .unwrap();
    }
    text.push('}');
    checks::lint(text.as_bytes());
}

/// Functions and macros of one expression that call the next one twice stand for more than anybody computes.
#[test]
fn chains_of_functions_and_macros_end() {
    let mut text = String::new();
    for line in 0..2000 {
        let next = line + 1;
        writeln!(
            text,
            "__device__ int f{line}(int x) {{ return f{next}(x) + f{next}(x) * x; }}"
        )
        .unwrap();
        writeln!(text, "#define M{line}(x) (M{next}(x) + M{next}(x) * f{line}(x))\n#define O{line} (O{next} + O{next})").unwrap();
    }
    text.push_str("__global__ void k(float* a) { a[f0(threadIdx.x) + M0(threadIdx.x) + O0] = 1; }");
    checks::lint(text.as_bytes());
}

#[test]
fn what_is_too_large_or_binary_is_refused() {
    let large = vec![b' '; 50 << 20];
    assert_eq!(ridge_lint::lint(&large).unwrap_err().code(), "LINT0002");
    assert_eq!(
        ridge_lint::lint(b"\x7fELF\x02\0").unwrap_err().code(),
        "LINT0001"
    );
    let latin = b"// gr\xfc\xdfe\n__global__ void k(float* x) { x[0] = x[1] * 0.1 + 1; }\n";
    assert_eq!(ridge_lint::lint(latin).unwrap().findings.len(), 1);
}
