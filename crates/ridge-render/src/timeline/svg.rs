//! The picture: a lane for each stream and thread, with bars as high as the share of the time that they fill.

use ridge_model::quantity::Nanos;
use ridge_trace::document::Document;
use ridge_trace::lanes::{Bin, Lane, Lanes, Shade, columns};

use super::text::shown_name;
use super::words;
use crate::svg::{Anchor, Class, Svg};
use crate::width::truncate;

pub(super) const STYLE: &str = include_str!("picture.css");

const WIDTH: f64 = 1200.0;
/// Where lanes begin: left of it stand their names.
const LEFT: f64 = 190.0;
const LANE: f64 = 22.0;
const BAR: f64 = 18.0;
/// A picture is looked at as a whole; the page has room for more.
const MOST_LANES: usize = 40;

/// From where a bar grows: shades differ in it as well as in colour.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchored {
    Bottom,
    Top,
    Middle,
}

pub(super) const fn anchored(shade: Shade) -> Anchored {
    match shade {
        Shade::Nothing | Shade::Kernel | Shade::Launch | Shade::Range => Anchored::Bottom,
        Shade::Copy | Shade::PageableCopy | Shade::Wait => Anchored::Top,
        Shade::Memset | Shade::Call => Anchored::Middle,
    }
}

pub(super) const fn class(shade: Shade) -> &'static str {
    match shade {
        Shade::Nothing => "lane",
        Shade::Kernel => "k",
        Shade::Copy => "c",
        Shade::PageableCopy => "p",
        Shade::Memset => "z",
        Shade::Launch => "l",
        Shade::Wait => "w",
        Shade::Call => "o",
        Shade::Range => "r",
    }
}

/// Writes the picture: `lanes` are those of the document's traces.
#[must_use]
pub fn svg(document: &Document, lanes: &[Lanes]) -> String {
    let title = format!("Timeline of {}", names(document));
    let mut verdicts: Vec<&str> = document
        .traces
        .iter()
        .filter_map(|trace| trace.verdict.as_ref())
        .map(|verdict| verdict.title.as_str())
        .collect();
    if let Some(ranks) = &document.ranks {
        verdicts.insert(0, &ranks.title);
    }
    // A part is mostly the same one of each trace.
    let range = document
        .traces
        .iter()
        .find_map(|trace| trace.range.as_ref())
        .map(words::range);
    let mut svg = Svg::new(WIDTH, &title, &verdicts.join("; ")).with_style(STYLE);
    let charset = crate::charset::Charset::Unicode;
    let mut y = 24.0;
    svg.text(
        Class::Heading,
        (10.0, y),
        Anchor::Start,
        &truncate(&title, 130, charset),
    );
    if let Some(range) = &range {
        y += 18.0;
        svg.text(
            Class::Dim,
            (10.0, y),
            Anchor::Start,
            &truncate(range, 170, charset),
        );
    }
    for verdict in verdicts.iter().take(4) {
        y += 18.0;
        svg.text(
            Class::Text,
            (10.0, y),
            Anchor::Start,
            &truncate(verdict, 170, charset),
        );
    }
    y += 12.0;
    y = legend(&mut svg, y, lanes);
    for (trace, lanes) in document.traces.iter().zip(lanes) {
        if document.traces.len() > 1 {
            y += 20.0;
            svg.text(
                Class::Text,
                (10.0, y),
                Anchor::Start,
                &truncate(&shown_name(&trace.file), 150, charset),
            );
            y += 6.0;
        }
        let shown = lanes.lanes.iter().take(MOST_LANES);
        let top = y;
        for lane in shown {
            draw_lane(&mut svg, lane, lanes.length_ns, y);
            y += LANE;
        }
        y = axis(&mut svg, lanes.length_ns, (top, y));
        let more = lanes.lanes.len().saturating_sub(MOST_LANES) + lanes.left_out;
        if more > 0 {
            y += 14.0;
            svg.text(
                Class::Dim,
                (10.0, y),
                Anchor::Start,
                &format!("and {more} more; --format html shows them"),
            );
        }
    }
    svg.finish(y + 12.0)
}

pub(super) fn names(document: &Document) -> String {
    let names: Vec<String> = document
        .traces
        .iter()
        .map(|trace| shown_name(&trace.file))
        .collect();
    names.join(", ")
}

/// The shades that occur.
pub(super) fn shades(lanes: &[Lanes]) -> Vec<Shade> {
    let occurs = |shade: &Shade| {
        let mut events = lanes
            .iter()
            .flat_map(|lanes| &lanes.lanes)
            .flat_map(|lane| &lane.events);
        events.any(|event| event.shade == *shade)
    };
    Shade::ALL.into_iter().filter(occurs).collect()
}

fn legend(svg: &mut Svg, y: f64, lanes: &[Lanes]) -> f64 {
    let mut x = 10.0;
    for shade in shades(lanes) {
        svg.rectangles(
            Class::Own(class(shade)),
            &[bar(shade, (x, y), 14.0, 0.6, 14.0)],
        );
        svg.text(
            Class::Dim,
            (x + 20.0, y + 11.0),
            Anchor::Start,
            shade.label(),
        );
        x += 44.0 + 6.2 * shade.label().len() as f64;
    }
    y + 26.0
}

/// A bar in a lane: left, top, width, height.
fn bar(
    shade: Shade,
    (x, y): (f64, f64),
    width: f64,
    share: f64,
    height: f64,
) -> (f64, f64, f64, f64) {
    // What is there is seen.
    let high = (share * height).max(2.0);
    let top = match anchored(shade) {
        Anchored::Bottom => y + height - high,
        Anchored::Top => y,
        Anchored::Middle => y + (height - high) / 2.0,
    };
    (x, top, width, high)
}

fn draw_lane(svg: &mut Svg, lane: &Lane, length_ns: u64, y: f64) {
    let charset = crate::charset::Charset::Unicode;
    svg.text(
        Class::Dim,
        (LEFT - 8.0, y + 13.0),
        Anchor::End,
        &truncate(&lane.label, 30, charset),
    );
    svg.rectangles(Class::Own("lane"), &[(LEFT, y, WIDTH - LEFT - 10.0, BAR)]);
    let width = WIDTH - LEFT - 10.0;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a constant of a thousand"
    )]
    let bins = columns(&lane.events, length_ns, width as usize);
    for shade in Shade::ALL {
        let mut rectangles = Vec::new();
        let mut place = 0;
        while place < bins.len() {
            let first: Bin = bins[place];
            let run = bins[place..]
                .iter()
                .take_while(|bin| **bin == first)
                .count();
            if first.shade == shade {
                let x = LEFT + place as f64;
                rectangles.push(bar(
                    shade,
                    (x, y),
                    run as f64,
                    f64::from(first.cover) / 255.0,
                    BAR,
                ));
            }
            place += run;
        }
        svg.rectangles(Class::Own(class(shade)), &rectangles);
    }
}

/// Times below the lanes.
fn axis(svg: &mut Svg, length_ns: u64, (top, bottom): (f64, f64)) -> f64 {
    let width = WIDTH - LEFT - 10.0;
    let step = step(length_ns as f64, 8.0);
    let mut at = 0.0;
    while at <= length_ns as f64 {
        let x = LEFT + at / length_ns as f64 * width;
        svg.path(Class::Grid, &[(x, top), (x, bottom + 3.0)]);
        let label = if at > 0.0 {
            Nanos::new(at).to_string()
        } else {
            "0".to_owned()
        };
        svg.text(Class::Dim, (x, bottom + 15.0), Anchor::Middle, &label);
        at += step;
    }
    bottom + 20.0
}

/// A step of 1, 2 or 5 times a power of ten, of which about so many fit.
fn step(length: f64, wanted: f64) -> f64 {
    let least = length / wanted;
    let power = 10_f64.powf(least.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .find(|factor| factor * power >= least);
    factor.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round() {
        assert!((step(168e6, 8.0) - 50e6).abs() < 1.0);
        assert!((step(1.0, 8.0) - 0.2).abs() < 1e-9);
    }

    #[test]
    fn bars_grow_from_their_side() {
        assert_eq!(
            bar(Shade::Kernel, (0.0, 10.0), 1.0, 0.5, 20.0),
            (0.0, 20.0, 1.0, 10.0)
        );
        assert_eq!(
            bar(Shade::Wait, (0.0, 10.0), 1.0, 0.5, 20.0),
            (0.0, 10.0, 1.0, 10.0)
        );
        assert_eq!(
            bar(Shade::Call, (0.0, 10.0), 1.0, 0.0, 20.0),
            (0.0, 19.0, 1.0, 2.0)
        );
    }
}
