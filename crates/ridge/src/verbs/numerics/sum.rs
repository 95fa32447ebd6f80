//! `ridge numerics sum`: one sum in several orders.

use std::ffi::OsString;

use ridge_numerics::format::Format;
use ridge_numerics::reference::compare_orders;
use ridge_numerics::reference::document::{NamedTensor, OrdersDocument};

use super::values::read;
use crate::args::OperationFormat;
use crate::error::ExpectedError;
use crate::exit::{self, Code};
use crate::output::Output;
use crate::verbs::devices::layout;

/// What to sum, and how.
pub(crate) struct SumOptions {
    pub(crate) tensor: OsString,
    pub(crate) accumulate: Option<Format>,
    pub(crate) dtype: Option<Format>,
    pub(crate) shuffles: usize,
    pub(crate) format: Option<OperationFormat>,
}

pub(crate) fn run(options: &SumOptions, output: &mut Output) -> Result<Code, ExpectedError> {
    let format = super::plain_format(options.format, output)?;
    let tensor = read(&options.tensor, "the tensor", options.dtype, output)?;
    let accumulate = options.accumulate.unwrap_or(match tensor.format {
        Format::F64 => Format::F64,
        _ => Format::F32,
    });
    let Some(orders) = compare_orders(&tensor.values, accumulate, options.shuffles) else {
        let place = tensor.values.iter().position(|value| !value.is_finite());
        return Err(ExpectedError::unreadable(format!(
            "{} holds values that are not finite, the first at element {}: every order gives the same NaN or infinity",
            tensor.name,
            place.unwrap_or(0)
        ))
        .with_hint("orders are compared for finite values"));
    };
    let tensor = NamedTensor {
        input: tensor.name,
        format: tensor.format.name().to_owned(),
        shape: tensor.shape.iter().map(|size| *size as u64).collect(),
    };
    let document = OrdersDocument::of(&orders, tensor, super::VERSION);
    match format {
        OperationFormat::Text => output.write(&ridge_render::numerics::orders::text(
            &document,
            &layout(output),
        ))?,
        OperationFormat::Markdown => {
            output.write(&ridge_render::numerics::orders::markdown(&document))?;
        }
        OperationFormat::Json => output.json(&document)?,
    }
    Ok(exit::FINE)
}
