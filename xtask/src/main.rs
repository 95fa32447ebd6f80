//! The command line of the tasks: `cargo xtask gen [--check]`.
#![forbid(unsafe_code)]

use std::io::{self, Write};
use std::process::ExitCode;

use xtask::generate::{self, GENERATORS, Mode};

const USAGE: &str = "\
usage: cargo xtask gen [--check]

  gen          write the generated files
  gen --check  write nothing, list the generated files that are not current, exit with 1 if there are any";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mode = match *arguments {
        ["gen"] => Mode::Write,
        ["gen", "--check"] => Mode::Check,
        _ => return say(&mut io::stderr(), USAGE, 2),
    };
    match generate::run(xtask::root(), GENERATORS, mode) {
        Ok(changes) => {
            let lines: Vec<String> = changes.iter().map(ToString::to_string).collect();
            match mode {
                _ if changes.is_empty() => ExitCode::SUCCESS,
                Mode::Write => say(&mut io::stdout(), &lines.join("\n"), 0),
                Mode::Check => {
                    let text = format!(
                        "{}\nnot current; run `cargo xtask gen` and commit the result",
                        lines.join("\n")
                    );
                    say(&mut io::stderr(), &text, 1)
                }
            }
        }
        Err(error) => say(&mut io::stderr(), &format!("error: {error}"), 1),
    }
}

/// Prints a text and turns a code into the exit code. A closed pipe is no reason to fail.
fn say(to: &mut dyn Write, text: &str, code: u8) -> ExitCode {
    drop(writeln!(to, "{text}"));
    ExitCode::from(code)
}
