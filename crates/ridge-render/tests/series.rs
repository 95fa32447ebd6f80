//! Series with their changes in every format.

use ridge_history::changes::document;
use ridge_history::changes::document::Document;
use ridge_history::{Observation, Revision, SeriesKey, Timestamp};
use ridge_render::charset::Charset;
use ridge_render::page::Layout;
use ridge_render::series::{changes, html, svg, text};
use ridge_render::style::Painter;

const LAYOUT: Layout = Layout {
    columns: 100,
    charset: Charset::Unicode,
    painter: Painter::plain(),
    is_verbose: false,
};

fn key(subject: &str, metric: &str, unit: &str) -> SeriesKey {
    SeriesKey {
        subject: subject.to_owned(),
        metric: metric.to_owned(),
        unit: unit.to_owned(),
        gpu: Some("NVIDIA H200".to_owned()),
    }
}

fn observations(count: u32, value: impl Fn(u32) -> f64) -> Vec<Observation> {
    let start: Timestamp = "2026-11-01T08:00:00Z".parse().unwrap();
    (0..count)
        .map(|i| Observation {
            result: format!("{:064x}", 4096 + i).parse().unwrap(),
            time: Timestamp::from_micros(start.micros() + i64::from(i) * 6 * 3_600_000_000),
            revision: Revision {
                commit: Some(format!(
                    "{:08x}{:032x}",
                    0x1000_0000_u32.wrapping_add(i.wrapping_mul(0x0357_9bdf)),
                    i
                )),
                branch: Some("main".to_owned()),
                is_dirty: Some(false),
            },
            host: Some("lab".to_owned()),
            value: value(i),
            low: Some(value(i) * 0.998),
            high: Some(value(i) * 1.002),
            samples: Some(40),
        })
        .collect()
}

/// −0.5 to 0.4 in an order without a rhythm.
fn jitter(i: u32) -> f64 {
    f64::from(i * 7 % 10) / 10.0 - 0.5
}

/// Two steps in a time and one bad run, a drift, nothing, and too few results.
fn sample() -> Document {
    let steps = observations(80, |i| {
        let level = match i {
            0..30 => 29_900.0,
            30..62 => 31_400.0,
            _ => 28_200.0,
        };
        let spike = if i == 45 { 30_000.0 } else { 0.0 };
        level + 100.0 * jitter(i) + spike
    });
    let drift = observations(60, |i| 0.80 + 0.001 * f64::from(i) + 0.004 * jitter(i));
    let steady = observations(40, |i| 2e12 + 5e9 * jitter(i));
    let few = observations(5, |i| 40.0 + f64::from(i % 2));
    document(
        [
            (key("copy/scalar", "time.cold", "ns"), steps.as_slice()),
            (
                key("copy/scalar", "busy_share", "fraction"),
                drift.as_slice(),
            ),
            (key("dram-read", "rate", "B/s"), steady.as_slice()),
            (
                key("reduce/block=256", "registers", "registers"),
                few.as_slice(),
            ),
        ],
        2,
    )
}

#[test]
fn charts_in_characters() {
    insta::assert_snapshot!(text(&sample(), &LAYOUT));
    let ascii = Layout {
        columns: 60,
        charset: Charset::Ascii,
        ..LAYOUT
    };
    let text = text(&sample(), &ascii);
    assert!(text.is_ascii());
    insta::assert_snapshot!(text);
}

#[test]
fn changes_of_many_series() {
    insta::assert_snapshot!(changes(&sample(), &LAYOUT));
    let verbose = Layout {
        is_verbose: true,
        ..LAYOUT
    };
    let all = changes(&sample(), &verbose);
    assert!(
        all.contains("dram-read") && all.contains("at least 13"),
        "{all}"
    );
}

#[test]
fn the_picture_names_changes() {
    let picture = svg(&sample());
    insta::assert_snapshot!(picture);
    for label in ["7444442200 +5.02 %", "df37c00200 -10.2 %"] {
        assert!(picture.contains(label), "{label}");
    }
    // The bad run is drawn at the edge, with its value.
    assert!(picture.contains("61.4 us, outside"));
}

/// One model, every format.
#[test]
fn formats_agree() {
    let document = sample();
    let outputs = [
        text(&document, &LAYOUT),
        changes(&document, &LAYOUT),
        svg(&document),
        html(&document).unwrap(),
    ];
    for change in &document.series[0].changes {
        let commit = &change.commit.as_ref().unwrap()[..10];
        let percent = format!("{:.1}", 100.0 * (change.ratio.unwrap() - 1.0).abs());
        for output in &outputs {
            assert!(
                output.contains(commit) && output.contains(&percent),
                "{commit} {percent}"
            );
        }
    }
}

#[test]
fn texts_of_a_store_are_escaped() {
    let evil = "</script><script>alert(1)</script>\u{1b}[31m\u{202e}";
    let mut observations = observations(40, |i| (if i < 20 { 100.0 } else { 120.0 }) + jitter(i));
    for observation in &mut observations {
        observation.revision.commit = Some(evil.to_owned());
        observation.host = Some(evil.to_owned());
    }
    let mut key = key(evil, evil, evil);
    key.gpu = Some(evil.to_owned());
    let document = document([(key, observations.as_slice())], 0);
    let page = html(&document).unwrap();
    assert_eq!(page.matches("<script").count(), 2, "those of the page");
    // What people see; the data of the script is shown as text.
    let seen = page.split("<script").next().unwrap();
    assert!(!seen.contains('\u{202e}'));
    for output in [
        page.clone(),
        svg(&document),
        text(&document, &LAYOUT),
        changes(&document, &LAYOUT),
    ] {
        assert!(!output.contains('\u{1b}'));
    }
    assert!(!page.contains("<script>alert") && !svg(&document).contains("<script>alert"));
}

#[test]
fn any_series_can_be_drawn() {
    let values: [&[f64]; 7] = [
        &[1.0],
        &[0.0, 0.0],
        &[f64::MAX, -f64::MAX, 0.0],
        &[5.0; 30],
        &[-3.0, 2.0, f64::MIN_POSITIVE],
        &[1e-300, 1e300],
        &[],
    ];
    for values in values {
        let count = u32::try_from(values.len()).unwrap();
        let observations = observations(count, |i| values[i as usize]);
        for unit in ["ns", "bytes", "fraction", "B/s", ""] {
            let document = document([(key("s", "m", unit), observations.as_slice())], 0);
            for columns in [20, 40, 100] {
                let drawn = text(&document, &Layout { columns, ..LAYOUT });
                assert_eq!(drawn.is_empty(), values.is_empty());
            }
            assert!(!svg(&document).contains("NaN"));
            assert!(html(&document).is_ok());
        }
    }
}

/// A picture costs what it shows, not what is stored.
#[test]
fn many_points_make_a_small_picture() {
    let observations = observations(100_000, |i| 100.0 + jitter(i));
    let document = document([(key("s", "m", "ns"), observations.as_slice())], 0);
    assert!(svg(&document).len() < 200_000);
    assert!(text(&document, &LAYOUT).len() < 20_000);
}
