//! Redacts every report of the corpus: metrics stay, secrets do not.
//!
//! The corpus is looked for in `RIDGE_CORPUS`, then in `../shared/corpus`; without it the test is reported as ignored.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    clippy::panic,
    clippy::print_stderr,
    reason = "tests"
)]

mod made;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials: Vec<Trial> = made::corpus()
        .into_iter()
        .map(|path| {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            Trial::test(format!("corpus::{name}"), move || {
                let [values, private, times, secrets] =
                    made::compare::check(&name, &made::load(&path));
                eprintln!(
                    "{name}: {values} instances equal, {private} private metrics emptied, {times} times moved, {secrets} secrets looked for"
                );
                Ok(())
            })
        })
        .collect();
    if trials.is_empty() {
        eprintln!("ignored: set RIDGE_CORPUS to the corpus, or put it at ../shared/corpus");
        trials.push(Trial::test("corpus", || Ok(())).with_ignored_flag(true));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}
