//! The kernels of our own, loaded.

use std::rc::Rc;

use ridge_model::quantity::Nanos;

use super::context::{Context, OwnedMemory, OwnedModule, OwnedStream};
use super::driver::{Address, Arguments, Handle, Shape, name_of};
use crate::error::{DeviceError, Result};

/// The kernels of our own.
pub(super) struct OwnKernels {
    block: Handle,
    stamp: Handle,
    timer_step: Handle,
    read: Handle,
    count: Handle,
    gather: Handle,
    differ: Handle,
    digest: Handle,
    mask: Handle,
    /// Where the reading flush would store what it read.
    sink: OwnedMemory,
    module: OwnedModule,
}

/// Threads of a block of the reading flush.
const READERS: u32 = 256;

impl OwnKernels {
    pub(super) fn load(context: &Rc<Context>) -> Result<Self> {
        context.alive()?;
        let image = include_bytes!("kernels.ptx");
        let loaded = context.driver.load_module(image);
        let handle = loaded.map_err(|(refused, log)| DeviceError::InvalidImage {
            reason: format!("kernels of our own: {}", refused.reason),
            log,
        })?;
        let module = OwnedModule {
            context: Rc::clone(context),
            handle,
            is_debug: Some(false),
        };
        let function = |name: &str| {
            context.call(|driver| {
                // Names in this file have no zero byte.
                let name = name_of(name).unwrap_or_default();
                let function = driver.function(handle, &name)?;
                driver.load_function(function)?;
                Ok(function)
            })
        };
        Ok(Self {
            block: function("ridge_block")?,
            stamp: function("ridge_stamp")?,
            timer_step: function("ridge_timer_step")?,
            read: function("ridge_read")?,
            count: function("ridge_count")?,
            gather: function("ridge_gather")?,
            differ: function("ridge_differ")?,
            digest: function("ridge_digest")?,
            mask: function("ridge_mask")?,
            sink: OwnedMemory::new(context, 16)?,
            module,
        })
    }

    fn launch(
        &self,
        stream: &OwnedStream,
        function: Handle,
        blocks: u32,
        threads: u32,
        values: &[Vec<u8>],
    ) -> Result<()> {
        let shape = Shape {
            function,
            grid: [blocks, 1, 1],
            block: [threads, 1, 1],
            cluster: None,
            shared_bytes: 0,
        };
        let arguments = Arguments::new(values, true);
        self.module
            .context
            .call(|driver| driver.launch(stream.handle, &shape, &arguments))
    }

    /// Holds a stream back until the word at `gate` is `number`.
    pub(super) fn block(
        &self,
        stream: &OwnedStream,
        gate: Address,
        number: u32,
        expires: Nanos,
    ) -> Result<()> {
        // A number that is none, or below zero, becomes zero; infinity becomes the largest.
        let expires = expires.get() as u64;
        let values = [long(gate), number.to_ne_bytes().to_vec(), long(expires)];
        self.launch(stream, self.block, 1, 1, &values)
    }

    /// Stamps time and cycles of all SMs.
    pub(super) fn stamp(
        &self,
        stream: &OwnedStream,
        slots: Address,
        count: u32,
        number: u64,
        blocks: u32,
    ) -> Result<()> {
        let values = [long(slots), count.to_ne_bytes().to_vec(), long(number)];
        self.launch(stream, self.stamp, blocks, 1, &values)
    }

    /// Looks for the smallest step of the timer.
    pub(super) fn timer_step(
        &self,
        stream: &OwnedStream,
        out: Address,
        readings: u32,
    ) -> Result<()> {
        let values = [long(out), readings.to_ne_bytes().to_vec()];
        self.launch(stream, self.timer_step, 1, 1, &values)
    }

    /// Reads `count` times 16 bytes.
    pub(super) fn read(
        &self,
        stream: &OwnedStream,
        from: &OwnedMemory,
        count: u64,
        blocks: u32,
    ) -> Result<()> {
        let values = [long(from.address), long(count), long(self.sink.address)];
        self.launch(stream, self.read, blocks, READERS, &values)
    }

    /// Adds the number of elements of `size` bytes that have all bits of `mask` to the word at `out`.
    pub(super) fn count(
        &self,
        stream: &OwnedStream,
        from: &OwnedMemory,
        (size, mask): (u32, u64),
        out: &OwnedMemory,
        blocks: u32,
    ) -> Result<()> {
        let values = [
            long(from.address),
            size.to_ne_bytes().to_vec(),
            long(from.bytes / u64::from(size)),
            long(mask),
            long(out.address),
        ];
        self.launch(stream, self.count, blocks, READERS, &values)
    }

    /// Copies the elements with the numbers in `indices` to words at `out`, one for each that has room there.
    pub(super) fn gather(
        &self,
        stream: &OwnedStream,
        from: &OwnedMemory,
        size: u32,
        indices: &OwnedMemory,
        out: &OwnedMemory,
        blocks: u32,
    ) -> Result<()> {
        let values = [
            long(from.address),
            size.to_ne_bytes().to_vec(),
            long(indices.address),
            long(out.bytes / 8),
            long(out.address),
        ];
        self.launch(stream, self.gather, blocks, READERS, &values)
    }

    /// Adds the number of words of 8 bytes, or of single ones behind the last word, that differ to the word at `out`.
    pub(super) fn differ(
        &self,
        stream: &OwnedStream,
        one: &OwnedMemory,
        other: &OwnedMemory,
        bytes: u64,
        out: &OwnedMemory,
        blocks: u32,
    ) -> Result<()> {
        let rest = bytes % 8;
        for (start, size, count) in [(0, 8_u32, bytes / 8), (bytes - rest, 1, rest)] {
            let values = [
                long(one.address + start),
                long(other.address + start),
                size.to_ne_bytes().to_vec(),
                long(count),
                long(out.address),
            ];
            if count > 0 {
                self.launch(stream, self.differ, blocks, READERS, &values)?;
            }
        }
        Ok(())
    }

    /// Adds the digest of memory to the word at `out`.
    pub(super) fn digest(
        &self,
        stream: &OwnedStream,
        from: &OwnedMemory,
        out: &OwnedMemory,
        blocks: u32,
    ) -> Result<()> {
        self.words(stream, self.digest, from, out.address, blocks)
    }

    /// Masks memory with numbers that follow from a key.
    pub(super) fn mask(
        &self,
        stream: &OwnedStream,
        from: &OwnedMemory,
        key: u64,
        blocks: u32,
    ) -> Result<()> {
        self.words(stream, self.mask, from, key, blocks)
    }

    /// Launches a kernel over all words of 8 bytes of memory, and over single ones behind the last word.
    fn words(
        &self,
        stream: &OwnedStream,
        function: Handle,
        from: &OwnedMemory,
        last: u64,
        blocks: u32,
    ) -> Result<()> {
        let rest = from.bytes % 8;
        let words = from.bytes / 8;
        for (start, size, count, first) in
            [(0, 8_u32, words, 0), (from.bytes - rest, 1, rest, words)]
        {
            let values = [
                long(from.address + start),
                size.to_ne_bytes().to_vec(),
                long(count),
                long(first),
                long(last),
            ];
            if count > 0 {
                self.launch(stream, function, blocks, READERS, &values)?;
            }
        }
        Ok(())
    }
}

fn long(value: u64) -> Vec<u8> {
    value.to_ne_bytes().to_vec()
}
