//! What `ridge why` costs as a process: time and memory from small reports to one of 2 GB.
//!
//! `cargo bench -p ridge --bench whole_process -- --check` fails when a promise is broken. `RIDGE_BENCH_REPORT` names
//! the report that all inputs are made of; without it they are made of the committed one. Needs 6 GB in the folder for
//! temporary files.
#![expect(clippy::print_stdout, reason = "the table is what this program is for")]
#![expect(clippy::print_stderr, reason = "so is its complaint")]

mod common;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

use common::{median, ms, timed};

const MIB: u64 = 1 << 20;
/// Memory beside the map: for the process, and for each kernel.
const MEMORY_LIMIT_BYTES: u64 = 64 * MIB;
const KERNEL_LIMIT_BYTES: u64 = 4096;

/// Rounds in which time is taken, and those in which memory is looked at.
const TIME_ROUNDS: usize = 15;
const MEMORY_ROUNDS: usize = 5;
/// A byte of the largest report may take this many times what a byte of a report a quarter as large takes.
const GROWTH_LIMIT: f64 = 1.5;

struct Case {
    name: &'static str,
    target_bytes: u64,
    distinct: bool,
    limit: Option<Duration>,
}

const fn case(name: &'static str, mib: u64) -> Case {
    Case {
        name,
        target_bytes: mib * MIB,
        distinct: false,
        limit: None,
    }
}

const CASES: [Case; 6] = [
    Case {
        limit: Some(Duration::from_millis(60)),
        ..case("6 MB", 6)
    },
    Case {
        limit: Some(Duration::from_millis(400)),
        ..case("55 MB", 53)
    },
    case("550 MB", 525),
    case("2 GB", 2000),
    Case {
        distinct: true,
        ..case("550 MB, all names differ", 525)
    },
    Case {
        distinct: true,
        ..case("2 GB, all names differ", 2000)
    },
];

/// The input of a case, and what was seen of it.
struct Subject {
    case: Case,
    path: PathBuf,
    bytes: u64,
    kernels: u64,
    walls: Vec<Duration>,
    peak_bytes: u64,
}

fn main() -> ExitCode {
    let is_check = std::env::args().any(|argument| argument == "--check");
    match run() {
        Ok(within) if within || !is_check => ExitCode::SUCCESS,
        Ok(_) => {
            eprintln!("`ridge why` takes more than it promises");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("cannot measure: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> io::Result<bool> {
    let seed = common::seed()?;
    let folder = tempfile::tempdir()?;
    let mut subjects = Vec::new();
    for (number, case) in CASES.into_iter().enumerate() {
        let path = folder.path().join(format!("{number}.ncu-rep"));
        subjects.push(Subject {
            bytes: common::grow(&seed, case.target_bytes, case.distinct, &path)?,
            kernels: count_kernels(&path)?, // Brings the file into the page cache, too.
            walls: Vec::new(),
            peak_bytes: 0,
            case,
            path,
        });
    }
    // In turn, so that a load on the machine hits all of them alike.
    for _ in 0..TIME_ROUNDS {
        for subject in &mut subjects {
            let (wall, outcome) = timed(|| why(&subject.path).and_then(finish));
            outcome?;
            subject.walls.push(wall);
        }
    }
    for _ in 0..MEMORY_ROUNDS {
        for subject in &mut subjects {
            subject.peak_bytes = subject.peak_bytes.max(peak_memory(why(&subject.path)?)?);
        }
    }
    println!(
        "{:<26} {:>8} {:>7} {:>27} {:>8} {:>22}",
        "input", "MB", "kernels", "wall ms (min median max)", "ns/byte", "MiB beside the map"
    );
    let mut is_within = true;
    let mut costs = Vec::new();
    for subject in &mut subjects {
        let wall = median(&mut subject.walls);
        costs.push(wall.as_secs_f64() * 1e9 / subject.bytes as f64);
        is_within &= subject.report(wall);
    }
    for (small, large) in [(2, 3), (4, 5)] {
        let growth = costs[large] / costs[small];
        println!(
            "from {} to {}: time for a byte x {growth:.2}, limit {GROWTH_LIMIT}",
            CASES[small].name, CASES[large].name
        );
        is_within &= growth <= GROWTH_LIMIT;
    }
    Ok(is_within)
}

impl Subject {
    /// Prints the row of a case and says whether it is within its limits.
    fn report(&self, wall: Duration) -> bool {
        let memory_limit = MEMORY_LIMIT_BYTES + self.kernels * KERNEL_LIMIT_BYTES;
        let is_slow = self.case.limit.is_some_and(|limit| wall > limit);
        let is_large = self.peak_bytes > memory_limit;
        let mib = |bytes: u64| bytes as f64 / MIB as f64;
        let walls = [self.walls[0], wall, self.walls[self.walls.len() - 1]].map(ms);
        println!(
            "{:<26} {:>8.1} {:>7} {:>27} {:>8.2} {:>22}{}{}",
            self.case.name,
            self.bytes as f64 / 1e6,
            self.kernels,
            format!("{:.1} {:.1} {:.1}", walls[0], walls[1], walls[2]),
            wall.as_secs_f64() * 1e9 / self.bytes as f64,
            format!("{:.1} of {:.1}", mib(self.peak_bytes), mib(memory_limit)),
            if is_slow { "  too slow" } else { "" },
            if is_large { "  too large" } else { "" },
        );
        !is_slow && !is_large
    }
}

fn count_kernels(path: &Path) -> io::Result<u64> {
    let bytes = std::fs::read(path)?;
    let report =
        ncu_rep::Report::parse(&bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(report.len() as u64)
}

fn why(path: &Path) -> io::Result<Child> {
    Command::new(env!("CARGO_BIN_EXE_ridge"))
        .args(["why", "--format", "json"])
        .arg(path)
        // Without a disassembler, which takes longer to start than all else.
        .env_clear()
        .stdin(Stdio::null())
        .stdout(File::create("/dev/null")?)
        .stderr(Stdio::null())
        .spawn()
}

fn finish(mut child: Child) -> io::Result<()> {
    let status = child.wait()?;
    if status.success() {
        Ok(())
    } else {
        Err(io::Error::other(format!("ridge ended with {status}")))
    }
}

/// The largest amount of memory that belongs to no file, looked at as often as possible until the process ends.
fn peak_memory(mut child: Child) -> io::Result<u64> {
    let process = child.id().to_string();
    let mut peak = 0;
    while child.try_wait()?.is_none() {
        peak = peak.max(common::anonymous_memory(&process).unwrap_or(0));
        std::thread::sleep(Duration::from_micros(200));
    }
    finish(child)?;
    Ok(peak)
}
