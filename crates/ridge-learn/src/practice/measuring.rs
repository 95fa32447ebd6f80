//! Measuring: times that cannot be, caches, and differences that are none.

use ridge_model::bound::{Gap, Reading, Work};
use ridge_model::quantity::{Amount, Bytes, Nanos, Ratio, Unit};
use ridge_stats::{Comparison, Random, Round, Rounds, Rules, Verdict, compare_rounds};

use super::{Maker, Material, percent, pick, power};
use crate::question::Question;

pub(crate) const MAKERS: &[Maker] = &[can_it_be, gap, cache, compare, compare];

/// Bytes and the least time for them.
fn moved(material: &Material<'_>, random: &mut Random) -> Option<(Bytes, Nanos)> {
    let bytes = Bytes::from_count(power(26, 30, random));
    let work = Work {
        bytes: Some(bytes),
        ..Work::default()
    };
    Some((bytes, material.bounds(&work).ok()?.time()))
}

/// Is the measurement valid?
fn can_it_be(material: &Material<'_>, random: &mut Random) -> Option<Question> {
    let bandwidth = material.device.bandwidth?.value;
    let (bytes, bound) = moved(material, random)?;
    let factor = *pick(&[0.3, 0.5, 0.7, 1.15, 1.3, 7.0, 12.0], random)?;
    let time = bound * factor;
    let gap = Gap::of(time, bound);
    let valid = "it can be, and the kernel is near the limit of the memory";
    let far = "it can be, and something coarse is wrong with the kernel";
    let invalid = "it cannot be: the bytes did not all cross the border, or the time is not that of the kernel";
    let right = match gap.reading() {
        Reading::BelowBound => invalid,
        Reading::Good | Reading::Room => valid,
        Reading::Far => far,
    };
    let wrong = [
        (valid, "compare it with the bound"),
        (far, "compare it with the bound"),
        (
            invalid,
            "it is above the bound, so nothing speaks against it",
        ),
        (
            "it can be: a boost clock moves more bytes",
            "the clock of the SMs does not change what the memory delivers",
        ),
    ]
    .into_iter()
    .filter(|(text, _)| *text != right)
    .map(|(text, mistake)| (text.to_owned(), mistake.to_owned()));
    let question = Question::choice(
        "can-it-be",
        "What do you make of the time?",
        right,
        wrong,
        random,
    );
    Some(
        question
            .given(format!(
                "a kernel is said to read {bytes} from device memory in {time}"
            ))
            .given(format!("{} moves {bandwidth}", material.name()))
            .because(format!("bound: {bytes} / {bandwidth} = {bound}"))
            .because(format!("{time} / {bound} = {}", gap.factor()))
            .because(gap.reading().text())
            .read("lower-bound"),
    )
}

/// How far from the bound?
fn gap(material: &Material<'_>, random: &mut Random) -> Option<Question> {
    let bandwidth = material.device.bandwidth?.value;
    let (bytes, bound) = moved(material, random)?;
    let factor = 1.1 + random.unit() * 4.0;
    let micros = (bound.get() * factor / 1e3).round();
    let time = Nanos::new(micros * 1e3);
    let gap = Gap::of(time, bound);
    Some(
        Question::number(
            "gap",
            "How many times its bound does it take?",
            Amount::new(gap.ratio().get(), Unit::from_static("x")),
        )
        .given(format!("a kernel moves {bytes} in {time}"))
        .given(format!("{} moves {bandwidth}", material.name()))
        .mistake(1.0 / gap.ratio().get(), "that is bound over time")
        .because(format!("bound: {bytes} / {bandwidth} = {bound}"))
        .because(format!("{time} / {bound} = {}", gap.factor()))
        .because(gap.reading().text())
        .read("lower-bound"),
    )
}

/// Hot times and the L2.
fn cache(material: &Material<'_>, random: &mut Random) -> Option<Question> {
    let l2 = material.device.l2?.value;
    // Far from its size on either side: what a cache of nearly that size keeps depends on more.
    let share = *pick(&[0.125, 0.25, 0.5, 4.0, 8.0, 16.0], random)?;
    let bytes = Bytes::new(l2.get() * share);
    let small = "the L2: the data stays there from launch to launch";
    let large = "device memory: the data does not fit into the L2";
    let (right, other) = if bytes.get() <= l2.get() {
        (small, large)
    } else {
        (large, small)
    };
    let wrong = [
        (other, "compare the buffers with the L2"),
        (
            "the L1: it is nearest",
            "the L1 of an SM is emptied between kernels and holds far less",
        ),
        (
            "device memory: hot times always do",
            "hot means that nothing was flushed: what fits stays in the L2",
        ),
    ]
    .map(|(text, mistake)| (text.to_owned(), mistake.to_owned()));
    let question = Question::choice(
        "cache",
        "What does its bandwidth tell about?",
        right,
        wrong,
        random,
    );
    Some(
        question
            .given(format!(
                "a kernel is launched again and again on the same buffers of {} in all, and timed hot",
                bytes.binary()
            ))
            .given(format!("the L2 of {} has {}", material.name(), l2.binary()))
            .because(format!(
                "{} / {} = {} of the L2",
                bytes.binary(),
                l2.binary(),
                Ratio::new(share)
            ))
            .because("`ridge bench` times cold by default: the L2 is overwritten before each sample")
            .read("cold"),
    )
}

/// Rounds as a measurement of two kernels, and of the first one again, would give them.
fn rounds(random: &mut Random) -> Option<Comparison> {
    let effect = *pick(&[-0.08, -0.03, -0.004, 0.0, 0.003, 0.03, 0.06], random)?;
    let noise = *pick(&[0.001, 0.002, 0.02], random)?;
    // A sum of uniform numbers is near enough to what clocks and neighbours do.
    let mut wobble = || noise * ((0..4).map(|_| random.unit()).sum::<f64>() - 2.0);
    let replicates = (0..3)
        .map(|_| {
            (0..8)
                .map(|_| Round {
                    a: 100.0 * (1.0 + wobble()),
                    b: 100.0 * (1.0 + effect) * (1.0 + wobble()),
                    control: Some(100.0 * (1.0 + wobble())),
                })
                .collect()
        })
        .collect();
    compare_rounds(&Rounds::new(replicates).ok()?, &Rules::default()).ok()
}

/// The last digit of a change as it is shown: 0.1 %.
const SHOWN: f64 = 0.001;

/// Is B faster?
fn compare(_: &Material<'_>, random: &mut Random) -> Option<Question> {
    let comparison = rounds(random)?;
    let interval = comparison.effect.interval?;
    // What is shown is rounded, and has to tell what follows.
    let is_near_edge = |end: f64| {
        [comparison.band, comparison.margin]
            .iter()
            .any(|edge| ((end - 1.0).abs() - edge).abs() <= SHOWN / 2.0)
    };
    if is_near_edge(interval.lower) || is_near_edge(interval.upper) {
        return None;
    }
    let change = |ratio: f64| format!("{:+.1} %", (ratio - 1.0) * 100.0);
    let text = |verdict: Verdict| match verdict {
        Verdict::Faster => "B is faster",
        Verdict::Slower => "B is slower",
        Verdict::Same => "they are the same, within the margin",
        Verdict::CannotTell => "nobody can tell from this",
    };
    let right = comparison.verdict;
    let mistake = |verdict: Verdict| match verdict {
        _ if right == Verdict::Same => {
            "the whole interval is within the margin: what differs by less does not matter to us"
        }
        Verdict::Faster => "FASTER needs an interval wholly below the band",
        Verdict::Slower => "SLOWER needs an interval wholly above the band",
        Verdict::Same => "SAME needs an interval wholly within the margin",
        Verdict::CannotTell => "the interval is wholly on one side of the band",
    };
    let wrong = [
        Verdict::Faster,
        Verdict::Slower,
        Verdict::Same,
        Verdict::CannotTell,
    ]
    .into_iter()
    .filter(|verdict| *verdict != right)
    .map(|verdict| (text(verdict).to_owned(), mistake(verdict).to_owned()));
    let question = Question::choice(
        "compare",
        "What can be said of B?",
        text(right),
        wrong,
        random,
    );
    Some(
        question
            .given(format!(
                "kernels A and B, and A once more as control, in turns: {} rounds in {} processes",
                comparison.rounds, comparison.replicates
            ))
            .given(format!(
                "time of B against A: {} (95 % interval {} to {})",
                change(comparison.effect.ratio),
                change(interval.lower),
                change(interval.upper)
            ))
            .given(format!(
                "A against itself differs by up to {}; changes up to {} do not matter to us",
                percent(comparison.band),
                percent(comparison.margin)
            ))
            .because(format!(
                "interval {} to {}, band of A against A {}, margin {}",
                change(interval.lower),
                change(interval.upper),
                percent(comparison.band),
                percent(comparison.margin)
            ))
            .because(match right {
                Verdict::Same => "the whole interval is within the margin".to_owned(),
                Verdict::Faster => "the whole interval is below the band".to_owned(),
                Verdict::Slower => "the whole interval is above the band".to_owned(),
                Verdict::CannotTell => comparison.doubts.first()?.reason(),
            })
            .read("band"),
    )
}
