//! Kernels of the committed reports, with counters that a test may change.
//!
//! A [`Counters`] is the list of metrics of one kernel. What is added to a kernel on paper is added to all counters
//! that would see it: to those of the unit that does the work, to the time, and to what follows from the time.

#![expect(
    dead_code,
    reason = "each test program uses its own part of this module"
)]

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use ncu_rep::report::Dim3;
use ncu_rep::{Instance, Listed, MetricTable, Report, Value};
use ridge_diagnose::document::{Finding, Kernel};
use ridge_diagnose::{CodeMap, Group, KernelProfile, Options, diagnose};

/// One kernel launch of a report.
#[derive(Clone)]
pub(crate) struct Sample {
    /// The report, without folder and extensions.
    pub(crate) report: String,
    /// The kernel's base name.
    pub(crate) kernel: String,
    /// Place of the launch in its report.
    pub(crate) launch: usize,
    pub(crate) counters: Counters,
    pub(crate) grid: Option<Dim3>,
    pub(crate) block: Option<Dim3>,
    pub(crate) sections: Vec<String>,
    pub(crate) is_mixture: bool,
    pub(crate) code: Option<Arc<CodeMap>>,
}

/// The folder of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every launch of the committed full reports.
pub(crate) fn fixtures() -> &'static [Sample] {
    static SAMPLES: OnceLock<Vec<Sample>> = OnceLock::new();
    SAMPLES.get_or_init(|| {
        let fixtures = root().join("fixtures");
        let mut samples = folder(&fixtures.join("gallery"));
        samples.extend(folder(&fixtures.join("reports")));
        assert!(samples.len() > 70, "the fixtures are in the repository");
        samples
    })
}

fn corpus_folder() -> PathBuf {
    std::env::var_os("RIDGE_CORPUS").map_or_else(|| root().join("../shared/corpus"), PathBuf::from)
}

/// Whether the larger collection of reports is there.
pub(crate) fn has_corpus() -> bool {
    corpus_folder().join("pairs").is_dir()
}

/// Every launch of the reports in the corpus.
pub(crate) fn corpus() -> Vec<Sample> {
    let mut samples = folder(&corpus_folder().join("pairs"));
    samples.extend(folder(&corpus_folder().join("reports")));
    samples
}

/// Every launch of the reports in a folder, in order of their names.
pub(crate) fn folder(folder: &Path) -> Vec<Sample> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.to_string_lossy().ends_with(".ncu-rep.zst"))
        .collect();
    paths.sort();
    paths.iter().flat_map(|path| read(path)).collect()
}

/// Every launch of a report.
pub(crate) fn read(path: &Path) -> Vec<Sample> {
    read_with(path, is_read)
}

fn read_with(path: &Path, keeps: fn(&str) -> bool) -> Vec<Sample> {
    let file = std::fs::read(path).expect("a report can be read");
    let unpacked = ncu_rep::unpack(&file, u64::MAX);
    let report = Report::parse(&unpacked.bytes).expect("a report can be parsed");
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .trim_end_matches(".ncu-rep.zst")
        .to_owned();
    let mut maps: HashMap<_, Option<Arc<CodeMap>>> = HashMap::new();
    let mut samples = Vec::new();
    for (launch, profile) in report.profiles().enumerate() {
        let header = profile.header().value;
        let size = header.launches.first();
        let code = header.sources.first().and_then(|key| {
            maps.entry(*key)
                .or_insert_with(|| Some(Arc::new(CodeMap::new(&report.source(*key)?.value))))
                .clone()
        });
        samples.push(Sample {
            report: name.clone(),
            kernel: header
                .function_name
                .as_deref()
                .unwrap_or_default()
                .to_owned(),
            launch,
            counters: Counters(
                MetricTable::copy_of(&profile.metrics().value)
                    .into_iter()
                    .filter(|(name, _, _)| keeps(name))
                    .collect(),
            ),
            grid: size.map(|size| size.grid),
            block: size.map(|size| size.block),
            sections: profile
                .sections()
                .value
                .into_iter()
                .map(|section| section.id.into_owned())
                .collect(),
            is_mixture: header.kind != ncu_rep::report::WorkloadKind::Kernel,
            code,
        });
    }
    samples
}

/// A diagnosis reads a tenth of a report. What it cannot read is left out, so that a test may change and diagnose
/// thousands of kernels: series over time, curves of the occupancy calculator, attributes of the device, counters by
/// thread, smallest units, and all but the average share of a peak.
fn is_read(name: &str) -> bool {
    const PARTS: &[&str] = &[
        ".Triage",
        "__occupancy_per_",
        "__pct_occupancy_per_",
        "_not_issued",
        ".min",
        ".max_rate",
        ".avg.per_cycle_elapsed",
        ".max.per_",
        ".max.peak",
    ];
    const STARTS: &[&str] = &[
        "c2clink",
        "derived__sm",
        "derived_tempMetric",
        "group:",
        "lrc__",
        "numa__",
        "nvl",
        "pcie__",
        "pmsampling:",
        "profiler__",
        "sass__thread_",
        "smsp__sass_thread_",
    ];
    const ATTRIBUTES: &[&str] = &[
        "compute_capability_major",
        "compute_capability_minor",
        "display_name",
        "global_memory_bus_width",
        "max_warps_per_multiprocessor",
        "multiprocessor_count",
    ];
    let attribute = name.strip_prefix("device__attribute_");
    let is_share = name.contains(".pct_of_peak_sustained_elapsed");
    attribute.is_none_or(|attribute| ATTRIBUTES.contains(&attribute))
        && (!is_share || name.contains(".avg.") || name.contains("atomic_input"))
        && !PARTS.iter().any(|part| name.contains(part))
        && !STARTS.iter().any(|start| name.starts_with(start))
}

/// What is left out changes nothing.
#[test]
fn nothing_that_is_read_is_left_out() {
    let whole = read_with(&root().join("fixtures/gallery/triad.ncu-rep.zst"), |_| true);
    let read = sample("triad", "triad_slow");
    assert!(read.counters.0.len() < whole[0].counters.0.len() / 2);
    let (read, whole) = (read.all_findings(), whole[0].all_findings());
    assert_eq!((read.findings, read.stalls), (whole.findings, whole.stalls));
    assert_eq!(
        (read.resources, read.speed_of_light),
        (whole.resources, whole.speed_of_light)
    );
}

impl Sample {
    pub(crate) fn name(&self) -> String {
        format!("{}#{}@{}", self.report, self.kernel, self.launch)
    }

    /// The same launch with other counters.
    pub(crate) fn with(&self, counters: Counters) -> Self {
        Self {
            counters,
            ..self.clone()
        }
    }

    /// Diagnoses the launch with every finding, however small.
    pub(crate) fn all_findings(&self) -> Kernel {
        self.diagnose(0.0)
    }

    /// Diagnoses the launch as a person sees it.
    pub(crate) fn shown(&self) -> Kernel {
        self.diagnose(Options::default().min_saving)
    }

    pub(crate) fn diagnose(&self, min_saving: f64) -> Kernel {
        self.diagnose_as(
            &Group {
                launches: vec![(self.launch, self.counters.number("gpu__time_duration.sum"))],
                ..Group::default()
            },
            min_saving,
        )
    }

    pub(crate) fn diagnose_as(&self, group: &Group, min_saving: f64) -> Kernel {
        let table: MetricTable = self.counters.0.iter().cloned().collect();
        let profile = KernelProfile {
            name: self.kernel.clone(),
            signature: format!("{}()", self.kernel),
            mangled: None,
            is_mixture: self.is_mixture,
            grid: self.grid,
            block: self.block,
            launch_index: self.launch,
            sections: self.sections.clone(),
            metrics: table.metrics(),
        };
        diagnose(
            &profile,
            group,
            self.code.as_deref(),
            &Options {
                min_saving,
                ..Options::default()
            },
        )
    }
}

/// The launch of a committed report.
pub(crate) fn sample(report: &str, kernel: &str) -> Sample {
    fixtures()
        .iter()
        .find(|sample| sample.report == report && sample.kernel == kernel)
        .unwrap_or_else(|| panic!("fixtures hold no {report}#{kernel}"))
        .clone()
}

/// A finding of a kernel by its name.
pub(crate) fn finding<'k>(kernel: &'k Kernel, id: &str) -> Option<&'k Finding> {
    kernel.findings.iter().find(|finding| finding.id == id)
}

/// Findings by name and savings, for comparisons.
pub(crate) fn essence(kernel: &Kernel) -> Vec<(String, i64, i64)> {
    let rounded = |share: f64| (share * 1e7).round() as i64;
    kernel
        .findings
        .iter()
        .map(|finding| {
            (
                finding.id.clone(),
                rounded(finding.saving_ceiling),
                rounded(finding.saving_expected),
            )
        })
        .collect()
}

/// The counters of one kernel.
#[derive(Clone)]
pub(crate) struct Counters(pub(crate) Vec<Listed>);

/// Executed instructions by opcode, with modifiers and without.
const HISTOGRAMS: [&str; 2] = [
    "sass__inst_executed_per_opcode_with_modifier_all",
    "sass__inst_executed_per_opcode",
];

/// Instructions of the matrix pipes of 9.0.
pub(crate) const MATRIX: &[&str] = &["HMMA", "IMMA", "DMMA", "HGMMA", "QGMMA", "IGMMA"];

impl Counters {
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        let (_, value, _) = self.0.iter().find(|(known, _, _)| known == name)?;
        value.as_ref()?.number()
    }

    /// A metric that the test cannot do without.
    pub(crate) fn get(&self, name: &str) -> f64 {
        self.number(name)
            .unwrap_or_else(|| panic!("the sample holds no {name}"))
    }

    /// Sets a value, or adds the metric.
    pub(crate) fn set(&mut self, name: &str, number: f64) {
        let number = Some(Value::F64(number));
        match self.0.iter_mut().find(|(known, _, _)| known == name) {
            Some((_, value, _)) => *value = number,
            None => self.0.push((name.to_owned(), number, Vec::new())),
        }
    }

    pub(crate) fn add(&mut self, name: &str, more: f64) {
        self.set(name, self.number(name).unwrap_or(0.0) + more);
    }

    /// Multiplies values and instances of the metrics that a rule picks.
    pub(crate) fn scale(&mut self, picks: impl Fn(&str) -> bool, factor: f64) {
        for (name, value, instances) in &mut self.0 {
            if picks(name) {
                scale_value(value, factor);
                for instance in instances {
                    scale_value(&mut instance.value, factor);
                }
            }
        }
    }

    pub(crate) fn remove(&mut self, picks: impl Fn(&str) -> bool) {
        self.0.retain(|(name, _, _)| !picks(name));
    }

    /// Instructions of the opcodes that start so.
    pub(crate) fn executed(&self, opcode: &str) -> f64 {
        self.histogram(HISTOGRAMS[0])
            .iter()
            .filter(|(name, _)| name == opcode || name.starts_with(&format!("{opcode}.")))
            .map(|(_, count)| count)
            .sum()
    }

    /// Instructions of this opcode with just these modifiers.
    pub(crate) fn executed_exactly(&self, opcode: &str) -> f64 {
        self.histogram(HISTOGRAMS[0])
            .iter()
            .filter(|(name, _)| name == opcode)
            .map(|(_, count)| count)
            .sum()
    }

    /// The forms of an opcode, with their modifiers.
    pub(crate) fn opcodes(&self, opcode: &str) -> Vec<String> {
        self.histogram(HISTOGRAMS[0])
            .into_iter()
            .map(|(name, _)| name)
            .filter(|name| name == opcode || name.starts_with(&format!("{opcode}.")))
            .collect()
    }

    pub(crate) fn executed_any(&self, opcodes: &[&str]) -> f64 {
        opcodes.iter().map(|opcode| self.executed(opcode)).sum()
    }

    pub(crate) fn all_executed(&self) -> f64 {
        self.histogram(HISTOGRAMS[0])
            .iter()
            .map(|(_, count)| count)
            .sum()
    }

    fn histogram(&self, name: &str) -> Vec<(String, f64)> {
        let Some((_, _, instances)) = self.0.iter().find(|(known, _, _)| known == name) else {
            return Vec::new();
        };
        instances
            .iter()
            .filter_map(|instance| {
                let key = instance.key.as_ref()?.text()?.to_owned();
                Some((key, instance.value.as_ref()?.number()?))
            })
            .collect()
    }

    /// Executes more (or fewer) instructions of an opcode with modifiers, by all lanes: histogram and instruction
    /// counters.
    pub(crate) fn execute(&mut self, opcode: &str, more: f64) {
        const LANES: &str = "smsp__thread_inst_executed_per_inst_executed.ratio";
        let executed = self.number("smsp__inst_executed.sum").unwrap_or(0.0);
        if let Some(lanes) = self
            .number(LANES)
            .filter(|_| executed + more > 0.0 && more > 0.0)
        {
            self.set(LANES, (lanes * executed + 32.0 * more) / (executed + more));
        }
        // What warps wait is the same, and is divided by more instructions.
        let issued = self.number("smsp__inst_issued.sum").unwrap_or(0.0);
        if issued + more > 0.0 {
            self.scale(
                |name| name == LATENCY || is_waiting(name),
                issued / (issued + more),
            );
        }
        for histogram in HISTOGRAMS {
            let key = if histogram == HISTOGRAMS[0] {
                opcode
            } else {
                opcode.split('.').next().unwrap_or(opcode)
            };
            let (_, value, instances) = self
                .0
                .iter_mut()
                .find(|(known, _, _)| known == histogram)
                .expect("a full report holds the histogram");
            if let Some(number) = value.as_ref().and_then(Value::number) {
                *value = Some(Value::F64(number + more));
            }
            let known = instances
                .iter_mut()
                .find(|instance| instance.key.as_ref().and_then(Value::text) == Some(key));
            match known {
                Some(instance) => {
                    let number = instance
                        .value
                        .as_ref()
                        .and_then(Value::number)
                        .unwrap_or(0.0);
                    instance.value = Some(Value::F64(number + more));
                }
                None => instances.push(Instance {
                    key: Some(Value::Text(key.to_owned().into())),
                    value: Some(Value::F64(more)),
                }),
            }
        }
        self.add("smsp__inst_issued.sum", more);
        self.add("smsp__inst_executed.sum", more);
    }

    /// Multiprocessors of the device.
    pub(crate) fn multiprocessors(&self) -> f64 {
        self.get("launch__sm_count")
    }

    /// Cycles of a multiprocessor for which the kernel ran.
    pub(crate) fn cycles(&self) -> f64 {
        self.get("sm__cycles_elapsed.max")
    }

    /// Lets the same work take this many times as long, with every warp resident all the while.
    ///
    /// Cycles grow, shares and rates fall. Units of the memory are active for as long as before: for their work.
    pub(crate) fn stretch(&mut self, factor: f64) {
        let grows = |name: &str| {
            let is_memory = name.starts_with("lts__") || name.starts_with("dram__");
            is_cycles(name) && !(is_memory && name.contains("cycles_active"))
        };
        self.scale(
            |name| name.starts_with("gpu__time_duration") || grows(name),
            factor,
        );
        self.scale(is_rate, 1.0 / factor);
    }

    /// Lets the kernel run for more cycles on each multiprocessor, in which its warps wait for this reason.
    pub(crate) fn wait(&mut self, cycles: f64, reason: &str) {
        let factor = 1.0 + cycles / self.cycles();
        self.stretch(factor);
        let latency = self.get(LATENCY);
        self.set(LATENCY, latency * factor);
        self.add(
            &format!("smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio"),
            latency * (factor - 1.0),
        );
    }

    /// The same at one instruction, where samples show it.
    pub(crate) fn wait_at(&mut self, address: u64, cycles: f64, reason: &str) {
        let samples: f64 = self.at(SAMPLES).iter().map(|(_, count)| count).sum();
        let more = samples * cycles / self.cycles();
        self.wait(cycles, reason);
        self.add_at(SAMPLES, address, more);
        self.add_at(
            &format!("smsp__pcsamp_warps_issue_stalled_{reason}"),
            address,
            more,
        );
    }

    /// Values of a metric by instruction.
    pub(crate) fn at(&self, metric: &str) -> Vec<(u64, f64)> {
        let found = self.0.iter().find(|(known, _, _)| known == metric);
        let instances = found.map_or(&[][..], |(_, _, instances)| instances);
        instances
            .iter()
            .filter_map(|instance| {
                let Some(Value::U64(address)) = instance.key else {
                    return None;
                };
                Some((address, instance.value.as_ref()?.number()?))
            })
            .collect()
    }

    /// Counts more at an instruction, and in all.
    pub(crate) fn add_at(&mut self, metric: &str, address: u64, more: f64) {
        let mut values = self.at(metric);
        match values.iter_mut().find(|(known, _)| *known == address) {
            Some((_, value)) => *value += more,
            None => values.push((address, more)),
        }
        values.sort_by_key(|(address, _)| *address);
        let listed = values.into_iter().map(|(address, value)| Instance {
            key: Some(Value::U64(address)),
            value: Some(Value::F64(value)),
        });
        let listed: Vec<Instance<'static>> = listed.collect();
        match self.0.iter_mut().find(|(known, _, _)| known == metric) {
            Some((_, value, instances)) => {
                if let Some(number) = value.as_ref().and_then(Value::number) {
                    *value = Some(Value::F64(number + more));
                }
                *instances = listed;
            }
            None => self.0.push((metric.to_owned(), None, listed)),
        }
    }

    /// An address behind the code: that of an instruction which is added.
    pub(crate) fn behind_the_code(&self) -> u64 {
        let addresses = self.at("inst_executed");
        addresses
            .iter()
            .map(|(address, _)| address + 16)
            .max()
            .unwrap_or(16)
    }

    /// What Speed Of Light shows of a unit is what it was, plus this.
    pub(crate) fn show(&mut self, member: &str, share: f64) {
        let name = format!("{member}.avg.pct_of_peak_sustained_elapsed");
        let percent = (self.number(&name).unwrap_or(0.0) + 100.0 * share).clamp(0.0, 100.0);
        self.set(&name, percent);
    }
}

const SAMPLES: &str = "smsp__pcsamp_sample_count";
const LATENCY: &str = "smsp__average_warp_latency_per_inst_issued.ratio";

/// The part of the latency of an instruction that is waiting.
fn is_waiting(name: &str) -> bool {
    name.starts_with("smsp__average_warps_issue_stalled_")
        && name.ends_with("_per_issue_active.ratio")
        && !name.contains("stalled_selected_")
}

/// Counts of cycles, but no rate, share or peak of them.
pub(crate) fn is_cycles(name: &str) -> bool {
    (name.contains("__cycles_active.") || name.contains("__cycles_elapsed."))
        && !name.contains("per_second")
        && !name.contains("peak_sustained")
        && !name.contains("per_cycle")
}

/// Shares of a peak and rates of work; those of the clock stay.
pub(crate) fn is_rate(name: &str) -> bool {
    name.contains("pct_of_peak_sustained_elapsed")
        || name.ends_with(".per_second") && !name.contains("cycles_elapsed")
        || matches!(
            name,
            "smsp__issue_active.avg.per_cycle_active" | "smsp__warps_eligible.avg.per_cycle_active"
        )
}

fn scale_value(value: &mut Option<Value<'static>>, factor: f64) {
    if let Some(number) = value.as_ref().and_then(Value::number) {
        *value = Some(Value::F64(number * factor));
    }
}

/// Does the same for every item, on all cores; the answers come in the order of the items.
pub(crate) fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let each = items.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let parts: Vec<_> = items
            .chunks(each)
            .map(|part| scope.spawn(|| part.iter().map(&work).collect::<Vec<R>>()))
            .collect();
        parts
            .into_iter()
            .flat_map(|part| part.join().expect("the work does not panic"))
            .collect()
    })
}
