//! What a program did with its GPUs over time: traces become a [`Timeline`], whatever wrote them.
//!
//! The crate is pure: bytes in, values out. It opens no file, prints nothing and renders nothing. A reader fills a
//! [`Builder`], whose [`Timeline`] has its records in order of time and each piece of work joined with the call that
//! asked for it.
//!
//! ```
//! use ridge_trace::{Api, Builder, Correlation, Launch, NewCall, NewWork, SourceKind};
//!
//! let mut builder = Builder::new(SourceKind::Recording);
//! let process = builder.process(42);
//! let thread = builder.thread(process, 42);
//! let stream = builder.stream(Some(process), 0, Some(1), 7);
//! let name = builder.name("cudaLaunchKernel");
//! let correlation = Correlation::new(1);
//! builder.push_call(NewCall { start_ns: 1_000, end_ns: 6_000, name, api: Api::Runtime, thread, correlation });
//! let name = builder.name("triad");
//! let launch = builder.launch(Launch { grid: Some([256, 1, 1]), ..Launch::default() });
//! let new = NewWork { start_ns: 9_000, end_ns: 20_000, stream, correlation, graph: None };
//! builder.push_kernel(new, name, launch);
//! let timeline = builder.finish();
//! let call = timeline.call_of(&timeline.work[0]).expect("the kernel was launched by the call");
//! assert_eq!(timeline.work[0].start_ns - call.start_ns, 8_000);
//! ```
#![forbid(unsafe_code)]

mod analysis;
pub mod chrome;
pub mod document;
mod error;
mod findings;
pub mod lanes;
pub mod native;
pub mod nsys;
mod pages;
pub mod range;
pub mod ranks;
mod timeline;

/// Reads a trace, whatever wrote it; its kind is recognised by its content.
///
/// # Errors
/// When nothing of it can be read.
pub fn read(input: &[u8]) -> Result<Timeline, Error> {
    if native::is_recording(input) {
        native::read(input)
    } else if nsys::is_database(input) {
        nsys::read(input)
    } else if chrome::is_json(input) {
        chrome::read(input)
    } else {
        Err(Error::unknown(input))
    }
}

pub use analysis::{HostLink, ReadBacks, analyse, kernels, read_backs};
pub use error::{Error, Problem};
pub use pages::{page, page_ids};
pub use timeline::{
    Annotation, AnnotationKind, Api, Builder, Call, CallClass, Completeness, Copied, CopyKind,
    Correlation, Device, Graph, Launch, LaunchId, Memory, NameId, Names, NewCall, NewWork,
    Overhead, Process, ProcessId, Rank, Skipped, SourceKind, Stream, StreamId, SyncKind,
    Synchronisation, Thread, ThreadId, Timeline, Window, Work, WorkKind,
};
