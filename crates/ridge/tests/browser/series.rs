//! The page of `ridge history plot`: pointing, keys, marks of changes, and hostile names.

use std::path::Path;
use std::process::Command;

use libtest_mimic::Failed;
use ridge_history::{Circumstances, Record, Revision, SqliteStore, Store, Timestamp};
use serde_json::json;
use tempfile::TempDir;

use super::chromium::Page;
use super::{Check, ensure, equal};

pub(crate) const CHECKS: &[(&str, Check)] = &[
    ("series: changes are marked with commit and size", marks),
    ("series: pointing tells commit, value and interval", hover),
    ("series: the keyboard goes to results and changes", keyboard),
    ("series: a change of the table is shown", table),
    ("series: names are text and nothing is loaded", hostile),
];

/// −0.5 to 0.4 in an order without a rhythm.
fn jitter(i: u32) -> f64 {
    f64::from(i * 7 % 10) / 10.0 - 0.5
}

/// 50 results, 5 % slower from the 31st on, of a benchmark with this name.
fn records(benchmark: &str) -> Vec<Record> {
    let start: Timestamp = "2026-11-01".parse().unwrap();
    (0..50)
        .map(|i| {
            let median = if i < 30 { 29_900.0 } else { 31_400.0 } + 80.0 * jitter(i);
            let document = json!({
                "schema": "ridgepoint.bench", "version": 1, "benchmark": benchmark,
                "machine": {"device": "NVIDIA H200"},
                "states": [{"name": "scalar", "status": "valid", "modes": [
                    {"mode": "cold", "invalid": [], "samples": 40, "median_ns": median,
                     "lower_ns": median * 0.999, "upper_ns": median * 1.001}]}],
            });
            let circumstances = Circumstances {
                time: Some(Timestamp::from_micros(
                    start.micros() + i64::from(i) * 3_600_000_000,
                )),
                revision: Revision {
                    commit: Some(format!("c{i:09}{i:030}")),
                    branch: Some("main".to_owned()),
                    is_dirty: Some(i == 7),
                },
                ..Circumstances::default()
            };
            Record::of_document(document.to_string().as_bytes(), circumstances).unwrap()
        })
        .collect()
}

struct Shown {
    page: Page,
    _folder: TempDir,
}

fn shown(browser: &Path, benchmarks: &[&str]) -> Shown {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let database = folder.path().join("history.db");
    let mut store = SqliteStore::open(&database).expect("a store");
    for benchmark in benchmarks {
        store
            .insert(&records(benchmark))
            .expect("results are stored");
    }
    let file = folder.path().join("plot.html");
    let output = Command::new(env!("CARGO_BIN_EXE_ridge"))
        .args(["history", "plot", "-o"])
        .arg(&file)
        .arg("--store")
        .arg(&database)
        .current_dir(folder.path())
        .env_clear()
        .output()
        .expect("the command runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let mut page = Page::open(browser, &file, (1200, 900));
    page.wait_for("document.body.dataset.ready === '1'");
    Shown {
        page,
        _folder: folder,
    }
}

fn tip(page: &mut Page) -> String {
    let text = page.eval(
        "document.getElementById('tip').hidden ? '' : document.getElementById('tip').innerText",
    );
    text.as_str().unwrap_or_default().to_owned()
}

fn point(page: &mut Page) -> String {
    let point = page.eval("document.getElementById('plot').dataset.point || ''");
    point.as_str().unwrap_or_default().to_owned()
}

fn marks(browser: &Path) -> Result<(), Failed> {
    let mut shown = shown(browser, &["copy"]);
    let text = shown
        .page
        .eval("document.querySelector('#plot svg').textContent");
    let text = text.as_str().unwrap_or_default();
    ensure(text.contains("c000000030 +5."), "the mark names the commit")?;
    let circles = shown
        .page
        .eval("document.querySelectorAll('#plot circle').length");
    equal(&circles, &json!(50))
}

fn hover(browser: &Path) -> Result<(), Failed> {
    let mut shown = shown(browser, &["copy", "other"]);
    let page = &mut shown.page;
    let circle = "document.querySelectorAll('#plot circle')[7].getBoundingClientRect()";
    let place = page.eval(&format!(
        "(() => {{ const box = {circle}; return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
    ));
    let at = (place[0].as_f64().unwrap(), place[1].as_f64().unwrap());
    page.mouse("mouseMoved", at);
    let told = tip(page);
    for text in [
        "c000000007",
        "with changed files",
        "2026-11-01T07:00:00Z",
        "29.9 us",
        "at 95 %",
        "40 samples",
    ] {
        ensure(told.contains(text), &format!("{text} is told: {told}"))?;
    }
    equal(&json!(point(page)), &json!("7"))
}

fn keyboard(browser: &Path) -> Result<(), Failed> {
    let mut shown = shown(browser, &["copy", "other"]);
    let page = &mut shown.page;
    page.eval("document.getElementById('plot').focus()");
    for (key, expected) in [
        ("Home", "0"),
        ("ArrowRight", "1"),
        ("n", "30"),
        ("ArrowLeft", "29"),
        ("End", "49"),
        ("p", "30"),
    ] {
        page.key(key);
        equal(&json!(point(page)), &json!(expected))?;
    }
    ensure(
        tip(page).contains("change: c000000030"),
        "the change is told",
    )?;
    page.key("ArrowDown");
    let series = page.eval("document.getElementById('plot').dataset.series");
    equal(&series, &json!("1"))?;
    let detail =
        page.eval("document.getElementById('detail').textContent.includes('other/scalar')");
    equal(&detail, &json!(true))
}

fn table(browser: &Path) -> Result<(), Failed> {
    let mut shown = shown(browser, &["copy"]);
    let page = &mut shown.page;
    page.eval("document.querySelector('td button').click()");
    equal(&json!(point(page)), &json!("30"))
}

fn hostile(browser: &Path) -> Result<(), Failed> {
    let evil = "</script><img src=x onerror=\"window.evil=1\"><b>";
    let mut shown = shown(browser, &[evil]);
    let page = &mut shown.page;
    equal(&page.eval("window.evil === undefined"), &json!(true))?;
    equal(
        &page.eval("document.querySelectorAll('img, b').length"),
        &json!(0),
    )?;
    equal(
        &page.eval("performance.getEntriesByType('resource').length"),
        &json!(0),
    )?;
    page.eval("document.getElementById('plot').focus()");
    page.key("n");
    equal(
        &page.eval("document.querySelectorAll('img, b').length"),
        &json!(0),
    )
}
