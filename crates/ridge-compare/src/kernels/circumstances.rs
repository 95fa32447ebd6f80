//! What differs between two measurements beside the code, and which conclusions that spoils.

use ridge_diagnose::document::{Collection, Kernel, Source, SourceKind};

use ridge_model::quantity::Ratio;

use super::document::{Conclusion, Warning};
use super::time::{CLOCK_TOLERANCE, Circumstances, counter};

/// Amounts that all changed by the same factor, up to this, changed with the size of the problem.
const ALIKE: f64 = 0.1;
/// Smaller changes are what a rewrite does.
const ANOTHER_SIZE: f64 = 0.25;
/// What was given as compulsory differs by more than rounding.
const GIVEN: f64 = 0.01;

/// What differs between the inputs of two kernels.
pub(super) fn of_sources(before: &Source, after: &Source) -> Vec<Warning> {
    use Conclusion::{Flaws, Ledger, Limiter, Time, Verify};
    let (one, other) = (&before.collection, &after.collection);
    let mut list = Vec::new();
    let mut add = |code: &str, message: String, spoils: &[Conclusion]| {
        list.push(Warning {
            code: code.to_owned(),
            message,
            spoils: spoils.to_vec(),
        });
    };
    let setting = |of: fn(&Collection) -> &Option<String>| {
        let (one, other) = (of(one).as_deref()?, of(other).as_deref()?);
        (one != other).then(|| (one.to_owned(), other.to_owned()))
    };
    if let Some((one, other)) = setting(|collection| &collection.clock_control) {
        add(
            "clock-control-differs",
            format!(
                "the profiler held the clocks otherwise (--clock-control {one} before, {other} after): durations and time bounds are at other clocks, and memory is faster against the SMs in one of them"
            ),
            &[Time, Ledger, Limiter],
        );
    }
    if let Some((one, other)) = setting(|collection| &collection.cache_control) {
        add(
            "cache-control-differs",
            format!(
                "caches were treated otherwise before each pass (--cache-control {one} before, {other} after): what comes from DRAM on one side may come from a cache on the other"
            ),
            &[Time, Ledger, Limiter, Verify],
        );
    }
    if let Some((one, other)) = setting(|collection| &collection.replay_mode) {
        add(
            "replay-mode-differs",
            format!(
                "passes were repeated otherwise (--replay-mode {one} before, {other} after): each pass is a new run of the program on one side, so that its counters are of different launches"
            ),
            &[Time, Ledger],
        );
    }
    let versions = before
        .profiler_version
        .as_deref()
        .zip(after.profiler_version.as_deref());
    if let Some((one, other)) = versions.filter(|(one, other)| one != other) {
        add(
            "tool-version-differs",
            format!(
                "the profiler had another version ({one} before, {other} after): counters of one name may be counted otherwise"
            ),
            &[Ledger, Verify],
        );
    }
    let only = |from: &Collection, to: &Collection| -> Vec<String> {
        from.sections
            .iter()
            .filter(|section| !to.sections.contains(section))
            .cloned()
            .collect()
    };
    let (lost, added) = (only(one, other), only(other, one));
    if !(lost.is_empty() && added.is_empty()
        || one.sections.is_empty() && other.sections.is_empty())
    {
        let list = |sections: &[String]| match sections {
            [] => "none".to_owned(),
            sections => sections.join(", "),
        };
        add(
            "sections-differ",
            format!(
                "other sections were collected (only before: {}; only after: {}): what needs them is compared on neither side",
                list(&lost),
                list(&added)
            ),
            &[Ledger, Verify, Flaws],
        );
    }
    if before.kind != after.kind {
        let name = |kind| match kind {
            SourceKind::NcuReport => "a report",
            SourceKind::NcuCsv => "a CSV export",
        };
        add(
            "kinds-differ",
            format!(
                "{} before, {} after: an export lacks values by instruction, and what rests on them",
                name(before.kind),
                name(after.kind)
            ),
            &[Ledger, Verify, Flaws],
        );
    }
    list
}

/// What differs between two kernels, and what that means for their times.
pub(super) fn of_pair(before: &Kernel, after: &Kernel) -> (Vec<Warning>, Circumstances) {
    use Conclusion::{Ledger, Limiter, Time, Verify};
    let mut warnings = Vec::new();
    let mut invalid = None;
    let device = |kernel: &Kernel| (kernel.device.clone(), kernel.compute_capability.clone());
    let names = |kernel: &Kernel| match (&kernel.device, &kernel.compute_capability) {
        (Some(name), _) => name.clone(),
        (None, Some(capability)) => format!("compute capability {capability}"),
        (None, None) => "an unknown device".to_owned(),
    };
    let is_known = |kernel: &Kernel| kernel.device.is_some() || kernel.compute_capability.is_some();
    if is_known(before) && is_known(after) && device(before) != device(after) {
        let message = format!(
            "the devices differ ({} before, {} after): times are not of one machine, and shares are of other peaks",
            names(before),
            names(after)
        );
        invalid = Some(message.clone());
        warnings.push(Warning {
            code: "device-differs".to_owned(),
            message,
            spoils: vec![Time, Ledger, Limiter, Verify],
        });
    }
    if let Some((one, other)) = given_bytes(before, after) {
        let message = format!(
            "the computations differ: {one:.0} bytes are compulsory before, {other:.0} after"
        );
        invalid = invalid.or_else(|| Some(message.clone()));
        warnings.push(Warning {
            code: "work-differs".to_owned(),
            message,
            spoils: vec![Time, Ledger, Verify],
        });
    } else if let Some(factor) = other_size(before, after) {
        warnings.push(Warning {
            code: "work-differs".to_owned(),
            message: format!(
                "instructions and the bytes that the SMs read and write all changed to about {} of what they were, as with another size of the problem: compare launches of one size",
                Ratio::new(factor).factor()
            ),
            spoils: vec![Time, Ledger, Verify],
        });
    }
    let launch = |kernel: &Kernel| kernel.grid.zip(kernel.block);
    if let Some((one, other)) = launch(before)
        .zip(launch(after))
        .filter(|(one, other)| one != other)
    {
        warnings.push(Warning {
            code: "launch-differs".to_owned(),
            message: format!(
                "the launches differ ({} before, {} after): if the work does too, times and counters of one launch are not comparable",
                extent(one),
                extent(other)
            ),
            spoils: Vec::new(),
        });
    }
    if let Some((one, other)) = before.sm_clock_hz.zip(after.sm_clock_hz)
        && one > 0.0
        && (other / one - 1.0).abs() > CLOCK_TOLERANCE
        && invalid.is_none()
    {
        warnings.push(Warning {
            code: "clock-differs".to_owned(),
            message: format!(
                "the SM clock was {:.2} GHz before and {:.2} GHz after: part of the difference in time is the clock's",
                one / 1e9,
                other / 1e9
            ),
            spoils: vec![Time],
        });
    }
    let circumstances = Circumstances {
        invalid,
        is_same_measurement: false,
    };
    (warnings, circumstances)
}

/// What was given as compulsory, where it differs.
fn given_bytes(before: &Kernel, after: &Kernel) -> Option<(f64, f64)> {
    let given = |kernel: &Kernel| Some(kernel.compulsory.as_ref()?.bytes.as_ref()?.given);
    let (one, other) = given(before).zip(given(after))?;
    ((other - one).abs() > GIVEN * one.max(other)).then_some((one, other))
}

/// The factor by which all that a launch does grew or shrank, where it is one.
pub(super) fn other_size(before: &Kernel, after: &Kernel) -> Option<f64> {
    let ratio = |metric| {
        let (one, other) = counter(before, metric).zip(counter(after, metric))?;
        (one > 0.0 && other > 0.0).then(|| other / one)
    };
    let ratios = [
        ratio("smsp__inst_executed.sum")?,
        ratio("l1tex__m_xbar2l1tex_read_bytes.sum")?,
        ratio("l1tex__m_l1tex2xbar_write_bytes.sum")?,
    ];
    let least = ratios.into_iter().fold(f64::INFINITY, f64::min);
    let most = ratios.into_iter().fold(0.0, f64::max);
    let is_one = most <= least * (1.0 + ALIKE);
    let is_large = least > 1.0 + ANOTHER_SIZE || most < 1.0 / (1.0 + ANOTHER_SIZE);
    (is_one && is_large).then(|| (least * most).sqrt())
}

fn extent((grid, block): ([u32; 3], [u32; 3])) -> String {
    let text = |[x, y, z]: [u32; 3]| match (y, z) {
        (1, 1) => x.to_string(),
        (_, 1) => format!("{x} x {y}"),
        _ => format!("{x} x {y} x {z}"),
    };
    format!("grid {} of {}", text(grid), text(block))
}
