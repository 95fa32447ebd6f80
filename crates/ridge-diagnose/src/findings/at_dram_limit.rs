//! The kernel moves bytes about as fast as device memory can.
//!
//! # What it says
//! The DRAM interface is busy for nearly as much of the duration as any kernel achieves. No rearrangement of the same
//! traffic makes it faster.
//!
//! # Evidence
//! Bytes read and written against width × clock of this run, and the attainable part of that peak.
//!
//! # Why it costs time
//! It does not: this is the roof.
//!
//! # What to do
//! Move fewer bytes: fuse with the kernels before and after, keep data on chip, use a smaller type, skip what is not
//! needed, use another algorithm.
//!
//! Where the compulsory bytes were given (`ridge why --bytes`), the verdict says whether any bytes are left to save, and
//! the bound is that of a kernel which moves these alone.
//!
//! # When it is wrong
//! When much of the traffic is not needed: excess sectors, data that crosses the interface twice, spills. Those are
//! findings of their own and take this verdict's place when they promise a tenth or more.
//!
//! # References
//! `docs/design/ledger.md`, section on attainable peaks.

use ridge_model::quantity::Bytes;

use super::Outcome;
use super::redundant_traffic::Excess;
use crate::attainable::attainable;
use crate::case::Case;
use crate::document::{Confidence, Direction, Evidence, Finding, Verify};
use crate::ledger::{Resource, Stage};

pub(super) const ID: &str = "at-dram-limit";

/// A kernel is at the limit when less than a tenth of its time lies between it and the attainable roof.
const WITHIN: f64 = 0.10;
const NEEDS: &[&str] = &["SpeedOfLight"];

pub(super) fn check(case: &Case<'_, '_>) -> Outcome {
    let Some(seen) = Seen::of(case) else {
        return Outcome::NotChecked(NEEDS);
    };
    let attainable = attainable(Stage::DramBytes);
    let gap = (1.0 - seen.share / attainable.share).max(0.0);
    if gap > WITHIN || !seen.is_busiest {
        return Outcome::Clear;
    }
    let next = case.ledger.by_resource().get(1).map(|row| row.resource);
    let seen_as = |metric: String, value: f64, unit: &str| Evidence {
        metric,
        value,
        unit: unit.to_owned(),
        healthy: None,
    };
    let mut evidence = vec![seen.evidence];
    // Both directions share the interface; which of them fills it tells where to look for bytes to save.
    for metric in ["dram__bytes_read.sum", "dram__bytes_write.sum"] {
        let bytes = case.number(metric);
        evidence.extend(bytes.map(|bytes| seen_as(metric.to_owned(), bytes, "byte")));
    }
    evidence.push(Evidence {
        metric: format!(
            "busy share, against what is attained ({})",
            attainable.source
        ),
        value: seen.share,
        unit: "fraction".to_owned(),
        healthy: Some(attainable.share),
    });
    let excess = Excess::of(case);
    if let Some(excess) = &excess {
        evidence.push(Evidence {
            metric: "bytes moved, against the bytes given on the command line".to_owned(),
            value: excess.moved,
            unit: "byte".to_owned(),
            healthy: Some(excess.given),
        });
    }
    // The bound of the same traffic, or of the compulsory part of it where that is known and clearly less.
    let bound = excess
        .as_ref()
        .filter(|excess| excess.is_clear())
        .and_then(|excess| excess.bound_without(case))
        .unwrap_or(seen.share);
    Outcome::Found(Box::new(Finding {
        id: ID.to_owned(),
        title: format!(
            "device memory is busy for {:.0} % of the time; about {:.0} % is what kernels attain{}",
            100.0 * seen.share,
            100.0 * attainable.share,
            excess.as_ref().map_or_else(String::new, against_compulsory)
        ),
        saving_ceiling: (1.0 - bound).max(gap).clamp(0.0, 1.0),
        saving_expected: gap,
        next_limit: next,
        confidence: seen.confidence,
        evidence,
        actions: actions(excess.as_ref()),
        verify: vec![Verify {
            metric: "dram__bytes_read.sum".to_owned(),
            direction: Direction::Down,
            target: None,
        }],
        locations: Vec::new(),
    }))
}

/// What the bytes that were given add to the verdict.
fn against_compulsory(excess: &Excess) -> String {
    let given = Bytes::new(excess.given);
    if excess.is_clear() {
        format!(
            "; it moves {:.2} times the {given} that are compulsory",
            excess.factor()
        )
    } else {
        format!(
            "; it moves {:.2} times the {given} that are compulsory, so that no traffic is left to save",
            excess.factor()
        )
    }
}

/// What remains: needless bytes first, where there are any, else fewer bytes that are needed.
fn actions(excess: Option<&Excess>) -> Vec<String> {
    const SMALLER: &str = "use a smaller type where the numbers allow it";
    const FUSE: &str = "fuse with the kernels that produce and consume the data";
    let actions: [String; 3] = match excess {
        None => [
            format!("move fewer bytes: {FUSE}"),
            SMALLER.to_owned(),
            "change the algorithm, so that data stays in registers, shared memory or L2 between uses".to_owned(),
        ],
        Some(excess) if excess.is_clear() => [
            format!(
                "move only what is compulsory: {} of {} are not",
                Bytes::new(excess.moved - excess.given),
                Bytes::new(excess.moved)
            ),
            "read each input once and write each output once; keep the rest in registers, shared memory or L2".to_owned(),
            SMALLER.to_owned(),
        ],
        Some(_) => [
            format!("make fewer bytes compulsory: {FUSE}"),
            SMALLER.to_owned(),
            "use an algorithm that needs less data".to_owned(),
        ],
    };
    actions.to_vec()
}

/// How busy the interface is: from the ledger, else from the profiler's own percentage.
struct Seen {
    share: f64,
    is_busiest: bool,
    confidence: Confidence,
    evidence: Evidence,
}

impl Seen {
    fn of(case: &Case<'_, '_>) -> Option<Self> {
        if let Some(row) = case.ledger.row(Stage::DramBytes) {
            return Some(Self {
                share: row.busy_share,
                is_busiest: case
                    .ledger
                    .busiest()
                    .is_some_and(|busiest| busiest.stage == Stage::DramBytes),
                confidence: Confidence::High,
                evidence: Evidence {
                    metric: row.source.join(", "),
                    value: row.demand,
                    unit: row.unit.to_owned(),
                    healthy: None,
                },
            });
        }
        let mut members = case
            .speed_of_light
            .members
            .iter()
            .filter(|member| member.resource.is_some());
        let busiest = members.clone().next()?.resource;
        let member = members.find(|member| member.resource == Some(Resource::Dram))?;
        Some(Self {
            share: member.share,
            is_busiest: busiest == Some(Resource::Dram),
            confidence: Confidence::Medium,
            evidence: Evidence {
                metric: member.metric.clone(),
                value: 100.0 * member.share,
                unit: "%".to_owned(),
                healthy: Some(100.0 * attainable(Stage::DramBytes).share),
            },
        })
    }
}
