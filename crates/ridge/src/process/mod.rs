//! Other people's programs: where they are, what they read and print, who is asked when they are to end, and what became of
//! them.
//!
//! There are four ways to run one. A short answer has a limit in time and size ([`ask`]). A tool that answers by itself has a time limit, reads nothing, and ends with its children
//! when somebody wants the run to end ([`run`]). A program that is recorded ends by itself: what asks for an end is handed on
//! to it (`Recorder::run`). A profiler has heard a terminal's signal as well, and gets a while to write its report
//! (`verbs/collect`). All wait with [`watch`], and differ in what they do meanwhile.

mod answer;
mod end;
mod find;
mod signals;
mod streams;
mod tool;
mod watch;

use std::time::Duration;

pub(crate) use answer::{Answer, ask};
pub(crate) use find::find;
pub(crate) use signals::{Signals, signal_name};
pub(crate) use streams::{Stdin, Streams};
pub(crate) use tool::run;
pub(crate) use watch::watch;

/// How often a process is looked at.
pub(crate) const LOOK: Duration = Duration::from_millis(20);
