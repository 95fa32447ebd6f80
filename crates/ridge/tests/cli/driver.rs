//! Runs the command in a known environment, and shows everything when an expectation fails.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use tempfile::TempDir;

/// The root of the workspace. Commands run there unless they say otherwise.
pub(crate) fn root() -> &'static Path {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest
        .ancestors()
        .nth(2)
        .expect("crates/ridge is two levels below the root")
}

pub(crate) const AOS: &str = "fixtures/reports/aos.ncu-rep.zst";
pub(crate) const BANK_CONFLICT: &str = "fixtures/reports/bankconflict.ncu-rep.zst";
pub(crate) const VADD: &str = "fixtures/reports/vadd.ncu-rep.zst";
pub(crate) const AOS_CSV: &str = "fixtures/csv/aos_raw.csv.zst";

/// A report with two kernels, unpacked.
pub(crate) fn report() -> &'static [u8] {
    static BYTES: LazyLock<Vec<u8>> =
        LazyLock::new(|| zstd::decode_all(fs::File::open(root().join(AOS)).unwrap()).unwrap());
    &BYTES
}

/// Compares a text with the snapshot of this name in `snapshots/`, without asking cargo where that is.
#[track_caller]
pub(crate) fn snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::new();
    settings.set_snapshot_path(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// A page without the durations that differ from run to run: each is a word, whatever its unit is, and a row that holds one
/// loses the padding that follows from its width, as does the head of its column.
pub(crate) fn without_durations(page: &str) -> String {
    page.lines()
        .map(|line| {
            let hidden = hide_durations(line);
            if hidden.contains(" TIME  ") || line.contains("  time  ") {
                hidden
                    .split("  ")
                    .map(str::trim)
                    .filter(|cell| !cell.is_empty())
                    .collect::<Vec<_>>()
                    .join("  ")
            } else {
                hidden
            }
        })
        .collect::<Vec<_>>()
        .join("\n")
}

/// Puts a word in place of each number that has a unit of time after it.
fn hide_durations(line: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in line.split(' ') {
        let unit = word.trim_end_matches([',', '.', ';', ':', ')']);
        let is_unit = matches!(unit, "ns" | "us" | "ms" | "s" | "min");
        let is_number = |before: &mut String| before.parse::<f64>().is_ok();
        if is_unit && words.pop_if(is_number).is_some() {
            words.push(format!("TIME{}", &word[unit.len()..]));
        } else {
            words.push(word.to_owned());
        }
    }
    words.join(" ")
}

#[test]
fn durations_are_hidden_whatever_their_unit_is() {
    for (time, after) in [
        ("968 us", "3 s,"),
        ("10.2 ms", "250 ns,"),
        ("1 s", "2 min,"),
    ] {
        let page = format!("memcheck  –  {time:>9}  in {after} 3 errors");
        assert_eq!(
            without_durations(&page),
            "memcheck  –  TIME  in TIME, 3 errors",
            "{page}"
        );
    }
}

/// A command to run.
pub(crate) struct Ridge {
    command: Command,
    stdin: Vec<u8>,
}

/// The command with arguments.
pub(crate) fn ridge<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Ridge {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ridge"));
    // Nothing of the machine's locale, time zone, home, terminal or colours.
    command.args(arguments).env_clear().current_dir(root());
    // Nor what the user has measured.
    command.env("RIDGE_CEILINGS", root().join("target/no-ceilings"));
    Ridge {
        command,
        stdin: Vec::new(),
    }
}

impl Ridge {
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn within(mut self, folder: &Folder) -> Self {
        self.command.current_dir(folder.path());
        self
    }

    pub(crate) fn stdin(mut self, bytes: &[u8]) -> Self {
        self.stdin = bytes.to_vec();
        self
    }

    /// The command itself, for tests that connect it to something else.
    pub(crate) fn into_command(self) -> Command {
        self.command
    }

    pub(crate) fn run(mut self) -> Run {
        self.command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let line: Vec<String> = std::iter::once(OsString::from("ridge"))
            .chain(self.command.get_args().map(OsStr::to_owned))
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        let mut child = self.command.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let bytes = self.stdin;
        // A command that does not read its input closes the pipe; that is no failure.
        let writer = std::thread::spawn(move || drop(input.write_all(&bytes)));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        Run {
            line: line.join(" "),
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("standard output is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("standard error is UTF-8"),
        }
    }
}

/// What became of a command.
pub(crate) struct Run {
    line: String,
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// Everything about the run, for people.
    pub(crate) fn transcript(&self) -> String {
        let code = self
            .code
            .map_or("a signal".to_owned(), |code| code.to_string());
        format!(
            "$ {}\n--- standard output\n{}--- standard error\n{}--- exit code: {code}\n",
            self.line, self.stdout, self.stderr
        )
    }

    #[track_caller]
    pub(crate) fn code(self, expected: u8) -> Self {
        assert!(
            self.code == Some(i32::from(expected)),
            "expected exit code {expected}\n{}",
            self.transcript()
        );
        self
    }

    /// Fine, and with nothing to say on standard error.
    #[track_caller]
    pub(crate) fn fine(self) -> Self {
        let run = self.code(0);
        assert!(
            run.stderr.is_empty(),
            "expected no message\n{}",
            run.transcript()
        );
        run
    }

    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        assert!(
            self.stderr.contains(text),
            "expected {text:?} on standard error\n{}",
            self.transcript()
        );
        self
    }

    #[track_caller]
    pub(crate) fn shows(self, text: &str) -> Self {
        assert!(
            self.stdout.contains(text),
            "expected {text:?} on standard output\n{}",
            self.transcript()
        );
        self
    }

    #[track_caller]
    pub(crate) fn shows_nothing(self) -> Self {
        assert!(
            self.stdout.is_empty(),
            "expected nothing on standard output\n{}",
            self.transcript()
        );
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("not one JSON document: {error}\n{}", self.transcript()))
    }
}

/// A folder that goes away with the test.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// A folder with one file.
    pub(crate) fn with(name: impl AsRef<Path>, content: impl AsRef<[u8]>) -> Self {
        let folder = Self::new();
        folder.write(name, content);
        folder
    }

    pub(crate) fn write(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}
