//! What the fuzz target for past results does with its input. The replay in `crates/ridge-history/tests/replay.rs` includes
//! this file too.

use ridge_history::{Circumstances, Error, Record, exchange};

/// Lines for exchange, and documents: what was read is written and read again as the same.
pub fn exchange(input: &[u8]) {
    let mut records = Vec::new();
    let told = |error: &Error| {
        assert!(error.code().starts_with("HIS") && !error.to_string().is_empty());
    };
    let outcome = exchange::read(
        input,
        &mut |record| {
            records.push(record);
            Ok(())
        },
        &mut |error| told(&error),
    );
    if let Err(error) = outcome {
        told(&error);
    }
    records.extend(Record::of_document(input, Circumstances::default()));
    for record in records {
        assert!(record.points.iter().all(|point| point.value.is_finite()));
        let mut line = Vec::new();
        exchange::write(&record, &mut line).expect("what was read can be written");
        let mut again = Vec::new();
        exchange::read(
            line.as_slice(),
            &mut |record| {
                again.push(record);
                Ok(())
            },
            &mut |error| panic!("what was written can be read: {error}"),
        )
        .expect("what was written can be read");
        assert_eq!(again, [record]);
    }
}
