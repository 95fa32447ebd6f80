//! Series of results over commits with what changed in them: as text, a picture, and a page for the browser.

mod changes;
mod characters;
mod html;
mod picture;
mod scale;
mod text;
mod words;

pub use changes::changes;
pub use html::html;
pub use picture::svg;
pub use text::text;
