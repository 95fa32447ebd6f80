//! Rooflines that no profiler would report: numbers that cannot be, and very many devices.

use proptest::prelude::*;
use ridge_model::device::Origin;
use ridge_model::quantity::{Bandwidth, Bytes, ComputeRate, Flops, Hertz, Nanos};
use ridge_model::roof::MemoryLevel;
use ridge_model::roofline::document::{Beside, Chart, Class, Document, SCHEMA, Side, VERSION};
use ridge_model::roofline::{Amounts, Moved, Precision, RunRoofs, Setting, Sheet, Subject};
use ridge_model::{Devices, NumberFormat};
use ridge_render::charset::Charset;
use ridge_render::page::Layout;
use ridge_render::roofline::{Picture, csv, html, svg, text};
use ridge_render::style::Painter;

const PICTURE: Picture = Picture {
    level: MemoryLevel::Dram,
    width: None,
};
const FP32: Precision = Precision::vector(NumberFormat::Fp32);

fn document(charts: Vec<Chart>) -> Document {
    Document {
        schema: SCHEMA,
        version: VERSION,
        sources: Vec::new(),
        charts,
        warnings: Vec::new(),
    }
}

fn subject(time: f64, operations: f64, bytes: f64) -> Subject {
    Subject {
        name: "kernel".to_owned(),
        signature: None,
        shape: None,
        source: None,
        side: None,
        launches: Vec::new(),
        launch: None,
        origin: Origin::Measured,
        left_out: None,
        time: Some(Nanos::new(time)),
        total_time: Some(Nanos::new(time)),
        class: Some(Class::Memory),
        operations: vec![Amounts {
            precision: FP32,
            operations: Flops::new(operations),
            source: Vec::new(),
            may_be_moves: false,
        }],
        not_counted: Vec::new(),
        moved: vec![Moved {
            level: MemoryLevel::Dram,
            bytes: Bytes::new(bytes),
            source: Vec::new(),
        }],
        run: RunRoofs::default(),
    }
}

fn setting(is_known: bool) -> Setting {
    let h200 = Devices::known().find("h200").unwrap();
    Setting {
        device: Some("device".to_owned()),
        sheet: is_known.then(|| Sheet {
            device: h200.clone(),
            scaled_to: None,
        }),
        ..Setting::default()
    }
}

fn page(document: &Document) -> String {
    let layout = Layout {
        columns: 100,
        charset: Charset::Unicode,
        painter: Painter::plain(),
        is_verbose: true,
    };
    text(document, PICTURE, &layout)
}

fn table(document: &Document) -> String {
    let mut out = Vec::new();
    csv(document, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn json(document: &Document) -> String {
    let mut out = Vec::new();
    ridge_render::json::write(document, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// No word of what came out is a number that is none.
fn assert_finite(text: &str) {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    for word in words {
        assert!(!matches!(word, "inf" | "NaN" | "infx" | "NaNx"), "{text}");
    }
}

fn assert_all_finite(chart: &Chart) {
    let mut numbers = Vec::new();
    numbers.extend(chart.memory_roofs.iter().map(|roof| roof.bytes_per_s));
    for roof in &chart.compute_roofs {
        numbers.push(roof.ops_per_s);
        numbers.extend(roof.sm_clock_hz);
        numbers.extend(roof.ridge_points.iter().map(|ridge| ridge.intensity));
    }
    numbers.extend(chart.pairs.iter().filter_map(|pair| pair.speedup));
    for kernel in &chart.kernels {
        numbers.extend(kernel.time_ns);
        numbers.extend(kernel.total_time_ns);
        numbers.extend(kernel.time_share);
        for traffic in &kernel.traffic {
            numbers.push(traffic.bytes);
            numbers.extend(traffic.bytes_per_s);
            numbers.extend(traffic.roof_share);
        }
        for point in &kernel.points {
            numbers.extend([point.operations, point.ops_per_s]);
            numbers.extend(point.flags.iter().map(|flag| flag.factor));
            numbers.extend(
                point
                    .roof
                    .iter()
                    .flat_map(|roof| [roof.ops_per_s, roof.share]),
            );
            for place in &point.placements {
                numbers.push(place.intensity);
                numbers.extend(place.share);
                numbers.extend(place.attainable_ops_per_s);
            }
        }
    }
    assert!(numbers.iter().all(|number| number.is_finite()), "{chart:?}");
}

/// Everyday counters, and those of a damaged input.
fn counter() -> impl Strategy<Value = f64> {
    prop_oneof![
        1.0..1e12_f64,
        (-323..308_i32).prop_map(|power| 10_f64.powi(power)),
        prop::sample::select(vec![
            0.0,
            5e-324,
            f64::MIN_POSITIVE,
            1e-300,
            1e300,
            f64::MAX,
            -1.0,
            f64::NAN,
            f64::INFINITY,
        ]),
    ]
}

proptest! {
    #[test]
    fn nothing_that_is_drawn_or_written_is_infinite(
        kernels in prop::collection::vec(prop::array::uniform8(counter()), 1..8),
        is_known in any::<bool>(),
    ) {
        let subjects: Vec<Subject> = kernels
            .iter()
            .enumerate()
            .map(|(place, [time, total, operations, bytes, clock, slope, roof, more])| {
                let mut subject = subject(*time, *operations, *bytes);
                subject.total_time = Some(Nanos::new(*total));
                subject.side = [None, Some(Side::Before), Some(Side::After)][place % 3];
                subject.moved.push(Moved {
                    level: MemoryLevel::L2,
                    bytes: Bytes::new(*more),
                    source: Vec::new(),
                });
                subject.run = RunRoofs {
                    sm_clock: Some(Hertz::new(*clock)),
                    memory: vec![(MemoryLevel::Dram, Bandwidth::new(*slope), Vec::new())],
                    compute: vec![(FP32, ComputeRate::new(*roof), Vec::new())],
                };
                subject
            })
            .collect();
        let chart = Chart::new(&setting(is_known), subjects);
        assert_all_finite(&chart);
        let document = document(vec![chart]);
        assert_finite(&page(&document));
        assert_finite(&svg(&document, PICTURE));
        assert_finite(&table(&document));
        assert_finite(&json(&document));
    }
}

#[test]
fn what_cannot_be_is_told_beside_the_chart() {
    for damaged in [
        subject(1e-300, 1e9, 1e9),
        subject(1e6, 1e300, 1e9),
        subject(1e6, 1e9, 5e-324),
    ] {
        let chart = Chart::new(&setting(true), vec![damaged]);
        assert_eq!(chart.kernels[0].left_out, Some(Beside::Implausible));
        let page = page(&document(vec![chart]));
        assert!(page.contains("a number that cannot be"), "{page}");
    }
}

#[test]
fn of_very_many_devices_those_with_most_time_are_drawn() {
    let charts: Vec<Chart> = (0..3000_u32)
        .map(|place| {
            let mut setting = setting(false);
            setting.device = Some(format!("device {place:04}"));
            // The later ones take more time.
            Chart::new(
                &setting,
                vec![subject(f64::from(place + 1) * 1e3, 1e9, 1e9)],
            )
        })
        .collect();
    let document = document(charts);
    let told = "12 of 3,000 devices are drawn";
    let picture = svg(&document, PICTURE);
    assert_eq!(picture.matches("Roofline of device").count(), 12);
    assert!(picture.contains("device 2999") && !picture.contains("device 1234"));
    let page = page(&document);
    let whole = html(&document, PICTURE).unwrap();
    for text in [&picture, &page, &whole] {
        assert!(text.contains(told));
    }
    assert_eq!(page.matches("Roofline of device").count(), 12);
    assert!(whole.len() < 400_000, "{} bytes", whole.len());
    assert!(!whole.contains("device 1234"));
    // Data is never left out.
    assert_eq!(table(&document).lines().count(), 3001);
    assert_eq!(json(&document).matches("\"name\": \"device ").count(), 3000);
}
