//! The answer of `ridge lint`, as data: every renderer prints this and computes nothing.
//!
//! Fields are only ever added within a version. Absent is `null`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::{Error, Finding, Place, Report, Severity};

/// Name of the contract.
pub const SCHEMA: &str = "ridgepoint.lint";
/// Its version.
pub const VERSION: u32 = 1;

/// Mistakes that are visible in source and build flags: what `ridge lint --format json` writes.
///
/// Fields are only ever added within a version. Lines and columns count from 1, columns in characters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(title = "Lint")]
pub struct Document {
    /// Always `ridgepoint.lint`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// Version of the contract.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// The version of the command.
    pub tool_version: String,
    /// How many findings there are of each severity.
    pub counts: Counts,
    /// What was looked at, in the order of the command line.
    pub inputs: Vec<InputReport>,
    /// What was found, in the order of the inputs and of their text.
    pub findings: Vec<FoundItem>,
    /// What has to be known beside it, such as comments that allow a rule that does not exist.
    pub remarks: Vec<RemarkItem>,
}

/// Numbers of findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Counts {
    /// Of severity error.
    pub errors: u64,
    /// Of severity warning.
    pub warnings: u64,
    /// Of severity note.
    pub notes: u64,
    /// Those that comments allow; they are not in the list.
    pub allowed: u64,
}

/// An input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct InputReport {
    /// Its name.
    pub file: String,
    /// Lines of text; `null` where it could not be read.
    pub lines: Option<u64>,
    /// Kernels that it defines.
    pub kernels: Option<u64>,
    /// Pieces of the text that the parser did not understand, such as macros in unusual places. No rule looks into them.
    pub not_understood: Option<u64>,
    /// Why it could not be read; `null` where it was.
    pub problem: Option<Problem>,
}

/// Why an input could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Problem {
    /// A code that stays the same; `null` where the file system or its packing is at fault.
    pub code: Option<String>,
    /// In words.
    pub text: String,
}

/// Something that a rule found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FoundItem {
    /// The rule; `ridge explain RULE` has its page.
    pub rule: String,
    /// How bad it is.
    pub severity: Severity,
    /// The input.
    pub file: String,
    /// Where it begins; `null` for flags of the command line.
    pub start: Option<Place>,
    /// The first column behind it.
    pub end: Option<Place>,
    /// The line on which it begins.
    pub source: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub advice: String,
}

/// Something to know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RemarkItem {
    /// The input.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// What there is to say.
    pub text: String,
}

impl Document {
    /// An answer about nothing.
    #[must_use]
    pub fn new(tool_version: &str) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            version: VERSION,
            tool_version: tool_version.to_owned(),
            counts: Counts::default(),
            inputs: Vec::new(),
            findings: Vec::new(),
            remarks: Vec::new(),
        }
    }

    /// Adds what was found in an input.
    pub fn push(&mut self, file: &str, report: Report) {
        let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        self.counts.allowed += number(report.allowed);
        self.inputs.push(InputReport {
            file: file.to_owned(),
            lines: Some(number(report.lines)),
            kernels: Some(number(report.kernels)),
            not_understood: Some(number(report.not_understood)),
            problem: None,
        });
        for remark in report.remarks {
            self.remarks.push(RemarkItem {
                file: file.to_owned(),
                line: remark.start.line,
                text: remark.message,
            });
        }
        for finding in report.findings {
            self.found(file, finding);
        }
    }

    /// Adds what was found in flags that were given by themselves.
    pub fn push_flags(&mut self, name: &str, finding: Option<Finding>) {
        if let Some(finding) = finding {
            self.found(name, finding);
            if let Some(last) = self.findings.last_mut() {
                (last.start, last.end) = (None, None);
            }
        }
    }

    fn found(&mut self, file: &str, finding: Finding) {
        match finding.severity {
            Severity::Error => self.counts.errors += 1,
            Severity::Warning => self.counts.warnings += 1,
            Severity::Note => self.counts.notes += 1,
        }
        self.findings.push(FoundItem {
            rule: finding.rule.to_owned(),
            severity: finding.severity,
            file: file.to_owned(),
            start: Some(finding.start),
            end: Some(finding.end),
            source: Some(finding.line),
            message: finding.message,
            advice: finding.advice.to_owned(),
        });
    }

    /// Adds an input that is no source.
    pub fn push_error(&mut self, file: &str, error: &Error) {
        self.push_problem(file, Some(error.code()), error.to_string());
    }

    /// Adds an input that could not be read.
    pub fn push_problem(&mut self, file: &str, code: Option<&str>, text: String) {
        self.inputs.push(InputReport {
            file: file.to_owned(),
            lines: None,
            kernels: None,
            not_understood: None,
            problem: Some(Problem {
                code: code.map(str::to_owned),
                text,
            }),
        });
    }
}
