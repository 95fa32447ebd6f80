//! From files and options to a spec.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use ridge_bench::protocol::Source;
use ridge_bench::spec::{Place, Spec, SpecError};

use super::{Flags, What};
use crate::error::{Excerpt, ExpectedError};
use crate::filter::Address;
use crate::gpu;
use crate::input::Input;
use crate::output::Output;

/// A spec and where its files are.
pub(super) struct Loaded {
    pub(super) spec: Spec,
    /// The folder that its files are relative to.
    pub(super) folder: PathBuf,
    /// What it is called in messages.
    pub(super) shown: String,
    /// What the benchmark is called.
    pub(super) name: String,
}

pub(super) fn load(what: &What, output: &Output) -> Result<Loaded, ExpectedError> {
    match what {
        What::File(path) => from_file(path, output),
        What::Kernel(path, flags) => from_flags(path, flags),
    }
}

fn from_file(path: &Path, output: &Output) -> Result<Loaded, ExpectedError> {
    let bytes = content(path, output)?;
    let shown = path.display().to_string();
    let no_spec = || {
        ExpectedError::usage(format!("{shown} holds kernels, and nothing says how to launch them")).with_hint(format!(
            "ridge bench {shown} --kernel NAME --grid EXPRESSION --block EXPRESSION --arg …; or a spec in TOML, as in examples/"
        ))
    };
    let text = std::str::from_utf8(&bytes).map_err(|_| no_spec())?;
    if looks_like_kernels(text) {
        return Err(no_spec());
    }
    let spec = Spec::read(text).map_err(|error| spec_error(&error, &shown))?;
    let stem = path
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    Ok(Loaded {
        name: spec.name.clone().unwrap_or(stem),
        spec,
        folder: folder_of(path),
        shown,
    })
}

/// CUDA source and PTX are no TOML; what they begin with says more than where a parser of TOML gives up.
fn looks_like_kernels(text: &str) -> bool {
    text.contains("__global__") && !text.contains("[kernels") && !text.contains("[[slow]]")
        || text
            .lines()
            .map(str::trim)
            .find(|line| !line.is_empty() && !line.starts_with("//"))
            .is_some_and(|line| line.starts_with(".version"))
}

fn content(path: &Path, output: &Output) -> Result<Vec<u8>, ExpectedError> {
    let input = Input::open(&Address::whole(path.as_os_str()), output)?;
    if let Some(problem) = &input.problem {
        return Err(ExpectedError::unreadable(format!(
            "cannot read {}: {problem}",
            path.display()
        )));
    }
    Ok(input.bytes().to_vec())
}

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

/// A mistake in a spec with the line that it is in.
pub(super) fn spec_error(error: &SpecError, shown: &str) -> ExpectedError {
    let place = error.place();
    let message = match place {
        Some(Place { line, column, .. }) => format!("{shown}:{line}:{column}: {error}"),
        None => format!("{shown}: {error}"),
    };
    let mut expected = ExpectedError::usage(message);
    expected.hint = error.hint();
    expected.excerpt = place.map(|place| {
        Box::new(Excerpt {
            line: place.line,
            text: place.text.clone(),
            column: place.column,
            width: place.width,
        })
    });
    expected
}

/// A kernel that options describe: they are put into the words of a spec, so that both are read in one way.
fn from_flags(path: &Path, flags: &Flags) -> Result<Loaded, ExpectedError> {
    let file = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let mut sizes = String::new();
    for size in &flags.size {
        let (name, value) = size.split_once('=').ok_or_else(|| {
            ExpectedError::usage(format!("--size {size}: expected NAME=EXPRESSION"))
                .with_hint("--size n=1048576")
        })?;
        let _ = writeln!(sizes, "{} = {}", key(name), text(value));
    }
    let (mut buffers, mut scalars, mut names) = (String::new(), String::new(), Vec::new());
    let mut output = None;
    for argument in &flags.args {
        let wrong = || {
            ExpectedError::usage(format!("--arg {argument}: expected NAME=TYPE[LENGTH], NAME=TYPE[LENGTH]:INIT or NAME=TYPE:VALUE"))
                .with_hint("--arg 'in=f32[n]:random' --arg 'out=f32[n]' --arg 'n=i32'")
        };
        let (name, rest) = argument.split_once('=').ok_or_else(wrong)?;
        names.push(text(name.trim()));
        match rest.split_once('[') {
            Some((kind, rest)) => {
                let (length, init) = rest.rsplit_once(']').ok_or_else(wrong)?;
                let init = init.strip_prefix(':').filter(|init| !init.is_empty());
                let _ = write!(
                    buffers,
                    "{} = {{ type = {}, length = {}",
                    key(name),
                    text(kind),
                    text(length)
                );
                match init {
                    Some(init) => {
                        let _ = writeln!(
                            buffers,
                            ", init = {}, seed = {} }}",
                            text(init),
                            names.len()
                        );
                    }
                    None => {
                        output = Some(name.trim().to_owned());
                        let _ = writeln!(buffers, " }}");
                    }
                }
            }
            None => {
                let (kind, value) = rest
                    .split_once(':')
                    .map_or((rest, None), |(kind, value)| (kind, Some(value)));
                let value =
                    value.map_or_else(String::new, |value| format!(", value = {}", text(value)));
                let _ = writeln!(
                    scalars,
                    "{} = {{ type = {}{value} }}",
                    key(name),
                    text(kind)
                );
            }
        }
    }
    let list = |expressions: &str| {
        let parts: Vec<String> = split(expressions).iter().map(|part| text(part)).collect();
        format!("[{}]", parts.join(", "))
    };
    let mut spec = format!("source = {}\n", text(&file));
    for (name, value) in [("bytes", &flags.bytes), ("flops", &flags.flops)] {
        if let Some(value) = value {
            let _ = writeln!(spec, "{name} = {}", text(value));
        }
    }
    let options: Vec<String> = flags.options.iter().map(|option| text(option)).collect();
    let _ = writeln!(spec, "options = [{}]", options.join(", "));
    let _ = write!(
        spec,
        "[sizes]\n{sizes}[buffers]\n{buffers}[scalars]\n{scalars}[kernels.{}]\nentry = {}\ngrid = {}\nblock = {}\nargs = [{}]\n",
        key("kernel"),
        text(&flags.kernel),
        list(&flags.grid),
        list(&flags.block),
        names.join(", ")
    );
    if let Some(shared) = &flags.shared {
        let _ = writeln!(spec, "shared = {}", text(shared));
    }
    if let Some(check) = &flags.check {
        let output = output.ok_or_else(|| {
            ExpectedError::usage(
                "--check needs an output: an argument without content, such as --arg 'out=f32[n]'",
            )
        })?;
        let _ = write!(
            spec,
            "[check.expression]\n{} = {}\n",
            key(&output),
            text(check)
        );
    }
    let shown = "what the options say".to_owned();
    let mut spec = Spec::read(&spec).map_err(|error| spec_error(&error, &shown))?;
    if let Some(kernel) = spec.kernels.first_mut() {
        kernel.name.clone_from(&flags.kernel);
    }
    spec.include = flags
        .include
        .iter()
        .map(|folder| {
            std::path::absolute(folder)
                .unwrap_or_else(|_| folder.clone())
                .display()
                .to_string()
        })
        .collect();
    Ok(Loaded {
        spec,
        folder: folder_of(path),
        shown,
        name: file,
    })
}

/// Expressions with commas between them, but not those inside parentheses.
fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0_i32, 0);
    for (place, letter) in text.char_indices() {
        match letter {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[start..place].trim());
                start = place + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts
}

/// A text in the words of TOML.
fn text(value: &str) -> String {
    // JSON's texts are TOML's, but for a slash that need not be escaped and is not.
    serde_json::Value::from(value.trim()).to_string()
}

fn key(name: &str) -> String {
    text(name)
}

/// The file of a kernel with what it takes to compile it.
pub(super) fn source(
    loaded: &Loaded,
    file: &str,
    output: &Output,
) -> Result<Source, ExpectedError> {
    let path = loaded.folder.join(file);
    let content = content(&path, output).map_err(|error| {
        error.with_hint(format!(
            "`source` in {} names the file with the kernels, relative to the spec",
            loaded.shown
        ))
    })?;
    let mut options = vec!["--std=c++17".to_owned(), "-lineinfo".to_owned()];
    if let Some(arch) = &loaded.spec.arch {
        options.push(format!("--gpu-architecture={arch}"));
    }
    let mut include_paths = vec![loaded.folder.clone()];
    include_paths.extend(
        loaded
            .spec
            .include
            .iter()
            .map(|folder| loaded.folder.join(folder)),
    );
    include_paths.extend(gpu::headers());
    Ok(Source {
        name: path.display().to_string(),
        content,
        options,
        include_paths: include_paths
            .into_iter()
            .map(|folder| std::path::absolute(&folder).unwrap_or(folder))
            .collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_in_calls_do_not_separate() {
        assert_eq!(split("ceil_div(n, 32), 4"), ["ceil_div(n, 32)", "4"]);
        assert_eq!(split("256"), ["256"]);
    }
}
