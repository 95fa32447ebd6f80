//! The command as users meet it: arguments in; standard output, standard error, files and exit code out.

mod bench;
mod bound;
mod ceilings;
mod check;
mod checklist;
#[cfg(target_os = "linux")]
mod clocks;
#[cfg(unix)]
mod collect;
mod compulsory;
mod devices;
mod diff;
mod disassembly;
mod doctor;
mod driver;
mod errors;
mod explain;
mod export;
mod extremes;
mod gallery;
mod history;
mod hostile;
mod json;
mod junit;
mod learn;
mod lint;
mod numerics;
mod numerics_operations;
mod occupancy;
mod pages;
mod ranks;
mod readme;
mod redact;
mod roofline;
mod sanitize;
mod sarif;
mod schema;
mod series;
#[cfg(unix)]
mod stores;
mod timeline;
mod trace;

use driver::root;
