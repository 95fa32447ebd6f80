//! Whether clean times are of the launches that were profiled, and of one size on both sides.

use ridge_diagnose::document::Kernel;
use ridge_model::quantity::{Bytes, Nanos};

use super::document::{Conclusion, Time, Warning};
use super::ledger::diagnosed_ns;
use super::time::Clean;

/// Clocks and caches make no larger factor between a time and the profiler's duration of the same launch.
const FAR: f64 = 3.0;
/// Amounts of work that differ by no more are one amount, written in two ways.
const ROUNDING: f64 = 1e-9;

/// What is said of times of another size.
#[derive(Default)]
pub(super) struct Sizes {
    pub(super) warnings: Vec<Warning>,
    /// Why the times are not comparable.
    pub(super) invalid: Option<String>,
}

/// One side: the profiled kernel, its times, and their centre.
struct Side<'s> {
    name: &'static str,
    kernel: &'s Kernel,
    clean: &'s Clean,
    time_ns: Option<f64>,
}

impl Side<'_> {
    /// Whether the times are of another grid or block than the profiled launch.
    fn is_other_launch(&self) -> bool {
        let differs = |one: Option<[u32; 3]>, other: Option<[u32; 3]>| {
            one.zip(other).is_some_and(|(one, other)| one != other)
        };
        differs(self.clean.grid, self.kernel.grid) || differs(self.clean.block, self.kernel.block)
    }

    /// The time and the profiler's duration, where they are far apart.
    fn far(&self) -> Option<(f64, f64)> {
        let (time, duration) = self.time_ns.zip(diagnosed_ns(self.kernel))?;
        is_far(time, duration).then_some((time, duration))
    }
}

fn is_far(one: f64, other: f64) -> bool {
    one > FAR * other || other > FAR * one
}

/// Compares the times with what was profiled.
pub(super) fn check(
    (before, after): (&Kernel, &Kernel),
    (one, other): (&Clean, &Clean),
    time: &Time,
) -> Sizes {
    let sides = [
        Side {
            name: "before",
            kernel: before,
            clean: one,
            time_ns: time.before_ns,
        },
        Side {
            name: "after",
            kernel: after,
            clean: other,
            time_ns: time.after_ns,
        },
    ];
    let mut found = Sizes::default();
    let mut add = |code: &str, message: String| {
        found.warnings.push(Warning {
            code: code.to_owned(),
            message,
            spoils: vec![Conclusion::Time],
        });
    };
    let axes = other_axes(&one.label, &other.label);
    if !axes.is_empty() {
        add(
            "times-axes-differ",
            format!(
                "the times are of states that differ in {}: if that is the size of the problem, they are not of the same work",
                axes.join(", ")
            ),
        );
    }
    let mut invalid = other_work(one, other);
    for side in &sides {
        let is_other = side.is_other_launch();
        if is_other {
            add(
                "times-launch-differs",
                format!(
                    "the times {} are of another grid or block than the profiled launch ({})",
                    side.name, side.clean.label
                ),
            );
        }
        let Some((clean, duration)) = side.far() else {
            continue;
        };
        let message = format!(
            "the time {} ({} of {}) is more than {FAR:.0} times away from the profiler's duration ({})",
            side.name,
            Nanos::new(clean),
            side.clean.label,
            Nanos::new(duration)
        );
        if is_other || !axes.is_empty() {
            invalid = invalid.or_else(|| {
                Some(format!(
                    "{message}, and its launch or its axes differ: it is of another size of the problem"
                ))
            });
        } else {
            add(
                "times-far-from-profile",
                format!("{message}: look whether both are of one size, at one clock"),
            );
        }
    }
    found.invalid = invalid;
    found
}

/// Why both times are not of the same work, by what the specs say that it needs.
fn other_work(before: &Clean, after: &Clean) -> Option<String> {
    let bytes = differ(before.bytes, after.bytes).map(|(was, is)| {
        format!(
            "move {} before and {} after",
            Bytes::new(was),
            Bytes::new(is)
        )
    });
    let flops = || {
        differ(before.flops, after.flops)
            .map(|(was, is)| format!("do {was:.4e} operations before and {is:.4e} after"))
    };
    bytes.or_else(flops).map(|what| {
        format!(
            "the times are not of the same work: by their specs they have to {what} ({}, {})",
            before.label, after.label
        )
    })
}

/// Amounts that are known on both sides and are not one amount that was written in two ways.
fn differ(before: Option<f64>, after: Option<f64>) -> Option<(f64, f64)> {
    let (was, is) = before.zip(after)?;
    ((was - is).abs() > ROUNDING * was.abs()).then_some((was, is))
}

/// Axes of two states (`name[n=1024,block=128]`) whose values differ.
fn other_axes(before: &str, after: &str) -> Vec<String> {
    let theirs = axes(after);
    axes(before)
        .into_iter()
        .filter_map(|(axis, was)| {
            let (_, is) = theirs.iter().find(|(other, _)| *other == axis)?;
            (was != *is).then(|| format!("{axis} ({was} before, {is} after)"))
        })
        .collect()
}

fn axes(label: &str) -> Vec<(&str, &str)> {
    let inner = label
        .split_once('[')
        .and_then(|(_, rest)| rest.strip_suffix(']'));
    inner
        .unwrap_or_default()
        .split(',')
        .filter_map(|axis| axis.trim().split_once('='))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_that_differ_are_named() {
        assert_eq!(
            other_axes("vadd[n=67108864,block=256]", "vadd4[n=1048576,block=256]"),
            ["n (67108864 before, 1048576 after)"]
        );
        assert!(other_axes("vadd[n=4]", "vadd[n=4]").is_empty());
        assert!(other_axes("vadd", "vadd[n=4]").is_empty());
    }

    /// What a spec says that the work needs decides, whatever the launch looks like.
    #[test]
    fn other_amounts_of_work_are_told() {
        let clean = |bytes: Option<f64>, flops: Option<f64>| Clean {
            name: "k".to_owned(),
            grid: None,
            block: None,
            label: "k[n=4]".to_owned(),
            runs_ns: Vec::new(),
            step_ns: None,
            clock_hz: None,
            bytes,
            flops,
            invalid: None,
        };
        let told = |one, other| other_work(&one, &other);
        let bytes = told(clean(Some(1024.0), None), clean(Some(2048.0), None)).unwrap();
        assert!(
            bytes.contains("before and") && bytes.contains("not of the same work"),
            "{bytes}"
        );
        assert!(told(clean(None, Some(10.0)), clean(None, Some(20.0))).is_some());
        // What one side does not say may be the same.
        assert_eq!(
            told(clean(Some(1024.0), None), clean(None, Some(1.0))),
            None
        );
        assert_eq!(
            told(clean(Some(3.0), None), clean(Some(3.0 + 1e-12), None)),
            None
        );
    }

    #[test]
    fn three_times_is_far() {
        assert!(is_far(301.0, 100.0) && is_far(100.0, 301.0));
        assert!(!is_far(299.0, 100.0) && !is_far(100.0, 299.0));
    }
}
