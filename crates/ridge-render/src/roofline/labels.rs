//! Places for labels: none lies over another one, over a dot or outside of the plot. The first ones, which matter most,
//! are shortened or moved away from their dot before they go without; of the others, one without room is left out.

use std::ops::Range;

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
    /// Widths of its names, the longest first; without one it gets no label.
    pub(super) widths: Vec<f64>,
}

/// Where a label stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Label {
    pub(super) area: Area,
    /// Which of the names it shows.
    pub(super) name: usize,
    /// Whether it is so far from its dot that a line has to join them.
    pub(super) is_away: bool,
}

pub(super) const HEIGHT: f64 = 14.0;
const GAP: f64 = 3.0;
/// So many labels look for a place further away when there is none at their dot.
pub(super) const IMPORTANT: usize = 8;
/// How far such a place may be.
const FURTHEST: f64 = 170.0;
const STEP: f64 = 12.0;

/// What labels keep away from.
pub(super) struct Obstacles {
    /// Never covered.
    pub(super) taken: Vec<Area>,
    /// Lines, which are covered before a label is left out.
    pub(super) lines: Vec<Area>,
}

/// Finds a place for the labels of some of the things, the first ones first, and takes it.
pub(super) fn place(
    things: &[Anchored],
    which: Range<usize>,
    obstacles: &mut Obstacles,
    plot: &Area,
    most: usize,
) -> Vec<(usize, Label)> {
    let dots: Vec<Area> = things
        .iter()
        .map(|thing| Area::around(thing.at, thing.radius))
        .collect();
    let mut placed = Vec::new();
    for (index, thing) in things.iter().enumerate().take(which.end).skip(which.start) {
        if placed.len() == most {
            break;
        }
        let is_free = |area: &Area| {
            area.is_within(plot)
                && !obstacles.taken.iter().any(|other| other.overlaps(area))
                && !dots.iter().any(|dot| dot.overlaps(area))
        };
        let is_clear =
            |area: &Area| is_free(area) && !obstacles.lines.iter().any(|line| line.overlaps(area));
        let is_uncovered = |part: &Area, of: &Anchored| {
            let own = Area::around(of.at, of.radius);
            let mut others = obstacles.taken.iter().chain(&dots);
            !others.any(|other| other.overlaps(part) && !other.overlaps(&own))
        };
        let names = || thing.widths.iter().copied().enumerate();
        let near = |fits: &dyn Fn(&Area) -> bool| {
            names().find_map(|(name, width)| {
                let area = candidates(thing, width).into_iter().find(fits)?;
                Some((name, area, false))
            })
        };
        let away = |fits: &dyn Fn(&Area) -> bool| {
            names().find_map(|(name, width)| {
                let area = around(thing, width).find(fits)?;
                Some((name, area, true))
            })
        };
        let mut found = near(&is_clear).or_else(|| near(&is_free));
        if found.is_none() && index < IMPORTANT {
            // The line to it crosses nothing either, unless the dot is walled in.
            let is_led = |area: &Area| {
                is_clear(area) && lead(thing, area).all(|part| is_uncovered(&part, thing))
            };
            found = away(&is_led).or_else(|| away(&is_free));
        }
        if let Some((name, area, is_away)) = found {
            obstacles.taken.push(area);
            if is_away {
                obstacles.taken.extend(lead(thing, &area));
            }
            let label = Label {
                area,
                name,
                is_away,
            };
            placed.push((index, label));
        }
    }
    placed
}

/// The line from a dot to its label.
pub(super) fn ends(thing: &Anchored, area: &Area) -> Option<[(f64, f64); 2]> {
    let (x, y) = thing.at;
    let end = (
        x.clamp(area.left, area.left + area.width),
        y.clamp(area.top, area.top + area.height),
    );
    let (dx, dy) = (end.0 - x, end.1 - y);
    let length = dx.hypot(dy);
    (length > thing.radius).then(|| {
        let part = thing.radius / length;
        [(x + dx * part, y + dy * part), end]
    })
}

/// The same as small areas.
fn lead(thing: &Anchored, area: &Area) -> impl Iterator<Item = Area> {
    ends(thing, area).into_iter().flat_map(along)
}

/// A line as small areas on it.
pub(super) fn along([from, to]: [(f64, f64); 2]) -> impl Iterator<Item = Area> {
    const STEP: f64 = 6.0;
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let steps = (dx.hypot(dy) / STEP).ceil().max(1.0);
    (0..=steps as u32).map(move |step| {
        let part = f64::from(step) / steps;
        Area::around((from.0 + dx * part, from.1 + dy * part), 1.5)
    })
}

/// Places on circles around a dot, the nearest first.
fn around(thing: &Anchored, width: f64) -> impl Iterator<Item = Area> {
    const DIRECTIONS: u32 = 16;
    let (x, y) = thing.at;
    let radius = thing.radius;
    let circles = (1..).map(|step| STEP * f64::from(step));
    let circles = circles.take_while(|away| *away <= FURTHEST);
    circles.flat_map(move |away| {
        (0..DIRECTIONS).map(move |direction| {
            let angle = std::f64::consts::TAU * f64::from(direction) / f64::from(DIRECTIONS);
            let (across, down) = (angle.cos(), angle.sin());
            let middle = (
                x + across * (radius + GAP + away + width / 2.0),
                y + down * (radius + GAP + away + HEIGHT / 2.0),
            );
            Area {
                left: middle.0 - width / 2.0,
                top: middle.1 - HEIGHT / 2.0,
                width,
                height: HEIGHT,
            }
        })
    })
}

/// Right, left, above, below, and the corners.
fn candidates(thing: &Anchored, width: f64) -> [Area; 8] {
    let (x, y) = thing.at;
    let away = thing.radius + GAP;
    let corner = 0.75 * thing.radius + GAP;
    let area = |left: f64, top: f64| Area {
        left,
        top,
        width,
        height: HEIGHT,
    };
    let (middle, half) = (y - HEIGHT / 2.0, x - width / 2.0);
    [
        area(x + away, middle),
        area(x - away - width, middle),
        area(half, y - away - HEIGHT),
        area(half, y + away),
        area(x + corner, y - corner - HEIGHT),
        area(x + corner, y + corner),
        area(x - corner - width, y - corner - HEIGHT),
        area(x - corner - width, y + corner),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(things: &[Anchored], plot: &Area) -> Vec<(usize, Label)> {
        let mut obstacles = Obstacles {
            taken: Vec::new(),
            lines: Vec::new(),
        };
        place(things, 0..things.len(), &mut obstacles, plot, 40)
    }

    proptest! {
        #[test]
        fn labels_do_not_overlap(points in prop::collection::vec((0.0..800.0_f64, 0.0..400.0_f64, 3.0..16.0_f64, 10.0..200.0_f64), 0..80)) {
            let things: Vec<Anchored> = points
                .iter()
                .map(|&(x, y, radius, width)| Anchored { at: (x, y), radius, widths: vec![width, width / 2.0] })
                .collect();
            let plot = Area { left: 0.0, top: 0.0, width: 800.0, height: 400.0 };
            let placed: Vec<Area> = all(&things, &plot).into_iter().map(|(_, label)| label.area).collect();
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
            widths: vec![40.0],
        }];
        let plot = Area {
            left: 0.0,
            top: 0.0,
            width: 300.0,
            height: 300.0,
        };
        let (_, label) = all(&things, &plot)[0];
        assert!((label.area.left - 108.0).abs() < f64::EPSILON && !label.is_away);
    }

    /// The picture of a training step: the kernel with most time has its dot among those of many small ones.
    #[test]
    fn the_first_dot_has_a_label_in_a_crowd() {
        let thing = |x: f64, y: f64, radius: f64| Anchored {
            at: (x, y),
            radius,
            widths: vec![200.0, 90.0],
        };
        let mut things = vec![thing(400.0, 200.0, 17.0)];
        for step in 0..24 {
            let angle = f64::from(step) * 0.262;
            things.push(thing(
                400.0 + 30.0 * angle.cos(),
                200.0 + 30.0 * angle.sin(),
                4.0,
            ));
        }
        let plot = Area {
            left: 0.0,
            top: 0.0,
            width: 800.0,
            height: 400.0,
        };
        let placed = all(&things, &plot);
        let (first, label) = placed[0];
        assert!(first == 0 && label.is_away);
        // None of those behind it takes its place.
        assert!((0..IMPORTANT).all(|index| placed[index].0 == index));
    }

    #[test]
    fn lines_are_covered_only_where_there_is_no_other_way() {
        let things = [Anchored {
            at: (100.0, 100.0),
            radius: 5.0,
            widths: vec![40.0],
        }];
        let plot = Area {
            left: 0.0,
            top: 0.0,
            width: 300.0,
            height: 300.0,
        };
        // One line right of the dot, and then one everywhere.
        for (left, is_beside) in [(100.0, false), (0.0, true)] {
            let across = |top: f64| Area {
                left,
                top,
                width: 200.0,
                height: 2.0,
            };
            let lines: Vec<Area> = match is_beside {
                false => vec![across(99.0)],
                true => (0..150).map(|row| across(2.0 * f64::from(row))).collect(),
            };
            let mut obstacles = Obstacles {
                taken: Vec::new(),
                lines,
            };
            let placed = place(&things, 0..1, &mut obstacles, &plot, 1);
            let is_right = (placed[0].1.area.left - 108.0).abs() < f64::EPSILON;
            assert_eq!(is_right, is_beside);
        }
    }
}
