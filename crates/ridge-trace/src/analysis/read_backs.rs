//! Small results that the host fetches and waits for, such as a loss, a flag or a count.

use std::collections::HashMap;

use super::to_f64;
use crate::timeline::{Call, CallClass, CopyKind, ThreadId, Timeline, Work};

/// A copy of a page takes as long as one of a byte: what it costs is not its size.
const SMALL_BYTES: u64 = 4096;

/// Small copies to the host for which the host then waited.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReadBacks {
    /// How many.
    pub count: u64,
    /// Their bytes together.
    pub bytes: u64,
    /// How long devices had nothing to do behind them.
    pub idle_ns: f64,
}

/// Finds them. A copy is waited for when its call waits itself, as for pageable memory, or when the next call of the same
/// thread waits. Copies without a call in the trace are left out.
#[must_use]
pub fn read_backs(timeline: &Timeline) -> ReadBacks {
    let mut by_thread: HashMap<ThreadId, Vec<&Call>> = HashMap::new();
    for call in &timeline.calls {
        by_thread.entry(call.thread).or_default().push(call);
    }
    let mut found = ReadBacks::default();
    // For each device the end of its latest work, and whether that is such a copy.
    let mut latest: Vec<Option<(i64, bool)>> = vec![None; timeline.devices.len()];
    for work in &timeline.work {
        let bytes = small_copy(work).filter(|_| is_waited_for(timeline, &by_thread, work));
        if let Some(bytes) = bytes {
            found.count += 1;
            found.bytes = found.bytes.saturating_add(bytes);
        }
        let Some(latest) = latest.get_mut(timeline.device_of(work)) else {
            continue;
        };
        if let Some((end, true)) = *latest
            && work.start_ns > end
        {
            found.idle_ns += to_f64(work.start_ns.saturating_sub(end));
        }
        if latest.is_none_or(|(end, _)| work.end_ns >= end) {
            *latest = Some((work.end_ns, bytes.is_some()));
        }
    }
    found
}

/// The bytes of a small copy to the host.
fn small_copy(work: &Work) -> Option<u64> {
    let copied = work.copied()?;
    let bytes = copied.bytes?;
    (copied.kind == CopyKind::DeviceToHost && bytes <= SMALL_BYTES).then_some(bytes)
}

fn is_waited_for(
    timeline: &Timeline,
    by_thread: &HashMap<ThreadId, Vec<&Call>>,
    work: &Work,
) -> bool {
    let Some(call) = timeline.call_of(work) else {
        return false;
    };
    let class = |call: &Call| CallClass::of(timeline.name(call.name));
    if class(call) == CallClass::Copy || call.end_ns >= work.end_ns {
        return true;
    }
    let Some(calls) = by_thread.get(&call.thread) else {
        return false;
    };
    // Calls within this one begin before it ends.
    let next = calls.partition_point(|other| other.start_ns < call.end_ns);
    calls
        .get(next)
        .is_some_and(|next| class(next) == CallClass::Synchronise)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::{
        Api, Builder, Copied, Correlation, Launch, Memory, NewCall, NewWork, SourceKind,
    };

    /// A kernel, a copy of so many bytes to the host, what the thread calls next, and a second kernel 90 us later.
    fn program(bytes: u64, next: &str) -> ReadBacks {
        let mut builder = Builder::new(SourceKind::Recording);
        let process = builder.process(1);
        let thread = builder.thread(process, 1);
        let stream = builder.stream(Some(process), 0, Some(1), 7);
        let work = |start_ns, end_ns, number| NewWork {
            start_ns,
            end_ns,
            stream,
            correlation: Correlation::new(number),
            graph: None,
        };
        let kernel = builder.name("k");
        let launch = builder.launch(Launch::default());
        builder.push_kernel(work(0, 10_000, 1), kernel, launch);
        builder.push_copy(
            work(10_000, 12_000, 2),
            Copied {
                kind: CopyKind::DeviceToHost,
                from: Memory::Device,
                to: Memory::Pinned,
                bytes: Some(bytes),
            },
        );
        builder.push_kernel(work(102_000, 110_000, 3), kernel, launch);
        let calls = [
            ("cudaMemcpyAsync", 1_000, 3_000, Some(2)),
            (next, 4_000, 13_000, None),
            ("cudaLaunchKernel", 90_000, 95_000, Some(3)),
        ];
        for (name, start_ns, end_ns, number) in calls {
            let name = builder.function(name);
            builder.push_call(NewCall {
                start_ns,
                end_ns,
                name,
                api: Api::Runtime,
                thread,
                correlation: number.and_then(Correlation::new),
            });
        }
        read_backs(&builder.finish())
    }

    #[test]
    fn a_small_result_that_is_waited_for_leaves_the_device_idle() {
        let found = program(4, "cudaStreamSynchronize");
        assert_eq!((found.count, found.bytes), (1, 4));
        assert!((found.idle_ns - 90_000.0).abs() < 1.0);
    }

    #[test]
    fn large_copies_and_those_that_nobody_waits_for_are_others() {
        assert_eq!(
            program(1 << 20, "cudaStreamSynchronize"),
            ReadBacks::default()
        );
        assert_eq!(program(4, "cudaEventRecord"), ReadBacks::default());
    }
}
