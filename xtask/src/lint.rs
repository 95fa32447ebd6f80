//! `docs/lint/`: a page for each rule of `ridge lint`, and a list of them, from the doc comments of their files.

use std::fmt::Write;
use std::path::Path;

use ridge_lint::{page, page_ids};

use crate::Error;
use crate::findings::{GENERATED, first_sentence};
use crate::generate::File;

/// Produces the pages.
pub fn files(_root: &Path) -> Result<Vec<File>, Error> {
    let mut index = format!(
        "{GENERATED}# Rules of `ridge lint`\n\nWhat `ridge lint` finds in CUDA source and build flags. `ridge explain RULE` prints the same pages; \
         how often they are right is in [lint-precision.md](../lint-precision.md).\n\n| rule | says |\n|---|---|\n"
    );
    let mut files = Vec::new();
    for id in page_ids() {
        let page = page(id).ok_or_else(|| format!("{id} has no page"))?;
        let first = first_sentence(&page).ok_or_else(|| format!("{id}: the page is empty"))?;
        writeln!(
            index,
            "| [`{id}`]({id}.md) | {} |",
            first.replace('|', "\\|")
        )?;
        files.push(File {
            path: format!("docs/lint/{id}.md").into(),
            content: format!("{GENERATED}{page}"),
        });
    }
    files.push(File {
        path: "docs/lint/README.md".into(),
        content: index,
    });
    Ok(files)
}
