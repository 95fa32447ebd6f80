//! Profiles made from the tables of metric names: what the profiler would store for a device that no fixture is from.
//!
//! Names and the capabilities on which they exist are those of the profiler's section files of version 2025.3. Counters
//! are set so that a unit is busy for a given share; figures for that are written down here or in the tests, never
//! taken from the tables that are tested.

use std::borrow::Cow;

use ncu_rep::report::Dim3;
use ncu_rep::{Instance, Listed, MetricTable, Value};
use ridge_diagnose::document::Kernel;
use ridge_diagnose::{Group, KernelProfile, Ledger, Options, Stage, diagnose};
use ridge_model::{Architecture, ComputeCapability};

/// Duration of every made launch.
const DURATION_S: f64 = 1e-3;
/// Schedulers of an SM.
const SCHEDULERS: f64 = 4.0;

/// A board: its name as the driver reports it, SMs, SM clock in MHz and memory bandwidth in GB/s.
pub(crate) struct Board {
    pub(crate) capability: ComputeCapability,
    name: &'static str,
    pub(crate) sms: f64,
    mhz: f64,
    gb_per_s: f64,
}

/// One board for each capability. Where data sheets leave SMs or clock open, the numbers are made up: nothing that is
/// tested depends on them.
pub(crate) fn boards() -> Vec<Board> {
    let board = |major, minor, name, sms, mhz, gb_per_s| Board {
        capability: ComputeCapability { major, minor },
        name,
        sms,
        mhz,
        gb_per_s,
    };
    vec![
        board(7, 0, "Tesla V100-SXM2-16GB", 80.0, 1530.0, 898.0),
        board(7, 2, "Xavier", 8.0, 1377.0, 137.0),
        board(7, 5, "Tesla T4", 40.0, 1590.0, 320.0),
        board(8, 0, "NVIDIA A100-SXM4-40GB", 108.0, 1410.0, 1555.0),
        board(8, 6, "NVIDIA A10", 72.0, 1695.0, 600.0),
        board(8, 7, "Orin", 16.0, 1300.0, 205.0),
        board(8, 9, "NVIDIA L4", 58.0, 2040.0, 300.0),
        board(9, 0, "NVIDIA H100 80GB HBM3", 132.0, 1980.0, 3352.0),
        board(10, 0, "NVIDIA B200", 148.0, 1965.0, 7700.0),
        board(10, 3, "NVIDIA B300 SXM6 AC", 148.0, 1920.0, 7700.0),
        board(11, 0, "NVIDIA Thor", 20.0, 1575.0, 273.0),
        board(12, 0, "NVIDIA GeForce RTX 5090", 170.0, 2407.0, 1792.0),
        board(12, 1, "NVIDIA GB10", 48.0, 2418.0, 273.0),
    ]
}

/// Where the profiler counts traffic of the device memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum DramCounters {
    /// At the memory itself.
    Interface,
    /// At its controller.
    Controller,
    /// Nowhere.
    Absent,
}

impl Board {
    pub(crate) fn dram_counters(&self) -> DramCounters {
        match (self.capability.major, self.capability.minor) {
            (8, 7) | (11, 0) => DramCounters::Controller,
            // 7.2 shares its memory with the processor, as 8.7 and 11.0 do, and had no such counters yet.
            (7, 2) | (12, 1) => DramCounters::Absent,
            _ => DramCounters::Interface,
        }
    }

    /// The counter of the port from the L1 to the registers.
    fn writeback(&self) -> &'static str {
        match (self.capability.major, self.capability.minor) {
            (7, 0 | 2) => "l1tex__lsu_writeback_active.sum",
            (7, 5) | (8, _) => "l1tex__lsu_writeback_active_mem_lg.sum",
            _ => "l1tex__lsu_writeback_active_mem_lgds.sum",
        }
    }

    /// Cycles of one SM in a launch.
    pub(crate) fn cycles(&self) -> f64 {
        self.mhz * 1e6 * DURATION_S
    }

    /// Warp instructions that keep pipes of so many lanes an SM busy for a share of the launch.
    pub(crate) fn instructions(&self, lanes: f64, share: f64) -> f64 {
        share * self.sms * self.cycles() * lanes / 32.0
    }

    /// A launch in which nothing happens yet: device, clocks, launch size, full occupancy.
    pub(crate) fn launch(&self) -> Made {
        let mut made = Made {
            metrics: Vec::new(),
            sms: self.sms,
            cycles: self.cycles(),
        };
        let (sm, capability) = (self.cycles(), self.capability);
        made.text("device__attribute_display_name", self.name);
        for (name, value) in [
            (
                "device__attribute_compute_capability_major",
                capability.major,
            ),
            (
                "device__attribute_compute_capability_minor",
                capability.minor,
            ),
        ] {
            made.metrics.push((
                name.to_owned(),
                Some(Value::U64(u64::from(value))),
                Vec::new(),
            ));
        }
        made.set("gpu__time_duration.sum", DURATION_S * 1e9);
        for (unit, count) in [
            ("sm", self.sms),
            ("l1tex", self.sms),
            ("smsp", SCHEDULERS * self.sms),
            ("gpc", 4.0),
            ("lts", 16.0),
        ] {
            made.set(&format!("{unit}__cycles_elapsed.sum"), count * sm);
            made.set(&format!("{unit}__cycles_elapsed.avg"), sm);
            made.set(&format!("{unit}__cycles_elapsed.max"), sm);
        }
        for (name, value) in [
            ("sm__cycles_active.avg", sm),
            ("sm__cycles_active.max", sm),
            ("sm__cycles_active.sum", self.sms * sm),
            ("device__attribute_multiprocessor_count", self.sms),
            ("launch__grid_size", 64.0 * self.sms),
            ("launch__block_size", 256.0),
            ("launch__thread_count", 64.0 * self.sms * 256.0),
            ("launch__waves_per_multiprocessor", 16.0),
            ("sm__maximum_warps_per_active_cycle_pct", 100.0),
            ("sm__warps_active.avg.pct_of_peak_sustained_active", 95.0),
            ("smsp__thread_inst_executed_per_inst_executed.ratio", 32.0),
        ] {
            made.set(name, value);
        }
        made
    }

    /// Bytes that keep the device memory busy for a share of the launch.
    pub(crate) fn dram_bytes(&self, share: f64) -> f64 {
        share * self.gb_per_s * 1e9 * DURATION_S
    }

    /// Keeps the device memory busy for a share of the launch, where it is counted.
    pub(crate) fn dram(&self, made: &mut Made, share: f64) {
        match self.dram_counters() {
            DramCounters::Interface => {
                let clock = 1.5e9;
                made.set("dram__cycles_elapsed.avg.per_second", clock);
                let peak = self.gb_per_s * 1e9 / clock;
                made.set("dram__bytes.sum.peak_sustained", peak);
                let bytes = self.dram_bytes(share);
                made.set("dram__bytes_read.sum", bytes * 2.0 / 3.0);
                made.set("dram__bytes_write.sum", bytes / 3.0);
            }
            DramCounters::Controller => {
                made.set("mcc__cycles_elapsed.sum", 8e6);
                made.set("mcc__cycles_active.sum", share * 8e6);
            }
            DramCounters::Absent => {}
        }
    }

    /// Sends accesses to global memory through the L1: its tag stage and its port to the registers are busy for these
    /// shares of the launch.
    pub(crate) fn l1(&self, made: &mut Made, share: f64, writeback: f64) {
        const WAVEFRONTS: &str = "l1tex__t_output_wavefronts_pipe_lsu_mem";
        let wavefronts = share * self.sms * self.cycles();
        made.set(&format!("{WAVEFRONTS}_global_op_ld.sum"), wavefronts / 2.0);
        made.set(&format!("{WAVEFRONTS}_global_op_st.sum"), wavefronts / 2.0);
        made.set(&format!("{WAVEFRONTS}_local_op_ld.sum"), 0.0);
        made.set(&format!("{WAVEFRONTS}_local_op_st.sum"), 0.0);
        made.set(self.writeback(), writeback * self.sms * self.cycles());
    }
}

/// A made launch.
#[derive(Clone)]
pub(crate) struct Made {
    metrics: Vec<Listed>,
    sms: f64,
    cycles: f64,
}

impl Made {
    pub(crate) fn set(&mut self, name: &str, value: f64) {
        self.metrics
            .push((name.to_owned(), Some(Value::F64(value)), Vec::new()));
    }

    fn text(&mut self, name: &str, value: &'static str) {
        let value = Value::Text(Cow::Borrowed(value));
        self.metrics
            .push((name.to_owned(), Some(value), Vec::new()));
    }

    /// Executes warp instructions, and issues each once.
    pub(crate) fn execute(&mut self, opcodes: &[(&'static str, f64)]) {
        let total: f64 = opcodes.iter().map(|(_, count)| count).sum();
        let instances = opcodes
            .iter()
            .map(|(opcode, count)| Instance {
                key: Some(Value::Text(Cow::Borrowed(*opcode))),
                value: Some(Value::F64(*count)),
            })
            .collect();
        self.metrics.push((
            "sass__inst_executed_per_opcode_with_modifier_all".to_owned(),
            Some(Value::F64(total)),
            instances,
        ));
        self.set("smsp__inst_executed.sum", total);
        self.set("smsp__inst_issued.sum", total);
        let capacity = SCHEDULERS * self.sms * self.cycles;
        assert!(total <= capacity, "more instructions than issue slots");
    }

    /// Lets warps wait: cycles for each instruction by reason.
    pub(crate) fn stall(&mut self, reasons: &[(&str, f64)], eligible: f64) {
        for (reason, cycles) in reasons.iter().chain(&[("selected", 1.0)]) {
            let name = format!("smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio");
            self.set(&name, *cycles);
        }
        let sum = 1.0 + reasons.iter().map(|(_, cycles)| cycles).sum::<f64>();
        self.set("smsp__average_warp_latency_per_inst_issued.ratio", sum);
        self.set("smsp__warps_eligible.avg.per_cycle_active", eligible);
        self.set("smsp__warps_active.avg.per_cycle_active", 8.0);
    }

    pub(crate) fn ledger(&self, capability: ComputeCapability) -> Ledger {
        let table: MetricTable = self.metrics.iter().cloned().collect();
        Ledger::new(&table.metrics(), Architecture::of(capability).as_ref())
    }

    pub(crate) fn diagnose(&self) -> Kernel {
        let table: MetricTable = self.metrics.iter().cloned().collect();
        let size = |x| Some(Dim3 { x, y: 1, z: 1 });
        let profile = KernelProfile {
            name: "kernel".to_owned(),
            signature: "kernel()".to_owned(),
            mangled: None,
            is_mixture: false,
            grid: size(64 * self.sms as u32),
            block: size(256),
            launch_index: 0,
            sections: Vec::new(),
            metrics: table.metrics(),
        };
        let group = Group {
            launches: vec![(0, profile.duration_ns())],
            ..Group::default()
        };
        diagnose(&profile, &group, None, &Options::default())
    }
}

/// Share of a stage; absent where the ledger has no row for it.
pub(crate) fn share(ledger: &Ledger, stage: Stage) -> Option<f64> {
    ledger.row(stage).map(|row| row.busy_share)
}

/// Fails unless a share is what was made.
#[track_caller]
pub(crate) fn assert_share(ledger: &Ledger, stage: Stage, expected: Option<f64>, board: &Board) {
    let found = share(ledger, stage);
    let is_right = match (found, expected) {
        (Some(found), Some(expected)) => (found - expected).abs() < 1e-9,
        (None, None) => true,
        _ => false,
    };
    assert!(
        is_right,
        "{}, {stage:?}: {found:?}, not {expected:?}",
        board.capability
    );
}

/// Fails unless a kernel is bound by one of these resources and its first finding is this one.
#[track_caller]
pub(crate) fn assert_verdict(
    kernel: &Kernel,
    limiters: &[ridge_diagnose::Resource],
    finding: &str,
    board: &Board,
) {
    let limiter = kernel.limiter.as_ref().map(|limiter| limiter.resource);
    assert!(
        limiter.is_some_and(|limiter| limiters.contains(&limiter)),
        "{}: bound by {limiter:?}, not {limiters:?}",
        board.capability
    );
    let first = kernel.findings.first().map(|finding| finding.id.as_str());
    assert_eq!(first, Some(finding), "{}", board.capability);
}
