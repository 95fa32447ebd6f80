//! `ridge bound`: the time below which no implementation of some work can be.

use std::path::PathBuf;

use ridge_model::bound::document::Document;
use ridge_model::bound::{
    Arithmetic, ArithmeticKind, BoundError, Ceilings, Chain, Launches, Synchronizations, Transfer,
    Work,
};
use ridge_model::quantity::{Bandwidth, Bytes, ComputeRate, Flops, Hertz, Nanos};
use ridge_model::template::Demand;
use ridge_model::{NumberFormat, PeakUnit};

use crate::args::BoundFormat;
use crate::error::ExpectedError;
use crate::exit::{self, Code};
use crate::output::Output;
use crate::verbs::ceilings::stored::{Asked, Choice, Stored, driver_of_machine};
use crate::verbs::devices::{find, layout, table};

/// What is to be done, where, and what is known better.
pub(crate) struct BoundOptions {
    pub(crate) source: Source,
    pub(crate) device: Option<String>,
    pub(crate) table: Option<PathBuf>,
    pub(crate) ceilings: Choice,
    pub(crate) clock: Option<Hertz>,
    pub(crate) bandwidth: Option<Bandwidth>,
    pub(crate) peak: Option<ComputeRate>,
    pub(crate) unit: Option<PeakUnit>,
    pub(crate) accumulator: Option<NumberFormat>,
    pub(crate) is_sparse: bool,
    pub(crate) time: Option<Nanos>,
    pub(crate) launches: Option<Launches>,
    pub(crate) synchronizations: Option<Synchronizations>,
    pub(crate) kernel_time: Option<Nanos>,
    pub(crate) chain: Option<Chain>,
    pub(crate) transfers: Vec<Transfer>,
    pub(crate) format: Option<BoundFormat>,
}

/// Where bytes and operations come from.
pub(crate) enum Source {
    /// A template counted them.
    Template(Demand),
    /// They were given.
    Numbers {
        bytes: Option<Bytes>,
        operations: Option<Flops>,
        format: NumberFormat,
    },
}

pub(crate) fn run(options: &BoundOptions, output: &mut Output) -> Result<Code, ExpectedError> {
    let format = format(options, output)?;
    options.refuse_what_changes_nothing()?;
    let name = options.device.as_deref().ok_or_else(|| {
        ExpectedError::usage("the device is missing: a bound holds for one device")
            .with_hint("--device h200-sxm, or another name that `ridge devices` lists")
    })?;
    let devices = table(options.table.as_deref(), output)?;
    let device = find(&devices, name)?;
    let asked = Asked {
        device,
        multiprocessors: None,
        uuid: None,
    };
    let measured =
        Stored::read(&options.ceilings, driver_of_machine(), output)?.of(&asked, output)?;
    let ceilings = Ceilings {
        device,
        bandwidth: options.bandwidth,
        peak: options.peak,
        clock: options.clock,
        unit: options.unit,
        accumulator: options.accumulator,
        is_sparse: options.is_sparse,
        measured: measured.as_ref(),
    };
    let demand = match &options.source {
        Source::Template(demand) => Some(demand),
        Source::Numbers { .. } => None,
    };
    let document = Document::new(&options.work(), demand, &ceilings, options.time)
        .map_err(|error| usage(&error))?;
    match format {
        BoundFormat::Json => output.json(&document)?,
        BoundFormat::Text => {
            output.write(&ridge_render::bound::text(&document, &layout(output)))?;
        }
    }
    Ok(exit::FINE)
}

impl BoundOptions {
    /// Options for matrix products are a mistake where there are none.
    fn refuse_what_changes_nothing(&self) -> Result<(), ExpectedError> {
        let has_matrix = match &self.source {
            Source::Template(demand) => demand
                .arithmetic
                .iter()
                .any(|part| part.kind == ArithmeticKind::Matrix),
            Source::Numbers { operations, .. } => operations.is_some(),
        };
        let option = [
            ("--unit", self.unit.is_some()),
            ("--accumulator", self.accumulator.is_some()),
            ("--sparse", self.is_sparse),
        ]
        .into_iter()
        .find(|(_, is_given)| *is_given && !has_matrix);
        match option {
            None => Ok(()),
            Some((option, _)) => Err(ExpectedError::usage(format!(
                "{option} is about matrix products, and there are none"
            ))
            .with_hint(format!("leave out {option}"))),
        }
    }

    fn work(&self) -> Work {
        let counted = match &self.source {
            Source::Template(demand) => demand.work(),
            Source::Numbers {
                bytes,
                operations,
                format,
            } => Work {
                bytes: *bytes,
                arithmetic: operations
                    .map(|operations| match self.unit {
                        Some(PeakUnit::Vector) => Arithmetic::elementwise(operations, *format),
                        _ => Arithmetic::matrix(operations, *format),
                    })
                    .into_iter()
                    .collect(),
                ..Work::default()
            },
        };
        Work {
            launches: self.launches,
            synchronizations: self.synchronizations,
            kernel_time: self.kernel_time,
            chain: self.chain,
            transfers: self.transfers.clone(),
            ..counted
        }
    }
}

fn format(options: &BoundOptions, output: &Output) -> Result<BoundFormat, ExpectedError> {
    match (options.format, output.extension().as_deref()) {
        (Some(format), _) => Ok(format),
        (None, None | Some("txt" | "text" | "log")) => Ok(BoundFormat::Text),
        (None, Some("json")) => Ok(BoundFormat::Json),
        (None, Some(other)) => Err(ExpectedError::usage(format!(
            "the extension {other:?} of the output file names no format of `ridge bound`"
        ))
        .with_hint("say --format text or --format json")),
    }
}

/// What helps where there is no bound.
fn usage(error: &BoundError) -> ExpectedError {
    let hint = match error {
        BoundError::NothingToDo => {
            "give a template such as `ridge bound gemm`, or --bytes, --flops, --launches, --chain or --h2d".to_owned()
        }
        BoundError::NoPeak { available, .. } if !available.is_empty() => {
            format!("it has {}; or give one with --peak", available.join("; "))
        }
        BoundError::NoPeak { .. } => "give one with --peak".to_owned(),
        BoundError::NoRate { what, .. } => match *what {
            "memory bandwidth" => "give one with --bandwidth".to_owned(),
            "latency of loads" => "give one with --step, such as --step 350ns".to_owned(),
            _ => "leave that transfer out, or add the link with a table of your own: --devices FILE".to_owned(),
        },
        BoundError::NoClock { .. } => {
            "leave out --clock and cycles, or add the clock with a table of your own: --devices FILE".to_owned()
        }
        _ => return ExpectedError::usage(error.to_string()),
    };
    ExpectedError::usage(error.to_string()).with_hint(hint)
}
