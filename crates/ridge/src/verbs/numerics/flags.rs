//! `ridge numerics flags`: what flags and code do to results.

use std::path::{Path, PathBuf};

use ncu_rep::cubin::sass;
use ridge_numerics::flags::document::Document;
use ridge_numerics::flags::{Scan, Settings, scan_ptx};

use crate::args::OperationFormat;
use crate::disassembler::Disassembler;
use crate::error::ExpectedError;
use crate::exit::{self, Code};
use crate::filter::Address;
use crate::input::Input;
use crate::output::Output;
use crate::verbs::devices::layout;

/// What to look at.
pub(crate) struct FlagsOptions {
    pub(crate) file: Option<PathBuf>,
    pub(crate) flags: Option<String>,
    pub(crate) format: Option<OperationFormat>,
}

const KINDS: &str =
    "name PTX (`nvcc -ptx`), a cubin, or the text of `nvdisasm -c` or `cuobjdump -sass`";

pub(crate) fn run(options: &FlagsOptions, output: &mut Output) -> Result<Code, ExpectedError> {
    let format = super::plain_format(options.format, output)?;
    let settings = options
        .flags
        .as_deref()
        .map(|flags| (flags, Settings::parse(flags.split_whitespace())));
    if let Some((_, settings)) = &settings {
        for flag in &settings.not_understood {
            output.warn(&format!(
                "the value of {flag} is neither true nor false; the flag is passed over"
            ));
        }
    }
    let code = options
        .file
        .as_deref()
        .map(|file| Ok((file.display().to_string(), scan(file, output)?)))
        .transpose()?;
    let document = Document::of(
        settings
            .as_ref()
            .map(|(flags, settings)| (*flags, settings)),
        code.as_ref().map(|(file, scan)| (file.as_str(), scan)),
        super::VERSION,
    );
    match format {
        OperationFormat::Text => output.write(&ridge_render::numerics::flags::text(
            &document,
            &layout(output),
        ))?,
        OperationFormat::Markdown => {
            output.write(&ridge_render::numerics::flags::markdown(&document))?;
        }
        OperationFormat::Json => output.json(&document)?,
    }
    Ok(exit::FINE)
}

/// Looks at code, recognised by its content.
fn scan(file: &Path, output: &Output) -> Result<Scan, ExpectedError> {
    let input = Input::open(&Address::whole(file.as_os_str()), output).map_err(|error| {
        if error.exit == exit::UNREADABLE {
            error.with_hint(KINDS)
        } else {
            error
        }
    })?;
    let shown = file.display();
    if let Some(problem) = &input.problem {
        return Err(ExpectedError::unreadable(format!(
            "cannot read all of {shown}: {problem}"
        )));
    }
    let bytes = input.bytes();
    let listing;
    let text = if bytes.starts_with(b"\x7fELF") {
        let disassembler = Disassembler::find().ok_or_else(|| {
            ExpectedError::unable(format!(
                "{shown} is machine code, and there is no nvdisasm in PATH, CUDA_HOME or CUDA_PATH"
            ))
            .with_hint("it comes with the CUDA toolkit; the PTX of the same build needs no tool: `nvcc -ptx`")
        })?;
        listing = disassembler.whole(bytes).map_err(|reason| {
            ExpectedError::unreadable(format!("cannot disassemble {shown}: {reason}"))
                .with_hint("a cubin is what `nvcc -cubin` or `cuobjdump -xelf all` writes")
        })?;
        &listing
    } else {
        std::str::from_utf8(bytes).map_err(|error| {
            ExpectedError::unreadable(format!(
                "{shown} is neither text nor a cubin: byte {} is no UTF-8",
                error.valid_up_to()
            ))
            .with_hint(KINDS)
        })?
    };
    let is_ptx = text
        .lines()
        .any(|line| line.trim_start().starts_with(".version"))
        && text.contains(".target");
    let scan = if is_ptx {
        scan_ptx(text)
    } else {
        Scan::sass(
            sass::instructions(text).map(|instruction| (instruction.function, instruction.text)),
        )
    };
    if scan.instructions() == 0 {
        return Err(
            ExpectedError::unreadable(format!("there are no instructions in {shown}"))
                .with_hint(KINDS),
        );
    }
    Ok(scan)
}
