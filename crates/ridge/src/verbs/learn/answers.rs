//! Answers, line by line, from a file or from somebody who may go away or interrupt.

use std::io::{self, BufRead, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use super::Script;
use crate::error::ExpectedError;
use crate::small_file::{self, MOST_OF_SETTINGS};
use crate::verbs::bench::interrupts;

/// No answer is longer; what is beyond it in a line does not count.
const MOST_OF_LINE: u64 = 4 << 10;
/// How long it takes at most until an interrupt is heard.
const PATIENCE: Duration = Duration::from_millis(50);

/// Where answers come from.
pub(super) struct Answers {
    lines: Receiver<String>,
    is_interrupted: Box<dyn Fn() -> bool>,
    has_comments: bool,
    is_file: bool,
}

/// What comes next.
pub(super) enum Next {
    Line(String),
    /// There is nothing more.
    End,
    Interrupted,
}

impl Answers {
    /// Opens the answers of a script, or listens to the terminal.
    pub(super) fn open(script: Option<&Script>) -> Result<Self, ExpectedError> {
        let (sender, lines) = channel();
        match script {
            Some(Script::File(path)) => {
                let unreadable = |reason: &str| {
                    ExpectedError::unreadable(format!(
                        "cannot read the answers {}: {reason}",
                        path.display()
                    ))
                    .with_hint("a script is a text with one answer a line; `-` is standard input")
                };
                let text = small_file::text(path, MOST_OF_SETTINGS)
                    .map_err(|reason| unreadable(&reason))?
                    .ok_or_else(|| unreadable("there is no such file"))?;
                // Editors of Windows put a mark before the first line.
                let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
                for line in text.lines() {
                    // The receiver is in this function.
                    let _ = sender.send(line.to_owned());
                }
            }
            Some(Script::Input) | None => {
                // Reading cannot be broken off, and ends with the process.
                thread::spawn(move || {
                    let mut input = io::stdin().lock();
                    while let Ok(Some(line)) = line_of(&mut input) {
                        if sender.send(line).is_err() {
                            break;
                        }
                    }
                });
            }
        }
        Ok(Self {
            lines,
            is_interrupted: Box::new(interrupts()?),
            has_comments: script.is_some(),
            is_file: matches!(script, Some(Script::File(_))),
        })
    }

    /// How many answers of a file are left. Of what is typed or piped nobody knows what is still to come.
    pub(super) fn left(&self) -> usize {
        if !self.is_file {
            return 0;
        }
        self.lines
            .try_iter()
            .filter(|line| !is_comment(line))
            .count()
    }

    /// The next answer.
    pub(super) fn next(&mut self) -> Next {
        loop {
            if (self.is_interrupted)() {
                return Next::Interrupted;
            }
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) if self.has_comments && is_comment(&line) => {}
                Ok(line) => return Next::Line(line),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Next::End,
            }
        }
    }
}

/// Lines of a script that are no answers.
fn is_comment(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}

/// A line without its end; `None` at the end of the input. What is too long is left out, and so is what is no text.
fn line_of(input: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    if input.take(MOST_OF_LINE).read_until(b'\n', &mut bytes)? == 0 {
        return Ok(None);
    }
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
    } else if bytes.len() as u64 == MOST_OF_LINE {
        input.skip_until(b'\n')?;
    }
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At a terminal more can come behind an end of the input.
    #[test]
    fn the_end_of_the_input_ends_a_line() {
        struct Typed(Vec<&'static [u8]>);
        impl Read for Typed {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let next = self.0.remove(0);
                buffer[..next.len()].copy_from_slice(next);
                Ok(next.len())
            }
        }
        let mut input = io::BufReader::new(Typed(vec![b"60us", b"", b"", b"b\n"]));
        assert_eq!(line_of(&mut input).unwrap().unwrap(), "60us");
        assert_eq!(line_of(&mut input).unwrap(), None);
    }

    #[test]
    fn lines_are_bounded() {
        let long = "x".repeat(10_000);
        let text = format!("a\n{long}\n\u{fffd}\nlast");
        let mut input = text.as_bytes();
        let mut next = || line_of(&mut input).unwrap();
        assert_eq!(next().unwrap(), "a");
        assert_eq!(next().unwrap().len(), 4096);
        assert_eq!(next().unwrap(), "\u{fffd}");
        assert_eq!(next().unwrap(), "last");
        assert_eq!(next(), None);
    }
}
