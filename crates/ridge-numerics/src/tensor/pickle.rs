//! The part of Python's pickles that plain tensors need. Nothing is called: of a call only that it is there is noted.
//!
//! A pickle is a program for a machine with a stack. The machine here makes one value for each instruction at most, so memory
//! stays within a multiple of the input; values refer to each other by number, so that sharing copies nothing.

use std::collections::BTreeMap;

use super::{Reason, TensorError};

/// The number of a value.
pub(super) type Id = usize;

/// What a program made.
#[derive(Clone, Debug)]
pub(super) enum Value<'a> {
    Integer(i64),
    Text(&'a str),
    /// A name of a module and one in it.
    Global(&'a str, &'a str),
    Tuple(Vec<Id>),
    List(Vec<Id>),
    Dict(Vec<(Id, Id)>),
    /// What PyTorch keeps outside the pickle, with its description.
    Persistent(Id),
    /// A tensor that is made of these arguments, and the function that makes it.
    Tensor {
        function: &'a str,
        arguments: Id,
    },
    /// None, booleans, floats, bytes: nothing of them is needed.
    Other,
}

/// The values of a program, and the number of its result.
pub(super) struct Program<'a> {
    pub(super) values: Vec<Value<'a>>,
    pub(super) result: Id,
}

/// Runs a pickle.
pub(super) fn run(bytes: &[u8]) -> Result<Program<'_>, TensorError> {
    let mut machine = Machine {
        bytes,
        at: 0,
        values: Vec::new(),
        stack: Vec::new(),
        marks: Vec::new(),
        memo: BTreeMap::new(),
    };
    loop {
        let place = machine.at;
        let at_place = |reason| TensorError::new(place as u64, reason);
        match machine.step() {
            Ok(None) => {}
            Ok(Some(result)) => {
                return Ok(Program {
                    values: machine.values,
                    result,
                });
            }
            Err(Fault::Truncated(need)) => {
                let have = (bytes.len() - machine.at) as u64;
                let reason = Reason::Truncated {
                    what: "the pickle",
                    need: need as u64,
                    have,
                };
                return Err(TensorError::new(machine.at as u64, reason));
            }
            Err(Fault::Stack) => {
                return Err(at_place(Reason::Malformed(
                    "the pickle takes what is not on its stack",
                )));
            }
            Err(Fault::Refused(what)) => return Err(at_place(Reason::Pickle(what))),
        }
    }
}

struct Machine<'a> {
    bytes: &'a [u8],
    at: usize,
    values: Vec<Value<'a>>,
    stack: Vec<Id>,
    /// Heights of the stack where marks stand.
    marks: Vec<usize>,
    memo: BTreeMap<u64, Id>,
}

enum Fault {
    /// So many more bytes are needed.
    Truncated(usize),
    /// The stack has not what is taken from it.
    Stack,
    Refused(String),
}

impl<'a> Machine<'a> {
    /// Does one instruction. Gives the result after the last one.
    fn step(&mut self) -> Result<Option<Id>, Fault> {
        match self.byte()? {
            // Version, and frames: lengths of what follows, which say nothing new.
            0x80 => drop(self.take(1)?),
            0x95 => drop(self.take(8)?),
            b'.' => return self.pop().map(Some),
            b'(' => self.marks.push(self.stack.len()),
            b'N' | 0x88 | 0x89 => self.push(Value::Other),
            b'G' => {
                self.take(8)?;
                self.push(Value::Other);
            }
            b'J' => {
                let number = self.number(4)? as u32;
                self.push(Value::Integer(i64::from(number.cast_signed())));
            }
            b'K' => self.integer(1)?,
            b'M' => self.integer(2)?,
            0x8a => self.long()?,
            b'X' => self.text(4)?,
            0x8c => self.text(1)?,
            b'U' => self.text(1)?,
            b'T' => self.text(4)?,
            b'C' => self.bytes(1)?,
            b'B' => self.bytes(4)?,
            b'c' => {
                let (module, name) = (self.line()?, self.line()?);
                self.push(Value::Global(module, name));
            }
            0x93 => self.global()?,
            b')' => self.push(Value::Tuple(Vec::new())),
            b']' => self.push(Value::List(Vec::new())),
            b'}' => self.push(Value::Dict(Vec::new())),
            b't' => {
                let items = self.pop_to_mark()?;
                self.push(Value::Tuple(items));
            }
            b'l' => {
                let items = self.pop_to_mark()?;
                self.push(Value::List(items));
            }
            b'd' => {
                let items = self.pop_to_mark()?;
                let pairs = pairs(&items)?;
                self.push(Value::Dict(pairs));
            }
            count @ 0x85..=0x87 => {
                let count = usize::from(count - 0x84);
                let from = self.free_from(count)?;
                let items = self.stack.split_off(from);
                self.push(Value::Tuple(items));
            }
            b'a' => {
                let item = self.pop()?;
                self.append(vec![item])?;
            }
            b'e' => {
                let items = self.pop_to_mark()?;
                self.append(items)?;
            }
            b's' => {
                let from = self.free_from(2)?;
                let items = self.stack.split_off(from);
                self.set(&items)?;
            }
            b'u' => {
                let items = self.pop_to_mark()?;
                self.set(&items)?;
            }
            b'q' => {
                let key = self.number(1)?;
                self.remember(key)?;
            }
            b'r' => {
                let key = self.number(4)?;
                self.remember(key)?;
            }
            0x94 => self.remember(self.memo.len() as u64)?,
            b'h' => {
                let key = self.number(1)?;
                self.recall(key)?;
            }
            b'j' => {
                let key = self.number(4)?;
                self.recall(key)?;
            }
            b'Q' => {
                let description = self.pop()?;
                self.push(Value::Persistent(description));
            }
            b'R' => self.call()?,
            b'b' => self.build()?,
            other => {
                return Err(Fault::Refused(format!("instruction 0x{other:02x}")));
            }
        }
        Ok(None)
    }

    fn byte(&mut self) -> Result<u8, Fault> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Fault> {
        let bytes = self.bytes;
        let taken = bytes[self.at..]
            .get(..length)
            .ok_or(Fault::Truncated(length))?;
        self.at += length;
        Ok(taken)
    }

    fn number(&mut self, length: usize) -> Result<u64, Fault> {
        let bytes = self.take(length)?;
        Ok(bytes
            .iter()
            .rev()
            .fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    fn integer(&mut self, length: usize) -> Result<(), Fault> {
        let number = self.number(length)?;
        self.push(Value::Integer(number.cast_signed()));
        Ok(())
    }

    /// An integer of as many bytes as it needs. Those of tensors have at most 8.
    fn long(&mut self) -> Result<(), Fault> {
        let length = usize::from(self.byte()?);
        let bytes = self.take(length)?;
        if length > 8 {
            return Err(Fault::Refused(format!("an integer of {length} bytes")));
        }
        let sign = if bytes.last().is_some_and(|&byte| byte >= 0x80) {
            u64::MAX
        } else {
            0
        };
        let number = bytes
            .iter()
            .rev()
            .fold(sign, |number, &byte| number << 8 | u64::from(byte));
        self.push(Value::Integer(number.cast_signed()));
        Ok(())
    }

    fn text(&mut self, length: usize) -> Result<(), Fault> {
        let length = self.number(length)? as usize;
        let bytes = self.take(length)?;
        self.push(std::str::from_utf8(bytes).map_or(Value::Other, Value::Text));
        Ok(())
    }

    fn bytes(&mut self, length: usize) -> Result<(), Fault> {
        let length = self.number(length)? as usize;
        self.take(length)?;
        self.push(Value::Other);
        Ok(())
    }

    fn line(&mut self) -> Result<&'a str, Fault> {
        let rest = &self.bytes[self.at..];
        let length = rest
            .iter()
            .position(|&byte| byte == b'\n')
            .ok_or(Fault::Truncated(rest.len() + 1))?;
        self.at += length + 1;
        std::str::from_utf8(&rest[..length])
            .map_err(|_| Fault::Refused("a name that is no UTF-8".to_owned()))
    }

    fn push(&mut self, value: Value<'a>) {
        self.stack.push(self.values.len());
        self.values.push(value);
    }

    /// Where the top `count` items of the stack begin, none of them below the last mark.
    fn free_from(&self, count: usize) -> Result<usize, Fault> {
        let floor = self.marks.last().copied().unwrap_or(0);
        self.stack
            .len()
            .checked_sub(count)
            .filter(|&from| from >= floor)
            .ok_or(Fault::Stack)
    }

    fn pop(&mut self) -> Result<Id, Fault> {
        self.free_from(1)?;
        self.stack.pop().ok_or(Fault::Stack)
    }

    fn top(&self) -> Result<Id, Fault> {
        let at = self.free_from(1)?;
        Ok(self.stack[at])
    }

    fn pop_to_mark(&mut self) -> Result<Vec<Id>, Fault> {
        let mark = self.marks.pop().ok_or(Fault::Stack)?;
        Ok(self.stack.split_off(mark))
    }

    fn append(&mut self, items: Vec<Id>) -> Result<(), Fault> {
        let list = self.top()?;
        match &mut self.values[list] {
            Value::List(list) => {
                list.extend(items);
                Ok(())
            }
            _ => Err(Fault::Refused(
                "items for something else than a list".to_owned(),
            )),
        }
    }

    fn set(&mut self, items: &[Id]) -> Result<(), Fault> {
        let pairs = pairs(items)?;
        let dict = self.top()?;
        match &mut self.values[dict] {
            Value::Dict(dict) => {
                dict.extend(pairs);
                Ok(())
            }
            _ => Err(Fault::Refused(
                "items for something else than a dict".to_owned(),
            )),
        }
    }

    fn remember(&mut self, key: u64) -> Result<(), Fault> {
        let value = self.top()?;
        self.memo.insert(key, value);
        Ok(())
    }

    fn recall(&mut self, key: u64) -> Result<(), Fault> {
        let value = *self.memo.get(&key).ok_or(Fault::Stack)?;
        self.stack.push(value);
        Ok(())
    }

    /// A name whose parts are on the stack.
    fn global(&mut self) -> Result<(), Fault> {
        let (name, module) = (self.pop()?, self.pop()?);
        match (&self.values[module], &self.values[name]) {
            (&Value::Text(module), &Value::Text(name)) => {
                self.push(Value::Global(module, name));
                Ok(())
            }
            _ => Err(Fault::Refused("a name that is no text".to_owned())),
        }
    }

    /// What would be a call. Only those that plain tensors need are known.
    fn call(&mut self) -> Result<(), Fault> {
        let (arguments, function) = (self.pop()?, self.pop()?);
        let Value::Global(module, name) = self.values[function] else {
            return Err(Fault::Refused(
                "a call of something without a name".to_owned(),
            ));
        };
        let Value::Tuple(items) = &self.values[arguments] else {
            return Err(Fault::Refused(
                "a call without a tuple of arguments".to_owned(),
            ));
        };
        match (module, name) {
            ("collections", "OrderedDict") if items.is_empty() => {
                self.push(Value::Dict(Vec::new()));
            }
            ("torch._utils", "_rebuild_tensor_v2" | "_rebuild_tensor_v3") => {
                self.push(Value::Tensor {
                    function: name,
                    arguments,
                });
            }
            // A parameter is a tensor that is trained.
            ("torch._utils", "_rebuild_parameter") if !items.is_empty() => {
                let tensor = items[0];
                self.stack.push(tensor);
            }
            _ => {
                let name: String = format!("{module}.{name}").chars().take(80).collect();
                return Err(Fault::Refused(format!("a call of {name}")));
            }
        }
        Ok(())
    }

    /// Attributes of an object: dictionaries of PyTorch have some that say nothing about tensors.
    fn build(&mut self) -> Result<(), Fault> {
        self.pop()?;
        let object = self.top()?;
        match self.values[object] {
            Value::Dict(_) => Ok(()),
            _ => Err(Fault::Refused("an object with attributes".to_owned())),
        }
    }
}

fn pairs(items: &[Id]) -> Result<Vec<(Id, Id)>, Fault> {
    let (pairs, rest) = items.as_chunks::<2>();
    if rest.is_empty() {
        Ok(pairs.iter().map(|&[key, value]| (key, value)).collect())
    } else {
        Err(Fault::Refused("a key without a value".to_owned()))
    }
}
