//! CUPTI's records as values: which field lies where in the bytes of a record.
//!
//! The places are facts about CUPTI's interface. They were read off its declarations with `offsetof`, for the versions
//! 12.0, 12.2, 12.4, 12.6, 12.8, 12.9, 13.0, 13.1, 13.2 and 13.5 of the toolkit: over all of them records only grew at
//! their ends, so that one table serves. Fields beyond those of 12.0 are not used.

/// The oldest version of CUPTI whose records look like this: that of CUDA 12.0.
pub(crate) const OLDEST_VERSION: u32 = 18;

/// Kinds of activity.
pub(crate) mod kind {
    pub(crate) const MEMCPY: u32 = 1;
    pub(crate) const MEMSET: u32 = 2;
    pub(crate) const KERNEL: u32 = 3;
    pub(crate) const DRIVER: u32 = 4;
    pub(crate) const RUNTIME: u32 = 5;
    pub(crate) const DEVICE: u32 = 8;
    pub(crate) const CONTEXT: u32 = 9;
    pub(crate) const CONCURRENT_KERNEL: u32 = 10;
    pub(crate) const NAME: u32 = 11;
    pub(crate) const MARKER: u32 = 12;
    pub(crate) const OVERHEAD: u32 = 17;
    pub(crate) const MEMCPY2: u32 = 22;
    pub(crate) const SYNCHRONIZATION: u32 = 38;
    pub(crate) const INTERNAL_LAUNCH_API: u32 = 48;
}

/// What a name or a marker belongs to.
const OBJECT_THREAD: u32 = 2;
/// No kernel has more threads in a block.
const MOST_THREADS: u64 = 1024;
/// More devices than any machine has.
const MOST_DEVICES: u32 = 4096;

/// Where a string lies in memory; 0 for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pointer(pub(crate) u64);

/// When something happened, in nanoseconds of CUPTI's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: u64,
    pub(crate) end: u64,
}

impl Span {
    /// CUPTI says 0 where it does not know a time.
    pub(crate) fn is_known(self) -> bool {
        self.start != 0 && self.end != 0
    }

    fn is_plausible(self) -> bool {
        !self.is_known() || self.end >= self.start
    }
}

/// Where work on the GPU ran, and which call asked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Work {
    pub(crate) span: Span,
    pub(crate) device: u32,
    pub(crate) context: u32,
    pub(crate) stream: u32,
    pub(crate) correlation: u32,
    /// 0 outside a graph.
    pub(crate) graph: u32,
    pub(crate) node: u64,
}

impl Work {
    fn is_plausible(&self) -> bool {
        self.span.is_plausible() && self.device < MOST_DEVICES
    }
}

/// One record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Activity {
    Kernel {
        work: Work,
        name: Pointer,
        registers: u16,
        grid: [u32; 3],
        block: [u32; 3],
        static_bytes: u32,
        dynamic_bytes: u32,
        local_bytes: u32,
        executed_bytes: u32,
        launch: u8,
        cluster: [u32; 3],
    },
    Copy {
        work: Work,
        bytes: u64,
        kind: u8,
        source: u8,
        destination: u8,
        flags: u8,
        /// Between two devices.
        devices: Option<[u32; 2]>,
    },
    Memset {
        work: Work,
        bytes: u64,
        value: u32,
        memory: u16,
        flags: u16,
    },
    Call {
        span: Span,
        interface: u64,
        function: u32,
        thread: u32,
        correlation: u32,
        result: u32,
    },
    Sync {
        span: Span,
        kind: u32,
        context: u32,
        stream: u32,
        event: u32,
        correlation: u32,
    },
    Overhead {
        span: Span,
        kind: u32,
        thread: u32,
    },
    Marker {
        time: u64,
        flags: u32,
        range: u32,
        thread: u32,
        name: Pointer,
        domain: Pointer,
    },
    Device {
        device: u32,
        name: Pointer,
        capability: [u32; 2],
        sms: u32,
        memory_bytes: u64,
        l2_bytes: u32,
        clock_khz: u32,
        /// A number that tells GPUs apart, and does not tell which one it is.
        identity: u64,
    },
    Context {
        context: u32,
        device: u32,
        default_stream: u16,
    },
    ThreadName {
        thread: u32,
        name: Pointer,
    },
}

/// What became of the bytes of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Decoded {
    /// It is this.
    Activity(Activity),
    /// It is of a kind that is not kept.
    Other,
    /// It is too short, or says something impossible.
    Damaged,
}

/// Reads a record at the start of the bytes, which may go on with the next one.
pub(crate) fn decode(bytes: &[u8]) -> Decoded {
    let fields = Fields(bytes);
    let Some(number) = fields.u32(0) else {
        return Decoded::Damaged;
    };
    let activity = match number {
        kind::KERNEL | kind::CONCURRENT_KERNEL => fields.kernel(),
        kind::MEMCPY => fields.copy(),
        kind::MEMCPY2 => fields.peer_copy(),
        kind::MEMSET => fields.memset(),
        kind::RUNTIME => fields.call(0),
        kind::DRIVER => fields.call(1),
        kind::INTERNAL_LAUNCH_API => fields.call(2),
        kind::SYNCHRONIZATION => fields.sync(),
        kind::OVERHEAD => fields.overhead(),
        kind::MARKER => fields.marker(),
        kind::DEVICE => fields.device(),
        kind::CONTEXT => fields.context(),
        kind::NAME => match fields.u32(4) {
            Some(OBJECT_THREAD) => fields.thread_name(),
            _ => return Decoded::Other,
        },
        _ => return Decoded::Other,
    };
    activity.map_or(Decoded::Damaged, Decoded::Activity)
}

struct Fields<'b>(&'b [u8]);

impl Fields<'_> {
    fn bytes<const N: usize>(&self, offset: usize) -> Option<[u8; N]> {
        let end = offset.checked_add(N)?;
        self.0.get(offset..end)?.try_into().ok()
    }

    fn u8(&self, offset: usize) -> Option<u8> {
        self.bytes::<1>(offset).map(|[byte]| byte)
    }

    fn u16(&self, offset: usize) -> Option<u16> {
        self.bytes(offset).map(u16::from_le_bytes)
    }

    fn u32(&self, offset: usize) -> Option<u32> {
        self.bytes(offset).map(u32::from_le_bytes)
    }

    fn u64(&self, offset: usize) -> Option<u64> {
        self.bytes(offset).map(u64::from_le_bytes)
    }

    fn three(&self, offset: usize) -> Option<[u32; 3]> {
        let [a, b, c] = [0, 4, 8].map(|step| self.u32(offset.checked_add(step)?));
        Some([a?, b?, c?])
    }

    fn span(&self, offset: usize) -> Option<Span> {
        let span = Span {
            start: self.u64(offset)?,
            end: self.u64(offset.checked_add(8)?)?,
        };
        span.is_plausible().then_some(span)
    }

    fn kernel(&self) -> Option<Activity> {
        let work = Work {
            span: self.span(16)?,
            device: self.u32(40)?,
            context: self.u32(44)?,
            stream: self.u32(48)?,
            correlation: self.u32(92)?,
            graph: self.u32(156)?,
            node: self.u64(144)?,
        };
        let grid = self.three(52)?;
        let block = self.three(64)?;
        let threads = block
            .iter()
            .try_fold(1_u64, |threads, side| threads.checked_mul(u64::from(*side)))?;
        let is_plausible = work.is_plausible()
            && (1..=MOST_THREADS).contains(&threads)
            && grid.iter().all(|side| *side > 0);
        is_plausible.then_some(Activity::Kernel {
            work,
            name: Pointer(self.u64(104)?),
            registers: self.u16(6)?,
            grid,
            block,
            static_bytes: self.u32(76)?,
            dynamic_bytes: self.u32(80)?,
            local_bytes: self.u32(84)?,
            executed_bytes: self.u32(140)?,
            launch: self.u8(136)?,
            cluster: self.three(176)?,
        })
    }

    fn copy(&self) -> Option<Activity> {
        self.copied(self.moved(44, 64, 72)?, None)
    }

    fn peer_copy(&self) -> Option<Activity> {
        let devices = [self.u32(44)?, self.u32(52)?];
        self.copied(self.moved(60, 72, 80)?, Some(devices))
    }

    /// What copies within a device, to the host and to another device have in common.
    fn copied(&self, work: Work, devices: Option<[u32; 2]>) -> Option<Activity> {
        work.is_plausible().then_some(Activity::Copy {
            work,
            bytes: self.u64(8)?,
            kind: self.u8(4)?,
            source: self.u8(5)?,
            destination: self.u8(6)?,
            flags: self.u8(7)?,
            devices,
        })
    }

    fn memset(&self) -> Option<Activity> {
        let work = self.moved(44, 64, 72)?;
        work.is_plausible().then_some(Activity::Memset {
            work,
            bytes: self.u64(8)?,
            value: self.u32(4)?,
            memory: self.u16(50)?,
            flags: self.u16(48)?,
        })
    }

    /// What copies and memsets have in common.
    fn moved(&self, correlation: usize, node: usize, graph: usize) -> Option<Work> {
        Some(Work {
            span: self.span(16)?,
            device: self.u32(32)?,
            context: self.u32(36)?,
            stream: self.u32(40)?,
            correlation: self.u32(correlation)?,
            graph: self.u32(graph)?,
            node: self.u64(node)?,
        })
    }

    fn call(&self, interface: u64) -> Option<Activity> {
        Some(Activity::Call {
            span: self.span(8)?,
            interface,
            function: self.u32(4)?,
            thread: self.u32(28)?,
            correlation: self.u32(32)?,
            result: self.u32(36)?,
        })
    }

    fn sync(&self) -> Option<Activity> {
        Some(Activity::Sync {
            span: self.span(8)?,
            kind: self.u32(4)?,
            context: self.u32(28)?,
            stream: self.u32(32)?,
            event: self.u32(36)?,
            correlation: self.u32(24)?,
        })
    }

    fn overhead(&self) -> Option<Activity> {
        let thread = match self.u32(8)? {
            OBJECT_THREAD => self.u32(16)?,
            _ => 0,
        };
        Some(Activity::Overhead {
            span: self.span(24)?,
            kind: self.u32(4)?,
            thread,
        })
    }

    fn marker(&self) -> Option<Activity> {
        let thread = match self.u32(20)? {
            OBJECT_THREAD => self.u32(28)?,
            _ => 0,
        };
        Some(Activity::Marker {
            time: self.u64(8)?,
            flags: self.u32(4)?,
            range: self.u32(16)?,
            thread,
            name: Pointer(self.u64(40)?),
            domain: Pointer(self.u64(48)?),
        })
    }

    fn device(&self) -> Option<Activity> {
        let device = self.u32(112)?;
        (device < MOST_DEVICES).then_some(Activity::Device {
            device,
            name: Pointer(self.u64(136)?),
            capability: [self.u32(104)?, self.u32(108)?],
            sms: self.u32(44)?,
            memory_bytes: self.u64(16)?,
            l2_bytes: self.u32(28)?,
            clock_khz: self.u32(36)?,
            identity: identity(self.bytes(120)?),
        })
    }

    fn context(&self) -> Option<Activity> {
        Some(Activity::Context {
            context: self.u32(4)?,
            device: self.u32(8)?,
            default_stream: self.u16(14)?,
        })
    }

    fn thread_name(&self) -> Option<Activity> {
        Some(Activity::ThreadName {
            thread: self.u32(12)?,
            name: Pointer(self.u64(24)?),
        })
    }
}

/// A UUID made shorter (FNV-1a): processes on one machine need to tell GPUs apart, and nobody needs to know which they are.
fn identity(uuid: [u8; 16]) -> u64 {
    if uuid == [0; 16] {
        return 0;
    }
    uuid.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
#[expect(clippy::panic, reason = "tests")]
pub(crate) mod tests {
    use super::*;

    /// The bytes of a record, by field.
    pub(crate) fn raw(size: usize, fields: &[(usize, u64, usize)]) -> Vec<u8> {
        let mut bytes = vec![0; size];
        for (offset, value, width) in fields {
            bytes
                .iter_mut()
                .skip(*offset)
                .zip(value.to_le_bytes().into_iter().take(*width))
                .for_each(|(place, byte)| *place = byte);
        }
        bytes
    }

    pub(crate) fn kernel() -> Vec<u8> {
        raw(
            208,
            &[
                (0, 10, 4),
                (6, 40, 2),
                (16, 1_000_000, 8),
                (24, 1_002_500, 8),
                (40, 1, 4),
                (44, 2, 4),
                (48, 7, 4),
                (52, 132, 4),
                (56, 2, 4),
                (60, 1, 4),
                (64, 256, 4),
                (68, 1, 4),
                (72, 1, 4),
                (76, 1024, 4),
                (80, 49152, 4),
                (92, 99, 4),
                (104, 0x1234, 8),
                (136, 1, 1),
                (144, 0x5_0000_0001, 8),
                (156, 3, 4),
                (176, 2, 4),
                (180, 1, 4),
                (184, 1, 4),
            ],
        )
    }

    #[test]
    fn a_kernel_is_read_at_its_places() {
        let Decoded::Activity(Activity::Kernel {
            work,
            name,
            registers,
            grid,
            block,
            static_bytes,
            dynamic_bytes,
            cluster,
            launch,
            ..
        }) = decode(&kernel())
        else {
            panic!("no kernel")
        };
        assert_eq!((work.span.start, work.span.end), (1_000_000, 1_002_500));
        assert_eq!((work.device, work.context, work.stream), (1, 2, 7));
        assert_eq!(
            (work.correlation, work.graph, work.node),
            (99, 3, 0x5_0000_0001)
        );
        assert_eq!((name, registers, launch), (Pointer(0x1234), 40, 1));
        assert_eq!((grid, block), ([132, 2, 1], [256, 1, 1]));
        assert_eq!(
            (static_bytes, dynamic_bytes, cluster),
            (1024, 49152, [2, 1, 1])
        );
    }

    #[test]
    fn what_cannot_be_is_damaged() {
        let with = |offset: usize, value: u64, width: usize| {
            let mut bytes = kernel();
            bytes
                .iter_mut()
                .skip(offset)
                .zip(value.to_le_bytes().into_iter().take(width))
                .for_each(|(place, byte)| *place = byte);
            decode(&bytes)
        };
        // A layout that is shifted shows itself in one of these.
        assert_eq!(with(24, 999_999, 8), Decoded::Damaged);
        assert_eq!(with(64, 2048, 4), Decoded::Damaged);
        assert_eq!(with(52, 0, 4), Decoded::Damaged);
        assert_eq!(with(40, 1 << 20, 4), Decoded::Damaged);
        assert_eq!(with(0, 777, 4), Decoded::Other);
        // Times that CUPTI could not take are no damage.
        assert!(matches!(with(24, 0, 8), Decoded::Activity(_)));
    }

    #[test]
    fn a_record_that_is_cut_off_is_damaged() {
        let bytes = kernel();
        for end in 0..188 {
            assert_eq!(
                decode(bytes.get(..end).unwrap_or_default()),
                Decoded::Damaged,
                "{end}"
            );
        }
        assert!(matches!(decode(&bytes), Decoded::Activity(_)));
    }
}
