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
//! # When it is wrong
//! When much of the traffic is not needed: excess sectors, data that crosses the interface twice, spills. Those are
//! findings of their own and take this verdict's place when they promise a tenth or more.
//!
//! # References
//! `docs/design/ledger.md`, section on attainable peaks.

use super::Outcome;
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
    let source = format!("attainable share of the DRAM peak ({})", attainable.source);
    evidence.push(seen_as(source, attainable.share, "fraction"));
    Outcome::Found(Box::new(Finding {
        id: ID.to_owned(),
        title: format!(
            "device memory is busy for {:.0} % of the time; about {:.0} % is what kernels attain",
            100.0 * seen.share,
            100.0 * attainable.share
        ),
        saving_ceiling: (1.0 - seen.share).clamp(0.0, 1.0),
        saving_expected: gap,
        next_limit: next,
        confidence: seen.confidence,
        evidence,
        actions: vec![
            "move fewer bytes: fuse with the kernels that produce and consume the data".to_owned(),
            "use a smaller type where the numbers allow it".to_owned(),
            "change the algorithm, so that data stays in registers, shared memory or L2 between uses".to_owned(),
        ],
        verify: vec![Verify { metric: "dram__bytes_read.sum".to_owned(), direction: Direction::Down, target: None }],
        locations: Vec::new(),
    }))
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
                healthy: None,
            },
        })
    }
}
