//! Kernels of every architecture that Ridgepoint has figures for, made from tables of metric names: shares, limiter and
//! first finding are what was made, rows without a figure are absent, and what was measured on one architecture stays
//! there.

mod made;

use made::{Board, DramCounters, Made, assert_share, assert_verdict, boards, share};
use ridge_diagnose::{Resource, Stage};

/// Single-precision lanes of an SM: throughput table, and 2048 lanes on 16 SMs (8.7), 2560 on 20 (11.0).
fn fp32_lanes(board: &Board) -> f64 {
    match (board.capability.major, board.capability.minor) {
        (7, _) | (8, 0) => 64.0,
        _ => 128.0,
    }
}

/// Double-precision lanes of an SM: one half or one 64th of the others.
fn fp64_lanes(board: &Board) -> Option<f64> {
    match (board.capability.major, board.capability.minor) {
        (7, 0 | 2) | (8, 0) => Some(32.0),
        (9, 0) | (10, 0) => Some(64.0),
        (11, 0) => None,
        _ => Some(2.0),
    }
}

/// Little of everything that a kernel has beside its work: 1 % of the issue slots.
fn around(board: &Board) -> [(&'static str, f64); 4] {
    let slots = board.instructions(128.0, 0.01);
    [
        ("LDG.E.128", slots / 4.0),
        ("STG.E.128", slots / 4.0),
        ("ISETP.GE.AND", slots / 4.0),
        ("BRA", slots / 4.0),
    ]
}

fn with_work(board: &Board, opcodes: &[(&'static str, f64)]) -> Made {
    let mut made = board.launch();
    made.execute(&[&around(board)[..], opcodes].concat());
    board.l1(&mut made, 0.02, 0.01);
    made
}

#[test]
fn a_stream_is_at_the_limit_of_the_device_memory() {
    for board in boards() {
        let adds = board.instructions(128.0, 0.04);
        let mut made = with_work(&board, &[("FADD", adds)]);
        board.dram(&mut made, 0.92);
        made.stall(&[("long_scoreboard", 40.0), ("wait", 3.0)], 0.2);
        let ledger = made.ledger(board.capability);
        if board.dram_counters() == DramCounters::Absent {
            assert_share(&ledger, Stage::DramBytes, None, &board);
            // What cannot be seen is not accused, and not acquitted.
            let kernel = made.diagnose();
            assert_verdict(&kernel, &[Resource::Latency], "latency-bound", &board);
            assert!(
                kernel
                    .not_checked
                    .iter()
                    .any(|check| check.id == "at-dram-limit")
            );
            continue;
        }
        assert_share(&ledger, Stage::DramBytes, Some(0.92), &board);
        assert_verdict(&made.diagnose(), &[Resource::Dram], "at-dram-limit", &board);
    }
}

/// The directions are not counted apart everywhere; their rate together is.
#[test]
fn the_rate_of_both_directions_does_for_bytes() {
    let board = &boards()[11];
    let mut made = board.launch();
    made.set("dram__bytes.sum.per_second", 0.5 * 1792e9);
    made.set("dram__bytes.sum.peak_sustained", 1024.0);
    made.set("dram__cycles_elapsed.avg.per_second", 1.75e9);
    assert_share(
        &made.ledger(board.capability),
        Stage::DramBytes,
        Some(0.5),
        board,
    );
}

#[test]
fn a_loop_of_multiply_adds_is_at_the_limit_of_its_pipe() {
    for board in boards() {
        let lanes = fp32_lanes(&board);
        let made = &mut with_work(&board, &[("FFMA", board.instructions(lanes, 0.96))]);
        board.dram(made, 0.05);
        made.stall(&[("math_pipe_throttle", 6.0), ("not_selected", 6.0)], 3.0);
        let ledger = made.ledger(board.capability);
        assert_share(&ledger, Stage::Fma, Some(0.96), &board);
        // With 128 lanes each issue slot feeds the pipe: both are the limit.
        let limits: &[Resource] = if lanes < 128.0 {
            &[Resource::Fma]
        } else {
            &[Resource::Fma, Resource::Issue]
        };
        assert_verdict(&made.diagnose(), limits, "at-compute-limit", &board);
    }
}

#[test]
fn double_precision_has_the_lanes_of_its_part() {
    for board in boards() {
        let lanes = fp64_lanes(&board);
        let work = board.instructions(lanes.unwrap_or(2.0), 0.96);
        let mut made = with_work(&board, &[("DFMA", work)]);
        board.dram(&mut made, 0.05);
        made.stall(
            &[("math_pipe_throttle", 12.0), ("short_scoreboard", 2.0)],
            0.5,
        );
        let ledger = made.ledger(board.capability);
        assert_share(&ledger, Stage::Fp64, lanes.map(|_| 0.96), &board);
        if lanes.is_some() {
            assert_verdict(
                &made.diagnose(),
                &[Resource::Fp64],
                "at-compute-limit",
                &board,
            );
        }
        // The peak that a report stores goes before the table, or stands in for it.
        made.set(
            "sm__sass_thread_inst_executed_op_dfma_pred_on.sum.peak_sustained",
            2.0 * lanes.unwrap_or(2.0) * board.sms,
        );
        let ledger = made.ledger(board.capability);
        assert_share(&ledger, Stage::Fp64, Some(0.48), &board);
    }
}

/// Peaks in operations a cycle and SM: what data sheets say over SMs and clock, and on 8.0 and 9.0 what reports store.
fn products(board: &Board) -> &'static [(&'static str, f64)] {
    match (board.capability.major, board.capability.minor) {
        (7, 5) => &[
            ("sm__ops_path_tensor_src_fp16_bf16_tf32_dst_fp32", 1024.0),
            ("sm__ops_path_tensor_src_int8", 2048.0),
        ],
        (8, 0) => &[
            ("sm__ops_path_tensor_src_bf16_dst_fp32_sparsity_off", 2048.0),
            ("sm__ops_path_tensor_src_bf16_dst_fp32_sparsity_on", 4096.0),
            ("sm__ops_path_tensor_src_tf32_dst_fp32_sparsity_off", 1024.0),
            ("sm__ops_path_tensor_src_fp64", 128.0),
        ],
        (8, 6) => &[
            ("sm__ops_path_tensor_src_fp16_dst_fp32_sparsity_off", 1024.0),
            ("sm__ops_path_tensor_src_int8_sparsity_off", 2048.0),
        ],
        (8, 9) => &[("sm__ops_path_tensor_src_fp8_sparsity_off", 2048.0)],
        (9, 0) => &[
            (
                "sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32_sparsity_off",
                4096.0,
            ),
            (
                "sm__ops_path_tensor_op_hmma_src_bf16_dst_fp32_sparsity_off",
                8192.0 / 3.0,
            ),
            ("sm__ops_path_tensor_src_fp8_sparsity_off", 8192.0),
        ],
        (10, 0) => &[
            ("sm__ops_path_tensor_src_bf16_dst_fp32", 8192.0),
            ("sm__ops_path_tensor_src_fp4_dst_fp32", 32_768.0),
        ],
        // A GeForce board: half of what others do with sums of 32 bits.
        (12, 0) => &[
            (
                "sm__ops_path_tensor_op_hmma_src_fp16_dst_fp32_sparsity_off",
                512.0,
            ),
            ("sm__ops_path_tensor_src_fp8_dst_fp16_sparsity_off", 2048.0),
        ],
        _ => &[],
    }
}

#[test]
fn a_product_is_at_the_limit_of_the_matrix_pipes() {
    for board in boards() {
        for (counter, peak) in products(&board) {
            let mut made = with_work(&board, &[("HMMA.16816.F32", 1.0)]);
            board.dram(&mut made, 0.2);
            made.stall(&[("math_pipe_throttle", 8.0), ("wait", 3.0)], 0.6);
            made.set(
                &format!("{counter}.sum"),
                0.9 * peak * board.sms * board.cycles(),
            );
            let ledger = made.ledger(board.capability);
            assert_share(&ledger, Stage::Tensor, Some(0.9), &board);
            assert_verdict(
                &made.diagnose(),
                &[Resource::Tensor],
                "at-tensor-limit",
                &board,
            );
        }
    }
}

/// 7.x has no counters of operations. `mma.m8n8k4` is 2048 operations of a warp in four steps, and 64 multiply-adds a
/// cycle in each of the eight units make 1024 operations a cycle and SM.
#[test]
fn opcodes_do_for_counters_of_matrix_operations() {
    for board in boards()
        .iter()
        .filter(|board| (board.capability.major, board.capability.minor) < (7, 5))
    {
        let steps = 0.9 * 1024.0 * board.sms * board.cycles() / 512.0;
        let step = |name| (name, steps / 4.0);
        let mut made = with_work(
            board,
            &[
                step("HMMA.884.F32.F32.STEP0"),
                step("HMMA.884.F32.F32.STEP1"),
                step("HMMA.884.F32.F32.STEP2"),
                step("HMMA.884.F32.F32.STEP3"),
            ],
        );
        made.stall(&[("math_pipe_throttle", 8.0), ("wait", 3.0)], 0.6);
        let ledger = made.ledger(board.capability);
        assert_share(&ledger, Stage::Tensor, Some(0.9), board);
        assert_verdict(
            &made.diagnose(),
            &[Resource::Tensor],
            "at-tensor-limit",
            board,
        );
    }
}

#[test]
fn without_a_peak_the_matrix_pipes_have_no_row() {
    const TOTAL: &str = "sm__ops_path_tensor_src_bf16_dst_fp32";
    const FAMILY: &str = "sm__ops_path_tensor_op_hmma_src_bf16_dst_fp32_sparsity_off";
    for board in boards() {
        let counter = match (board.capability.major, board.capability.minor) {
            (10, 3) | (11, 0) => TOTAL,
            (12, 1) => FAMILY,
            _ => continue,
        };
        let mut made = with_work(&board, &[("HMMA.16816.F32.BF16", 1.0)]);
        let operations = 0.5 * 1024.0 * board.sms * board.cycles();
        made.set(&format!("{counter}.sum"), operations);
        let ledger = made.ledger(board.capability);
        assert_share(&ledger, Stage::Tensor, None, &board);
        // A stored peak stands in where it is that of the same operations; that of a total is the sparse one.
        made.set(&format!("{counter}.sum.peak_sustained"), 1024.0 * board.sms);
        let expected = (counter == FAMILY).then_some(0.5);
        let ledger = made.ledger(board.capability);
        assert_share(&ledger, Stage::Tensor, expected, &board);
    }
}

/// Packed half precision: on a pipe of its own up to 8.0, on both halves of the FMA pipe of 8.6 and 8.9.
#[test]
fn half_precision_runs_where_it_is_documented_to() {
    for (place, lanes, on_fma) in [
        (0, 64.0, 0.0),
        (2, 64.0, 0.0),
        (3, 128.0, 0.0),
        (4, 64.0, 0.9),
    ] {
        let board = &boards()[place];
        let made = with_work(board, &[("HFMA2", board.instructions(lanes, 0.9))]);
        let ledger = made.ledger(board.capability);
        assert_share(&ledger, Stage::Half, Some(0.9), board);
        assert_share(&ledger, Stage::Fma, Some(on_fma), board);
    }
}

#[test]
fn scattered_accesses_are_the_first_finding() {
    for board in boards() {
        // Each lane of a warp touches a sector of its own, 32 where 4 would do, and all of them come from the memory.
        let sectors = board.dram_bytes(0.85) / 32.0;
        let accesses = sectors / 32.0;
        let mut made = board.launch();
        made.execute(&[("LDG.E", accesses * 2.0 / 3.0), ("STG.E", accesses / 3.0)]);
        made.set("memory_l2_theoretical_sectors_global", sectors);
        made.set("memory_l2_theoretical_sectors_global_ideal", sectors / 8.0);
        let is_seen = board.dram_counters() != DramCounters::Absent;
        board.dram(&mut made, 0.85);
        board.l1(&mut made, if is_seen { 0.4 } else { 0.8 }, 0.05);
        made.stall(&[("long_scoreboard", 60.0), ("lg_throttle", 20.0)], 0.1);
        let kernel = made.diagnose();
        let limiter = if is_seen {
            Resource::Dram
        } else {
            Resource::L1
        };
        assert_verdict(&kernel, &[limiter], "uncoalesced-global", &board);
        // An eighth of the sectors stays; no unit is busy for longer after that.
        let busiest = if is_seen { 0.85 } else { 0.8 };
        let ledger = made.ledger(board.capability);
        let instructions = [Stage::Issue, Stage::LsuInstructions]
            .iter()
            .filter_map(|stage| share(&ledger, *stage))
            .fold(0.0, f64::max);
        let ceiling = 1.0 - f64::max(busiest / 8.0, instructions);
        let found = kernel.findings[0].saving_ceiling;
        assert!(
            (found - ceiling).abs() < 1e-9,
            "{}: {found}, not {ceiling}",
            board.capability
        );
    }
}

#[test]
fn a_chain_of_loads_is_bound_by_latency() {
    for board in boards() {
        let mut made = with_work(&board, &[("IADD3", board.instructions(128.0, 0.03))]);
        board.dram(&mut made, 0.1);
        made.stall(&[("long_scoreboard", 70.0), ("wait", 4.0)], 0.1);
        assert_verdict(
            &made.diagnose(),
            &[Resource::Latency],
            "latency-bound",
            &board,
        );
    }
}

/// What stands before a sampled counter differs between devices, drivers and versions.
#[test]
fn sampled_wavefronts_fill_the_data_stage() {
    const COUNTER: &str = "l1tex__data_pipe_lsu_wavefronts.avg";
    for (place, sampling) in [(3, "pmsampling:"), (7, "SM_A.TriageCompute.")] {
        let board = &boards()[place];
        let mut made = board.launch();
        let wavefronts = 0.7 * board.cycles();
        // The same name without a word on sampling would not be that counter.
        made.set(COUNTER, 0.1 * wavefronts);
        assert_share(&made.ledger(board.capability), Stage::L1Data, None, board);
        made.set(&format!("{sampling}{COUNTER}"), wavefronts);
        let ledger = made.ledger(board.capability);
        assert_share(&ledger, Stage::L1Data, Some(0.7), board);
        // Whose stage it is, shared memory or L1, is decided by what passes it.
        let of = |made: &Made| {
            let ledger = made.ledger(board.capability);
            ledger.row(Stage::L1Data).map(|row| row.resource)
        };
        assert_eq!(of(&made), Some(Resource::L1));
        made.set(
            "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
            0.6 * board.cycles() * board.sms,
        );
        assert_eq!(of(&made), Some(Resource::Shared));
        // With samples lost the sum is not the demand.
        made.set("profiler__pmsampler_dropped_samples", 3.0);
        assert_share(&made.ledger(board.capability), Stage::L1Data, None, board);
    }
}

/// Counters that exist on every architecture, of units whose capacity was only measured on 9.0.
#[test]
fn what_was_measured_on_9_0_stays_there() {
    const ONLY_THERE: &[Stage] = &[
        Stage::L2Requests,
        Stage::L2Sectors,
        Stage::L2Write,
        Stage::L1Fill,
        Stage::L1Store,
        Stage::AtomicsL2,
        Stage::ConstantRequests,
        Stage::ConstantFills,
        Stage::InstructionRequests,
        Stage::InstructionFills,
        Stage::Uniform,
        Stage::HalfOnTensor,
    ];
    for board in boards() {
        let mut made = with_work(&board, &[("HFMA2.MMA", 1e4), ("UIADD3", 1e4)]);
        for counter in [
            "lts__t_requests",
            "lts__t_sectors",
            "lts__t_sectors_srcunit_tex_op_write",
            "lts__t_sectors_srcunit_tex_op_red",
            "lts__t_sectors_srcunit_tex_op_atom",
            "l1tex__m_xbar2l1tex_read_bytes",
            "l1tex__m_l1tex2xbar_write_bytes",
            "idc__requests",
            "gcc__cache_requests_type_constant",
            "sm__icc_requests",
            "gcc__cache_requests_type_instruction",
        ] {
            made.set(&format!("{counter}.sum"), 1e5);
        }
        let ledger = made.ledger(board.capability);
        let is_measured = (board.capability.major, board.capability.minor) == (9, 0);
        for stage in ONLY_THERE {
            assert_eq!(
                ledger.row(*stage).is_some(),
                is_measured,
                "{}, {stage:?}",
                board.capability
            );
        }
        // Integer additions have a second place to go to on 12.x.
        let has_alu = !matches!(board.capability.major, 11 | 12)
            && (board.capability.major, board.capability.minor) != (8, 7);
        assert_eq!(
            ledger.row(Stage::Alu).is_some(),
            has_alu,
            "{}",
            board.capability
        );
    }
}
