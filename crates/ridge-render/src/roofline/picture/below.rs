//! What stands below the plot.

use ridge_model::quantity::{Intensity, Ratio, counted};
use ridge_model::roofline::document::{Class, DECLARED};

use super::super::view::{Dot, View, class_name, flag_text, side_mark};
use super::{DIM_ADVANCE, LINE, MARGIN, NAME_COLUMNS, dot_style, name, roof_style, shape};
use crate::charset::Charset;
use crate::kernel_name::shorten;
use crate::svg::{Anchor, Class as Style, Shape, Svg};
use crate::width::width;
use crate::wrap::{Indent, wrap};

/// Kernels beside the plot that are named.
const MOST_BESIDE: usize = 6;
/// Flags that are told below the plot.
const MOST_FLAGS: usize = 4;

/// What lines, shapes and sizes mean.
pub(super) fn legend(svg: &mut Svg, view: &View<'_>, page: f64, top: f64) -> f64 {
    const SAMPLE: f64 = 28.0;
    let mut y = top + 8.0;
    let lines = view
        .slopes
        .iter()
        .map(|roof| {
            (
                roof.basis,
                roof.level == view.level,
                roof.label.clone(),
                roof.origin,
            )
        })
        .chain(view.flats.iter().map(|roof| {
            let ridge = roof
                .ridge_points
                .iter()
                .find(|ridge| ridge.level == view.level);
            let ridge = ridge.map_or_else(String::new, |ridge| {
                let intensity = Intensity::new(ridge.intensity);
                format!(
                    "; ridge point {}",
                    intensity.text(roof.precision.is_integer())
                )
            });
            (
                roof.basis,
                true,
                format!("{}{ridge}", roof.label),
                roof.origin,
            )
        }));
    for (basis, is_own, label, origin) in lines {
        svg.path(
            Style::Own(roof_style(basis, is_own)),
            &[(MARGIN, y - 4.0), (MARGIN + SAMPLE, y - 4.0)],
        );
        let left = MARGIN + SAMPLE + 8.0;
        let columns = ((page - MARGIN - left) / DIM_ADVANCE) as usize;
        let label = format!("{label} [{}]", origin.name());
        for line in wrap(&label, columns, Indent::default()) {
            svg.text(Style::Dim, (left, y), Anchor::Start, &line);
            y += LINE;
        }
    }
    y += 4.0;
    let mut x = MARGIN;
    let mut put = |svg: &mut Svg, marker: Option<(Shape, &'static str)>, text: &str| {
        let size = 16.0 + 6.2 * width(text) as f64 + 18.0;
        if x > MARGIN && x + size > page - MARGIN {
            x = MARGIN;
            y += LINE;
        }
        if let Some((shape, style)) = marker {
            svg.marker(Style::Own(style), shape, (x + 6.0, y - 4.0), 5.5, text);
        }
        let indent = if marker.is_some() { 16.0 } else { 0.0 };
        svg.text(Style::Dim, (x + indent, y), Anchor::Start, text);
        x += size;
    };
    let mut classes: Vec<Option<Class>> = Vec::new();
    for class in [
        Some(Class::Memory),
        Some(Class::Compute),
        Some(Class::Latency),
        Some(Class::Launch),
        None,
    ] {
        if view.dots.iter().any(|dot| dot.kernel.class == class) {
            classes.push(class);
        }
    }
    for class in classes {
        let text = match class {
            Some(_) => format!("limited by {}", class_name(class)),
            None => "not diagnosed".to_owned(),
        };
        put(svg, Some((shape(class), dot_style(class, None))), &text);
    }
    if view.dots.iter().any(|dot| dot.kernel.side.is_some()) {
        put(svg, Some((Shape::Circle, "dot before none")), "before");
        put(svg, Some((Shape::Circle, "dot none")), "after");
    }
    if !view.dots.is_empty() {
        put(svg, Some((Shape::Circle, "ridge")), "ridge point");
        put(svg, None, "area: share of the time");
    }
    y + LINE
}

/// Kernels beside the plot, and points above a roof.
pub(super) fn notes(
    svg: &mut Svg,
    view: &View<'_>,
    page: f64,
    top: f64,
    fit: &dyn Fn(&str, f64) -> String,
) -> f64 {
    let columns = ((page - 2.0 * MARGIN) / DIM_ADVANCE) as usize;
    let mut y = top + 4.0;
    let mut line = |svg: &mut Svg, style: Style, text: &str| {
        svg.text(style, (MARGIN, y), Anchor::Start, &fit(text, DIM_ADVANCE));
        y += LINE;
    };
    let flagged: Vec<&Dot<'_>> = view
        .dots
        .iter()
        .filter(|dot| !dot.point.flags.is_empty())
        .collect();
    for dot in flagged.iter().take(MOST_FLAGS) {
        for flag in &dot.point.flags {
            let text = format!("! {}: {}", name(dot), flag_text(flag, dot.point));
            for part in wrap(&text, columns, Indent::default()) {
                line(svg, Style::Own("fn"), &part);
            }
        }
    }
    if flagged.len() > MOST_FLAGS {
        let more = counted((flagged.len() - MOST_FLAGS) as u64, "more point");
        let text = format!("! and {more} above a roof");
        line(svg, Style::Own("ft"), &text);
    }
    if !view.beside.is_empty() {
        line(svg, Style::Text, "beside the chart");
        for (kernel, reason) in view.beside.iter().take(MOST_BESIDE) {
            let whole = kernel.signature.as_deref().unwrap_or(&kernel.name);
            let name = shorten(whole, NAME_COLUMNS, Charset::Unicode);
            let share = kernel.time_share.map_or_else(String::new, |share| {
                format!(", {} of the time", Ratio::new(share))
            });
            let text = format!("{name}{}: {reason}{share}", side_mark(kernel.side));
            line(svg, Style::Dim, &text);
        }
        if view.beside.len() > MOST_BESIDE {
            let text = format!("and {} more", view.beside.len() - MOST_BESIDE);
            line(svg, Style::Dim, &text);
        }
    }
    if view.is_declared {
        for part in wrap(DECLARED, columns, Indent::default()) {
            line(svg, Style::Dim, &part);
        }
    }
    y
}
