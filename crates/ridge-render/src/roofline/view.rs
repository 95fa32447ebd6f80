//! What of a chart is drawn, for one level of memory.

use ridge_model::device::Origin;
use ridge_model::quantity::grouped;
use ridge_model::roof::MemoryLevel;
use ridge_model::roofline::document::{
    Basis, Chart, Class, ComputeRoofRow, Document, Flag, FlagCode, Kernel, MemoryRoofRow,
    Placement, Point, Side, Traffic,
};

/// A picture or a page of more devices is too long to look at.
const MOST_CHARTS: usize = 12;
/// More warnings than this are counted only.
pub(super) const MOST_WARNINGS: usize = 20;

/// The charts that are drawn.
pub(super) struct Shown<'d> {
    /// Those whose kernels took most time, in the order of the document.
    pub(super) charts: Vec<&'d Chart>,
    /// What is said about the others.
    pub(super) left_out: Option<String>,
}

impl<'d> Shown<'d> {
    pub(super) fn of(document: &'d Document) -> Self {
        let all = document.charts.len();
        if all <= MOST_CHARTS {
            return Self {
                charts: document.charts.iter().collect(),
                left_out: None,
            };
        }
        let time = |chart: &Chart| -> f64 {
            let times = chart
                .kernels
                .iter()
                .filter_map(|kernel| kernel.total_time_ns);
            times.sum()
        };
        let mut places: Vec<(f64, usize)> = document.charts.iter().map(time).zip(0..).collect();
        places.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        places.truncate(MOST_CHARTS);
        places.sort_by_key(|(_, place)| *place);
        Self {
            charts: places
                .into_iter()
                .filter_map(|(_, place)| document.charts.get(place))
                .collect(),
            left_out: Some(format!(
                "{MOST_CHARTS} of {} devices are drawn, those whose kernels took most time; --format json and --format csv hold all, --kernel and FILE#NAME choose",
                grouped(all as u64)
            )),
        }
    }
}

/// A point at its place.
#[derive(Clone, Copy)]
pub(super) struct Dot<'d> {
    pub(super) kernel: &'d Kernel,
    pub(super) point: &'d Point,
    pub(super) placement: &'d Placement,
}

/// What is drawn.
pub(super) struct View<'d> {
    pub(super) level: MemoryLevel,
    /// Main points, those that take most time first.
    pub(super) dots: Vec<Dot<'d>>,
    /// Kernels without a place, with the reason.
    pub(super) beside: Vec<(&'d Kernel, &'static str)>,
    /// Points of kernels that have one that is nearer to its roof.
    pub(super) minor: usize,
    /// Sloped roofs, one of each level and basis.
    pub(super) slopes: Vec<&'d MemoryRoofRow>,
    /// Flat roofs.
    pub(super) flats: Vec<&'d ComputeRoofRow>,
    /// Whether some of it was declared by specs of benchmarks.
    pub(super) is_declared: bool,
}

impl<'d> View<'d> {
    pub(super) fn new(chart: &'d Chart, level: MemoryLevel) -> Self {
        let mut dots = Vec::new();
        let mut beside = Vec::new();
        let mut minor = 0;
        for kernel in &chart.kernels {
            let Some(point) = kernel.points.first() else {
                let reason = kernel.left_out.map_or("", |reason| reason.text());
                beside.push((kernel, reason));
                continue;
            };
            minor += kernel.points.len() - 1;
            let at = |placement: &&Placement| placement.level == level;
            match point.placements.iter().find(at) {
                Some(placement) => dots.push(Dot {
                    kernel,
                    point,
                    placement,
                }),
                None => beside.push((kernel, no_bytes(kernel, level))),
            }
        }
        let is_drawn =
            |roof: &&ComputeRoofRow| dots.iter().any(|dot| dot.point.precision == roof.precision);
        let mut flats: Vec<&ComputeRoofRow> = chart.compute_roofs.iter().filter(is_drawn).collect();
        if flats.is_empty() {
            // A chart without points still tells how high the roof is.
            let usual = |roof: &&ComputeRoofRow| roof.precision_id == "fp32-vector";
            flats.extend(chart.compute_roofs.iter().filter(usual));
        }
        Self {
            level,
            dots,
            beside,
            minor,
            slopes: chart.memory_roofs.iter().collect(),
            flats,
            is_declared: chart.kernels.iter().any(is_declared),
        }
    }

    /// The slope that the points are seen under.
    pub(super) fn own_slope(&self) -> Option<&'d MemoryRoofRow> {
        self.slopes
            .iter()
            .copied()
            .find(|roof| roof.level == self.level)
    }
}

/// Whether bytes and operations of a kernel are those of a benchmark's spec.
pub(super) fn is_declared(kernel: &Kernel) -> bool {
    kernel.origin == Origin::Declared
}

fn no_bytes(kernel: &Kernel, level: MemoryLevel) -> &'static str {
    if is_declared(kernel) {
        let stays = |traffic: &Traffic| traffic.level == MemoryLevel::L2;
        return if kernel.traffic.iter().any(stays) {
            "its data stays in the L2 between launches: --level l2 has its place"
        } else {
            "its spec declares bytes of device memory: --level dram has its place"
        };
    }
    match level {
        MemoryLevel::Dram => "no bytes of device memory were counted",
        MemoryLevel::L2 => "no bytes between L2 and SMs were counted",
        MemoryLevel::L1 => "no bytes of the L1 were counted",
    }
}

/// The word for what limits a kernel.
pub(super) const fn class_name(class: Option<Class>) -> &'static str {
    match class {
        Some(Class::Memory) => "memory",
        Some(Class::Compute) => "compute",
        Some(Class::Latency) => "latency",
        Some(Class::Launch) => "launch",
        None => "none",
    }
}

/// The word for a flag.
pub(super) fn flag_name(flag: &Flag) -> String {
    match (flag.code, flag.level) {
        (FlagCode::AboveMemoryRoof, Some(level)) => {
            format!("above-{}-roof", level.name().to_ascii_lowercase())
        }
        (FlagCode::AboveMemoryRoof, None) => "above-memory-roof".to_owned(),
        (FlagCode::AboveComputeRoof, _) => "above-compute-roof".to_owned(),
    }
}

/// The flag in words: which roof, how far above, and what is likely to have caused it.
pub(super) fn flag_text(flag: &Flag, point: &Point) -> String {
    let roof = match flag.level {
        Some(level) => format!("the bandwidth of {}", level.name()),
        None => format!("the {} roof", point.label),
    };
    let basis = match flag.basis {
        Basis::Run => "at the clock of the run",
        Basis::Measured => "as it was measured",
        Basis::Datasheet => "of the data sheet",
    };
    let causes: Vec<&str> = flag.causes.iter().map(|cause| cause.text).collect();
    format!(
        "{:.2} times {roof} {basis}, which cannot be; likely, in this order: {}",
        flag.factor,
        causes.join("; or ")
    )
}

/// What is said about a point that may be none.
pub(super) const MOVES: &str = "the few half-precision multiply-adds may be loads of constants, which compilers write so: then this kernel has no floating-point operations";

/// A name with its side of a comparison.
pub(super) const fn side_mark(side: Option<Side>) -> &'static str {
    match side {
        Some(Side::Before) => " (before)",
        Some(Side::After) => " (after)",
        None => "",
    }
}
