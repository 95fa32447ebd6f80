//! The command `ridge`. Everything that it does is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    ridge::run(std::env::args_os())
}
