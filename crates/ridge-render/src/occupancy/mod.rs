//! The answer of `ridge occupancy` for people: a page of text, or a picture.

mod picture;
mod sentence;
mod text;

pub use picture::svg;
pub use text::text;

use ridge_model::occupancy::document::Stretch;

/// The occupancy at a value of a curve.
fn share_at(curve: &[Stretch], value: u32) -> f64 {
    let place = curve.partition_point(|stretch| stretch.to < value);
    curve.get(place).map_or(0.0, |stretch| stretch.occupancy)
}
