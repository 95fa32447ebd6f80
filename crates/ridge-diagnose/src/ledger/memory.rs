//! Rows of the memory hierarchy: DRAM, L2, L1, shared memory.

use ridge_model::Architecture;
use ridge_model::arch::L2Slice;

use super::{Builder, Capacity, Stage};

const L1_CYCLES: &str = "l1tex__cycles_elapsed.sum";
const L2_CYCLES: &str = "lts__cycles_elapsed.sum";

/// Bytes in a cycle from the L2 into one L1: peak of `l1tex__m_xbar2l1tex_read_bytes`, exact on 51 H200 kernels.
const L1_FILL_BYTES: f64 = 128.0;
/// Bytes in a cycle from one L1 to the L2: peak of `l1tex__m_l1tex2xbar_write_bytes`, exact on 43 H200 kernels.
const L1_STORE_BYTES: f64 = 32.0;

pub(super) fn add_rows(builder: &mut Builder<'_, '_>, architecture: Option<&Architecture>) {
    add_dram(builder);
    add_l2(
        builder,
        architecture.and_then(|architecture| architecture.l2_slice),
    );
    add_l1(builder);
    // One wavefront a cycle in each SM, from 7.0 on.
    builder.add_sum(
        Stage::SharedWavefronts,
        &["l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"],
        "wavefront",
        Capacity {
            per_cycle: 1.0,
            cycles: L1_CYCLES,
        },
    );
}

/// Bytes against width × clock; where only the share of busy cycles was collected, busy against elapsed cycles.
fn add_dram(builder: &mut Builder<'_, '_>) {
    let (read, write) = (
        builder.number("dram__bytes_read.sum"),
        builder.number("dram__bytes_write.sum"),
    );
    let clock = builder.number("dram__cycles_elapsed.avg.per_second");
    if let (Some(read), Some(write), Some(clock), Some((peak, width))) =
        (read, write, clock, dram_bytes_per_cycle(builder))
    {
        let source = [
            "dram__bytes_read.sum",
            "dram__bytes_write.sum",
            width,
            "dram__cycles_elapsed.avg.per_second",
        ];
        let source = source.map(str::to_owned).to_vec();
        builder.push(Stage::DramBytes, read + write, "byte", peak * clock, source);
        return;
    }
    builder.add_sum(
        Stage::DramBytes,
        &["dram__cycles_active.sum"],
        "cycle",
        Capacity {
            per_cycle: 1.0,
            cycles: "dram__cycles_elapsed.sum",
        },
    );
}

/// Bytes that cross the interface in a cycle, and the metric that says so. The peak is stored by reports with a roofline;
/// every report stores the width of the bus in bits, which moves data twice a cycle: both agree on an H200 (6016 bits and
/// 1504 bytes a cycle).
fn dram_bytes_per_cycle(builder: &Builder<'_, '_>) -> Option<(f64, &'static str)> {
    const PEAK: &str = "dram__bytes.sum.peak_sustained";
    const WIDTH: &str = "device__attribute_global_memory_bus_width";
    builder
        .number(PEAK)
        .map(|bytes| (bytes, PEAK))
        .or_else(|| Some((2.0 * builder.number(WIDTH)? / 8.0, WIDTH)))
}

fn add_l2(builder: &mut Builder<'_, '_>, slice: Option<L2Slice>) {
    if let Some(slice) = slice {
        let capacity = |per_cycle| Capacity {
            per_cycle,
            cycles: L2_CYCLES,
        };
        builder.add_sum(
            Stage::L2Requests,
            &["lts__t_requests.sum"],
            "request",
            capacity(slice.requests),
        );
        builder.add_sum(
            Stage::L2Sectors,
            &["lts__t_sectors.sum"],
            "sector",
            capacity(slice.sectors),
        );
        let written = ["lts__t_sectors_srcunit_tex_op_write.sum"];
        builder.add_sum(
            Stage::L2Write,
            &written,
            "sector",
            capacity(slice.written_sectors),
        );
    }
    // The peak of the return path is stored by reports that hold the hierarchical roofline.
    let rate = builder.number("lts__lts2xbar_cycles_active.sum.per_second");
    let peak = builder.number("lts__lts2xbar_cycles_active.sum.peak_sustained");
    let clock = builder.number("lts__cycles_elapsed.avg.per_second");
    if let (Some(rate), Some(peak), Some(clock)) = (rate, peak, clock) {
        let source = [
            "lts__lts2xbar_cycles_active.sum.per_second",
            "lts__lts2xbar_cycles_active.sum.peak_sustained",
            "lts__cycles_elapsed.avg.per_second",
        ];
        let source = source.map(str::to_owned).to_vec();
        builder.push(
            Stage::L2Return,
            rate * builder.duration_s(),
            "sector",
            peak * clock,
            source,
        );
    }
}

fn add_l1(builder: &mut Builder<'_, '_>) {
    let capacity = |per_cycle| Capacity {
        per_cycle,
        cycles: L1_CYCLES,
    };
    let local = [
        "l1tex__t_output_wavefronts_pipe_lsu_mem_local_op_ld.sum",
        "l1tex__t_output_wavefronts_pipe_lsu_mem_local_op_st.sum",
    ];
    builder.add_sum(Stage::LocalWavefronts, &local, "wavefront", capacity(1.0));
    builder.add_sum(
        Stage::L1Wavefronts,
        &[
            "l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ld.sum",
            "l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_st.sum",
            "l1tex__t_output_wavefronts_pipe_lsu_mem_local_op_ld.sum",
            "l1tex__t_output_wavefronts_pipe_lsu_mem_local_op_st.sum",
        ],
        "wavefront",
        capacity(1.0),
    );
    builder.add_sum(
        Stage::L1Writeback,
        &["l1tex__lsu_writeback_active_mem_lgds.sum"],
        "cycle",
        capacity(1.0),
    );
    builder.add_sum(
        Stage::L1Fill,
        &["l1tex__m_xbar2l1tex_read_bytes.sum"],
        "byte",
        capacity(L1_FILL_BYTES),
    );
    builder.add_sum(
        Stage::L1Store,
        &["l1tex__m_l1tex2xbar_write_bytes.sum"],
        "byte",
        capacity(L1_STORE_BYTES),
    );
}
