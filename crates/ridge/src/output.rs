//! Where answers and complaints go: answers to standard output or a file, everything else to standard error.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use ridge_render::charset::Charset;
use ridge_render::escape;
use ridge_render::style::{Painter, Role};
use tempfile::NamedTempFile;

use crate::args::{Colour, Common};
use crate::error::ExpectedError;

/// Pages are at most this wide, also on wider terminals: long lines are hard to read.
const MAX_COLUMNS: usize = 120;
/// Width where there is no terminal.
const DEFAULT_COLUMNS: usize = 100;
const MIN_COLUMNS: usize = 40;

/// How to print.
pub(crate) struct Output {
    file: Option<PathBuf>,
    colour: Colour,
    is_quiet: bool,
    verbosity: u8,
    may_map: bool,
}

impl Output {
    pub(crate) fn new(common: &Common) -> Self {
        Self {
            file: common.output.clone(),
            colour: common.color,
            is_quiet: common.quiet,
            verbosity: common.verbose,
            may_map: !common.no_mmap,
        }
    }

    pub(crate) fn may_map(&self) -> bool {
        self.may_map
    }

    pub(crate) fn verbosity(&self) -> u8 {
        self.verbosity
    }

    /// The extension of the output file, in lower case.
    pub(crate) fn extension(&self) -> Option<String> {
        let extension = self.file.as_deref()?.extension()?;
        Some(extension.to_string_lossy().to_ascii_lowercase())
    }

    /// Whether the answer goes to a person's terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.file.is_none() && io::stdout().is_terminal()
    }

    /// Columns of the page.
    pub(crate) fn columns(&self) -> usize {
        if !self.is_terminal() {
            return DEFAULT_COLUMNS;
        }
        terminal_size::terminal_size().map_or(DEFAULT_COLUMNS, |(width, _)| {
            usize::from(width.0).clamp(MIN_COLUMNS, MAX_COLUMNS)
        })
    }

    /// Colours of the page.
    pub(crate) fn painter(&self) -> Painter {
        let is_coloured = match self.colour {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto => {
                self.is_terminal()
                    && anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
            }
        };
        if is_coloured {
            Painter::coloured()
        } else {
            Painter::plain()
        }
    }

    /// Characters of the page: ASCII where the locale says that nothing else can be shown.
    pub(crate) fn charset(&self) -> Charset {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
            .into_iter()
            .filter_map(std::env::var_os)
            .find(|value| !value.is_empty());
        match locale {
            Some(locale) if locale == "C" || locale == "POSIX" => Charset::Ascii,
            _ => Charset::Unicode,
        }
    }

    /// Writes the answer as a whole.
    pub(crate) fn write(&self, text: &str) -> Result<(), ExpectedError> {
        self.stream(|sink| sink.write_all(text.as_bytes()))
    }

    /// Lets a verb write its answer piece by piece. A file appears under its name only when it is complete.
    pub(crate) fn stream(
        &self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), ExpectedError> {
        match &self.file {
            Some(path) => write_file(path, write),
            None => {
                let mut sink = BufWriter::with_capacity(1 << 16, io::stdout().lock());
                match write(&mut sink).and_then(|()| sink.flush()) {
                    // Whoever closed the pipe has seen enough.
                    Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
                    outcome => outcome.map_err(|error| {
                        ExpectedError::unable(format!("cannot write to standard output: {error}"))
                    }),
                }
            }
        }
    }

    /// Says what makes the answer less certain.
    pub(crate) fn warn(&self, message: &str) {
        if !self.is_quiet {
            self.say("warning", Role::Warning, message, None);
        }
    }

    /// Says why there is no answer.
    pub(crate) fn complain(&self, error: &ExpectedError) {
        self.say("error", Role::Bad, &error.message, error.hint.as_deref());
    }

    fn say(&self, label: &str, role: Role, message: &str, hint: Option<&str>) {
        let is_coloured = match self.colour {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto => {
                io::stderr().is_terminal()
                    && anstream::AutoStream::choice(&io::stderr()) != anstream::ColorChoice::Never
            }
        };
        let painter = if is_coloured {
            Painter::coloured()
        } else {
            Painter::plain()
        };
        let mut sink = io::stderr().lock();
        // Nothing is left to say it with when standard error is gone.
        let _ = writeln!(
            sink,
            "{}: {}",
            painter.paint(role, label),
            escape::terminal(message)
        );
        if let Some(hint) = hint {
            let _ = writeln!(
                sink,
                "  {} {}",
                painter.paint(Role::Dim, "try:"),
                escape::terminal(hint)
            );
        }
    }
}

fn write_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), ExpectedError> {
    let failed = |error: io::Error| {
        ExpectedError::unable(format!("cannot write {}: {error}", path.display()))
            .with_hint("name a file in a folder that exists and that you may write to")
    };
    // A device or a pipe is written to as it is; it cannot be replaced by a file.
    if path.exists() && !path.is_file() {
        let file = std::fs::OpenOptions::new()
            .write(true)
            .open(path)
            .map_err(failed)?;
        let mut sink = BufWriter::new(file);
        return write(&mut sink).and_then(|()| sink.flush()).map_err(failed);
    }
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let file = NamedTempFile::new_in(folder).map_err(failed)?;
    let mut sink = BufWriter::with_capacity(1 << 16, file);
    write(&mut sink).map_err(failed)?;
    let file = sink
        .into_inner()
        .map_err(|error| failed(error.into_error()))?;
    set_usual_permissions(&file).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Temporary files are private; an answer has the permissions of any new file, as far as the usual mask goes.
#[cfg(unix)]
fn set_usual_permissions(file: &NamedTempFile) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.as_file()
        .set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn set_usual_permissions(_file: &NamedTempFile) -> io::Result<()> {
    Ok(())
}
