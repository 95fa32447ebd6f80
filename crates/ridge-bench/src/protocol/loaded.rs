//! A job on a device: memory that is filled, and launches that are laid out.

use std::thread;

use ridge_gpu::{
    Argument, Buffer, Device, DeviceError, Dim3, Function, Graph, Launch, Module, Prepared, Stream,
    Work,
};
use ridge_model::quantity::Nanos;

use super::spots::Spots;
use super::truth;
use crate::check::{Expected, Outcome, Rule};
use crate::parallel;
use crate::spec::job::{Job, JobArgument, JobBuffer};
use crate::spec::{ElementType, Elements, Init};

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

/// The launches of a job on some memory.
pub(super) fn prepared(
    device: &dyn Device,
    job: &Job,
    functions: &[Function],
    buffers: &[&Buffer],
    declared: &[Expected],
) -> Result<Vec<Prepared>, DeviceError> {
    let dim = |sizes: [u32; 3]| Dim3::new(sizes[0], sizes[1], sizes[2]);
    let mut launches = Vec::new();
    for (place, (launch, function)) in job.launches.iter().zip(functions).enumerate() {
        let accesses = truth::accesses(job, place, buffers, declared);
        let operations = truth::operations(job);
        let arguments: Vec<Argument<'_>> = launch
            .args
            .iter()
            .map(|argument| match argument {
                JobArgument::Buffer(place) => Argument::buffer(buffers[*place]),
                JobArgument::Scalar(bytes) => Argument::Bytes(bytes),
            })
            .collect();
        launches.push(device.prepare(&Launch {
            function,
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
    }
    Ok(launches)
}

/// An element of an output that was overwritten.
pub(super) struct Canary {
    place: usize,
    index: u64,
    bytes: Vec<u8>,
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
        let entries = job.launches.iter().map(|launch| &launch.entry);
        let functions: Vec<Function> = entries
            .map(|entry| device.function(module, entry))
            .collect::<Result<_, _>>()?;
        let memory: Vec<&Buffer> = buffers.iter().collect();
        let launches = prepared(device, job, &functions, &memory, declared)?;
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
        self.queue_restore(job)?;
        self.device.synchronize(&self.stream, self.timeout)
    }

    /// The same, without waiting for it.
    pub(super) fn queue_restore(&self, job: &Job) -> Result<(), DeviceError> {
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
        Ok(())
    }

    /// Leaves nothing of what launches computed in memory.
    pub(super) fn wipe(&self, job: &Job) -> Result<(), DeviceError> {
        for (place, buffer) in job.buffers.iter().enumerate() {
            if buffer.output.is_some() || buffer.elements.is_poison() {
                self.device
                    .fill(&self.stream, &self.buffers[place], ElementType::POISON)?;
            }
        }
        self.device.synchronize(&self.stream, self.timeout)
    }

    /// Digests of the buffers that are only read; absent for others, and where there is no room to compute them. Zeros are
    /// often room that kernels work in.
    pub(super) fn digests(&self, job: &Job) -> Result<Vec<Option<u64>>, DeviceError> {
        let digest = |(place, buffer): (usize, &JobBuffer)| {
            let elements = &buffer.elements;
            if buffer.output.is_some() || !(elements.is_random() || elements.init == Init::Iota) {
                return Ok(None);
            }
            match self.device.digest(&self.stream, &self.buffers[place]) {
                Ok(digest) => Ok(Some(digest)),
                Err(DeviceError::OutOfMemory { .. }) => Ok(None),
                Err(error) => Err(error),
            }
        };
        job.buffers.iter().enumerate().map(digest).collect()
    }

    /// Overwrites an element of each output that launches write anew: of floating point with the pattern of memory that nobody
    /// wrote, of integers with the complement of what is there. Integers are left alone where inputs change between samples,
    /// since any value may be right then.
    pub(super) fn place_canaries(
        &self,
        job: &Job,
        spots: &Spots,
        sample: u64,
        has_fresh_inputs: bool,
    ) -> Result<Vec<Canary>, DeviceError> {
        let mut canaries = Vec::new();
        for (output, (place, buffer)) in job.outputs().enumerate() {
            let elements = &buffer.elements;
            let is_float = elements.kind.is_float();
            if !elements.is_poison() || elements.length == 0 || (has_fresh_inputs && !is_float) {
                continue;
            }
            let (size, index) = (
                elements.kind.size(),
                spots.element(sample, output, elements.length),
            );
            let mut bytes = vec![ElementType::POISON; size];
            if !is_float {
                self.device
                    .read(&self.buffers[place], index * size as u64, &mut bytes)?;
                for byte in &mut bytes {
                    *byte = !*byte;
                }
            }
            self.device
                .write(&self.buffers[place], index * size as u64, &bytes)?;
            canaries.push(Canary {
                place,
                index,
                bytes,
            });
        }
        Ok(canaries)
    }

    /// Outputs whose element is still what it was overwritten with.
    pub(super) fn dead_canaries(
        &self,
        job: &Job,
        canaries: &[Canary],
        rule: &Rule,
    ) -> Result<Vec<Outcome>, DeviceError> {
        let mut dead = Vec::new();
        for canary in canaries {
            let mut found = vec![0; canary.bytes.len()];
            let offset = canary.index * found.len() as u64;
            self.device
                .read(&self.buffers[canary.place], offset, &mut found)?;
            if found == canary.bytes {
                let name = &job.buffers[canary.place].name;
                dead.push(Outcome::unwritten(name, canary.index, rule));
            }
        }
        Ok(dead)
    }

    /// All memory, in the order of the job.
    pub(super) fn buffers(&self) -> impl Iterator<Item = &Buffer> {
        self.buffers.iter()
    }

    /// The copy of what an output starts with, if it starts with something.
    pub(super) fn pristine(&self, place: usize) -> Option<&Buffer> {
        let mut all = self.pristine.iter();
        all.find(|(other, _)| *other == place).map(|(_, copy)| copy)
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
