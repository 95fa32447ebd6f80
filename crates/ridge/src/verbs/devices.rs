//! `ridge devices`: the GPUs of the table.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ridge_model::device::document::Document;
use ridge_model::device::{DeviceError, PciId};
use ridge_model::{Device, Devices};
use ridge_render::page::Layout;

use crate::args::DevicesFormat;
use crate::error::ExpectedError;
use crate::exit::{self, Code};
use crate::filter::Address;
use crate::input::Input;
use crate::output::Output;

/// Which devices to list and how.
pub(crate) struct DevicesOptions {
    pub(crate) name: Option<String>,
    pub(crate) table: Option<PathBuf>,
    pub(crate) format: Option<DevicesFormat>,
}

pub(crate) fn run(options: &DevicesOptions, output: &mut Output) -> Result<Code, ExpectedError> {
    let format = format(options, output)?;
    let devices = table(options.table.as_deref(), output)?;
    let chosen: Vec<&Device> = match &options.name {
        None => devices.iter().collect(),
        Some(name) => {
            let found = devices.matching(name);
            if found.is_empty() {
                // The error offers the nearest names.
                vec![find(&devices, name)?]
            } else {
                found
            }
        }
    };
    match format {
        DevicesFormat::Csv => output.write(&ridge_render::devices::csv(chosen))?,
        DevicesFormat::Json => output.json(&Document::of(chosen))?,
        DevicesFormat::Text => output.write(&ridge_render::devices::text(
            &Document::of(chosen),
            &layout(output),
        ))?,
    }
    Ok(exit::FINE)
}

fn format(options: &DevicesOptions, output: &Output) -> Result<DevicesFormat, ExpectedError> {
    match (options.format, output.extension().as_deref()) {
        (Some(format), _) => Ok(format),
        (None, None | Some("txt" | "text")) => Ok(DevicesFormat::Text),
        (None, Some("json")) => Ok(DevicesFormat::Json),
        (None, Some("csv")) => Ok(DevicesFormat::Csv),
        (None, Some(other)) => Err(ExpectedError::usage(format!(
            "the extension {other:?} of the output file names no format of `ridge devices`"
        ))
        .with_hint("say --format text, --format json or --format csv")),
    }
}

/// The page as the terminal has it.
pub(super) fn layout(output: &Output) -> Layout {
    Layout {
        columns: output.columns(),
        charset: output.charset(),
        painter: output.painter(),
        is_verbose: output.verbosity() > 0,
    }
}

/// The table that is built in, behind the user's own if there is one.
pub(super) fn table(
    own: Option<&Path>,
    output: &Output,
) -> Result<Cow<'static, Devices>, ExpectedError> {
    let Some(path) = own else {
        return Ok(Cow::Borrowed(Devices::known()));
    };
    const HINT: &str = "`ridge devices --format csv` writes a table in the right form; `ridge devices --help` tells what \
                        a row needs";
    let unreadable = |reason: &dyn std::fmt::Display| {
        let name = path.display();
        ExpectedError::unreadable(format!("cannot read the table {name}: {reason}")).with_hint(HINT)
    };
    let input = Input::open(&Address::whole(path.as_os_str()), output)
        .map_err(|error| error.with_hint(HINT))?;
    if let Some(problem) = &input.problem {
        return Err(unreadable(problem));
    }
    let text =
        std::str::from_utf8(input.bytes()).map_err(|_| unreadable(&"it is not UTF-8 text"))?;
    let own = Devices::parse(text).map_err(|error| unreadable(&error))?;
    Ok(Cow::Owned(Devices::known().with(own)))
}

/// The one device of a name.
pub(super) fn find<'d>(devices: &'d Devices, name: &str) -> Result<&'d Device, ExpectedError> {
    devices.find(name).map_err(|error| {
        let hint = match &error {
            DeviceError::Unknown { name, .. } if !of_major(devices, name).is_empty() => {
                let found = of_major(devices, name);
                format!(
                    "compute capabilities have two numbers: {}; `ridge devices` lists all",
                    found.join(" or ")
                )
            }
            DeviceError::Unknown { name, .. } if PciId::of(name).is_some() => {
                "no device of the table has that id: `ridge devices` lists all, and the column pci_ids of a table of your own adds some, with --devices FILE".to_owned()
            }
            DeviceError::Unknown { nearest, .. } if !nearest.is_empty() => {
                format!("{}; `ridge devices` lists all", nearest.join(" or "))
            }
            DeviceError::Several { .. } => "name one of them in full".to_owned(),
            _ => "`ridge devices` lists the known ones; --devices FILE adds your own".to_owned(),
        };
        ExpectedError::usage(error.to_string()).with_hint(hint)
    })
}

/// The compute capabilities of the table that begin with a number, each with its devices.
fn of_major(devices: &Devices, number: &str) -> Vec<String> {
    let Ok(major) = number.parse::<u32>() else {
        return Vec::new();
    };
    let mut found: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for device in devices
        .iter()
        .filter(|device| device.capability.major == major)
    {
        let names = found.entry(device.capability.to_string()).or_default();
        names.push(&device.name);
    }
    found
        .into_iter()
        .map(|(capability, names)| format!("{capability} ({})", names.join(", ")))
        .collect()
}
