//! GPUs: one trait for those behind NVIDIA's driver and for simulated ones, with the vendor's libraries loaded at run
//! time where they are installed.
//!
//! Nothing is linked, and nothing here is needed to build or start the command: a library that is missing is an error
//! that says what was looked for. The crate does not look at the environment; the caller names the candidates. It does
//! not measure: order of operations, statistics and validity are the work of `ridge-bench`.
//!
//! ```
//! use ridge_gpu::{Access, Argument, Device, Dim3, Effect, Launch, Program, SimDevice, SimOptions, Work};
//! use ridge_model::NumberFormat;
//! use ridge_model::quantity::Nanos;
//!
//! let device = SimDevice::open(&SimOptions::named("h200").unwrap()).unwrap();
//! let compiled = device.compile(&Program {
//!     text: "extern \"C\" __global__ void scale(float* out, const float* in, int n) {}".to_owned(),
//!     name: "scale.cu".to_owned(),
//!     ..Program::default()
//! })?;
//! let module = device.load(&compiled.image)?;
//! let scale = device.function(&module, "scale")?;
//! let (input, output) = (device.allocate(1 << 28)?, device.allocate(1 << 28)?);
//! let reads = Access { buffer: &input, offset: 0, bytes: 1 << 28, times: 1.0, effect: Effect::Read };
//! let writes = Access {
//!     buffer: &output, offset: 0, bytes: 1 << 28, times: 1.0, effect: Effect::Write(NumberFormat::Fp32),
//! };
//! let launch = device.prepare(&Launch {
//!     function: &scale,
//!     grid: Dim3::linear(1 << 18),
//!     block: Dim3::linear(256),
//!     cluster: None,
//!     dynamic_shared_bytes: 0,
//!     arguments: &[Argument::buffer(&output), Argument::buffer(&input), Argument::I32(1 << 26)],
//!     work: Work { accesses: &[reads, writes], operations: &[], problem: 1 },
//! })?;
//! let (stream, start, stop) = (device.stream()?, device.event()?, device.event()?);
//! let block = device.block(&stream, Nanos::from_seconds(1.0))?;
//! device.record(&stream, &start)?;
//! device.launch(&stream, &launch)?;
//! device.record(&stream, &stop)?;
//! block.release();
//! device.synchronize(&stream, Nanos::from_seconds(1.0))?;
//! let time = device.elapsed(&start, &stop)?;
//! assert!(time > Nanos::new(100e3) && time < Nanos::new(200e3));
//! # Ok::<(), ridge_gpu::DeviceError>(())
//! ```

pub mod clocks;
mod cublaslt;
mod cuda;
mod device;
mod error;
mod nvml;
pub mod nvrtc;
mod search;
mod sim;
mod survey;

pub use cuda::{CudaDevice, CudaOptions};
pub use device::{
    Access, Argument, Block, Buffer, ClockProbe, ClockReading, Compiled, Device, DeviceKind, Dim3,
    Effect, Event, Flush, FlushKind, Function, FunctionAttributes, GpuProcess, Graph, Launch,
    MemoryInfo, Module, Operations, Peer, PeerBuffer, PeerLink, Pinned, Prepared, PreparedProduct,
    Product, Program, Properties, Readings, SensorSource, Stream, ThrottleReason, ThrottleReasons,
    WindowEnd, Work,
};
pub use error::{DeviceError, Fault, NoGpu, Result, Version};
pub use search::Search;
pub use sim::{
    Bimodal, Cheat, SimDevice, SimFault, SimFaultKind, SimOptions, SimOptionsError, Throttle,
};
pub use survey::{Opened, Seen, Survey, first_loadable, survey};
