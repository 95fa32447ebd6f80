//! Files that are named: results, reports and specs, told apart by what is in them.

use std::ffi::OsStr;
use std::path::PathBuf;

use ridge_compare::check::{Document, Found, Named};
use ridge_diagnose::document::Document as Diagnosis;

use crate::error::ExpectedError;
use crate::filter::Address;
use crate::input::Input;
use crate::output::Output;
use crate::verbs::collect::input_sets;
use crate::verbs::narrowed;
use crate::verbs::why::kernels_of;

/// A result with the bytes that are recorded of it.
pub(super) struct Loaded {
    pub(super) named: Named,
    pub(super) bytes: Vec<u8>,
}

/// What a file is.
pub(super) enum Kind {
    Result(Box<Loaded>),
    Spec(Spec),
}

/// What is to be measured.
pub(super) struct Spec {
    pub(super) path: PathBuf,
    /// The one kernel of it that is measured.
    pub(super) only: Option<String>,
}

/// Opens a file and looks at what it is.
pub(super) fn open(file: &OsStr, output: &Output) -> Result<Kind, ExpectedError> {
    let name = file.to_string_lossy().into_owned();
    let address = Address::of_argument(file)?;
    let input = Input::open(&address, output)?;
    if let Some(found) = Found::read(input.bytes()) {
        let mut found = found.map_err(|error| {
            ExpectedError::unreadable(format!("cannot read {name}: {error}"))
                .with_hint("measure it again: a document that was cut off cannot be mended")
        })?;
        let mut bytes = input.bytes().to_vec();
        if address.kernel.is_some() {
            narrow(&mut found, &address)?;
            bytes = match &found {
                Found::Bench(document) => serde_json::to_vec(document),
                Found::Diagnosis(diagnosis) => serde_json::to_vec(diagnosis),
            }
            .map_err(|error| ExpectedError::internal(format!("cannot write {name}: {error}")))?;
        }
        let only = address.kernel;
        return Ok(Kind::Result(Box::new(Loaded {
            named: Named { name, found, only },
            bytes,
        })));
    }
    if is_spec(input.bytes()) {
        if address.launch.is_some() {
            return Err(ExpectedError::usage(format!(
                "{name} is a spec, of which no launch can be chosen"
            ))
            .with_hint("choose a kernel: SPEC#NAME"));
        }
        return Ok(Kind::Spec(Spec {
            path: PathBuf::from(address.file),
            only: address.kernel,
        }));
    }
    report(file, address.kernel, name, output).map(|loaded| Kind::Result(Box::new(loaded)))
}

/// Keeps the kernel that is meant.
pub(super) fn narrow(found: &mut Found, address: &Address) -> Result<(), ExpectedError> {
    match found {
        Found::Bench(document) => narrowed::states(document, address),
        Found::Diagnosis(diagnosis) => narrowed::kernels(diagnosis, address),
    }
}

/// The answer of an earlier check; `None` where the file is something else.
pub(super) fn earlier(file: &OsStr, output: &Output) -> Result<Option<Document>, ExpectedError> {
    if file == "-" {
        return Ok(None);
    }
    let address = Address::of_argument(file)?;
    let input = Input::open(&address, output)?;
    if !Document::looks_like(input.bytes()) {
        return Ok(None);
    }
    if let Some(kernel) = &address.kernel {
        return Err(ExpectedError::usage(format!(
            "{} is an answer of `ridge check`, of which no kernel can be chosen",
            address.text()
        ))
        .with_hint(format!(
            "check the result again: ridge check RESULT#{kernel}"
        )));
    }
    Document::read(input.bytes()).map(Some).map_err(|error| {
        ExpectedError::unreadable(format!("cannot read {}: {error}", file.to_string_lossy()))
            .with_hint("check again: `ridge check … --output check.json`")
    })
}

/// A spec is TOML with kernels in it.
fn is_spec(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| {
        text.lines()
            .map(str::trim_start)
            .any(|line| line.starts_with("[kernels") || line.starts_with("[[slow]]"))
    })
}

/// A report is diagnosed, and the diagnosis is the result.
fn report(
    file: &OsStr,
    only: Option<String>,
    name: String,
    output: &Output,
) -> Result<Loaded, ExpectedError> {
    let mut kernels = Vec::new();
    for set in input_sets(&[file.to_owned()], output) {
        kernels.extend(kernels_of(&set, output)?);
    }
    let diagnosis = Diagnosis::of_kernels(kernels);
    let bytes = serde_json::to_vec(&diagnosis)
        .map_err(|error| ExpectedError::internal(format!("cannot write a diagnosis: {error}")))?;
    let found = Found::Diagnosis(Box::new(diagnosis));
    Ok(Loaded {
        named: Named { name, found, only },
        bytes,
    })
}
