//! How the tool is called, and what becomes of a call.

use std::ffi::OsString;
use std::path::Path;

use super::record::Tool;

/// How the tools are run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The tools, in the order in which they are run.
    pub tools: Vec<Tool>,
    /// Bytes that memcheck puts behind each allocation, so that an overflow does not land in the next one.
    pub padding_bytes: Option<u64>,
}

/// What became of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It returned this.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
    /// The time limit ended it.
    TimedOut,
    /// The user ended it.
    Interrupted,
}

/// A call that came to its end, whatever that was.
#[derive(Clone, Debug, PartialEq)]
pub struct Ran {
    /// What became of it.
    pub end: End,
    /// How long it took, in nanoseconds.
    pub took_ns: f64,
    /// What the tool wrote.
    pub log: Vec<u8>,
    /// The end of what the program printed.
    pub output: String,
}

/// Records that are printed at most. The tool's own limit of 100 is soon used up by the threads of one line, and hides the
/// next one; the summary counts all of them anyway.
const PRINT_LIMIT: &str = "10000";

/// The arguments for one tool, up to the program and its own.
///
/// The exit code is left to be the program's: errors are told by the summary. Paths stay whole, so that others find the
/// source; calls that are not the program's own are not reported where they fail.
#[must_use]
pub fn arguments(tool: Tool, options: &Options, log: &Path) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = ["--tool", tool.name(), "--log-file"]
        .map(OsString::from)
        .into();
    arguments.push(log.into());
    arguments.extend(["--print-limit", PRINT_LIMIT, "--strip-paths", "no"].map(OsString::from));
    if tool == Tool::Memcheck {
        arguments.extend(["--report-api-errors", "explicit"].map(OsString::from));
        if let Some(bytes) = options.padding_bytes {
            arguments.extend(["--padding".to_owned(), bytes.to_string()].map(OsString::from));
        }
    }
    arguments
}

/// The version in what `compute-sanitizer --version` prints.
#[must_use]
pub fn version(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("Version ")?;
    let version = rest.split_whitespace().next()?;
    version
        .starts_with(|first: char| first.is_ascii_digit())
        .then_some(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_for_memcheck_alone() {
        let options = Options {
            tools: Tool::ALL.to_vec(),
            padding_bytes: Some(32),
        };
        let words = |tool| {
            let words = arguments(tool, &options, Path::new("/tmp/log"));
            words.join(std::ffi::OsStr::new(" ")).into_string().unwrap()
        };
        assert_eq!(
            words(Tool::Memcheck),
            "--tool memcheck --log-file /tmp/log --print-limit 10000 --strip-paths no \
             --report-api-errors explicit --padding 32"
        );
        assert_eq!(
            words(Tool::Racecheck),
            "--tool racecheck --log-file /tmp/log --print-limit 10000 --strip-paths no"
        );
    }

    #[test]
    fn the_version_is_found() {
        let text = "NVIDIA (R) Compute Sanitizer\nCopyright (c) 2020-2025 NVIDIA Corporation\nVersion 2025.3.1.0 (build 36400806) (public-release)\n";
        assert_eq!(version(text), Some("2025.3.1.0"));
        assert_eq!(version("Version unknown"), None);
    }
}
