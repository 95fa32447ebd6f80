//! Every state of a machine as `ridge doctor` shows it, without one.

use std::fmt::Write;

use ridge_collect::doctor::document::Document;
use ridge_collect::doctor::{
    Counters, Device, Disk, Driver, Failure, Gpu, Library, LibraryName, Machine, Need, Process,
    State, Tool, ToolName, ToolState, examine, known_obstacle, obstacle, preflight,
};
use ridge_render::charset::Charset;
use ridge_render::doctor::text;
use ridge_render::page::Layout;
use ridge_render::style::Painter;

const ADMIN: u64 = 1 << 21;

fn found(name: ToolName, path: &str, version: &str) -> Tool {
    Tool {
        name,
        state: ToolState::Found {
            path: path.to_owned(),
            version: Some(version.to_owned()),
        },
    }
}

/// A workstation on which everything works.
fn fine() -> Machine {
    let library = |name, path: &str| Library {
        name,
        path: Some(path.to_owned()),
    };
    Machine {
        driver: Some(Ok(Driver {
            release: Some("580.159.04".to_owned()),
            cuda: Some("13.0".to_owned()),
            devices: 1,
        })),
        gpus: Some(Ok(vec![Gpu {
            name: Some("NVIDIA H200".to_owned()),
            capability: Some((9, 0)),
            sm_clock_hz: Some(345e6),
            max_sm_clock_hz: Some(1980e6),
            temperature_c: Some(31.0),
            power_w: Some(76.0),
            throttle: Some(vec!["idle".to_owned()]),
            is_throttled: Some(false),
            is_persistent: Some(true),
            is_mig_on: Some(false),
            is_ecc_on: Some(true),
            processes: Some(Vec::new()),
        }])),
        devices: vec![Ok(Device {
            name: "NVIDIA H200".to_owned(),
            capability: (9, 0),
            multiprocessors: 132,
            is_mig: Some(false),
            has_display_watchdog: Some(false),
        })],
        libraries: vec![
            library(LibraryName::Driver, "/usr/lib/libcuda.so.580.159.04"),
            library(LibraryName::Nvml, "/usr/lib/libnvidia-ml.so.580.159.04"),
            library(
                LibraryName::Nvrtc,
                "/usr/local/cuda/lib64/libnvrtc.so.13.0.88",
            ),
            library(
                LibraryName::CublasLt,
                "/usr/local/cuda/lib64/libcublasLt.so.13.1.0.3",
            ),
            library(
                LibraryName::Cupti,
                "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.2025.3.1",
            ),
        ],
        tools: vec![
            found(ToolName::Ncu, "/usr/local/cuda/bin/ncu", "2025.3.1.0"),
            found(
                ToolName::ComputeSanitizer,
                "/usr/local/cuda/bin/compute-sanitizer",
                "2025.3.1.0",
            ),
            found(
                ToolName::Nvdisasm,
                "/usr/local/cuda/bin/nvdisasm",
                "13.0.88",
            ),
        ],
        counters: Counters {
            is_restricted: Some(false),
            is_root: Some(false),
            capabilities: Some(0),
            is_user_namespace: Some(false),
            container: None,
            sandbox: None,
        },
        holders: Some(Vec::new()),
        disks: vec![Disk {
            purpose: "reports".to_owned(),
            path: "/home/user".to_owned(),
            free_bytes: Some(64 << 30),
        }],
    }
}

fn gpu(machine: &mut Machine) -> &mut Gpu {
    &mut machine.gpus.as_mut().unwrap().as_mut().unwrap()[0]
}

fn restricted() -> Machine {
    let mut machine = fine();
    machine.counters.is_restricted = Some(true);
    machine
}

/// The lines of a machine that are not those of [`fine`], as a page.
fn differs(machine: &Machine) -> String {
    let whole = examine(&fine());
    let lines: Vec<_> = examine(machine)
        .into_iter()
        .filter(|line| !whole.contains(line))
        .collect();
    assert!(!lines.is_empty());
    page(&Document::of(lines, "0.1.0"))
}

fn page(document: &Document) -> String {
    let layout = Layout {
        columns: 100,
        charset: Charset::Unicode,
        painter: Painter::plain(),
        is_verbose: false,
    };
    let able = if document.is_able { "able" } else { "not able" };
    format!("{}({able})\n", text(document, &layout))
}

#[test]
fn everything_is_fine() {
    let document = Document::of(examine(&fine()), "0.1.0");
    assert!(document.lines.iter().all(|line| line.state == State::Works));
    assert!(document.lines.iter().all(|line| line.remedies.is_empty()));
    insta::assert_snapshot!(page(&document));
    for need in [
        Need::Measure,
        Need::Profile,
        Need::Sanitize,
        Need::Disassemble,
    ] {
        assert_eq!(obstacle(&fine(), need), None);
    }
}

/// Before a program runs, nobody asks the driver or starts a tool: only what is known from elsewhere stops it.
#[test]
fn what_is_known_beforehand_stops_a_profile() {
    let beforehand = || Machine {
        devices: Vec::new(),
        libraries: Vec::new(),
        gpus: None,
        holders: None,
        ..fine()
    };
    assert_eq!(known_obstacle(&beforehand(), Need::Profile), None);
    let mut unknown = beforehand();
    unknown.driver = None;
    unknown.counters = Counters::default();
    unknown.disks.clear();
    assert_eq!(known_obstacle(&unknown, Need::Profile), None);
    assert!(obstacle(&unknown, Need::Profile).is_some());

    let mut restricted = beforehand();
    restricted.counters.is_restricted = Some(true);
    restricted.counters.is_root = Some(false);
    restricted.counters.capabilities = Some(0);
    restricted.counters.container = None;
    let found = known_obstacle(&restricted, Need::Profile).unwrap();
    assert!(
        found.message.contains("kept for administrators"),
        "{}",
        found.message
    );
    assert!(found.hint.contains("CAP_SYS_ADMIN"), "{}", found.hint);

    let mut full = beforehand();
    for disk in &mut full.disks {
        disk.free_bytes = Some(1 << 20);
    }
    let found = known_obstacle(&full, Need::Profile).unwrap();
    assert!(
        found.message.contains("too little for a report"),
        "{}",
        found.message
    );
}

#[test]
fn every_other_state() {
    let mut pages = String::new();
    let mut show = |title: &str, machine: &Machine| {
        let _ = writeln!(pages, "=== {title}\n{}", differs(machine));
    };

    let mut machine = fine();
    machine.driver = Some(Err(Failure {
        message: "NVIDIA's driver is not installed; looked for libcuda.so.1".to_owned(),
        hint: Some(
            "install NVIDIA's driver, or start the container with its GPUs (`--gpus all`)"
                .to_owned(),
        ),
    }));
    machine.gpus = Some(Err("NVML is not installed".to_owned()));
    machine.devices.clear();
    machine.libraries[0].path = None;
    machine.libraries[1].path = None;
    show("no driver", &machine);
    let found = obstacle(&machine, Need::Sanitize).unwrap();
    assert!(
        found
            .message
            .contains("driver: NVIDIA's driver is not installed")
    );
    assert!(found.hint.contains("--gpus all"));

    let mut machine = fine();
    machine.driver = Some(Err(Failure {
        message: "the driver libcuda.so.1 is too old: it has no cuGraphUpload".to_owned(),
        hint: Some("update NVIDIA's driver: 11.4 (R470) is the oldest that works".to_owned()),
    }));
    machine.devices.clear();
    show("driver too old", &machine);

    let mut machine = fine();
    machine.tools[0].state = ToolState::Missing {
        looked_in: vec!["/usr/bin".to_owned(), "/usr/local/cuda/bin".to_owned()],
    };
    show("no ncu", &machine);
    let ids: Vec<String> = preflight(&machine, Need::Profile)
        .into_iter()
        .map(|line| line.id)
        .collect();
    assert_eq!(ids, ["ncu"]);
    assert_eq!(preflight(&machine, Need::Measure), []);

    let mut machine = fine();
    machine.tools[0] = self::found(ToolName::Ncu, "/usr/bin/ncu", "2022.1.1.0");
    show("ncu too old for the GPU", &machine);

    let mut machine = fine();
    machine.tools[1].state = ToolState::Broken {
        path: "/usr/bin/compute-sanitizer".to_owned(),
        reason: "exec format error".to_owned(),
    };
    show("compute-sanitizer broken", &machine);

    show("counters restricted, a user", &restricted());

    let mut machine = restricted();
    machine.counters.is_root = Some(true);
    machine.counters.container = Some("Docker".to_owned());
    show(
        "counters restricted, root in a container without the capability",
        &machine,
    );
    machine.counters.capabilities = Some(ADMIN);
    machine.counters.is_user_namespace = Some(true);
    show("counters restricted, a rootless container", &machine);
    machine.counters.is_user_namespace = Some(false);
    show(
        "counters restricted, a container with the capability",
        &machine,
    );

    let mut machine = restricted();
    machine.counters.capabilities = Some(1 << 38);
    show(
        "counters restricted, CAP_PERFMON and a new driver",
        &machine,
    );
    machine.driver.as_mut().unwrap().as_mut().unwrap().release = Some("550.54.15".to_owned());
    show(
        "counters restricted, CAP_PERFMON and an older driver",
        &machine,
    );

    let mut machine = fine();
    machine.counters.is_restricted = None;
    machine.counters.container = Some("Kubernetes".to_owned());
    show("who may read counters is not told, in a pod", &machine);
    machine.counters.sandbox = Some("gVisor".to_owned());
    show("a sandbox", &machine);

    let mut machine = fine();
    gpu(&mut machine).is_mig_on = Some(true);
    machine.devices[0].as_mut().unwrap().is_mig = Some(true);
    show("MIG on, with a partition", &machine);
    machine.devices.clear();
    machine.driver.as_mut().unwrap().as_mut().unwrap().devices = 0;
    show("MIG on, without a partition", &machine);

    let mut machine = fine();
    gpu(&mut machine).is_throttled = Some(true);
    gpu(&mut machine).throttle = Some(vec!["thermal-slowdown".to_owned()]);
    gpu(&mut machine).temperature_c = Some(89.0);
    show("throttled", &machine);

    let mut machine = fine();
    gpu(&mut machine).processes = Some(vec![Process {
        pid: 4711,
        name: Some("python3".to_owned()),
        memory_bytes: Some(3 << 30),
    }]);
    gpu(&mut machine).is_persistent = Some(false);
    show("another process, no persistence", &machine);

    let mut machine = fine();
    machine.holders = Some(vec![Process {
        pid: 812,
        name: Some("nv-hostengine".to_owned()),
        memory_bytes: None,
    }]);
    show("DCGM runs", &machine);

    let mut machine = fine();
    machine.disks[0].free_bytes = Some(100 << 20);
    machine.disks.push(Disk {
        purpose: "temporary files".to_owned(),
        path: "/tmp".to_owned(),
        free_bytes: Some(1 << 30),
    });
    show("disk nearly full", &machine);

    insta::assert_snapshot!(pages);
}

#[test]
fn what_only_helps_does_not_make_a_machine_unable() {
    let mut machine = fine();
    machine.libraries[4].path = None;
    machine.tools[2].state = ToolState::Missing {
        looked_in: Vec::new(),
    };
    let document = Document::of(examine(&machine), "0.1.0");
    let failing = document
        .lines
        .iter()
        .filter(|line| line.state == State::Fails);
    assert_eq!(failing.count(), 2);
    assert!(document.is_able);
}

#[test]
fn nothing_known_is_nothing_claimed_and_a_hostile_name_is_escaped() {
    let document = Document::of(examine(&Machine::default()), "0.1.0");
    assert!(
        document
            .lines
            .iter()
            .all(|line| line.state == State::Unknown)
    );
    let mut machine = fine();
    gpu(&mut machine).processes = Some(vec![Process {
        pid: 1,
        name: Some("\u{1b}[2Jevil".to_owned()),
        memory_bytes: None,
    }]);
    let page = page(&Document::of(examine(&machine), "0.1.0"));
    assert!(page.contains("\\x1b[2Jevil") && !page.contains('\u{1b}'));
}
