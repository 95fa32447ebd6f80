//! The answer of `ridge roofline`: a page for the terminal, a picture, a page for the browser, and a table.

mod characters;
mod csv;
mod html;
mod labels;
mod picture;
mod scale;
mod text;
mod view;

pub use csv::csv;
pub use html::html;
pub use picture::svg;
pub use text::text;

use ridge_model::roof::MemoryLevel;

/// What to draw.
#[derive(Clone, Copy, Debug)]
pub struct Picture {
    /// The memory whose bytes make the intensity.
    pub level: MemoryLevel,
    /// Width of the picture in pixels; absent for the usual one.
    pub width: Option<u32>,
}
