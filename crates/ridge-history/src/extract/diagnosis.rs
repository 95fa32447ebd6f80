//! Diagnoses: durations of kernels under the profiler, and how much of the device they use.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::Value;

use super::{Facts, launch, parts};

#[derive(Deserialize)]
pub(super) struct Document {
    #[serde(default)]
    sources: Vec<Value>,
    #[serde(default)]
    kernels: Vec<Value>,
}

#[derive(Deserialize)]
struct Source {
    file: Option<String>,
    program: Option<String>,
    #[serde(default)]
    devices: Vec<Value>,
    #[serde(default)]
    collection: Collection,
}

#[derive(Deserialize)]
struct Device {
    name: Option<String>,
}

#[derive(Default, Deserialize)]
struct Collection {
    sm_clock_hz: Option<(f64, f64)>,
}

#[derive(Deserialize)]
struct Kernel {
    name: Option<String>,
    signature: Option<String>,
    grid: Option<[u32; 3]>,
    block: Option<[u32; 3]>,
    #[serde(default)]
    launches: Vec<Value>,
    duration_ns: Option<f64>,
    timed: Option<Timed>,
    limiter: Option<Limiter>,
    speed_of_light: Option<SpeedOfLight>,
    traffic: Option<Traffic>,
}

#[derive(Deserialize)]
struct Timed {
    launches: Option<u64>,
    median_ns: Option<f64>,
}

#[derive(Deserialize)]
struct Limiter {
    share: Option<f64>,
}

#[derive(Deserialize)]
struct SpeedOfLight {
    compute: Option<f64>,
    memory: Option<f64>,
}

#[derive(Deserialize)]
struct Traffic {
    read_bytes: Option<f64>,
    written_bytes: Option<f64>,
}

impl Document {
    pub(super) fn add_to(self, facts: &mut Facts) {
        let sources: Vec<Source> = parts(self.sources).collect();
        let mut names: Vec<String> = Vec::new();
        for source in &sources {
            let name = source.program.as_ref().or(source.file.as_ref());
            names.extend(name.filter(|name| !names.contains(name)).cloned());
        }
        facts.name = Some(names.join(", ")).filter(|name| !name.is_empty());
        facts.set_clock(sources.iter().flat_map(|source| {
            let clock = source.collection.sm_clock_hz;
            [clock.map(|(low, _)| low), clock.map(|(_, high)| high)]
        }));
        facts.set_gpu(
            sources
                .into_iter()
                .flat_map(|source| parts::<Device>(source.devices).map(|device| device.name)),
        );
        let mut subjects = HashSet::new();
        for kernel in parts::<Kernel>(self.kernels) {
            let whole = kernel.signature.as_deref().or(kernel.name.as_deref());
            let whole = whole.unwrap_or("(without a name)");
            let launch = launch(kernel.grid, kernel.block);
            let mut subject = format!("{}{launch}", without_parameters(whole));
            if !subjects.insert(subject.clone()) {
                subject = format!("{whole}{launch}");
                if !subjects.insert(subject.clone()) {
                    // The same launch from another input: the first one stands for it.
                    continue;
                }
            }
            kernel.add_to(&subject, facts);
        }
    }
}

impl Kernel {
    fn add_to(self, subject: &str, facts: &mut Facts) {
        let before = facts.points.len();
        facts.add(subject, "duration", "ns", self.duration_ns);
        if let Some(point) = facts.points.get_mut(before) {
            point.samples = u64::try_from(self.launches.len())
                .ok()
                .filter(|count| *count > 0);
        }
        if let Some(timed) = self.timed {
            let before = facts.points.len();
            facts.add(subject, "duration.clean", "ns", timed.median_ns);
            if let Some(point) = facts.points.get_mut(before) {
                point.samples = timed.launches;
            }
        }
        let limiter = self.limiter.and_then(|limiter| limiter.share);
        facts.add(subject, "limiter_share", "fraction", limiter);
        if let Some(used) = self.speed_of_light {
            facts.add(subject, "throughput.compute", "fraction", used.compute);
            facts.add(subject, "throughput.memory", "fraction", used.memory);
        }
        if let Some(traffic) = self.traffic {
            facts.add(subject, "traffic.read", "bytes", traffic.read_bytes);
            facts.add(subject, "traffic.written", "bytes", traffic.written_bytes);
        }
    }
}

/// The name of a kernel without the list of its parameters: `f<(int)3>` of `f<(int)3>(float *)`.
fn without_parameters(signature: &str) -> &str {
    if !signature.ends_with(')') {
        return signature;
    }
    let mut depth = 0_usize;
    for (place, letter) in signature.char_indices().rev() {
        match letter {
            ')' => depth += 1,
            '(' if depth == 1 => {
                let name = signature.get(..place).unwrap_or_default().trim_end();
                return if name.is_empty() { signature } else { name };
            }
            '(' => depth -= 1,
            _ => {}
        }
    }
    signature
}
