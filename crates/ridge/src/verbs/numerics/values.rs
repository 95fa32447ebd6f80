//! Tensors of files, decoded as a whole.

use std::ffi::OsStr;
use std::path::Path;

use ridge_numerics::format::Format;
use ridge_numerics::reference::document::NamedTensor;
use ridge_numerics::tensor::{self, Contents, Reason, Tensor, TensorError};

use crate::error::ExpectedError;
use crate::filter::Address;
use crate::input::Input;
use crate::output::Output;

/// A tensor with its values.
pub(super) struct Values {
    pub(super) named: NamedTensor,
    pub(super) format: Format,
    pub(super) shape: Vec<usize>,
    pub(super) values: Vec<f64>,
}

/// Elements that are decoded at a time.
const BLOCK: usize = 1 << 16;
/// What a compressed tensor may unpack to: more than a machine is likely to hold as `f64` anyway.
const MOST_UNPACKED: u64 = 64 << 30;

const KINDS: &str = "tensors are read from .npy, .npz, .safetensors and .pt files";

/// What the heads of a file say; where elements only have a size, the format that was asked for.
pub(super) fn contents(
    bytes: &[u8],
    dtype: Option<Format>,
) -> Result<Contents<'_>, TensorError> {
    match tensor::read(bytes, None) {
        Err(error) if matches!(error.reason, Reason::OnlySize(_)) && dtype.is_some() => {
            tensor::read(bytes, dtype)
        }
        // In an archive one may have only a size beside others that say what they are.
        Ok(contents)
            if dtype.is_some()
                && contents
                    .unreadable
                    .iter()
                    .any(|(_, error)| matches!(error.reason, Reason::OnlySize(_))) =>
        {
            let mut with = tensor::read(bytes, dtype)?;
            let known: Vec<Option<&str>> = contents
                .tensors
                .iter()
                .map(|tensor| tensor.name.as_deref())
                .collect();
            with.tensors
                .retain(|tensor| !known.contains(&tensor.name.as_deref()));
            with.tensors.extend(contents.tensors);
            Ok(with)
        }
        other => other,
    }
}

/// Reads a tensor, `FILE` or `FILE#NAME`.
pub(super) fn read(
    argument: &OsStr,
    role: &str,
    dtype: Option<Format>,
    output: &Output,
) -> Result<Values, ExpectedError> {
    let address = Address::of_argument(argument)?;
    let shown = Path::new(argument).display().to_string();
    let input = Input::open(&address, output).map_err(|error| {
        if error.exit == crate::exit::UNREADABLE {
            error.with_hint(format!("check the path of {role}; {KINDS}"))
        } else {
            error
        }
    })?;
    if let Some(problem) = &input.problem {
        return Err(ExpectedError::unreadable(format!(
            "cannot read all of {shown}: {problem}"
        )));
    }
    let unreadable = |error: &TensorError| {
        let code = error.reason.code();
        let failure =
            ExpectedError::unreadable(format!("cannot read {role} from {shown}: {error} ({code})"));
        failure.with_hint(match error.reason {
            Reason::OnlySize(_) => "say the format of the elements, such as --dtype bf16".to_owned(),
            _ => KINDS.to_owned(),
        })
    };
    let contents = contents(input.bytes(), dtype).map_err(|error| unreadable(&error))?;
    let tensor = chosen(&contents, address.kernel.as_deref(), &shown)
        .map_err(|why| match why {
            NotChosen::Named(error) => error,
            NotChosen::Unreadable(error) => unreadable(error),
        })?;
    let format = tensor.head.format;
    if format.is_complex() {
        return Err(ExpectedError::unreadable(format!(
            "{role} in {shown} is complex, and references are of real numbers"
        ))
        .with_hint("write real and imaginary parts as tensors of their own"));
    }
    let unpacked = tensor
        .unpack(MOST_UNPACKED)
        .map_err(|error| unreadable(&error))?;
    let own;
    let tensor = match &unpacked {
        Some(bytes) => {
            own = tensor
                .with_bytes(bytes)
                .map_err(|error| unreadable(&error))?;
            &own
        }
        None => tensor,
    };
    let count = usize::try_from(tensor.head.elements())
        .map_err(|_| ExpectedError::unable(format!("{shown} has more elements than memory")))?;
    let mut values = Vec::new();
    values.try_reserve_exact(count).map_err(|_| {
        ExpectedError::unable(format!(
            "{shown} has {count} elements, which do not fit into memory as f64"
        ))
    })?;
    let mut blocks = tensor.blocks(BLOCK).map_err(|error| unreadable(&error))?;
    let mut decoded = vec![0.0; BLOCK];
    while let Some(block) = blocks.next_block().map_err(|error| unreadable(&error))? {
        let count = block.decode(&mut decoded);
        values.extend_from_slice(&decoded[..count]);
    }
    Ok(Values {
        named: NamedTensor {
            role: role.to_owned(),
            input: shown,
            format: format.name().to_owned(),
            shape: tensor.head.shape.clone(),
        },
        format,
        shape: tensor
            .head
            .shape
            .iter()
            .map(|size| usize::try_from(*size).unwrap_or(usize::MAX))
            .collect(),
        values,
    })
}

/// Why no tensor was chosen.
enum NotChosen<'c> {
    /// The name is wrong, or missing.
    Named(ExpectedError),
    /// The tensor cannot be read.
    Unreadable(&'c TensorError),
}

/// The tensor of a name, or the only one.
fn chosen<'c>(
    contents: &'c Contents<'c>,
    name: Option<&str>,
    shown: &str,
) -> Result<&'c Tensor<'c>, NotChosen<'c>> {
    let named = |tensor: &&Tensor<'_>| tensor.name.as_deref() == name;
    match name {
        Some(name) => {
            if let Some(tensor) = contents.tensors.iter().find(named) {
                return Ok(tensor);
            }
            if let Some((_, error)) = contents.unreadable.iter().find(|(own, _)| own == name) {
                return Err(NotChosen::Unreadable(error));
            }
            Err(NotChosen::Named(ExpectedError::usage(format!("{shown} has no such tensor"))
                .with_hint(format!("it has {}", names(contents)))))
        }
        None => match (contents.tensors.as_slice(), contents.unreadable.as_slice()) {
            ([only], []) => Ok(only),
            ([], [(_, error), ..]) => Err(NotChosen::Unreadable(error)),
            ([], []) => Err(NotChosen::Named(ExpectedError::unreadable(format!(
                "{shown} holds no tensor"
            )))),
            _ => Err(NotChosen::Named(ExpectedError::usage(format!(
                "{shown} holds several tensors"
            ))
            .with_hint(format!(
                "name one as FILE#NAME; it has {}",
                names(contents)
            )))),
        },
    }
}

fn names(contents: &Contents<'_>) -> String {
    const MOST: usize = 8;
    let names: Vec<&str> = contents
        .tensors
        .iter()
        .map(|tensor| tensor.name.as_deref().unwrap_or("(without name)"))
        .chain(contents.unreadable.iter().map(|(name, _)| name.as_str()))
        .collect();
    let more = names.len().saturating_sub(MOST);
    let list = names[..names.len().min(MOST)].join(", ");
    if more > 0 {
        format!("{list} and {more} more")
    } else {
        list
    }
}
