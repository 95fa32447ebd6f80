//! Inputs, told apart by what is in them.

use std::ffi::OsString;
use std::path::Path;

use ridge_checklist::{Build, Claims, Diagnosed, Inputs, Named, Origin, Program, Warning};
use ridge_diagnose::document::Document as Diagnosis;
use ridge_model::{ComputeCapability, Devices};
use ridge_numerics::stored::Stored as Numerics;

use crate::error::ExpectedError;
use crate::evidence::shown_name;
use crate::filter::Address;
use crate::input::Input;
use crate::output::Output;
use crate::small_file;
use crate::verbs::ceilings::stored::{Asked, Stored};
use crate::verbs::collect::InputSet;
use crate::verbs::diff::side::{Content, JSON_KINDS, Side};

/// What was read so far.
pub(super) struct Reader {
    pub(super) inputs: Inputs,
    /// Whether all of it could be read.
    pub(super) is_whole: bool,
    sides: Vec<Side>,
    /// Names and bytes of small files.
    small: Vec<(String, Vec<u8>)>,
}

impl Default for Reader {
    fn default() -> Self {
        Self {
            inputs: Inputs::default(),
            is_whole: true,
            sides: Vec::new(),
            small: Vec::new(),
        }
    }
}

impl Reader {
    /// Whether nothing was read.
    pub(super) fn is_empty(&self) -> bool {
        let inputs = &self.inputs;
        let options = inputs.builds.is_empty() && inputs.claims.is_none();
        self.sides.is_empty() && self.small.is_empty() && options
    }

    /// Reads flags of a compiler as they were typed.
    pub(super) fn add_flags(&mut self, flags: &str) {
        let build = Build::of_flags(flags);
        self.inputs.builds.push(Named::new("--flags", build));
    }

    /// Reads what the user states.
    pub(super) fn add_claims(&mut self, path: &Path) -> Result<(), ExpectedError> {
        let shown = path.display().to_string();
        let unreadable = |why: String| {
            ExpectedError::unreadable(format!("cannot read {}: {why}", shown_name(&shown)))
                .with_hint("`ridge explain cpu-comparison` shows such a file")
        };
        let text = small_file::text(path, small_file::MOST_OF_SETTINGS)
            .map_err(unreadable)?
            .ok_or_else(|| unreadable("there is no such file".to_owned()))?;
        let claims = Claims::read(&text)
            .map_err(|error| unreadable(format!("{error} ({})", error.code())))?;
        self.inputs.claims = Some(Named::new(shown, claims));
        Ok(())
    }

    /// Reads files that answer together.
    pub(super) fn add(&mut self, set: InputSet, output: &Output) -> Result<(), ExpectedError> {
        if let (true, Some(collection)) = (set.files.is_empty(), &set.collection) {
            return Err(collection.without_reports(&set.name));
        }
        let opened = Side::open(&set, output)?;
        if let ([(input, address)], None) = (opened.as_slice(), &set.collection)
            && self.add_small(input, address, output)?
        {
            return Ok(());
        }
        let origin = origin(&set, &opened);
        let mut side = Side::of_opened(set, opened, output).map_err(|error| {
            if error.hint.as_deref() != Some(JSON_KINDS) {
                return error;
            }
            error.with_hint(format!(
                "{JSON_KINDS}; here also answers of `ridge numerics` and a compile_commands.json"
            ))
        })?;
        if let Some(known) = self.sides.iter().find(|known| known.is_same_part(&side)) {
            counts_once(&side.name, &known.name, output);
            return Ok(());
        }
        let name = side.name.clone();
        match side.take_content() {
            Content::Diagnosis(diagnosis) => self.add_diagnosis(name, *diagnosis, origin),
            Content::Bench(bench) => self.inputs.benches.push(Named::new(name, *bench)),
            Content::Trace(read) => {
                if let Some(kernel) = side.only()? {
                    return Err(ExpectedError::usage(format!(
                        "{} is a trace, of which no kernel can be chosen",
                        shown_name(&name)
                    ))
                    .with_hint(format!(
                        "name it without #{kernel}: its questions are about the program"
                    )));
                }
                let warnings = read.warnings.iter().map(|warning| Warning {
                    code: warning.code.clone(),
                    message: warning.message.clone(),
                    source: Some(name.clone()),
                });
                self.inputs.warnings.extend(warnings);
                let program = Program {
                    read_backs: ridge_trace::read_backs(&read.timeline),
                    trace: read.trace,
                };
                self.inputs.programs.push(Named::new(name, program));
            }
        }
        self.is_whole &= side.is_whole;
        self.sides.push(side);
        Ok(())
    }

    fn add_diagnosis(&mut self, name: String, document: Diagnosis, origin: Origin) {
        let warnings = document.warnings.iter().map(|warning| Warning {
            code: warning.code.clone(),
            message: warning.message.clone(),
            source: Some(name.clone()),
        });
        self.inputs.warnings.extend(warnings);
        let diagnosed = Diagnosed { document, origin };
        self.inputs.diagnoses.push(Named::new(name, diagnosed));
    }

    /// Reads an answer of `ridge numerics` or a list of compile commands; says whether it is one.
    fn add_small(
        &mut self,
        input: &Input,
        address: &Address,
        output: &Output,
    ) -> Result<bool, ExpectedError> {
        let bytes = input.bytes();
        let name = address.text().into_owned();
        let unreadable = |why: String, hint: &str| {
            ExpectedError::unreadable(format!("cannot read {}: {why}", shown_name(&name)))
                .with_hint(hint)
        };
        let is_numerics = Numerics::looks_like(bytes);
        if !is_numerics && !Build::looks_like(bytes) {
            return Ok(false);
        }
        if let Some((known, _)) = self.small.iter().find(|(_, other)| other == bytes) {
            counts_once(&name, known, output);
            return Ok(true);
        }
        if is_numerics {
            let stored = Numerics::read(bytes)
                .map_err(|error| unreadable(format!("{error} ({})", error.code()), error.hint()))?;
            match stored {
                Numerics::Comparison(content) => {
                    self.inputs.comparisons.push(Named::new(&name, content));
                }
                Numerics::Repeat(content) => {
                    self.inputs.repeats.push(Named::new(&name, content));
                }
                Numerics::Arithmetic(content) => {
                    self.inputs.arithmetic.push(Named::new(&name, content));
                }
            }
        } else {
            let build = Build::read(bytes).map_err(|error| {
                unreadable(
                    format!("{error} ({})", error.code()),
                    "CMake writes it with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
                )
            })?;
            self.inputs.builds.push(Named::new(&name, build));
        }
        self.is_whole &= input.problem.is_none();
        self.small.push((name, bytes.to_vec()));
        Ok(true)
    }

    /// Adds what was measured on devices like those of the inputs.
    pub(super) fn add_ceilings(
        &mut self,
        stored: &Stored,
        output: &Output,
    ) -> Result<(), ExpectedError> {
        if stored.is_empty() {
            return Ok(());
        }
        let of_kernels = self.inputs.diagnoses.iter().flat_map(|named| {
            let kernels = named.content.document.kernels.iter();
            kernels.map(|kernel| (kernel.device.clone(), kernel.compute_capability.clone()))
        });
        let of_programs = self.inputs.programs.iter().flat_map(|named| {
            let devices = named.content.trace.devices.iter();
            devices.map(|device| (device.name.clone(), device.compute_capability.clone()))
        });
        let mut devices: Vec<(String, Option<String>)> = Vec::new();
        for (name, capability) in of_kernels.chain(of_programs) {
            if let Some(name) = name
                && !devices.iter().any(|(known, _)| *known == name)
            {
                devices.push((name, capability));
            }
        }
        let is_one = devices.len() == 1;
        for (name, capability) in devices {
            let capability = capability.and_then(|text| capability_of(&text));
            let mut fitting = Devices::known()
                .matching(&name)
                .into_iter()
                .filter(|row| capability.is_none_or(|capability| capability == row.capability));
            let (Some(device), None) = (fitting.next(), fitting.next()) else {
                continue;
            };
            let asked = Asked {
                device,
                multiprocessors: None,
                uuid: None,
            };
            let found = match stored.of(&asked, output) {
                // A file is of one device; that of another input may be it.
                Err(_) if !is_one => None,
                other => other?,
            };
            self.inputs
                .ceilings
                .extend(found.map(|measured| (name, measured)));
        }
        Ok(())
    }
}

fn capability_of(text: &str) -> Option<ComputeCapability> {
    let (major, minor) = text.split_once('.')?;
    Some(ComputeCapability {
        major: major.parse().ok()?,
        minor: minor.parse().ok()?,
    })
}

/// Where the kernels of a set are from.
fn origin(set: &InputSet, opened: &[(Input, Address)]) -> Origin {
    let text = |file: &OsString| file.to_string_lossy().into_owned();
    match opened {
        _ if set.collection.is_some() => Origin::Files(vec![text(&set.name)]),
        [(input, _)] if Diagnosis::looks_like(input.bytes()) => Origin::Saved,
        [(_, address)] => Origin::File(address.text().into_owned()),
        _ => Origin::Files(set.files.iter().map(text).collect()),
    }
}

fn counts_once(name: &str, known: &str, output: &Output) {
    output.warn(&format!(
        "{} holds the same as {} and counts once",
        shown_name(name),
        shown_name(known)
    ));
}
