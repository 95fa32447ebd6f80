//! Flaws of the instructions that do the arithmetic.

use crate::Flaw;
use crate::support;

pub(crate) const FLAWS: &[Flaw] = &[
    // A polynomial in half precision over values that come one by one: each instruction takes two passes of the FMA pipe,
    // two lanes' worth of work for one value.
    Flaw {
        id: "half-scalar",
        // Packed arithmetic is half as much, and that half stays and grows.
        is_removed: false,
        fits: |c| {
            c.executed_any(support::MATRIX) + c.executed_any(&["PRMT", "HFMA2", "LDS"]) <= 0.0
                && c.executed_any(&["LDG", "STG"]) > 0.0
        },
        add: |sample, strength| {
            let c = &mut sample.counters;
            let arithmetic = strength * c.all_executed();
            let values = strength * 2.0 * c.executed_any(&["LDG", "STG"]);
            c.execute("HFMA2", arithmetic);
            c.execute("LDG.E.U16", 0.5 * values);
            c.execute("STG.E.U16", 0.5 * values);
            for operation in ["ld", "st"] {
                let of =
                    |what: &str| format!("l1tex__t_{what}_pipe_lsu_mem_global_op_{operation}.sum");
                c.add(&of("requests"), 0.5 * values);
                c.add(&of("output_wavefronts"), 0.5 * values);
                // 32 values of two bytes lie in two sectors.
                c.add(&of("sectors"), values);
            }
            let cycles = 2.0 * arithmetic / 4.0 / c.multiprocessors();
            c.wait(cycles, "math_pipe_throttle");
            c.show("sm__pipe_fma_cycles_active", cycles / c.cycles());
            c.show("sm__issue_active", 0.5 * cycles / c.cycles());
        },
    },
    // A product of matrices of half precision: its tiles come from shared memory, each value is converted and feeds many
    // multiply-adds.
    Flaw {
        id: "no-tensor-cores",
        // What brings in the tiles stays, and grows.
        is_removed: false,
        fits: |c| {
            c.executed_any(support::MATRIX)
                + c.executed_any(&["MUFU", "DFMA", "DADD", "DMUL", "BAR"])
                <= 0.0
        },
        add: |sample, strength| {
            let c = &mut sample.counters;
            // From 256 multiply-adds of a thread on, it walks along a long dimension.
            let warps = c.get("launch__thread_count") / 32.0;
            let products = strength * c.all_executed().max(512.0 * warps);
            let (loads, conversions) = (products / 8.0, products / 8.0);
            c.execute("FFMA", products);
            c.execute("HADD2.F32", conversions);
            c.execute("LDS.128", loads);
            // 16 bytes a lane take four wavefronts.
            for metric in [
                "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
                "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
                "memory_l1_wavefronts_shared",
                "memory_l1_wavefronts_shared_ideal",
            ] {
                c.add(metric, 4.0 * loads);
            }
            let cycles = (products + conversions + loads) / 4.0 / c.multiprocessors();
            c.wait(cycles, "not_selected");
            c.show("sm__issue_active", cycles / c.cycles());
            c.show("sm__pipe_fma_cycles_active", cycles / c.cycles());
        },
    },
];
