//! Findings about a program: one flaw in one file, with a bound on what its remedy can save.
//!
//! A check looks at one device. Gaps are divided among the checks by what caused them, so that no nanosecond of idle time
//! is promised twice. No kernel name enters a check.

mod idle_gap;
mod launch_bound;
mod pageable_transfer;
mod serialised_transfer;
#[cfg(test)]
mod testing;
mod transfer_bound;
mod unexpected_sync;
mod unfused_kernels;

use ridge_model::device::Origin;

use crate::analysis::Seen;
use crate::document::{Confidence, Direction, Evidence, Finding, Verify};

/// What is below is not told: whole programs differ by a few per cent from run to run.
const WORTHWHILE: f64 = 0.05;
/// The time between two kernels of a full queue, the median on an H200: less than this no remedy leaves.
const QUEUED_GAP_NS: f64 = 1_200.0;
/// A launch with the code of a framework around it takes the host up to some tens of microseconds. What is longer is
/// something else that the host does.
const LONG_GAP_NS: i64 = 100_000;

/// A check: its name, the file whose head describes it, and how it looks at a device.
struct Check {
    id: &'static str,
    source: &'static str,
    run: fn(&Seen<'_>) -> Option<Finding>,
}

macro_rules! checks {
    ($($module:ident),+ $(,)?) => {
        const CHECKS: &[Check] = &[$(Check {
            id: $module::ID,
            source: include_str!(concat!(stringify!($module), ".rs")),
            run: $module::check,
        }),+];
    };
}

checks!(
    launch_bound,
    transfer_bound,
    pageable_transfer,
    serialised_transfer,
    unexpected_sync,
    idle_gap,
    unfused_kernels,
);

/// Findings that say nothing where no work is joined with its call.
pub(crate) const NEED_CALLS: &[&str] = &[launch_bound::ID, unexpected_sync::ID];

/// Each check with the source whose head describes it.
pub(crate) fn sources() -> impl Iterator<Item = (&'static str, &'static str)> {
    CHECKS.iter().map(|check| (check.id, check.source))
}

/// Runs every check on every device. Of several devices with the same flaw the one that it costs most is told.
pub(crate) fn run(devices: &[Seen<'_>]) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    for check in CHECKS {
        // Of no time, there is nothing to save.
        let lasting = devices.iter().filter(|seen| seen.span_ns() > 0.0);
        let mut of_check: Vec<Finding> = lasting.filter_map(check.run).collect();
        of_check.sort_by(|a, b| {
            b.saving_ceiling_ns
                .total_cmp(&a.saving_ceiling_ns)
                .then(a.device.cmp(&b.device))
        });
        let others = of_check.len().saturating_sub(1);
        if let Some(mut worst) = of_check.into_iter().next() {
            if others > 0 {
                worst.title = format!(
                    "{} (device {}; {others} more of the {} devices too)",
                    worst.title,
                    worst.device,
                    devices.len()
                );
            }
            found.push(worst);
        }
    }
    found.sort_by(|a, b| b.saving_expected.total_cmp(&a.saving_expected));
    found
}

/// A saving as a time.
#[derive(Clone, Copy, Debug, Default)]
struct Saving {
    ceiling_ns: f64,
    expected_ns: f64,
}

/// Puts a finding together, with savings as fractions of the span.
fn finding(
    seen: &Seen<'_>,
    id: &str,
    title: String,
    saving: Saving,
    confidence: Confidence,
    rest: Rest,
) -> Finding {
    let span = seen.span_ns();
    let share = |ns: f64| (ns / span).clamp(0.0, 1.0);
    Finding {
        id: id.to_owned(),
        title,
        device: seen.device.number,
        saving_ceiling: share(saving.ceiling_ns),
        saving_expected: share(saving.expected_ns.min(saving.ceiling_ns)),
        saving_ceiling_ns: saving.ceiling_ns.clamp(0.0, span),
        confidence,
        evidence: rest.evidence,
        actions: rest.actions.into_iter().map(str::to_owned).collect(),
        verify: rest
            .verify
            .into_iter()
            .map(|(metric, direction)| Verify {
                metric: metric.to_owned(),
                direction,
            })
            .collect(),
    }
}

/// The lists of a finding.
struct Rest {
    evidence: Vec<Evidence>,
    actions: Vec<&'static str>,
    verify: Vec<(&'static str, Direction)>,
}

/// A figure of the trace itself.
fn measured(metric: impl Into<String>, value: f64, unit: &str) -> Evidence {
    Evidence {
        metric: metric.into(),
        value,
        unit: unit.to_owned(),
        healthy: None,
        origin: Origin::Measured,
    }
}

impl Evidence {
    fn against(mut self, healthy: f64) -> Self {
        self.healthy = Some(healthy);
        self
    }

    fn from(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts for people")]
fn count(number: u64) -> f64 {
    number as f64
}

/// The function's own name: without what it returns, its namespaces, its template arguments and its parameters.
pub(crate) fn base_name(name: &str) -> &str {
    let end = name.find(['<', '(']).unwrap_or(name.len());
    let path = name.get(..end).unwrap_or(name);
    let start = path.rfind([':', ' ']).map_or(0, |place| place + 1);
    match path.get(start..) {
        Some(base) if !base.is_empty() && end < name.len() => base,
        // What is no function of C++ is shown as it is.
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::base_name;

    #[test]
    fn names_are_short() {
        assert_eq!(
            base_name("void at::native::reduce_kernel<512, 1>(at::X)"),
            "reduce_kernel"
        );
        assert_eq!(base_name("gemm(float*)"), "gemm");
        assert_eq!(base_name("Memcpy HtoD"), "Memcpy HtoD");
        assert_eq!(base_name("(anonymous)"), "(anonymous)");
    }
}
