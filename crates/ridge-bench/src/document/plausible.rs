//! Numbers of a stored document that nothing can be: they are left out where the document is read, and what rests on them is not
//! valid. A file may be damaged, edited or written by something else, and a time of 1e308 ns would make a ratio of `inf`.

use ridge_model::quantity::{Bandwidth, Bytes, ComputeRate, Flops, Hertz, Nanos, Plausible};

use super::{Document, ModeResult, Placement, Remark, StateResult, Status};

/// The name of the remark.
const ID: &str = "implausible";
/// Ratios of times that can be measured lie far inside.
const RATIOS: Plausible = Plausible {
    least: 1e-12,
    most: 1e12,
    text: "1e-12 to 1e12",
};

impl Document {
    /// Leaves out what can be no measurement, and says of each mode that loses something why it is not valid.
    pub fn leave_out_implausible(&mut self) {
        let is_floor = |value: f64| (0.0..=Nanos::PLAUSIBLE.most).contains(&value);
        self.floors = self.floors.take().filter(|floors| {
            [
                floors.event_ns,
                floors.kernel_ns,
                floors.latency_ns,
                floors.timer_step_ns,
            ]
            .into_iter()
            .all(is_floor)
        });
        let max_clock = &mut self.machine.max_sm_clock_hz;
        *max_clock = max_clock.filter(|clock| Hertz::PLAUSIBLE.holds(*clock));
        self.states.iter_mut().for_each(state);
        self.best
            .retain(|best| Nanos::PLAUSIBLE.holds(best.median_ns));
        for best in &mut self.best {
            best.others.retain(|other| {
                [Some(other.ratio), other.lower, other.upper]
                    .into_iter()
                    .flatten()
                    .all(|ratio| RATIOS.holds(ratio))
            });
        }
    }
}

/// Takes a number away that cannot be, and says so.
fn take(what: &str, value: &mut Option<f64>, range: &Plausible, found: &mut Vec<Remark>) {
    if let Some(number) = value.filter(|number| !range.holds(*number)) {
        *value = None;
        found.push(remark(what, number, range));
    }
}

fn remark(what: &str, number: f64, range: &Plausible) -> Remark {
    Remark {
        id: ID.to_owned(),
        text: format!(
            "{what} is {number:?}, which is none that can be ({}): the document is damaged or was changed",
            range.text
        ),
        hint: Some("measure it again".to_owned()),
    }
}

fn state(state: &mut StateResult) {
    let mut of_state = Vec::new();
    for (what, value, range) in [
        ("the number of bytes", &mut state.bytes, Bytes::PLAUSIBLE),
        (
            "the number of operations",
            &mut state.flops,
            Flops::PLAUSIBLE,
        ),
    ] {
        // None at all is possible.
        if *value != Some(0.0) {
            take(what, value, &range, &mut of_state);
        }
    }
    let mut is_valid = true;
    for result in &mut state.modes {
        let known = result.invalid.len();
        result.invalid.extend(of_state.iter().cloned());
        mode(result);
        is_valid &= result.invalid.len() == known;
    }
    if !is_valid && state.status == Status::Valid {
        state.status = Status::Invalid;
    }
}

fn mode(result: &mut ModeResult) {
    let found = &mut result.invalid;
    let times = Nanos::PLAUSIBLE;
    // What was rejected counts for nothing, and may be anything.
    let counted = result.raw.times_ns.iter().enumerate().filter(|(place, _)| {
        let rejected = result.raw.rejected.get(*place);
        rejected.is_none_or(Option::is_none)
    });
    let wrong = counted
        .map(|(_, time)| *time)
        .find(|time| !times.holds(*time));
    if let Some(time) = wrong {
        found.push(remark("the time of a sample in ns", time, &times));
        result.raw.times_ns.clear();
        result.raw.host_ns.clear();
        result.raw.clocks_hz.clear();
        result.raw.rejected.clear();
    }
    for (what, value) in [
        ("the median in ns", &mut result.median_ns),
        ("the lower end of the interval in ns", &mut result.lower_ns),
        ("the upper end of the interval in ns", &mut result.upper_ns),
        ("the least time in ns", &mut result.min_ns),
        ("the 10th percentile in ns", &mut result.p10_ns),
        ("the 90th percentile in ns", &mut result.p90_ns),
        ("the 99th percentile in ns", &mut result.p99_ns),
    ] {
        take(what, value, &times, found);
    }
    for (what, value) in [
        ("the SM clock in Hz", &mut result.clock_hz),
        ("the clock that was held in Hz", &mut result.held_clock_hz),
    ] {
        take(what, value, &Hertz::PLAUSIBLE, found);
    }
    // What was spent beside the samples is told and nothing rests on it.
    for value in [
        &mut result.overhead_ns,
        &mut result.preparation_ns,
        &mut result.sampling_ns,
        &mut result.beside_ns,
    ] {
        *value = value.filter(|time| time.abs() <= times.most);
    }
    if let Some(wrong) = result.placement.as_ref().and_then(not_placed) {
        found.push(wrong);
        result.placement = None;
    }
}

/// Why a placement is none.
fn not_placed(placement: &Placement) -> Option<Remark> {
    let numbers = [
        (
            "the lower bound in ns",
            Some(placement.bound_ns),
            Nanos::PLAUSIBLE,
        ),
        ("the share of the bound", Some(placement.share), RATIOS),
        (
            "the rate of bytes",
            placement.bytes_per_s,
            Bandwidth::PLAUSIBLE,
        ),
        (
            "the rate of operations",
            placement.flops_per_s,
            ComputeRate::PLAUSIBLE,
        ),
        (
            "the attainable time in ns",
            placement.attainable_ns,
            Nanos::PLAUSIBLE,
        ),
    ];
    numbers.into_iter().find_map(|(what, value, range)| {
        let number = value.filter(|number| *number != 0.0 && !range.holds(*number))?;
        Some(remark(what, number, &range))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = include_str!("../../../../fixtures/formats/bench-1/copy.json");

    fn document() -> Document {
        Document::read(DOCUMENT.as_bytes()).unwrap()
    }

    #[test]
    fn what_was_measured_stays() {
        let mut document: Document = serde_json::from_str(DOCUMENT).unwrap();
        let before = document.clone();
        document.leave_out_implausible();
        assert_eq!(document, before);
    }

    /// Every number that times rest on, with every value that none can have.
    #[test]
    fn absurd_numbers_are_not_valid_and_left_out() {
        type Place = fn(&mut StateResult, f64);
        let places: [(&str, Place); 7] = [
            ("sample", |state, value| {
                state.modes[0].raw.times_ns[0] = value
            }),
            ("median", |state, value| {
                state.modes[0].median_ns = Some(value)
            }),
            ("upper", |state, value| {
                state.modes[0].upper_ns = Some(value)
            }),
            ("clock", |state, value| {
                state.modes[0].clock_hz = Some(value)
            }),
            ("bytes", |state, value| state.bytes = Some(value)),
            ("bound", |state, value| {
                state.modes[0].placement.as_mut().unwrap().bound_ns = value;
            }),
            ("rate", |state, value| {
                state.modes[0].placement.as_mut().unwrap().bytes_per_s = Some(value);
            }),
        ];
        for (name, put) in places {
            for value in [1e308, 5e-324, -1.0, f64::INFINITY, f64::NAN] {
                let mut document = document();
                document.states[0].modes[0].raw.rejected[0] = None;
                put(&mut document.states[0], value);
                document.leave_out_implausible();
                let state = &document.states[0];
                assert_eq!(state.status, Status::Invalid, "{name} {value}");
                let invalid = &state.modes[0].invalid;
                assert!(
                    invalid.iter().any(|remark| remark.id == ID),
                    "{name} {value}"
                );
                // No number of it is left to come onto a page.
                let left = serde_json::to_value(&document.states[0].modes[0]).unwrap();
                assert!(!numbers(&left).contains(&value), "{name} {value}");
            }
        }
    }

    fn numbers(value: &serde_json::Value) -> Vec<f64> {
        match value {
            serde_json::Value::Number(number) => number.as_f64().into_iter().collect(),
            serde_json::Value::Array(list) => list.iter().flat_map(numbers).collect(),
            serde_json::Value::Object(fields) => fields.values().flat_map(numbers).collect(),
            _ => Vec::new(),
        }
    }
}
