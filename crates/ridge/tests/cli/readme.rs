//! The first command of the README runs, and prints what the README shows.

use std::fs;

use crate::driver::{ridge, root};

/// What stands in the code block after a marker: start and end in the page.
fn block(page: &str, marker: &str) -> (usize, usize) {
    let marked = page
        .find(marker)
        .unwrap_or_else(|| panic!("README.md lacks {marker}"));
    let fence = marked + page[marked..].find("```").expect("a code block");
    let start = fence + page[fence..].find('\n').expect("the end of the line") + 1;
    let end = start
        + page[start..]
            .find("```")
            .expect("the end of the code block");
    (start, end)
}

#[test]
fn the_readme_shows_what_its_first_command_prints() {
    let file = root().join("README.md");
    let page = fs::read_to_string(&file).unwrap();
    let (start, end) = block(&page, "<!-- first command -->");
    let arguments = page[start..end]
        .trim()
        .strip_prefix("cargo run --release -- ")
        .expect("the first command runs ridge");
    let run = ridge(arguments.split(' ')).run().fine();
    let (start, end) = block(&page, "<!-- output -->");
    if std::env::var_os("INSTA_UPDATE").is_some_and(|mode| mode == "always") {
        let new = format!("{}{}{}", &page[..start], run.stdout, &page[end..]);
        fs::write(file, new).unwrap();
        return;
    }
    assert!(
        page[start..end] == run.stdout,
        "README.md shows another output; run the tests with INSTA_UPDATE=always\n{}",
        run.transcript()
    );
}
