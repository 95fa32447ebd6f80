//! The facts of this machine: what the system, its tools and a survey of the GPUs tell.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ridge_collect::doctor::{
    Counters, Disk, Driver, Failure, Machine, Process, Tool, ToolName, ToolState,
};
use ridge_collect::sanitize::{self, End};

use super::SURVEY;
use crate::process;
use crate::tools;

/// Eight GPUs without persistence take some ten seconds to start.
const SURVEY_LIMIT: Duration = Duration::from_secs(90);
/// The first start of a tool reads it from a disk.
const TOOL_LIMIT: Duration = Duration::from_secs(30);

/// All facts. Takes a second or two where there are GPUs.
pub(crate) fn machine(is_interrupted: &dyn Fn() -> bool) -> Machine {
    let counters = counters();
    let mut machine = gpus(is_interrupted);
    // In a container the numbers are those of the host, under which other processes may run here.
    if counters.container.is_none()
        && let Some(Ok(gpus)) = &mut machine.gpus
    {
        for process in gpus
            .iter_mut()
            .filter_map(|gpu| gpu.processes.as_mut())
            .flatten()
        {
            process.name = name_of(process.pid);
        }
    }
    Machine {
        tools: ToolName::ALL
            .into_iter()
            .map(|name| tool(name, is_interrupted))
            .collect(),
        counters,
        holders: holders(),
        disks: disks(),
        ..machine
    }
}

/// What can be known in no time: nothing is asked of the driver, and no tool is started. Beside it, where the profiler is.
pub(crate) fn beforehand(reports: &Path) -> (Machine, Option<PathBuf>) {
    let (state, profiler) = match tools::find(ToolName::Ncu) {
        Ok(path) => {
            let found = ToolState::Found {
                path: path.display().to_string(),
                version: None,
            };
            (found, Some(path))
        }
        Err(looked_in) => (ToolState::Missing { looked_in }, None),
    };
    let machine = Machine {
        driver: loaded_driver().map(Ok),
        tools: vec![Tool {
            name: ToolName::Ncu,
            state,
        }],
        counters: counters(),
        disks: vec![Disk {
            purpose: "reports".to_owned(),
            free_bytes: free(reports),
            path: reports.display().to_string(),
        }],
        ..Machine::default()
    };
    (machine, profiler)
}

/// What is known of a machine, with what the driver and the libraries say.
pub(crate) fn with_driver(known: Machine) -> Machine {
    Machine {
        tools: known.tools,
        counters: known.counters,
        disks: known.disks,
        ..gpus(&|| false)
    }
}

/// The driver that the kernel of the system has loaded, if it says so and shows GPUs; how many of them a process sees is for
/// the driver to tell.
fn loaded_driver() -> Option<Driver> {
    let text = fs::read_to_string("/proc/driver/nvidia/version").ok()?;
    let gpus = fs::read_dir("/proc/driver/nvidia/gpus").ok()?.count();
    let devices = u32::try_from(gpus).ok().filter(|count| *count > 0)?;
    Some(Driver {
        release: Some(release_of_module(&text)?.to_owned()),
        cuda: None,
        devices,
    })
}

/// The release in `NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build …`.
fn release_of_module(text: &str) -> Option<&str> {
    let line = field(text, "NVRM version:")?;
    line.split_whitespace().find(|word| {
        word.contains('.')
            && word
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'.')
    })
}

/// What the driver and the libraries say.
fn gpus(is_interrupted: &dyn Fn() -> bool) -> Machine {
    let without = |message: String| Machine {
        driver: Some(Err(Failure {
            message,
            hint: Some(
                "see the system's log (`dmesg`, Xid), and whether `nvidia-smi` answers".to_owned(),
            ),
        })),
        ..Machine::default()
    };
    let ask = || -> std::io::Result<Machine> {
        let folder = tempfile::Builder::new().prefix("ridge-doctor-").tempdir()?;
        let file = folder.path().join("facts.json");
        let own = std::env::current_exe()?;
        let arguments = [SURVEY.into(), file.clone().into_os_string()];
        let finished = process::run(&own, &arguments, Some(SURVEY_LIMIT), is_interrupted)?;
        Ok(match (finished.end, fs::read(&file)) {
            (End::Code(0), Ok(text)) => serde_json::from_slice(&text)?,
            (End::TimedOut, _) => without(format!(
                "the driver did not answer within {} s",
                SURVEY_LIMIT.as_secs()
            )),
            (End::Signal(signal), _) => without(format!(
                "the process that asks the driver was ended by signal {signal}"
            )),
            _ => without("the process that asks the driver ended without an answer".to_owned()),
        })
    };
    ask().unwrap_or_else(|error| without(format!("the driver could not be asked: {error}")))
}

fn tool(name: ToolName, is_interrupted: &dyn Fn() -> bool) -> Tool {
    let state = match tools::find(name) {
        Err(looked) => ToolState::Missing { looked_in: looked },
        Ok(path) => asked(&path, is_interrupted),
    };
    Tool { name, state }
}

/// A tool's own word about its version.
fn asked(program: &Path, is_interrupted: &dyn Fn() -> bool) -> ToolState {
    let path = program.display().to_string();
    let broken = |reason: String| ToolState::Broken {
        path: path.clone(),
        reason,
    };
    match process::run(
        program,
        &["--version".into()],
        Some(TOOL_LIMIT),
        is_interrupted,
    ) {
        Err(error) => broken(error.to_string()),
        Ok(finished) => match finished.end {
            End::Code(0) => ToolState::Found {
                version: sanitize::version(&finished.output)
                    .or_else(|| of_compiler(&finished.output))
                    .map(str::to_owned),
                path,
            },
            End::TimedOut => broken(format!("no answer within {} s", TOOL_LIMIT.as_secs())),
            _ => {
                let first = finished.output.lines().find(|line| !line.trim().is_empty());
                broken(first.unwrap_or("it fails without a word").trim().to_owned())
            }
        },
    }
}

/// The version in `Cuda compilation tools, release 13.0, V13.0.88`.
fn of_compiler(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once(" release ")?;
    let (_, rest) = rest.split_once(", V")?;
    rest.split_whitespace().next()
}

fn counters() -> Counters {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let parameters = fs::read_to_string("/proc/driver/nvidia/params").unwrap_or_default();
    Counters {
        is_restricted: restricted(&parameters),
        is_root: field(&status, "Uid:")
            .and_then(|ids| ids.split_whitespace().nth(1)?.parse::<u32>().ok())
            .map(|id| id == 0),
        capabilities: field(&status, "CapEff:")
            .and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()),
        is_user_namespace: fs::read_to_string("/proc/self/uid_map")
            .ok()
            .and_then(|map| is_inner(&map)),
        container: container(),
        sandbox: fs::read_to_string("/proc/version")
            .ok()
            .and_then(|version| sandbox(&version)),
    }
}

fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines().find_map(|line| line.strip_prefix(name))
}

/// Whether the parameters of the kernel module keep counters for administrators. They name it otherwise than the option
/// that sets it, `NVreg_RestrictProfilingToAdminUsers`.
fn restricted(parameters: &str) -> Option<bool> {
    let value = field(parameters, "RmProfilingAdminOnly:")?.trim();
    value.parse::<u32>().ok().map(|value| value != 0)
}

/// Whether a map of users is not that of the first namespace, in which each number stands for itself.
fn is_inner(map: &str) -> Option<bool> {
    let numbers: Vec<u64> = map
        .split_whitespace()
        .map(str::parse)
        .collect::<Result<_, _>>()
        .ok()?;
    (!numbers.is_empty()).then(|| numbers != [0, 0, u64::from(u32::MAX)])
}

fn container() -> Option<String> {
    if std::env::var_os("KUBERNETES_SERVICE_HOST").is_some() {
        return Some("Kubernetes".to_owned());
    }
    for (file, name) in [("/.dockerenv", "Docker"), ("/run/.containerenv", "Podman")] {
        if Path::new(file).exists() {
            return Some(name.to_owned());
        }
    }
    let groups = fs::read_to_string("/proc/1/cgroup").unwrap_or_default();
    ["kubepods", "docker", "containerd", "lxc"]
        .into_iter()
        .find(|name| groups.contains(name))
        .map(|name| {
            if name == "kubepods" {
                "Kubernetes".to_owned()
            } else {
                name.to_owned()
            }
        })
}

/// gVisor tells a version of Linux that no kernel of that day was.
fn sandbox(version: &str) -> Option<String> {
    version
        .starts_with("Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016")
        .then(|| "gVisor".to_owned())
}

/// Programs that hold the counters of a GPU, or subscribe to its events. The system keeps 15 letters of a name.
const HOLDERS: [&str; 8] = [
    "nv-hostengine",
    "dcgm-exporter",
    "dcgmproftester",
    "dcgmi",
    "ncu",
    "nsys",
    "nsight-sys",
    "dynolog",
];

fn holders() -> Option<Vec<Process>> {
    let entries = fs::read_dir("/proc").ok()?;
    let mut names = BTreeSet::new();
    let found = entries
        .filter_map(|entry| {
            let pid = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let name = name_of(pid)?;
            let is_one = HOLDERS
                .iter()
                .any(|holder| name == holder.get(..15).unwrap_or(holder));
            // One line is enough for the children of one program.
            (is_one && names.insert(name.clone())).then_some(Process {
                pid,
                name: Some(name),
                memory_bytes: None,
            })
        })
        .collect();
    Some(found)
}

fn name_of(pid: u32) -> Option<String> {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    Some(name.trim_end().to_owned())
}

fn disks() -> Vec<Disk> {
    let here = std::env::current_dir().map(|folder| ("reports", folder));
    let temporary = ("temporary files", std::env::temp_dir());
    here.into_iter()
        .chain([temporary])
        .map(|(purpose, folder)| Disk {
            purpose: purpose.to_owned(),
            free_bytes: free(&folder),
            path: folder.display().to_string(),
        })
        .collect()
}

#[cfg(unix)]
fn free(folder: &Path) -> Option<u64> {
    let space = rustix::fs::statvfs(folder).ok()?;
    space.f_bavail.checked_mul(space.f_frsize)
}

#[cfg(not(unix))]
fn free(_folder: &Path) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parameter_of_the_module_is_read() {
        let seen = "ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 1\n";
        assert_eq!(restricted(seen), Some(true));
        assert_eq!(restricted("RmProfilingAdminOnly: 0\n"), Some(false));
        assert_eq!(restricted("EnableMSI: 1\n"), None);
        assert_eq!(restricted("RmProfilingAdminOnly: many\n"), None);
    }

    #[test]
    fn the_release_of_the_module_is_read() {
        let open = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (root@x)\nGCC version:  gcc 12.2.0\n";
        assert_eq!(release_of_module(open), Some("580.95.05"));
        let closed = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 19:39:15 UTC 2024\n";
        assert_eq!(release_of_module(closed), Some("535.183.01"));
        assert_eq!(release_of_module("GCC version: 12.2.0\n"), None);
    }

    #[test]
    fn an_inner_user_namespace_is_told() {
        assert_eq!(is_inner("         0          0 4294967295\n"), Some(false));
        assert_eq!(is_inner("0 100000 65536\n"), Some(true));
        assert_eq!(is_inner("0 1000 1\n1 100000 65536\n"), Some(true));
        assert_eq!(is_inner(""), None);
    }

    #[test]
    fn versions_and_sandboxes_are_told() {
        let text = "nvdisasm: NVIDIA (R) CUDA disassembler\nCuda compilation tools, release 13.0, V13.0.88\n";
        assert_eq!(of_compiler(text), Some("13.0.88"));
        let gvisor = "Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016\n";
        assert_eq!(sandbox(gvisor).as_deref(), Some("gVisor"));
        assert_eq!(sandbox("Linux version 6.8.0-48-generic"), None);
    }
}
