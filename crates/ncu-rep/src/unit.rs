//! Units of metrics.
//!
//! A report stores no units. They follow from the metric's name: what is counted, how it was rolled up, and which
//! rate was taken of it ([`unit_of`]). CSV exports print a unit per value, scaled by a decimal prefix
//! ([`Unit::parse`]).
//!
//! # Where this differs from what the profiler prints
//!
//! | metrics | printed | here | why |
//! |---|---|---|---|
//! | `smsp__pcsamp_warps_issue_stalled_*` | warp, `branches`, inst | sample | each counts samples, and they add up to `smsp__pcsamp_sample_count` |
//! | `smsp__pcsamp_sample_count` | nothing | sample | |
//! | `smsp__average_warps_issue_stalled_*_per_issue_active.ratio` | inst | cycle | they add up to `smsp__average_warp_latency_per_inst_issued.ratio`, which is in cycles |
//! | `smsp__imc_requests`, `sm__icc_requests` | cycle | request | |
//! | `memory_l1_tag_requests_global` | `sectors` | request | |
//! | `l1tex`, `idc` and `sm__sass` requests, `derived__local_spilling_requests` | nothing | request | |
//! | `memory_l1_wavefronts_shared*` | `sectors` | none | wavefronts, as for all other wavefronts |
//! | `gcc__xbar2gcc_sectors` | nothing | sector | |
//! | `derived__*_bytes*.peak_sustained` and `.per_second` | byte or nothing | byte/cycle, byte/s | products of a rate and a size |
//! | `derived__*sass_thread_inst_executed*_x2`, `_x4` | thread | inst/cycle | products of a rate per cycle |
//! | `derived__smsp__inst_executed_op_branch_pct` | % | none | a fraction between 0 and 1 |
//! | `derived__pct_occupancy_per_*` | %/register, %/Kbyte or nothing | % | occupancy at a register count, a size, a count of barriers |
//! | `launch__block_dim_*` | block | thread | |
//! | `launch__block_size` | nothing | thread | |
//! | `launch__grid_*`, `launch__cluster_dim_*`, `launch__cluster_size` | nothing | block | |
//! | `sass__*inst_executed*per_opcode*` | nothing | inst | |
//! | `sm__ops_path_tensor_*` | nothing | op, op/cycle, op/s | |

use std::fmt;

/// What a value counts or measures: a quantity, or one quantity per another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Unit {
    of: Part,
    per: Part,
}

/// One side of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Part {
    One,
    Percent,
    Nanosecond,
    Second,
    Cycle,
    Byte,
    Sector,
    Request,
    Inst,
    Op,
    Branch,
    Warp,
    Thread,
    Block,
    Cluster,
    Register,
    Sm,
    Sample,
    Pass,
}

/// A printed unit: the unit itself, and the power of ten that its prefix stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScaledUnit {
    /// The unit without prefix; times are in nanoseconds, rates per second.
    pub unit: Unit,
    /// A printed value times ten to this power is in `unit`.
    pub exponent: i32,
}

impl Unit {
    /// No unit: a plain number, or a quantity for which none is known.
    pub const NONE: Self = Self::of(Part::One);
    /// Percent.
    pub const PERCENT: Self = Self::of(Part::Percent);
    /// Nanoseconds.
    pub const NANOSECOND: Self = Self::of(Part::Nanosecond);
    /// Clock cycles.
    pub const CYCLE: Self = Self::of(Part::Cycle);
    /// Cycles per second.
    pub const HERTZ: Self = Self::rate(Part::Cycle, Part::Second);
    /// Bytes.
    pub const BYTE: Self = Self::of(Part::Byte);
    /// Bytes per second.
    pub const BYTE_PER_SECOND: Self = Self::rate(Part::Byte, Part::Second);
    /// Bytes per cycle.
    pub const BYTE_PER_CYCLE: Self = Self::rate(Part::Byte, Part::Cycle);
    /// Bytes per sector.
    pub const BYTE_PER_SECTOR: Self = Self::rate(Part::Byte, Part::Sector);
    /// Bytes per block of threads.
    pub const BYTE_PER_BLOCK: Self = Self::rate(Part::Byte, Part::Block);
    /// Sectors of 32 bytes.
    pub const SECTOR: Self = Self::of(Part::Sector);
    /// Sectors per second.
    pub const SECTOR_PER_SECOND: Self = Self::rate(Part::Sector, Part::Second);
    /// Sectors per cycle.
    pub const SECTOR_PER_CYCLE: Self = Self::rate(Part::Sector, Part::Cycle);
    /// Sectors per request.
    pub const SECTOR_PER_REQUEST: Self = Self::rate(Part::Sector, Part::Request);
    /// Requests.
    pub const REQUEST: Self = Self::of(Part::Request);
    /// Instructions.
    pub const INST: Self = Self::of(Part::Inst);
    /// Instructions per cycle.
    pub const INST_PER_CYCLE: Self = Self::rate(Part::Inst, Part::Cycle);
    /// Arithmetic operations.
    pub const OP: Self = Self::of(Part::Op);
    /// Branches.
    pub const BRANCH: Self = Self::of(Part::Branch);
    /// Warps.
    pub const WARP: Self = Self::of(Part::Warp);
    /// Threads.
    pub const THREAD: Self = Self::of(Part::Thread);
    /// Blocks of threads.
    pub const BLOCK: Self = Self::of(Part::Block);
    /// Clusters of blocks.
    pub const CLUSTER: Self = Self::of(Part::Cluster);
    /// Registers per thread.
    pub const REGISTER_PER_THREAD: Self = Self::rate(Part::Register, Part::Thread);
    /// Streaming multiprocessors.
    pub const SM: Self = Self::of(Part::Sm);
    /// Samples.
    pub const SAMPLE: Self = Self::of(Part::Sample);
    /// Passes of a kernel replay.
    pub const PASS: Self = Self::of(Part::Pass);

    const fn of(of: Part) -> Self {
        Self { of, per: Part::One }
    }

    const fn rate(of: Part, per: Part) -> Self {
        Self { of, per }
    }

    /// The unit of this quantity per cycle; cycles per cycle are a plain number.
    fn per_cycle(self) -> Self {
        match (self.of, self.per) {
            (Part::Cycle, Part::One) => Self::NONE,
            (_, Part::One) => Self::rate(self.of, Part::Cycle),
            _ => self,
        }
    }

    fn per_second(self) -> Self {
        match self.per {
            Part::One if self != Self::NONE => Self::rate(self.of, Part::Second),
            _ => self,
        }
    }

    /// Whether this is no unit.
    #[must_use]
    pub fn is_none(self) -> bool {
        self == Self::NONE
    }

    /// Reads a unit as the profiler prints it, scaled or not: `Gbyte/s`, `Ghz`, `usecond`, `sector/ns`, `%`.
    ///
    /// A prefix below the line belongs to the whole in two ways. Rates per time are true quotients: `sector/ns` is
    /// 10^9 sectors per second. Quotients by bytes are not, the profiler scales the value and prints the prefix
    /// behind the line (measured on `derived__pct_occupancy_per_shared_mem_size`): a printed 2.614 %/Kbyte is 2614.
    #[must_use]
    pub fn parse(text: &str) -> Option<ScaledUnit> {
        let text = text.trim();
        if text.is_empty() {
            return Some(ScaledUnit {
                unit: Self::NONE,
                exponent: 0,
            });
        }
        let Some((of, per)) = text.split_once('/') else {
            // A frequency is the one unit whose name hides what it is per.
            if let Some(prefix) = text.strip_suffix("hz").or_else(|| text.strip_suffix("Hz")) {
                return Some(ScaledUnit {
                    unit: Self::HERTZ,
                    exponent: prefix_exponent(prefix)?,
                });
            }
            return Some(match part(text)? {
                (Part::Second, exponent) => ScaledUnit {
                    unit: Self::NANOSECOND,
                    exponent: exponent.saturating_add(9),
                },
                (of, exponent) => ScaledUnit {
                    unit: Self::of(of),
                    exponent,
                },
            });
        };
        let (of, above) = part(of.trim())?;
        let (per, below) = part(per.trim())?;
        let exponent = match per {
            Part::Second => above.saturating_sub(below),
            _ => above.saturating_add(below),
        };
        Some(ScaledUnit {
            unit: Self::rate(of, per),
            exponent,
        })
    }
}

impl ScaledUnit {
    /// What a printed value is multiplied with to be in the unit.
    #[must_use]
    pub fn factor(self) -> f64 {
        10_f64.powi(self.exponent)
    }
}

/// The name as the profiler prints it with `--print-units base`; nothing for no unit.
impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.of, self.per) {
            (Part::Cycle, Part::Second) => f.write_str("Hz"),
            (of, Part::One) => f.write_str(of.name()),
            (Part::One, per) => write!(f, "1/{}", per.name()),
            (of, per) => write!(f, "{}/{}", of.name(), per.name()),
        }
    }
}

/// Names of the parts, each with the plural that some versions print.
const PARTS: [(Part, &str, &str); 17] = [
    (Part::Percent, "%", "%"),
    (Part::Cycle, "cycle", "cycles"),
    (Part::Byte, "byte", "bytes"),
    (Part::Sector, "sector", "sectors"),
    (Part::Request, "request", "requests"),
    (Part::Inst, "inst", "instructions"),
    (Part::Op, "op", "ops"),
    (Part::Branch, "branch", "branches"),
    (Part::Warp, "warp", "warps"),
    (Part::Thread, "thread", "threads"),
    (Part::Block, "block", "blocks"),
    (Part::Cluster, "cluster", "clusters"),
    (Part::Register, "register", "registers"),
    (Part::Sm, "SM", "SMs"),
    (Part::Sample, "sample", "samples"),
    (Part::Pass, "pass", "passes"),
    (Part::Second, "s", "second"),
];

impl Part {
    fn name(self) -> &'static str {
        match self {
            Self::One => "",
            Self::Nanosecond => "ns",
            _ => PARTS
                .iter()
                .find(|(part, ..)| *part == self)
                .map_or("", |(_, name, _)| name),
        }
    }
}

/// One side of a printed unit, with the power of ten of its prefix.
fn part(text: &str) -> Option<(Part, i32)> {
    let whole = |text: &str| {
        PARTS
            .iter()
            .find(|(_, name, plural)| *name == text || *plural == text)
            .map(|(part, ..)| *part)
    };
    if let Some(part) = whole(text) {
        return Some((part, 0));
    }
    let mut rest = text.chars();
    let prefix = rest.next()?;
    let part = whole(rest.as_str())?;
    // Small prefixes exist for times only: `mbyte` would be a slip.
    let exponent = match (prefix, part) {
        ('n', Part::Second) => -9,
        ('u', Part::Second) => -6,
        ('m', Part::Second) => -3,
        (_, Part::Second) => return None,
        _ => prefix_exponent(text.get(..prefix.len_utf8())?)?,
    };
    Some((part, exponent))
}

/// Prefixes are decimal, also those of bytes.
fn prefix_exponent(prefix: &str) -> Option<i32> {
    Some(match prefix {
        "" => 0,
        "K" | "k" => 3,
        "M" => 6,
        "G" => 9,
        "T" => 12,
        "P" => 15,
        "E" => 18,
        _ => return None,
    })
}

/// The unit of a metric, by the grammar of metric names; [`Unit::NONE`] where the name says nothing.
///
/// The unit belongs to the value and to each of its instances. It is the unit in which a report stores the value:
/// nothing is scaled.
#[must_use]
pub fn unit_of(metric: &str) -> Unit {
    // Lists of names, not quantities.
    if metric.starts_with("breakdown:") || metric.starts_with("group:") {
        return Unit::NONE;
    }
    // Sampled metrics carry a prefix: `pmsampling:`, or the name of a trigger group such as `TPC.TriageCompute.`.
    let metric = metric.rsplit_once(':').map_or(metric, |(_, name)| name);
    let mut parts = metric.split('.');
    let base = match parts.clone().find(|part| part.contains("__")) {
        Some(base) => {
            parts.find(|part| *part == base);
            base
        }
        None => parts.next().unwrap_or(metric),
    };
    let suffixes = parts;

    if suffixes.clone().any(|suffix| suffix.starts_with("pct")) {
        return Unit::PERCENT;
    }
    let unit = unit_of_base(base);
    if unit == Unit::WARP || base.ends_with("issue_active") {
        // Averages over cycles: warps per cycle are called warps.
        return unit;
    }
    let ratio = suffixes
        .clone()
        .any(|suffix| matches!(suffix, "ratio" | "max_rate"));
    if ratio && !(base.contains("_per_") || unit == Unit::BYTE_PER_SECTOR) {
        return Unit::NONE;
    }
    suffixes.fold(unit, |unit, suffix| match suffix {
        "per_second" => match (unit.of, unit.per) {
            // `.peak_sustained_elapsed.per_second`: the peak is per cycle of that second.
            (of, Part::Cycle) => Unit::rate(of, Part::Second),
            _ => unit.per_second(),
        },
        "per_cycle_active" | "per_cycle_elapsed" => unit.per_cycle(),
        _ if suffix.starts_with("peak_sustained") => unit.per_cycle(),
        _ => unit,
    })
}

/// What a counter counts, before roll-up and rate.
fn unit_of_base(base: &str) -> Unit {
    let derived = base.strip_prefix("derived__");
    let name = derived.unwrap_or(base);
    if let Some(rest) = base.strip_prefix("launch__") {
        return unit_of_launch(rest);
    }
    if name.starts_with("device__attribute_") || name.ends_with("_type") {
        return Unit::NONE;
    }
    if name.starts_with("pct_occupancy_per_") {
        return Unit::PERCENT; // At each point of a curve, not per point.
    }
    if name == "smsp__inst_executed_op_branch_pct" {
        return Unit::NONE; // A fraction, whatever its name says.
    }
    if name.ends_with("_pct") {
        return Unit::PERCENT;
    }
    if name.contains("pcsamp_warps_issue_stalled_") || name.ends_with("pcsamp_sample_count") {
        return Unit::SAMPLE;
    }
    if name.contains("_bytes_per_sector") {
        return Unit::BYTE_PER_SECTOR;
    }
    if name.contains("_sectors_per_request") {
        return Unit::SECTOR_PER_REQUEST;
    }
    if name.contains("average_warp") && name.contains("_per_") {
        return Unit::CYCLE; // Cycles that a warp spends per instruction, in a stall or in total.
    }
    if name.contains("_inst_executed_per_inst_executed")
        || name.contains("_pred_on_per_inst_executed")
    {
        return Unit::NONE;
    }
    if derived.is_some()
        && name.contains("thread_inst_executed")
        && (name.ends_with("_x2") || name.ends_with("_x4"))
    {
        return Unit::INST_PER_CYCLE;
    }
    if name.contains("time_duration") || name.ends_with("_interval_time") {
        return Unit::NANOSECOND;
    }
    if name.contains("cycles_active")
        || name.contains("cycles_elapsed")
        || name.ends_with("_interval_cycles")
    {
        return Unit::CYCLE;
    }
    if name.contains("_writeback_active") {
        return Unit::CYCLE;
    }
    if name.contains("_wavefronts") || name.contains("_conflicts") {
        return Unit::NONE;
    }
    if name.contains("ops_path_tensor") {
        return Unit::OP;
    }
    let counts = |what| name.contains(what);
    if counts("branch_targets") {
        Unit::BRANCH
    } else if counts("_requests") {
        Unit::REQUEST
    } else if counts("_sectors") {
        Unit::SECTOR
    } else if counts("avg_thread_") {
        Unit::THREAD
    } else if counts("inst_executed") || counts("inst_issued") {
        Unit::INST
    } else if counts("_bytes") {
        Unit::BYTE
    } else if counts("warps_") {
        Unit::WARP
    } else if counts("_ctas_launched") {
        Unit::BLOCK
    } else if counts("replayer_passes") || counts("aggregated_passes") {
        Unit::PASS
    } else if name.ends_with("_merged_samples") {
        Unit::SAMPLE
    } else {
        Unit::NONE
    }
}

/// Launch attributes have names of their own.
fn unit_of_launch(name: &str) -> Unit {
    match name {
        "block_size" | "block_dim_x" | "block_dim_y" | "block_dim_z" | "thread_count" => {
            Unit::THREAD
        }
        "grid_size" | "grid_dim_x" | "grid_dim_y" | "grid_dim_z" => Unit::BLOCK,
        "cluster_size" | "preferred_cluster_size" | "cluster_max_potential_size" => Unit::BLOCK,
        "cluster_dim_x" | "cluster_dim_y" | "cluster_dim_z" => Unit::BLOCK,
        "cluster_max_active" => Unit::CLUSTER,
        "registers_per_thread" | "registers_per_thread_allocated" => Unit::REGISTER_PER_THREAD,
        "shared_mem_config_size" | "persisting_l2_cache_size" => Unit::BYTE,
        "sm_count" => Unit::SM,
        _ if name.starts_with("occupancy_limit_") => Unit::BLOCK,
        _ if name.starts_with("shared_mem_per_block") => Unit::BYTE_PER_BLOCK,
        _ if name.ends_with("_pct") => Unit::PERCENT,
        _ => Unit::NONE,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn printed_units_lose_their_prefix() {
        // Spellings of 2025.3 first, then those of older versions.
        for (text, unit, exponent) in [
            ("", Unit::NONE, 0),
            ("%", Unit::PERCENT, 0),
            ("byte", Unit::BYTE, 0),
            ("Kbyte", Unit::BYTE, 3),
            ("Tbyte/s", Unit::BYTE_PER_SECOND, 12),
            ("Kbyte/cycle", Unit::BYTE_PER_CYCLE, 3),
            ("Kbyte/block", Unit::BYTE_PER_BLOCK, 3),
            ("Ghz", Unit::HERTZ, 9),
            ("hz", Unit::HERTZ, 0),
            ("ns", Unit::NANOSECOND, 0),
            ("us", Unit::NANOSECOND, 3),
            ("ms", Unit::NANOSECOND, 6),
            ("s", Unit::NANOSECOND, 9),
            ("sector/ns", Unit::SECTOR_PER_SECOND, 9),
            ("sector/ms", Unit::SECTOR_PER_SECOND, 3),
            ("register/thread", Unit::REGISTER_PER_THREAD, 0),
            ("branches", Unit::BRANCH, 0),
            ("SM", Unit::SM, 0),
            ("nsecond", Unit::NANOSECOND, 0),
            ("usecond", Unit::NANOSECOND, 3),
            ("msecond", Unit::NANOSECOND, 6),
            ("second", Unit::NANOSECOND, 9),
            ("cycle/nsecond", Unit::HERTZ, 9),
            ("cycle/second", Unit::HERTZ, 0),
            ("Gbyte/second", Unit::BYTE_PER_SECOND, 9),
            ("Mbyte/second", Unit::BYTE_PER_SECOND, 6),
        ] {
            assert_eq!(
                Unit::parse(text),
                Some(ScaledUnit { unit, exponent }),
                "{text}"
            );
        }
        for text in ["mbyte", "Ks", "/", "byte/", "furlong", "Qbyte", "é", "Zhz"] {
            assert_eq!(Unit::parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_prefix_behind_the_line_scales_the_value() {
        let unit = Unit::parse("%/Kbyte").unwrap();
        assert_eq!(unit.exponent, 3);
    }

    #[test]
    fn display_is_what_parse_reads() {
        for unit in [
            Unit::NONE,
            Unit::PERCENT,
            Unit::NANOSECOND,
            Unit::HERTZ,
            Unit::BYTE_PER_SECOND,
            Unit::SECTOR_PER_REQUEST,
            Unit::REGISTER_PER_THREAD,
            Unit::SM,
            Unit::BRANCH,
        ] {
            assert_eq!(Unit::parse(&unit.to_string()).unwrap().unit, unit);
        }
    }

    #[test]
    fn sampled_names_have_the_unit_of_the_counter() {
        assert_eq!(
            unit_of("TPC.TriageCompute.sm__cycles_active.avg"),
            Unit::CYCLE
        );
        assert_eq!(
            unit_of("pmsampling:dram__read_throughput.avg.pct_of_peak_sustained_elapsed"),
            Unit::PERCENT
        );
        assert_eq!(
            unit_of("breakdown:sm__throughput.avg.pct_of_peak_sustained_elapsed"),
            Unit::NONE
        );
    }

    #[test]
    fn rates_of_rates() {
        assert_eq!(
            unit_of("lts__t_sectors.sum.per_second").to_string(),
            "sector/s"
        );
        assert_eq!(
            unit_of("sm__ops_path_tensor_src_fp16.sum.peak_sustained_elapsed.per_second")
                .to_string(),
            "op/s"
        );
        assert_eq!(
            unit_of("sm__cycles_elapsed.avg.per_second").to_string(),
            "Hz"
        );
        assert_eq!(
            unit_of("lts__lts2xbar_cycles_active.avg.peak_sustained"),
            Unit::NONE
        );
        assert_eq!(
            unit_of("dram__bytes.sum.peak_sustained"),
            Unit::BYTE_PER_CYCLE
        );
        assert_eq!(unit_of(""), Unit::NONE);
        assert_eq!(unit_of(".per_second"), Unit::NONE);
    }
}
