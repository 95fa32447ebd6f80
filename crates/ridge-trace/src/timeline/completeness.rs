//! What a trace does not hold. Absent is not zero: what nobody said is `None`.

use crate::error::Problem;

/// Records of one kind that were passed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The kind, as the input spells it.
    pub kind: String,
    /// How many.
    pub count: u64,
}

/// What a trace does not hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completeness {
    /// Records that the profiler says it lost.
    pub dropped: Option<u64>,
    /// Work that was joined with no call, although the trace has calls.
    pub unmatched: u64,
    /// How much of `unmatched` more than one process could have asked for, so that it is joined with none.
    pub ambiguous: u64,
    /// Records that contradict themselves, such as an end before a start; they are left out.
    pub contradictory: u64,
    /// Processes whose recording stops before they ended in an orderly way: something can be missing at its end.
    pub unended: u64,
    /// Kinds of records that no reader looks at.
    pub skipped: Vec<Skipped>,
    /// Whether the trace has calls of the host at all.
    pub has_calls: bool,
    /// Whether the trace has waits beside calls.
    pub has_synchronisations: bool,
    /// Whether graphs are in the trace as a whole, without their kernels.
    pub has_whole_graphs: bool,
    /// What could not be read.
    pub problems: Vec<Problem>,
}

impl Completeness {
    /// Counts a record that is passed over.
    pub fn skip(&mut self, kind: &str) {
        /// More kinds share one entry: an input cannot make the list long.
        const MOST: usize = 100;
        /// Longer kinds are cut.
        const LONGEST: usize = 60;
        let kind: String = kind.chars().take(LONGEST).collect();
        let is_known = |known: &Skipped| known.kind == kind;
        if let Some(known) = self.skipped.iter_mut().find(|known| is_known(known)) {
            known.count += 1;
        } else if self.skipped.len() < MOST {
            self.skipped.push(Skipped { kind, count: 1 });
        } else if let Some(last) = self.skipped.last_mut() {
            "others".clone_into(&mut last.kind);
            last.count += 1;
        }
    }

    /// Adds what could not be read; after many, no more.
    pub fn problem(&mut self, problem: Problem) {
        const MOST: usize = 100;
        if self.problems.len() < MOST {
            self.problems.push(problem);
        }
    }
}
