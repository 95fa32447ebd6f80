//! Timelines as text, CSV, a picture, and a page for the browser.

mod csv;
mod finding;
mod html;
mod markdown;
mod pack;
mod ranks;
mod svg;
mod text;
mod words;

pub use csv::csv;
pub use html::html;
pub use markdown::markdown;
pub use svg::svg;
pub use text::text;
