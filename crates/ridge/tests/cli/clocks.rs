//! `ridge bench --lock-clocks`: the clock is restored on every way out. Driver and NVML are libraries of our own, so that the
//! clock of no GPU is touched.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::driver::{Folder, Ridge, ridge};

/// The kernels are known to the driver by their names.
const KERNELS: &str = ".version 7.0\n.target sm_70\n.address_size 64\n\
    .visible .entry scale(.param .u64 out, .param .u64 in, .param .f32 factor, .param .u32 n) { ret; }\n\
    .visible .entry outside(.param .u64 out) { ret; }\n";

const SPEC: &str = r#"
source = "kernels.ptx"

[sizes]
n = 1048576

[buffers]
in = { type = "f32", length = "n", init = "random" }
out = { type = "f32", length = "n" }

[scalars]
factor = { type = "f32", value = "2.0" }
n = { type = "i32" }

[kernels.scale]
entry = "scale"
grid = "n / 256"
block = 256
args = ["out", "in", "factor", "n"]

[kernels.outside]
entry = "outside"
grid = "n / 256"
block = 256
args = ["out"]
"#;

/// So long the test waits for what another process does.
const PATIENCE: Duration = Duration::from_secs(60);

/// A machine with a driver and NVML that are none.
struct Machine {
    folder: Folder,
    log: PathBuf,
}

impl Machine {
    fn new() -> Self {
        let folder = Folder::new();
        folder.write("spec.toml", SPEC);
        folder.write("kernels.ptx", KERNELS);
        build(
            &folder,
            include_str!("../../../ridge-gpu/tests/device/fake.c"),
            "libcuda.so.1",
        );
        build(&folder, include_str!("nvml.c"), "libnvidia-ml.so.1");
        let log = folder.path().join("log");
        let machine = Self { folder, log };
        // Where the libraries are not those that are loaded, nothing more may happen.
        let answer = machine
            .bench(&["--filter", "scale", "--format", "json"], "")
            .run();
        let answer = answer.code(0).json();
        assert_eq!(answer["machine"]["device"], "fake GPU");
        assert_eq!(
            answer["machine"]["uuid"],
            "GPU-11111111-1111-1111-1111-111111111111"
        );
        assert_eq!(machine.log(), "");
        machine
    }

    /// The command, with something that goes wrong in NVML.
    fn bench(&self, arguments: &[&str], wrong: &str) -> Ridge {
        let few = ["--min-samples", "6", "--max-samples", "12"];
        self.run(&[arguments, &few].concat(), wrong)
    }

    fn run(&self, arguments: &[&str], wrong: &str) -> Ridge {
        let path = |path: &Path| path.to_str().unwrap().to_owned();
        let common = ["bench", "spec.toml", "--warm-up", "1ms"];
        ridge(common.iter().chain(arguments))
            .within(&self.folder)
            .env("LD_LIBRARY_PATH", &path(self.folder.path()))
            .env("FAKE_NVML_LOG", &path(&self.log))
            .env("FAKE_NVML", wrong)
    }

    /// A run that takes longer than the test waits, in a process group of its own, once the clock is locked.
    fn started(&self) -> Child {
        let _ = fs::remove_file(&self.log);
        let mut command = self
            .run(
                &[
                    "--filter",
                    "scale",
                    "--lock-clocks",
                    "1500",
                    "--max-samples",
                    "1000000",
                    "--precision",
                    "0.000001%",
                    "--max-time",
                    "1000s",
                ],
                "",
            )
            .into_command();
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0);
        let child = command.spawn().unwrap();
        self.wait_for("locked 1500 1500\n");
        child
    }

    /// What was done to the clock.
    fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    #[track_caller]
    fn wait_for(&self, expected: &str) {
        let start = Instant::now();
        while self.log() != expected {
            assert!(
                start.elapsed() < PATIENCE,
                "{:?} in place of {expected:?}",
                self.log()
            );
            std::thread::yield_now();
        }
    }
}

fn build(folder: &Folder, text: &str, name: &str) {
    let source = folder.write(format!("{name}.c"), text);
    let status = Command::new("cc")
        .args(["-std=c11", "-D_GNU_SOURCE", "-O1", "-shared", "-fPIC", "-o"])
        .arg(folder.path().join(name))
        .arg(source)
        .status()
        .expect("these tests need a C compiler, as CONTRIBUTING.md says");
    assert!(status.success());
}

fn signal(name: &str, target: &str) {
    let status = Command::new("kill")
        .args([name, "--", target])
        .status()
        .unwrap();
    assert!(status.success());
}

#[test]
fn a_clock_is_locked_while_it_is_measured_and_restored_after() {
    let machine = Machine::new();
    for (clock, log, told) in [
        ("1500", "locked 1500 1500\nreset\n", "1.500 GHz"),
        ("base", "locked 1200 1200\nreset\n", "1.200 GHz"),
    ] {
        let _ = fs::remove_file(&machine.log);
        machine
            .bench(&["--filter", "scale", "--lock-clocks", clock], "")
            .run()
            .code(0)
            .says(&format!("the SM clock is locked to {told}"))
            .shows("scale");
        assert_eq!(machine.log(), log);
    }
}

#[test]
fn a_clock_is_restored_after_a_fault() {
    let machine = Machine::new();
    machine
        .bench(&["--lock-clocks", "1500"], "")
        .run()
        .code(15)
        .shows("outside");
    assert_eq!(machine.log(), "locked 1500 1500\nreset\n");
}

/// An answer that cannot be written ends the run, and not without the clock.
#[test]
fn a_clock_is_restored_where_the_answer_cannot_be_written() {
    let machine = Machine::new();
    machine
        .bench(
            &[
                "--filter",
                "scale",
                "--lock-clocks",
                "1500",
                "-o",
                "nowhere/a.json",
            ],
            "",
        )
        .run()
        .code(4);
    assert_eq!(machine.log(), "locked 1500 1500\nreset\n");
}

#[test]
fn a_clock_is_restored_after_an_interrupt() {
    let machine = Machine::new();
    for name in ["-INT", "-TERM"] {
        let mut child = machine.started();
        signal(name, &child.id().to_string());
        assert_eq!(child.wait().unwrap().code(), Some(130), "{name}");
        assert_eq!(machine.log(), "locked 1500 1500\nreset\n", "{name}");
    }
}

/// Nobody can catch SIGKILL: the process that keeps the clock sees that the other one is gone.
#[test]
fn a_clock_is_restored_after_a_kill() {
    let machine = Machine::new();
    let mut child = machine.started();
    signal("-KILL", &child.id().to_string());
    assert_eq!(child.wait().unwrap().code(), None);
    machine.wait_for("locked 1500 1500\nreset\n");
    // As a shell or a batch system does it.
    let mut child = machine.started();
    signal("-KILL", &format!("-{}", child.id()));
    assert_eq!(child.wait().unwrap().code(), None);
    machine.wait_for("locked 1500 1500\nreset\n");
}

/// As at the end of a session or a service: every process gets the signal, the one that keeps the clock first.
#[test]
fn a_clock_is_restored_where_all_processes_are_ended() {
    let machine = Machine::new();
    let mut child = machine.started();
    let parent = child.id().to_string();
    let is_keeper = |process: &str| {
        let read = |file: &str| fs::read_to_string(format!("/proc/{process}/{file}"));
        // The state and the parent stand behind the name in parentheses.
        let stat = read("stat").unwrap_or_default();
        let own = stat
            .rsplit(')')
            .next()
            .and_then(|rest| rest.split(' ').nth(2));
        own == Some(&parent) && read("cmdline").is_ok_and(|line| line.contains("__keep-clocks"))
    };
    let keeper = fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .find(|process| is_keeper(process))
        .unwrap();
    for name in ["-HUP", "-INT", "-TERM"] {
        signal(name, &keeper);
    }
    signal("-TERM", &parent);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(machine.log(), "locked 1500 1500\nreset\n");
}

/// What was not locked is not reset, and nothing is measured at a clock that nobody asked for.
#[test]
fn a_clock_that_cannot_be_locked_is_left_alone() {
    let machine = Machine::new();
    for (clock, wrong, reason, hint, log) in [
        (
            "1500",
            "forbidden",
            "not permitted to this user",
            "as root",
            "refused\n",
        ),
        (
            "5000",
            "",
            "no clock of 5000 MHz",
            "--lock-clocks",
            "refused\n",
        ),
    ] {
        let _ = fs::remove_file(&machine.log);
        machine
            .bench(&["--filter", "scale", "--lock-clocks", clock], wrong)
            .run()
            .code(4)
            .says("cannot lock the clock")
            .says(reason)
            .says(hint)
            .shows_nothing();
        assert_eq!(machine.log(), log);
    }
}

/// A clock that stays locked is told, with what helps; the measurement is not lost.
#[test]
fn a_clock_that_stays_locked_is_told() {
    let machine = Machine::new();
    machine
        .bench(&["--filter", "scale", "--lock-clocks", "1500"], "stuck")
        .run()
        .code(4)
        .says("the clock may still be locked")
        .says("nvidia-smi -rgc")
        .shows("scale");
    assert_eq!(machine.log(), "locked 1500 1500\nstuck\n");
}
