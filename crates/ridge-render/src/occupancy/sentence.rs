//! The sentences of the answer: steps, room, waves and advice. Text and pictures share them.

use ridge_model::occupancy::document::{
    Better, Bound, Changed, ClusterOrigin, Kernel, Knob, Theoretical,
};
use ridge_model::quantity::{Ratio, grouped};

/// A share in percent with up to two decimals, as `37.5 %`: occupancies are fractions of small numbers.
pub(super) fn percent(share: f64) -> String {
    let text = format!("{:.2}", 100.0 * share);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text} %")
}

/// Bytes in full: a step of 768 bytes would vanish in rounded kilobytes.
pub(super) fn bytes(count: u64) -> String {
    format!("{} B", grouped(count))
}

pub(super) use ridge_model::quantity::counted as plural;

/// The arrow from one occupancy to another.
fn rise(now: &Theoretical, then: &Theoretical) -> String {
    let from = percent(now.occupancy);
    let from = from.strip_suffix(" %").unwrap_or(&from).to_owned();
    format!("{from} to {}", percent(then.occupancy))
}

/// One step: what has to change, and what that gives.
pub(super) fn step(step: &Better, now: &Theoretical) -> String {
    let changes: Vec<String> = step.changes.iter().map(change).collect();
    let what = changes.join(" and ");
    let then = &step.theoretical;
    let is_other_block = step
        .changes
        .iter()
        .any(|change| change.what == Knob::ThreadsPerBlock);
    let gives = if is_other_block {
        format!(
            "{}, {} on an SM",
            plural(then.blocks.into(), "block"),
            plural(then.warps.into(), "warp")
        )
    } else {
        let more = u64::from(then.blocks.saturating_sub(now.blocks));
        plural(more, "more block")
    };
    format!("{what}: {gives}, {}", rise(now, then))
}

fn change(change: &Changed) -> String {
    let (from, to) = (u64::from(change.from), u64::from(change.to));
    let less = from.saturating_sub(to);
    match change.what {
        Knob::RegistersPerThread => {
            format!(
                "{} fewer ({to} instead of {from})",
                plural(less, "register")
            )
        }
        Knob::SharedBytes => format!(
            "{} less shared memory ({} instead of {})",
            bytes(less),
            bytes(to),
            bytes(from)
        ),
        Knob::Barriers => format!("{} fewer ({to} instead of {from})", plural(less, "barrier")),
        Knob::ThreadsPerBlock => {
            let size = if to > from { "larger" } else { "smaller" };
            format!(
                "{size} blocks of {to} threads with as many registers a thread and as much shared memory a block"
            )
        }
        Knob::CarveoutBytes => format!(
            "a larger carve-out ({} instead of {} of shared memory on the SM)",
            bytes(to),
            bytes(from)
        ),
    }
}

/// What the launch can use more of for nothing.
pub(super) fn room(kernel: &Kernel) -> Option<String> {
    let room = kernel.room.get()?;
    let launch = &kernel.launch;
    let registers =
        u64::from(room.registers_per_thread).saturating_sub(launch.registers_per_thread.value);
    let shared = u64::from(room.shared_bytes)
        .saturating_sub(launch.static_shared_bytes.value + launch.dynamic_shared_bytes.value);
    let parts: Vec<String> = [
        (registers > 0).then(|| {
            format!(
                "{} a thread (up to {})",
                plural(registers, "more register"),
                room.registers_per_thread
            )
        }),
        (shared > 0).then(|| {
            format!(
                "{} more shared memory a block (up to {})",
                bytes(shared),
                bytes(room.shared_bytes.into())
            )
        }),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!parts.is_empty()).then(|| format!("free at this occupancy: {}", parts.join("; or ")))
}

/// How the grid runs.
pub(super) fn waves(kernel: &Kernel) -> Option<String> {
    let waves = kernel.waves?;
    let head = format!(
        "grid of {}: {} waves of {}",
        plural(waves.grid_blocks, "block"),
        figures(waves.waves),
        plural(waves.blocks_per_wave, "block")
    );
    let tail = if waves.full_waves == 0 {
        format!(
            "less than one: occupancy is set by the grid, and {} of the room for blocks is used",
            percent(waves.used)
        )
    } else if waves.tail_blocks == 0 {
        "the last one is full".to_owned()
    } else {
        format!(
            "the last one has {} of {}; if all blocks take equally long, {} of the room for blocks is used",
            grouped(waves.tail_blocks),
            grouped(waves.blocks_per_wave),
            percent(waves.used)
        )
    };
    Some(format!("{head}; {tail}"))
}

fn figures(value: f64) -> String {
    Ratio::new(value)
        .factor()
        .to_string()
        .trim_end_matches('x')
        .to_owned()
}

/// How clusters run.
pub(super) fn clusters(kernel: &Kernel) -> Option<String> {
    let clusters = kernel.clusters?;
    let mut text = format!("clusters of {}", plural(clusters.size.into(), "block"));
    match (clusters.at_once, clusters.usable_share) {
        (Some(at_once), Some(share)) => {
            text.extend([
                ": ",
                &grouped(at_once.into()),
                " at once, which leaves ",
                &percent(share),
                " of the room for blocks usable",
            ]);
            if let Some(waves) = clusters.waves {
                text.extend(["; ", &figures(waves), " waves of clusters"]);
            }
            text.push_str(match clusters.origin {
                Some(ClusterOrigin::SameModel) => {
                    " (as the driver of an H200 answers; other devices have other SMs switched off)"
                }
                _ => " (from the report)",
            });
        }
        _ => text.push_str(
            ": how many run at once depends on which SMs of the device are switched on; \
             cudaOccupancyMaxActiveClusters tells, and so does a report of the kernel",
        ),
    }
    if clusters.is_portable == Some(false) {
        text.push_str(
            "; the size is not portable: it needs cudaFuncAttributeNonPortableClusterSizeAllowed",
        );
    }
    Some(text)
}

/// Whether more warps can help, as far as anybody knows.
pub(super) fn advice(kernel: &Kernel) -> String {
    let Some(bound) = &kernel.bound_by else {
        return "More is not always faster. More warps help a kernel that waits for latency (`ridge why` on a report says \
                so) and do nothing for one that keeps a unit busy; and fewer registers can spill, smaller tiles move more \
                bytes."
            .to_owned();
    };
    /// From this share on a unit is as good as full.
    const FULL: f64 = 0.8;
    let busy = format!(
        "{}, {} of the time",
        bound.busiest,
        whole_percent(bound.share)
    );
    match bound.kind {
        Bound::Latency => format!(
            "This kernel is limited by latency (busiest: {busy}), so that more warps can make it faster. More independent \
             work in each thread does the same without them."
        ),
        Bound::Memory | Bound::Compute if bound.share >= FULL => format!(
            "More is not always faster: this kernel keeps a unit busy ({busy}), and more warps would only queue for it."
        ),
        Bound::Memory | Bound::Compute => format!(
            "More is not always faster: a unit is busy much of the time ({busy}); more warps can fill the rest at best."
        ),
        Bound::Launch => "More is not always faster: this kernel is shorter than its launch, and occupancy hardly \
                          matters for it."
            .to_owned(),
    }
}

fn whole_percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// What achieved occupancy says beside the theoretical one.
pub(super) fn achieved(kernel: &Kernel) -> Option<String> {
    /// A difference below this is start and end of the kernel.
    const NOTABLE: f64 = 0.10;
    let achieved = kernel.achieved_occupancy?;
    let theoretical = kernel.theoretical?.occupancy;
    let mut text = format!("{} (measured)", percent_of_measured(achieved));
    if theoretical - achieved > NOTABLE {
        text.push_str(if kernel.waves.is_some_and(|waves| waves.waves < 1.0) {
            ", well below: the grid is too small to fill the device"
        } else {
            ", well below: blocks end at different times, start slowly, or are too few; no limit does that"
        });
    }
    Some(text)
}

pub(super) fn percent_of_measured(share: f64) -> String {
    Ratio::new(share).to_string()
}
