//! Places for labels: none lies over another one, over a dot or outside of the plot. A label without room is left out.

/// A rectangle, from its upper left corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Area {
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.left < other.left + other.width
            && other.left < self.left + self.width
            && self.top < other.top + other.height
            && other.top < self.top + self.height
    }

    fn is_within(&self, outer: &Self) -> bool {
        self.left >= outer.left
            && self.top >= outer.top
            && self.left + self.width <= outer.left + outer.width
            && self.top + self.height <= outer.top + outer.height
    }

    /// The square around a dot.
    pub(super) fn around((x, y): (f64, f64), radius: f64) -> Self {
        Self {
            left: x - radius,
            top: y - radius,
            width: 2.0 * radius,
            height: 2.0 * radius,
        }
    }
}

/// A thing to name.
pub(super) struct Anchored {
    pub(super) at: (f64, f64),
    pub(super) radius: f64,
    pub(super) width: f64,
}

pub(super) const HEIGHT: f64 = 14.0;
const GAP: f64 = 3.0;

/// Finds a place for each label, the first ones first.
pub(super) fn place(
    things: &[Anchored],
    mut taken: Vec<Area>,
    plot: &Area,
    most: usize,
) -> Vec<Option<Area>> {
    let dots: Vec<Area> = things
        .iter()
        .map(|thing| Area::around(thing.at, thing.radius))
        .collect();
    let mut left = most;
    things
        .iter()
        .map(|thing| {
            if left == 0 {
                return None;
            }
            let found = candidates(thing).into_iter().find(|area| {
                area.is_within(plot)
                    && !taken.iter().any(|other| other.overlaps(area))
                    && !dots.iter().any(|dot| dot.overlaps(area))
            })?;
            taken.push(found);
            left -= 1;
            Some(found)
        })
        .collect()
}

/// Right, left, above, below, and the corners.
fn candidates(thing: &Anchored) -> [Area; 8] {
    let (x, y) = thing.at;
    let away = thing.radius + GAP;
    let corner = 0.75 * thing.radius + GAP;
    let area = |left: f64, top: f64| Area {
        left,
        top,
        width: thing.width,
        height: HEIGHT,
    };
    let (middle, half) = (y - HEIGHT / 2.0, x - thing.width / 2.0);
    [
        area(x + away, middle),
        area(x - away - thing.width, middle),
        area(half, y - away - HEIGHT),
        area(half, y + away),
        area(x + corner, y - corner - HEIGHT),
        area(x + corner, y + corner),
        area(x - corner - thing.width, y - corner - HEIGHT),
        area(x - corner - thing.width, y + corner),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn labels_do_not_overlap(points in prop::collection::vec((0.0..800.0_f64, 0.0..400.0_f64, 3.0..16.0_f64, 10.0..200.0_f64), 0..80)) {
            let things: Vec<Anchored> = points
                .iter()
                .map(|&(x, y, radius, width)| Anchored { at: (x, y), radius, width })
                .collect();
            let plot = Area { left: 0.0, top: 0.0, width: 800.0, height: 400.0 };
            let placed: Vec<Area> = place(&things, Vec::new(), &plot, 40).into_iter().flatten().collect();
            prop_assert!(placed.len() <= 40);
            for (index, area) in placed.iter().enumerate() {
                prop_assert!(area.is_within(&plot));
                prop_assert!(placed[index + 1..].iter().all(|other| !other.overlaps(area)));
                prop_assert!(things.iter().all(|thing| !Area::around(thing.at, thing.radius).overlaps(area)));
            }
        }
    }

    #[test]
    fn one_label_stands_right_of_its_dot() {
        let things = [Anchored {
            at: (100.0, 100.0),
            radius: 5.0,
            width: 40.0,
        }];
        let plot = Area {
            left: 0.0,
            top: 0.0,
            width: 300.0,
            height: 300.0,
        };
        let placed = place(&things, Vec::new(), &plot, 1);
        assert_eq!(placed[0].map(|area| area.left), Some(108.0));
    }
}
