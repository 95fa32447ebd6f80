//! The answer of `ridge numerics`: as text, Markdown, a picture of the errors, or a page.

pub mod flags;
mod html;
mod map;
mod markdown;
pub mod orders;
mod parts;
pub mod repeat;
mod rows;
mod text;

pub use html::html;
pub use map::svg;
pub use markdown::markdown;
pub use text::text;

use ridge_numerics::document::{Document, Side};
use ridge_numerics::verdict::Outcome;

/// The verdict in a word.
const fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Right => "RIGHT",
        Outcome::Wrong => "WRONG",
        Outcome::CannotTell => "CANNOT TELL",
    }
}

/// The sentence without the word that stands before it.
fn sentence(document: &Document) -> &str {
    let sentence = document.verdict.sentence.as_str();
    ["right: ", "cannot tell: "]
        .into_iter()
        .find_map(|word| sentence.strip_prefix(word))
        .unwrap_or(sentence)
}

/// A tensor in words.
fn side(side: &Side) -> String {
    let shape: Vec<String> = side.shape.iter().map(u64::to_string).collect();
    format!("{} ({} [{}])", side.name, side.format, shape.join(", "))
}
