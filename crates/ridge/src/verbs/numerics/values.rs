//! Tensors of files, decoded as a whole.

use std::ffi::OsString;

use ridge_numerics::format::Format;

use super::tensor::Source;
use crate::error::ExpectedError;
use crate::output::Output;

/// A tensor with its values.
pub(super) struct Values {
    /// The file, and the name in it where one was given.
    pub(super) name: String,
    pub(super) format: Format,
    pub(super) shape: Vec<usize>,
    pub(super) values: Vec<f64>,
}

/// Reads a tensor, `FILE` or `FILE#NAME`. `role` is what it is to be, for messages.
pub(super) fn read(
    argument: &OsString,
    role: &str,
    dtype: Option<Format>,
    output: &Output,
) -> Result<Values, ExpectedError> {
    let in_role = |mut error: ExpectedError| {
        error.message = format!("{role}: {}", error.message);
        error
    };
    let source = Source::open(argument, output).map_err(in_role)?;
    let tensor = source.tensor(dtype, None).map_err(in_role)?;
    let format = tensor.format();
    if format.is_complex() {
        return Err(ExpectedError::unreadable(format!(
            "{role}: {} is complex, and references are of real numbers",
            tensor.name
        ))
        .with_hint("write real and imaginary parts as tensors of their own"));
    }
    let view = tensor.view().map_err(in_role)?;
    let mut values = Vec::new();
    let count = usize::try_from(view.len()).unwrap_or(usize::MAX);
    values.try_reserve_exact(count).map_err(|_| {
        ExpectedError::unable(format!(
            "{role}: {} has {count} elements, which do not fit into memory as FP64",
            tensor.name
        ))
        .with_hint(
            "a slice of the computation is as good a test: fewer rows, or one product of a batch",
        )
    })?;
    values.extend((0..view.len()).map(|element| view.value(element).unwrap_or(f64::NAN)));
    let size = |size: &u64| usize::try_from(*size).unwrap_or(usize::MAX);
    Ok(Values {
        format,
        shape: view.shape().iter().map(size).collect(),
        values,
        name: tensor.name,
    })
}
