//! Timelines: where the time of a program went, for each device.

use serde::Deserialize;
use serde_json::Value;

use super::{Facts, parts};

#[derive(Deserialize)]
pub(super) struct Document {
    #[serde(default)]
    traces: Vec<Value>,
}

#[derive(Deserialize)]
struct Trace {
    file: Option<String>,
    tool_version: Option<String>,
    #[serde(default)]
    devices: Vec<Value>,
}

#[derive(Deserialize)]
struct Device {
    number: u64,
    name: Option<String>,
    span_ns: Option<f64>,
    busy_ns: Option<f64>,
    kernel_ns: Option<f64>,
    copy_ns: Option<f64>,
    copy_exposed_ns: Option<f64>,
    counts: Option<Counts>,
}

#[derive(Deserialize)]
struct Counts {
    kernels: Option<f64>,
}

impl Document {
    pub(super) fn add_to(self, facts: &mut Facts) {
        let mut names = Vec::new();
        let mut gpus = Vec::new();
        for trace in parts::<Trace>(self.traces) {
            let name = stem(trace.file.as_deref().unwrap_or("trace")).to_owned();
            facts.tool_version = facts.tool_version.take().or(trace.tool_version);
            for device in parts::<Device>(trace.devices) {
                let subject = format!("{name}/GPU {}", device.number);
                facts.add(&subject, "span", "ns", device.span_ns);
                let busy = device.busy_ns.zip(device.span_ns);
                let share = busy
                    .filter(|(_, span)| *span > 0.0)
                    .map(|(busy, span)| busy / span);
                facts.add(&subject, "busy_share", "fraction", share);
                facts.add(&subject, "kernel_time", "ns", device.kernel_ns);
                facts.add(&subject, "copy_time", "ns", device.copy_ns);
                facts.add(&subject, "exposed_copy_time", "ns", device.copy_exposed_ns);
                let kernels = device.counts.and_then(|counts| counts.kernels);
                facts.add(&subject, "kernels", "launches", kernels);
                gpus.push(device.name);
            }
            names.push(name);
        }
        facts.name = Some(names.join(", ")).filter(|name| !name.is_empty());
        facts.set_gpu(gpus.into_iter());
    }
}

/// The name of a file without its folder and extensions.
fn stem(file: &str) -> &str {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    match name.split_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => name,
    }
}
