//! What limits a kernel before and after, in a sentence that both ledgers bear out, and what is left.

use ridge_diagnose::document::{Class, Kernel, Limiter};
use ridge_diagnose::{Resource, is_verdict};

use super::document::{FlawChange, Left, LimiterChange, Outcome};

/// A row that is busy for less of the time does not limit by itself: the diagnosis draws the same line.
const BUSY: f64 = 0.60;
/// A row whose share differs by more from that of the limiter shows another figure.
const OTHER_FIGURE: f64 = 0.02;
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
        sentence: sentence(before, after, flaws),
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

fn sentence(before: &Kernel, after: &Kernel, flaws: &[FlawChange]) -> String {
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
    let seen = |kernel: &Kernel, limiter: &Limiter| match limiter.class {
        Class::Latency | Class::Launch => format!(
            "{} ({} at {})",
            bound(limiter),
            limiter.busiest.label(),
            percent(limiter.share)
        ),
        _ => format!(
            "{} at {}{}",
            bound(limiter),
            percent(limiter.share),
            unit(kernel, limiter)
        ),
    };
    match (before.limiter.as_ref(), after.limiter.as_ref()) {
        (Some(one), Some(other)) if one.class == other.class && one.resource == other.resource => {
            format!(
                "{lead}still {}, {} of the time before{}, {} after{}",
                bound(other),
                busy(one),
                unit(before, one),
                busy(other),
                unit(after, other)
            )
        }
        (Some(one), Some(other)) => {
            format!("{lead}{} → {}", seen(before, one), seen(after, other))
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

/// A name of one word takes the ending; before a longer one it would belong to the last word.
fn bound(limiter: &Limiter) -> String {
    let label = limiter.resource.label();
    if label.contains(' ') || is_plural(limiter.resource) {
        format!("bound by {}", name(limiter.resource))
    } else {
        format!("{label}-bound")
    }
}

/// The counter that says what limits, where the row of the resource says something else: two figures with one name confuse.
fn unit(kernel: &Kernel, limiter: &Limiter) -> String {
    if matches!(limiter.class, Class::Latency | Class::Launch) {
        return String::new();
    }
    let row = kernel
        .resources
        .iter()
        .find(|row| row.resource == limiter.resource);
    let is_told = row.is_some_and(|row| (row.busy_share - limiter.share).abs() < OTHER_FIGURE);
    match limiter.source.as_slice() {
        [metric] if !is_told => {
            let counter = metric.split('.').next().unwrap_or(metric);
            format!(" (by {counter}, which is not in the ledger)")
        }
        _ => String::new(),
    }
}

/// Whether a sentence about it says "are".
const fn is_plural(resource: Resource) -> bool {
    matches!(
        resource,
        Resource::Issue | Resource::AtomicL2 | Resource::AtomicShared | Resource::Barrier
    )
}

/// The resource with a verb: one form for one, another for several.
pub(super) fn with_verb(resource: Resource, one: &str, several: &str) -> String {
    let verb = if is_plural(resource) { several } else { one };
    format!("{} {verb}", name(resource))
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
            "{} busy for {} of the time: no change that leaves this work as it is saves more than {}",
            with_verb(resource, "is", "are"),
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
    let is_name = label.starts_with(char::is_uppercase) && !label.contains("pipe");
    if is_name || label.ends_with("memory") || label == "instruction fetch" {
        label.to_owned()
    } else {
        format!("the {label}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_resources_make_sentences() {
        let limiter = |class, resource| Limiter {
            class,
            resource,
            share: 0.81,
            busiest: resource,
            source: Vec::new(),
        };
        for (resource, words) in [
            (Resource::Issue, "bound by the issue slots"),
            (Resource::Fma, "bound by the FMA pipe"),
            (Resource::Shared, "bound by shared memory"),
            (Resource::AtomicL2, "bound by L2 atomics"),
            (Resource::Barrier, "bound by the barriers"),
            (Resource::Dram, "DRAM-bound"),
        ] {
            assert_eq!(bound(&limiter(Class::Compute, resource)), words);
        }
        assert_eq!(
            bound(&limiter(Class::Latency, Resource::Latency)),
            "latency-bound"
        );
        assert_eq!(
            with_verb(Resource::Issue, "is", "are"),
            "the issue slots are"
        );
        assert_eq!(with_verb(Resource::Dram, "works", "work"), "DRAM works");
    }
}
