//! What differs between two measurements beside the code: machine, tool and options.

use ridge_bench::document::{Document, Remark};
use ridge_bench::protocol::Mode;

use super::document::Warning;
use super::entries::Sides;
use super::validity::remark;

/// What the settings of two sides come to.
#[derive(Debug, Default)]
pub(super) struct Setting {
    /// Why no time may be compared.
    pub(super) invalid: Vec<Remark>,
    /// What has to be known.
    pub(super) warnings: Vec<Warning>,
}

impl Setting {
    fn warn(&mut self, id: &str, text: String, spoils: &str) {
        if !self.warnings.iter().any(|warning| warning.id == id) {
            self.warnings.push(Warning {
                id: id.to_owned(),
                text,
                spoils: spoils.to_owned(),
            });
        }
    }

    /// What makes times those of something else.
    fn refuse(&mut self, id: &str, text: &str, hint: &str) {
        self.warn(id, text.to_owned(), "every verdict on a time");
        if !self.invalid.iter().any(|remark| remark.id == id) {
            self.invalid.push(remark(id, text, Some(hint)));
        }
    }
}

const SAME_MACHINE: &str = "measure both sides on the same machine";
const SAME_SETTINGS: &str = "measure both sides with the same options";

/// Compares every run with the first of the earlier side.
pub(super) fn compare(before: &[&Document], after: &[&Document], sides: &Sides<'_>) -> Setting {
    let mut found = Setting::default();
    let Some((first, others)) = before.split_first() else {
        return found;
    };
    if let Some((was, is)) = sides.renamed {
        found.warn(
            "spec",
            format!("the benchmark was called {was:?} and is called {is:?}"),
            "nothing by itself: states are matched by kernel and axes, so look whether they do the same work",
        );
    }
    for other in others.iter().chain(after) {
        machine(first, other, &mut found);
        settings(first, other, &mut found);
    }
    if let Some(part) = before
        .iter()
        .chain(after)
        .find(|document| !document.is_complete)
    {
        found.warn(
            "incomplete",
            format!(
                "a run of {:?} did not measure all of its states",
                part.benchmark
            ),
            "what is said about the whole: states may be missing",
        );
    }
    found
}

/// A value that is known on both sides and not the same.
fn differ<T: PartialEq + Copy>(was: Option<T>, is: Option<T>) -> Option<(T, T)> {
    was.zip(is).filter(|(was, is)| was != is)
}

fn machine(first: &Document, other: &Document, found: &mut Setting) {
    let (was, is) = (&first.machine, &other.machine);
    if was.is_simulated != is.is_simulated {
        found.refuse(
            "simulated",
            "one side is of a simulated GPU, whose times are no measurements",
            SAME_MACHINE,
        );
    } else if was.device != is.device {
        found.refuse(
            "gpu",
            &format!("the GPU was {:?} and is {:?}", was.device, is.device),
            SAME_MACHINE,
        );
    } else if was.is_mig != is.is_mig || was.multiprocessors != is.multiprocessors {
        found.refuse(
            "partition",
            &format!(
                "the partition of the GPU differs: it had {} multiprocessors and has {}",
                was.multiprocessors, is.multiprocessors
            ),
            SAME_MACHINE,
        );
    } else if !was.is_simulated
        && let Some((was, is)) = differ(was.uuid.as_deref(), is.uuid.as_deref())
    {
        found.warn(
            "gpu-unit",
            format!("another GPU of the same model: {was} and {is}"),
            "small differences: units of one model differ in clock and power",
        );
    }
    if let Some((was, is)) = differ(was.driver.as_deref(), is.driver.as_deref()) {
        found.refuse(
            "driver",
            &format!("the driver was {was} and is {is}"),
            "measure both sides with the same driver",
        );
    }
    if let Some((was, is)) = differ(was.compiler.as_deref(), is.compiler.as_deref()) {
        found.warn(
            "compiler",
            format!("the compiler was {was} and is {is}"),
            "whose doing a difference is: the machine code may be another one",
        );
    }
    if let Some((was, is)) = differ(was.power_limit_w, is.power_limit_w) {
        found.warn(
            "power-limit",
            format!("the power limit was {was:.0} W and is {is:.0} W"),
            "times of kernels that draw much power: their clock follows the limit",
        );
    }
    if let Some((was, is)) = differ(was.is_ecc_on, is.is_ecc_on) {
        let word = |is_on| if is_on { "on" } else { "off" };
        found.warn(
            "ecc",
            format!("ECC was {} and is {}", word(was), word(is)),
            "times of kernels that memory bounds: ECC takes bandwidth on some boards",
        );
    }
    if first.tool_version != other.tool_version {
        found.warn(
            "tool-version",
            format!(
                "ridge was {} and is {}",
                first.tool_version, other.tool_version
            ),
            "small differences: how samples are taken may have changed",
        );
    }
}

fn settings(first: &Document, other: &Document, found: &mut Setting) {
    let (was, is) = (&first.settings, &other.settings);
    let flush = |settings: &ridge_bench::protocol::Settings| {
        let kind = match settings.flush {
            ridge_bench::protocol::FlushKind::Read => "read",
            ridge_bench::protocol::FlushKind::Write => "write",
        };
        format!("{kind}, {} times the L2", settings.flush_times_l2)
    };
    let is_cold = |settings: &ridge_bench::protocol::Settings| settings.modes.contains(&Mode::Cold);
    if (is_cold(was) || is_cold(is)) && flush(was) != flush(is) {
        found.refuse(
            "flush",
            &format!(
                "the L2 was flushed by {} and is by {}",
                flush(was),
                flush(is)
            ),
            SAME_SETTINGS,
        );
    }
    if was.has_fresh_inputs != is.has_fresh_inputs {
        found.refuse(
            "fresh-inputs",
            "inputs are made anew before each sample on one side only",
            SAME_SETTINGS,
        );
    }
    if (was.clock_tolerance - is.clock_tolerance).abs() > 1e-12 {
        found.warn(
            "clock-policy",
            format!(
                "a sample's clock could be off by {} % and can be by {} %",
                was.clock_tolerance * 100.0,
                is.clock_tolerance * 100.0
            ),
            "small differences: samples at other clocks count on one side",
        );
    }
}
