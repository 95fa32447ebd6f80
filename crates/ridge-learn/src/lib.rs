//! What is taught: lessons with practice questions, and the gallery of kernels that are slow for one reason.
//!
//! A question is generated from a device of the table or from a report of the gallery, and its right answer is computed by
//! the crates that also answer the command's users: bounds and occupancy by `ridge-model`, comparisons by `ridge-stats`,
//! formats by `ridge-numerics`, diagnoses by `ridge-diagnose`. The crate reads no file, prints nothing and asks nobody:
//! lessons, questions, judgements and progress are values.
//!
//! ```
//! use ridge_learn::{Material, Outcome, Round, gallery, lesson};
//!
//! let material = Material {
//!     device: ridge_model::Devices::known().find("h200").unwrap(),
//!     cases: gallery::cases(),
//! };
//! let mut round = Round::new(lesson::find("two-walls"), &material, 1);
//! let (number, _, question) = round.current().unwrap();
//! assert_eq!(number, 1);
//! let judgement = question.judge("?");
//! assert_eq!(judgement.outcome, Outcome::Skipped);
//! round.take("?", judgement);
//! assert_eq!(round.score(), (0, 1));
//! ```
#![forbid(unsafe_code)]

pub mod document;
pub mod gallery;
pub mod lesson;
mod practice;
pub mod progress;
mod question;
mod round;

pub use lesson::{LESSONS, Lesson};
pub use practice::Material;
pub use progress::Progress;
pub use question::{Answer, Choice, Judgement, Mistake, Outcome, Question, TOLERANCE, letter};
pub use round::{QUESTIONS, Round};
