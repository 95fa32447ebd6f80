//! Other people's programs: where they are, what they read and print, who is asked when they are to end, and what became of
//! them.
//!
//! There are three ways to run one. A tool that answers by itself has a time limit, reads nothing, and ends with its children
//! when somebody wants the run to end ([`run`]). A program that is recorded ends by itself: what asks for an end is handed on
//! to it (`Recorder::run`). A profiler has heard a terminal's signal as well, and gets a while to write its report
//! (`verbs/collect`). All three wait with [`watch`], and differ in what they do meanwhile.

mod end;
mod find;
mod signals;
mod streams;
mod tool;
mod watch;

use std::time::Duration;

pub(crate) use find::find;
pub(crate) use signals::{Signals, signal_name};
pub(crate) use streams::{Stdin, Streams};
pub(crate) use tool::run;
pub(crate) use watch::watch;

/// How often a process is looked at.
pub(crate) const LOOK: Duration = Duration::from_millis(20);
