//! Call stacks of launches.

use std::borrow::Cow;

use super::header::some_text;
use crate::error::Error;
use crate::wire::{Message, Room};

/// A call stack, innermost frame first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stack<'r> {
    /// What the frames are.
    pub kind: StackKind,
    /// The frames.
    pub frames: Vec<Frame<'r>>,
}

impl Default for StackKind {
    fn default() -> Self {
        Self::Other(0)
    }
}

/// What the frames of a stack are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StackKind {
    /// Native code.
    Native,
    /// Python code.
    Python,
    /// Native code with fewer details.
    NativeMinimal,
    /// A kind that this version does not know, or none stored.
    Other(u64),
}

/// One frame of a stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame<'r> {
    /// Path of the module.
    pub module: Option<Cow<'r, str>>,
    /// Program counter.
    pub pc: Option<u64>,
    /// Source file.
    pub file: Option<Cow<'r, str>>,
    /// Function.
    pub function: Option<Cow<'r, str>>,
    /// Line.
    pub line: Option<u64>,
}

impl<'r> Stack<'r> {
    pub(super) fn fill(&mut self, message: Message<'r>, room: &mut Room) -> Result<(), Error> {
        for field in message.fields() {
            let field = field?;
            match field.number {
                1 => {
                    if let Some(message) = field.value.message() {
                        room.push(&mut self.frames, Frame::decode(message)?)?;
                    }
                }
                2 => {
                    self.kind = match field.value.varint() {
                        Some(1) => StackKind::Native,
                        Some(2) => StackKind::Python,
                        Some(3) => StackKind::NativeMinimal,
                        other => StackKind::Other(other.unwrap_or(0)),
                    };
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl<'r> Frame<'r> {
    fn decode(message: Message<'r>) -> Result<Self, Error> {
        let mut frame = Self::default();
        for field in message.fields() {
            let field = field?;
            match field.number {
                1 => frame.module = some_text(field.value.text()),
                // Zero says that there is none, as for every frame of Python.
                2 => frame.pc = field.value.varint().filter(|pc| *pc != 0),
                3 => frame.file = some_text(field.value.text()),
                4 => frame.function = some_text(field.value.text()),
                5 => frame.line = field.value.varint().filter(|line| *line != 0),
                _ => {}
            }
        }
        Ok(frame)
    }
}
