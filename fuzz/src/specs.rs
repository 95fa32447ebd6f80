//! What the fuzz targets for benchmark specs and their expressions do with their input. The replay in
//! `crates/ridge-bench/tests/replay.rs` includes this file too.

use ridge_bench::document::Document;
use ridge_bench::expression::{Expression, Names, Value};
use ridge_bench::spec::Spec;

fn names() -> Names {
    let mut names = Names::default();
    names.set("n", Value::Int(1024));
    names.set("device.sms", Value::Int(132));
    names
}

/// An expression: read, computed, and every error placed inside the text.
pub fn expression(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    let error = match Expression::parse(text) {
        // A sum may have many terms, which is slow but no fault.
        Ok(expression) if !text.contains("sum") => expression.value(&names()).err(),
        Ok(_) => None,
        Err(error) => Some(error),
    };
    if let Some(error) = error {
        assert!(text.get(error.span()).is_some());
        assert!(!error.to_string().is_empty() && error.code().starts_with("EXP"));
        let _ = error.hint();
    }
}

/// A spec: read, multiplied out, and turned into numbers.
pub fn spec(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    if text.contains("sum") {
        return;
    }
    let outcome = Spec::read(text).and_then(|spec| {
        for state in spec.states(&names())?.iter().take(64) {
            let job = spec.job(state, &names())?;
            for buffer in &job.buffers {
                buffer.elements.write(0, &mut [0; 64]);
                let _ = buffer.elements.stored(buffer.elements.length - 1);
            }
        }
        Ok(())
    });
    if let Err(error) = outcome {
        assert!(!error.to_string().is_empty());
        let _ = error.hint();
        if let Some(place) = error.place() {
            assert!(place.line >= 1 && place.column >= 1 && place.width >= 1);
        }
    }
}

/// A document of results: read, and written again as it was.
pub fn results(input: &[u8]) {
    let _ = Document::looks_like(input);
    match Document::read(input) {
        Ok(document) => {
            for state in &document.states {
                let _ = state.memory_bytes();
            }
            if let Ok(text) = serde_json::to_vec(&document) {
                let again = Document::read(&text);
                assert!(again.is_ok_and(|again| again == document));
            }
        }
        Err(error) => assert!(error.code().starts_with("BEN") && !error.to_string().is_empty()),
    }
}
