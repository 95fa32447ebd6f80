//! How fast a history of a million results takes more of them, and answers.
//!
//! `cargo bench -p ridge-history --bench load -- --check` fails where a figure is beyond its limit. `--results N` makes another
//! size, `--folder DIR` another place: the file takes about a gigabyte.

#![expect(clippy::print_stdout, reason = "a bench says what it measured")]

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use ridge_history::{
    Circumstances, Filter, Labels, Record, Revision, SeriesKey, SqliteStore, Store, Timestamp,
};

/// Results of one transaction.
const BATCH: usize = 1000;
/// Benchmarks, each with results of its own; the first one has a tenth of all results.
const BENCHMARKS: usize = 1000;
/// How often each question is asked; the slowest counts.
const ROUNDS: usize = 20;

struct Options {
    results: usize,
    folder: Option<PathBuf>,
    is_checked: bool,
}

fn options() -> Options {
    let mut options = Options {
        results: 1_000_000,
        folder: None,
        is_checked: false,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--check" => options.is_checked = true,
            "--results" => options.results = words.next().unwrap().parse().unwrap(),
            "--folder" => options.folder = words.next().map(PathBuf::from),
            // What cargo adds.
            _ => {}
        }
    }
    options
}

fn benchmark_of(number: usize) -> usize {
    if number.is_multiple_of(10) {
        0
    } else {
        1 + number * 7 % (BENCHMARKS - 1)
    }
}

fn commit_of(number: usize) -> String {
    // A thousand results of each commit.
    format!(
        "{:040x}",
        (number as u128 / 1000 + 1) * 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c834
    )
}

/// A result as a spec of one state gives it, with forty samples.
fn record(number: usize) -> Record {
    let mut state = number as u64 | 1;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f64 / (1_u64 << 24) as f64
    };
    let times: Vec<f64> = (0..40)
        .map(|_| (29_000.0 + 1000.0 * random()).round())
        .collect();
    let clocks: Vec<f64> = (0..40).map(|_| 1.98e9 + 1e6 * random()).collect();
    let document = format!(
        r#"{{"schema":"ridgepoint.bench","version":1,"tool_version":"0.1.0","benchmark":"bench{}","is_complete":true,
        "machine":{{"device":"NVIDIA H200","uuid":"GPU-{}","driver":"580.65.06"}},"states":[{{"name":"scalar[n=16777216]",
        "status":"valid","functions":[{{"registers":32}}],"modes":[{{"mode":"cold","invalid":[],"samples":40,
        "median_ns":{},"lower_ns":{},"upper_ns":{},"clock_hz":1.98e9,"placement":{{"share":0.93}},
        "raw":{{"times_ns":{times:?},"clocks_hz":{clocks:?}}}}}]}}]}}"#,
        benchmark_of(number),
        number % 8,
        times[0],
        times[0] - 100.0,
        times[0] + 100.0,
    );
    let mut labels = Labels::default();
    if number.is_multiple_of(10) {
        labels.set("nightly", "").unwrap();
    }
    if number.is_multiple_of(10_000) {
        labels
            .set("baseline", &format!("v{}", number / 10_000))
            .unwrap();
    }
    let start: Timestamp = "2020-01-01".parse().unwrap();
    Record::of_document(
        document.as_bytes(),
        Circumstances {
            time: Some(Timestamp::from_micros(
                start.micros() + number as i64 * 60_000_000,
            )),
            host: Some(format!("build-{}", number % 8)),
            revision: Revision {
                commit: Some(commit_of(number)),
                branch: Some(if number % 4 == 3 { "wip" } else { "main" }.to_owned()),
                is_dirty: Some(false),
            },
            command: Some("ridge bench bench.toml --record".to_owned()),
            labels,
            ..Circumstances::default()
        },
    )
    .unwrap()
}

struct Figures {
    is_checked: bool,
    failed: usize,
}

impl Figures {
    fn say(&mut self, what: &str, value: &str, limit: Option<&str>, is_met: bool) {
        let limit = limit.map_or(String::new(), |limit| {
            format!("   limit {limit}{}", if is_met { "" } else { "   BEYOND" })
        });
        println!("{what:<66} {value:>14}{limit}");
        self.failed += usize::from(!is_met && self.is_checked);
    }

    /// Asks several times, each with a connection of its own as a command has it. The slowest is said, and held to the limit.
    fn ask(
        &mut self,
        what: &str,
        limit_ms: Option<u64>,
        path: &std::path::Path,
        mut question: impl FnMut(&mut SqliteStore, usize),
    ) {
        let mut times: Vec<Duration> = (0..ROUNDS)
            .map(|round| {
                let start = Instant::now();
                let mut store = SqliteStore::open(path).unwrap();
                question(&mut store, round);
                start.elapsed()
            })
            .collect();
        times.sort_unstable();
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let (median, slowest) = (ms(times[ROUNDS / 2]), ms(times[ROUNDS - 1]));
        let value = format!("{median:.1} / {slowest:.1} ms");
        let limit = limit_ms.map(|limit| format!("{limit} ms"));
        let is_met = limit_ms.is_none_or(|limit| slowest < limit as f64);
        self.say(what, &value, limit.as_deref(), is_met);
    }
}

fn main() -> ExitCode {
    let options = options();
    let folder = match &options.folder {
        Some(folder) => tempfile::tempdir_in(folder),
        None => tempfile::tempdir(),
    }
    .unwrap();
    let path = folder.path().join("history.db");
    let mut figures = Figures {
        is_checked: options.is_checked,
        failed: 0,
    };
    println!(
        "a history of {} results in a file; questions: median / slowest of {ROUNDS}, the file opened for each\n",
        options.results
    );

    let mut store = SqliteStore::open(&path).unwrap();
    let (mut making, mut storing, mut slowest) = (Duration::ZERO, Duration::ZERO, f64::INFINITY);
    let mut packed = 0;
    for start in (0..options.results).step_by(BATCH) {
        let began = Instant::now();
        let records: Vec<Record> = (start..options.results.min(start + BATCH))
            .map(record)
            .collect();
        making += began.elapsed();
        packed += records
            .iter()
            .map(|record| record.document.bytes().len())
            .sum::<usize>();
        let began = Instant::now();
        let inserted = store.insert(&records).unwrap();
        let took = began.elapsed();
        assert_eq!(inserted.added, records.len() as u64);
        storing += took;
        slowest = f64::min(slowest, records.len() as f64 / took.as_secs_f64());
    }
    drop(store);
    let rate = |time: Duration| options.results as f64 / time.as_secs_f64();
    let value = rate(storing);
    figures.say(
        "stored in batches of 1000, results/s",
        &format!("{value:.0}"),
        Some("5000 at least"),
        value >= 5000.0,
    );
    let value = rate(making + storing);
    figures.say(
        "the same with reading and packing the documents",
        &format!("{value:.0}"),
        Some("5000 at least"),
        value >= 5000.0,
    );
    figures.say(
        "the slowest batch, results/s",
        &format!("{slowest:.0}"),
        None,
        true,
    );
    let size = std::fs::metadata(&path).unwrap().len() as f64 / options.results as f64;
    figures.say(
        "bytes of the file for each result",
        &format!("{size:.0}"),
        None,
        true,
    );
    figures.say(
        "of these, the packed document",
        &format!("{:.0}", packed as f64 / options.results as f64),
        None,
        true,
    );

    let text = |text: String| Some(text);
    let baseline = |filter: Filter| {
        move |store: &mut SqliteStore, _: usize| {
            let head = store.latest(&filter).unwrap().expect("a baseline");
            let record = store.get(head.id).unwrap().expect("its document");
            assert!(!record.document.json().unwrap().is_empty());
        }
    };
    let all = Filter::default;
    figures.ask(
        "baseline of a benchmark on a branch, with its document",
        Some(100),
        &path,
        |store, round| {
            let filter = Filter {
                name: text(format!("bench{}", 1 + round)),
                branch: text("main".to_owned()),
                ..all()
            };
            baseline(filter)(store, round);
        },
    );
    let of = |labels: Vec<(String, Option<String>)>| Filter { labels, ..all() };
    figures.ask(
        "baseline by label, with its document",
        Some(100),
        &path,
        baseline(of(vec![("baseline".to_owned(), None)])),
    );
    figures.ask(
        "baseline by label and value",
        Some(100),
        &path,
        baseline(of(vec![("baseline".to_owned(), Some("v0".to_owned()))])),
    );
    let nightly = Filter {
        name: text("bench0".to_owned()),
        branch: text("main".to_owned()),
        ..of(vec![("nightly".to_owned(), None)])
    };
    figures.ask(
        "baseline by a label of every tenth result, name and branch",
        Some(100),
        &path,
        baseline(nightly),
    );
    let commit = Filter {
        commit: text(commit_of(options.results / 2)[..10].to_owned()),
        name: text(format!("bench{}", benchmark_of(options.results / 2 + 1))),
        ..all()
    };
    figures.ask(
        "baseline of a benchmark by commit",
        Some(100),
        &path,
        baseline(commit),
    );
    figures.ask(
        "a benchmark that there is none of",
        Some(100),
        &path,
        |store, _| {
            let none = Filter {
                name: text("none".to_owned()),
                branch: text("main".to_owned()),
                ..all()
            };
            assert_eq!(store.latest(&none).unwrap(), None);
        },
    );
    figures.ask(
        "a label that there is none of",
        Some(100),
        &path,
        |store, _| {
            assert_eq!(
                store.latest(&of(vec![("none".to_owned(), None)])).unwrap(),
                None
            );
        },
    );
    figures.ask("the newest 20 results", Some(100), &path, |store, _| {
        assert_eq!(
            store
                .list(&Filter {
                    limit: Some(20),
                    ..all()
                })
                .unwrap()
                .len(),
            20
        );
    });

    let key = |benchmark: usize| SeriesKey {
        subject: format!("bench{benchmark}/scalar[n=16777216]"),
        metric: "time.cold".to_owned(),
        unit: "ns".to_owned(),
        gpu: Some("NVIDIA H200".to_owned()),
    };
    let main = Filter {
        branch: text("main".to_owned()),
        ..all()
    };
    let mut count = 0;
    figures.ask(
        "points of one series of main",
        Some(300),
        &path,
        |store, round| {
            count = store.points(&key(1 + round), &main).unwrap().len();
            assert!(count > 0);
        },
    );
    println!("  ({count} points)");
    figures.ask(
        "points of the series with a tenth of all results",
        Some(300),
        &path,
        |store, _| {
            count = store.points(&key(0), &all()).unwrap().len();
        },
    );
    println!("  ({count} points)");
    figures.ask("how many results there are", None, &path, |store, _| {
        assert_eq!(store.count(&all()).unwrap(), options.results as u64);
    });
    figures.ask(
        "all series with their number of points",
        None,
        &path,
        |store, _| {
            assert!(!store.series(&all()).unwrap().is_empty());
        },
    );

    if figures.failed > 0 {
        println!("\n{} figures are beyond their limits", figures.failed);
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
