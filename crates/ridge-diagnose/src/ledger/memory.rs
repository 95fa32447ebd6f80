//! Rows of the memory hierarchy: DRAM, L2, L1, shared memory.

use ridge_model::Architecture;
use ridge_model::arch::WAVEFRONTS_PER_CYCLE;
use ridge_model::arch::memory::Memory;

use super::{Builder, Capacity, Stage};
use crate::work::memory;

const L1_CYCLES: &str = "l1tex__cycles_elapsed.sum";
const L2_CYCLES: &str = "lts__cycles_elapsed.sum";

/// One wavefront a cycle in each L1.
const WAVEFRONTS: Capacity = Capacity {
    per_cycle: WAVEFRONTS_PER_CYCLE,
    cycles: L1_CYCLES,
};

pub(super) fn add_rows(builder: &mut Builder<'_, '_>, architecture: Option<&Architecture>) {
    let memory = architecture.map_or_else(Memory::default, |architecture| architecture.memory);
    add_dram(builder);
    add_l2(builder, &memory);
    add_l1(builder, &memory);
    builder.add_sum(
        Stage::SharedWavefronts,
        &["l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"],
        "wavefront",
        WAVEFRONTS,
    );
    add_l1_data(builder);
}

/// Bytes against width × clock; where only busy cycles were collected, busy against elapsed cycles.
///
/// Reads and writes share the interface, so both are one demand. Where the profiler has no counters of the memory itself
/// (8.7 and 11.0) those of its controller stand in, and on 12.1 there are none.
fn add_dram(builder: &mut Builder<'_, '_>) {
    if let (Some(bytes), Some(peak)) = (
        memory::dram(builder.metrics(), Some(builder.duration_s())),
        memory::dram_peak(builder.metrics()),
    ) {
        let source = bytes.source.into_iter().chain(peak.source).collect();
        builder.push(
            Stage::DramBytes,
            bytes.count,
            "byte",
            peak.bytes_per_s,
            source,
        );
        return;
    }
    for (active, elapsed) in [
        ("dram__cycles_active.sum", "dram__cycles_elapsed.sum"),
        ("mcc__cycles_active.sum", "mcc__cycles_elapsed.sum"),
    ] {
        if builder.number(active).is_some() {
            let busy = Capacity {
                per_cycle: 1.0,
                cycles: elapsed,
            };
            builder.add_sum(Stage::DramBytes, &[active], "cycle", busy);
            return;
        }
    }
}

fn add_l2(builder: &mut Builder<'_, '_>, memory: &Memory) {
    for (stage, counter, unit, figure) in [
        (
            Stage::L2Requests,
            "lts__t_requests.sum",
            "request",
            memory.l2_requests,
        ),
        (
            Stage::L2Sectors,
            "lts__t_sectors.sum",
            "sector",
            memory.l2_sectors,
        ),
        (
            Stage::L2Write,
            "lts__t_sectors_srcunit_tex_op_write.sum",
            "sector",
            memory.l2_written_sectors,
        ),
    ] {
        builder.add_figure(stage, &[counter], unit, figure, L2_CYCLES);
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

fn add_l1(builder: &mut Builder<'_, '_>, memory: &Memory) {
    let local = [
        "l1tex__t_output_wavefronts_pipe_lsu_mem_local_op_ld.sum",
        "l1tex__t_output_wavefronts_pipe_lsu_mem_local_op_st.sum",
    ];
    builder.add_sum(Stage::LocalWavefronts, &local, "wavefront", WAVEFRONTS);
    builder.add_sum(
        Stage::L1Wavefronts,
        &[
            "l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ld.sum",
            "l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_st.sum",
            "l1tex__t_output_wavefronts_pipe_lsu_mem_local_op_ld.sum",
            "l1tex__t_output_wavefronts_pipe_lsu_mem_local_op_st.sum",
        ],
        "wavefront",
        WAVEFRONTS,
    );
    let stored = memory::WRITEBACK
        .into_iter()
        .find(|counter| builder.number(counter).is_some());
    if let Some(counter) = stored {
        let cycle = Capacity {
            per_cycle: 1.0,
            cycles: L1_CYCLES,
        };
        builder.add_sum(Stage::L1Writeback, &[counter], "cycle", cycle);
    }
    for (stage, counter, figure) in [
        (
            Stage::L1Fill,
            "l1tex__m_xbar2l1tex_read_bytes.sum",
            memory.l1_fill_bytes,
        ),
        (
            Stage::L1Store,
            "l1tex__m_l1tex2xbar_write_bytes.sum",
            memory.l1_store_bytes,
        ),
    ] {
        builder.add_figure(stage, &[counter], "byte", figure, L1_CYCLES);
    }
}

/// The data stage of the L1, which every access to global, local and shared memory passes.
///
/// No section of the profiler counts its wavefronts in a replay pass, unless they were asked for by name. The full set
/// samples them: the value of the sampled counter adds up the samples. The name in front of that one says how it was
/// sampled, and differs between devices and versions.
fn add_l1_data(builder: &mut Builder<'_, '_>) {
    const COUNTED: &str = "l1tex__data_pipe_lsu_wavefronts.sum";
    const COUNTER: &str = "l1tex__data_pipe_lsu_wavefronts.avg";
    const MEAN_CYCLES: &str = "l1tex__cycles_elapsed.avg";
    let lost = builder.number("profiler__pmsampler_dropped_samples");
    if lost.is_some_and(|samples| samples > 0.0) {
        return;
    }
    if builder.number(COUNTED).is_some() {
        builder.add_sum(Stage::L1Data, &[COUNTED], "wavefront", WAVEFRONTS);
        return;
    }
    let sampled = builder.metrics().iter().find_map(|metric| {
        let sampling = metric.name.strip_suffix(COUNTER)?;
        let is_sampled = sampling.ends_with(['.', ':']);
        Some((metric.name.to_owned(), metric.number()?)).filter(|_| is_sampled)
    });
    let (Some((name, wavefronts)), Some(units)) = (sampled, builder.units("l1tex")) else {
        return;
    };
    let source = vec![name, MEAN_CYCLES.to_owned()];
    builder.add(
        Stage::L1Data,
        wavefronts * units,
        "wavefront",
        WAVEFRONTS,
        source,
    );
}
