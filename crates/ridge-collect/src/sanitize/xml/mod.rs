//! The XML form: a root with one element for each record. Types of documents and entities are refused.
#![cfg_attr(
    not(test),
    warn(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

mod pull;

use super::record::{Access, FaultKind, HostFrame, Memory, Place, Record, Run, Severity};
use super::{Error, Reading};
use pull::{Pull, Token};

/// The root element.
const ROOT: &str = "ComputeSanitizerOutput";
/// Elements that lie in each other; outputs have six.
const DEEPEST: usize = 32;
/// Elements of a record; a stack of a thousand frames has five thousand.
const MOST_PARTS: usize = 20_000;
/// Unknown elements of a record that are kept.
const MOST_LINES: usize = 16;
const MOST_FRAMES: usize = 64;

/// Reads an output in the XML form. What comes before damage is kept.
pub(super) fn read(bytes: &[u8]) -> Result<Reading, Error> {
    let mut pull = Pull::new(bytes);
    loop {
        match pull.next()? {
            Token::Open { name, .. } if name != ROOT => {
                return Err(Error::OtherXml {
                    root: name.chars().take(64).collect(),
                });
            }
            Token::Open { is_empty, .. } => {
                let mut run = Run {
                    is_xml: true,
                    ..Run::default()
                };
                let problem = if is_empty {
                    None
                } else {
                    records(&mut pull, &mut run).err()
                };
                return Ok(Reading {
                    runs: vec![run],
                    problem,
                });
            }
            Token::Text(_) => {}
            Token::Close | Token::End => return Err(Error::NotSanitizer),
        }
    }
}

fn records(pull: &mut Pull<'_>, run: &mut Run) -> Result<(), Error> {
    loop {
        match pull.next()? {
            Token::Open { name, is_empty } => {
                let is_record = name == "record";
                let mut budget = MOST_PARTS;
                let node = if is_empty {
                    Node::default()
                } else {
                    node(pull, name, 2, &mut budget)?
                };
                if is_record && let Some(record) = record(&node) {
                    run.keep(record);
                }
            }
            Token::Text(_) => {}
            Token::Close => return Ok(()),
            Token::End => {
                return Err(Error::CutOff {
                    offset: pull.offset(),
                });
            }
        }
    }
}

/// An element of a record.
#[derive(Debug, Default)]
struct Node {
    name: String,
    text: String,
    children: Vec<Node>,
}

/// Reads an element to its end; the start was read.
fn node(pull: &mut Pull<'_>, name: &str, depth: usize, budget: &mut usize) -> Result<Node, Error> {
    if depth > DEEPEST {
        return Err(Error::TooDeep {
            offset: pull.offset(),
        });
    }
    *budget = budget.checked_sub(1).ok_or(Error::TooLarge {
        offset: pull.offset(),
    })?;
    let mut node = Node {
        name: name.to_owned(),
        ..Node::default()
    };
    loop {
        match pull.next()? {
            Token::Open { name, is_empty } => {
                let child = if is_empty {
                    Node {
                        name: name.to_owned(),
                        ..Node::default()
                    }
                } else {
                    self::node(pull, name, depth.saturating_add(1), budget)?
                };
                node.children.push(child);
            }
            Token::Text(text) => node.text.push_str(&text),
            Token::Close => return Ok(node),
            Token::End => {
                return Err(Error::CutOff {
                    offset: pull.offset(),
                });
            }
        }
    }
}

impl Node {
    fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.name == name)
    }

    fn text_of(&self, name: &str) -> Option<String> {
        let text = self.child(name)?.text.trim();
        Some(text.to_owned()).filter(|text| !text.is_empty())
    }

    fn number_of(&self, name: &str) -> Option<u64> {
        number(&self.text_of(name)?)
    }

    fn line(&self) -> Option<u32> {
        self.number_of("line")?
            .try_into()
            .ok()
            .filter(|line| *line > 0)
    }

    fn place(&self) -> Place {
        Place {
            function: self.text_of("func"),
            clone_of: None,
            file: self.text_of("path"),
            line: self.line(),
            offset: self.number_of("pc"),
        }
    }

    fn index(&self, name: &str) -> Option<[u32; 3]> {
        let node = self.child(name)?;
        let part = |name| node.number_of(name)?.try_into().ok();
        Some([part("x")?, part("y")?, part("z")?])
    }
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.replace(',', "").parse().ok(),
    }
}

/// Parts of `what` that have a field of their own.
const KNOWN: &[&str] = &[
    "text",
    "space",
    "size",
    "direction",
    "error",
    "address",
    "accessAddress",
    "exception",
    "source",
    "destination",
    "pc",
];

/// A record without any content is none.
fn record(node: &Node) -> Option<Record> {
    let empty = Node::default();
    let what = node.child("what").unwrap_or(&empty);
    let kind_name = node.text_of("kind").unwrap_or_default();
    let exception = what.text_of("exception");
    let text = what.text_of("text").or_else(|| exception.clone());
    if text.is_none() && kind_name.is_empty() {
        return None;
    }
    let mut text = text.unwrap_or_else(|| kind_name.clone());
    let plain = text.strip_prefix("Potential ").unwrap_or(&text);
    let kind = if exception.is_some() {
        FaultKind::Exception
    } else {
        FaultKind::of(plain).unwrap_or_else(|| of_kind(&kind_name))
    };
    if let Some(more) = what.text_of("type").filter(|_| kind == FaultKind::Barrier) {
        text = format!("{text}: {more}");
    }
    let level = node.text_of("level");
    let severity = level.as_deref().and_then(Severity::of);
    let mut record = Record::new(kind, severity.unwrap_or(Severity::Error), &text);
    let place = node.child("where").map(Node::place);
    record.place = place;
    let who = node.child("who").unwrap_or(&empty);
    record.thread = who.index("threadIdx");
    record.block = who.index("blockIdx");
    let direction = what
        .text_of("direction")
        .or_else(|| (kind == FaultKind::UninitializedRead).then(|| "read".to_owned()));
    let of_text = || text.split("__").nth(1).map(str::to_owned);
    let space = what
        .text_of("space")
        .map_or_else(of_text, |space| Some(space.trim_matches('_').to_owned()));
    let memory = Memory {
        space,
        direction,
        bytes: what.number_of("size"),
        address: what
            .text_of("address")
            .or_else(|| what.text_of("accessAddress")),
        nearest: None,
    };
    record.memory = Some(memory).filter(|memory| *memory != Memory::default());
    for part in &what.children {
        match part.name.as_str() {
            "source" | "destination" => {
                if record.accesses.len() < MOST_FRAMES {
                    record.accesses.push(Access {
                        direction: part
                            .text_of("direction")
                            .unwrap_or_default()
                            .to_ascii_lowercase(),
                        place: part.child("where").map(Node::place).unwrap_or_default(),
                        thread: part.child("who").and_then(|who| who.index("threadIdx")),
                        hazards: part.number_of("count"),
                    });
                }
            }
            name if KNOWN.contains(&name) => {}
            "type" if kind == FaultKind::Barrier => {}
            name => {
                let text = part.text.trim();
                if !text.is_empty() && record.more.len() < MOST_LINES {
                    record.more.push(format!("{name}: {text}"));
                }
            }
        }
    }
    if record.place.is_none() {
        record.place = record.accesses.first().map(|access| access.place.clone());
    }
    let frames = |name: &str| {
        node.child(name)
            .into_iter()
            .flat_map(|stack| &stack.children)
            .filter(|frame| frame.name == "frame")
            .take(MOST_FRAMES)
    };
    record.device_frames = frames("deviceStack").map(Node::place).collect();
    record.host_frames = frames("hostStack")
        .map(|frame| HostFrame {
            function: frame.text_of("func"),
            module: frame.text_of("module"),
            file: frame.text_of("path"),
            line: frame.line(),
            offset: frame.number_of("pc"),
        })
        .collect();
    record.host_moment = node
        .child("hostStack")
        .and_then(|stack| stack.text_of("saveLocation"));
    Some(record)
}

/// The kind by the name that a record has, where its text is not known.
fn of_kind(name: &str) -> FaultKind {
    match name {
        "Initcheck" => FaultKind::UninitializedRead,
        "Synccheck" => FaultKind::Barrier,
        "Analysis" | "Hazard" | "Race" => FaultKind::Race,
        "Api" | "API" => FaultKind::ApiError,
        "Leak" => FaultKind::Leak,
        "Imprecise" => FaultKind::Exception,
        "Precise" => FaultKind::InvalidAccess,
        _ => FaultKind::Other,
    }
}

#[cfg(test)]
mod tests;
