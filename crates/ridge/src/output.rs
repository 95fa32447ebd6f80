//! Where answers and complaints go: answers to standard output or a file, everything else to standard error.

use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use ridge_history::address::text_without_secrets;
use ridge_model::quantity::counted;
use ridge_render::charset::Charset;
use ridge_render::escape;
use ridge_render::style::{Painter, Role};
use ridge_render::width::truncate;
use serde::Serialize;

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

    /// The file that the answer goes to, where it goes to one.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Names the file that the answer goes to, where nobody else has.
    pub(crate) fn set_path(&mut self, path: PathBuf) {
        self.file = Some(path);
    }

    /// Whether nobody wants to read warnings.
    pub(crate) fn is_quiet(&self) -> bool {
        self.is_quiet
    }

    /// The extension of the output file, in lower case.
    pub(crate) fn extension(&self) -> Option<String> {
        let extension = self.file.as_deref()?.extension()?;
        Some(extension.to_string_lossy().to_ascii_lowercase())
    }

    /// Whether the answer would take the place of this file.
    pub(crate) fn would_replace(&self, input: &Path) -> bool {
        let place = |path: &Path| {
            std::fs::canonicalize(path)
                .ok()
                .filter(|path| path.is_file())
        };
        let output = self.file.as_deref().and_then(place);
        output.is_some() && output == place(input)
    }

    /// Whether the answer goes to a person's terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.file.is_none() && io::stdout().is_terminal()
    }

    /// Columns of the page: those of the terminal that it goes to, else what `COLUMNS` asks for.
    ///
    /// The help texts take their width in the same way.
    pub(crate) fn columns(&self) -> usize {
        let of_terminal = Some(io::stdout())
            .filter(|_| self.is_terminal())
            .and_then(terminal_size::terminal_size_of)
            .map(|(width, _)| usize::from(width.0));
        let wanted = std::env::var("COLUMNS")
            .ok()
            .and_then(|columns| columns.parse().ok());
        // A terminal that does not know its width says 0.
        [of_terminal, wanted]
            .into_iter()
            .flatten()
            .find(|columns| *columns > 0)
            .map_or(DEFAULT_COLUMNS, |columns| {
                columns.clamp(MIN_COLUMNS, MAX_COLUMNS)
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

    /// Characters of the page, as the locale of the environment has them.
    pub(crate) fn charset(&self) -> Charset {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
            .into_iter()
            .filter_map(std::env::var_os)
            .find(|value| !value.is_empty());
        charset_of(locale.as_deref().and_then(|locale| locale.to_str()))
    }

    /// Writes the answer as a whole.
    pub(crate) fn write(&self, text: &str) -> Result<(), ExpectedError> {
        self.stream(|sink| sink.write_all(text.as_bytes()).map(|()| true))
    }

    /// Writes the answer as JSON, piece by piece.
    pub(crate) fn json(&self, document: &impl Serialize) -> Result<(), ExpectedError> {
        self.stream(|sink| ridge_render::json::write(document, sink).map(|()| true))
    }

    /// Lets a verb write its answer piece by piece and say whether it is one. A file appears under its name only when
    /// it is complete, and an earlier one stays when there is no answer.
    pub(crate) fn stream(
        &self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<bool>,
    ) -> Result<(), ExpectedError> {
        match &self.file {
            Some(path) => write_file(path, write),
            None => {
                let mut sink = BufWriter::with_capacity(1 << 16, io::stdout().lock());
                match write(&mut sink).and_then(|_| sink.flush()) {
                    // Whoever closed the pipe has seen enough.
                    Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
                    outcome => outcome.map_err(|error| {
                        ExpectedError::unable(format!(
                            "cannot write to standard output: {}",
                            plain(&error)
                        ))
                        .with_hint(way_out(&error))
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

    /// Says what makes the answer less certain, as often as a person reads it.
    pub(crate) fn warn_all(&self, messages: impl ExactSizeIterator<Item = String>) {
        /// More are counted only.
        const MOST: usize = 20;
        let more = messages.len().saturating_sub(MOST);
        for message in messages.take(MOST) {
            self.warn(&message);
        }
        if more > 0 {
            let more = counted(u64::try_from(more).unwrap_or(u64::MAX), "more warning");
            self.warn(&format!("and {more}; --format json lists all"));
        }
    }

    /// Says what was done beside the answer.
    pub(crate) fn note(&self, message: &str) {
        if !self.is_quiet {
            self.say("note", Role::Dim, message, None);
        }
    }

    /// Says why there is no answer.
    pub(crate) fn complain(&self, error: &ExpectedError) {
        self.progress("");
        self.say("error", Role::Bad, &error.message, None);
        if let Some(excerpt) = &error.excerpt {
            let number = excerpt.line.to_string();
            self.detail(&format!("{number} | {}", excerpt.text.replace('\t', " ")));
            let before = " ".repeat(number.len() + 3 + excerpt.column.saturating_sub(1));
            self.detail(&format!("{before}{}", "^".repeat(excerpt.width)));
        }
        if let Some(hint) = &error.hint {
            self.hint(hint);
        }
    }

    /// Adds a line below a warning or an error.
    pub(crate) fn detail(&self, text: &str) {
        let _ = writeln!(io::stderr().lock(), "  {}", words(text));
    }

    /// Says where something was kept.
    pub(crate) fn say_kept(&self, path: &Path) {
        if !self.is_quiet {
            let path = path.display().to_string();
            let _ = writeln!(io::stderr().lock(), "kept in {}", escape::terminal(&path));
        }
    }

    /// Says what helps against a warning or an error.
    pub(crate) fn hint(&self, text: &str) {
        let painter = self.painter_of_messages();
        let _ = writeln!(
            io::stderr().lock(),
            "  {} {}",
            painter.paint(Role::Dim, "try:"),
            words(text)
        );
    }

    /// Shows on one line of a terminal what goes on; nothing where there is none. An empty text takes the line away.
    pub(crate) fn progress(&self, text: &str) {
        let mut sink = io::stderr().lock();
        if self.is_quiet || !sink.is_terminal() {
            return;
        }
        let columns = terminal_size::terminal_size_of(io::stderr())
            .map_or(MIN_COLUMNS * 2, |(width, _)| usize::from(width.0));
        let text = escape::terminal(text);
        let shown = truncate(&text, columns.saturating_sub(1), self.charset());
        let _ = write!(sink, "\r\u{1b}[2K{shown}").and_then(|()| sink.flush());
    }

    /// Whether the answer goes to a file that can be written again.
    pub(crate) fn is_to_file(&self) -> bool {
        self.file
            .as_deref()
            .is_some_and(|path| !path.exists() || path.is_file())
    }

    fn painter_of_messages(&self) -> Painter {
        let is_coloured = match self.colour {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto => {
                io::stderr().is_terminal()
                    && anstream::AutoStream::choice(&io::stderr()) != anstream::ColorChoice::Never
            }
        };
        if is_coloured {
            Painter::coloured()
        } else {
            Painter::plain()
        }
    }

    fn say(&self, label: &str, role: Role, message: &str, hint: Option<&str>) {
        let painter = self.painter_of_messages();
        let mut sink = io::stderr().lock();
        // Nothing is left to say it with when standard error is gone.
        let _ = writeln!(sink, "{}: {}", painter.paint(role, label), words(message));
        if let Some(hint) = hint {
            let _ = writeln!(
                sink,
                "  {} {}",
                painter.paint(Role::Dim, "try:"),
                words(hint)
            );
        }
    }
}

/// A text for a message: no escapes for the terminal, and no password of an address that somebody took for a file.
fn words(text: &str) -> String {
    escape::terminal(&text_without_secrets(text)).into_owned()
}

/// The characters of a locale: what its code set says. Without one, only `C` and `POSIX` promise no more than ASCII;
/// no locale at all is usual in containers and CI, where logs are UTF-8.
fn charset_of(locale: Option<&str>) -> Charset {
    let Some(locale) = locale else {
        return Charset::Unicode;
    };
    let (name, _modifier) = locale.split_once('@').unwrap_or((locale, ""));
    let is_unicode = match name.split_once('.') {
        Some((_, code_set)) => {
            code_set.eq_ignore_ascii_case("utf-8") || code_set.eq_ignore_ascii_case("utf8")
        }
        None => name != "C" && name != "POSIX",
    };
    if is_unicode {
        Charset::Unicode
    } else {
        Charset::Ascii
    }
}

/// The system's message in plain words.
fn plain(error: &io::Error) -> Cow<'static, str> {
    Cow::Borrowed(match error.kind() {
        io::ErrorKind::NotFound => "its folder does not exist",
        io::ErrorKind::PermissionDenied => "permission denied",
        io::ErrorKind::IsADirectory => "it is a directory",
        io::ErrorKind::NotADirectory => "a part of its path is a file, not a folder",
        io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only",
        io::ErrorKind::StorageFull => "no space is left on the device",
        io::ErrorKind::QuotaExceeded => "your disk quota is used up",
        _ => return Cow::Owned(error.to_string()),
    })
}

/// What helps when writing failed.
fn way_out(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some space, or write to another disk with --output FILE"
        }
        _ => "name a file in a folder that exists and that you may write to, with --output FILE",
    }
}

/// Why an answer cannot be written.
pub(crate) fn unwritable(path: &Path, error: &io::Error) -> ExpectedError {
    ExpectedError::unable(format!("cannot write {}: {}", path.display(), plain(error)))
        .with_hint(way_out(error))
}

fn write_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<bool>,
) -> Result<(), ExpectedError> {
    let failed = |error: io::Error| unwritable(path, &error);
    // A device or a pipe is written to as it is; it cannot be replaced by a file.
    if path.exists() && !path.is_file() {
        let file = std::fs::OpenOptions::new()
            .write(true)
            .open(path)
            .map_err(failed)?;
        let mut sink = BufWriter::new(file);
        return match write(&mut sink).and_then(|_| sink.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            outcome => outcome.map_err(failed),
        };
    }
    let place = behind_links(path).map_err(failed)?;
    let folder = place
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let file = temporary().tempfile_in(folder).map_err(|error| {
        // The message of the temporary file names a path that nobody knows.
        failed(error.kind().into())
    })?;
    let mut sink = BufWriter::with_capacity(1 << 16, file);
    let is_answer = write(&mut sink).map_err(failed)?;
    let file = sink
        .into_inner()
        .map_err(|error| failed(error.into_error()))?;
    if is_answer {
        file.persist(place).map_err(|error| failed(error.error))?;
    }
    Ok(())
}

/// The file that a link points to is replaced or made, not the link: shells and editors do the same. It need not exist.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    /// As many as Linux follows.
    const MOST_LINKS: usize = 40;
    let mut place = path.to_owned();
    for _ in 0..MOST_LINKS {
        match std::fs::read_link(&place) {
            // The target is relative to the folder of the link.
            Ok(target) => place = place.parent().unwrap_or(Path::new("")).join(target),
            Err(_) => return Ok(place),
        }
    }
    Err(io::Error::other("its links lead round in circles"))
}

/// Temporary files are private; an answer has the permissions of any new file.
#[cfg(unix)]
pub(crate) fn temporary() -> tempfile::Builder<'static, 'static> {
    use std::os::unix::fs::PermissionsExt;
    let mut builder = tempfile::Builder::new();
    // Given when the file is created, so the mask of the process takes its part away.
    builder.permissions(std::fs::Permissions::from_mode(0o666));
    builder
}

#[cfg(not(unix))]
pub(crate) fn temporary() -> tempfile::Builder<'static, 'static> {
    tempfile::Builder::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_locale_tells_the_characters() {
        for unicode in [
            None,
            Some("C.UTF-8"),
            Some("C.utf8"),
            Some("en_US.UTF-8"),
            Some("de_DE.UTF-8@euro"),
            Some("de_DE"),
            Some("UTF-8"),
        ] {
            assert_eq!(charset_of(unicode), Charset::Unicode, "{unicode:?}");
        }
        for ascii in ["C", "POSIX", "de_DE.ISO-8859-15@euro", "ja_JP.eucJP"] {
            assert_eq!(charset_of(Some(ascii)), Charset::Ascii, "{ascii:?}");
        }
    }
}
