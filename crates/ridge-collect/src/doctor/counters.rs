//! Whether this process may read the counters of the GPU, and which condition it fails.

use super::document::{Line, Need, State};
use super::machine::{Counters, Machine};

/// Bits of Linux's capabilities.
const SYS_ADMIN: u64 = 1 << 21;
const PERFMON: u64 = 1 << 38;
/// The first release of the driver that also takes `CAP_PERFMON`, by NVIDIA's page about `ERR_NVGPUCTRPERM`.
const PERFMON_SINCE: u32 = 565;

/// What an administrator sets for everybody.
const OPEN: &str = "for everybody, as administrator of the host: put `options nvidia NVreg_RestrictProfilingToAdminUsers=0` into /etc/modprobe.d/nvidia-profiling.conf, run `update-initramfs -u` (Fedora: `dracut --force`) and restart";

pub(super) fn line(machine: &Machine) -> Line {
    let (state, text, remedies) = judge(machine);
    Line {
        id: "counters".to_owned(),
        subject: "counters".to_owned(),
        state,
        text,
        remedies,
        needed_for: vec![Need::Profile],
        is_optional: false,
    }
}

fn judge(machine: &Machine) -> (State, String, Vec<String>) {
    let own = &machine.counters;
    if let Some(sandbox) = &own.sandbox {
        return (
            State::Unknown,
            format!(
                "this process runs in {sandbox}, in which profilers have been seen to fail whatever the permissions say"
            ),
            vec!["profile on a machine or in a container without that sandbox".to_owned()],
        );
    }
    if !matches!(machine.driver, Some(Ok(_))) {
        return (
            State::Unknown,
            "there is no driver whose counters could be read".to_owned(),
            Vec::new(),
        );
    }
    let has = |bit| own.capabilities.map(|bits| bits & bit != 0);
    let is_inner = own.is_user_namespace == Some(true);
    let is_new = machine
        .driver
        .as_ref()
        .and_then(|driver| driver.as_ref().ok())
        .and_then(|driver| driver.release.as_deref()?.split('.').next()?.parse().ok())
        .map(|release: u32| release >= PERFMON_SINCE);
    let is_admin = has(SYS_ADMIN) == Some(true) && !is_inner;
    let may_profile = has(PERFMON) == Some(true) && is_new == Some(true) && !is_inner;
    match own.is_restricted {
        Some(false) => (
            State::Works,
            "open to every user (RmProfilingAdminOnly is 0)".to_owned(),
            Vec::new(),
        ),
        _ if is_admin => (
            State::Works,
            format!("{}, and this process has CAP_SYS_ADMIN", restriction(own)),
            Vec::new(),
        ),
        _ if may_profile => (
            State::Works,
            format!(
                "{}, and this process has CAP_PERFMON, which drivers from R{PERFMON_SINCE} on take",
                restriction(own)
            ),
            Vec::new(),
        ),
        Some(true) => (
            State::Fails,
            format!("{}; {}", restriction(own), lack(own, is_inner)),
            remedies(own, is_inner),
        ),
        None => (
            State::Unknown,
            format!(
                "/proc/driver/nvidia/params cannot be read, so it is not known whether they are for administrators alone; {}",
                lack(own, is_inner)
            ),
            vec![
                "try `ncu --metrics sm__cycles_elapsed.avg PROGRAM`: it says ERR_NVGPUCTRPERM where they are".to_owned(),
            ],
        ),
    }
}

fn restriction(own: &Counters) -> &'static str {
    match own.is_restricted {
        Some(true) => "kept for administrators (RmProfilingAdminOnly is 1)",
        Some(false) => "open to every user (RmProfilingAdminOnly is 0)",
        None => "who may read them is not told",
    }
}

/// Which condition the process fails: never only "run as root".
fn lack(own: &Counters, is_inner: bool) -> String {
    let who = match own.is_root {
        Some(true) => "root",
        Some(false) => "not root",
        None => "of an unknown user",
    };
    let place = own
        .container
        .as_ref()
        .map(|container| format!(" in a container ({container})"))
        .unwrap_or_default();
    if is_inner {
        return format!(
            "this process is {who}{place}, but in a user namespace of its own, whose capabilities the driver does not take"
        );
    }
    match own.capabilities {
        Some(_) => format!("this process is {who}{place} and lacks the capability CAP_SYS_ADMIN"),
        None => format!("this process is {who}{place}; its capabilities are not told"),
    }
}

fn remedies(own: &Counters, is_inner: bool) -> Vec<String> {
    let here = match (&own.container, is_inner) {
        (_, true) => "for this container: start it with rootful Docker or Podman and `--cap-add=SYS_ADMIN`".to_owned(),
        (Some(container), false) if container == "Kubernetes" => {
            "for this pod: `securityContext: {capabilities: {add: [\"SYS_ADMIN\"]}}`".to_owned()
        }
        (Some(_), false) => "for this container: start it with `--cap-add=SYS_ADMIN`; being root in it is not enough".to_owned(),
        (None, false) => "for one run: `sudo $(which ridge) COMMAND`, as the counters need CAP_SYS_ADMIN".to_owned(),
    };
    vec![here, OPEN.to_owned()]
}
