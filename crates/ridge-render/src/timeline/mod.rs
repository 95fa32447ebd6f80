//! Timelines as text, CSV, a picture, and a page for the browser.

mod csv;
mod finding;
mod text;
mod words;

pub use csv::csv;
pub use text::text;
