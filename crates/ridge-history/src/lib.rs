//! Past results: what was measured when, on which machine, of which commit.
//!
//! A [`Record`] is one result of `ridge bench`, `why`, `trace` or `ceilings` with its whole document and the numbers in it
//! that make series. Its [`Id`] is a hash of its content, so that stores of many machines are merged without duplicates. A
//! [`Store`] keeps records: a file of SQLite, or a PostgreSQL server for a team.
//!
//! The crate does not measure, compare or print. It knows no clock and no environment: what a document does not tell comes
//! in as [`Circumstances`]. It opens the files and connections that it is told to.
//!
//! ```
//! use ridge_history::{Circumstances, Record};
//!
//! let document = br#"{"schema": "ridgepoint.bench", "version": 1, "benchmark": "copy", "states": [{"name": "scalar",
//!     "status": "valid", "modes": [{"mode": "cold", "invalid": [], "samples": 40, "median_ns": 29888.0}]}]}"#;
//! let record = Record::of_document(document, Circumstances::default())?;
//! assert_eq!(record.points[0].subject, "copy/scalar");
//! assert_eq!(record.points[0].metric, "time.cold");
//! # Ok::<(), ridge_history::Error>(())
//! ```
#![forbid(unsafe_code)]

pub mod address;
pub mod changes;
mod document;
mod error;
pub mod exchange;
mod extract;
mod filter;
mod id;
pub mod json;
#[cfg(feature = "parquet")]
pub mod parquet;
mod point;
#[cfg(feature = "postgres")]
pub mod postgres;
mod record;
mod rows;
mod sql;
mod sqlite;
mod store;
mod timestamp;

pub use document::Packed;
pub use error::Error;
pub use filter::Filter;
pub use id::{Id, IdPrefix};
pub use point::{Observation, Point, Series, SeriesKey};
pub use record::{Circumstances, ClockRange, Gpu, Head, Kind, Labels, Record, Revision};
pub use sqlite::SqliteStore;
pub use store::{Batch, Inserted, Store, copy};
pub use timestamp::Timestamp;
