//! The lines, from the driver up. Each says what was found, why it is judged so, and what mends it.

use super::counters;
use super::document::{Line, Need, State};
use super::machine::{
    Device, Driver, Failure, Gpu, LibraryName, Machine, Process, Tool, ToolName, ToolState,
};
use super::ncu::{oldest_for, release};

/// Room below which a report does not fit: a full profile of one kernel has some megabytes, one of hundreds of launches
/// some hundreds.
const LEAST_BYTES: u64 = 256 << 20;
const LITTLE_BYTES: u64 = 2 << 30;

const ALL: [Need; 3] = [Need::Measure, Need::Profile, Need::Sanitize];

/// Turns facts into lines.
#[must_use]
pub fn examine(machine: &Machine) -> Vec<Line> {
    let mut lines = vec![driver(machine)];
    lines.extend(devices(machine));
    if let Some(Ok(gpus)) = &machine.gpus {
        for (place, gpu) in gpus.iter().enumerate() {
            let name = if gpus.len() > 1 {
                format!("GPU {place}")
            } else {
                "GPU".to_owned()
            };
            lines.extend(gpu_lines(&name, gpu));
        }
    }
    lines.extend(libraries(machine));
    for name in ToolName::ALL {
        let tool = machine.tools.iter().find(|tool| tool.name == name);
        lines.push(self::tool(name, tool));
        if name == ToolName::Ncu {
            lines.extend(ncu_age(machine, tool));
            lines.push(counters::line(machine));
            lines.push(holders(machine));
        }
    }
    lines.extend(disks(machine));
    lines
}

/// The lines that stand in the way of something: what does not work and is needed for it. Where there are none it can be
/// tried, which is no promise.
#[must_use]
pub fn preflight(machine: &Machine, need: Need) -> Vec<Line> {
    let mut lines = examine(machine);
    let is_unknown = |line: &Line| {
        // Without a driver or a tool nothing starts, whatever the reason; counters that nobody knows about may work.
        line.state == State::Unknown
            && matches!(line.id.as_str(), "driver" | "ncu" | "compute-sanitizer")
    };
    lines.retain(|line| {
        line.needed_for.contains(&need)
            && !line.is_optional
            && (line.state == State::Fails || is_unknown(line))
    });
    lines
}

/// What stands in the way, in the form of an error: what is wrong, and what mends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// All that is wrong.
    pub message: String,
    /// What mends it, in the same order.
    pub hint: String,
}

/// What stands in the way of something; `None` where it can be tried.
///
/// ```
/// use ridge_collect::doctor::{Machine, Need, obstacle};
///
/// let found = obstacle(&Machine::default(), Need::Profile).unwrap();
/// assert!(found.message.starts_with("this machine is not ready for profiling: driver: "));
/// ```
#[must_use]
pub fn obstacle(machine: &Machine, need: Need) -> Option<Obstacle> {
    of_lines(&preflight(machine, need), need)
}

/// What is known to stand in the way of something. What nobody looked at stops nothing: whoever goes on finds out.
///
/// ```
/// use ridge_collect::doctor::{Machine, Need, Tool, ToolName, ToolState, known_obstacle};
///
/// assert_eq!(known_obstacle(&Machine::default(), Need::Profile), None);
/// let state = ToolState::Missing { looked_in: vec!["PATH".to_owned()] };
/// let tools = vec![Tool { name: ToolName::Ncu, state }];
/// let machine = Machine { tools, ..Machine::default() };
/// let found = known_obstacle(&machine, Need::Profile).unwrap();
/// assert!(found.message.contains("ncu: not installed"));
/// ```
#[must_use]
pub fn known_obstacle(machine: &Machine, need: Need) -> Option<Obstacle> {
    let mut lines = preflight(machine, need);
    lines.retain(|line| line.state == State::Fails);
    of_lines(&lines, need)
}

fn of_lines(lines: &[Line], need: Need) -> Option<Obstacle> {
    let reasons: Vec<String> = lines
        .iter()
        .map(|line| format!("{}: {}", line.subject, line.text))
        .collect();
    let mut remedies: Vec<&str> = Vec::new();
    for remedy in lines.iter().filter_map(|line| line.remedies.first()) {
        if !remedies.contains(&remedy.as_str()) {
            remedies.push(remedy);
        }
    }
    let more = "`ridge doctor` tells everything about this machine";
    (!lines.is_empty()).then(|| Obstacle {
        message: format!(
            "this machine is not ready for {}: {}",
            need.text(),
            reasons.join("; ")
        ),
        hint: remedies
            .into_iter()
            .chain([more])
            .collect::<Vec<_>>()
            .join("; "),
    })
}

fn line(id: &str, subject: &str, state: State, text: impl Into<String>, needs: &[Need]) -> Line {
    Line {
        id: id.to_owned(),
        subject: subject.to_owned(),
        state,
        text: text.into(),
        remedies: Vec::new(),
        needed_for: needs.to_vec(),
        is_optional: false,
    }
}

impl Line {
    fn mend(mut self, remedy: impl Into<String>) -> Self {
        self.remedies.push(remedy.into());
        self
    }

    fn optional(mut self) -> Self {
        self.is_optional = true;
        self
    }
}

fn driver(machine: &Machine) -> Line {
    match &machine.driver {
        None => line(
            "driver",
            "driver",
            State::Unknown,
            "it was not looked at",
            &ALL,
        ),
        Some(Err(failure)) => failed("driver", "driver", failure),
        Some(Ok(Driver {
            release,
            cuda,
            devices,
        })) => {
            let release = release.as_deref().unwrap_or("of unknown version");
            let cuda = cuda.as_ref().map(|cuda| format!(", for CUDA {cuda}"));
            let text = format!("{release}{}", cuda.unwrap_or_default());
            if *devices > 0 {
                return line("driver", "driver", State::Works, text, &ALL);
            }
            let is_cut = matches!(&machine.gpus, Some(Ok(gpus)) if gpus.iter().any(|gpu| gpu.is_mig_on == Some(true)));
            let found = line(
                "driver",
                "driver",
                State::Fails,
                format!("{text}; it shows no GPU to this process"),
                &ALL,
            );
            if is_cut {
                found.mend("MIG is on and has no partition for this process: `nvidia-smi mig -cgi 0 -C` as root makes one, `nvidia-smi -L` lists them for CUDA_VISIBLE_DEVICES")
            } else {
                found.mend("see what `nvidia-smi -L` lists, and whether CUDA_VISIBLE_DEVICES hides it; a container needs `--gpus all`")
            }
        }
    }
}

fn failed(id: &str, subject: &str, failure: &Failure) -> Line {
    let found = line(id, subject, State::Fails, failure.message.clone(), &ALL);
    match &failure.hint {
        Some(hint) => found.mend(hint.clone()),
        None => found,
    }
}

fn devices(machine: &Machine) -> Vec<Line> {
    let is_one = machine.devices.len() == 1;
    machine
        .devices
        .iter()
        .enumerate()
        .map(|(place, device)| {
            let subject = if is_one {
                "device".to_owned()
            } else {
                format!("device {place}")
            };
            match device {
                Err(failure) => failed("device", &subject, failure),
                Ok(device) => one_device(&subject, device),
            }
        })
        .collect()
}

fn one_device(subject: &str, device: &Device) -> Line {
    let (major, minor) = device.capability;
    let text = format!(
        "{}, compute capability {major}.{minor}, {} SMs; a kernel ran on it",
        device.name, device.multiprocessors
    );
    if device.is_mig == Some(true) {
        return line(
            "device",
            subject,
            State::Limited,
            format!("{text}; it is a partition (MIG), whose neighbours share clocks and power"),
            &ALL,
        )
        .mend("measure while the neighbours are idle, or on a whole GPU (`nvidia-smi -mig 0` as root, after a reset)");
    }
    if device.has_display_watchdog == Some(true) {
        return line(
            "device",
            subject,
            State::Limited,
            format!("{text}; it drives a display, whose watchdog ends long kernels"),
            &ALL,
        )
        .mend("measure on a GPU without a display, or without a graphical session");
    }
    line("device", subject, State::Works, text, &ALL)
}

const MEASURED: [Need; 2] = [Need::Measure, Need::Profile];

fn gpu_lines(name: &str, gpu: &Gpu) -> Vec<Line> {
    let subject = |what: &str| format!("{name}: {what}");
    let mut lines = vec![clocks(&subject("clocks"), gpu)];
    let mut fact = |id: &str,
                    what: &str,
                    value: Option<bool>,
                    on: (State, &str),
                    off: (State, &str),
                    remedy: &str| {
        let (state, text) = match value {
            Some(true) => on,
            Some(false) => off,
            None => (State::Unknown, "NVML does not tell"),
        };
        let mut found = line(id, &subject(what), state, text, &MEASURED).optional();
        if state == State::Limited {
            found = found.mend(remedy);
        }
        lines.push(found);
    };
    fact(
        "persistence",
        "persistence",
        gpu.is_persistent,
        (State::Works, "on"),
        (
            State::Limited,
            "off: the driver starts anew for each process, with cold clocks",
        ),
        "`nvidia-smi -pm 1` as root, or the service nvidia-persistenced",
    );
    // GPUs that cannot be cut or have no ECC say nothing, and need no line.
    if gpu.is_mig_on.is_some() {
        fact(
            "mig",
            "MIG",
            gpu.is_mig_on,
            (
                State::Limited,
                "on: figures are those of a partition, and clocks cannot be locked",
            ),
            (State::Works, "off"),
            "`nvidia-smi -mig 0` as root where whole GPUs are to be measured",
        );
    }
    if gpu.is_ecc_on.is_some() {
        fact(
            "ecc",
            "ECC",
            gpu.is_ecc_on,
            (State::Works, "on"),
            (
                State::Limited,
                "off, which gives some boards more bandwidth than others of the kind have",
            ),
            "`nvidia-smi -e 1` as root and a restart, to compare with boards that have it on",
        );
    }
    lines.push(processes(&subject("other processes"), gpu));
    lines
}

fn megahertz(hertz: f64) -> String {
    format!("{:.0} MHz", hertz / 1e6)
}

fn clocks(subject: &str, gpu: &Gpu) -> Line {
    let clock = gpu
        .sm_clock_hz
        .map(|clock| format!("SM {}", megahertz(clock)));
    let most = gpu
        .max_sm_clock_hz
        .map(|clock| format!(" of at most {}", megahertz(clock)));
    let clock = clock.map(|clock| format!("{clock}{}", most.unwrap_or_default()));
    let mut parts: Vec<String> = clock.into_iter().collect();
    parts.extend(gpu.temperature_c.map(|heat| format!("{heat:.0} C")));
    parts.extend(gpu.power_w.map(|power| format!("{power:.0} W")));
    let reasons = gpu
        .throttle
        .as_ref()
        .filter(|reasons| !reasons.is_empty())
        .map(|reasons| reasons.join(", "));
    let (state, more) = match (gpu.is_throttled, reasons) {
        (Some(true), reasons) => (
            State::Limited,
            Some(format!(
                "held down at this moment by {}",
                reasons.unwrap_or_else(|| "a reason without a name".to_owned())
            )),
        ),
        (Some(false), Some(reasons)) => (State::Works, Some(reasons)),
        (Some(false), None) => (State::Works, None),
        (None, _) => (
            State::Unknown,
            Some("what holds them down is not told".to_owned()),
        ),
    };
    parts.extend(more);
    let found = line("clocks", subject, state, parts.join(", "), &MEASURED).optional();
    if state == State::Limited {
        found.mend("see `nvidia-smi -q -d PERFORMANCE,POWER,TEMPERATURE`: cool it, end what else draws power, or measure at a lower, locked clock (`ridge bench --lock-clocks`)")
    } else {
        found
    }
}

fn named(process: &Process) -> String {
    let name = process.name.as_deref().unwrap_or("unknown name");
    let memory = process
        .memory_bytes
        .map(|bytes| format!(", {} MiB", bytes >> 20))
        .unwrap_or_default();
    format!("{} ({name}{memory})", process.pid)
}

/// Processes that are listed by name.
const MOST_NAMED: usize = 5;

fn processes(subject: &str, gpu: &Gpu) -> Line {
    let Some(processes) = &gpu.processes else {
        return line(
            "processes",
            subject,
            State::Unknown,
            "NVML does not tell",
            &MEASURED,
        )
        .optional();
    };
    if processes.is_empty() {
        return line(
            "processes",
            subject,
            State::Works,
            "none computes on it",
            &MEASURED,
        )
        .optional();
    }
    let mut names: Vec<String> = processes.iter().take(MOST_NAMED).map(named).collect();
    let more = processes.len().saturating_sub(MOST_NAMED);
    if more > 0 {
        names.push(format!("{more} more"));
    }
    line(
        "processes",
        subject,
        State::Limited,
        format!(
            "others compute on it: {}; times and counters are theirs, too",
            names.join(", ")
        ),
        &MEASURED,
    )
    .optional()
    .mend("wait for them, or choose another GPU with --device N or CUDA_VISIBLE_DEVICES")
}

fn libraries(machine: &Machine) -> Vec<Line> {
    /// Library, id, subject, what needs it, whether that goes on without, what installs it.
    type Row<'t> = (LibraryName, &'t str, &'t str, &'t [Need], bool, &'t str);
    let rows: [Row<'_>; 5] = [
        (
            LibraryName::Driver,
            "libcuda",
            "the driver's library",
            &ALL,
            false,
            "install NVIDIA's driver, or start the container with its GPUs (`--gpus all`)",
        ),
        (
            LibraryName::Nvml,
            "nvml",
            "NVML",
            &[Need::Measure],
            true,
            "it comes with the driver; a container needs NVIDIA_DRIVER_CAPABILITIES=utility,compute. Without it clocks and other processes are not seen",
        ),
        (
            LibraryName::Nvrtc,
            "nvrtc",
            "NVRTC",
            &[Need::Measure],
            false,
            "`pip install nvidia-cuda-nvrtc` (or the CUDA toolkit); RIDGE_NVRTC names one in another place. Without it kernels are measured only from cubins",
        ),
        (
            LibraryName::CublasLt,
            "cublaslt",
            "cuBLASLt",
            &[Need::Measure],
            true,
            "`pip install nvidia-cublas` (or the CUDA toolkit). Without it `ridge ceilings` leaves the products of the library out",
        ),
        (
            LibraryName::Cupti,
            "cupti",
            "CUPTI",
            &[Need::Profile],
            true,
            "`pip install nvidia-cuda-cupti` (or the CUDA toolkit). Only traces need it",
        ),
    ];
    rows.into_iter()
        .map(|(name, id, subject, needs, is_optional, remedy)| {
            let found = machine.libraries.iter().find(|library| library.name == name);
            let found = match found.map(|library| library.path.as_deref()) {
                None => line(id, subject, State::Unknown, "it was not looked for", needs),
                Some(Some(path)) => line(id, subject, State::Works, path, needs),
                Some(None) => line(
                    id,
                    subject,
                    State::Fails,
                    "not found by the system's loader, in toolkits, or in conda and Python environments",
                    needs,
                )
                .mend(remedy),
            };
            if is_optional { found.optional() } else { found }
        })
        .collect()
}

fn tool(name: ToolName, tool: Option<&Tool>) -> Line {
    let (needs, remedy): (&[Need], &str) = match name {
        ToolName::Ncu => (
            &[Need::Profile],
            "install Nsight Compute: package nsight-compute-VERSION of NVIDIA's repository or the CUDA toolkit, in conda nsight-compute; no GPU counters are read without it",
        ),
        ToolName::ComputeSanitizer => (
            &[Need::Sanitize],
            "it comes with the CUDA toolkit (package cuda-sanitizer-VERSION, in conda cuda-sanitizer-api)",
        ),
        ToolName::Nvdisasm => (
            &[Need::Disassemble],
            "it comes with the CUDA toolkit (package cuda-nvdisasm-VERSION, in conda cuda-nvdisasm)",
        ),
    };
    let program = name.program();
    let found = match tool.map(|tool| &tool.state) {
        None => line(
            program,
            program,
            State::Unknown,
            "it was not looked for",
            needs,
        ),
        Some(ToolState::Found { path, version }) => {
            let version = version.as_ref().map(|version| format!("{version}, "));
            line(
                program,
                program,
                State::Works,
                format!("{}{path}", version.unwrap_or_default()),
                needs,
            )
        }
        Some(ToolState::Broken { path, reason }) => line(
            program,
            program,
            State::Fails,
            format!("{path} does not start: {reason}"),
            needs,
        )
        .mend(remedy),
        Some(ToolState::Missing { looked_in }) => line(
            program,
            program,
            State::Fails,
            format!("not installed; looked in {}", looked_in.join(", ")),
            needs,
        )
        .mend(format!(
            "{remedy}; {} names another place",
            name.variables()
        )),
    };
    if name == ToolName::Nvdisasm {
        found.optional()
    } else {
        found
    }
}

/// Whether the profiler knows each GPU; no line where that cannot be compared.
fn ncu_age(machine: &Machine, tool: Option<&Tool>) -> Option<Line> {
    let ToolState::Found {
        version: Some(version),
        ..
    } = &tool?.state
    else {
        return None;
    };
    let own = release(version)?;
    let mut capabilities: Vec<(u32, u32)> = machine
        .devices
        .iter()
        .flatten()
        .map(|device| device.capability)
        .collect();
    if let Some(Ok(gpus)) = &machine.gpus {
        capabilities.extend(gpus.iter().filter_map(|gpu| gpu.capability));
    }
    capabilities.sort_unstable();
    capabilities.dedup();
    // The newest is the one that is not known first.
    let (major, minor) = capabilities.last().copied()?;
    let subject = "ncu and GPU";
    let needs = [Need::Profile];
    let Some((year, part)) = oldest_for((major, minor)) else {
        return Some(line(
            "ncu-gpu",
            subject,
            State::Unknown,
            format!(
                "which ncu is the first for compute capability {major}.{minor} is not known here"
            ),
            &needs,
        ));
    };
    Some(if own >= (year, part) {
        line(
            "ncu-gpu",
            subject,
            State::Works,
            format!("compute capability {major}.{minor} is known since ncu {year}.{part}"),
            &needs,
        )
    } else {
        line(
            "ncu-gpu",
            subject,
            State::Fails,
            format!("ncu {version} is older than {year}.{part}, the first for compute capability {major}.{minor}"),
            &needs,
        )
        .mend(format!("install ncu {year}.{part} or newer; PATH has to name it before the old one"))
    })
}

fn holders(machine: &Machine) -> Line {
    let needs = [Need::Profile];
    let subject = "counters in use";
    let Some(holders) = &machine.holders else {
        return line(
            "holders",
            subject,
            State::Unknown,
            "processes cannot be listed",
            &needs,
        )
        .optional();
    };
    if holders.is_empty() {
        let (state, text) = match &machine.counters.container {
            Some(_) => (
                State::Unknown,
                "no DCGM and no other profiler is seen from inside this container; the host may run one",
            ),
            None => (State::Works, "no DCGM and no other profiler runs"),
        };
        return line("holders", subject, state, text, &needs).optional();
    }
    let names: Vec<String> = holders.iter().map(named).collect();
    let is_dcgm = holders.iter().any(|holder| {
        let name = holder.name.as_deref().unwrap_or_default();
        name.contains("dcgm") || name.contains("nv-hostengine")
    });
    let found = line(
        "holders",
        subject,
        State::Limited,
        format!("these may hold the counters: {}", names.join(", ")),
        &needs,
    )
    .optional();
    if is_dcgm {
        found.mend("`dcgmi profile --pause` before and `dcgmi profile --resume` after profiling")
    } else {
        found.mend("end the other profiler; two at a time end in CUPTI error 39")
    }
}

fn disks(machine: &Machine) -> Vec<Line> {
    machine
        .disks
        .iter()
        .map(|disk| {
            let subject = format!("disk: {}", disk.purpose);
            let needs = [Need::Profile, Need::Sanitize];
            let Some(free) = disk.free_bytes else {
                return line(
                    "disk",
                    &subject,
                    State::Unknown,
                    format!("{}: how much is free is not told", disk.path),
                    &needs,
                );
            };
            let shown = if free >= 10 << 30 {
                format!("{} GiB", free >> 30)
            } else {
                format!("{} MiB", free >> 20)
            };
            let text = format!("{}: {shown} free", disk.path);
            let remedy = "free some space, or name another place with --output FILE and TMPDIR";
            if free < LEAST_BYTES {
                line(
                    "disk",
                    &subject,
                    State::Fails,
                    format!("{text}, too little for a report"),
                    &needs,
                )
                .mend(remedy)
            } else if free < LITTLE_BYTES {
                line(
                    "disk",
                    &subject,
                    State::Limited,
                    format!("{text}; full profiles of many launches take more"),
                    &needs,
                )
                .mend(remedy)
            } else {
                line("disk", &subject, State::Works, text, &needs)
            }
        })
        .collect()
}
