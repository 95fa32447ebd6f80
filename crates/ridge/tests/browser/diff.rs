//! The page of `ridge diff`.

use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::Failed;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::chromium::Page;
use crate::{Check, ensure, equal};

pub(crate) const CHECKS: &[(&str, Check)] = &[
    (
        "a comparison shows two points, an arrow and both ledgers",
        comparison,
    ),
    (
        "names in a comparison are text and nothing is loaded",
        hostile,
    ),
];

const PAIR: &str = "fixtures/gallery/bf16_linear.ncu-rep.zst";

/// The command's page in a file that is there as long as it is looked at.
fn shown(browser: &Path, before: &str, after: &str) -> (Page, TempDir) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file: PathBuf = folder.path().join("diff.html");
    let output = Command::new(env!("CARGO_BIN_EXE_ridge"))
        .args(["diff", before, after, "--format", "html", "-q"])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .env_clear()
        .output()
        .expect("the command runs");
    std::fs::write(&file, &output.stdout).expect("the page is written");
    (Page::open(browser, &file, (1200, 900)), folder)
}

fn comparison(browser: &Path) -> Result<(), Failed> {
    let (slow, fixed) = (
        format!("{PAIR}#bf16_linear_slow"),
        format!("{PAIR}#bf16_linear_fixed"),
    );
    let (mut page, _folder) = shown(browser, &slow, &fixed);
    let names = page.eval("document.querySelector('#roofline svg').textContent");
    let names = names.as_str().unwrap_or_default();
    for name in ["bf16_linear_slow (before)", "bf16_linear_fixed (after)"] {
        ensure(names.contains(name), name)?;
    }
    equal(
        &page.eval("document.querySelectorAll('#roofline .arrow').length"),
        &json!(1),
    )?;
    equal(
        &page.eval("document.querySelector('header .badge').textContent"),
        &json!("AMBIGUOUS"),
    )?;
    let text = page.eval("document.body.innerText");
    let text = text.as_str().unwrap_or_default();
    for part in [
        "no-tensor-cores",
        "tensor pipe",
        "held",
        "one duration of the profiler",
    ] {
        ensure(text.contains(part), part)?;
    }
    for width in [320, 1600] {
        page.resize(width, 900);
        ensure(
            page.eval("document.documentElement.scrollWidth <= window.innerWidth") == json!(true),
            &format!("nothing is cut off at {width} pixels"),
        )?;
    }
    Ok(())
}

fn hostile(browser: &Path) -> Result<(), Failed> {
    const NAME: &str = "<img src=x onerror=\"window.bad=1\"></style><script>window.bad=1</script>";
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = Command::new(env!("CARGO_BIN_EXE_ridge"))
        .args(["why", PAIR, "--format", "json", "-q"])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .env_clear()
        .output()
        .expect("the command runs");
    let mut document: Value =
        serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    for kernel in document["kernels"].as_array_mut().into_iter().flatten() {
        kernel["name"] = json!(NAME);
        kernel["signature"] = json!(NAME);
    }
    let file = folder.path().join("hostile.json");
    std::fs::write(&file, document.to_string())?;
    let file = file.to_string_lossy();
    let (mut page, _folder) = shown(browser, &file, &file);
    equal(
        &page.eval(
            "window.bad === undefined && document.querySelectorAll('img, script, link').length",
        ),
        &json!(0),
    )?;
    ensure(
        page.eval("document.body.innerText")
            .as_str()
            .unwrap_or_default()
            .contains("<img src=x"),
        "the name is shown as text",
    )
}
