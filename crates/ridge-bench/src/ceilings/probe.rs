//! Kernels of our own: compiled, with what they have to leave behind.

use std::rc::Rc;

use ridge_gpu::{
    Access, Argument, Buffer, Device, DeviceError, Dim3, Effect, Function, Launch, Module,
    Operations, Prepared, Program, Work,
};

use super::document::{Family, Figure, Path, Spread, Unit};
use super::runner::{Outcome, Runner};
use crate::protocol::{Failure, FailureKind};

/// Kernels of one source, by the expressions that name them.
pub(super) struct Kernels {
    module: Module,
    names: Vec<(String, String)>,
}

impl Kernels {
    /// Compiles the kernels that the expressions name.
    pub(super) fn compile(
        device: &dyn Device,
        name: &str,
        text: &str,
        expressions: &[String],
    ) -> Result<Self, DeviceError> {
        let compiled = device.compile(&Program {
            text: text.to_owned(),
            name: name.to_owned(),
            name_expressions: expressions.to_vec(),
            ..Program::default()
        })?;
        Ok(Self {
            module: device.load(&compiled.image)?,
            names: expressions
                .iter()
                .cloned()
                .zip(compiled.lowered_names)
                .collect(),
        })
    }

    /// A kernel by its expression.
    pub(super) fn function(
        &self,
        device: &dyn Device,
        expression: &str,
    ) -> Result<Function, DeviceError> {
        let name = self
            .names
            .iter()
            .find(|(known, _)| known == expression)
            .map_or(expression, |(_, name)| name);
        device.function(&self.module, name)
    }
}

/// A kernel with its launch.
pub(super) struct Shape<'s> {
    pub(super) function: &'s Function,
    pub(super) blocks: u32,
    pub(super) threads: u32,
    pub(super) arguments: &'s [Argument<'s>],
    /// What a simulated device is told.
    pub(super) accesses: &'s [Access<'s>],
    pub(super) operations: &'s [Operations],
}

impl Shape<'_> {
    pub(super) fn prepare(&self, device: &dyn Device) -> Result<Prepared, DeviceError> {
        device.prepare(&Launch {
            function: self.function,
            grid: Dim3::linear(self.blocks),
            block: Dim3::linear(self.threads),
            cluster: None,
            dynamic_shared_bytes: 0,
            arguments: self.arguments,
            work: Work {
                accesses: self.accesses,
                operations: self.operations,
                problem: 1,
            },
        })
    }
}

/// Fills large buffers with an image that is repeated.
pub(super) struct Spreader {
    function: Function,
}

impl Spreader {
    pub(super) fn new(device: &dyn Device) -> Result<Self, DeviceError> {
        let kernels = Kernels::compile(
            device,
            "dram.cu",
            include_str!("kernels/dram.cu"),
            &["spread".to_owned()],
        )?;
        Ok(Self {
            function: kernels.function(device, "spread")?,
        })
    }

    /// Fills a buffer. The image has a power of two of 16 bytes.
    pub(super) fn fill(
        &self,
        runner: &Runner<'_>,
        buffer: &Buffer,
        image: &[u8],
    ) -> Result<(), Failure> {
        let device = runner.device;
        let bytes = image.len() as u64;
        let pattern = device.allocate(bytes)?;
        device.write(&pattern, 0, image)?;
        let image: Rc<[u8]> = image.into();
        let launch = Shape {
            function: &self.function,
            blocks: device.properties().multiprocessors * 4,
            threads: 512,
            arguments: &[
                Argument::buffer(buffer),
                Argument::buffer(&pattern),
                Argument::U64(buffer.bytes() / 16),
                Argument::U64(bytes / 16),
            ],
            accesses: &[
                reads(&pattern, bytes, 1.0),
                writes(buffer, buffer.bytes(), &image),
            ],
            operations: &[],
        }
        .prepare(device)?;
        device.launch(&runner.stream, &launch)?;
        runner.synchronize()?;
        Ok(())
    }
}

/// That memory is read.
pub(super) const fn reads(buffer: &Buffer, bytes: u64, times: f64) -> Access<'_> {
    Access {
        buffer,
        offset: 0,
        bytes,
        times,
        effect: Effect::Read,
    }
}

/// That memory is written with known bytes, again and again.
pub(super) fn writes<'b>(buffer: &'b Buffer, bytes: u64, pattern: &Rc<[u8]>) -> Access<'b> {
    Access {
        buffer,
        offset: 0,
        bytes,
        times: 1.0,
        effect: Effect::WriteBytes(Rc::clone(pattern)),
    }
}

/// The most that is looked at of an output.
const LOOKED_AT: u64 = 1 << 20;

/// Compares the start of an output with a pattern that is repeated in it, and gives the checksum of what is there.
pub(super) fn check(
    runner: &Runner<'_>,
    what: &str,
    buffer: &Buffer,
    pattern: &[u8],
) -> Result<String, Failure> {
    let found = contents(runner, buffer)?;
    let differs = found
        .iter()
        .zip(pattern.iter().cycle())
        .position(|(found, expected)| found != expected);
    match differs {
        None => Ok(checksum(&found)),
        Some(place) => Err(wrong(format!(
            "{what} left something else than it has to at byte {place} of its output"
        ))),
    }
}

/// The start of a buffer.
pub(super) fn contents(runner: &Runner<'_>, buffer: &Buffer) -> Result<Vec<u8>, Failure> {
    runner.synchronize()?;
    let mut found = vec![0; buffer.bytes().min(LOOKED_AT) as usize];
    runner.device.read(buffer, 0, &mut found)?;
    Ok(found)
}

/// That work was not done as it has to be.
pub(super) fn wrong(message: String) -> Failure {
    Failure {
        code: "BEN0020".to_owned(),
        kind: FailureKind::Fault,
        message,
        hint: Some(
            "a GPU that computes wrong numbers needs a look: `nvidia-smi -q -d ECC`, then run it again".to_owned(),
        ),
        log: None,
    }
}

/// 64 bits that all bytes went into (FNV-1a).
pub(super) fn checksum(bytes: &[u8]) -> String {
    let mut sum = 0xcbf2_9ce4_8422_2325_u64;
    for byte in bytes {
        sum = (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    format!("{sum:016x}")
}

/// Random words from a seed (the finaliser of SplitMix64): equal everywhere.
pub(super) fn random_words(count: usize, seed: u64) -> Vec<u32> {
    (0..count as u64)
        .map(|place| {
            let mut x = place
                .wrapping_add(seed << 32)
                .wrapping_add(1)
                .wrapping_mul(0x9e37_79b9_7f4a_7c15);
            x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (x ^ (x >> 31)) as u32
        })
        .collect()
}

/// Random numbers from -1 to 1.
pub(super) fn random_floats(count: usize, seed: u64) -> Vec<f32> {
    random_words(count, seed)
        .into_iter()
        .map(|word| (word >> 8) as f32 / 8_388_608.0 - 1.0)
        .collect()
}

/// The bytes of words.
pub(super) fn bytes_of(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// What a figure is called and counts.
pub(super) struct Label<'l> {
    pub(super) id: &'l str,
    pub(super) family: Family,
    pub(super) name: &'l str,
    pub(super) path: Path,
    pub(super) format: Option<&'l str>,
    pub(super) unit: Unit,
    pub(super) counts: &'l str,
}

impl Label<'_> {
    /// The figure of an outcome.
    pub(super) fn figure(&self, runner: &Runner<'_>, outcome: Outcome, variant: &str) -> Figure {
        let sms = f64::from(runner.device.properties().multiprocessors);
        let per_sm_cycle = outcome
            .burst
            .sm_clock_hz
            .filter(|clock| *clock > 0.0)
            .map(|clock| outcome.burst.median / (clock * sms));
        Figure {
            sustained: outcome.sustained,
            per_sm_cycle,
            ..self.named(variant, outcome.burst)
        }
    }

    /// The figure of repeats, and nothing else.
    pub(super) fn named(&self, variant: &str, burst: Spread) -> Figure {
        Figure {
            id: self.id.to_owned(),
            family: self.family,
            name: self.name.to_owned(),
            path: self.path,
            format: self.format.map(str::to_owned),
            unit: self.unit,
            counts: self.counts.to_owned(),
            variant: variant.to_owned(),
            burst,
            sustained: None,
            per_sm_cycle: None,
            architecture_per_sm_cycle: None,
            peak: None,
            checksum: None,
            details: Vec::new(),
            peer: None,
        }
    }
}
