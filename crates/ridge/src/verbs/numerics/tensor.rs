//! Tensors of files.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::Path;

use ridge_numerics::format::Format;
use ridge_numerics::tensor::{self, Contents, Order, Reason, Tensor, TensorError};
use ridge_numerics::view::View;

use super::Raw;
use crate::error::ExpectedError;
use crate::filter::Address;
use crate::input::Input;
use crate::output::Output;

/// What a compressed tensor may unpack to at most.
const UNPACKED_LIMIT_BYTES: u64 = 1 << 34;
/// So many names are offered when none was meant.
const OFFERED: usize = 8;

/// A file with tensors.
pub(super) struct Source {
    input: Input,
    name: String,
    wanted: Option<String>,
}

/// A tensor with its elements in memory.
pub(super) struct Loaded<'a> {
    /// As it was named.
    pub(super) name: String,
    head: tensor::Head,
    bytes: Cow<'a, [u8]>,
}

impl Source {
    /// Opens a file. What follows the last `#` is the name of a tensor, unless the file itself is called so.
    pub(super) fn open(word: &OsString, output: &Output) -> Result<Self, ExpectedError> {
        let text = word.to_string_lossy();
        let (file, wanted) = match text.rsplit_once('#') {
            Some((file, name)) if !Path::new(word).exists() => {
                (OsString::from(file), Some(name.to_owned()))
            }
            _ => (word.clone(), None),
        };
        let address = Address {
            file,
            kernel: None,
            launch: None,
        };
        let input = Input::open(&address, output).map_err(|mut error| {
            if error.hint.as_deref().is_some_and(|hint| hint.contains("ncu")) {
                error.hint = Some(
                    "check the path; an input is a file with tensors (.npy, .npz, .safetensors, .pt, or raw with --dtype and --shape)"
                        .to_owned(),
                );
            }
            error
        })?;
        if let Some(problem) = &input.problem {
            return Err(ExpectedError::unreadable(format!("{text}: {problem}"))
                .with_hint("the file is packed, and what packs it is damaged: write it again"));
        }
        Ok(Self {
            input,
            name: text.into_owned(),
            wanted,
        })
    }

    /// The tensor that is meant.
    pub(super) fn tensor(
        &self,
        elements: Option<Format>,
        raw: Option<&Raw>,
    ) -> Result<Loaded<'_>, ExpectedError> {
        let bytes = self.input.bytes();
        let failed =
            |error: &TensorError| ExpectedError::unreadable(format!("{}: {error}", self.name));
        let contents = match contents(bytes, elements) {
            Ok(contents) => contents,
            Err(error) => {
                // What has no head that is known may be raw, where the user says what it holds.
                return match raw {
                    Some(raw) if self.wanted.is_none() => self.raw(raw),
                    _ => Err(failed(&error).with_hint(
                        "for bytes without a head, say what they are with --dtype and --shape",
                    )),
                };
            }
        };
        let mut names: Vec<&str> = Vec::new();
        let mut chosen = None;
        for tensor in &contents.tensors {
            let name = tensor.name.as_deref().unwrap_or_default();
            names.push(name);
            if self.wanted.as_deref().is_none_or(|wanted| wanted == name) {
                chosen.get_or_insert(tensor);
            }
        }
        if let Some(wanted) = &self.wanted
            && let Some((_, error)) = contents.unreadable.iter().find(|(name, _)| name == wanted)
        {
            return Err(failed(error));
        }
        let list = || {
            let mut list = names
                .iter()
                .take(OFFERED)
                .copied()
                .collect::<Vec<_>>()
                .join(", ");
            if names.len() > OFFERED {
                list.push_str(", …");
            }
            list
        };
        match chosen {
            Some(tensor) if self.wanted.is_some() || contents.tensors.len() == 1 => {
                self.load(tensor, bytes)
            }
            Some(_) => Err(ExpectedError::usage(format!(
                "{} holds {} tensors, and one is compared",
                self.name,
                names.len()
            ))
            .with_hint(format!("name one with {}#NAME: {}", self.name, list()))),
            None => match (contents.unreadable.first(), &self.wanted) {
                (Some((_, error)), None) => Err(failed(error)),
                (_, Some(wanted)) if !names.is_empty() => Err(ExpectedError::usage(format!(
                    "{} holds no tensor {wanted:?}",
                    self.name
                ))
                .with_hint(format!("one of {}", list()))),
                _ => Err(
                    ExpectedError::unreadable(format!("{} holds no tensor", self.name))
                        .with_hint("check what wrote it"),
                ),
            },
        }
    }

    fn raw(&self, raw: &Raw) -> Result<Loaded<'_>, ExpectedError> {
        let bytes = self.input.bytes();
        let tensor = Tensor::raw(bytes, raw.format, raw.endian, &raw.shape).map_err(|error| {
            ExpectedError::unreadable(format!("{}: {error}", self.name)).with_hint(
                "check --dtype and --shape against the size of the file; FP6 and FP4 take a byte each",
            )
        })?;
        Ok(Loaded {
            name: self.name.clone(),
            head: tensor.head,
            bytes: Cow::Borrowed(bytes),
        })
    }

    fn load<'a>(&self, tensor: &Tensor<'a>, file: &'a [u8]) -> Result<Loaded<'a>, ExpectedError> {
        let failed =
            |error: TensorError| ExpectedError::unreadable(format!("{}: {error}", self.name));
        let mut head = tensor.head.clone();
        let bytes = if head.is_packed {
            // Two or more elements in a byte: they get one each.
            let mut elements = Vec::new();
            let mut blocks = tensor.blocks(1 << 16).map_err(failed)?;
            while let Some(block) = blocks.next_block().map_err(failed)? {
                elements.extend_from_slice(block.bytes);
            }
            head.is_packed = false;
            head.order = Order::C;
            Cow::Owned(elements)
        } else if let Some(bytes) = tensor.unpack(UNPACKED_LIMIT_BYTES).map_err(failed)? {
            Cow::Owned(bytes)
        } else {
            let place = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
            let bytes = file
                .get(place(head.data.start)..place(head.data.end))
                .unwrap_or_default();
            Cow::Borrowed(bytes)
        };
        Ok(Loaded {
            name: self.name.clone(),
            head,
            bytes,
        })
    }
}

/// What the heads of a file say; where elements only have a size, the format that was asked for.
pub(super) fn contents(
    bytes: &[u8],
    elements: Option<Format>,
) -> Result<Contents<'_>, TensorError> {
    let has_only_size = |error: &TensorError| matches!(error.reason, Reason::OnlySize(_));
    match tensor::read(bytes, None) {
        Err(error) if has_only_size(&error) && elements.is_some() => tensor::read(bytes, elements),
        // In an archive one may have only a size beside others that say what they are.
        Ok(contents)
            if elements.is_some()
                && contents
                    .unreadable
                    .iter()
                    .any(|(_, error)| has_only_size(error)) =>
        {
            let mut whole = tensor::read(bytes, elements)?;
            let known: Vec<Option<&str>> = contents
                .tensors
                .iter()
                .map(|tensor| tensor.name.as_deref())
                .collect();
            whole
                .tensors
                .retain(|tensor| !known.contains(&tensor.name.as_deref()));
            let read: Vec<&str> = whole
                .tensors
                .iter()
                .filter_map(|tensor| tensor.name.as_deref())
                .collect();
            let unreadable = contents
                .unreadable
                .iter()
                .filter(|(name, _)| !read.contains(&name.as_str()))
                .cloned()
                .collect();
            whole.tensors.extend(contents.tensors);
            whole.unreadable = unreadable;
            Ok(whole)
        }
        other => other,
    }
}

impl Loaded<'_> {
    /// The format of its elements.
    pub(super) const fn format(&self) -> Format {
        self.head.format
    }

    pub(super) fn view(&self) -> Result<View<'_>, ExpectedError> {
        let tensor::Head {
            format,
            shape,
            order,
            endian,
            ..
        } = &self.head;
        match order {
            Order::C => View::row_major(*format, shape, *endian, &self.bytes),
            Order::Fortran => View::column_major(*format, shape, *endian, &self.bytes),
        }
        .map_err(|error| ExpectedError::unreadable(format!("{}: {error}", self.name)))
    }
}
