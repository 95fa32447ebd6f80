//! What limits a kernel before and after, in a sentence that both ledgers bear out, and what is left.

use ridge_diagnose::document::{Class, Kernel, Limiter};
use ridge_diagnose::{Resource, is_verdict};

use super::document::{FlawChange, Left, LimiterChange, Outcome};

/// A row that is busy for less of the time does not limit by itself: the diagnosis draws the same line.
const BUSY: f64 = 0.60;
/// Rows whose shares differ by less are equal for a person.
const EQUAL: f64 = 0.10;

/// Compares the limiters.
pub(super) fn change(before: &Kernel, after: &Kernel, flaws: &[FlawChange]) -> LimiterChange {
    let (one, other) = (before.limiter.as_ref(), after.limiter.as_ref());
    LimiterChange {
        before: one.cloned(),
        after: other.cloned(),
        changed: one
            .zip(other)
            .map(|(one, other)| one.class != other.class || one.resource != other.resource),
        is_borne_out: is_borne_out(before)
            .zip(is_borne_out(after))
            .map(|(one, other)| one && other),
        sentence: sentence(one, other, flaws),
    }
}

/// Whether the ledger says what the limiter says: its busiest row is that resource, or none is busy enough to limit.
fn is_borne_out(kernel: &Kernel) -> Option<bool> {
    let limiter = kernel.limiter.as_ref()?;
    let most = kernel
        .resources
        .iter()
        .map(|row| row.busy_share)
        .reduce(f64::max)?;
    Some(match limiter.class {
        Class::Memory | Class::Compute => kernel.resources.iter().any(|row| {
            row.resource == limiter.resource && row.busy_share >= BUSY.max(most - EQUAL)
        }),
        Class::Latency | Class::Launch => most < BUSY + EQUAL,
    })
}

fn sentence(before: Option<&Limiter>, after: Option<&Limiter>, flaws: &[FlawChange]) -> String {
    let mut gone: Vec<&str> = flaws
        .iter()
        .filter(|flaw| flaw.outcome == Outcome::Gone)
        .map(|flaw| flaw.id.as_str())
        .collect();
    // The first explains; a list of all is further down.
    gone.truncate(2);
    let lead = if gone.is_empty() {
        String::new()
    } else {
        format!("{} gone: ", gone.join(" and "))
    };
    match (before, after) {
        (Some(one), Some(other)) if one.class == other.class && one.resource == other.resource => {
            format!(
                "{lead}still {}, {} of the time before, {} after",
                bound(other),
                busy(one),
                busy(other)
            )
        }
        (Some(one), Some(other)) => {
            let one = match one.class {
                Class::Latency | Class::Launch => format!(
                    "{} ({} at {})",
                    bound(one),
                    one.busiest.label(),
                    percent(one.share)
                ),
                _ => format!("{} at {}", bound(one), percent(one.share)),
            };
            let other = match other.class {
                Class::Latency | Class::Launch => format!(
                    "{} ({} at {})",
                    bound(other),
                    other.busiest.label(),
                    percent(other.share)
                ),
                _ => format!("{} at {}", bound(other), percent(other.share)),
            };
            format!("{lead}{one} → {other}")
        }
        (None, Some(other)) => format!(
            "{lead}now {} at {}; before, nothing tells",
            bound(other),
            percent(other.share)
        ),
        (Some(one), None) => format!(
            "{lead}was {} at {}; after, nothing tells",
            bound(one),
            percent(one.share)
        ),
        (None, None) => format!("{lead}nothing tells what limits it on either side"),
    }
}

fn bound(limiter: &Limiter) -> String {
    format!("{}-bound", limiter.resource.label())
}

fn busy(limiter: &Limiter) -> String {
    match limiter.class {
        Class::Latency | Class::Launch => format!(
            "{} busy for {}",
            limiter.busiest.label(),
            percent(limiter.share)
        ),
        _ => percent(limiter.share),
    }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share.min(1.0))
}

/// What is left to gain after.
pub(super) fn left(after: &Kernel) -> Left {
    let row = after
        .resources
        .iter()
        .max_by(|a, b| a.busy_share.total_cmp(&b.busy_share))
        .map(|row| (row.resource, row.busy_share.min(1.0)));
    let flaw = after
        .findings
        .iter()
        .find(|finding| !is_verdict(&finding.id));
    let verdict = after
        .findings
        .iter()
        .find(|finding| is_verdict(&finding.id));
    let ceiling = row.map(|(_, share)| 1.0 - share);
    let mut parts = Vec::new();
    if let Some((resource, share)) = row {
        parts.push(format!(
            "{} is busy for {} of the time: no change that leaves its work as it is saves more than {}",
            name(resource),
            percent(share),
            percent(1.0 - share)
        ));
    }
    if let Some(flaw) = flaw {
        parts.push(format!(
            "next is {}, which costs about {}, at most {}",
            flaw.id,
            percent(flaw.saving_expected),
            percent(flaw.saving_ceiling)
        ));
    } else if let Some(verdict) = verdict {
        parts.push(format!("{}: less work is the way on", verdict.id));
    } else if after.findings.is_empty() && !after.resources.is_empty() {
        parts.push("no flaw is found".to_owned());
    }
    Left {
        resource: row.map(|(resource, _)| resource),
        share: row.map(|(_, share)| share),
        saving_ceiling: ceiling,
        flaw: flaw.map(|flaw| flaw.id.clone()),
        sentence: if parts.is_empty() {
            "nothing was counted that tells what is left".to_owned()
        } else {
            parts.join("; ")
        },
    }
}

/// The resource as the subject of a sentence.
fn name(resource: Resource) -> String {
    let label = resource.label();
    if label.starts_with(char::is_uppercase) && !label.contains("pipe") {
        label.to_owned()
    } else {
        format!("the {label}")
    }
}
