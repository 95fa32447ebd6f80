//! Flaws of how data is brought in: in small pieces, several times, for each use.

use crate::Flaw;
use crate::support::{self, Counters, Sample};

pub(crate) const FLAWS: &[Flaw] = &[
    // Accesses of 16 bytes become four of 4 bytes each, more and more of them, by four times as many threads. As many are
    // open at a time as before, so that less is in flight: throughput falls with the mean width, and the bytes stay.
    Flaw {
        id: "narrow-access",
        is_removed: true,
        // A warp that waits for one load after the other lacks independent ones: another flaw, which comes first.
        fits: |c| {
            let loads_of_a_warp = c.executed("LDG") / (c.get("launch__thread_count") / 32.0);
            let wide: f64 = wide_accesses(c).iter().map(|(_, count)| count).sum();
            loads_of_a_warp < 4.0 && wide >= 0.5 * c.executed_any(&["LDG", "STG"])
        },
        add: |sample, strength| {
            let c = &mut sample.counters;
            let part = strength / 4.0;
            let (before, mut more) = (c.executed_any(&["LDG", "STG"]), 0.0);
            for (opcode, count) in wide_accesses(c) {
                c.execute(&opcode, -part * count);
                c.execute(&opcode.replace(".128", ""), 4.0 * part * count);
                more += 3.0 * part * count;
            }
            // Each has its address and its bound.
            c.execute("IADD3", more);
            c.execute("ISETP.GE.AND", more);
            let times = 1.0 + more / before;
            c.scale(
                |name| name.starts_with("l1tex__t_requests_pipe_lsu_mem_global_op"),
                times,
            );
            c.scale(
                |name| {
                    matches!(
                        name,
                        "launch__grid_size"
                            | "launch__thread_count"
                            | "launch__waves_per_multiprocessor"
                    )
                },
                times,
            );
            wait_for_more_loads(c, times);
            let cycles = c.cycles();
            c.wait((times - 1.0) * cycles, "long_scoreboard");
        },
    },
    // The whole input is read once more behind each barrier or exchange, up to three times: more phases of one size are
    // taken for the turns of an unrolled loop over tiles.
    Flaw {
        id: "redundant-traffic",
        is_removed: true,
        fits: |c| {
            c.executed_any(&["BAR", "SHFL"]) > 0.0
                && sectors_of_loads(c) > 0.5 * c.get("lts__t_sectors.sum")
        },
        add: |sample, strength| {
            let places = exchanges_behind_loads(sample);
            let input = one_pass(sample);
            let passes = [strength, strength - 1.0, strength - 2.0];
            for (place, part) in places.into_iter().zip(passes) {
                // Odd addresses: none of them is taken.
                read_again(
                    &mut sample.counters,
                    place + 1,
                    part.clamp(0.0, 1.0) * input,
                );
            }
        },
    },
    // Operands of multiply-adds come from the L1 again for each use: a wavefront for each.
    Flaw {
        id: "no-reuse",
        // Even the largest tile loads each operand once for 32 uses.
        is_removed: false,
        fits: |c| {
            c.executed("FFMA") > 0.2 * c.all_executed() && c.executed_any(support::MATRIX) <= 0.0
        },
        add: |sample, strength| {
            let c = &mut sample.counters;
            let loads = strength * c.executed("FFMA");
            load(c, loads, ROW);
            c.add(
                "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
                ROW * loads,
            );
            let cycles = loads / c.multiprocessors();
            c.wait(cycles, "lg_throttle");
            c.show("l1tex__data_pipe_lsu_wavefronts", cycles / c.cycles());
        },
    },
];

/// Sectors of a warp whose lanes read a word each, side by side.
const ROW: f64 = 4.0;

/// Global accesses of 16 bytes a thread by opcode.
fn wide_accesses(c: &Counters) -> Vec<(String, f64)> {
    ["LDG", "STG"]
        .iter()
        .flat_map(|opcode| c.opcodes(opcode))
        .filter(|opcode| opcode.ends_with(".128") || opcode.contains(".128."))
        .map(|opcode| {
            let count = c.executed_exactly(&opcode);
            (opcode, count)
        })
        .collect()
}

/// Loads whose lanes touch so many sectors: requests, and their sectors and wavefronts in the L1.
fn load(c: &mut Counters, loads: f64, sectors: f64) {
    c.execute("LDG.E", loads);
    for metric in [
        "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
        "l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ld.sum",
        "l1tex__lsu_writeback_active_mem_lgds.sum",
    ] {
        c.add(metric, loads);
    }
    for metric in [
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
        "memory_l2_theoretical_sectors_global",
        "memory_l2_theoretical_sectors_global_ideal",
    ] {
        c.add(metric, sectors * loads);
    }
}

/// The same from the L2.
pub(crate) fn load_from_l2(c: &mut Counters, loads: f64, sectors: f64) {
    load(c, loads, sectors);
    c.add(
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_miss.sum",
        sectors * loads,
    );
    c.add("l1tex__m_xbar2l1tex_read_bytes.sum", 32.0 * sectors * loads);
    c.add("lts__t_requests.sum", loads);
    for metric in [
        "lts__t_sectors.sum",
        "lts__t_sectors_srcunit_tex_op_read.sum",
    ] {
        c.add(metric, sectors * loads);
    }
}

/// Instructions that wait for loads are executed so many times as often.
fn wait_for_more_loads(c: &mut Counters, times: f64) {
    let waiting = c.at("smsp__pcsamp_warps_issue_stalled_long_scoreboard");
    let executed = c.at("inst_executed");
    for (address, count) in executed {
        if waiting
            .iter()
            .any(|(known, samples)| *known == address && *samples > 0.0)
        {
            c.add_at("inst_executed", address, (times - 1.0) * count);
        }
    }
}

const SECTORS: &str = "memory_l2_theoretical_sectors_global";
const KIND: &str = "memory_access_type";
/// The code of [`KIND`] for a load.
const LOAD: f64 = 2.0;

/// Loads of global memory: their addresses, and the sectors that they touch.
fn loads(c: &Counters) -> Vec<(u64, f64)> {
    let kinds = c.at(KIND);
    let is_load = |address: u64| {
        let mut kinds = kinds.iter();
        kinds.any(|&(known, kind)| known == address && (kind - LOAD).abs() < 0.5)
    };
    let sectors = c.at(SECTORS).into_iter();
    sectors.filter(|(address, _)| is_load(*address)).collect()
}

fn sectors_of_loads(c: &Counters) -> f64 {
    loads(c).iter().map(|(_, sectors)| sectors).sum()
}

/// Sectors of the largest of the passes between barriers.
fn one_pass(sample: &Sample) -> f64 {
    let (mut passes, mut last) = (vec![0.0], None);
    for (address, sectors) in loads(&sample.counters) {
        let code = sample.code.as_ref();
        if code
            .zip(last)
            .is_some_and(|(code, last)| !code.exchanges_between(last, address).is_empty())
        {
            passes.push(0.0);
        }
        if let Some(pass) = passes.last_mut() {
            *pass += sectors;
        }
        last = Some(address);
    }
    passes.into_iter().fold(0.0, f64::max)
}

/// Addresses of barriers and shuffles behind the last load.
fn exchanges_behind_loads(sample: &Sample) -> Vec<u64> {
    let last = loads(&sample.counters)
        .iter()
        .map(|(address, _)| *address)
        .max();
    let (Some(code), Some(last)) = (&sample.code, last) else {
        return Vec::new();
    };
    sample
        .counters
        .at("inst_executed")
        .into_iter()
        .map(|(address, _)| address)
        .filter(|&address| {
            address > last && !code.exchanges_between(address - 1, address + 1).is_empty()
        })
        .collect()
}

/// Another load of so many sectors, which come from device memory again.
fn read_again(c: &mut Counters, address: u64, sectors: f64) {
    if sectors <= 0.0 {
        return;
    }
    let requests = sectors / ROW;
    load_from_l2(c, requests, ROW);
    c.add_at(KIND, address, LOAD);
    // The totals are there already: the value of the place only.
    c.add(SECTORS, -sectors);
    c.add_at(SECTORS, address, sectors);
    c.add_at("inst_executed", address, requests);
    let bytes = 32.0 * sectors;
    c.add("dram__sectors_read.sum", sectors);
    c.add("dram__bytes_read.sum", bytes);
    let peak =
        c.get("dram__bytes.sum.peak_sustained") * c.get("dram__cycles_elapsed.avg.per_second");
    let seconds = bytes / peak;
    let cycles = c.cycles() * seconds / (1e-9 * c.get("gpu__time_duration.sum"));
    c.wait_at(address, cycles, "long_scoreboard");
    let all = c.cycles();
    c.show("dram__cycles_active", cycles / all);
}
