//! Vendor libraries, loaded at run time where they are installed: so far NVRTC, the compiler of CUDA source.
//!
//! Nothing is linked, and nothing here is needed to build or start the command: a library that is missing is an error
//! that says what was looked for. The crate does not look at the environment; the caller names the candidates.
//!
//! ```
//! use std::path::PathBuf;
//!
//! use ridge_gpu::nvrtc::{Compiler, Source};
//! use ridge_model::ComputeCapability;
//!
//! let candidates: Vec<PathBuf> = ridge_gpu::nvrtc::NAMES.iter().map(PathBuf::from).collect();
//! if let Ok(compiler) = Compiler::load(&candidates) {
//!     let source = Source {
//!         text: "extern \"C\" __global__ void one(int* out) { out[0] = 1; }",
//!         name: "one.cu",
//!         capability: ComputeCapability { major: 9, minor: 0 },
//!         include_paths: &[],
//!     };
//!     let compiled = compiler.compile(&source)?;
//!     assert!(compiled.cubin.starts_with(b"\x7fELF"));
//! }
//! # Ok::<(), ridge_gpu::nvrtc::CompileError>(())
//! ```

pub mod nvrtc;
