//! What the fuzz targets for `ridge.toml` and for baselines do with their input. The replay in
//! `crates/ridge-compare/tests/replay.rs` includes this file too.

use ridge_compare::check::{Asked, Baseline, Config, Document, Named, evaluate};

/// A configuration: read, and every mistake at a place inside the text.
pub fn config(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    match Config::read(text) {
        Ok(config) => {
            for budget in &config.budgets {
                assert!(budget.line >= 1);
                let _ = budget.kernel.matches("gemm[n=4096]");
            }
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            if let Some(place) = error.place() {
                assert!(place.line >= 1 && place.column >= 1 && place.width >= 1);
            }
        }
    }
}

/// A baseline or a result: read, and held against itself and a budget of each kind.
pub fn baseline(input: &[u8]) {
    let _ = Document::read(input);
    let Ok(baseline) = Baseline::read(input) else {
        return;
    };
    let config = Config::read(
        "[[budget]]\nkernel = \"*\"\ntime = \"1 us\"\nshare_of_bound = 0.5\nregisters = 1\nlocal_memory = 0\n\
         occupancy = 0.5\nfindings = \"register-spill\"\nslowdown = 0.1",
    )
    .expect("it is one");
    let results: Vec<Named> = baseline
        .results
        .iter()
        .map(|found| Named {
            name: "result".to_owned(),
            found: found.clone(),
            only: None,
        })
        .collect();
    let asked = Asked {
        config: &config,
        config_file: None,
        baseline_file: None,
        baseline: Some(("itself", &baseline)),
        is_subset: false,
        tool_version: "0",
    };
    let document = evaluate(&results, &asked);
    for check in &document.checks {
        let numbers = [check.value, check.lower, check.upper, check.limit];
        assert!(
            numbers.into_iter().flatten().all(f64::is_finite),
            "{check:?}"
        );
    }
}
