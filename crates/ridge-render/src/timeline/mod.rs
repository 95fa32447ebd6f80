//! Timelines as text, CSV, a picture, and a page for the browser.

mod csv;
mod finding;
mod html;
mod pack;
mod svg;
mod text;
mod words;

pub use csv::csv;
pub use html::html;
pub use svg::svg;
pub use text::text;
