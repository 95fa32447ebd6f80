//! The ridge point: where both walls meet, and what can be attained left and right of it.

use ridge_model::quantity::{Amount, Bytes, Flops, Intensity, Unit};
use ridge_model::{NumberFormat, Peak};
use ridge_stats::Random;

use super::{Maker, Material, pick};
use crate::gallery::Case;
use crate::question::{Question, shown};

pub(crate) const MAKERS: &[Maker] = &[ridge, attainable, side];

/// Peaks of the device that a question may be about, with the other ones that are usually taken for them.
fn peaks<'m>(material: &Material<'m>) -> Vec<&'m Peak> {
    let device = material.device;
    let usual = |peak: &&Peak| {
        !peak.is_sparse
            && !peak.input.is_integer()
            && matches!(
                peak.input,
                NumberFormat::Fp64 | NumberFormat::Fp32 | NumberFormat::Fp16 | NumberFormat::Bf16
            )
    };
    device.peaks.iter().filter(usual).collect()
}

/// Peak over bandwidth.
fn ridge(material: &Material<'_>, random: &mut Random) -> Option<Question> {
    let bandwidth = material.device.bandwidth?.value;
    let peaks = peaks(material);
    let peak = *pick(&peaks, random)?;
    let right = peak.rate.ridge_point(bandwidth);
    let mut question = Question::number(
        "ridge-point",
        format!(
            "Where is the ridge point of {}, in FLOP/byte?",
            peak.label()
        ),
        Amount::new(right.get(), Unit::FLOPS_PER_BYTE),
    )
    .given(format!("{} moves {bandwidth}", material.name()))
    .given(format!("its peak of {} is {}", peak.label(), peak.rate))
    .mistake(1.0 / right.get(), "that is bandwidth over peak");
    for other in peaks.iter().filter(|other| other.rate != peak.rate) {
        question = question.mistake(
            other.rate.ridge_point(bandwidth).get(),
            format!("that is the ridge point of {}", other.label()),
        );
    }
    Some(
        question
            .because(format!(
                "{} / {bandwidth} = {}",
                peak.rate,
                right.text(false)
            ))
            .read("ridge-point"),
    )
}

/// The roof at an intensity.
fn attainable(material: &Material<'_>, random: &mut Random) -> Option<Question> {
    let bandwidth = material.device.bandwidth?.value;
    let peaks = peaks(material);
    let peak = *pick(&peaks, random)?;
    let ridge = peak.rate.ridge_point(bandwidth).get();
    let times = 2_f64.powi(*pick(&[-5, -4, -3, -2, 1, 2], random)?);
    // Two figures, so that the number is one that can be kept in mind.
    let rough = ridge * times;
    let scale = 10_f64.powf(rough.log10().floor() - 1.0);
    let intensity = Intensity::new((rough / scale).round() * scale);
    let right = intensity.attainable(bandwidth, peak.rate);
    let slope = intensity.get() * bandwidth.get();
    let other_wall = if slope < peak.rate.get() {
        (
            peak.rate.get(),
            "that is the peak, which memory does not let it reach",
        )
    } else {
        (
            slope,
            "that is what memory would allow; the flat roof is lower",
        )
    };
    Some(
        Question::number(
            "attainable",
            "Which rate can the kernel attain at most, in TFLOP/s?",
            Amount::new(right.get(), Unit::FLOPS_PER_SECOND),
        )
        .given(format!(
            "a kernel has an intensity of {}",
            intensity.text(false)
        ))
        .given(format!(
            "{} moves {bandwidth}; its peak of {} is {}",
            material.name(),
            peak.label(),
            peak.rate
        ))
        .mistake(other_wall.0, other_wall.1)
        .because(format!(
            "slope: {} x {bandwidth} = {}",
            intensity.text(false),
            Amount::new(slope, Unit::FLOPS_PER_SECOND)
        ))
        .because(format!("flat roof: {}", peak.rate))
        .because(format!("the lower one counts: {right}"))
        .read("roofline"),
    )
}

/// Left or right: computations of the gallery, by the least that they need.
fn side(material: &Material<'_>, random: &mut Random) -> Option<Question> {
    let bandwidth = material.device.bandwidth?.value;
    let peak = material.vector(NumberFormat::Fp32)?.rate;
    let ridge = peak.ridge_point(bandwidth);
    let intensity =
        |case: &Case| Flops::new(case.entry.flops).for_each(Bytes::new(case.entry.min_bytes));
    // Far enough from the ridge point that the figures of the sheet decide.
    let clear: Vec<&Case> = material
        .cases
        .iter()
        .filter(|case| case.entry.flops > 0.0 && case.entry.min_bytes > 0.0)
        .filter(|case| {
            let times = intensity(case).over(ridge).get();
            !(0.67..1.5).contains(&times)
        })
        .collect();
    let case = *pick(&clear, random)?;
    let own = intensity(case);
    let memory = "the memory: it is left of the ridge point";
    let arithmetic = "arithmetic: it is right of the ridge point";
    let (right, wrong) = if own.over(ridge).get() < 1.0 {
        (memory, arithmetic)
    } else {
        (arithmetic, memory)
    };
    let wrongs = [
        (wrong, "compare the intensity with the ridge point"),
        (
            "neither: it has both to do",
            "one of the two takes longer, unless the point is on the ridge",
        ),
        (
            "nobody can say without running it",
            "this is about the best that any program can do, and follows from the numbers",
        ),
    ]
    .map(|(text, mistake)| (text.to_owned(), mistake.to_owned()));
    let (flops, bytes) = (
        Flops::new(case.entry.flops),
        Bytes::new(case.entry.min_bytes),
    );
    Some(
        Question::choice(
            "side",
            "What bounds the best possible kernel for it?",
            right,
            wrongs,
            random,
        )
        .given(format!("a computation needs {flops} and has to move {bytes}"))
        .given(format!(
            "{} moves {bandwidth} and does {peak} in FP32 without tensor units",
            material.name()
        ))
        .because(format!("intensity: {flops} / {bytes} = {}", own.text(false)))
        .because(format!("ridge point: {peak} / {bandwidth} = {}", ridge.text(false)))
        .because(format!(
            "the intensity is {} of the ridge point; these are the numbers of {} (`ridge gallery {}`)",
            shown(&Amount::new(own.over(ridge).get(), Unit::from_static("x"))),
            case.entry.name,
            case.entry.name
        ))
        .read("ridge-point"),
    )
}
