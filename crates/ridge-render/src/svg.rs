//! Pictures as SVG: one file that needs nothing else, readable on light and dark pages, with a title and a description
//! for those who hear it.
//!
//! Colours are classes of one style sheet. Series use blue and orange of the Okabe-Ito palette, which people with any
//! kind of colour vision tell apart, and differ in shape as well.

use std::fmt::Write;

use crate::escape;

/// What an element is, and so how it looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A title.
    Heading,
    /// Ordinary text.
    Text,
    /// Text beside the matter: axis labels, units.
    Dim,
    /// Lines of a grid.
    Grid,
    /// The axes.
    Axis,
    /// The curve.
    Series,
    /// The area below the curve.
    Area,
    /// The place that is meant.
    Mark,
    /// Text about that place.
    MarkText,
    /// Classes of the style sheet that the picture brings along; see [`Svg::with_style`].
    Own(&'static str),
}

impl Class {
    const fn name(self) -> &'static str {
        match self {
            Self::Heading => "h",
            Self::Text => "t",
            Self::Dim => "d",
            Self::Grid => "g",
            Self::Axis => "a",
            Self::Series => "s",
            Self::Area => "f",
            Self::Mark => "m",
            Self::MarkText => "n",
            Self::Own(classes) => classes,
        }
    }
}

/// Where a text stands relative to its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// It starts there.
    Start,
    /// Its middle is there.
    Middle,
    /// It ends there.
    End,
}

pub(crate) const STYLE: &str = "\
svg{background:#fff;font-family:system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif;font-size:12px}\
.h{font-size:15px;font-weight:600;fill:#1a1a1a}.t{fill:#1a1a1a}.d{fill:#595959;font-size:11px}\
.g{stroke:#e3e3e3;fill:none}.a{stroke:#8c8c8c;fill:none}\
.s{stroke:#0072b2;stroke-width:2;fill:none}.f{fill:#0072b2;fill-opacity:.12}\
.m{stroke:#b34700;stroke-width:1.5;fill:#b34700}.n{fill:#b34700;font-weight:600;paint-order:stroke;stroke:#fff;stroke-width:4px}\
@media(prefers-color-scheme:dark){svg{background:#161616}.h,.t{fill:#f0f0f0}.d{fill:#b0b0b0}.g{stroke:#333}\
.a{stroke:#8c8c8c}.s{stroke:#56b4e9}.f{fill:#56b4e9;fill-opacity:.18}.m{stroke:#ff9f40;fill:#ff9f40}.n{fill:#ff9f40;stroke:#161616}}";

/// A picture in the making. Lengths are in pixels of a picture that is shown in its own size.
#[derive(Debug)]
pub struct Svg {
    body: String,
    width: f64,
    title: String,
    description: String,
    style: &'static str,
}

/// The shape of a marker: classes differ in shape as well as in colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A circle.
    Circle,
    /// A square.
    Square,
    /// A triangle that points upwards.
    Triangle,
    /// A square on its corner.
    Diamond,
    /// A cross with thick arms.
    Plus,
}

impl Shape {
    /// Its outline around a place; all shapes of one radius have about the same area.
    fn data(self, (x, y): (f64, f64), radius: f64) -> String {
        let points = |corners: &[(f64, f64)]| {
            let mut data = String::new();
            for (place, (dx, dy)) in corners.iter().enumerate() {
                let letter = if place == 0 { "M" } else { "L" };
                data.extend([
                    letter,
                    &number(x + dx * radius),
                    " ",
                    &number(y + dy * radius),
                ]);
            }
            data.push('Z');
            data
        };
        match self {
            Self::Circle => {
                let (radius, left, width) =
                    (number(radius), number(x - radius), number(2.0 * radius));
                format!(
                    "M{left} {}a{radius} {radius} 0 1 0 {width} 0a{radius} {radius} 0 1 0 -{width} 0Z",
                    number(y)
                )
            }
            Self::Square => points(&[(-0.89, -0.89), (0.89, -0.89), (0.89, 0.89), (-0.89, 0.89)]),
            Self::Triangle => points(&[(0.0, -1.3), (1.2, 0.8), (-1.2, 0.8)]),
            Self::Diamond => points(&[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)]),
            Self::Plus => points(&[
                (-0.45, -1.1),
                (0.45, -1.1),
                (0.45, -0.45),
                (1.1, -0.45),
                (1.1, 0.45),
                (0.45, 0.45),
                (0.45, 1.1),
                (-0.45, 1.1),
                (-0.45, 0.45),
                (-1.1, 0.45),
                (-1.1, -0.45),
                (-0.45, -0.45),
            ]),
        }
    }
}

impl Svg {
    /// An empty picture.
    #[must_use]
    pub fn new(width: f64, title: &str, description: &str) -> Self {
        Self {
            body: String::new(),
            width,
            title: escape::html_text(title).into_owned(),
            description: escape::html_text(description).into_owned(),
            style: "",
        }
    }

    /// The same with more style, for [`Class::Own`].
    #[must_use]
    pub const fn with_style(mut self, style: &'static str) -> Self {
        self.style = style;
        self
    }

    /// A marker with the text that is shown when one points at it.
    pub fn marker(&mut self, class: Class, shape: Shape, at: (f64, f64), radius: f64, title: &str) {
        if !is_drawn(&[at.0, at.1, radius]) {
            return;
        }
        self.element(format_args!(
            "<path class=\"{}\" d=\"{}\"><title>{}</title></path>",
            class.name(),
            shape.data(at, radius),
            escape::html_text(title)
        ));
    }

    /// A line of text that is turned around its start, in degrees and clockwise.
    pub fn turned_text(&mut self, class: Class, at: (f64, f64), degrees: f64, text: &str) {
        if !is_drawn(&[at.0, at.1, degrees]) {
            return;
        }
        let (x, y) = (number(at.0), number(at.1));
        self.element(format_args!(
            "<text class=\"{}\" transform=\"translate({x} {y}) rotate({})\">{}</text>",
            class.name(),
            number(degrees),
            escape::html_text(text)
        ));
    }

    /// A line of text.
    pub fn text(&mut self, class: Class, at: (f64, f64), anchor: Anchor, text: &str) {
        if !is_drawn(&[at.0, at.1]) {
            return;
        }
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        self.element(format_args!(
            "<text class=\"{}\" x=\"{}\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>",
            class.name(),
            number(at.0),
            number(at.1),
            escape::html_text(text)
        ));
    }

    /// A line through points, or the area that it goes around.
    pub fn path(&mut self, class: Class, points: &[(f64, f64)]) {
        if !points.iter().all(|(x, y)| is_drawn(&[*x, *y])) {
            return;
        }
        let mut data = String::new();
        for (place, (x, y)) in points.iter().enumerate() {
            let letter = if place == 0 { 'M' } else { 'L' };
            data.extend([&letter.to_string(), number(*x).as_str(), " ", &number(*y)]);
        }
        self.element(format_args!(
            "<path class=\"{}\" d=\"{data}\"/>",
            class.name()
        ));
    }

    /// Rectangles of one class as one shape: left, top, width and height.
    pub fn rectangles(&mut self, class: Class, rectangles: &[(f64, f64, f64, f64)]) {
        let mut data = String::new();
        for (x, y, width, height) in rectangles {
            if is_drawn(&[*x, *y, *width, *height]) {
                let (width, height) = (number(*width), number(*height));
                data.extend([
                    "M",
                    &number(*x),
                    " ",
                    &number(*y),
                    "h",
                    &width,
                    "v",
                    &height,
                    "h-",
                    &width,
                    "z",
                ]);
            }
        }
        if !data.is_empty() {
            self.element(format_args!(
                "<path class=\"{}\" d=\"{data}\"/>",
                class.name()
            ));
        }
    }

    /// A dashed line between two points.
    pub fn dashed(&mut self, class: Class, from: (f64, f64), to: (f64, f64)) {
        if !is_drawn(&[from.0, from.1, to.0, to.1]) {
            return;
        }
        self.element(format_args!(
            "<path class=\"{}\" stroke-dasharray=\"4 3\" d=\"M{} {}L{} {}\"/>",
            class.name(),
            number(from.0),
            number(from.1),
            number(to.0),
            number(to.1)
        ));
    }

    /// A dot.
    pub fn dot(&mut self, class: Class, at: (f64, f64), radius: f64) {
        if !is_drawn(&[at.0, at.1, radius]) {
            return;
        }
        self.element(format_args!(
            "<circle class=\"{}\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>",
            class.name(),
            number(at.0),
            number(at.1),
            number(radius)
        ));
    }

    fn element(&mut self, element: std::fmt::Arguments<'_>) {
        // A text takes whatever is written to it.
        let _ = writeln!(self.body, "{element}");
    }

    /// The file of a picture that is so high.
    #[must_use]
    pub fn finish(self, height: f64) -> String {
        let (width, height) = (number(self.width), number(height));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" aria-labelledby=\"title desc\">\n\
             <title id=\"title\">{}</title>\n<desc id=\"desc\">{}</desc>\n<style>{STYLE}{}</style>\n{}</svg>\n",
            self.title, self.description, self.style, self.body
        )
    }
}

/// What has no place on a page is not drawn. Documents hold finite numbers, so that this is for faults of ours.
fn is_drawn(lengths: &[f64]) -> bool {
    lengths.iter().all(|length| length.is_finite())
}

/// A length with at most one decimal.
fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_inputs_is_escaped() {
        let mut svg = Svg::new(10.0, "</title><script>alert(1)</script>", "a & \"b\"");
        svg.text(
            Class::Text,
            (1.0, 2.25),
            Anchor::Middle,
            "<b>\u{1b}]0;x\u{7}</b>",
        );
        let file = svg.finish(5.0);
        assert!(!file.contains("<script>") && !file.contains("<b>") && !file.contains('\u{1b}'));
        assert!(file.contains("<title id=\"title\">&lt;/title&gt;&lt;script&gt;"));
        assert!(file.contains("x=\"1\" y=\"2.2\""), "{file}");
    }

    #[test]
    fn light_and_dark_have_their_colours() {
        let file = Svg::new(10.0, "t", "d").finish(5.0);
        assert!(file.contains("prefers-color-scheme:dark"));
        assert!(
            !file.contains("http:") || file.matches("http:").count() == 1,
            "only the name space"
        );
    }
}
