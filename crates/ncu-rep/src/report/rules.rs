//! What the profiler's own rules said about a workload.

use std::borrow::Cow;

use super::header::some_text;
use crate::error::Error;
use crate::metric::Value;
use crate::wire::{Message, Room};

/// The outcome of one rule.
#[derive(Clone, Debug, Default)]
pub struct RuleResult<'r> {
    /// Identifier, such as `SOLBottleneck`.
    pub id: Cow<'r, str>,
    /// Title of the rule.
    pub name: Cow<'r, str>,
    /// The section that the rule belongs to.
    pub section: Option<Cow<'r, str>>,
    /// What it found; empty when it found nothing.
    pub items: Vec<RuleItem<'r>>,
    /// Places in the source or in the machine code.
    pub markers: Vec<SourceMarker<'r>>,
}

/// One item of a rule's outcome.
#[derive(Clone, Debug, Default)]
pub struct RuleItem<'r> {
    /// A message.
    pub message: Option<RuleMessage<'r>>,
    /// Another rule that this one proposes to look at.
    pub proposes: Option<Cow<'r, str>>,
    /// A metric that the message is about.
    pub focus: Option<FocusMetric<'r>>,
    /// The estimate that belongs to the message of the same item.
    pub speedup: Option<Speedup>,
    /// Metrics by instruction that a table of places is made of; the places are the markers of the rule.
    pub source_metrics: Vec<Cow<'r, str>>,
    /// A table.
    pub table: Option<Table<'r>>,
}

/// A message of a rule.
#[derive(Clone, Debug)]
pub struct RuleMessage<'r> {
    /// Number of the message, which focus metrics refer to.
    pub id: Option<u64>,
    /// What kind of message it is.
    pub kind: MessageKind,
    /// Its heading.
    pub title: Option<Cow<'r, str>>,
    /// Its text.
    pub text: Cow<'r, str>,
}

/// What kind of message a rule wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// Plain text.
    None,
    /// All is well.
    Ok,
    /// A warning; also an advice in reports of 2022.
    Warning,
    /// An error.
    Error,
    /// An advice.
    Optimisation,
    /// A kind that this version does not know.
    Other(u64),
}

/// A metric that a message points to. Its value may belong to another metric; take values from the metrics.
#[derive(Clone, Debug)]
pub struct FocusMetric<'r> {
    /// The message.
    pub message_id: Option<u64>,
    /// The metric.
    pub name: Cow<'r, str>,
    /// The value that the rule saw.
    pub value: Option<f64>,
    /// How severe it is.
    pub severity: Severity,
    /// What to do about it.
    pub advice: Option<Cow<'r, str>>,
}

/// How severe a focus metric is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Not stated.
    Default,
    /// Low.
    Low,
    /// High.
    High,
    /// A level that this version does not know.
    Other(u64),
}

/// The profiler's estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speedup {
    /// Whether it speaks of the whole kernel; a local one speaks of one unit only.
    pub is_global: bool,
    /// Percent of the time (global) or of the unit's use (local).
    pub percent: f64,
}

/// A table of a rule.
#[derive(Clone, Debug, Default)]
pub struct Table<'r> {
    /// Its columns.
    pub columns: Vec<TableColumn<'r>>,
}

/// A column of a table; it holds values of one type.
#[derive(Clone, Debug, Default)]
pub struct TableColumn<'r> {
    /// Its heading.
    pub name: Cow<'r, str>,
    /// Its values from top to bottom.
    pub values: Vec<Value<'r>>,
}

/// A place that a rule marked.
#[derive(Clone, Debug, Default)]
pub struct SourceMarker<'r> {
    /// An instruction, by its address on the device.
    pub address: Option<u64>,
    /// A line of a source file.
    pub line: Option<u64>,
    /// The file.
    pub file: Option<Cow<'r, str>>,
    /// What kind of mark it is; absent where none is stored.
    pub kind: Option<MessageKind>,
    /// The text of the mark.
    pub text: Cow<'r, str>,
}

impl<'r> RuleResult<'r> {
    /// Takes what the message holds, up to its first fault.
    pub(super) fn fill(&mut self, message: Message<'r>, room: &mut Room) -> Result<(), Error> {
        for field in message.fields() {
            let field = field?;
            match field.number {
                1 => self.id = field.value.text().unwrap_or_default(),
                2 => self.name = field.value.text().unwrap_or_default(),
                3 => {
                    if let Some(body) = field.value.message() {
                        self.fill_items(body, room)?;
                    }
                }
                4 => self.section = some_text(field.value.text()),
                5 => {
                    if let Some(message) = field.value.message() {
                        room.push(&mut self.markers, SourceMarker::decode(message)?)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn fill_items(&mut self, body: Message<'r>, room: &mut Room) -> Result<(), Error> {
        for field in body.fields() {
            let field = field?;
            if let (1, Some(message)) = (field.number, field.value.message()) {
                let item = RuleItem::decode(message, room)?;
                room.push(&mut self.items, item)?;
            }
        }
        Ok(())
    }

    /// Messages of this rule, each with its estimate.
    pub fn messages(&self) -> impl Iterator<Item = (&RuleMessage<'r>, Option<Speedup>)> {
        self.items
            .iter()
            .filter_map(|item| item.message.as_ref().map(|message| (message, item.speedup)))
    }
}

impl<'r> RuleItem<'r> {
    fn decode(message: Message<'r>, room: &mut Room) -> Result<Self, Error> {
        let mut item = Self::default();
        for field in message.fields() {
            let field = field?;
            let Some(message) = field.value.message() else {
                continue;
            };
            match field.number {
                1 => item.message = Some(RuleMessage::decode(message)?),
                6 => {
                    for field in message.fields() {
                        let field = field?;
                        if field.number == 1 {
                            item.proposes = field.value.text();
                        }
                    }
                }
                8 => item.focus = Some(FocusMetric::decode(message)?),
                9 => item.decode_source_metrics(message, room)?,
                10 => item.speedup = Some(Speedup::decode(message)?),
                12 => item.table = Some(Table::decode(message, room)?),
                _ => {}
            }
        }
        Ok(item)
    }

    /// A heading is field 1, each metric a message in field 3.
    fn decode_source_metrics(&mut self, table: Message<'r>, room: &mut Room) -> Result<(), Error> {
        for field in table.fields() {
            let field = field?;
            let (3, Some(metric)) = (field.number, field.value.message()) else {
                continue;
            };
            for field in metric.fields() {
                let field = field?;
                if field.number == 1 {
                    let name = field.value.text().unwrap_or_default();
                    room.push(&mut self.source_metrics, name)?;
                }
            }
        }
        Ok(())
    }
}

impl MessageKind {
    fn new(number: u64) -> Self {
        match number {
            0 => Self::None,
            1 => Self::Ok,
            2 => Self::Warning,
            3 => Self::Error,
            4 => Self::Optimisation,
            other => Self::Other(other),
        }
    }
}

impl<'r> RuleMessage<'r> {
    fn decode(message: Message<'r>) -> Result<Self, Error> {
        let mut out = Self {
            id: None,
            kind: MessageKind::None,
            title: None,
            text: Cow::Borrowed(""),
        };
        for field in message.fields() {
            let field = field?;
            match field.number {
                1 => out.text = field.value.text().unwrap_or_default(),
                2 => {
                    out.kind = MessageKind::new(field.value.varint().unwrap_or(0));
                }
                3 => out.id = field.value.varint(),
                4 => out.title = some_text(field.value.text()),
                _ => {}
            }
        }
        Ok(out)
    }
}

impl<'r> FocusMetric<'r> {
    fn decode(message: Message<'r>) -> Result<Self, Error> {
        let mut out = Self {
            message_id: None,
            name: Cow::Borrowed(""),
            value: None,
            severity: Severity::Default,
            advice: None,
        };
        for field in message.fields() {
            let field = field?;
            match field.number {
                1 => out.message_id = field.value.varint(),
                2 => out.name = field.value.text().unwrap_or_default(),
                3 => out.value = field.value.double(),
                4 => {
                    out.severity = match field.value.varint().unwrap_or(0) {
                        0 => Severity::Default,
                        1 => Severity::Low,
                        2 => Severity::High,
                        other => Severity::Other(other),
                    };
                }
                5 => out.advice = some_text(field.value.text()),
                _ => {}
            }
        }
        Ok(out)
    }
}

impl Speedup {
    fn decode(message: Message<'_>) -> Result<Self, Error> {
        let mut out = Self {
            is_global: false,
            percent: 0.0,
        };
        for field in message.fields() {
            let field = field?;
            match field.number {
                1 => out.is_global = field.value.varint() == Some(2),
                2 => out.percent = field.value.double().unwrap_or(0.0),
                _ => {}
            }
        }
        Ok(out)
    }
}

impl<'r> Table<'r> {
    fn decode(message: Message<'r>, room: &mut Room) -> Result<Self, Error> {
        let mut table = Self::default();
        for field in message.fields() {
            let field = field?;
            if let (2, Some(message)) = (field.number, field.value.message()) {
                let column = TableColumn::decode(message, room)?;
                room.push(&mut table.columns, column)?;
            }
        }
        Ok(table)
    }
}

impl<'r> TableColumn<'r> {
    fn decode(message: Message<'r>, room: &mut Room) -> Result<Self, Error> {
        let mut column = Self::default();
        for field in message.fields() {
            let field = field?;
            match field.number {
                1 => column.name = field.value.text().unwrap_or_default(),
                4 => {
                    if let Some(text) = field.value.text() {
                        room.push(&mut column.values, Value::Text(text))?;
                    }
                }
                5 => match (field.value.double(), field.value.message()) {
                    (Some(value), _) => room.push(&mut column.values, Value::F64(value))?,
                    // Repeated numbers are stored packed: one byte string for all.
                    (None, Some(packed)) => {
                        for value in packed.packed_doubles() {
                            room.push(&mut column.values, Value::F64(value?))?;
                        }
                    }
                    (None, None) => {}
                },
                6 => match (field.value.varint(), field.value.message()) {
                    (Some(value), _) => room.push(&mut column.values, Value::U64(value))?,
                    (None, Some(packed)) => {
                        for value in packed.packed_varints() {
                            room.push(&mut column.values, Value::U64(value?))?;
                        }
                    }
                    (None, None) => {}
                },
                _ => {}
            }
        }
        Ok(column)
    }
}

impl<'r> SourceMarker<'r> {
    fn decode(message: Message<'r>) -> Result<Self, Error> {
        let mut marker = Self::default();
        for field in message.fields() {
            let field = field?;
            match field.number {
                2 => marker.line = field.value.varint(),
                3 => marker.address = field.value.varint(),
                4 => marker.text = field.value.text().unwrap_or_default(),
                5 => marker.kind = field.value.varint().map(MessageKind::new),
                6 => marker.file = some_text(field.value.text()),
                _ => {}
            }
        }
        Ok(marker)
    }
}
