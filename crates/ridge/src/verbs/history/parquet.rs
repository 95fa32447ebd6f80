//! `ridge history export --format parquet`: a folder of tables.

use ridge_history::Filter;

use crate::error::ExpectedError;
use crate::exit::Code;
use crate::history::StorePlace;
use crate::output::Output;

#[cfg(not(feature = "parquet"))]
pub(super) fn export(
    _place: &StorePlace,
    _filter: &Filter,
    _output: &Output,
) -> Result<Code, ExpectedError> {
    Err(
        ExpectedError::unable("this build of ridge writes no Parquet files").with_hint(
            "build it with `cargo build --release --features parquet`, or export JSON lines",
        ),
    )
}

/// Writes into a folder beside the one that is asked for, which gets its name when it is complete: whoever reads it never sees
/// a part.
#[cfg(feature = "parquet")]
pub(super) fn export(
    place: &StorePlace,
    filter: &Filter,
    output: &Output,
) -> Result<Code, ExpectedError> {
    use std::fs::{self, File};
    use std::io::BufWriter;
    use std::path::Path;

    use ridge_history::parquet::Sink;
    use ridge_model::quantity::counted;

    use crate::exit;
    use crate::history::expected;
    use crate::output::unwritable;

    let Some(folder) = output.path() else {
        return Err(ExpectedError::usage("Parquet files need a folder to go to")
            .with_hint("name a new folder with --output FOLDER"));
    };
    let is_taken = match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_some(),
        Err(_) => folder.exists(),
    };
    if is_taken {
        return Err(ExpectedError::usage(format!(
            "{} is there already, and files of two exports would mix",
            folder.display()
        ))
        .with_hint("name a new folder with --output FOLDER, or remove this one"));
    }
    let mut store = place.open_existing()?;
    let parent = folder
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let failed = |error: std::io::Error| unwritable(folder, &error);
    let unfinished = tempfile::Builder::new()
        .prefix(".ridge-export-")
        .tempdir_in(parent)
        .map_err(|error| failed(error.kind().into()))?;
    let tables = unfinished.path().join("tables");
    fs::create_dir(&tables).map_err(failed)?;
    let exported = ridge_history::parquet::export(store.as_mut(), filter, &mut |path| {
        let file = tables.join(path);
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent)?;
        }
        let sink: Sink = Box::new(BufWriter::with_capacity(1 << 16, File::create_new(file)?));
        Ok(sink)
    })
    .map_err(|error| expected(&error))?;
    // An empty folder gives way.
    let _ = fs::remove_dir(folder);
    fs::rename(&tables, folder).map_err(failed)?;
    output.note(&format!(
        "{} with {} of {} in {} of {}",
        counted(exported.results, "result"),
        counted(exported.rows, "number"),
        store.place(),
        counted(exported.files, "file"),
        folder.display()
    ));
    Ok(exit::FINE)
}
