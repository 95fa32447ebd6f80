//! Elements beyond the tolerance: the first, the worst, a sample of all, and where they lie.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// So many of the first and of the worst are kept.
pub(super) const KEPT: usize = 8;
/// So many are kept at random, to try explanations on.
const SAMPLED: usize = 1024;
/// Axes that places are counted on: the last ones; what comes before is one axis together.
pub(super) const AXES: usize = 4;
/// Places modulo this number are counted, from which those modulo its divisors follow.
pub(super) const RESIDUES: usize = 128;
/// Cells of the map of errors, at most, in each direction.
pub(super) const CELLS: u64 = 64;

/// An element and how bad it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ranked {
    pub(super) element: u64,
    /// Larger is worse.
    pub(super) badness: f64,
}

impl Ranked {
    /// The worse one first; of equals the earlier one.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        other
            .badness
            .total_cmp(&self.badness)
            .then(self.element.cmp(&other.element))
    }
}

/// The lengths of the axes that places are counted on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Axes {
    pub(super) lengths: [u64; AXES],
    /// How many of them the tensor has; the others have length 1 and come first.
    pub(super) count: usize,
    rows: u64,
    columns: u64,
    row_cells: u64,
    column_cells: u64,
}

impl Axes {
    pub(super) fn new(shape: &[u64]) -> Self {
        let mut lengths = [1; AXES];
        for (place, length) in shape.iter().rev().enumerate() {
            lengths[AXES.saturating_sub(place + 1)] *= length;
        }
        let columns = lengths[AXES - 1];
        let rows = lengths[..AXES - 1].iter().product();
        Self {
            lengths,
            count: shape.len().min(AXES),
            rows,
            columns,
            row_cells: rows.min(CELLS),
            column_cells: columns.min(CELLS),
        }
    }

    pub(super) fn cells(&self) -> (u64, u64) {
        (self.row_cells, self.column_cells)
    }

    /// The elements of a cell.
    pub(super) fn cell_size(&self, row: u64, column: u64) -> u64 {
        let part = |cell: u64, cells: u64, length: u64| {
            let from = |cell: u64| {
                // The first place whose cell is this one.
                (u128::from(cell) * u128::from(length)).div_ceil(u128::from(cells)) as u64
            };
            from(cell + 1) - from(cell)
        };
        part(row, self.row_cells, self.rows) * part(column, self.column_cells, self.columns)
    }

    /// The cell of the map that an element lies in.
    pub(super) fn cell(&self, element: u64) -> usize {
        let (row, column) = (element / self.columns, element % self.columns);
        (self.row_cell(row) * self.column_cells + self.column_cell(column)) as usize
    }

    fn row_cell(&self, row: u64) -> u64 {
        (u128::from(row) * u128::from(self.row_cells) / u128::from(self.rows)) as u64
    }

    fn column_cell(&self, column: u64) -> u64 {
        (u128::from(column) * u128::from(self.column_cells) / u128::from(self.columns)) as u64
    }

    /// Calls back for each run of elements that lie in one cell.
    pub(super) fn runs(&self, first: u64, count: usize, mut run: impl FnMut(usize, usize, usize)) {
        let mut done = 0;
        while done < count {
            let element = first + done as u64;
            let column = element % self.columns;
            let cell = self.column_cell(column);
            let end = (u128::from(cell + 1) * u128::from(self.columns))
                .div_ceil(u128::from(self.column_cells)) as u64;
            let length = ((end - column) as usize).min(count - done);
            run(self.cell(element), done, done + length);
            done += length;
        }
    }

    fn places(&self, element: u64) -> [u64; AXES] {
        let mut rest = element;
        let mut places = [0; AXES];
        for (place, length) in places.iter_mut().zip(&self.lengths).rev() {
            *place = rest % length;
            rest /= length;
        }
        places
    }
}

/// Where on an axis the elements lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OnAxis {
    pub(super) lowest: u64,
    pub(super) highest: u64,
    /// By place modulo 128.
    pub(super) residues: [u64; RESIDUES],
}

impl Default for OnAxis {
    fn default() -> Self {
        Self {
            lowest: u64::MAX,
            highest: 0,
            residues: [0; RESIDUES],
        }
    }
}

/// One of a sample: the smaller the key, the surer it is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Sampled {
    key: u64,
    element: u64,
}

/// Elements beyond the tolerance.
#[derive(Clone, Debug)]
pub(super) struct Failures {
    pub(super) count: u64,
    pub(super) first: Vec<u64>,
    pub(super) worst: Vec<Ranked>,
    pub(super) axes: [OnAxis; AXES],
    pub(super) map: Box<[u64]>,
    sample: BinaryHeap<Sampled>,
}

impl Failures {
    pub(super) fn new(axes: &Axes) -> Self {
        Self {
            count: 0,
            first: Vec::new(),
            worst: Vec::new(),
            axes: std::array::from_fn(|_| OnAxis::default()),
            map: vec![0; (axes.row_cells * axes.column_cells) as usize].into(),
            sample: BinaryHeap::new(),
        }
    }

    pub(super) fn add(&mut self, axes: &Axes, element: u64, badness: f64) {
        self.count += 1;
        self.keep_first(element);
        self.keep_worst(Ranked { element, badness });
        self.keep_sampled(Sampled {
            key: mixed(element),
            element,
        });
        for (axis, place) in self.axes.iter_mut().zip(axes.places(element)) {
            axis.lowest = axis.lowest.min(place);
            axis.highest = axis.highest.max(place);
            axis.residues[(place % RESIDUES as u64) as usize] += 1;
        }
        if let Some(cell) = self.map.get_mut(axes.cell(element)) {
            *cell += 1;
        }
    }

    fn keep_first(&mut self, element: u64) {
        if self.first.len() == KEPT && self.first.last().is_some_and(|last| *last < element) {
            return;
        }
        let place = self.first.partition_point(|known| *known < element);
        self.first.insert(place, element);
        self.first.truncate(KEPT);
    }

    fn keep_worst(&mut self, ranked: Ranked) {
        if self.worst.len() == KEPT
            && self
                .worst
                .last()
                .is_some_and(|last| last.order(&ranked) == Ordering::Less)
        {
            return;
        }
        let place = self
            .worst
            .partition_point(|known| known.order(&ranked) == Ordering::Less);
        self.worst.insert(place, ranked);
        self.worst.truncate(KEPT);
    }

    fn keep_sampled(&mut self, sampled: Sampled) {
        if self.sample.len() < SAMPLED {
            self.sample.push(sampled);
        } else if let Some(mut last) = self.sample.peek_mut()
            && *last > sampled
        {
            *last = sampled;
        }
    }

    /// What is kept does not depend on how the elements were divided.
    pub(super) fn merge(&mut self, other: Self) {
        self.count += other.count;
        for element in other.first {
            self.keep_first(element);
        }
        for ranked in other.worst {
            self.keep_worst(ranked);
        }
        for sampled in other.sample {
            self.keep_sampled(sampled);
        }
        for (mine, others) in self.axes.iter_mut().zip(&other.axes) {
            mine.lowest = mine.lowest.min(others.lowest);
            mine.highest = mine.highest.max(others.highest);
            for (count, more) in mine.residues.iter_mut().zip(&others.residues) {
                *count += more;
            }
        }
        for (count, more) in self.map.iter_mut().zip(&other.map) {
            *count += more;
        }
    }

    /// Some of them, each with the same chance, in their order.
    pub(super) fn sample(self) -> Vec<u64> {
        let mut elements: Vec<u64> = self
            .sample
            .into_iter()
            .map(|sampled| sampled.element)
            .collect();
        elements.sort_unstable();
        elements
    }
}

/// A number that looks random, for each element another (the finaliser of SplitMix64).
fn mixed(element: u64) -> u64 {
    let mut key = element.wrapping_add(0x9e37_79b9_7f4a_7c15);
    key = (key ^ (key >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    key = (key ^ (key >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    key ^ (key >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_does_not_depend_on_the_order() {
        let axes = Axes::new(&[100, 70]);
        let badness = |element: u64| (element * 7919 % 1000) as f64;
        let mut whole = Failures::new(&axes);
        let mut parts: Vec<Failures> = (0..3).map(|_| Failures::new(&axes)).collect();
        for element in (0..7000).step_by(3) {
            whole.add(&axes, element, badness(element));
            parts[(element % 3 + element / 700) as usize % 3].add(&axes, element, badness(element));
        }
        let mut merged = Failures::new(&axes);
        for part in parts.into_iter().rev() {
            merged.merge(part);
        }
        assert_eq!(merged.count, 2334);
        assert_eq!(merged.first, whole.first);
        assert_eq!(merged.first, [0, 3, 6, 9, 12, 15, 18, 21]);
        assert_eq!(merged.worst, whole.worst);
        assert!(merged.worst[0].badness >= merged.worst[1].badness);
        assert_eq!(merged.axes, whole.axes);
        assert_eq!(merged.map, whole.map);
        let sample = merged.sample();
        assert_eq!(sample.len(), SAMPLED);
        assert_eq!(sample, whole.sample());
    }

    #[test]
    fn cells_and_runs_cover_every_element_once() {
        for shape in [
            &[100_u64, 70][..],
            &[3, 5, 7, 11, 2],
            &[64, 64],
            &[1],
            &[500, 3],
        ] {
            let axes = Axes::new(shape);
            let total: u64 = shape.iter().product();
            let (rows, columns) = axes.cells();
            let mut counted = vec![0; (rows * columns) as usize];
            axes.runs(0, total as usize, |cell, from, to| {
                for element in from..to {
                    assert_eq!(axes.cell(element as u64), cell);
                }
                counted[cell] += (to - from) as u64;
            });
            for row in 0..rows {
                for column in 0..columns {
                    let cell = (row * columns + column) as usize;
                    assert_eq!(counted[cell], axes.cell_size(row, column), "{shape:?}");
                }
            }
        }
    }
}
