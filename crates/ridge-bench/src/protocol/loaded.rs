//! A job on a device: memory that is filled, and launches that are laid out.

use std::thread;

use ridge_gpu::{
    Argument, Buffer, Device, DeviceError, Dim3, Function, Graph, Launch, Module, Prepared, Stream,
    Work,
};
use ridge_model::quantity::Nanos;

use super::truth;
use crate::check::Expected;
use crate::parallel;
use crate::spec::job::{Job, JobArgument};
use crate::spec::{ElementType, Elements};

/// Bytes that are made and copied at once: enough that all processors have something to do.
const CHUNK: u64 = 16 << 20;
/// Bytes of each buffer that are made for a device that computes nothing from them.
const SIMULATED: u64 = 1 << 10;

/// Bytes of each output that are looked at on such a device: what it writes repeats.
const SIMULATED_OUTPUT: u64 = 1 << 20;

/// Makes elements, by all processors, as many as there is room for.
fn make(elements: &Elements, from: u64, out: &mut [u8]) {
    parallel::fill(out, elements.kind.size(), |first, part| {
        elements.write(from + first, part);
    });
}

/// A variable of the module that is a buffer of the spec.
fn variable(
    device: &dyn Device,
    module: &Module,
    name: &str,
    buffer: &str,
    bytes: u64,
) -> Result<Buffer, DeviceError> {
    device
        .global(module, name, bytes)
        .map_err(|error| match error {
            DeviceError::OutOfRange { size, .. } => DeviceError::InvalidLaunch {
                reason: format!(
                    "the buffer {buffer} takes {bytes} bytes, and the variable {name} has {size}"
                ),
            },
            other => other,
        })
}

/// A job on a device.
pub(super) struct Loaded<'d> {
    pub(super) device: &'d dyn Device,
    pub(super) stream: Stream,
    buffers: Vec<Buffer>,
    /// Copies of the buffers that launches change and that have to start with something, by number.
    pristine: Vec<(usize, Buffer)>,
    pub(super) launches: Vec<Prepared>,
    /// How often they are run in a sample.
    pub(super) repeat: u32,
    pub(super) functions: Vec<Function>,
    timeout: Nanos,
}

impl<'d> Loaded<'d> {
    /// Allocates and fills memory, and lays launches out. `declared`: what outputs are on a simulated device.
    pub(super) fn new(
        device: &'d dyn Device,
        module: &Module,
        job: &Job,
        declared: &[Expected],
        timeout: Nanos,
    ) -> Result<Self, DeviceError> {
        let stream = device.stream()?;
        let mut buffers = Vec::new();
        for buffer in &job.buffers {
            let bytes = buffer.elements.bytes();
            buffers.push(match &buffer.symbol {
                Some(name) => variable(device, module, name, &buffer.name, bytes)?,
                None => device.allocate(bytes)?,
            });
        }
        let mut pristine = Vec::new();
        for (place, buffer) in job.buffers.iter().enumerate() {
            if buffer.output.is_some() && !buffer.elements.is_poison() {
                pristine.push((place, device.allocate(buffer.elements.bytes())?));
            }
        }
        let mut functions: Vec<Function> = Vec::new();
        let mut launches = Vec::new();
        for (place, launch) in job.launches.iter().enumerate() {
            let function = device.function(module, &launch.entry)?;
            let accesses = truth::accesses(job, place, &buffers, declared);
            let operations = truth::operations(job);
            let arguments: Vec<Argument<'_>> = launch
                .args
                .iter()
                .map(|argument| match argument {
                    JobArgument::Buffer(place) => Argument::buffer(&buffers[*place]),
                    JobArgument::Scalar(bytes) => Argument::Bytes(bytes),
                })
                .collect();
            let dim = |sizes: [u32; 3]| Dim3::new(sizes[0], sizes[1], sizes[2]);
            launches.push(device.prepare(&Launch {
                function: &function,
                grid: dim(launch.grid),
                block: dim(launch.block),
                cluster: launch.cluster.map(dim),
                dynamic_shared_bytes: launch.shared,
                arguments: &arguments,
                work: Work {
                    accesses: &accesses,
                    operations: &operations,
                    problem: 1,
                },
            })?);
            functions.push(function);
        }
        let mut loaded = Self {
            device,
            stream,
            buffers,
            pristine,
            launches,
            repeat: job.repeat,
            functions,
            timeout,
        };
        loaded.fill(job, 0)?;
        Ok(loaded)
    }

    /// Gives all buffers what they start with; another `generation` has other random numbers.
    pub(super) fn fill(&mut self, job: &Job, generation: u32) -> Result<(), DeviceError> {
        for (place, buffer) in job.buffers.iter().enumerate() {
            let elements = buffer.elements.of_generation(generation);
            if elements.is_poison() {
                self.device
                    .fill(&self.stream, &self.buffers[place], ElementType::POISON)?;
                continue;
            }
            let size = elements.kind.size() as u64;
            // A simulated device computes nothing from what is in memory, so the head has to do.
            let made = if self.device.properties().is_simulated() {
                self.device.fill(&self.stream, &self.buffers[place], 0)?;
                self.device.synchronize(&self.stream, self.timeout)?;
                elements.length.min(SIMULATED / size)
            } else {
                elements.length
            };
            self.write(&self.buffers[place], &elements, made)?;
        }
        for (place, copy) in &self.pristine {
            self.device
                .copy(&self.stream, &self.buffers[*place], copy, copy.bytes())?;
        }
        self.device.synchronize(&self.stream, self.timeout)
    }

    /// Makes elements and copies them to a buffer. The next ones are made while the last ones are copied.
    fn write(&self, to: &Buffer, elements: &Elements, count: u64) -> Result<(), DeviceError> {
        let size = elements.kind.size() as u64;
        let each = CHUNK / size;
        let room = |count: u64| vec![0; usize::try_from(count * size).unwrap_or(0)];
        let (mut made, mut next) = (
            room(each.min(count)),
            room(each.min(count.saturating_sub(each))),
        );
        make(elements, 0, &mut made);
        let mut from = 0;
        while from < count {
            let behind = from + each;
            next.truncate(usize::try_from(count.saturating_sub(behind) * size).unwrap_or(0));
            let copied = thread::scope(|scope| {
                if !next.is_empty() {
                    scope.spawn(|| make(elements, behind, &mut next));
                }
                self.device.write(to, from * size, &made)
            });
            copied?;
            std::mem::swap(&mut made, &mut next);
            from = behind;
        }
        Ok(())
    }

    /// Poisons outputs that are only written, and gives others what they started with.
    pub(super) fn restore(&self, job: &Job) -> Result<(), DeviceError> {
        for (place, buffer) in job.buffers.iter().enumerate() {
            if buffer.elements.is_poison() {
                self.device
                    .fill(&self.stream, &self.buffers[place], ElementType::POISON)?;
            }
        }
        for (place, copy) in &self.pristine {
            self.device
                .copy(&self.stream, copy, &self.buffers[*place], copy.bytes())?;
        }
        self.device.synchronize(&self.stream, self.timeout)
    }

    /// The memory of a buffer of the job.
    pub(super) fn buffer(&self, place: usize) -> &Buffer {
        &self.buffers[place]
    }

    /// Reads a buffer; of a simulated device its head, which repeats.
    pub(super) fn read(&self, place: usize) -> Result<Vec<u8>, DeviceError> {
        let all = self.buffers[place].bytes();
        let read = if self.device.properties().is_simulated() {
            all.min(SIMULATED_OUTPUT)
        } else {
            all
        };
        let mut bytes = vec![0; usize::try_from(read).unwrap_or(0)];
        self.device.read(&self.buffers[place], 0, &mut bytes)?;
        Ok(bytes)
    }

    /// Launches of one sample.
    pub(super) fn count(&self) -> u64 {
        self.launches.len() as u64 * u64::from(self.repeat)
    }

    /// Launches a part of the sequence that repeats: `count` launches from the one with number `from` on.
    pub(super) fn launch(&self, from: u64, count: u64) -> Result<(), DeviceError> {
        let length = self.launches.len() as u64;
        for place in from..from + count {
            self.device
                .launch(&self.stream, &self.launches[(place % length) as usize])?;
        }
        Ok(())
    }

    /// A graph of so many samples.
    pub(super) fn graph(&self, samples: u64) -> Result<Graph, DeviceError> {
        let mut nodes = Vec::new();
        for _ in 0..samples * u64::from(self.repeat) {
            nodes.extend(self.launches.iter());
        }
        self.device.graph(&nodes)
    }

    pub(super) fn synchronize(&self) -> Result<(), DeviceError> {
        self.device.synchronize(&self.stream, self.timeout)
    }

    pub(super) const fn timeout(&self) -> Nanos {
        self.timeout
    }
}
