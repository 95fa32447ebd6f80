//! Words for what documents hold as values.

use ridge_model::quantity::{Nanos, grouped};
use ridge_trace::document::{Device, GapClass, HostCause, Range, Trace};
use ridge_trace::{CopyKind, Memory, SourceKind};

pub(super) const fn source(kind: SourceKind) -> &'static str {
    match kind {
        SourceKind::ChromeJson => "trace events of the PyTorch profiler or in Chrome's format",
        SourceKind::NsysSqlite => "database of Nsight Systems",
        SourceKind::Recording => "recording of ridge trace",
    }
}

pub(super) const fn memory(memory: Memory) -> &'static str {
    match memory {
        Memory::Pageable => "pageable",
        Memory::Pinned => "pinned",
        Memory::Device => "device",
        Memory::Array => "array",
        Memory::Managed => "managed",
        Memory::Unknown => "not said",
    }
}

/// The memory on the side of the host, where there is such a side.
pub(super) fn host_memory(kind: CopyKind, from: Memory, to: Memory) -> String {
    match kind {
        CopyKind::HostToDevice => memory(from).to_owned(),
        CopyKind::DeviceToHost => memory(to).to_owned(),
        _ if (from, to) == (Memory::Device, Memory::Device) => "device".to_owned(),
        _ => format!("{} to {}", memory(from), memory(to)),
    }
}

pub(super) const fn gap(class: GapClass) -> &'static str {
    match class {
        GapClass::HostWait => "the host asked late",
        GapClass::LaunchFloor => "queued, below 3 us",
        GapClass::Dependency => "queued, 3 us and more",
        GapClass::Unknown => "call not in the trace",
    }
}

/// What the host did, with the function where there is one.
pub(super) fn cause(cause: HostCause, call: Option<&str>) -> String {
    let call = call.unwrap_or("a call");
    match cause {
        HostCause::Synchronisation => format!("it waited for the device in {call}"),
        HostCause::PageableCopy => format!("it was still copying pageable memory in {call}"),
        HostCause::Launching => "it was busy with launches".to_owned(),
        HostCause::OtherCall => format!("it was in {call}"),
        HostCause::Profiler => "the profiler held it up".to_owned(),
        HostCause::HostCode => "it ran code outside of CUDA calls".to_owned(),
    }
}

/// The device as a heading names it.
pub(super) fn device(device: &Device) -> String {
    match (&device.name, &device.compute_capability) {
        (Some(name), Some(capability)) => {
            format!("{} {name} (compute capability {capability})", device.number)
        }
        (Some(name), None) => format!("{} {name}", device.number),
        (None, _) => format!("{} (name not in the trace)", device.number),
    }
}

/// Where a trace comes from, in one line.
pub(super) fn origin(trace: &Trace) -> String {
    let mut parts = vec![source(trace.kind).to_owned()];
    parts.extend(
        trace
            .tool_version
            .as_ref()
            .map(|version| format!("version {version}")),
    );
    parts.extend(trace.rank.map(|rank| {
        let of = trace
            .world_size
            .map_or_else(String::new, |size| format!(" of {size}"));
        let told_by = trace.rank_told_by.as_deref().unwrap_or("the trace");
        format!("rank {rank}{of} (from {told_by})")
    }));
    parts.join(", ")
}

/// The part of a trace that is looked at, and what was cut.
pub(super) fn range(range: &Range) -> String {
    let what = match (&range.name, range.of) {
        (Some(name), 0 | 1) => format!("only the range {name}"),
        (Some(name), of) => format!("only the range {name}, number {} of {of}", range.place),
        (None, _) => "only a span of time".to_owned(),
    };
    let cut = match range.cut_work {
        0 => String::new(),
        count => format!("; {} over its borders, with the part inside", reach(count)),
    };
    let later = match range.later_work {
        0 => String::new(),
        1 => "; 1 piece of work that was asked for in it ran after it and is left out".to_owned(),
        count => format!(
            "; {} that were asked for in it ran after it and are left out",
            pieces(count)
        ),
    };
    format!(
        "{what}: {} from {} on, and times count from there{cut}{later}",
        Nanos::new(range.length_ns),
        Nanos::new(range.start_ns)
    )
}

fn reach(count: u64) -> String {
    let verb = if count == 1 { "reaches" } else { "reach" };
    format!("{} {verb}", pieces(count))
}

/// A count of pieces of work.
pub(super) fn pieces(count: u64) -> String {
    match count {
        1 => "1 piece of work".to_owned(),
        _ => format!("{} pieces of work", grouped(count)),
    }
}
