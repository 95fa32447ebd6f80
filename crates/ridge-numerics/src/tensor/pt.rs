//! What `torch.save` writes since PyTorch 1.6: an archive with a pickle that describes tensors, and a file for each storage.

use super::pickle::{Id, Program, Value, run};
use super::zip::{Member, Packing};
use super::{Contents, Head, Kind, Order, Reason, Source, Tensor, TensorError, instead, need};
use crate::format::{Endian, Format};

/// The file with the pickle, in a folder that has the archive's name.
const PICKLE: &str = "data.pkl";

/// Containers in containers are followed as deep as this.
const MAX_DEPTH: usize = 64;

/// Whether an archive is one of PyTorch.
pub(super) fn is_saved(members: &[Member]) -> bool {
    folder(members).is_some()
}

/// The folder, with its slash, that everything is in.
fn folder(members: &[Member]) -> Option<&str> {
    members
        .iter()
        .filter_map(|member| member.name.strip_suffix(PICKLE))
        .find(|folder| folder.is_empty() || folder.ends_with('/'))
}

pub(super) fn read<'a>(
    bytes: &'a [u8],
    members: &[Member],
    elements: Option<Format>,
) -> Result<Contents<'a>, TensorError> {
    let archive = Archive {
        bytes,
        members,
        folder: folder(members).unwrap_or_default(),
    };
    let (start, pickle) = archive.stored(PICKLE)?;
    let program = run(pickle).map_err(|error| TensorError::new(start + error.at, error.reason))?;
    let endian = match archive.stored("byteorder") {
        Ok((_, b"big")) => Endian::Big,
        Ok((_, b"little")) => Endian::Little,
        Ok((at, _)) => {
            return Err(TensorError::new(
                at,
                Reason::Malformed("`byteorder` is neither little nor big"),
            ));
        }
        // Older versions wrote no such file, and ran on machines with the lowest byte first.
        Err(_) => Endian::Little,
    };
    let mut walk = Walk {
        program: &program,
        // Shared containers are followed each time, and names repeat those of what they are in: but not without end.
        budget: 16 * pickle.len() + 1024,
        found: Vec::new(),
    };
    walk.visit(program.result, String::new(), 0)
        .map_err(|reason| TensorError::new(start, reason))?;
    let mut contents = Contents {
        kind: Kind::Pt,
        tensors: Vec::new(),
        unreadable: Vec::new(),
    };
    for (name, function, arguments) in walk.found {
        match archive.tensor(&program, function, arguments, endian, elements, start) {
            Ok(tensor) => contents.tensors.push(Tensor {
                name: Some(name).filter(|name| !name.is_empty()),
                ..tensor
            }),
            Err(error) => contents.unreadable.push((name, error)),
        }
    }
    Ok(contents)
}

/// Looks for the tensors in what a pickle made.
struct Walk<'p, 'a> {
    program: &'p Program<'a>,
    /// How many more bytes of names and steps there may be.
    budget: usize,
    /// Name, function and arguments.
    found: Vec<(String, &'a str, Id)>,
}

impl Walk<'_, '_> {
    fn visit(&mut self, value: Id, name: String, depth: usize) -> Result<(), Reason> {
        self.budget = self
            .budget
            .checked_sub(1 + name.len())
            .filter(|_| depth <= MAX_DEPTH)
            .ok_or_else(|| Reason::Pickle("containers in containers without end".to_owned()))?;
        let values = &self.program.values;
        let inside = |part: &dyn std::fmt::Display| match name.as_str() {
            "" => part.to_string(),
            outer => format!("{outer}.{part}"),
        };
        match &values[value] {
            Value::Tensor {
                function,
                arguments,
            } => {
                self.found.push((name, function, *arguments));
            }
            Value::Tuple(items) | Value::List(items) => {
                for (index, &item) in items.iter().enumerate() {
                    let name = inside(&index);
                    self.visit(item, name, depth + 1)?;
                }
            }
            Value::Dict(pairs) => {
                for &(key, item) in pairs {
                    let name = match &values[key] {
                        Value::Text(text) => inside(text),
                        Value::Integer(number) => inside(number),
                        _ => inside(&"?"),
                    };
                    self.visit(item, name, depth + 1)?;
                }
            }
            // Numbers and texts beside the tensors.
            _ => {}
        }
        Ok(())
    }
}

struct Archive<'a, 'm> {
    bytes: &'a [u8],
    members: &'m [Member],
    folder: &'m str,
}

impl<'a> Archive<'a, '_> {
    /// The bytes of a file of the archive, and where they begin.
    fn stored(&self, name: &str) -> Result<(u64, &'a [u8]), TensorError> {
        let member = self
            .members
            .iter()
            .find(|member| member.name.strip_prefix(self.folder) == Some(name))
            .ok_or_else(|| {
                let name = name.chars().take(80).collect();
                TensorError::new(self.bytes.len() as u64, Reason::Missing(name))
            })?;
        let data = member.data(self.bytes)?;
        match member.packing()? {
            Packing::Stored => Ok(data),
            // PyTorch does not compress.
            Packing::Deflated => Err(TensorError::new(data.0, Reason::Method(8))),
        }
    }

    /// The tensor that a call would make. `at` is where the pickle begins.
    fn tensor(
        &self,
        program: &Program<'a>,
        function: &str,
        arguments: Id,
        endian: Endian,
        elements: Option<Format>,
        at: u64,
    ) -> Result<Tensor<'a>, TensorError> {
        let malformed = || {
            TensorError::new(
                at,
                Reason::Malformed("arguments of a tensor that PyTorch does not write"),
            )
        };
        let value = |id: Id| &program.values[id];
        let Value::Tuple(arguments) = value(arguments) else {
            return Err(malformed());
        };
        let &[storage, offset, size, stride, ref more @ ..] = arguments.as_slice() else {
            return Err(malformed());
        };
        let (Value::Persistent(description), &Value::Integer(offset)) =
            (value(storage), value(offset))
        else {
            return Err(malformed());
        };
        let numbers = |id: Id| -> Option<Vec<u64>> {
            let Value::Tuple(items) = value(id) else {
                return None;
            };
            items
                .iter()
                .map(|&item| match *value(item) {
                    Value::Integer(number) => u64::try_from(number).ok(),
                    _ => None,
                })
                .collect()
        };
        let (Some(shape), Some(strides)) = (numbers(size), numbers(stride)) else {
            return Err(malformed());
        };
        let Value::Tuple(description) = value(*description) else {
            return Err(malformed());
        };
        let &[_, class, key, ..] = description.as_slice() else {
            return Err(malformed());
        };
        let (&Value::Global(_, class), &Value::Text(key)) = (value(class), value(key)) else {
            return Err(malformed());
        };
        // The third form says the type itself, behind two arguments that the second one has too.
        let said = match (function, more) {
            ("_rebuild_tensor_v3", &[_, _, dtype, ..]) => match *value(dtype) {
                Value::Global("torch", name) => (name, name.parse().ok()),
                _ => return Err(malformed()),
            },
            ("_rebuild_tensor_v3", _) => return Err(malformed()),
            _ => (class, storage_format(class)),
        };
        let Some(format) = said.1 else {
            return Err(TensorError::new(
                at,
                Reason::Type(said.0.chars().take(80).collect()),
            ));
        };
        let format = instead(Some(format), format.size_bytes() as u64, elements, at)?;
        let mut head = Head {
            format,
            order: Order::C,
            shape,
            endian,
            is_packed: false,
            data: 0..0,
        };
        let need = need(&head, at)?;
        head.order = order(&head.shape, strides, at)?;
        let (start, bytes) = self.stored(&format!("data/{key}"))?;
        let have = bytes.len() as u64;
        let range = u64::try_from(offset)
            .ok()
            .and_then(|offset| offset.checked_mul(format.size_bytes() as u64))
            .and_then(|from| Some(from..from.checked_add(need)?))
            .filter(|range| range.end <= have)
            .ok_or_else(|| {
                TensorError::new(
                    start,
                    Reason::Truncated {
                        what: "the storage of a tensor",
                        need,
                        have,
                    },
                )
            })?;
        head.data = start + range.start..start + range.end;
        Ok(Tensor {
            name: None,
            head,
            source: Source::Stored(&bytes[range.start as usize..range.end as usize]),
        })
    }
}

/// The order that strides stand for. Those of dimensions that are not longer than 1 mean nothing.
fn order(shape: &[u64], strides: Vec<u64>, at: u64) -> Result<Order, TensorError> {
    if strides.len() != shape.len() {
        return Err(TensorError::new(
            at,
            Reason::Malformed("a tensor with more or fewer strides than dimensions"),
        ));
    }
    let is_empty = shape.contains(&0);
    let follows = |axes: &mut dyn Iterator<Item = usize>| {
        let mut expected = 1;
        axes.filter(|&axis| shape[axis] > 1).all(|axis| {
            let is_next = strides[axis] == expected;
            expected *= shape[axis];
            is_next
        })
    };
    if is_empty || follows(&mut (0..shape.len()).rev()) {
        Ok(Order::C)
    } else if follows(&mut (0..shape.len())) {
        Ok(Order::Fortran)
    } else {
        Err(TensorError::new(at, Reason::Strides(strides)))
    }
}

/// The format of the elements of a class of storages.
fn storage_format(class: &str) -> Option<Format> {
    Some(match class {
        "DoubleStorage" => Format::F64,
        "FloatStorage" => Format::F32,
        "HalfStorage" => Format::F16,
        "BFloat16Storage" => Format::Bf16,
        "ByteStorage" => Format::U8,
        "CharStorage" => Format::I8,
        "ShortStorage" => Format::I16,
        "IntStorage" => Format::I32,
        "LongStorage" => Format::I64,
        "BoolStorage" => Format::Bool,
        "ComplexFloatStorage" => Format::C64,
        "ComplexDoubleStorage" => Format::C128,
        _ => return None,
    })
}
