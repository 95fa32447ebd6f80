//! The same launches once more, with outputs of their own.
//!
//! A kernel that does nothing when it follows another launch closely is right wherever its outputs are made ready before it, since
//! that takes time. Here they are made ready before both.

use ridge_gpu::{Buffer, DeviceError, Prepared};

use super::loaded::{Loaded, prepared};
use crate::check::Expected;
use crate::spec::ElementType;
use crate::spec::job::Job;

/// Launches with outputs of their own, and everything else shared.
pub(super) struct Twin {
    outputs: Vec<(usize, Buffer)>,
    launches: Vec<Prepared>,
}

impl Twin {
    /// Absent where there is no room for them, and where an output is a variable of the module, of which there is one.
    pub(super) fn new(
        loaded: &Loaded<'_>,
        job: &Job,
        declared: &[Expected],
    ) -> Result<Option<Self>, DeviceError> {
        if job.outputs().any(|(_, output)| output.symbol.is_some()) {
            return Ok(None);
        }
        let device = loaded.device;
        let mut outputs = Vec::new();
        for (place, output) in job.outputs() {
            match device.allocate(output.elements.bytes()) {
                Ok(memory) => outputs.push((place, memory)),
                Err(DeviceError::OutOfMemory { .. }) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        let own = |place: usize| outputs.iter().find(|(other, _)| *other == place);
        let buffers: Vec<&Buffer> = loaded
            .buffers()
            .enumerate()
            .map(|(place, shared)| own(place).map_or(shared, |(_, memory)| memory))
            .collect();
        let launches = prepared(device, job, &loaded.functions, &buffers, declared)?;
        Ok(Some(Self { outputs, launches }))
    }

    /// Launches first the others and then these, with no time between, and leaves what these wrote in the outputs of the others.
    pub(super) fn follow(&self, loaded: &Loaded<'_>, launches: u64) -> Result<(), DeviceError> {
        let (device, stream) = (loaded.device, &loaded.stream);
        for (place, memory) in &self.outputs {
            match loaded.pristine(*place) {
                Some(pristine) => device.copy(stream, pristine, memory, memory.bytes())?,
                None => device.fill(stream, memory, ElementType::POISON)?,
            }
        }
        loaded.synchronize()?;
        let block = device.block(stream, loaded.timeout())?;
        let queue = || {
            loaded.launch(0, launches)?;
            for place in 0..launches {
                let own = &self.launches[(place % self.launches.len() as u64) as usize];
                device.launch(stream, own)?;
            }
            Ok(())
        };
        let queued = queue();
        block.release();
        // The first error is the one to tell.
        queued.and(loaded.synchronize())?;
        for (place, memory) in &self.outputs {
            device.copy(stream, memory, loaded.buffer(*place), memory.bytes())?;
        }
        loaded.synchronize()
    }
}
