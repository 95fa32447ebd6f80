//! What limits next, where no finding is offered: silence would leave open whether all is well or nothing was seen.

use crate::attainable::attainable;
use crate::case::Case;
use crate::document::{LeftOut, Limiter, NotChecked, Outlook, Stall};
use crate::findings;
use crate::ledger::Class;

/// What warps are in that are ready: no wait, whatever its share.
const READY: &str = "not_selected";
/// Less than a tenth of the time lies between a unit and its attainable share: as for the verdicts at a limit.
const NEAR: f64 = 0.9;
/// Below a tenth of a warp's time, no reason stands out.
const NOTABLE: f64 = 0.10;

/// Absent where the input does not tell what limits.
pub(crate) fn outlook(
    case: &Case<'_, '_>,
    limiter: Option<&Limiter>,
    stalls: &[Stall],
    left_out: Vec<LeftOut>,
    not_checked: &[NotChecked],
) -> Option<Outlook> {
    let limiter = limiter?;
    let attainable = case
        .ledger
        .busiest()
        .filter(|row| row.resource == limiter.busiest)
        .map(|row| attainable(row.stage));
    let waits_for = stalls
        .iter()
        .find(|stall| stall.reason != READY && stall.share >= NOTABLE);
    let unchecked = not_checked
        .iter()
        .filter(|check| findings::ids().any(|id| id == check.id && !findings::is_verdict(id)))
        .count();
    let mut sentences = vec![
        no_flaw(unchecked),
        next(
            limiter,
            attainable.map(|attainable| attainable.share),
            case.idle_share(),
        ),
    ];
    // Near what is attained, waiting is the queue before the unit.
    let is_near = attainable.is_some_and(|attainable| limiter.share >= NEAR * attainable.share);
    sentences.extend(waiting(waits_for, stalls, limiter.class, is_near));
    sentences.extend(too_small(&left_out));
    Some(Outlook {
        summary: sentences.join("; "),
        next_limit: limiter.resource,
        busiest: limiter.busiest,
        busy_share: limiter.share.clamp(0.0, 1.0),
        attainable_share: attainable.map(|attainable| attainable.share),
        attainable_source: attainable.map(|attainable| attainable.source.to_owned()),
        waits_for: waits_for.cloned(),
        left_out,
    })
}

fn no_flaw(unchecked: usize) -> String {
    let all = findings::ids()
        .filter(|id| !findings::is_verdict(id))
        .count();
    if unchecked == 0 {
        format!("no flaw found, of {all} that were looked for")
    } else {
        format!("no flaw found, but {unchecked} of {all} could not be looked for")
    }
}

fn next(limiter: &Limiter, attainable: Option<f64>, idle: Option<f64>) -> String {
    let unit = limiter.busiest.label();
    let busy = percent(limiter.share);
    match limiter.class {
        Class::Latency => {
            format!(
                "next limit: latency, since no unit is busy; most is {unit}, {busy} of the time"
            )
        }
        Class::Launch => match idle {
            Some(idle) => format!(
                "next limit: the launch; no SM has work for {} of the time",
                percent(idle)
            ),
            None => "next limit: the launch".to_owned(),
        },
        Class::Memory | Class::Compute => {
            let most = percent(1.0 - limiter.share.min(1.0));
            let reach = attainable.map_or_else(String::new, |share| {
                format!(", where kernels attain about {}", percent(share))
            });
            format!(
                "next limit: {unit}, busy {busy} of the time{reach}; changes that leave its work as it is save {most} at most"
            )
        }
    }
}

fn waiting(
    waits_for: Option<&Stall>,
    stalls: &[Stall],
    class: Class,
    is_near: bool,
) -> Option<String> {
    let ready = stalls
        .iter()
        .find(|stall| stall.reason == READY)
        .map_or(0.0, |stall| stall.share);
    // Warps that are ready more than they wait are what a busy unit of execution looks like.
    if class == Class::Compute && waits_for.is_none_or(|stall| stall.share < ready) {
        return (ready > 0.0).then(|| {
            format!(
                "warps are ready and wait for their turn {} of their time, so that more of them would not help",
                percent(ready)
            )
        });
    }
    let stall = waits_for?;
    let explained = if is_near {
        ""
    } else {
        ", and no single cause of that shows"
    };
    Some(format!(
        "warps wait longest for {} ({}, {} of their time){explained}",
        stall.meaning,
        stall.reason,
        percent(stall.share)
    ))
}

fn too_small(left_out: &[LeftOut]) -> Option<String> {
    /// More are in the list.
    const NAMED: usize = 2;
    let list: Vec<String> = left_out
        .iter()
        .take(NAMED)
        .map(|flaw| format!("{} ({:.1} %)", flaw.id, 100.0 * flaw.saving_expected))
        .collect();
    (!list.is_empty()).then(|| format!("too small to be shown without --all: {}", list.join(", ")))
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::Resource;

    fn limiter(class: Class, share: f64) -> Limiter {
        Limiter {
            class,
            resource: Resource::Dram,
            share,
            busiest: Resource::Dram,
            source: Vec::new(),
        }
    }

    fn stall(reason: &str, share: f64) -> Stall {
        Stall {
            reason: reason.to_owned(),
            meaning: format!("what {reason} is"),
            cycles: 1.0,
            share,
        }
    }

    #[test]
    fn a_busy_unit_bounds_what_is_left() {
        let text = next(&limiter(Class::Memory, 0.72), Some(0.9), None);
        assert_eq!(
            text,
            "next limit: DRAM, busy 72 % of the time, where kernels attain about 90 %; changes that leave its work as it is save 28 % at most"
        );
        let text = next(&limiter(Class::Memory, 0.72), None, None);
        assert!(!text.contains("attain"), "{text}");
        let text = next(&limiter(Class::Latency, 0.3), Some(0.9), None);
        assert!(text.contains("no unit is busy"), "{text}");
        let text = next(&limiter(Class::Launch, 0.01), None, Some(0.97));
        assert!(text.contains("97 %"), "{text}");
    }

    #[test]
    fn being_ready_is_no_wait() {
        let stalls = [stall("not_selected", 0.6), stall("wait", 0.2)];
        let longest = stalls.last();
        let text = waiting(longest, &stalls, Class::Compute, false).unwrap();
        assert!(text.contains("wait for their turn 60 %"), "{text}");
        let text = waiting(longest, &stalls, Class::Memory, false).unwrap();
        assert!(text.contains("what wait is (wait, 20 %"), "{text}");
        assert!(text.contains("no single cause"), "{text}");
        let text = waiting(longest, &stalls, Class::Memory, true).unwrap();
        assert!(!text.contains("no single cause"), "{text}");
        assert_eq!(waiting(None, &[], Class::Memory, false), None);
    }

    #[test]
    fn what_could_not_be_looked_for_is_not_called_absent() {
        assert!(no_flaw(0).contains("that were looked for"));
        assert!(no_flaw(3).contains("but 3 of"));
    }
}
