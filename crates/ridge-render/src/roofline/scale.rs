//! Logarithmic axes.

use super::view::View;

/// A range of positive values on a logarithmic axis, as powers of ten.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Decades {
    pub(super) from: f64,
    pub(super) to: f64,
}

/// An axis shows this many decades at least.
const LEAST: f64 = 2.0;
/// Room around the outermost values, in decades.
const MARGIN: f64 = 0.3;

impl Decades {
    /// What holds all values with some room; values that are not positive are left out.
    fn around(values: impl Iterator<Item = f64>) -> Self {
        let (mut from, mut to) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|value| *value > 0.0 && value.is_finite()) {
            from = from.min(value.log10());
            to = to.max(value.log10());
        }
        if from > to {
            return Self {
                from: 0.0,
                to: LEAST,
            };
        }
        let lacking = (LEAST - (to - from) - 2.0 * MARGIN).max(0.0) / 2.0;
        Self {
            from: from - MARGIN - lacking,
            to: to + MARGIN + lacking,
        }
    }

    /// Where a value lies, 0 to 1.
    pub(super) fn place(self, value: f64) -> f64 {
        (value.log10() - self.from) / (self.to - self.from)
    }

    /// The value at a place.
    pub(super) fn value(self, place: f64) -> f64 {
        10_f64.powf(self.from + place * (self.to - self.from))
    }

    /// Powers of ten on the axis, at most about so many.
    pub(super) fn ticks(self, most: usize) -> Vec<i32> {
        let (first, last) = (self.from.ceil() as i32, self.to.floor() as i32);
        let count = usize::try_from(last - first + 1).unwrap_or(0);
        let step = count.div_ceil(most.max(1)).max(1);
        (first..=last)
            .filter(|power| power.rem_euclid(i32::try_from(step).unwrap_or(1)) == 0)
            .collect()
    }
}

/// The axes of a chart: intensity and rate.
pub(super) fn axes(view: &View<'_>) -> (Decades, Decades) {
    let ridges = view.flats.iter().flat_map(|roof| {
        let of_level = roof.ridge_points.iter();
        of_level
            .filter(|ridge| ridge.level == view.level)
            .map(|ridge| ridge.intensity)
    });
    let intensities = view.dots.iter().map(|dot| dot.placement.intensity);
    let x = Decades::around(intensities.chain(ridges));
    let roofs = view.flats.iter().map(|roof| roof.ops_per_s);
    let rates = view.dots.iter().map(|dot| dot.point.ops_per_s);
    let mut y = Decades::around(rates.chain(roofs));
    if view.dots.is_empty() {
        y.from -= LEAST;
    }
    (x, y)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_value_is_on_its_axis(values in prop::collection::vec(1e-9..1e18_f64, 1..20)) {
            let axis = Decades::around(values.iter().copied());
            for value in values {
                let place = axis.place(value);
                prop_assert!((0.0..=1.0).contains(&place));
                prop_assert!((axis.value(place) / value - 1.0).abs() < 1e-6);
            }
            prop_assert!(axis.ticks(6).len() <= 7);
        }
    }

    #[test]
    fn nothing_makes_an_axis_too() {
        let axis = Decades::around([0.0, f64::NAN].into_iter());
        assert!(axis.to > axis.from);
    }
}
