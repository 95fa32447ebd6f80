//! The answer of `ridge diff`: a page for the terminal, Markdown for a pull request, and a page for the browser.

mod html;
mod kernels;
mod markdown;
mod text;
mod words;

pub use html::html;
pub use markdown::markdown;
pub use text::text;
