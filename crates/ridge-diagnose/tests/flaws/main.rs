//! More of a flaw never makes it look smaller: the finding keeps its rank or rises, and its ceiling does not fall.
//!
//! Each flaw is added on paper to real kernels, in steps. What is added is added to every counter that would see it: to
//! the unit that does the work, to the time that the unit takes for it (nothing hides it), and to what warps wait for.
//! The work that was there before stays, so that the flaw has a growing part of the time, and the remedy takes a
//! growing part away: its ceiling is `1 − (what it leaves) / (the duration)` with a growing duration.

#[path = "../support/mod.rs"]
mod support;

mod arithmetic;
mod memory;
mod warps;

use libtest_mimic::{Arguments, Failed, Trial};
use ridge_diagnose::is_verdict;
use support::{Counters, Sample, finding, fixtures, in_parallel};

/// A flaw that comes in all sizes.
pub(crate) struct Flaw {
    id: &'static str,
    /// Kernels that it can be added to.
    fits: fn(&Counters) -> bool,
    /// Whether the complete remedy takes away all that is added: then the ceiling does not fall.
    is_removed: bool,
    /// Adds so much of it: 0 is nothing, 1 about as much as the kernel does otherwise.
    add: fn(&mut Sample, f64),
}

const STRENGTHS: [f64; 5] = [0.0, 0.5, 1.0, 2.0, 4.0];

const FLAWS: &[Flaw] = &[
    // Excess wavefronts, one after the other.
    Flaw {
        id: "bank-conflicts",
        is_removed: true,
        fits: |c| {
            let ideal = c.number("memory_l1_wavefronts_shared_ideal").unwrap_or(0.0);
            ideal > 0.05 * c.cycles() * c.multiprocessors()
        },
        add: |sample, strength| {
            let c = &mut sample.counters;
            let actual = c.get("memory_l1_wavefronts_shared");
            let more = strength * c.get("memory_l1_wavefronts_shared_ideal");
            c.scale(
                |name| name == "memory_l1_wavefronts_shared",
                (actual + more) / actual,
            );
            c.add("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", more);
            c.add("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", more);
            let cycles = more / c.multiprocessors();
            c.wait(cycles, "short_scoreboard");
            c.show("l1tex__data_pipe_lsu_wavefronts", cycles / c.cycles());
        },
    },
    // Excess sectors, each with a request of its own, which come from memory.
    Flaw {
        id: "uncoalesced-global",
        is_removed: true,
        fits: |c| {
            c.get("memory_l2_theoretical_sectors_global") > 0.5 * c.get("lts__t_sectors.sum")
                && c.get("dram__bytes_read.sum")
                    > 30.0 * c.get("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum")
        },
        add: |sample, strength| {
            let c = &mut sample.counters;
            let actual = c.get("memory_l2_theoretical_sectors_global");
            let more = strength * c.get("memory_l2_theoretical_sectors_global_ideal");
            let factor = (actual + more) / actual;
            c.scale(
                |name| name == "memory_l2_theoretical_sectors_global",
                factor,
            );
            c.scale(
                |name| {
                    name.starts_with("l1tex__t_sectors_pipe_lsu_mem_global_op_ld")
                        || name.starts_with("l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ld")
                },
                factor,
            );
            for metric in [
                "lts__t_sectors.sum",
                "lts__t_requests.sum",
                "lts__t_requests_srcunit_tex.sum",
                "lts__t_sectors_srcunit_tex_op_read.sum",
                "dram__sectors_read.sum",
            ] {
                c.add(metric, more);
            }
            c.add("dram__bytes_read.sum", 32.0 * more);
            c.add("l1tex__m_xbar2l1tex_read_bytes.sum", 32.0 * more);
            let peak = c.get("dram__bytes.sum.peak_sustained")
                * c.get("dram__cycles_elapsed.avg.per_second");
            let seconds = 32.0 * more / peak;
            let cycles = c.cycles() * seconds / (1e-9 * c.get("gpu__time_duration.sum"));
            c.wait(cycles, "long_scoreboard");
            c.show("dram__cycles_active", cycles / c.cycles());
        },
    },
    Flaw {
        id: "register-spill",
        is_removed: true,
        fits: has_no_local_memory,
        add: |sample, strength| use_local_memory(&mut sample.counters, strength, true),
    },
    Flaw {
        id: "local-memory",
        is_removed: true,
        fits: has_no_local_memory,
        add: |sample, strength| use_local_memory(&mut sample.counters, strength, false),
    },
    // Conversions on the XU pipe, half an instruction a cycle and SM, with arithmetic beside them.
    Flaw {
        id: "fp64-promotion",
        is_removed: true,
        fits: |c| {
            c.executed_any(&["DFMA", "DADD", "DMUL", "F2F"]) <= 0.0 && c.executed("FFMA") > 0.0
        },
        add: |sample, strength| {
            let c = &mut sample.counters;
            let more = 0.1 * strength * c.all_executed();
            c.execute("F2F.F64.F32", more);
            c.execute("F2F.F32.F64", more);
            c.execute("DFMA", more);
            let cycles = 4.0 * more / c.multiprocessors();
            c.wait(cycles, "mio_throttle");
            c.show("sm__inst_executed_pipe_xu", cycles / c.cycles());
        },
    },
    // Constant loads whose lanes differ more and more: each pass takes two cycles.
    Flaw {
        id: "constant-cache",
        is_removed: true,
        fits: |c| c.number("idc__requests.sum").is_some(),
        add: |sample, strength| {
            let c = &mut sample.counters;
            let loads = 0.05 * c.all_executed();
            let passes = 1.0 + 31.0 * strength / 4.0;
            c.execute("LDC.64", loads);
            c.add("idc__requests.sum", loads * passes);
            let cycles = 2.0 * loads * (passes - 1.0) / c.multiprocessors();
            c.wait(cycles, "mio_throttle");
            c.show("idc__request_cycles_active", cycles / c.cycles());
        },
    },
    // Additions to one address: one slice takes three cycles for each.
    Flaw {
        id: "atomic-contention",
        is_removed: true,
        fits: |c| c.executed("ATOMS") <= 0.0,
        add: |sample, strength| {
            let c = &mut sample.counters;
            let cycles = strength * c.get("lts__cycles_elapsed.avg");
            let (slices, atomics) = (
                c.get("lts__cycles_elapsed.sum") / c.get("lts__cycles_elapsed.avg"),
                cycles / 3.0,
            );
            c.wait(strength * c.cycles(), "lg_throttle");
            c.add("lts__cycles_active.max", cycles);
            c.add("lts__cycles_active.avg", cycles / slices);
            c.add("lts__cycles_active.sum", cycles);
            for metric in [
                "lts__t_sectors_srcunit_tex_op_red.sum",
                "lts__t_requests.sum",
                "lts__t_sectors.sum",
            ] {
                c.add(metric, atomics);
            }
            c.execute("REDG.E.ADD.F32.FTZ.RN.STRONG.GPU", atomics);
            let share = atomics / c.get("lts__cycles_elapsed.avg");
            c.add(
                "lts__d_atomic_input_cycles_active.max.pct_of_peak_sustained_elapsed",
                100.0 * share,
            );
        },
    },
    Flaw {
        id: "memory-barrier",
        is_removed: true,
        fits: |_| true,
        add: |sample, strength| {
            let c = &mut sample.counters;
            c.execute("MEMBAR.SC.GPU", 0.01 * strength * c.all_executed());
            c.wait(strength * c.cycles(), "membar");
        },
    },
    // A step of a tree at each barrier.
    Flaw {
        id: "barrier-stall",
        is_removed: true,
        fits: |c| {
            c.executed_any(&["SHFL", "REDUX", "BAR", "LDS", "STS"])
                + c.executed_any(support::MATRIX)
                <= 0.0
        },
        add: |sample, strength| {
            let c = &mut sample.counters;
            let barriers = 0.05 * strength * c.all_executed();
            for (opcode, each) in [("BAR.SYNC.DEFER_BLOCKING", 1.0), ("LDS", 2.0), ("STS", 1.0)] {
                c.execute(opcode, each * barriers);
            }
            for (metric, each) in [("", 3.0), ("_op_ld", 2.0), ("_op_st", 1.0)] {
                c.add(
                    &format!("l1tex__data_pipe_lsu_wavefronts_mem_shared{metric}.sum"),
                    each * barriers,
                );
            }
            c.wait(strength * c.cycles(), "barrier");
        },
    },
    // The same work by fewer lanes of each warp: so many more instructions.
    Flaw {
        id: "warp-divergence",
        is_removed: true,
        fits: |c| c.get("smsp__thread_inst_executed_per_inst_executed.ratio") > 30.0,
        add: |sample, strength| {
            let c = &mut sample.counters;
            let issued = c.get("smsp__inst_issued.sum");
            c.scale(
                |name| {
                    name.starts_with("sass__inst_executed_per_opcode")
                        || matches!(name, "smsp__inst_issued.sum" | "smsp__inst_executed.sum")
                },
                1.0 + strength,
            );
            c.scale(
                |name| name == "smsp__thread_inst_executed_per_inst_executed.ratio",
                1.0 / (1.0 + strength),
            );
            let cycles = strength * issued / c.multiprocessors() / 4.0;
            c.wait(cycles, "branch_resolving");
            c.show("sm__issue_active", cycles / c.cycles());
        },
    },
    // Fewer SMs do the work, and take longer for it.
    Flaw {
        id: "underfilled-grid",
        is_removed: true,
        fits: |c| c.get("launch__waves_per_multiprocessor") >= 1.0,
        add: |sample, strength| {
            let c = &mut sample.counters;
            if strength > 0.0 {
                let (blocks, before) = (
                    c.multiprocessors() / (1.0 + strength),
                    c.get("launch__grid_size"),
                );
                c.scale(
                    |name| {
                        matches!(
                            name,
                            "launch__grid_size" | "launch__waves_per_multiprocessor"
                        )
                    },
                    blocks / before,
                );
                c.stretch(1.0 + strength);
                idle_on_average(c, 1.0 + strength);
            }
        },
    },
    // A last wave that is emptier and emptier.
    Flaw {
        id: "tail-effect",
        is_removed: true,
        fits: |c| is_balanced(c) && c.get("launch__waves_per_multiprocessor") >= 1.0,
        add: |sample, strength| {
            let c = &mut sample.counters;
            if strength > 0.0 {
                let waves = 1.75 - 0.15 * strength;
                c.set("launch__waves_per_multiprocessor", waves);
                c.stretch(2.0 / waves);
                idle_on_average(c, 2.0 / waves);
            }
        },
    },
    // One SM has more to do than the others.
    Flaw {
        id: "load-imbalance",
        is_removed: true,
        fits: |c| is_balanced(c) && c.get("launch__waves_per_multiprocessor") >= 8.0,
        add: |sample, strength| {
            let c = &mut sample.counters;
            c.stretch(1.0 + strength);
            idle_on_average(c, 1.0 + strength);
        },
    },
    // Each fused multiply-add becomes two instructions.
    Flaw {
        id: "unfused-fp",
        is_removed: true,
        fits: |c| c.executed("FFMA") > 0.2 * c.all_executed(),
        add: |sample, strength| {
            let c = &mut sample.counters;
            let part = strength / 4.0;
            let pairs: f64 = c.executed("FFMA") * part;
            for opcode in c.opcodes("FFMA") {
                c.execute(&opcode, -part * c.executed_exactly(&opcode));
            }
            c.execute("FMUL", pairs);
            c.execute("FADD", pairs);
            let cycles = pairs / c.multiprocessors() / 4.0;
            c.wait(cycles, "math_pipe_throttle");
            c.show("sm__issue_active", cycles / c.cycles());
            c.show("sm__pipe_fma_cycles_active", cycles / c.cycles());
        },
    },
    // Address arithmetic on the ALU, two instructions a cycle and SM.
    Flaw {
        id: "integer-alu",
        // Part of index arithmetic, or of a sequence, is needed: that part stays, and grows.
        is_removed: false,
        fits: |_| true,
        add: |sample, strength| {
            let c = &mut sample.counters;
            let more = strength * c.all_executed();
            for opcode in ["IADD3", "LOP3.LUT", "ISETP.GE.AND", "IMAD"] {
                c.execute(opcode, 0.25 * more);
            }
            let cycles = 0.75 * more / 2.0 / c.multiprocessors();
            c.wait(cycles, "math_pipe_throttle");
            c.show("sm__pipe_alu_cycles_active", cycles / c.cycles());
            c.show(
                "sm__issue_active",
                more / 4.0 / c.multiprocessors() / c.cycles(),
            );
        },
    },
    // Sequences of full precision around each function.
    Flaw {
        id: "special-function",
        // The formula around the functions stays, and grows.
        is_removed: false,
        fits: |c| c.executed_any(&["MUFU", "F2I", "I2F", "F2F"]) <= 0.0,
        add: |sample, strength| {
            let c = &mut sample.counters;
            let functions = 0.02 * strength * c.all_executed();
            for (opcode, each) in [
                ("MUFU.RCP", 1.0),
                ("FCHK", 1.0),
                ("FFMA", 6.0),
                ("FFMA.RM", 2.0),
                ("BRA", 2.0),
                ("FSETP.GT.AND", 4.0),
            ] {
                c.execute(opcode, each * functions);
            }
            let cycles = 16.0 * functions / 4.0 / c.multiprocessors();
            c.wait(cycles, "wait");
            c.show("sm__issue_active", cycles / c.cycles());
        },
    },
    // Code that does not fit: fetches, and warps without an instruction.
    Flaw {
        id: "instruction-cache",
        is_removed: true,
        fits: |c| c.get("gpu__time_duration.sum") >= 20_000.0,
        add: |sample, strength| {
            let c = &mut sample.counters;
            let cycles = strength * c.cycles();
            c.add("sm__icc_requests.sum", 0.2 * cycles * c.multiprocessors());
            c.wait(cycles, "no_instruction");
        },
    },
    // The same launch with less and less work.
    Flaw {
        id: "launch-bound",
        is_removed: true,
        fits: |c| c.get("gpu__time_duration.sum") < 60_000.0,
        add: |sample, strength| {
            let c = &mut sample.counters;
            let part = 1.0 / (1.0 + 8.0 * strength);
            c.scale(
                |name| {
                    name.starts_with("gpu__time_duration")
                        || support::is_cycles(name)
                        || name.ends_with(".sum") && !name.starts_with("launch__")
                        || name.starts_with("sass__")
                        || name.starts_with("memory_")
                },
                part,
            );
        },
    },
];

fn has_no_local_memory(c: &Counters) -> bool {
    c.executed_any(&["LDL", "STL"]) <= 0.0
}

/// Local loads and stores in pairs: a wavefront each, four sectors for a store, and 32 bytes a cycle to the L2.
fn use_local_memory(c: &mut Counters, strength: f64, is_spill: bool) {
    let pairs = 0.1 * strength * c.all_executed();
    c.execute("LDL", pairs);
    c.execute("STL", pairs);
    for metric in [
        "smsp__sass_inst_executed_op_local_ld.sum",
        "smsp__sass_inst_executed_op_local_st.sum",
        "l1tex__t_output_wavefronts_pipe_lsu_mem_local_op_ld.sum",
        "l1tex__t_output_wavefronts_pipe_lsu_mem_local_op_st.sum",
        "l1tex__lsu_writeback_active_mem_lgds.sum",
        "lts__t_requests.sum",
    ] {
        c.add(metric, pairs);
    }
    for metric in [
        "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
        "lts__t_sectors.sum",
        "lts__t_sectors_srcunit_tex_op_write.sum",
        "memory_l2_theoretical_sectors_local",
    ] {
        c.add(metric, 4.0 * pairs);
    }
    c.add("l1tex__m_l1tex2xbar_write_bytes.sum", 128.0 * pairs);
    if is_spill {
        c.add("sass__inst_executed_register_spilling", 2.0 * pairs);
    }
    c.wait(4.0 * pairs / c.multiprocessors(), "lg_throttle");
}

fn is_balanced(c: &Counters) -> bool {
    c.get("sm__cycles_active.avg") >= 0.97 * c.get("sm__cycles_active.max")
}

/// The average SM is active for so much less than the busiest.
fn idle_on_average(c: &mut Counters, factor: f64) {
    c.scale(
        |name| matches!(name, "sm__cycles_active.avg" | "sm__cycles_active.sum"),
        1.0 / factor,
    );
}

/// What shows when no unit is busy: waiting that nothing hides. The time that a flaw takes lowers the share of every
/// other unit, so that these can appear beside it, with all the waiting of the kernel as their promise.
const UNCOVERED: &[&str] = &[
    "latency-bound",
    "underfilled-grid",
    "low-occupancy-registers",
    "low-occupancy-shared",
    "low-occupancy-block",
    "narrow-access",
    // Of warps that start together, the slower ones are in the way only where no unit is.
    "load-imbalance",
    // Waiting at barriers, and for loads that hit (the less sure form of the finding).
    "barrier-stall",
    "no-reuse",
];

/// A finding among the others that a person is shown.
#[derive(Debug)]
struct Standing {
    /// Those that stand in front of it.
    behind: Vec<String>,
    ceiling: f64,
}

fn standing(sample: &Sample, id: &str) -> Option<Standing> {
    let kernel = sample.shown();
    let flaws = || {
        kernel
            .findings
            .iter()
            .filter(|found| !is_verdict(&found.id))
    };
    let rank = flaws().position(|found| found.id == id)?;
    Some(Standing {
        behind: flaws().take(rank).map(|found| found.id.clone()).collect(),
        ceiling: finding(&kernel, id)?.saving_ceiling,
    })
}

/// Sums of shares are rounded.
const ROUNDING: f64 = 1e-9;

/// What got worse for the finding from one step to the next.
fn worse(flaw: &Flaw, before: &Standing, now: Option<&Standing>) -> Option<String> {
    let Some(now) = now else {
        return Some("it is gone".to_owned());
    };
    let overtaken: Vec<_> = now
        .behind
        .iter()
        .filter(|id| !before.behind.contains(id) && !UNCOVERED.contains(&id.as_str()))
        .collect();
    if !overtaken.is_empty() {
        return Some(format!("{overtaken:?} overtook it"));
    }
    let is_lower = now.ceiling < before.ceiling - ROUNDING;
    (flaw.is_removed && is_lower)
        .then(|| format!("its ceiling is {} after {}", now.ceiling, before.ceiling))
}

fn check(flaw: &Flaw) -> Result<(), Failed> {
    let bases: Vec<&Sample> = fixtures()
        .iter()
        .filter(|sample| (flaw.fits)(&sample.counters))
        .collect();
    let answers = in_parallel(&bases, |base| {
        let mut faults = Vec::new();
        let mut before: Option<Standing> = None;
        for strength in STRENGTHS {
            let mut made = (*base).clone();
            (flaw.add)(&mut made, strength);
            let now = standing(&made, flaw.id);
            if let Some(what) = before.and_then(|before| worse(flaw, &before, now.as_ref())) {
                faults.push(format!("{} at {strength}: {what}", base.name()));
            }
            before = now;
        }
        (faults, before)
    });
    let faults: Vec<&String> = answers.iter().flat_map(|(faults, _)| faults).collect();
    if !faults.is_empty() {
        return Err(format!(
            "{} cases on {} kernels: {faults:#?}",
            faults.len(),
            bases.len()
        )
        .into());
    }
    // What is added is the flaw: where there is most of it, it stands first on at least one kernel.
    let is_first =
        |last: &Option<Standing>| last.as_ref().is_some_and(|last| last.behind.is_empty());
    if !answers.iter().any(|(_, last)| is_first(last)) {
        return Err(format!("never first on {} kernels", bases.len()).into());
    }
    Ok(())
}

fn main() {
    let arguments = Arguments::from_args();
    let trials = [FLAWS, memory::FLAWS, warps::FLAWS, arithmetic::FLAWS]
        .into_iter()
        .flatten()
        .map(|flaw| Trial::test(format!("more::{}", flaw.id), || check(flaw)))
        .collect();
    libtest_mimic::run(&arguments, trials).exit();
}
