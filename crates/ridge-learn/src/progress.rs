//! What a learner has done so far, and the file that keeps it.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Name of the contract.
pub const SCHEMA: &str = "ridgepoint.progress";
/// Its version.
pub const VERSION: u32 = 1;
/// Right answers of a round that make a lesson known, as a share.
pub const PASSED: f64 = 0.8;

/// What a learner has done so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    lessons: BTreeMap<String, Standing>,
}

/// What was done of a lesson.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// Rounds that came to their end.
    pub rounds: u64,
    /// Questions that were answered, in all rounds.
    pub asked: u64,
    /// Those that were answered right.
    pub right: u64,
    /// Right answers of the best whole round.
    pub best: u64,
    /// Questions of that round.
    pub best_of: u64,
}

impl Standing {
    /// Whether a round was good enough.
    #[must_use]
    pub fn is_passed(&self) -> bool {
        self.best_of > 0 && self.best as f64 >= PASSED * self.best_of as f64
    }

    fn is_possible(&self) -> bool {
        self.right <= self.asked && self.best <= self.best_of && self.best_of <= self.asked
    }
}

/// Why some bytes are no progress that this version reads.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// They are damaged, or something else.
    Damaged(String),
    /// They are of a later version, which must not be overwritten.
    Newer(u32),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged(reason) => f.write_str(reason),
            Self::Newer(version) => write!(
                f,
                "it has version {version}, and this command reads up to {VERSION}"
            ),
        }
    }
}

impl std::error::Error for ReadError {}

#[derive(Serialize)]
struct Written<'p> {
    schema: &'static str,
    version: u32,
    lessons: &'p BTreeMap<String, Standing>,
}

#[derive(Deserialize)]
struct Header {
    schema: String,
    version: u32,
}

#[derive(Deserialize)]
struct Stored {
    lessons: BTreeMap<String, Standing>,
}

impl Progress {
    /// Reads a stored one. Lessons that this version does not know are kept.
    ///
    /// # Errors
    /// When the text is damaged, something else, or of a later version.
    pub fn read(text: &str) -> Result<Self, ReadError> {
        let damaged = |error: serde_json::Error| ReadError::Damaged(error.to_string());
        let header: Header = serde_json::from_str(text).map_err(damaged)?;
        if header.schema != SCHEMA {
            return Err(ReadError::Damaged(format!("it is no {SCHEMA} document")));
        }
        if header.version > VERSION {
            return Err(ReadError::Newer(header.version));
        }
        let stored: Stored = serde_json::from_str(text).map_err(damaged)?;
        if let Some((name, _)) = stored.lessons.iter().find(|(_, of)| !of.is_possible()) {
            return Err(ReadError::Damaged(format!(
                "more answers of {name:?} are right than were given"
            )));
        }
        Ok(Self {
            lessons: stored.lessons,
        })
    }

    /// The text to store.
    #[must_use]
    pub fn write(&self) -> String {
        let written = Written {
            schema: SCHEMA,
            version: VERSION,
            lessons: &self.lessons,
        };
        // Maps of text to whole numbers are always JSON.
        let mut text = serde_json::to_string_pretty(&written).unwrap_or_default();
        text.push('\n');
        text
    }

    /// What was done of a lesson.
    #[must_use]
    pub fn of(&self, lesson: &str) -> Standing {
        self.lessons.get(lesson).copied().unwrap_or_default()
    }

    /// Adds an answer.
    pub fn add_answer(&mut self, lesson: &str, is_right: bool) {
        let standing = self.lessons.entry(lesson.to_owned()).or_default();
        standing.asked = standing.asked.saturating_add(1);
        standing.right = standing.right.saturating_add(u64::from(is_right));
    }

    /// Adds the end of a round whose answers were added.
    pub fn add_round(&mut self, lesson: &str, right: u64, asked: u64) {
        let standing = self.lessons.entry(lesson.to_owned()).or_default();
        standing.rounds = standing.rounds.saturating_add(1);
        let share = |right: u64, asked: u64| right as f64 / asked.max(1) as f64;
        if standing.best_of == 0 || share(right, asked) > share(standing.best, standing.best_of) {
            standing.best = right;
            standing.best_of = asked;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn some() -> Progress {
        let mut progress = Progress::default();
        for is_right in [true, true, false, true, true] {
            progress.add_answer("two-walls", is_right);
        }
        progress.add_round("two-walls", 4, 5);
        progress
    }

    #[test]
    fn what_is_written_is_read() {
        let progress = some();
        assert_eq!(Progress::read(&progress.write()).unwrap(), progress);
        assert!(progress.of("two-walls").is_passed());
        assert_eq!(progress.of("measuring"), Standing::default());
    }

    #[test]
    fn the_best_round_counts() {
        let mut progress = some();
        progress.add_round("two-walls", 1, 5);
        let standing = progress.of("two-walls");
        assert_eq!(
            (standing.best, standing.best_of, standing.rounds),
            (4, 5, 2)
        );
        for is_right in [true; 5] {
            progress.add_answer("two-walls", is_right);
        }
        progress.add_round("two-walls", 5, 5);
        assert_eq!(progress.of("two-walls").best, 5);
    }

    #[test]
    fn damage_and_later_versions_are_told_apart() {
        let text = some().write();
        for damaged in [
            &text[..text.len() / 2],
            "",
            "[]",
            "{\"schema\": \"ridgepoint.bench\", \"version\": 1}",
            &text.replace("\"right\": 4", "\"right\": 6"),
            &text.replace("\"right\": 4", "\"right\": -1"),
        ] {
            let error = Progress::read(damaged).unwrap_err();
            assert!(matches!(error, ReadError::Damaged(_)), "{damaged}: {error}");
        }
        let later = text.replace("\"version\": 1", "\"version\": 2");
        assert!(matches!(Progress::read(&later), Err(ReadError::Newer(2))));
    }

    proptest! {
        #[test]
        fn no_text_is_a_panic(text in ".{0,200}") {
            let _ = Progress::read(&text);
        }
    }
}
