//! Measuring kernels: specs that describe them, protocols that time them, and checks that make a time valid.
//!
//! [`spec`] reads what is to be measured, [`protocol`] measures it on a [`ridge_gpu::Device`], and [`verdict`] says what
//! the samples come to: whether they are valid, how far they are from the bounds, and which state is best. The crate reads
//! no files, prints nothing and knows no clock but the device's.
//!
//! ```
//! use ridge_bench::check::Rule;
//! use ridge_bench::expression::Names;
//! use ridge_bench::protocol::{Right, Settings, Source, Task, floors, measure};
//! use ridge_bench::spec::Spec;
//! use ridge_gpu::{SimDevice, SimOptions};
//!
//! let spec = Spec::read(
//!     r#"
//!     [buffers]
//!     in = { type = "f32", length = 1_000_000, init = "random", seed = 1 }
//!     out = { type = "f32", length = 1_000_000 }
//!     [kernels.copy]
//!     entry = "copy"
//!     grid = 1000
//!     block = 256
//!     args = ["out", "in"]
//!     "#,
//! )?;
//! let names = Names::default();
//! let state = &spec.states(&names)?[0];
//! let task = Task {
//!     job: spec.job(state, &names)?,
//!     source: Source {
//!         name: "copy.cu".to_owned(),
//!         content: b"extern \"C\" __global__ void copy(float* out, const float* in) { }".to_vec(),
//!         options: Vec::new(),
//!         include_paths: Vec::new(),
//!     },
//!     right: Right::Unknown,
//!     rule: Rule::new(spec.check.mode, spec.check.tolerance),
//! };
//! let device = SimDevice::open(&SimOptions::named("h200")?)?;
//! let settings = Settings::default();
//! let floors = floors(&device, &settings)?;
//! let found = measure(&device, &task, &settings, &floors, &mut |_| {})?;
//! assert!(found.modes[0].times_ns.len() >= 30);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod ceilings;
pub mod check;
pub mod document;
pub mod expression;
mod machine;
mod parallel;
pub mod protocol;
pub mod spec;
pub mod verdict;
