//! `ridge numerics --repeat N -- CMD`: whether a program gives the same output every time.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use ridge_collect::ncu::quote;
use ridge_collect::sanitize::End;
use ridge_numerics::determinism::compare;
use ridge_numerics::determinism::document::{Document, Outcome, TensorVariation};
use ridge_numerics::format::{Endian, Format};

use super::tensor::contents;
use crate::args::OperationFormat;
use crate::error::ExpectedError;
use crate::exit::{self, Code};
use crate::output::Output;
use crate::process;
use crate::verbs::bench::interrupts;
use crate::verbs::devices::layout;

/// Stands for the file that the program is to write.
pub(crate) const PLACEHOLDER: &str = "{output}";

/// What to run, and how often.
pub(crate) struct RepeatOptions {
    pub(crate) count: usize,
    pub(crate) command: Vec<OsString>,
    pub(crate) written: Written,
    pub(crate) limit: Option<Duration>,
    pub(crate) dtype: Option<Format>,
    pub(crate) format: Option<OperationFormat>,
}

/// What the program writes.
pub(crate) enum Written {
    /// What stands for [`PLACEHOLDER`], another file for each run.
    Placeholder,
    /// This file, each time.
    File(PathBuf),
}

/// Different outputs that are kept to be compared; more are counted only.
const MOST_KEPT: usize = 16;

pub(crate) fn run(options: &RepeatOptions, output: &mut Output) -> Result<Code, ExpectedError> {
    let format = super::plain_format(options.format, output)?;
    let (document, is_interrupted) = repeated(options, output)?;
    match format {
        OperationFormat::Text => output.write(&ridge_render::numerics::repeat::text(
            &document,
            &layout(output),
        ))?,
        OperationFormat::Markdown => {
            output.write(&ridge_render::numerics::repeat::markdown(&document))?;
        }
        OperationFormat::Json => output.json(&document)?,
    }
    Ok(if is_interrupted {
        exit::INTERRUPTED
    } else if !document.is_identical {
        exit::DIFFERS
    } else if document.runs < 2 {
        exit::UNDECIDED
    } else {
        exit::FINE
    })
}

/// An output that was seen, and in how many runs.
struct Seen {
    /// `None` where only its hash is kept.
    bytes: Option<Vec<u8>>,
    hash: u64,
    length: usize,
    count: u64,
}

fn repeated(options: &RepeatOptions, output: &Output) -> Result<(Document, bool), ExpectedError> {
    let Some((program, arguments)) = options.command.split_first() else {
        return Err(ExpectedError::usage("there is no program behind `--`"));
    };
    let path = process::find(program, &[]).map_err(|looked| {
        let shown = Path::new(program).display();
        if looked.is_empty() {
            ExpectedError::usage(format!("there is no program {shown}"))
                .with_hint("check the path; it is taken from the current folder")
        } else {
            ExpectedError::usage(format!("there is no program {shown} in PATH"))
                .with_hint(format!("./{shown} for one in the current folder"))
        }
    })?;
    let folder = tempfile::Builder::new()
        .prefix("ridge-repeat-")
        .tempdir()
        .map_err(|error| ExpectedError::unable(format!("there is no temporary folder: {error}")))?;
    let is_interrupted = interrupts()?;
    let mut seen: Vec<Seen> = Vec::new();
    for number in 0..options.count {
        if is_interrupted() {
            break;
        }
        output.progress(&format!("[{}/{}] run", number + 1, options.count));
        let file = match &options.written {
            Written::Placeholder => folder.path().join(format!("output-{number}")),
            Written::File(file) => file.clone(),
        };
        let before = stamp(&file);
        let arguments: Vec<OsString> = arguments.iter().map(|word| filled(word, &file)).collect();
        let finished =
            process::run(&path, &arguments, options.limit, &is_interrupted).map_err(|error| {
                ExpectedError::unable(format!("{} does not start: {error}", path.display()))
            })?;
        match finished.end {
            End::Code(0) => {}
            End::Interrupted => break,
            end => return Err(failed(end, number, &finished.output)),
        }
        let bytes = fs::read(&file).map_err(|error| {
            ExpectedError::unreadable(format!(
                "run {} ended well, and its output cannot be read from {}: {error}",
                number + 1,
                file.display()
            ))
            .with_hint("the program has to write the file that {output} or --output-of names")
            .with_exit(exit::TARGET_FAILED)
        })?;
        if before.is_some() && before == stamp(&file) {
            return Err(ExpectedError::unreadable(format!(
                "run {} ended well and did not write {}: what is there is older than the run",
                number + 1,
                file.display()
            ))
            .with_hint("a stale output would be taken for one that repeats; check the name, or use {output}")
            .with_exit(exit::TARGET_FAILED));
        }
        if matches!(options.written, Written::Placeholder) {
            // It is in memory now, or known already.
            let _ = fs::remove_file(&file);
        }
        take(&mut seen, bytes);
    }
    output.progress("");
    if seen.is_empty() {
        return Err(ExpectedError::unable("no run came to its end").with_exit(exit::INTERRUPTED));
    }
    let outcome = Outcome {
        command: options
            .command
            .iter()
            .map(|word| word.to_string_lossy().into_owned())
            .collect(),
        command_line: command_line(options),
        asked: options.count,
        bytes: seen[0].length as u64,
        counts: seen.iter().map(|seen| seen.count).collect(),
        tensors: if seen.len() > 1 {
            variations(&seen, options.dtype)
        } else {
            Ok(Vec::new())
        },
    };
    Ok((Document::of(outcome, super::VERSION), is_interrupted()))
}

/// The program as another tool would run it: the output goes where nobody looks.
fn command_line(options: &RepeatOptions) -> String {
    let words: Vec<String> = options
        .command
        .iter()
        .map(|word| quote(&filled(word, Path::new("/tmp/output")).to_string_lossy()))
        .collect();
    words.join(" ")
}

fn filled(word: &OsString, file: &Path) -> OsString {
    match word.to_str() {
        Some(text) if text.contains(PLACEHOLDER) => {
            text.replace(PLACEHOLDER, &file.to_string_lossy()).into()
        }
        _ => word.clone(),
    }
}

/// What tells that a file was written: when, and how long it is.
fn stamp(file: &Path) -> Option<(SystemTime, u64)> {
    let metadata = fs::metadata(file).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

fn failed(end: End, number: usize, printed: &str) -> ExpectedError {
    let how = match end {
        End::Code(code) => format!("with exit code {code}"),
        End::Signal(signal) => format!(
            "by signal {signal}{}",
            process::signal_name(u64::from(signal.unsigned_abs()))
        ),
        End::TimedOut => "at the time limit".to_owned(),
        End::Interrupted => "interrupted".to_owned(),
    };
    let last = printed.lines().rfind(|line| !line.trim().is_empty());
    let said = last.map_or_else(String::new, |line| format!("; it said: {}", line.trim()));
    ExpectedError::unable(format!("run {} ended {how}{said}", number + 1))
        .with_hint("outputs are compared of runs that end well; `ridge sanitize` looks for faults")
        .with_exit(exit::TARGET_FAILED)
}

/// Counts an output, and keeps it where it is new.
fn take(seen: &mut Vec<Seen>, bytes: Vec<u8>) {
    use std::hash::{DefaultHasher, Hasher};
    let mut hasher = DefaultHasher::new();
    hasher.write(&bytes);
    let hash = hasher.finish();
    let known = seen.iter_mut().find(|known| {
        known.hash == hash
            && known.length == bytes.len()
            && known.bytes.as_ref().is_none_or(|own| *own == bytes)
    });
    match known {
        Some(known) => known.count += 1,
        None => {
            let is_kept = seen.len() < MOST_KEPT;
            seen.push(Seen {
                hash,
                length: bytes.len(),
                count: 1,
                bytes: is_kept.then_some(bytes),
            });
        }
    }
}

/// What differs, tensor by tensor. Without heads the bytes are elements of the format that is given.
fn variations(seen: &[Seen], dtype: Option<Format>) -> Result<Vec<TensorVariation>, String> {
    let outputs: Vec<&[u8]> = seen
        .iter()
        .filter_map(|seen| seen.bytes.as_deref())
        .collect();
    let first = outputs[0];
    let Ok(heads) = contents(first, dtype) else {
        let Some(format) = dtype else {
            return Err(
                "they are no tensors: with --dtype their bytes are taken as elements".to_owned(),
            );
        };
        let variation = compare(&outputs, format, Endian::Little)
            .map_err(|error| format!("they cannot be compared: {error}"))?;
        let elements = (first.len() / format.size_bytes()) as u64;
        return Ok(vec![TensorVariation::of(
            None,
            format,
            &[elements],
            &variation,
        )]);
    };
    let others: Vec<_> = outputs[1..]
        .iter()
        .map(|bytes| contents(bytes, dtype))
        .collect::<Result<_, _>>()
        .map_err(|error| format!("not every one is a file of tensors: {error}"))?;
    let mut found = Vec::new();
    for tensor in &heads.tensors {
        let name = tensor.name.as_deref();
        let shown = name.unwrap_or("the tensor");
        let mut bytes = Vec::new();
        for contents in std::iter::once(&heads).chain(&others) {
            let same = contents
                .tensors
                .iter()
                .find(|other| other.name.as_deref() == name)
                .filter(|other| {
                    other.head.shape == tensor.head.shape && other.head.format == tensor.head.format
                })
                .ok_or_else(|| format!("{shown} has another shape or format in some run"))?;
            bytes.push(c_order(same).map_err(|error| format!("cannot read {shown}: {error}"))?);
        }
        let runs: Vec<&[u8]> = bytes.iter().map(Vec::as_slice).collect();
        let variation = compare(&runs, tensor.head.format, tensor.head.endian)
            .map_err(|error| format!("{shown} cannot be compared: {error}"))?;
        found.push(TensorVariation::of(
            tensor.name.clone(),
            tensor.head.format,
            &tensor.head.shape,
            &variation,
        ));
    }
    Ok(found)
}

/// The elements of a tensor in C order, each in whole bytes.
fn c_order(
    tensor: &ridge_numerics::tensor::Tensor<'_>,
) -> Result<Vec<u8>, ridge_numerics::tensor::TensorError> {
    if let Some(unpacked) = tensor.unpack(64 << 30)? {
        return c_order(&tensor.with_bytes(&unpacked)?);
    }
    let mut bytes = Vec::new();
    let mut blocks = tensor.blocks(1 << 16)?;
    while let Some(block) = blocks.next_block()? {
        bytes.extend_from_slice(block.bytes);
    }
    Ok(bytes)
}
