//! From counters to verdicts: what limits a kernel, what is wrong with it, and what each remedy can save at most.
//!
//! The crate takes a [`KernelProfile`] (counters of one workload, whatever file they came from), sets up the
//! [`Ledger`] of demand against capacity, and asks one check after the other what the ledger would look like without a
//! flaw. It reads no file, prints nothing and renders nothing: the answer is a [`document::Document`].
//!
//! ```
//! # fn main() -> Result<(), ncu_rep::Error> {
//! # let file = include_bytes!("../../../fixtures/reports/vadd.ncu-rep.zst");
//! let unpacked = ncu_rep::unpack(file, ncu_rep::default_limit(file.len() as u64));
//! let report = ncu_rep::Report::parse(&unpacked.bytes)?;
//! let profile = report.profile(1).expect("the fixture holds two kernels");
//! let metrics = profile.metrics().value;
//! let architecture = ridge_model::Architecture::of(ridge_model::ComputeCapability { major: 9, minor: 0 });
//! let ledger = ridge_diagnose::Ledger::new(&metrics, architecture.as_ref());
//! let busiest = ledger.busiest().expect("a full report gives a full ledger");
//! assert_eq!(busiest.resource, ridge_diagnose::Resource::Dram);
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

pub mod attainable;
mod case;
mod clock;
mod code;
mod compulsory;
mod counters;
mod diagnose;
pub mod document;
mod findings;
mod hot_lines;
mod latency;
mod ledger;
mod limiter;
mod measured;
mod mix;
mod outlook;
mod pages;
mod profile;
mod ranks;
pub mod roofline;
mod samples;
mod sequence;
mod settle;
mod speed_of_light;
mod stalls;
mod totals;
mod work;

pub use clock::SmClock;
pub use code::CodeMap;
pub use compulsory::Given;
pub use diagnose::{Group, Needs, Options, diagnose, needs};
pub use findings::{ids, is_verdict};
pub use ledger::{Class, Ledger, Relief, Resource, Row, Stage};
pub use limiter::BUSY;
pub use measured::at_measured;
pub use mix::InstructionMix;
pub use pages::{findings_that_name, page, page_ids};
pub use profile::{GroupKey, KernelProfile};
pub use ranks::ranks;
pub use sequence::report_findings;
pub use speed_of_light::{Member, SpeedOfLight};
pub use stalls::{meaning as stall_meaning, reasons as stall_reasons};
pub use totals::totals;
