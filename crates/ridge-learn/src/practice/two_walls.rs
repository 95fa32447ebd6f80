//! Two walls: the time that memory needs, the time that arithmetic needs, and which one counts.

use ridge_model::bound::{Arithmetic, BoundKind, Work};
use ridge_model::quantity::{Amount, Bytes, Flops, Nanos, Unit, grouped};
use ridge_model::{NumberFormat, PeakUnit};
use ridge_stats::Random;

use super::{Maker, Material, pick, power};
use crate::question::Question;

pub(crate) const MAKERS: &[Maker] = &[memory_time, compute_time, which_wall];

const FORMATS: [NumberFormat; 3] = [NumberFormat::Fp16, NumberFormat::Fp32, NumberFormat::Fp64];

fn nanos(time: Nanos) -> Amount {
    Amount::new(time.get(), Unit::NANOS)
}

/// Adding arrays: how long for the bytes?
fn memory_time(material: &Material<'_>, random: &mut Random) -> Option<Question> {
    let format = *pick(&FORMATS, random)?;
    let elements = power(22, 27, random);
    let inputs = 1 + random.below(3) as u64;
    let size = format.size_in_bytes();
    let arrays = inputs + 1;
    let bytes = Bytes::new(elements as f64 * size * arrays as f64);
    let work = Work {
        bytes: Some(bytes),
        ..Work::default()
    };
    let bounds = material.bounds(&work).ok()?;
    let time = bounds.time();
    let bandwidth = material.device.bandwidth?.value;
    let without_output = time.get() * inputs as f64 / arrays as f64;
    Some(
        Question::number(
            "memory-time",
            "How long does the memory need at least, in us?",
            nanos(time),
        )
        .given(format!(
            "a kernel reads {} of {} {} elements and writes one such array",
            ridge_model::quantity::counted(inputs, "array"),
            grouped(elements),
            format.peak_name()
        ))
        .given(format!(
            "the memory of {} moves {bandwidth}",
            material.name()
        ))
        .mistake(
            without_output,
            "the output was forgotten: it crosses the border too",
        )
        .mistake(time.get() * 8.0, "bits were counted for bytes")
        .mistake(time.get() / 8.0, "bytes were taken for bits")
        .mistake(time.get() / size, "elements were taken for bytes")
        .because(format!(
            "{arrays} arrays x {} elements x {size} bytes = {bytes}",
            grouped(elements)
        ))
        .because(format!("{bytes} / {bandwidth} = {time}"))
        .read("lower-bound"),
    )
}

/// So many operations: how long for arithmetic?
fn compute_time(material: &Material<'_>, random: &mut Random) -> Option<Question> {
    let known: Vec<NumberFormat> = FORMATS
        .into_iter()
        .filter(|format| material.vector(*format).is_some())
        .collect();
    let format = *pick(&known, random)?;
    let rate = material.vector(format)?.rate;
    let elements = power(20, 24, random);
    let steps = power(7, 11, random);
    let flops = Flops::new(2.0 * elements as f64 * steps as f64);
    let time = vector_time(material, flops, format)?;
    let mut question = Question::number(
        "compute-time",
        "How long does arithmetic need at least, in us?",
        nanos(time),
    )
    .given(format!(
        "each of {} threads does {} multiply-adds in {}, without tensor units",
        grouped(elements),
        grouped(steps),
        format.peak_name()
    ))
    .mistake(time.get() / 2.0, "a multiply-add is two operations");
    for other in known.iter().filter(|other| **other != format) {
        question = question.mistake(
            flops.at(material.vector(*other)?.rate).get(),
            format!("that is the peak of {}", other.peak_name()),
        );
    }
    let peaks: Vec<String> = known
        .iter()
        .filter_map(|known| {
            Some(format!(
                "{} in {}",
                material.vector(*known)?.rate,
                known.peak_name()
            ))
        })
        .collect();
    Some(
        question
            .given(format!(
                "{} does at most {}",
                material.name(),
                peaks.join(", ")
            ))
            .because(format!(
                "{} threads x {} x 2 = {flops}",
                grouped(elements),
                grouped(steps)
            ))
            .because(format!("{flops} / {rate} = {time}"))
            .read("lower-bound"),
    )
}

/// What operations of threads need: matrix products are another peak.
fn vector_time(material: &Material<'_>, flops: Flops, format: NumberFormat) -> Option<Nanos> {
    let work = Work {
        arithmetic: vec![Arithmetic::elementwise(flops, format)],
        ..Work::default()
    };
    Some(material.bounds(&work).ok()?.time())
}

/// Both walls: which one is it?
fn which_wall(material: &Material<'_>, random: &mut Random) -> Option<Question> {
    let format = NumberFormat::Fp32;
    let bandwidth = material.device.bandwidth?.value;
    let peak = material
        .vector(format)
        .filter(|peak| peak.unit == PeakUnit::Vector)?
        .rate;
    let bytes = Bytes::from_count(power(26, 30, random));
    // From an eighth of the ridge point to eight times that, and never near it.
    let exponents = [-3, -2, -1, 1, 2, 3];
    let times = 2_f64.powi(*pick(&exponents, random)?);
    let giga = (times * peak.ridge_point(bandwidth).get() * bytes.get() / 1e9).round();
    let flops = Flops::new(giga * 1e9);
    let work = Work {
        bytes: Some(bytes),
        arithmetic: vec![Arithmetic::elementwise(flops, format)],
        ..Work::default()
    };
    let bounds = material.bounds(&work).ok()?;
    let of = |kind: BoundKind| bounds.rows().iter().find(|row| row.kind == kind);
    let (memory, compute) = (of(BoundKind::Bandwidth)?.time, of(BoundKind::Compute)?.time);
    let say = |kind: BoundKind, time: Nanos| match kind {
        BoundKind::Bandwidth => format!("{time}, because of the memory"),
        _ => format!("{time}, because of arithmetic"),
    };
    let (right, other) = match bounds.binding().kind {
        BoundKind::Bandwidth => (
            say(BoundKind::Bandwidth, memory),
            say(BoundKind::Compute, compute),
        ),
        _ => (
            say(BoundKind::Compute, compute),
            say(BoundKind::Bandwidth, memory),
        ),
    };
    let wrong = [
        (
            other,
            "that is the shorter of both times: the other wall is still in the way".to_owned(),
        ),
        (
            format!("{}, one after the other", memory + compute),
            "both go on at the same time: the longer one counts, not the sum".to_owned(),
        ),
        (
            format!("{}, half of each", (memory + compute) / 2.0),
            "no wall gives way to the other".to_owned(),
        ),
    ];
    let question = Question::choice(
        "which-wall",
        "How long does the kernel take at least, and why?",
        right,
        wrong,
        random,
    );
    Some(
        question
            .given(format!(
                "a kernel has to move {bytes} and to do {flops} in FP32, without tensor units"
            ))
            .given(format!(
                "{} moves {bandwidth} and does {peak}",
                material.name()
            ))
            .because(format!("memory: {bytes} / {bandwidth} = {memory}"))
            .because(format!("arithmetic: {flops} / {peak} = {compute}"))
            .because(format!("the longer one counts: {}", bounds.time()))
            .read("lower-bound"),
    )
}
