//! What is stored of a result.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use crate::document::Packed;
use crate::extract;
use crate::{Error, Id, Point, Timestamp};

/// Which command gave a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// `ridge bench`.
    Bench,
    /// `ridge why`.
    Why,
    /// `ridge trace`.
    Trace,
    /// `ridge ceilings`.
    Ceilings,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Bench, Self::Why, Self::Trace, Self::Ceilings];

    /// The name of the command.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bench => "bench",
            Self::Why => "why",
            Self::Trace => "trace",
            Self::Ceilings => "ceilings",
        }
    }

    /// The schema of its documents.
    #[must_use]
    pub const fn schema(self) -> &'static str {
        match self {
            Self::Bench => "ridgepoint.bench",
            Self::Why => "ridgepoint.diagnosis",
            Self::Trace => "ridgepoint.timeline",
            Self::Ceilings => "ridgepoint.ceilings",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Kind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.name() == text)
            .ok_or_else(|| Error::Kind(text.to_owned()))
    }
}

/// The GPU of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gpu {
    /// The name that the driver reports; of several models, their names with ` + ` between them.
    pub name: String,
    /// The identifier of the one that was used, where it is known.
    pub uuid: Option<String>,
}

/// The slowest and the fastest SM clock of what was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockRange {
    /// The slowest.
    pub low_hz: f64,
    /// The fastest.
    pub high_hz: f64,
}

/// The state of the source when the result was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Revision {
    /// The commit, with all its digits.
    pub commit: Option<String>,
    /// The branch; absent on none.
    pub branch: Option<String>,
    /// Whether files under version control differed from the commit.
    pub is_dirty: Option<bool>,
}

/// What the document of a result does not tell.
#[derive(Clone, Debug, Default)]
pub struct Circumstances {
    /// When the result was made; absent stands for 1970.
    pub time: Option<Timestamp>,
    /// The machine.
    pub host: Option<String>,
    /// The state of the source.
    pub revision: Revision,
    /// The command line.
    pub command: Option<String>,
    /// What the user calls it.
    pub labels: Labels,
    /// The driver, where the document does not tell.
    pub driver: Option<String>,
    /// The version of ridge, where the document does not tell.
    pub tool_version: Option<String>,
    /// What was measured, where the document does not tell.
    pub name: Option<String>,
}

/// Labels: names with values. A label without a value has an empty one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels(BTreeMap<String, String>);

impl Labels {
    /// Bytes of a name at most.
    pub const LONGEST_NAME: usize = 200;
    /// Bytes of a value at most. Databases index no longer ones.
    pub const LONGEST_VALUE: usize = 1000;

    /// Adds a label as it is typed: `NAME=VALUE` or `NAME`. A later value takes the place of an earlier one.
    ///
    /// # Errors
    /// When the name is empty, or name or value is too long or holds control characters.
    pub fn add(&mut self, label: &str) -> Result<(), Error> {
        let (name, value) = label.split_once('=').unwrap_or((label, ""));
        self.set(name.trim(), value.trim())
    }

    /// Adds a label.
    ///
    /// # Errors
    /// As [`Labels::add`].
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), Error> {
        let wrong = |reason| Error::Label {
            label: format!("{}={}", shortened(name, 80), shortened(value, 80)),
            reason,
        };
        if name.is_empty() {
            return Err(wrong("its name is empty; expected NAME=VALUE or NAME"));
        }
        if name.contains('=') {
            return Err(wrong("its name holds an equals sign"));
        }
        if name.len() > Self::LONGEST_NAME {
            return Err(wrong("its name is longer than 200 bytes"));
        }
        if value.len() > Self::LONGEST_VALUE {
            return Err(wrong("its value is longer than 1000 bytes"));
        }
        if name.chars().chain(value.chars()).any(char::is_control) {
            return Err(wrong("it holds a control character"));
        }
        self.0.insert(name.to_owned(), value.to_owned());
        Ok(())
    }

    /// The value of a label.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// All of them, in the order of their names.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'l> FromIterator<(&'l str, &'l str)> for Labels {
    /// Those that can be stored; others are left out.
    fn from_iter<I: IntoIterator<Item = (&'l str, &'l str)>>(labels: I) -> Self {
        let mut all = Self::default();
        for (name, value) in labels {
            // Only what another version wrote can be wrong here, and a label less is no reason to lose a result.
            let _ = all.set(name, value);
        }
        all
    }
}

/// A result without its document and points: what lists show.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// The identifier.
    pub id: Id,
    /// When it was made.
    pub time: Timestamp,
    /// Which command gave it.
    pub kind: Kind,
    /// What was measured: the benchmark, the report or the program. At most 500 bytes.
    pub name: String,
    /// The machine.
    pub host: Option<String>,
    /// The GPU.
    pub gpu: Option<Gpu>,
    /// The version of the driver.
    pub driver: Option<String>,
    /// SM clocks.
    pub sm_clock: Option<ClockRange>,
    /// The state of the source.
    pub revision: Revision,
    /// The command line.
    pub command: Option<String>,
    /// What the user calls it.
    pub labels: Labels,
    /// The version of ridge that made it.
    pub tool_version: Option<String>,
    /// Version of the document's schema.
    pub schema_version: u32,
}

/// A result as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// What lists show.
    pub head: Head,
    /// The whole answer of the command.
    pub document: Packed,
    /// What series are made of.
    pub points: Vec<Point>,
}

/// What a name, branch or host has at most, in bytes: databases index no longer ones.
const LONGEST: usize = 500;

impl Record {
    /// Makes a record of a document that `ridge` wrote: the JSON of `bench`, `why`, `timeline` or `ceilings`.
    ///
    /// # Errors
    /// When the bytes are no such document. One of a later version of its schema is read as far as it is known.
    pub fn of_document(json: &[u8], circumstances: Circumstances) -> Result<Self, Error> {
        let document = Packed::of(json)?;
        let facts = extract::facts(json)?;
        let points = facts.points;
        let head = Head {
            // Set below, when all is in its final form.
            id: Id::of_parts([]),
            time: circumstances.time.unwrap_or(Timestamp::from_micros(0)),
            kind: facts.kind,
            name: facts
                .name
                .or(circumstances.name)
                .unwrap_or_else(|| facts.kind.name().to_owned()),
            host: circumstances.host,
            gpu: facts.gpu,
            driver: facts.driver.or(circumstances.driver),
            sm_clock: facts.sm_clock,
            revision: circumstances.revision,
            command: circumstances.command,
            labels: circumstances.labels,
            tool_version: facts.tool_version.or(circumstances.tool_version),
            schema_version: facts.schema_version,
        };
        Self::new(head, document, points)
    }

    /// Puts a record together. Texts are brought into the form in which every store keeps them, and the identifier is made.
    pub(crate) fn new(
        mut head: Head,
        document: Packed,
        mut points: Vec<Point>,
    ) -> Result<Self, Error> {
        if !head.time.is_plausible() {
            return Err(Error::Implausible(head.time));
        }
        head.name = storable(&head.name, LONGEST);
        for text in [
            &mut head.host,
            &mut head.driver,
            &mut head.revision.commit,
            &mut head.revision.branch,
            &mut head.tool_version,
        ]
        .into_iter()
        .flatten()
        {
            *text = storable(text, LONGEST);
        }
        if let Some(gpu) = &mut head.gpu {
            gpu.name = storable(&gpu.name, LONGEST);
            gpu.uuid = gpu.uuid.take().map(|uuid| storable(&uuid, LONGEST));
        }
        // Commands are not indexed, and long in places.
        head.command = head.command.map(|command| storable(&command, 20_000));
        head.sm_clock = head
            .sm_clock
            .filter(|clock| clock.low_hz.is_finite() && clock.high_hz.is_finite());
        points.retain(|point| point.value.is_finite());
        for point in &mut points {
            // Subjects hold whole names of kernels; their index is made of hashes.
            point.subject = storable(&point.subject, 20_000);
            point.metric = storable(&point.metric, LONGEST);
            point.unit = storable(&point.unit, LONGEST);
            point.low = point.low.filter(|low| low.is_finite());
            point.high = point.high.filter(|high| high.is_finite());
        }
        // A series has one point of a result.
        let mut seen = std::collections::HashSet::new();
        points.retain(|point| {
            seen.insert((
                point.subject.clone(),
                point.metric.clone(),
                point.unit.clone(),
            ))
        });
        head.id = identifier(&head, &document.json()?)?;
        Ok(Self {
            head,
            document,
            points,
        })
    }
}

/// What an identifier is made of. Fields and their order are frozen: `identifiers_are_frozen` has one.
#[derive(Serialize)]
struct Canonical<'c> {
    time_us: i64,
    host: &'c Option<String>,
    commit: &'c Option<String>,
    branch: &'c Option<String>,
    is_dirty: Option<bool>,
    command: &'c Option<String>,
    labels: &'c BTreeMap<String, String>,
}

fn identifier(head: &Head, json: &[u8]) -> Result<Id, Error> {
    let canonical = Canonical {
        time_us: head.time.micros(),
        host: &head.host,
        commit: &head.revision.commit,
        branch: &head.revision.branch,
        is_dirty: head.revision.is_dirty,
        command: &head.command,
        labels: &head.labels.0,
    };
    let canonical =
        serde_json::to_vec(&canonical).map_err(|error| Error::Document(error.to_string()))?;
    Ok(Id::of_parts([canonical.as_slice(), json]))
}

/// A text as every store keeps it: without the character 0, which PostgreSQL has not, and not longer than so many bytes.
fn storable(text: &str, longest: usize) -> String {
    shortened(&text.replace('\0', "\u{fffd}"), longest)
}

fn shortened(text: &str, longest: usize) -> String {
    if text.len() <= longest {
        return text.to_owned();
    }
    let mut end = longest.saturating_sub('…'.len_utf8());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", text.get(..end).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BENCH: &[u8] = include_bytes!("../../../fixtures/formats/bench-1/copy.json");

    fn circumstances() -> Circumstances {
        Circumstances {
            time: Some("2026-11-30T18:00:00Z".parse().unwrap()),
            host: Some("build-7".to_owned()),
            revision: Revision {
                commit: Some("1f0c".to_owned()),
                branch: Some("main".to_owned()),
                is_dirty: Some(false),
            },
            labels: [("nightly", "")].into_iter().collect(),
            ..Circumstances::default()
        }
    }

    /// An identifier that changes makes every merge see the same result twice.
    #[test]
    fn identifiers_are_frozen() {
        let document = br#"{"schema": "ridgepoint.ceilings", "version": 2, "figures": []}"#;
        let record = Record::of_document(document, circumstances()).unwrap();
        // Python's hashlib says so of the two parts, each behind its length in eight bytes.
        assert_eq!(
            record.head.id.to_string(),
            "ebf7bcd180267e12cf3288e0932a27d63e2d4632f4c047e0a6cb4f216e2e6362"
        );
    }
    #[test]
    fn what_differs_has_another_identifier() {
        let record = Record::of_document(BENCH, circumstances()).unwrap();
        let same = Record::of_document(BENCH, circumstances()).unwrap();
        assert_eq!(record, same);
        let mut seen = vec![record.head.id];
        let changes: [fn(&mut Circumstances); 6] = [
            |c| c.time = None,
            |c| c.host = None,
            |c| c.revision.branch = Some("other".to_owned()),
            |c| c.revision.is_dirty = None,
            |c| c.command = Some("ridge bench".to_owned()),
            |c| c.labels.set("baseline", "x").unwrap(),
        ];
        for change in changes {
            let mut changed = circumstances();
            change(&mut changed);
            let id = Record::of_document(BENCH, changed).unwrap().head.id;
            assert!(!seen.contains(&id));
            seen.push(id);
        }
        let spaced = [b"  ".as_slice(), BENCH, b"\n\n"].concat();
        assert_eq!(
            Record::of_document(&spaced, circumstances())
                .unwrap()
                .head
                .id,
            record.head.id,
            "white space is no content"
        );
    }

    #[test]
    fn labels_are_read_as_they_are_typed() {
        let mut labels = Labels::default();
        labels.add("nightly").unwrap();
        labels.add("variant=a=b").unwrap();
        labels.add(" spaced = x ").unwrap();
        assert_eq!(
            labels.iter().collect::<Vec<_>>(),
            [("nightly", ""), ("spaced", "x"), ("variant", "a=b")]
        );
        for wrong in [
            "",
            "=x",
            "a\u{1b}=x",
            "a=x\ny",
            &"n".repeat(201),
            &format!("a={}", "v".repeat(1001)),
        ] {
            assert!(labels.add(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn texts_are_storable_everywhere() {
        assert_eq!(storable("a\0b", 10), "a\u{fffd}b");
        let long = storable(&"ü".repeat(400), LONGEST);
        assert!(long.len() <= LONGEST && long.ends_with('…'));
    }
}
