//! The pages of `ridge bench`: a table of states and modes, what makes times invalid, notes, and the best state.

mod csv;
mod markdown;
mod part;
mod row;
mod text;

pub use csv::csv;
pub use markdown::markdown;
pub use text::text;
