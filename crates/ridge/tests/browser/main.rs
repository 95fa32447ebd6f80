//! The pages of `ridge roofline`, `ridge timeline`, `ridge diff` and `ridge history plot` in a browser: what it shows, and what
//! pointing, clicking, typing and zooming do.
//!
//! The browser is the one that `RIDGE_CHROMIUM` names, which makes the tests required, else a Chromium in the search
//! path; without one they are reported as ignored.

mod chromium;
mod diff;
mod series;
mod timeline;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use chromium::Page;
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::{Value, json};
use tempfile::TempDir;

type Check = fn(&Path) -> Result<(), Failed>;

const CHECKS: &[(&str, Check)] = &[
    ("points equal the document", points_equal_the_document),
    ("pointing at a point tells about it", hover),
    ("a click selects a kernel", click),
    ("the filter leaves matching kernels", filter),
    ("roofs and precisions can be switched", switches),
    ("the keyboard does it all", keyboard),
    ("the wheel zooms", zoom),
    ("arrows join before and after", arrows),
    ("another device is another chart", devices),
    ("names are text and nothing is loaded", hostile),
    ("two thousand points stay fluid, and labels apart", many),
    ("pictures can be taken along", pictures),
    ("every width shows everything", widths),
    ("results of a benchmark say what they rest on", results),
    ("the picture alone has all points", svg_alone),
];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let trials = match chromium::find() {
        Some(browser) => CHECKS
            .iter()
            .chain(timeline::CHECKS)
            .chain(diff::CHECKS)
            .chain(series::CHECKS)
            .map(|(name, check)| {
                let browser = browser.clone();
                Trial::test(*name, move || check(&browser))
            })
            .collect(),
        None => CHECKS
            .iter()
            .chain(timeline::CHECKS)
            .chain(diff::CHECKS)
            .chain(series::CHECKS)
            .map(|(name, _)| {
                let reason = "no Chromium found: install it, or set RIDGE_CHROMIUM to its path";
                Trial::test(format!("{name} ({reason})"), || Ok(())).with_ignored_flag(true)
            })
            .collect(),
    };
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// What the command writes for arguments, in one format.
fn written(arguments: &[&str], format: &str) -> Vec<u8> {
    let output = Command::new(env!("CARGO_BIN_EXE_ridge"))
        .arg("roofline")
        .args(arguments)
        .args(["--format", format])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .env_clear()
        .output()
        .expect("the command runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    output.stdout
}

fn document(arguments: &[&str]) -> Value {
    serde_json::from_slice(&written(arguments, "json")).expect("JSON")
}

/// The page of some arguments, in a file that is there as long as it is looked at.
struct Shown {
    page: Page,
    _folder: TempDir,
}

fn shown(browser: &Path, arguments: &[&str], format: &str) -> Shown {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file: PathBuf = folder.path().join(format!("roofline.{format}"));
    std::fs::write(&file, written(arguments, format)).expect("the page is written");
    Shown {
        page: Page::open(browser, &file, (1200, 900)),
        _folder: folder,
    }
}

const PAIR: &[&str] = &["fixtures/gallery/bf16_linear.ncu-rep.zst"];
const MANY_KERNELS: &[&str] = &[
    "fixtures/gallery/fma_peak.ncu-rep.zst",
    "fixtures/gallery/tensor_peak.ncu-rep.zst",
    "fixtures/gallery/oscillator.ncu-rep.zst",
    "fixtures/gallery/bf16_linear.ncu-rep.zst",
    "fixtures/gallery/triad.ncu-rep.zst",
];

/// Where a kernel's dot is on the screen.
fn place_of(page: &mut Page, kernel: &str) -> (f64, f64) {
    let script = format!(
        "(() => {{ const data = JSON.parse(document.getElementById('data').textContent); \
         const kernel = data.charts[0].kernels.find(kernel => kernel.name === {}); \
         const node = document.querySelector('.dot[data-kernel=\"' + kernel.id + '\"]'); \
         node.scrollIntoView({{block: 'center'}}); \
         const box = node.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }})()",
        json!(kernel)
    );
    let place = page.eval(&script);
    (place[0].as_f64().unwrap(), place[1].as_f64().unwrap())
}

fn dots(page: &mut Page) -> u64 {
    page.eval("document.querySelectorAll('#plot .dot').length")
        .as_u64()
        .unwrap()
}

fn equal(found: &Value, expected: &Value) -> Result<(), Failed> {
    if found == expected {
        Ok(())
    } else {
        Err(format!("found {found}, expected {expected}").into())
    }
}

fn ensure(is_so: bool, what: &str) -> Result<(), Failed> {
    if is_so { Ok(()) } else { Err(what.into()) }
}

fn points_equal_the_document(browser: &Path) -> Result<(), Failed> {
    let mut reports = vec![MANY_KERNELS.iter().map(|file| (*file).to_owned()).collect()];
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let corpus = std::env::var_os("RIDGE_CORPUS")
        .map_or_else(|| root.join("../shared/corpus"), PathBuf::from)
        .join("reports/pytorch_step.ncu-rep.zst");
    if corpus.is_file() {
        reports.push(vec![corpus.to_string_lossy().into_owned()]);
    }
    for report in reports {
        let arguments: Vec<&str> = report.iter().map(String::as_str).collect();
        let mut expected: Vec<(u64, String, f64, f64)> = Vec::new();
        let document = document(&arguments);
        for kernel in document["charts"][0]["kernels"].as_array().unwrap() {
            for point in kernel["points"].as_array().unwrap() {
                let at_dram = |place: &&Value| place["level"] == "dram";
                let placements = point["placements"].as_array().unwrap();
                if let Some(place) = placements.iter().find(at_dram) {
                    expected.push((
                        kernel["id"].as_u64().unwrap(),
                        point["precision_id"].as_str().unwrap().to_owned(),
                        place["intensity"].as_f64().unwrap(),
                        point["ops_per_s"].as_f64().unwrap(),
                    ));
                }
            }
        }
        let mut shown = shown(browser, &arguments, "html");
        shown.page.eval(
            "{ const box = document.getElementById('precision'); box.value = 'all'; box.dispatchEvent(new Event('change')); }",
        );
        let found = shown.page.eval(
            "Array.from(document.querySelectorAll('#plot .dot')).map(dot => [Number(dot.dataset.kernel), dot.dataset.precision, Number(dot.dataset.intensity), Number(dot.dataset.rate)])",
        );
        expected.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut found: Vec<(u64, String, f64, f64)> =
            serde_json::from_value(found).map_err(|error| error.to_string())?;
        found.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.cmp(&b.1)));
        ensure(expected.len() > 5, "the document has points")?;
        ensure(found == expected, &format!("{found:?}\n{expected:?}"))?;
    }
    Ok(())
}

fn hover(browser: &Path) -> Result<(), Failed> {
    let mut shown = shown(browser, PAIR, "html");
    let page = &mut shown.page;
    equal(
        &page.eval("document.getElementById('tip').hidden"),
        &json!(true),
    )?;
    let place = place_of(page, "bf16_linear_fixed");
    page.mouse("mouseMoved", place);
    page.wait_for("!document.getElementById('tip').hidden");
    let text = page.eval("document.getElementById('tip').textContent");
    let text = text.as_str().unwrap_or_default();
    ensure(
        text.starts_with("bf16_linear_fixed")
            && text.contains("187 TFLOP/s")
            && text.contains("BF16 mma.sync"),
        text,
    )?;
    page.mouse("mouseMoved", (place.0 - 300.0, place.1 - 60.0));
    page.wait_for("document.getElementById('tip').hidden");
    Ok(())
}

fn click(browser: &Path) -> Result<(), Failed> {
    let mut shown = shown(browser, PAIR, "html");
    let page = &mut shown.page;
    let place = place_of(page, "bf16_linear_slow");
    page.click(place);
    page.wait_for("document.getElementById('detail').textContent.includes('bf16_linear_slow')");
    equal(
        &page.eval("document.querySelectorAll('#plot .dot.sel').length"),
        &json!(1),
    )?;
    // A row of the table does the same.
    page.eval("document.querySelectorAll('#list tbody button')[1].click()");
    page.wait_for("document.getElementById('detail').textContent.includes('bf16_linear_fixed')");
    page.eval("document.querySelector('#plot').focus()");
    page.key("Escape");
    page.wait_for("document.getElementById('detail').textContent === ''");
    Ok(())
}

fn filter(browser: &Path) -> Result<(), Failed> {
    let mut shown = shown(browser, MANY_KERNELS, "html");
    let page = &mut shown.page;
    let all = dots(page);
    page.eval("document.getElementById('filter').focus()");
    for letter in "oscill".chars() {
        page.key(&letter.to_string());
    }
    page.wait_for("document.querySelectorAll('#plot .dot').length === 2");
    equal(
        &page.eval("document.querySelectorAll('#list tbody tr').length"),
        &json!(2),
    )?;
    page.key("x");
    page.wait_for("document.querySelectorAll('#plot .dot').length === 0");
    ensure(
        page.eval("document.getElementById('more').textContent")
            == json!("No point matches the choice."),
        "an empty choice is said",
    )?;
    page.eval("{ const box = document.getElementById('filter'); box.value = ''; box.dispatchEvent(new Event('input')); }");
    page.wait_for(&format!(
        "document.querySelectorAll('#plot .dot').length === {all}"
    ));
    page.eval("document.querySelector('[data-class=compute]').click()");
    page.wait_for(&format!("document.querySelectorAll('#plot .dot').length < {all} && !document.querySelector('#plot .dot.compute')"));
    Ok(())
}

fn switches(browser: &Path) -> Result<(), Failed> {
    let mut shown = shown(browser, MANY_KERNELS, "html");
    let page = &mut shown.page;
    ensure(
        page.eval("!!document.querySelector('[data-roof=fp32-vector-run].roof') && !!document.querySelector('[data-roof=fp32-vector-datasheet].roof')") == json!(true),
        "roofs of the run and of the sheet",
    )?;
    page.eval("document.querySelector('#roofs [data-roof=fp32-vector-datasheet]').click()");
    page.wait_for("!document.querySelector('.roof[data-roof=fp32-vector-datasheet]')");
    page.eval("document.querySelector('#roofs [data-roof=int8-tensor-int32-run]').click()");
    page.wait_for("!!document.querySelector('.roof[data-roof=int8-tensor-int32-run]')");
    page.eval("{ const box = document.getElementById('precision'); box.value = 'fp64-vector'; box.dispatchEvent(new Event('change')); }");
    page.wait_for("document.querySelectorAll('#plot .dot').length === 1 && !document.querySelector('.roof[data-roof=fp32-vector-run]')");
    let dram = page.eval("document.querySelector('#plot .dot').dataset.intensity");
    page.eval("{ const box = document.getElementById('level'); box.value = 'l1'; box.dispatchEvent(new Event('change')); }");
    page.wait_for("!document.querySelector('.roof.other[data-roof=l1-run]')");
    ensure(
        page.eval("document.querySelector('#plot .dot').dataset.intensity") != dram,
        "another level is another intensity",
    )
}

fn keyboard(browser: &Path) -> Result<(), Failed> {
    let mut shown = shown(browser, PAIR, "html");
    let page = &mut shown.page;
    page.eval("document.getElementById('plot').focus()");
    page.key("ArrowRight");
    page.wait_for("document.getElementById('detail').textContent.startsWith('bf16_linear_slow') && !document.getElementById('tip').hidden");
    page.key("ArrowRight");
    page.wait_for("document.getElementById('detail').textContent.startsWith('bf16_linear_fixed')");
    let before = page.eval("document.querySelector('#plot .a').parentNode.querySelectorAll('.g').length + document.querySelector('.roof').getAttribute('d')");
    page.key("+");
    page.wait_for(&format!("document.querySelector('#plot .a').parentNode.querySelectorAll('.g').length + document.querySelector('.roof').getAttribute('d') !== {before}"));
    page.key("0");
    page.wait_for(&format!("document.querySelector('#plot .a').parentNode.querySelectorAll('.g').length + document.querySelector('.roof').getAttribute('d') === {before}"));
    // Everything that can be clicked can be reached with the tab key.
    let unreachable = page.eval(
        "Array.from(document.querySelectorAll('button, select, input, summary, #plot')).filter(node => node.tabIndex < 0).length",
    );
    equal(&unreachable, &json!(0))
}

fn zoom(browser: &Path) -> Result<(), Failed> {
    let mut shown = shown(browser, PAIR, "html");
    let page = &mut shown.page;
    let place = place_of(page, "bf16_linear_slow");
    let before = page.eval("document.querySelector('.roof').getAttribute('d')");
    page.wheel(place, -300.0);
    page.wait_for(&format!(
        "document.querySelector('.roof').getAttribute('d') !== {before}"
    ));
    // What is under the pointer stays there.
    let after = place_of(page, "bf16_linear_slow");
    ensure(
        (after.0 - place.0).abs() < 2.0 && (after.1 - place.1).abs() < 2.0,
        &format!("{place:?} became {after:?}"),
    )?;
    // A drag moves the plot.
    page.mouse("mousePressed", (place.0 - 200.0, place.1));
    page.mouse("mouseMoved", (place.0 - 150.0, place.1));
    page.mouse("mouseMoved", (place.0 - 120.0, place.1));
    page.mouse("mouseReleased", (place.0 - 120.0, place.1));
    page.eval("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
    let moved = place_of(page, "bf16_linear_slow");
    ensure(
        (moved.0 - after.0 - 80.0).abs() < 3.0,
        &format!("{after:?} became {moved:?}"),
    )?;
    page.eval("document.getElementById('zoom-reset').click()");
    page.wait_for(&format!(
        "document.querySelector('.roof').getAttribute('d') === {before}"
    ));
    Ok(())
}

fn arrows(browser: &Path) -> Result<(), Failed> {
    let file = PAIR[0];
    let (before, after) = (
        format!("{file}#bf16_linear_slow"),
        format!("{file}#bf16_linear_fixed"),
    );
    let mut shown = shown(browser, &["--before", &before, "--after", &after], "html");
    let page = &mut shown.page;
    equal(
        &page.eval("document.querySelectorAll('#plot .arrow[data-pair]').length"),
        &json!(1),
    )?;
    equal(
        &page.eval("document.querySelectorAll('#plot .dot.before').length"),
        &json!(1),
    )
}

fn devices(browser: &Path) -> Result<(), Failed> {
    let mut arguments = PAIR.to_vec();
    arguments.extend(["--device", "t4", "--point", "only,1GFLOP,1GB,10ms"]);
    let mut shown = shown(browser, &arguments, "html");
    let page = &mut shown.page;
    equal(&json!(dots(page)), &json!(2))?;
    page.eval("{ const box = document.getElementById('chart'); box.value = '1'; box.dispatchEvent(new Event('change')); }");
    page.wait_for("document.querySelectorAll('#plot .dot').length === 1");
    equal(
        &page.eval("document.getElementById('heading').textContent"),
        &json!("Roofline of T4"),
    )?;
    // One device needs no choice.
    let mut one = self::shown(browser, PAIR, "html");
    equal(
        &one.page
            .eval("getComputedStyle(document.getElementById('chart-label')).display"),
        &json!("none"),
    )
}

fn hostile(browser: &Path) -> Result<(), Failed> {
    let name = "</script><script>window.owned=1</script><img src=x onerror=owned=1>\u{2028}&amp;";
    let point = format!("{name},1GFLOP,1GB,10us");
    let mut shown = shown(browser, &["--device", "h200", "--point", &point], "html");
    let page = &mut shown.page;
    let place = page.eval("(() => { const box = document.querySelector('.dot').getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; })()");
    page.click((place[0].as_f64().unwrap(), place[1].as_f64().unwrap()));
    page.wait_for("document.getElementById('detail').textContent !== ''");
    equal(&page.eval("typeof window.owned"), &json!("undefined"))?;
    equal(&page.eval("document.images.length"), &json!(0))?;
    let text = page.eval("document.querySelector('#detail strong').textContent");
    equal(&text, &json!(name))?;
    equal(
        &page.eval("performance.getEntriesByType('resource').length"),
        &json!(0),
    )
}

/// Copies have no place in the chart: each is listed under its own name, with what to do and what was declared.
fn results(browser: &Path) -> Result<(), Failed> {
    let stored = ["fixtures/formats/bench-1/copy.json"];
    let mut shown = shown(browser, &stored, "html");
    let page = &mut shown.page;
    let rows = page.eval(
        "Array.from(document.querySelectorAll('#beside tbody tr')).map(row => row.textContent)",
    );
    let rows: Vec<&str> = rows
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    equal(&json!(rows.len()), &json!(4))?;
    for (row, name) in rows.iter().zip(["scalar", "scalar", "vector", "vector"]) {
        ensure(
            row.starts_with(&format!("{name}[n=16777216,block=256]")),
            row,
        )?;
        ensure(row.contains("add flops") && row.contains("us"), row)?;
    }
    let told = page.eval("document.getElementById('flags').textContent");
    ensure(
        told.as_str()
            .is_some_and(|told| told.contains("declare, not counted")),
        &told.to_string(),
    )
}

fn many(browser: &Path) -> Result<(), Failed> {
    let points: Vec<String> = (0..2000_u32)
        .map(|index| {
            let flops = 1e6 * 1.004_f64.powi(i32::try_from(index).unwrap_or(0));
            let bytes = 1_000_000 + 7919 * (index * index % 997);
            format!("kernel_{index},{flops:.0},{bytes}B,{}us", 3 + index % 170)
        })
        .collect();
    let mut arguments = vec!["--device", "h200"];
    for point in &points {
        arguments.extend(["--point", point]);
    }
    let mut shown = shown(browser, &arguments, "html");
    let page = &mut shown.page;
    equal(&json!(dots(page)), &json!(2000))?;
    // A whole frame with another view: the median of several. A page that is drawn in quadratic time takes seconds.
    let frame = page.eval(
        "(async () => { const times = []; for (let i = 0; i < 9; i++) { const start = performance.now(); \
         document.getElementById('zoom-in').click(); await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))); \
         times.push(performance.now() - start); document.getElementById('zoom-reset').click(); \
         await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))); } \
         return times.sort((a, b) => a - b)[4]; })()",
    );
    ensure(
        frame.as_f64().unwrap() < 1000.0,
        &format!("a frame takes {frame} ms"),
    )?;
    let overlaps = page.eval(
        "(() => { const boxes = Array.from(document.querySelectorAll('#plot .lab')).map(node => node.getBoundingClientRect()); let found = 0; \
         boxes.forEach((a, i) => boxes.slice(i + 1).forEach(b => { if (a.left < b.right && b.left < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom) found++; })); \
         return [boxes.length, found]; })()",
    );
    ensure(overlaps[0].as_u64().unwrap() >= 5, "some labels have room")?;
    equal(&overlaps[1], &json!(0))
}

fn pictures(browser: &Path) -> Result<(), Failed> {
    let mut shown = shown(browser, PAIR, "html");
    let page = &mut shown.page;
    // What is saved is looked at instead of written to a folder of downloads.
    page.eval(
        "window.saved = []; window.blobs = []; \
         HTMLAnchorElement.prototype.click = function () { saved.push(this.download); }; \
         { const make = URL.createObjectURL; URL.createObjectURL = blob => { blobs.push(blob); return make.call(URL, blob); }; } 0",
    );
    page.eval("document.getElementById('save-svg').click()");
    page.wait_for("saved.includes('roofline.svg')");
    let svg = page.eval("blobs.find(blob => blob.type === 'image/svg+xml').text()");
    let svg = svg.as_str().unwrap_or_default();
    ensure(
        svg.starts_with("<svg") && svg.contains("<style>") && svg.contains("bf16_linear_slow"),
        svg,
    )?;
    page.eval("document.getElementById('save-png').click()");
    page.wait_for("saved.includes('roofline.png')");
    let size = page.eval(
        "createImageBitmap(blobs.find(blob => blob.type === 'image/png')).then(image => image.width / document.getElementById('plot').clientWidth)",
    );
    equal(&size, &json!(2))?;
    // The clipboard may be refused; then the file is offered.
    page.eval("document.getElementById('copy-svg').click()");
    page.wait_for("/copied|saved/.test(document.getElementById('status').textContent)");
    page.eval("document.getElementById('status').textContent = ''; document.getElementById('copy-png').click()");
    page.wait_for("/copied|saved/.test(document.getElementById('status').textContent)");
    Ok(())
}

fn widths(browser: &Path) -> Result<(), Failed> {
    let mut shown = shown(browser, MANY_KERNELS, "html");
    let page = &mut shown.page;
    let all = dots(page);
    for width in [400, 900, 1600] {
        page.resize(width, 900);
        page.wait_for("document.querySelector('#plot svg').clientWidth <= document.getElementById('plot').clientWidth");
        page.wait_for("Number(document.querySelector('#plot svg').getAttribute('width')) === Math.max(280, document.getElementById('plot').clientWidth)");
        equal(&json!(dots(page)), &json!(all))?;
        let sideways = page.eval("document.documentElement.scrollWidth <= innerWidth");
        ensure(
            sideways == json!(true),
            &format!("the page is wider than {width} pixels"),
        )?;
    }
    for scheme in ["light", "dark"] {
        page.call(
            "Emulation.setEmulatedMedia",
            json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]}),
        );
        let is_dark = page.eval("getComputedStyle(document.body).backgroundColor === 'rgb(22, 22, 22)' && getComputedStyle(document.querySelector('.lab')).fill === 'rgb(240, 240, 240)'");
        equal(&is_dark, &json!(scheme == "dark"))?;
    }
    Ok(())
}

fn svg_alone(browser: &Path) -> Result<(), Failed> {
    let mut shown = shown(browser, MANY_KERNELS, "svg");
    let page = &mut shown.page;
    let expected: usize = document(MANY_KERNELS)["charts"][0]["kernels"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|kernel| kernel["left_out"].is_null())
        .count();
    // Samples of the legend have the same shapes, but no sentence.
    let found = page.eval(
        "Array.from(document.querySelectorAll('.dot > title')).filter(title => title.textContent.includes('/byte')).length",
    );
    equal(&found, &json!(expected))?;
    let names = page.eval("document.documentElement.getAttribute('role') + ' ' + document.documentElement.getAttribute('aria-labelledby') + ' ' + (document.querySelector('desc').textContent.length > 50)");
    equal(&names, &json!("img title desc true"))
}
