//! Bytes by level of memory, and what the report itself says about the speed of that memory.

use ncu_rep::Metrics;

use crate::clock::SmClock;
use ridge_model::arch::SECTOR_BYTES;

use crate::document::Traffic;

/// Bytes of one level and the counters behind them.
pub(crate) struct Bytes {
    pub(crate) count: f64,
    pub(crate) source: Vec<String>,
}

/// What a memory can do in a second, and the metrics behind it.
pub(crate) struct Peak {
    pub(crate) bytes_per_s: f64,
    pub(crate) source: Vec<String>,
}

/// Bytes over the interface of the device memory in both directions: each direction by itself, else the rate of both.
pub(crate) fn dram(metrics: &Metrics<'_>, duration_s: Option<f64>) -> Option<Bytes> {
    const DIRECTIONS: &[&str] = &["dram__bytes_read.sum", "dram__bytes_write.sum"];
    const RATE: &str = "dram__bytes.sum.per_second";
    sum(metrics, DIRECTIONS, 1.0).or_else(|| {
        Some(Bytes {
            count: metrics.number(RATE)? * duration_s?,
            source: vec![RATE.to_owned()],
        })
    })
}

/// Width × clock. The width is stored by reports with a roofline; every report stores that of the bus in bits, which
/// moves data twice a cycle: both agree on an H200 (6016 bits and 1504 bytes a cycle).
pub(crate) fn dram_peak(metrics: &Metrics<'_>) -> Option<Peak> {
    const CLOCK: &str = "dram__cycles_elapsed.avg.per_second";
    const PEAK: &str = "dram__bytes.sum.peak_sustained";
    const WIDTH: &str = "device__attribute_global_memory_bus_width";
    let (per_cycle, width) = metrics
        .number(PEAK)
        .map(|bytes| (bytes, PEAK))
        .or_else(|| Some((2.0 * metrics.number(WIDTH)? / 8.0, WIDTH)))?;
    Some(Peak {
        bytes_per_s: per_cycle * metrics.number(CLOCK)?,
        source: vec![width.to_owned(), CLOCK.to_owned()],
    })
}

/// What the SMs read from the L2 and wrote to it.
///
/// The ports of the L1 count what arrives in the SMs. The L2's own count of look-ups stands in where they were not
/// collected; it is smaller where one look-up serves several SMs.
pub(crate) fn l2(metrics: &Metrics<'_>) -> Option<Traffic> {
    const PORTS: [&str; 2] = [
        "l1tex__m_xbar2l1tex_read_bytes.sum",
        "l1tex__m_l1tex2xbar_write_bytes.sum",
    ];
    const LOOK_UPS: [&str; 2] = [
        "lts__t_sectors_srcunit_tex_op_read.sum",
        "lts__t_sectors_srcunit_tex_op_write.sum",
    ];
    let count = |[read, written]: [&str; 2], bytes: f64| {
        Some(Traffic {
            read_bytes: bytes * metrics.number(read)?,
            written_bytes: bytes * metrics.number(written)?,
            source: vec![read.to_owned(), written.to_owned()],
        })
    };
    count(PORTS, 1.0).or_else(|| count(LOOK_UPS, SECTOR_BYTES))
}

/// The return path of the L2: a sector a cycle for each of its ports, which reports with a hierarchical roofline count.
pub(crate) fn l2_peak(metrics: &Metrics<'_>) -> Option<Peak> {
    const PORTS: &str = "lts__lts2xbar_cycles_active.sum.peak_sustained";
    const CLOCK: &str = "lts__cycles_elapsed.avg.per_second";
    Some(Peak {
        bytes_per_s: SECTOR_BYTES * metrics.number(PORTS)? * metrics.number(CLOCK)?,
        source: vec![PORTS.to_owned(), CLOCK.to_owned()],
    })
}

/// Bytes that one cycle of the port from the L1 to the registers carries.
const WRITEBACK_BYTES: f64 = 128.0;
/// Cycles of that port: the name tells what else goes through it, which differs from 9.0 on.
pub(crate) const WRITEBACK: [&str; 3] = [
    "l1tex__lsu_writeback_active_mem_lgds.sum",
    "l1tex__lsu_writeback_active_mem_lg.sum",
    "l1tex__lsu_writeback_active.sum",
];

/// What the L1 and shared memory delivered to registers, as the profiler's own roofline counts it; where that was not
/// collected, the sectors of global and local accesses in both directions.
///
/// Operands that matrix instructions read from shared memory by themselves do not pass the registers and are not counted.
pub(crate) fn l1(metrics: &Metrics<'_>) -> Option<Bytes> {
    const SECTORS: &[&str] = &[
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
        "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
        "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
    ];
    WRITEBACK
        .iter()
        .find_map(|counter| sum(metrics, &[counter], WRITEBACK_BYTES))
        .or_else(|| sum(metrics, SECTORS, SECTOR_BYTES))
}

/// One such cycle in each SM at the SM clock of the run.
pub(crate) fn l1_peak(metrics: &Metrics<'_>, clock: SmClock) -> Option<Peak> {
    const SMS: &str = "device__attribute_multiprocessor_count";
    Some(Peak {
        bytes_per_s: WRITEBACK_BYTES * metrics.number(SMS)? * clock.hz,
        source: vec![SMS.to_owned(), clock.metric.to_owned()],
    })
}

fn sum(metrics: &Metrics<'_>, counters: &[&str], bytes: f64) -> Option<Bytes> {
    let count: Option<f64> = counters.iter().map(|counter| metrics.number(counter)).sum();
    Some(Bytes {
        count: bytes * count?,
        source: counters.iter().map(|&counter| counter.to_owned()).collect(),
    })
}
