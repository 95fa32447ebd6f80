//! Three bounds: data that moves, instructions that execute, and time in which neither happens.

use ridge_diagnose::BUSY;
use ridge_diagnose::document::{Class, Resource};
use ridge_model::bound::{Chain, Launches, StepLatency, Work};
use ridge_model::latency::Latencies;
use ridge_model::quantity::{Amount, Bytes, Nanos, Unit, grouped};
use ridge_model::roof::MemoryLevel;
use ridge_stats::Random;

use super::{Maker, Material, counters, percent, pick, with_given};
use crate::gallery::{Case, Diagnosed};
use crate::question::Question;

pub(crate) const MAKERS: &[Maker] = &[of_report, launches, chain, of_report, of_report];

/// The kind of limit in words.
const fn class_text(class: Class) -> &'static str {
    match class {
        Class::Memory => "moving data",
        Class::Compute => "executing instructions",
        Class::Latency => "latency: waiting that nothing hides",
        Class::Launch => "being launched: it is too short",
    }
}

/// What is wrong with choosing a kind of limit for this kernel.
fn mistake(chosen: Class, diagnosed: &Diagnosed) -> String {
    let busiest = diagnosed.rows.first();
    match (chosen, busiest) {
        (Class::Memory | Class::Compute, Some(row)) if row.resource.class() == chosen => format!(
            "{} is the busiest, and still busy for {} of the time only: nothing is full",
            row.resource.label(),
            percent(row.share)
        ),
        (Class::Memory | Class::Compute, _) => {
            let most = diagnosed
                .rows
                .iter()
                .find(|row| row.resource.class() == chosen);
            most.map_or_else(
                || "no such resource is among the busiest".to_owned(),
                |row| {
                    format!(
                        "the busiest of that kind is {}, with {}",
                        row.resource.label(),
                        percent(row.share)
                    )
                },
            )
        }
        (Class::Latency, Some(row)) => format!(
            "warps always wait for something; {} is busy for {} of the time, and that is the limit",
            row.resource.label(),
            percent(row.share)
        ),
        _ => "the report holds a kernel that runs long enough".to_owned(),
    }
}

/// Whether the shares that are shown tell what binds: not near the line between a busy unit and latency.
fn is_clear(diagnosed: &Diagnosed) -> bool {
    /// So far from the line nobody has to remember it to the percent.
    const FAR: f64 = 0.07;
    let [first, _, _, ..] = diagnosed.rows.as_slice() else {
        return false;
    };
    let is_named = match diagnosed.class {
        Some(Class::Memory | Class::Compute) => diagnosed.limiter == Some(first.resource),
        _ => true,
    };
    is_named && (first.share - BUSY).abs() > FAR
}

/// What binds the kernel of a report?
fn of_report(material: &Material<'_>, random: &mut Random) -> Option<Question> {
    let known: Vec<(&Case, &Diagnosed, Class)> = material
        .cases
        .iter()
        .flat_map(|case| {
            let both = std::iter::once(&case.entry.slow).chain(&case.entry.fixed);
            both.filter_map(move |diagnosed| Some((case, diagnosed, diagnosed.class?)))
        })
        .filter(|(_, diagnosed, _)| is_clear(diagnosed))
        .collect();
    // Each kind as often as the others, although kernels are not.
    let classes = [Class::Memory, Class::Compute, Class::Latency];
    let class = *pick(&classes, random)?;
    let of_class: Vec<&(&Case, &Diagnosed, Class)> = known
        .iter()
        .filter(|(_, _, other)| *other == class)
        .collect();
    let (case, diagnosed, class) = **pick(&of_class, random)?;
    let wrong = [Class::Memory, Class::Compute, Class::Latency, Class::Launch]
        .into_iter()
        .filter(|other| *other != class)
        .map(|other| (class_text(other).to_owned(), mistake(other, diagnosed)));
    let question = Question::choice(
        "bound-of-report",
        "What bounds this kernel?",
        class_text(class),
        wrong,
        random,
    );
    let question = with_given(question, counters(diagnosed));
    let busiest = diagnosed.rows.first()?;
    let why = match class {
        Class::Latency | Class::Launch => format!(
            "nothing is full: the busiest is {} with {}, and below {} it is waiting that counts",
            busiest.resource.label(),
            percent(busiest.share),
            percent(BUSY)
        ),
        Class::Memory | Class::Compute => format!(
            "{} is busy for {} of the time, and nothing is busier",
            diagnosed.limiter.unwrap_or(busiest.resource).label(),
            percent(
                diagnosed
                    .rows
                    .iter()
                    .find(|row| Some(row.resource) == diagnosed.limiter)
                    .unwrap_or(busiest)
                    .share
            )
        ),
    };
    let limiter = diagnosed.limiter.map_or("", Resource::label);
    Some(
        question
            .because(why)
            .because(format!(
                "`ridge why` says: limited by {limiter}; this is {} of `ridge gallery {}`",
                diagnosed.kernel, case.entry.name
            ))
            .read("ledger"),
    )
}

/// Short kernels, one after the other.
fn launches(material: &Material<'_>, random: &mut Random) -> Option<Question> {
    let count = 50 * (1 + random.below(10) as u64);
    let cost = Launches::TYPICAL_COST;
    let kernel = Nanos::new(*pick(
        &[500.0, 800.0, 1_000.0, 1_500.0, 5_000.0, 8_000.0],
        random,
    )?);
    let work = Work {
        launches: Some(Launches { count, cost }),
        kernel_time: Some(kernel),
        ..Work::default()
    };
    let bounds = material.bounds(&work).ok()?;
    let times = count as f64;
    let (of_launches, of_kernels) = (cost.value * times, kernel * times);
    let (other, mistake) = if of_launches.get() > of_kernels.get() {
        (
            of_kernels,
            "that is the time of the kernels; the host is slower at launching them",
        )
    } else {
        (
            of_launches,
            "that is the time of the launches; the kernels take longer",
        )
    };
    Some(
        Question::number(
            "launches",
            "How long does it take at least, in us?",
            Amount::new(bounds.time().get(), Unit::NANOS),
        )
        .given(format!(
            "{count} kernels in a row, each of which runs for {kernel} on the device"
        ))
        .given(format!(
            "a launch costs the host {}; launches are queued ahead",
            cost.value
        ))
        .mistake(other.get(), mistake)
        .mistake(
            (of_launches + of_kernels).get(),
            "host and device work at the same time: the longer one counts, not the sum",
        )
        .because(format!(
            "launches: {count} x {} = {of_launches}",
            cost.value
        ))
        .because(format!("kernels: {count} x {kernel} = {of_kernels}"))
        .because(format!("the longer one counts: {}", bounds.time()))
        .read("launch-cost"),
    )
}

/// A chain of loads.
fn chain(material: &Material<'_>, random: &mut Random) -> Option<Question> {
    let latencies = Latencies::of(material.device.capability)?;
    let clock = material.device.boost_clock?.value;
    let steps = 1_000 * (1 + random.below(9) as u64);
    let work = Work {
        chain: Some(Chain {
            steps,
            latency: StepLatency::Load(MemoryLevel::Dram),
        }),
        ..Work::default()
    };
    let time = material.bounds(&work).ok()?.time();
    let mut question = Question::number(
        "chain",
        "How long does the thread need at least, in us?",
        Amount::new(time.get(), Unit::NANOS),
    )
    .given(format!(
        "a thread follows a list of {} nodes in device memory; each holds the address of the next",
        grouped(steps)
    ))
    .given("each node is in a cache line of its own, and none of them in a cache")
    .given(format!(
        "on {} a load takes {} cycles from DRAM and {} from the L2, at {clock}",
        material.name(),
        latencies.dram,
        latencies.l2
    ))
    .mistake(
        time.get() * latencies.l2 / latencies.dram,
        "that is the latency of the L2",
    );
    if let Some(bandwidth) = material.device.bandwidth {
        let bytes = Bytes::new(8.0 * steps as f64);
        question = question
            .given(format!("its memory moves {}", bandwidth.value))
            .mistake(
                bytes.at(bandwidth.value).get(),
                "that is bytes over bandwidth: only one load is in flight here",
            );
    }
    let one = Nanos::from_seconds(latencies.dram / clock.get());
    Some(
        question
            .because(format!(
                "one load: {} cycles / {clock} = {one}",
                latencies.dram
            ))
            .because(format!(
                "{} loads, one after the other: {time}",
                grouped(steps)
            ))
            .because("neither wall is near: that is the third bound, latency")
            .read("latency-hiding"),
    )
}
