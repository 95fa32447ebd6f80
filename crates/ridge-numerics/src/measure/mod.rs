//! How two tensors differ: every measure in one pass over both.
//!
//! Elements are taken in blocks, blocks in segments, and segments by as many threads as wanted. What depends on the order of
//! additions is summed within a segment and then over segments in their order, so that results are the same for any number of
//! threads and on any processor. Memory does not grow with the tensors.

mod failures;
mod histogram;
mod kernel;
mod lanes;
mod partial;
mod report;
mod sums;
mod tally;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use fearless_simd::Level;

use crate::format::Endian;
use crate::view::View;
use failures::Axes;
use kernel::BLOCK;
use partial::{Partial, Room, Task, Way};
pub use report::{
    AxisPlaces, Bias, Cell, Element, ErrorMap, Factor, Measures, Neighbour, NonFinite, Number,
    Offset, Peak, SizeBin, Special, Subnormals, Ulps,
};
use sums::Sums;

/// Elements of a segment, unless there would be more than [`SEGMENTS`] of them.
const SEGMENT: u64 = 1 << 19;
/// Segments at most.
const SEGMENTS: u64 = 1 << 13;

/// What an element may differ by: the sum of these.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// The same for each element.
    pub absolute: f64,
    /// As a share of the magnitude of the reference.
    pub relative: f64,
    /// In ULP of the output's format, at the reference.
    pub ulps: f64,
    /// As a share of Σ|a||b|, where that is known.
    pub magnitude: f64,
}

impl Limits {
    /// What an element may differ by.
    pub(crate) fn at(&self, reference: f64, ulp: f64, magnitude: f64) -> f64 {
        let share = |factor: f64, of: f64| if factor > 0.0 { factor * of } else { 0.0 };
        self.absolute
            + share(self.relative, reference.abs())
            + share(self.ulps, ulp)
            + share(self.magnitude, magnitude)
    }
}

/// What elements are held against.
#[derive(Clone, Debug, PartialEq)]
pub struct Judge {
    /// What elements may differ by. What differs by more fails.
    pub tolerance: Limits,
    /// What differs by more than this is wrong beyond doubt; as the tolerance where there is none.
    pub certain: Option<Limits>,
    /// Whether 0 is right where the reference is a subnormal number.
    pub accepts_flush_to_zero: bool,
    /// Relative errors are shares of this at least.
    pub relative_floor: f64,
}

/// Σ|a||b| of each element: how large the terms were that were added up.
#[derive(Clone, Debug)]
pub struct Magnitudes<'a>(View<'a>);

impl<'a> Magnitudes<'a> {
    /// Takes a tensor of the same shape as the output.
    #[must_use]
    pub const fn new(view: View<'a>) -> Self {
        Self(view)
    }

    fn value(&self, element: u64) -> f64 {
        self.0.value(element).unwrap_or(f64::NAN)
    }

    fn read(&self, first: u64, scratch: &mut Vec<u8>, out: &mut [f64]) {
        let block = self.0.block(first, out.len(), scratch);
        self.0.format().decode_slice(&block, Endian::Little, out);
    }
}

/// Why two tensors cannot be compared element by element.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MeasureError {
    /// The shapes are not the same.
    Shapes {
        /// That of the reference.
        reference: Vec<u64>,
        /// That of the output.
        output: Vec<u64>,
    },
    /// The magnitudes are not as many as the elements.
    Magnitudes {
        /// Elements.
        elements: u64,
        /// Magnitudes.
        magnitudes: u64,
    },
}

impl fmt::Display for MeasureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shapes { reference, output } => {
                write!(
                    f,
                    "the reference has shape {reference:?}, the output {output:?}"
                )
            }
            Self::Magnitudes {
                elements,
                magnitudes,
            } => write!(
                f,
                "there are {elements} elements and {magnitudes} magnitudes"
            ),
        }
    }
}

impl std::error::Error for MeasureError {}

/// Measures how an output differs from its reference, with at most so many threads.
///
/// The formats may differ: ULP are those of the output, and where the reference is finer than that, an error of up to half an ULP
/// counts as equal.
///
/// # Errors
/// When the shapes are not the same.
pub fn measure(
    reference: &View<'_>,
    output: &View<'_>,
    magnitudes: Option<&Magnitudes<'_>>,
    judge: &Judge,
    threads: usize,
) -> Result<Measures, MeasureError> {
    if reference.shape() != output.shape() {
        return Err(MeasureError::Shapes {
            reference: reference.shape().to_vec(),
            output: output.shape().to_vec(),
        });
    }
    let elements = output.len();
    if let Some(magnitudes) = magnitudes.map(|magnitudes| magnitudes.0.len())
        && magnitudes != elements
    {
        return Err(MeasureError::Magnitudes {
            elements,
            magnitudes,
        });
    }
    let first = |view: &View<'_>| view.value(0).unwrap_or(f64::NAN);
    let task = Task {
        reference,
        output,
        magnitudes: magnitudes.cloned(),
        judge,
        axes: Axes::new(output.shape()),
        elements,
        first_values: [first(reference), first(output)],
        level: Level::new(),
        way: Way::new(reference.format(), output.format()),
    };
    let (partial, sums) = all(&task, threads);
    Ok(Measures::new(&task, partial, &sums))
}

/// Looks at every element.
fn all(task: &Task<'_>, threads: usize) -> (Partial, Sums) {
    let length = task
        .elements
        .div_ceil(SEGMENTS)
        .next_multiple_of(BLOCK as u64)
        .max(SEGMENT);
    let segments = task.elements.div_ceil(length);
    let next = AtomicU64::new(0);
    let work = || {
        let mut partial = Partial::new(task);
        let mut room = Room::new();
        let mut sums = Vec::new();
        loop {
            let segment = next.fetch_add(1, Ordering::Relaxed);
            if segment >= segments {
                return (partial, sums);
            }
            let from = segment * length;
            let to = (from + length).min(task.elements);
            sums.push((segment, partial.segment(task, &mut room, from, to)));
        }
    };
    let threads = threads
        .min(usize::try_from(segments).unwrap_or(usize::MAX))
        .max(1);
    let (mut partial, mut sums) = if threads == 1 {
        work()
    } else {
        thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let (mut partial, mut sums) = work();
            for other in others {
                match other.join() {
                    Ok((part, more)) => {
                        partial.merge(part);
                        sums.extend(more);
                    }
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            (partial, sums)
        })
    };
    if task.elements == 0 {
        partial.is_reference_constant = false;
        partial.is_output_constant = false;
    }
    sums.sort_unstable_by_key(|(segment, _)| *segment);
    let sums: Vec<Sums> = sums.into_iter().map(|(_, sums)| sums).collect();
    (partial, sums::total(&sums))
}

#[cfg(test)]
mod tests;
