//! Inputs, told apart by what is in them.

use std::ffi::OsString;

use ridge_checklist::{Inputs, Named, Warning};

use crate::error::ExpectedError;
use crate::evidence::shown_name;
use crate::output::Output;
use crate::verbs::diff::side::{Content, Side};

/// What was read so far.
pub(super) struct Reader {
    pub(super) inputs: Inputs,
    /// Whether all of it could be read.
    pub(super) is_whole: bool,
    sides: Vec<Side>,
}

impl Default for Reader {
    fn default() -> Self {
        Self {
            inputs: Inputs::default(),
            is_whole: true,
            sides: Vec::new(),
        }
    }
}

impl Reader {
    /// Whether nothing was read.
    pub(super) fn is_empty(&self) -> bool {
        self.sides.is_empty()
    }

    /// Reads a file.
    pub(super) fn add(&mut self, file: &OsString, output: &Output) -> Result<(), ExpectedError> {
        let mut side = Side::read(file, output)?;
        if let Some(known) = self.sides.iter().find(|known| known.is_same_part(&side)) {
            let (name, known) = (shown_name(&side.name), shown_name(&known.name));
            output.warn(&format!(
                "{name} holds the same as {known} and counts once"
            ));
            return Ok(());
        }
        self.is_whole &= side.is_whole;
        let name = side.name.clone();
        match side.take_content() {
            Content::Diagnosis(diagnosis) => {
                let warnings = diagnosis.warnings.iter().map(|warning| Warning {
                    code: warning.code.clone(),
                    message: warning.message.clone(),
                    source: Some(name.clone()),
                });
                self.inputs.warnings.extend(warnings);
                self.inputs.diagnoses.push(Named::new(name, *diagnosis));
            }
            Content::Bench(_) | Content::Trace(_) => {}
        }
        self.sides.push(side);
        Ok(())
    }
}
