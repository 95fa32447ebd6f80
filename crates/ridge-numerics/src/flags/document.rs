//! The answer about flags and code, as data: every renderer prints this and computes nothing.
//!
//! Fields are only ever added within a version. Absent is `null`.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Certainty, Effect, Evidence, Finding, Language, Scan, Settings};

/// Name of the contract.
pub const SCHEMA: &str = "ridgepoint.numerics-flags";
/// Its version.
pub const VERSION: u32 = 1;

/// What flags of a compiler or compiled code do to results: what `ridge numerics flags --format json` writes.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "Flags and results")]
pub struct Document {
    /// Always `ridgepoint.numerics-flags`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// Version of the contract.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// The version of the command.
    pub tool_version: String,
    /// The flags; `null` where none were asked about.
    pub flags: Option<Flags>,
    /// The code; `null` where none was given.
    pub code: Option<Code>,
    /// What may differ, and why.
    pub effects: Vec<FoundEffect>,
}

/// Flags.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Flags {
    /// As they were given.
    pub given: String,
    /// Flags about arithmetic whose value is none that is known.
    pub not_understood: Vec<String>,
}

/// Code that was looked at.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Code {
    /// The file.
    pub input: String,
    /// `ptx` or `sass`.
    pub language: String,
    /// How many functions it has.
    pub functions: u64,
    /// How many instructions.
    pub instructions: u64,
}

/// Something that may make results differ from IEEE arithmetic in the order of the source.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FoundEffect {
    /// Its stable name.
    pub id: String,
    /// Its name for people.
    pub title: String,
    /// Whether what tells of it leaves no doubt.
    pub is_certain: bool,
    /// What may differ.
    pub meaning: String,
    /// How large it is, as documented or as it follows from the formats.
    pub size: String,
    /// What turns it off, or makes it harmless.
    pub remedy: String,
    /// What tells of it.
    pub evidence: Vec<FoundEvidence>,
}

/// What tells of an effect.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum FoundEvidence {
    /// A flag.
    Flag {
        /// As it was given.
        flag: String,
    },
    /// What the compiler does without a flag.
    Default,
    /// Instructions.
    Instruction {
        /// Opcode with its modifiers.
        opcode: String,
        /// How many there are in the code.
        count: u64,
        /// Functions that have one.
        functions: Vec<String>,
    },
    /// The name of a function.
    Name {
        /// The function.
        function: String,
    },
}

impl From<&Evidence> for FoundEvidence {
    fn from(evidence: &Evidence) -> Self {
        match evidence {
            Evidence::Flag(Some(flag)) => Self::Flag { flag: flag.clone() },
            Evidence::Flag(None) => Self::Default,
            Evidence::Instruction {
                opcode,
                count,
                functions,
            } => Self::Instruction {
                opcode: opcode.clone(),
                count: *count,
                functions: functions.clone(),
            },
            Evidence::Name(function) => Self::Name {
                function: function.clone(),
            },
        }
    }
}

impl Document {
    /// Puts the answer together: flags with how they were given, code with its file.
    #[must_use]
    pub fn of(
        flags: Option<(&str, &Settings)>,
        code: Option<(&str, &Scan)>,
        tool_version: &str,
    ) -> Self {
        let by_flags = flags.map_or_else(Vec::new, |(_, settings)| settings.findings());
        let by_code = code.map_or_else(Vec::new, |(_, scan)| scan.findings());
        let effects = Effect::ALL
            .into_iter()
            .filter_map(|effect| {
                let found: Vec<&Finding> = by_flags
                    .iter()
                    .chain(&by_code)
                    .filter(|finding| finding.effect == effect)
                    .collect();
                (!found.is_empty()).then(|| FoundEffect {
                    id: effect.id().to_owned(),
                    title: effect.title().to_owned(),
                    is_certain: found
                        .iter()
                        .any(|finding| finding.certainty == Certainty::Certain),
                    meaning: effect.meaning().to_owned(),
                    size: effect.size().to_owned(),
                    remedy: effect.remedy().to_owned(),
                    evidence: found
                        .iter()
                        .flat_map(|finding| &finding.evidence)
                        .map(FoundEvidence::from)
                        .collect(),
                })
            })
            .collect();
        Self {
            schema: SCHEMA.to_owned(),
            version: VERSION,
            tool_version: tool_version.to_owned(),
            flags: flags.map(|(given, settings)| Flags {
                given: given.to_owned(),
                not_understood: settings.not_understood.clone(),
            }),
            code: code.map(|(input, scan)| Code {
                input: input.to_owned(),
                language: match scan.language() {
                    Language::Ptx => "ptx",
                    Language::Sass => "sass",
                }
                .to_owned(),
                functions: scan.functions().count() as u64,
                instructions: scan.instructions(),
            }),
            effects,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_and_code_tell_together() {
        let settings = Settings::parse(["-fmad=true"]);
        let scan = Scan::sass([
            ("k", "FFMA R1, R2, R3, R4"),
            ("k", "RED.E.ADD.F32 [R1], R2"),
        ]);
        let document = Document::of(
            Some(("-fmad=true", &settings)),
            Some(("k.cubin", &scan)),
            "0",
        );
        let ids: Vec<&str> = document
            .effects
            .iter()
            .map(|effect| effect.id.as_str())
            .collect();
        assert_eq!(ids, ["contraction", "float-atomics"]);
        assert!(document.effects[0].is_certain);
        assert_eq!(document.effects[0].evidence.len(), 2);
        assert_eq!(document.code.unwrap().instructions, 2);
    }
}
