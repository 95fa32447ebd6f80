//! Flaws of hiding latency: chains, and limits on the warps that an SM can hold.

use crate::Flaw;
use crate::memory::load_from_l2;
use crate::support::Counters;

pub(crate) const FLAWS: &[Flaw] = &[
    // Each warp walks along a list in the L2, all lanes along the same one: a sector after the other, and nothing else to
    // do meanwhile.
    Flaw {
        id: "latency-bound",
        // The loads of the chain stay, and grow: what goes is the waiting for them.
        is_removed: false,
        fits: |c| c.get("launch__waves_per_multiprocessor") >= 1.0,
        add: |sample, strength| {
            let c = &mut sample.counters;
            /// Cycles of a load from the L2 (9.0, `ridge-model`).
            const STEP: f64 = 265.0;
            let cycles = strength * c.cycles();
            // All resident warps take a step at the same time.
            let resident = 4.0 * c.get("smsp__warps_active.avg.per_cycle_active");
            let steps = cycles / STEP * resident * c.multiprocessors();
            let address = c.behind_the_code();
            load_from_l2(c, steps, 1.0);
            if steps > 0.0 {
                c.add_at("inst_executed", address, steps);
                c.wait_at(address, cycles, "long_scoreboard");
            }
        },
    },
    // Registers let fewer warps in, and latency is hidden as much less.
    Flaw {
        id: "low-occupancy-registers",
        is_removed: true,
        fits: |c| c.get("launch__waves_per_multiprocessor") >= 1.0,
        add: |sample, strength| {
            let c = &mut sample.counters;
            if strength > 0.0 {
                hold_fewer_blocks(c, "registers", 1.0 + strength);
            }
        },
    },
    // The same by shared memory: of 227 KiB each block takes its part.
    Flaw {
        id: "low-occupancy-shared",
        is_removed: true,
        fits: |c| c.get("launch__waves_per_multiprocessor") >= 1.0,
        add: |sample, strength| {
            let c = &mut sample.counters;
            if strength > 0.0 {
                let blocks = hold_fewer_blocks(c, "shared_mem", 1.0 + strength);
                c.set(
                    "launch__shared_mem_per_block_dynamic",
                    227.0 * 1024.0 / blocks,
                );
            }
        },
    },
    // Blocks of one warp: an SM holds 32 of them, and they come and go the faster the less each does, until they end
    // faster than new ones start.
    Flaw {
        id: "low-occupancy-block",
        is_removed: true,
        fits: |c| {
            c.get("launch__waves_per_multiprocessor") >= 1.0
                && c.get("sm__warps_active.avg.pct_of_peak_sustained_active") > 80.0
                && c.executed_any(&["BAR", "LDS", "STS"]) <= 0.0
        },
        add: |sample, strength| {
            let c = &mut sample.counters;
            if strength > 0.0 {
                split_into_warps(c);
                let (slots, held) = (32.0, 32.0 / (1.0 + strength));
                let cycles = c.cycles();
                let before = 4.0 * c.get("smsp__warps_active.avg.per_cycle_active");
                c.set(
                    "sm__maximum_warps_per_active_cycle_pct",
                    100.0 * slots / 64.0,
                );
                c.set(
                    "sm__warps_active.avg.pct_of_peak_sustained_active",
                    100.0 * held / 64.0,
                );
                c.set("smsp__warps_active.avg.per_cycle_active", held / 4.0);
                c.wait((before / held - 1.0) * cycles, "long_scoreboard");
            }
        },
    },
];

/// A limit lets so many times fewer blocks onto an SM. What the warps that are left do not hide is waited for.
fn hold_fewer_blocks(c: &mut Counters, limit: &str, fewer: f64) -> f64 {
    let blocks = ["registers", "shared_mem", "warps", "blocks"]
        .map(|what| c.get(&format!("launch__occupancy_limit_{what}")))
        .into_iter()
        .fold(f64::INFINITY, f64::min)
        / fewer;
    c.set(&format!("launch__occupancy_limit_{limit}"), blocks);
    c.scale(
        |name| {
            matches!(
                name,
                "sm__maximum_warps_per_active_cycle_pct"
                    | "sm__warps_active.avg.pct_of_peak_sustained_active"
                    | "smsp__warps_active.avg.per_cycle_active"
            )
        },
        1.0 / fewer,
    );
    c.scale(|name| name == "launch__waves_per_multiprocessor", fewer);
    let cycles = (fewer - 1.0) * c.cycles();
    c.wait(cycles, "long_scoreboard");
    blocks
}

/// Each warp becomes a block: so many more blocks of so many fewer threads, with their part of registers.
fn split_into_warps(c: &mut Counters) {
    let warps = (c.get("launch__block_size") / 32.0).ceil();
    c.set("launch__block_size", 32.0);
    c.scale(|name| name == "launch__grid_size", warps);
    c.scale(|name| name == "launch__occupancy_limit_registers", warps);
    c.set("launch__occupancy_limit_warps", 64.0);
    c.set("launch__occupancy_limit_blocks", 32.0);
    let blocks = c.get("launch__grid_size");
    let held = 32.0 * c.multiprocessors();
    c.set("launch__waves_per_multiprocessor", blocks / held);
}
