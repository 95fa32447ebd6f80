//! Mistakes that are visible in CUDA source and in build flags, before anything is measured.
//!
//! The crate is pure: bytes in, values out. It opens no file, prints nothing and renders nothing. A source becomes a tree, the tree
//! a model that all rules share (functions, types, launches, how values differ from thread to thread), and each rule is a file in
//! `rules/`. What cannot be told from one file is not reported: rules are silent where they would have to guess.
//!
//! ```
//! let source = b"__global__ void scale(float* x) {\n    x[threadIdx.x] *= 0.1;\n}\n";
//! let report = ridge_lint::lint(source).expect("it is source");
//! assert_eq!(report.findings[0].rule, "double-literal");
//! assert_eq!(report.findings[0].start.line, 2);
//! ```
#![forbid(unsafe_code)]

mod build;
pub mod document;
mod error;
mod finding;
mod model;
mod pages;
mod rules;
mod suppress;
mod syntax;

pub use build::{Command, lint_cmake, lint_commands, lint_flags, read_commands};
pub use error::Error;
use finding::{Found, Lines};
pub use finding::{Place, Severity};
use model::Model;
pub use pages::{page, page_ids};
use suppress::Allowed;
use syntax::{Kind, Tree};

/// Something that a rule found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// Where it begins.
    pub start: Place,
    /// Where it ends: the first column behind it.
    pub end: Place,
    /// The line on which it begins.
    pub line: String,
    /// What is wrong, in a sentence.
    pub message: String,
    /// What to do.
    pub advice: &'static str,
}

/// What is to be known beside the findings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// The place that it is about.
    pub start: Place,
    /// What there is to say.
    pub message: String,
}

/// What was found in a source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The findings in the order of the text.
    pub findings: Vec<Finding>,
    /// How many findings comments allowed.
    pub allowed: usize,
    /// Comments that allow nothing, because no rule has the name.
    pub remarks: Vec<Remark>,
    /// How many kernels there are.
    pub kernels: usize,
    /// How many lines.
    pub lines: usize,
    /// How many pieces of the text the parser did not understand; rules do not look into them.
    pub not_understood: usize,
}

/// Looks at a source.
///
/// # Errors
/// When it is no source.
pub fn lint(source: &[u8]) -> Result<Report, Error> {
    let model = Model::of(Tree::parse(source)?);
    let lines = Lines::of(source);
    let tree = &model.tree;
    let allowed = Allowed::read(tree, &lines);
    let mut found = Vec::new();
    rules::run(&model, &mut found);
    found.sort_by(|a, b| (a.range.start, a.rule).cmp(&(b.range.start, b.rule)));
    found.dedup_by(|a, b| (a.range.start, a.rule) == (b.range.start, b.rule));
    let before = found.len();
    found.retain(|found| !allowed.allows(found, &lines));
    let remarks = allowed.unknown.iter().map(|(range, message)| Remark {
        start: lines.place(range.start),
        message: message.clone(),
    });
    Ok(Report {
        allowed: before - found.len(),
        findings: found
            .into_iter()
            .map(|found| placed(found, &lines))
            .collect(),
        remarks: remarks.collect(),
        kernels: model
            .functions
            .iter()
            .filter(|function| function.is_kernel())
            .count(),
        lines: lines.count(),
        not_understood: tree
            .below(tree.root())
            .filter(|id| tree.is(*id, Kind::Error))
            .count(),
    })
}

fn placed(found: Found, lines: &Lines<'_>) -> Finding {
    Finding {
        rule: found.rule,
        severity: found.severity,
        start: lines.place(found.range.start),
        end: lines.place(found.range.end),
        line: lines.text(lines.line(found.range.start)),
        message: found.message,
        advice: found.advice,
    }
}
