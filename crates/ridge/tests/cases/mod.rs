//! Where the tests that run over many reports find them: in the repository, and in the corpus where it is at hand.

use std::path::{Path, PathBuf};

use libtest_mimic::Trial;

/// The repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The corpus: `RIDGE_CORPUS`, then `../shared/corpus`.
pub(crate) fn corpus() -> Option<PathBuf> {
    std::env::var_os("RIDGE_CORPUS")
        .map(PathBuf::from)
        .into_iter()
        .chain([root().join("../shared/corpus")])
        .find(|folder| folder.is_dir())
}

/// Stands in for what needs the corpus where there is none: ignored with the reason.
pub(crate) fn without_corpus(what: &str) -> Trial {
    let reason =
        format!("{what} (corpus not found: set RIDGE_CORPUS to it, or put it at ../shared/corpus)");
    Trial::test(reason, || Ok(())).with_ignored_flag(true)
}
