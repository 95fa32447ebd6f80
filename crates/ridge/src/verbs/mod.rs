//! The verbs, one file each.

pub(crate) mod bench;
pub(crate) mod bound;
pub(crate) mod ceilings;
pub(crate) mod check;
pub(crate) mod checklist;
pub(crate) mod collect;
pub(crate) mod devices;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod gallery;
pub(crate) mod history;
pub(crate) mod learn;
pub(crate) mod lint;
pub(crate) mod narrowed;
pub(crate) mod numerics;
pub(crate) mod occupancy;
pub(crate) mod redact;
pub(crate) mod roofline;
pub(crate) mod sanitize;
pub(crate) mod timeline;
pub(crate) mod trace;
pub(crate) mod why;
