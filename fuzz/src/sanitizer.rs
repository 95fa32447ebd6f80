//! What the fuzz target for outputs of compute-sanitizer does with its input, text or XML. The replay in
//! `crates/ridge-collect/tests/replay.rs` includes this file too.

use ridge_collect::sanitize::document::{Document, Source};
use ridge_collect::sanitize::{self, Verdict, judge};

/// An output, in either form.
pub fn sanitizer(input: &[u8]) {
    match sanitize::read(input) {
        Ok(reading) => {
            if let Some(problem) = &reading.problem {
                assert!(!problem.to_string().is_empty() && problem.code().starts_with("SAN"));
            }
            let sources: Vec<Source> = reading
                .runs
                .into_iter()
                .map(|run| Source {
                    run,
                    input: None,
                    ran: None,
                })
                .collect();
            for source in &sources {
                let judged = judge(&source.run, None);
                // What found something is never clean, nor is what has no end.
                if judged.verdict == Verdict::Clean {
                    assert!(source.run.records.is_empty() && source.run.summary.is_there());
                }
            }
            let document = Document::of(&sources, None, "0", true);
            let printed: u64 = document.groups.iter().map(|group| group.count).sum();
            let read: usize = sources.iter().map(|source| source.run.records.len()).sum();
            assert_eq!(Ok(printed), u64::try_from(read));
        }
        Err(error) => assert!(!error.to_string().is_empty() && error.code().starts_with("SAN")),
    }
}
