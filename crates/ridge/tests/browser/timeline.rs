//! The page of `ridge timeline`: zoom, pan, search, keyboard, and a million events.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use libtest_mimic::Failed;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::chromium::Page;
use super::{Check, ensure, equal};

pub(crate) const CHECKS: &[(&str, Check)] = &[
    ("timeline: lanes and tables are there", lanes),
    ("timeline: the keyboard zooms, moves and chooses", keyboard),
    ("timeline: wheel, drag and click", pointer),
    ("timeline: the search finds, counts and goes on", search),
    ("timeline: a gap of the table is shown", gap),
    ("timeline: names are text and nothing is loaded", hostile),
    (
        "timeline: a million events cost as much as there are columns",
        million,
    ),
];

const KINETO: &str = "fixtures/traces/pytorch_kineto.json.gz";

struct Shown {
    page: Page,
    _folder: TempDir,
}

/// The page of a trace.
fn shown(browser: &Path, trace: &str) -> Shown {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("timeline.html");
    let output = Command::new(env!("CARGO_BIN_EXE_ridge"))
        .args(["timeline", trace, "-o"])
        .arg(&file)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .env_clear()
        .env("RIDGE_CEILINGS", folder.path())
        .output()
        .expect("the command runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let mut page = Page::open(browser, &file, (1200, 900));
    page.wait_for("document.getElementById('lanes').dataset.drawn !== undefined");
    Shown {
        page,
        _folder: folder,
    }
}

fn number(page: &mut Page, key: &str) -> f64 {
    let value = page.eval(&format!(
        "Number(document.getElementById('lanes').dataset.{key})"
    ));
    value.as_f64().unwrap_or(f64::NAN)
}

fn focus(page: &mut Page) {
    page.eval("document.getElementById('lanes').focus()");
}

fn lanes(browser: &Path) -> Result<(), Failed> {
    let mut shown = shown(browser, KINETO);
    let page = &mut shown.page;
    equal(
        &page.eval("document.querySelector('.verdict').textContent.includes('6 pageable copies')"),
        &json!(true),
    )?;
    equal(
        &page.eval("document.getElementById('interactive').hidden"),
        &json!(false),
    )?;
    // 174 pieces of work and 244 calls, each drawn by itself.
    ensure(
        number(page, "drawn") > 400.0 && number(page, "exact") > 1.0,
        "all events are drawn",
    )?;
    equal(
        &page.eval("document.querySelectorAll('.finding').length"),
        &json!(2),
    )?;
    ensure(
        page.eval("document.querySelectorAll('#key li').length")
            .as_u64()
            >= Some(6),
        "the legend has the kinds that occur",
    )?;
    // Something is painted where the first copy is.
    let painted = page.eval(
        "(() => { const canvas = document.getElementById('lanes'), ratio = canvas.width / canvas.clientWidth; \
         const pen = canvas.getContext('2d'); const at = x => Array.from(pen.getImageData(x * ratio, 31 * ratio, 1, 1).data.slice(0, 3)).join(); \
         return at(400) !== at(1); })()",
    );
    equal(&painted, &json!(true))
}

fn keyboard(browser: &Path) -> Result<(), Failed> {
    let mut shown = shown(browser, KINETO);
    let page = &mut shown.page;
    let whole = number(page, "to");
    focus(page);
    page.key("+");
    page.wait_for(&format!(
        "Number(document.getElementById('lanes').dataset.to) < {whole}"
    ));
    let (from, to) = (number(page, "from"), number(page, "to"));
    ensure((to - from - whole / 2.0).abs() < 1.0, "plus shows the half")?;
    page.key("ArrowRight");
    page.wait_for(&format!(
        "Number(document.getElementById('lanes').dataset.from) > {from}"
    ));
    ensure(
        (number(page, "to") - number(page, "from") - whole / 2.0).abs() < 1.0,
        "moving keeps the step",
    )?;
    page.key("0");
    page.wait_for(&format!(
        "Number(document.getElementById('lanes').dataset.to) === {whole}"
    ));
    page.key("ArrowDown");
    page.wait_for("document.getElementById('lanes').dataset.lane === '1'");
    page.key("n");
    page.wait_for("document.getElementById('detail').textContent.includes('thread 15545')");
    let first = page.eval("document.getElementById('detail').textContent");
    page.key("n");
    page.wait_for(&format!(
        "document.getElementById('detail').textContent !== {first}"
    ));
    page.key("Enter");
    page.wait_for(&format!("Number(document.getElementById('lanes').dataset.to) - Number(document.getElementById('lanes').dataset.from) < {whole} / 5"));
    page.key("Escape");
    page.wait_for("document.getElementById('detail').textContent === ''");
    Ok(())
}

/// A place on the canvas, from its left upper corner.
fn place(page: &mut Page, x: f64, y: f64) -> (f64, f64) {
    let corner = page.eval("(() => { const box = document.getElementById('lanes').getBoundingClientRect(); return [box.x, box.y]; })()");
    (
        corner[0].as_f64().unwrap() + x,
        corner[1].as_f64().unwrap() + y,
    )
}

fn pointer(browser: &Path) -> Result<(), Failed> {
    let mut shown = shown(browser, KINETO);
    let page = &mut shown.page;
    // In the first long copy to the host.
    let at = place(page, 400.0, 31.0);
    page.mouse("mouseMoved", at);
    page.wait_for("!document.getElementById('tip').hidden");
    page.click(at);
    page.wait_for("document.getElementById('detail').textContent.includes('Memcpy DtoH')");
    let text = page.eval("document.getElementById('detail').textContent");
    ensure(
        text.as_str()
            .is_some_and(|text| text.contains("pageable copy, 40.94 ms")),
        &text.to_string(),
    )?;
    let whole = number(page, "to");
    page.eval(&format!(
        "document.getElementById('lanes').dispatchEvent(new WheelEvent('wheel', {{deltaY: -400, clientX: {}, clientY: {}, bubbles: true, cancelable: true}}))",
        at.0, at.1
    ));
    page.wait_for(&format!(
        "Number(document.getElementById('lanes').dataset.to) < {whole}"
    ));
    let from = number(page, "from");
    page.mouse("mousePressed", at);
    page.mouse("mouseMoved", (at.0 + 60.0, at.1));
    page.mouse("mouseReleased", (at.0 + 60.0, at.1));
    page.wait_for(&format!(
        "Number(document.getElementById('lanes').dataset.from) < {from}"
    ));
    Ok(())
}

fn search(browser: &Path) -> Result<(), Failed> {
    let mut shown = shown(browser, KINETO);
    let page = &mut shown.page;
    page.eval("document.getElementById('search').focus()");
    for letter in "nvjet".chars() {
        page.key(&letter.to_string());
    }
    page.wait_for("document.getElementById('status').textContent.startsWith('3 matches')");
    page.key("Enter");
    page.wait_for("document.getElementById('status').textContent === 'match 1 of 3'");
    page.wait_for("document.getElementById('detail').textContent.startsWith('nvjet')");
    page.eval("document.getElementById('previous').click()");
    page.wait_for("document.getElementById('status').textContent === 'match 3 of 3'");
    page.key("Escape");
    page.wait_for("document.getElementById('lanes').dataset.matches === ''");
    // A kernel of the table is searched for by a click.
    page.eval("document.querySelector('button[data-search]').click()");
    page.wait_for("document.getElementById('status').textContent.startsWith('3 matches')");
    Ok(())
}

fn gap(browser: &Path) -> Result<(), Failed> {
    let mut shown = shown(browser, KINETO);
    let page = &mut shown.page;
    page.eval("document.querySelector('button[data-start]').click()");
    page.wait_for("Number(document.getElementById('lanes').dataset.from) > 1e8");
    // The longest gap, 3.35 ms, in the middle third.
    let shown_ns = number(page, "to") - number(page, "from");
    ensure(
        (shown_ns - 3.0 * 3_349_251.0).abs() < 3000.0,
        &shown_ns.to_string(),
    )
}

/// Writes a trace and hands the page of it to a check.
fn made(browser: &Path, trace: &str) -> Shown {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("trace.json");
    std::fs::write(&file, trace).expect("the trace is written");
    shown(browser, &file.to_string_lossy())
}

fn hostile(browser: &Path) -> Result<(), Failed> {
    let name = "</script><img src=x onerror=\"document.title='bad'\"><b>k</b>";
    let trace = format!(
        r#"[{{"ph":"X","cat":"kernel","name":{},"pid":0,"tid":7,"ts":1,"dur":9}},{{"ph":"X","cat":"kernel","name":"b","pid":0,"tid":7,"ts":20,"dur":9}}]"#,
        json!(name)
    );
    let mut shown = made(browser, &trace);
    let page = &mut shown.page;
    focus(page);
    page.key("n");
    page.wait_for("document.getElementById('detail').textContent.includes('onerror')");
    equal(
        &page.eval("document.querySelectorAll('img, b:not([class])').length"),
        &json!(0),
    )?;
    ensure(
        page.eval("document.title") != json!("bad"),
        "no script of a name runs",
    )?;
    equal(
        &page.eval("performance.getEntriesByType('resource').length"),
        &json!(0),
    )
}

/// What is drawn is bounded by columns, not by events, and near enough each event is there.
fn million(browser: &Path) -> Result<(), Failed> {
    const EVENTS: usize = 1_000_000;
    let mut trace = String::with_capacity(EVENTS * 80);
    trace.push('[');
    for place in 0..EVENTS {
        let _ = write!(
            trace,
            r#"{{"ph":"X","cat":"kernel","name":"k{}","pid":0,"tid":{},"ts":{},"dur":3}},"#,
            place % 50,
            place % 4,
            place * 2
        );
    }
    trace.push_str("0]");
    let mut shown = made(browser, &trace);
    drop(trace);
    let page = &mut shown.page;
    let drawn = number(page, "drawn");
    // Four lanes of about a thousand columns, with at most two bins in each.
    ensure(
        drawn > 1000.0 && drawn < 10_000.0,
        &format!("{drawn} rectangles for a million events"),
    )?;
    equal(&json!(number(page, "exact")), &json!(0.0))?;
    focus(page);
    for _ in 0..13 {
        page.key("+");
    }
    page.wait_for("document.getElementById('lanes').dataset.exact === '4'");
    let events = number(page, "drawn");
    ensure(
        events > 50.0 && events < 10_000.0,
        &format!("{events} events near by"),
    )?;
    // The search walks over all of them.
    page.eval("{ const box = document.getElementById('search'); box.value = 'k49'; box.dispatchEvent(new Event('input')); }");
    page.wait_for("document.getElementById('lanes').dataset.matches !== ''");
    let found: Value = page.eval("document.getElementById('status').textContent");
    ensure(
        found
            .as_str()
            .is_some_and(|text| text.starts_with("20000 matches")),
        &found.to_string(),
    )
}
