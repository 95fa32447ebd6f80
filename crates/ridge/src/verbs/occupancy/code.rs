//! Kernels of compiled code: cubins, fat binaries, what `ptxas -v` prints, and source that is compiled first.

use ncu_rep::cubin::{Cubin, fatbin, ptxas};
use ridge_model::ComputeCapability;
use ridge_model::device::Origin;
use ridge_model::occupancy::document::{Given, Origins, SourceKind};
use ridge_model::occupancy::{Launch, Limit};

use super::Answer;
use super::report::capability;
use crate::demangle::demangle;
use crate::error::ExpectedError;
use crate::evidence::shown_name;
use crate::filter::{Address, LeftOut};

/// Threads in a block where neither the command line nor the code tells: the most usual size.
const USUAL_THREADS: u32 = 256;

/// Compiled code, its kernels read.
pub(super) struct Code {
    pub(super) kind: SourceKind,
    kernels: Vec<CodeKernel>,
    problems: Vec<ncu_rep::Error>,
}

/// A kernel as its compiler left it.
struct CodeKernel {
    name: String,
    capability: Option<ComputeCapability>,
    registers: u32,
    static_shared_bytes: u32,
    barriers: Option<u32>,
    stack_bytes: Option<u64>,
    spill_bytes: Option<u64>,
    /// Threads in a block, as `.reqntid` or `__launch_bounds__` states them.
    threads: Option<u32>,
    cluster: Option<u32>,
}

impl Code {
    /// Recognises compiled code and its relatives by content; `None` for anything else. Source is compiled for the
    /// target.
    pub(super) fn of_bytes(
        bytes: &[u8],
        address: &Address,
        target: Option<ComputeCapability>,
    ) -> Result<Option<Self>, ExpectedError> {
        let text = address.text();
        let file = shown_name(&text);
        let unreadable = |error: &ncu_rep::Error| {
            ExpectedError::unreadable(format!("cannot read {file}: {error}"))
        };
        if bytes.starts_with(b"\x7fELF") && !fatbin::looks_like(bytes) {
            let cubin = Cubin::parse(bytes).map_err(|error| unreadable(&error))?;
            let mut code = Self::new(SourceKind::Cubin);
            code.add(&cubin);
            return Ok(Some(code));
        }
        if fatbin::looks_like(bytes) {
            let (images, problems) = fatbin::images(bytes).map_err(|error| {
                unreadable(&error)
                    .with_hint("name a cubin, a fat binary, or a program with code for GPUs in it")
            })?;
            let mut code = Self::new(SourceKind::Fatbin);
            code.problems = problems;
            for image in images
                .iter()
                .filter(|image| image.kind == fatbin::Kind::Cubin)
            {
                let unpacked = image.unpack();
                match unpacked.as_ref().map(|bytes| Cubin::parse(bytes)) {
                    Ok(Ok(cubin)) => code.add(&cubin),
                    Ok(Err(error)) => code.problems.push(error),
                    Err(error) => code.problems.push(error.clone()),
                }
            }
            if code.kernels.is_empty() && code.problems.is_empty() {
                return Err(ExpectedError::unable(format!(
                    "{file} holds no compiled kernels: registers are known when PTX is compiled for a device"
                ))
                .with_hint("compile with -gencode arch=compute_90,code=sm_90, or your device's number"));
            }
            return Ok(Some(code));
        }
        if ptxas::looks_like(bytes) {
            let text = String::from_utf8_lossy(bytes);
            let mut code = Self::new(SourceKind::Ptxas);
            code.kernels = ptxas::read(&text)
                .iter()
                .map(CodeKernel::of_usage)
                .collect();
            return Ok(Some(code));
        }
        match source_language(bytes) {
            Some(Language::Cuda) => {
                let text = String::from_utf8_lossy(bytes);
                let cubin = crate::nvrtc::compile(&text, address, target)?;
                let cubin = Cubin::parse(&cubin).map_err(|error| unreadable(&error))?;
                let mut code = Self::new(SourceKind::CudaSource);
                code.add(&cubin);
                Ok(Some(code))
            }
            Some(Language::Ptx) => Err(ExpectedError::unable(format!(
                "{file} is PTX: registers of its kernels are known after it is compiled for a device"
            ))
            .with_hint(
                "`ptxas -v -arch=sm_90 -o kernels.cubin FILE.ptx` where there is a CUDA toolkit, and name the cubin",
            )),
            None => Ok(None),
        }
    }

    fn new(kind: SourceKind) -> Self {
        Self {
            kind,
            kernels: Vec::new(),
            problems: Vec::new(),
        }
    }

    fn add(&mut self, cubin: &Cubin<'_>) {
        self.problems.extend(cubin.problems().iter().cloned());
        let capability = capability(cubin.capability());
        let threads = |extent: [u32; 3]| {
            extent
                .into_iter()
                .try_fold(1_u32, u32::checked_mul)
                .filter(|threads| *threads > 0)
        };
        for function in cubin
            .functions()
            .iter()
            .filter(|function| function.is_kernel)
        {
            let Some(registers) = function.registers else {
                continue;
            };
            self.kernels.push(CodeKernel {
                name: demangle(&function.name).into_owned(),
                capability: Some(capability),
                registers,
                static_shared_bytes: u32::try_from(function.static_shared_bytes)
                    .unwrap_or(u32::MAX),
                barriers: Some(function.barriers),
                stack_bytes: function.stack_bytes.or(function.frame_bytes).map(u64::from),
                spill_bytes: None,
                threads: function
                    .required_threads
                    .or(function.max_threads)
                    .and_then(threads),
                cluster: function.cluster.and_then(threads),
            });
        }
    }
}

impl CodeKernel {
    fn of_usage(usage: &ptxas::Usage<'_>) -> Self {
        Self {
            name: demangle(usage.name).into_owned(),
            capability: usage.capability.map(capability),
            registers: usage.registers,
            static_shared_bytes: usage.shared_bytes,
            barriers: usage.barriers,
            stack_bytes: usage.stack_bytes.map(u64::from),
            spill_bytes: usage.spill_bytes.map(|(stores, _)| u64::from(stores)),
            threads: None,
            cluster: None,
        }
    }
}

/// Text that a compiler takes.
enum Language {
    Cuda,
    Ptx,
}

fn source_language(bytes: &[u8]) -> Option<Language> {
    /// A keyword stands near the beginning.
    const LOOKED_AT: usize = 1 << 20;
    let start = bytes.get(..LOOKED_AT).unwrap_or(bytes);
    // Exports of the profiler's source page hold the source too.
    if start.contains(&0) || ncu_rep::csv::looks_like(bytes) {
        return None;
    }
    let text = String::from_utf8_lossy(start);
    let is_target = |line: &str| line.trim_start().starts_with(".target sm_");
    if text.lines().any(is_target) {
        Some(Language::Ptx)
    } else {
        text.contains("__global__").then_some(Language::Cuda)
    }
}

impl Answer<'_> {
    /// Adds the kernels of compiled code. Code runs on devices of its major capability and at least its minor one.
    pub(super) fn add_code(
        &mut self,
        code: &Code,
        id: usize,
        address: &Address,
    ) -> Result<(), ExpectedError> {
        for problem in &code.problems {
            self.add_problem(id, problem);
        }
        let mut left_out = LeftOut::default();
        let (mut assumed, mut is_any, mut other) = (false, false, None);
        let best = self.best_of(code);
        for (index, kernel) in code.kernels.iter().enumerate() {
            let base = ridge_render::kernel_name::base_name(&kernel.name).to_owned();
            if !self
                .options
                .selection
                .selects(address, &base, &kernel.name, index)
            {
                left_out.add(&base, index);
                continue;
            }
            let wanted = self.known.capability;
            let Some(target) = wanted.or(kernel.capability) else {
                return Err(ExpectedError::usage(
                    "the text does not tell for which device it was compiled",
                )
                .with_hint("name it with --device NAME or --cc CAPABILITY"));
            };
            if kernel.capability.is_some_and(|own| !runs_on(own, target)) {
                other = kernel.capability;
                continue;
            }
            if wanted.is_some() && kernel.capability != best {
                continue;
            }
            is_any = true;
            let mut subject = self.subject(Some(id), target, Some(&kernel.name));
            subject.origins = Origins::all(Given::Code);
            let threads = kernel.threads.unwrap_or_else(|| {
                subject.origins.threads = Given::Assumed;
                assumed |= self.options.numbers.block.is_none();
                USUAL_THREADS
            });
            subject.origins.dynamic_shared = Given::Assumed;
            subject.launch = Launch {
                barriers: kernel.barriers,
                cluster: kernel.cluster,
                ..Launch::new(threads, kernel.registers).with_shared(kernel.static_shared_bytes, 0)
            };
            if let Some(most) = kernel.threads {
                // The compiler counted on no larger block, so that the driver refuses one.
                let known = subject.limits.threads_per_block.value;
                subject.limits.threads_per_block = Limit {
                    value: most.min(known),
                    origin: Origin::Attribute,
                };
            }
            subject.stack_bytes = kernel.stack_bytes;
            subject.spill_bytes = kernel.spill_bytes;
            self.add(subject)?;
        }
        if assumed {
            let message = format!(
                "code does not tell how it is launched: blocks of {USUAL_THREADS} threads are assumed where it names no \
                 size; say --block, and --smem for dynamic shared memory"
            );
            self.warn("assumed-block", message, Some(id));
        }
        if !is_any {
            if let (Some(own), Some(target)) = (other, self.known.capability) {
                return Err(ExpectedError::usage(format!(
                    "the code is for compute capability {own} and does not run on {target}"
                ))
                .with_hint(format!(
                    "--cc {own}, or compile it with -arch=sm_{}{}",
                    target.major, target.minor
                )));
            }
            if address.kernel.is_some() && !left_out.is_empty() {
                return Err(left_out.nothing_at(address));
            }
            if code.kernels.is_empty() {
                return Err(ExpectedError::unreadable(format!(
                    "{} holds no kernels",
                    shown_name(&address.text())
                )));
            }
        }
        self.left_out.merge(left_out);
        Ok(())
    }

    /// The code that the driver takes for the device of the command line: the highest that runs there.
    fn best_of(&self, code: &Code) -> Option<ComputeCapability> {
        let target = self.known.capability?;
        code.kernels
            .iter()
            .filter_map(|kernel| kernel.capability)
            .filter(|own| runs_on(*own, target))
            .max()
    }
}

fn runs_on(code: ComputeCapability, device: ComputeCapability) -> bool {
    code.major == device.major && code.minor <= device.minor
}
