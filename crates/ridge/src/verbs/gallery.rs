//! `ridge gallery`: kernels that are slow for one reason, from what the command carries with it.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use ridge_learn::gallery::document::Document;
use ridge_learn::gallery::{Case, cases, find, nearest, nearest_of};

use crate::args::{GalleryFormat, bench_options};
use crate::error::ExpectedError;
use crate::exit::{self, Code};
use crate::output::{Output, unwritable};
use crate::pages::page_ids;
use crate::verbs::bench;
use crate::verbs::devices::layout;

/// The files of a case, as in the repository.
const KERNELS: &str = "kernels.cu";
const SPEC: &str = "bench.toml";

/// Which cases, and what to do with them.
pub(crate) struct GalleryOptions {
    pub(crate) case: Option<String>,
    pub(crate) finding: Option<String>,
    pub(crate) todo: Todo,
    pub(crate) format: Option<GalleryFormat>,
}

/// What to do.
pub(crate) enum Todo {
    Show {
        has_source: bool,
    },
    /// Measure it on this device.
    Bench(String),
    /// Write its sources into this folder.
    Write(PathBuf),
}

pub(crate) fn run(options: &GalleryOptions, output: &mut Output) -> Result<Code, ExpectedError> {
    let chosen: Vec<&Case> = match (&options.case, &options.finding) {
        (Some(name), _) => vec![known(name)?],
        (None, Some(finding)) => showing(finding)?,
        (None, None) => cases().iter().collect(),
    };
    match (&options.todo, chosen.as_slice()) {
        (Todo::Bench(device), [case]) => measure(case, device, options.format, output),
        (Todo::Write(folder), [case]) => write(case, folder, output),
        _ => {
            let has_source = matches!(options.todo, Todo::Show { has_source: true });
            let document = Document::of(chosen.iter().copied(), has_source);
            show(&document, options, output)?;
            Ok(exit::FINE)
        }
    }
}

fn show(
    document: &Document,
    options: &GalleryOptions,
    output: &Output,
) -> Result<(), ExpectedError> {
    let format = match (options.format, output.extension().as_deref()) {
        (Some(format), _) => format,
        (None, None | Some("txt" | "text")) => GalleryFormat::Text,
        (None, Some("json")) => GalleryFormat::Json,
        (None, Some("md" | "markdown")) => GalleryFormat::Markdown,
        (None, Some(other)) => {
            return Err(ExpectedError::usage(format!(
                "the extension {other:?} of the output file names no format of `ridge gallery`"
            ))
            .with_hint("say --format text, --format json or --format markdown"));
        }
    };
    match (format, document.cases.as_slice()) {
        (GalleryFormat::Json, _) => output.json(document),
        (GalleryFormat::Markdown, _) => output.write(&ridge_render::gallery::markdown(document)),
        (GalleryFormat::Text, [case]) if options.case.is_some() => {
            output.write(&ridge_render::gallery::case(case, &layout(output)))
        }
        (GalleryFormat::Text, _) => {
            output.write(&ridge_render::gallery::list(document, &layout(output)))
        }
    }
}

/// The case of a name.
fn known(name: &str) -> Result<&'static Case, ExpectedError> {
    find(name).ok_or_else(|| {
        let near: Vec<String> = nearest(name)
            .into_iter()
            .map(|near| format!("`ridge gallery {near}`"))
            .collect();
        let hint = if near.is_empty() {
            "`ridge gallery` lists all cases".to_owned()
        } else {
            near.join(" or ")
        };
        ExpectedError::usage(format!("{name:?} is no case of the gallery")).with_hint(hint)
    })
}

/// The cases that show a finding.
fn showing(finding: &str) -> Result<Vec<&'static Case>, ExpectedError> {
    let wanted = finding.trim().to_ascii_lowercase();
    let found: Vec<&Case> = cases().iter().filter(|case| case.shows(&wanted)).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    if page_ids().any(|id| id == wanted) {
        return Err(
            ExpectedError::usage(format!("no case of the gallery shows {wanted}"))
                .with_hint(format!("`ridge explain {wanted}` tells about it")),
        );
    }
    let mut labels: Vec<&str> = cases()
        .iter()
        .map(|case| case.entry.label.as_str())
        .collect();
    labels.sort_unstable();
    labels.dedup();
    let near = nearest_of(&wanted, labels.iter().copied());
    let hint = if near.is_empty() {
        "`ridge gallery` lists cases with their findings".to_owned()
    } else {
        format!("--finding {}", near.join(" or --finding "))
    };
    Err(ExpectedError::usage(format!("{finding:?} is no finding")).with_hint(hint))
}

/// Measures both versions by the code of `ridge bench`, from a folder that is gone afterwards.
fn measure(
    case: &Case,
    device: &str,
    format: Option<GalleryFormat>,
    output: &mut Output,
) -> Result<Code, ExpectedError> {
    let unable = |error: io::Error| {
        ExpectedError::unable(format!("cannot make a folder for the kernels: {error}"))
            .with_hint("TMPDIR names a folder to use; `ridge gallery CASE --write DIR` writes them where you say")
    };
    let outer = tempfile::Builder::new()
        .prefix("ridge-gallery-")
        .tempdir()
        .map_err(unable)?;
    let folder = outer.path().join(&case.entry.name);
    fs::create_dir(&folder).map_err(unable)?;
    fs::write(folder.join(KERNELS), case.kernels).map_err(unable)?;
    let spec = folder.join(SPEC);
    fs::write(&spec, case.spec).map_err(unable)?;
    let format = format.map(|format| match format {
        GalleryFormat::Text => "text",
        GalleryFormat::Json => "json",
        GalleryFormat::Markdown => "markdown",
    });
    bench::run(&bench_options(&spec, device, format)?, output)
}

/// Writes the sources of a case into a folder. What is there already stays as it is.
fn write(case: &Case, folder: &Path, output: &Output) -> Result<Code, ExpectedError> {
    let files = [(KERNELS, case.kernels), (SPEC, case.spec)];
    fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
    // Both or none, as far as that can be known beforehand.
    for (name, _) in files {
        let path = folder.join(name);
        if path.symlink_metadata().is_ok() {
            return Err(taken(&path));
        }
    }
    for (name, text) in files {
        let path = folder.join(name);
        let written =
            fs::File::create_new(&path).and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => taken(&path),
            _ => unwritable(&path, &error),
        })?;
    }
    let (kernels, spec) = (folder.join(KERNELS), folder.join(SPEC));
    let text = format!(
        "{}\n{}\n",
        ridge_render::escape::terminal(&kernels.display().to_string()),
        ridge_render::escape::terminal(&spec.display().to_string())
    );
    output.write(&text)?;
    output.note(&format!("measure it with `ridge bench {}`", spec.display()));
    Ok(exit::FINE)
}

fn taken(path: &Path) -> ExpectedError {
    ExpectedError::usage(format!("{} is there already", path.display()))
        .with_hint("name a new folder with --write DIR")
}
