//! Records what a program does on the GPU, from inside the program.
//!
//! The driver loads the library that [`LIBRARY`] holds into every program that uses the GPU, where the environment names
//! it. The library finds CUPTI, NVIDIA's library for tools, asks it for records of activity, and appends them to a file
//! of its own in the folder that [`FOLDER`] names, one for each process. It prints nothing, ends nothing, and changes
//! nothing that the program can see; where it cannot record, the file says why.
//!
//! As a crate, this is the definition of that file ([`mod@format`]) and the library as bytes. Reading files back, and judging
//! what they hold, is no matter of this crate.
//!
//! ```
//! use ridge_injection::format::{self, ChunkKind};
//!
//! let mut file = format::header().to_vec();
//! format::chunk(ChunkKind::Strings, &[0, 0], &mut file);
//! assert_eq!(format::crc32(b"123456789"), 0xcbf4_3926);
//! assert_eq!(file.len(), format::HEADER_BYTES + format::CHUNK_HEADER_BYTES + 2);
//! ```
#![deny(unsafe_code)]

// What runs inside programs, which are those of one system; elsewhere the format is what there is.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod activity;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod cupti;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub mod entry;
pub mod format;
pub mod rank;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod recorder;
pub mod search;

/// The shared library, for the driver to load; empty where this build has none, since programs for this system could not
/// load it.
#[cfg(not(injected))]
pub const LIBRARY: &[u8] = include_bytes!(env!("RIDGE_INJECTION_LIBRARY"));

/// The variable of the environment that names the folder of the files.
pub const FOLDER: &str = "RIDGE_TRACE_FOLDER";
/// The variable of the environment that names CUPTI where it is not found, or is not the one that is wanted.
pub const CUPTI: &str = "RIDGE_CUPTI";
/// How the files of processes end.
pub const EXTENSION: &str = "part";
/// So often CUPTI is asked for what is complete: when a program dies without warning, what came later is lost.
pub const FLUSH_PERIOD_MS: u64 = 250;
