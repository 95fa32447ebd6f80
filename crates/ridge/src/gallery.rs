//! What the diagnosis says of a report, for the generator of the gallery's index.

use std::path::Path;

use ridge_diagnose::document::Document;

use crate::args::{Colour, Common};
use crate::filter::Address;
use crate::input::Input;
use crate::output::Output;
use crate::verbs::collect::InputSet;
use crate::verbs::why::diagnosis_of;

/// Diagnoses a report as `ridge why` does.
///
/// # Errors
/// When it cannot be read, or only in part.
pub fn diagnosed(report: &Path) -> Result<Document, String> {
    let output = Output::new(&Common {
        output: None,
        color: Colour::Never,
        quiet: true,
        verbose: 0,
        no_mmap: false,
    });
    let address = Address::whole(report.as_os_str());
    let input = Input::open(&address, &output).map_err(|error| error.message)?;
    let set = InputSet {
        name: report.as_os_str().to_owned(),
        files: vec![report.as_os_str().to_owned()],
        collection: None,
    };
    let (document, is_whole) =
        diagnosis_of(&[(input, address)], &set, &output).map_err(|error| error.message)?;
    if is_whole {
        Ok(document)
    } else {
        Err(format!("{} could be read only in part", report.display()))
    }
}
