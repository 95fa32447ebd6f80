//! The answer of `ridge doctor`, as data.
//!
//! Fields are only ever added within a version. Absent is `null`.

use schemars::JsonSchema;
use serde::Serialize;

/// Name of the contract.
pub const SCHEMA: &str = "ridgepoint.doctor";
/// Its version.
pub const VERSION: u32 = 1;

/// What works on a machine: what `ridge doctor --format json` writes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(title = "Doctor")]
pub struct Document {
    /// Always `ridgepoint.doctor`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// Version of the contract.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// The version of the command.
    pub tool_version: String,
    /// Whether nothing that a command needs does not work; what is only of use does not count.
    pub is_able: bool,
    /// The lines, from the driver up.
    pub lines: Vec<Line>,
}

impl Document {
    /// The document of lines.
    #[must_use]
    pub fn of(lines: Vec<Line>, tool_version: &str) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            version: VERSION,
            tool_version: tool_version.to_owned(),
            is_able: !lines
                .iter()
                .any(|line| line.state == State::Fails && !line.is_optional),
            lines,
        }
    }
}

/// One thing that works or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Line {
    /// The stable name of the check.
    pub id: String,
    /// What it is about, for people.
    pub subject: String,
    /// Whether it works.
    pub state: State,
    /// What was found, and why it is judged so.
    pub text: String,
    /// The commands or settings that mend it.
    pub remedies: Vec<String>,
    /// What needs it.
    pub needed_for: Vec<Need>,
    /// Whether these go on without it, with less.
    pub is_optional: bool,
}

/// Whether something works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It does.
    Works,
    /// It does, and figures from it need care.
    Limited,
    /// It does not.
    Fails,
    /// That could not be found out.
    Unknown,
}

impl State {
    /// The stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Works => "works",
            Self::Limited => "limited",
            Self::Fails => "fails",
            Self::Unknown => "unknown",
        }
    }
}

/// What a machine is needed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Need {
    /// `ridge bench` and `ridge ceilings`.
    Measure,
    /// Profiles with `ncu`, as `ridge why -- COMMAND` makes them.
    Profile,
    /// `ridge sanitize`.
    Sanitize,
    /// Text of instructions in `ridge why`.
    Disassemble,
}

impl Need {
    /// What it is, for people.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Measure => "measuring",
            Self::Profile => "profiling",
            Self::Sanitize => "sanitizing",
            Self::Disassemble => "text of instructions",
        }
    }
}
