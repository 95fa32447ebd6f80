//! Occupancy: what fits on an SM, what limits it, and when more of it is of use.

use ridge_diagnose::document::Class;
use ridge_model::occupancy::{
    Launch, Limiter, Resident, SmLimits, check, registers_per_warp, resident, shared_bytes_charged,
};
use ridge_model::quantity::{Amount, Unit, counted, grouped};
use ridge_stats::Random;

use super::{Maker, Material, counters, percent, pick, with_given};
use crate::gallery::Case;
use crate::question::{Question, count_of};

pub(crate) const MAKERS: &[Maker] = &[blocks, limiter, share, of_use, of_use];

/// A launch on the device, and what is resident of it.
struct Fit {
    limits: SmLimits,
    launch: Launch,
    resident: Resident,
}

fn fit(material: &Material<'_>, random: &mut Random) -> Option<Fit> {
    let limits = SmLimits::of(material.device.capability)?;
    let threads = *pick(&[64, 128, 256, 512], random)?;
    let registers = *pick(&[24, 32, 40, 56, 64, 80, 96, 128, 168], random)?;
    let shared = *pick(
        &[0, 0, 4 << 10, 8 << 10, 16 << 10, 24 << 10, 40 << 10],
        random,
    )?;
    let launch = Launch::new(threads, registers).with_shared(shared, 0);
    check(&limits, &launch).ok()?;
    let resident = resident(&limits, &launch);
    Some(Fit {
        limits,
        launch,
        resident,
    })
}

impl Fit {
    /// The launch and the SM.
    fn given(&self, material: &Material<'_>, question: Question) -> Question {
        let Self { limits, launch, .. } = self;
        question
            .given(format!(
                "blocks of {} threads, {} registers a thread, {} bytes of shared memory a block",
                launch.threads,
                launch.registers,
                grouped(launch.shared_bytes().into())
            ))
            .given(format!(
                "an SM of {} holds {} warps, {} blocks, {} registers and {} bytes of shared memory",
                material.name(),
                limits.warps.value,
                limits.blocks.value,
                grouped(limits.registers.value.into()),
                grouped(limits.shared_bytes.value.into())
            ))
            .given(format!(
                "a warp gets registers in multiples of {}, from one of {} parts of the SM; a block is charged {} bytes of shared memory more",
                limits.register_unit.value,
                limits.partitions.value,
                grouped(limits.reserved_shared_bytes.value.into())
            ))
    }

    /// What each limit allows.
    fn because(&self, question: Question) -> Question {
        let Self {
            limits,
            launch,
            resident,
        } = self;
        let mut question = question;
        for limiter in Limiter::ALL {
            let Some(allowed) = resident.allowed(limiter) else {
                continue;
            };
            let how = match limiter {
                Limiter::Warps => format!("{} / {}", limits.warps.value, launch.warps()),
                Limiter::Registers => format!(
                    "{} for a warp, {} / {} in each part",
                    grouped(registers_per_warp(limits, launch.registers).into()),
                    grouped((limits.registers.value / limits.partitions.value.max(1)).into()),
                    grouped(registers_per_warp(limits, launch.registers).into())
                ),
                Limiter::SharedMemory => format!(
                    "{} / {}",
                    grouped(limits.shared_bytes.value.into()),
                    grouped(shared_bytes_charged(limits, launch.shared_bytes()).into())
                ),
                Limiter::Blocks => {
                    question = question.because(format!("blocks: at most {allowed}"));
                    continue;
                }
                Limiter::Barriers => continue,
            };
            question = question.because(format!(
                "{}: {how}, so {}",
                limiter.label(),
                counted(allowed.into(), "block")
            ));
        }
        question
    }
}

/// How many blocks fit?
fn blocks(material: &Material<'_>, random: &mut Random) -> Option<Question> {
    let fit = fit(material, random)?;
    let resident = &fit.resident;
    let mut question = Question::number(
        "resident-blocks",
        "How many blocks does an SM hold?",
        count_of(resident.blocks, "block"),
    )
    .exactly();
    for limiter in Limiter::ALL {
        if let Some(allowed) = resident.allowed(limiter) {
            question = question.mistake(
                f64::from(allowed),
                format!(
                    "that is what {} alone would allow; the fewest count",
                    limiter.label()
                ),
            );
        }
    }
    question = question.mistake(f64::from(resident.warps), "those are the warps");
    Some(
        fit.because(fit.given(material, question))
            .because(format!("the fewest count: {}", resident.blocks))
            .read("occupancy"),
    )
}

/// Which limit allows the fewest?
fn limiter(material: &Material<'_>, random: &mut Random) -> Option<Question> {
    let fit = fit(material, random)?;
    let limiters = fit.resident.limiters();
    let [right] = limiters.as_slice() else {
        return None;
    };
    let wrong = [
        Limiter::Warps,
        Limiter::Blocks,
        Limiter::Registers,
        Limiter::SharedMemory,
    ]
    .into_iter()
    .filter(|other| other != right)
    .map(|other| {
        let mistake = match fit.resident.allowed(other) {
            Some(allowed) => format!(
                "{} would allow {}, more than {}",
                other.label(),
                counted(allowed.into(), "block"),
                fit.resident.blocks
            ),
            None => format!("the blocks use no {}", other.label()),
        };
        (other.label().to_owned(), mistake)
    });
    let question = Question::choice(
        "occupancy-limit",
        "What limits the blocks of an SM?",
        right.label(),
        wrong,
        random,
    );
    Some(
        fit.because(fit.given(material, question))
            .because(format!(
                "the fewest: {}, by {}",
                fit.resident.blocks,
                right.label()
            ))
            .read("occupancy"),
    )
}

/// Theoretical occupancy.
fn share(material: &Material<'_>, random: &mut Random) -> Option<Question> {
    let fit = fit(material, random)?;
    let resident = &fit.resident;
    let right = resident.occupancy();
    let most = f64::from(resident.max_warps);
    let question = Question::number(
        "theoretical-occupancy",
        "What is the theoretical occupancy, in %?",
        Amount::new(right.percent(), Unit::PERCENT),
    )
    .mistake(
        100.0 * f64::from(resident.blocks) / f64::from(fit.limits.blocks.value),
        "occupancy counts warps, not blocks",
    )
    .mistake(
        100.0 * f64::from(fit.launch.warps()) / most,
        "that is one block",
    );
    Some(
        fit.because(fit.given(material, question))
            .because(format!(
                "{} blocks x {} warps = {}; {} / {} = {right}",
                resident.blocks,
                fit.launch.warps(),
                resident.warps,
                resident.warps,
                resident.max_warps
            ))
            .read("occupancy"),
    )
}

/// Is more occupancy of use?
fn of_use(material: &Material<'_>, random: &mut Random) -> Option<Question> {
    /// From here on there is hardly more to have.
    const FULL: f64 = 0.6;
    let is_about_occupancy = |case: &Case| {
        let mut found = case.entry.slow.findings.iter();
        found
            .next()
            .is_some_and(|first| first.id.starts_with("low-occupancy"))
    };
    let wants_use = random.below(2) == 0;
    let fitting: Vec<&Case> = material
        .cases
        .iter()
        .filter(|case| {
            let slow = &case.entry.slow;
            let has_room = slow.occupancy.is_some_and(|share| share < FULL);
            let is_busy = matches!(slow.class, Some(Class::Memory | Class::Compute));
            let has_other = slow
                .findings
                .iter()
                .any(|found| found.id.starts_with("low-occupancy"));
            has_room
                && if wants_use {
                    slow.class == Some(Class::Latency) && is_about_occupancy(case)
                } else {
                    is_busy && !has_other
                }
        })
        .collect();
    let case = *pick(&fitting, random)?;
    let slow = &case.entry.slow;
    let busiest = slow.rows.first()?;
    let yes = "yes: warps wait, nothing is busy, and more warps would hide it";
    let no = "no: a unit is busy already, and more warps would only queue for it";
    let (right, wrong) = if wants_use { (yes, no) } else { (no, yes) };
    let wrongs = [
        (
            wrong.to_owned(),
            format!(
                "look at the busiest unit: {} with {}",
                busiest.resource.label(),
                percent(busiest.share)
            ),
        ),
        (
            "yes: time falls as occupancy grows, always".to_owned(),
            "occupancy is a means to hide latency, and no aim".to_owned(),
        ),
        (
            "no: occupancy has nothing to do with time".to_owned(),
            "where nothing is busy, warps are what hides latency".to_owned(),
        ),
    ];
    let question = Question::choice(
        "occupancy-of-use",
        "Would more occupancy make this kernel much faster?",
        right,
        wrongs,
        random,
    );
    let mut question = with_given(question, counters(slow)).because(format!(
        "the busiest unit is {} with {}",
        busiest.resource.label(),
        percent(busiest.share)
    ));
    if let Some(first) = slow.findings.first() {
        question = question.because(format!("`ridge why` finds {}: {}", first.id, first.title));
    }
    if let (Some(saved), Some(before), Some(after)) = (
        case.saved(),
        slow.occupancy,
        case.entry.fixed.as_ref().and_then(|fixed| fixed.occupancy),
    ) {
        question = question.because(format!(
            "the fix of `ridge gallery {}` went from {} to {} occupancy and saved {} of the time",
            case.entry.name,
            percent(before),
            percent(after),
            percent(saved)
        ));
    }
    Some(question.read("occupancy"))
}
