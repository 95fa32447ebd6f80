//! Saved diagnoses, which `ridge diff` reads again: read, written, and compared with themselves.

use ridge_compare::kernels::{Question, compare};
use ridge_diagnose::document::Document;

/// A document of `ridge why`.
pub fn diagnosis(input: &[u8]) {
    let _ = Document::looks_like(input);
    match Document::read(input) {
        Ok(document) => {
            if let Ok(text) = serde_json::to_vec(&document) {
                assert!(Document::read(&text).is_ok());
            }
            let answer = compare(&Question {
                before: &document,
                after: &document,
                is_same_input: false,
                given: &[("aos_slow", "aos_fixed")],
                clean: &[],
                rules: ridge_compare::bench::Options::default().rules,
            });
            let kernels = &answer.kernels;
            let count = document.kernels.len();
            assert_eq!(kernels.pairs.len() + kernels.only_before.len(), count);
            assert_eq!(kernels.pairs.len() + kernels.only_after.len(), count);
            // A number that is no number has no place in a document.
            let text = serde_json::to_string(&answer.kernels);
            assert!(text.is_ok());
        }
        Err(error) => assert!(error.code().starts_with("DIA") && !error.to_string().is_empty()),
    }
}
