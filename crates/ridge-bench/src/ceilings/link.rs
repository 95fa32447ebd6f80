//! The link to the host: pinned and pageable memory, both ways, and both at once.

use ridge_gpu::{Buffer, Device, DeviceError, Stream};

use super::document::{Detail, Family, Figure, Measured, Path, Spread, Unit};
use super::launch::line;
use super::probe::{Label, bytes_of, checksum, random_words, wrong};
use super::runner::{Manner, Runner, Variant, median, spread_of_times, state_of};
use crate::protocol::Failure;

/// What is copied at once: what a copy costs beside its bytes is less than 0.3 % of it.
const LARGE: u64 = 256 << 20;
/// Of pageable memory, which is slower.
const PAGEABLE: u64 = 64 << 20;
/// Sizes to which a start and a rate are fitted.
const SIZES: [u64; 5] = [4 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20];

/// How much is copied at once: less where there is little memory. A model is the same at every size, and the host has to
/// copy all of it.
pub(super) fn large(device: &dyn Device) -> u64 {
    let sizes: &[u64] = if device.properties().is_simulated() {
        &[]
    } else {
        &[LARGE, LARGE / 4]
    };
    let is_there = |bytes: &u64| {
        let memory = device.memory();
        memory.is_ok_and(|memory| memory.free.get() > 3.0 * *bytes as f64)
    };
    sizes.iter().copied().find(is_there).unwrap_or(LARGE / 16)
}

/// What is copied, again and again: 16 MiB of random bytes.
pub(super) fn image() -> Vec<u8> {
    bytes_of(&random_words(1 << 22, 9))
}

pub(super) fn measure(
    runner: &Runner<'_>,
    measured: &mut Measured,
    tell: &mut dyn FnMut(&str),
) -> Result<(), Failure> {
    let device = runner.device;
    tell("pinned memory");
    let bytes = large(device);
    let image = image();
    let up = device.allocate_pinned(bytes)?;
    let down = device.allocate_pinned(bytes)?;
    let mut place = 0;
    while place < bytes {
        device.write_pinned(&up, place, &image)?;
        device.write_pinned(&down, place, &image)?;
        place += image.len() as u64;
    }
    let there = device.allocate(bytes)?;
    let back = device.allocate(bytes)?;
    device.upload(&runner.stream, &up, &back, bytes)?;
    runner.synchronize()?;
    let to_device = |stream: &Stream, bytes| device.upload(stream, &up, &there, bytes);
    let to_host = |stream: &Stream, bytes| device.download(stream, &back, &down, bytes);
    for (id, name, copy) in [
        (
            "link-h2d-pinned",
            "pinned, host to device",
            &to_device as &Copy<'_>,
        ),
        ("link-d2h-pinned", "pinned, device to host", &to_host),
    ] {
        let label = label(Family::Link, id, name);
        let figure = one_way(runner, &label, Manner::Watched, bytes, copy)?;
        measured.figures.extend(figure);
    }
    // What went there and back is what was sent.
    device.fill(&runner.stream, &there, 0)?;
    device.upload(&runner.stream, &up, &there, bytes)?;
    device.download(&runner.stream, &there, &down, bytes)?;
    runner.synchronize()?;
    let mut found = vec![0; image.len()];
    device.read_pinned(&down, bytes - image.len() as u64, &mut found)?;
    if found != image {
        return Err(wrong(
            "what went to the device and back is something else".to_owned(),
        ));
    }
    for figure in &mut measured.figures {
        figure.checksum = Some(checksum(&found));
    }
    if device
        .properties()
        .copy_engines
        .is_none_or(|engines| engines >= 2)
    {
        tell("both ways at once");
        let label = Label {
            counts: "bytes that cross the link, both ways",
            ..label(
                Family::Link,
                "link-duplex-pinned",
                "pinned, both ways at once",
            )
        };
        let figure = both_ways(runner, &label, Manner::Watched, bytes, &to_device, &to_host)?;
        measured.figures.extend(figure);
    }
    tell("pageable memory");
    pageable(runner, measured, &there)
}

/// Queues a copy of so many bytes.
pub(super) type Copy<'c> = dyn Fn(&Stream, u64) -> Result<(), DeviceError> + 'c;

/// A large copy, and what small ones cost.
pub(super) fn one_way(
    runner: &Runner<'_>,
    label: &Label<'_>,
    manner: Manner,
    bytes: u64,
    copy: &Copy<'_>,
) -> Result<Option<Figure>, DeviceError> {
    let variants = [Variant {
        name: format!("{} MiB at once", bytes >> 20),
        amount: bytes as f64,
        queue: Box::new(|stream| copy(stream, bytes)),
    }];
    let Some(outcome) = runner.best(&variants, manner)? else {
        return Ok(None);
    };
    let mut points = Vec::new();
    for size in SIZES.into_iter().filter(|size| *size <= bytes) {
        let mut times = Vec::new();
        for _ in 0..9 {
            times.push(runner.timed(&|stream| copy(stream, size))?);
        }
        points.push((size as f64, median(times)));
    }
    let (start, _) = line(
        points
            .iter()
            .copied()
            .filter(|(size, _)| *size <= f64::from(1 << 20)),
    );
    let mut figure = figure(label, &variants[0].name, outcome.burst);
    let start = start.max(0.0);
    figure.details.push(Detail {
        name: "start of a copy".to_owned(),
        value: start,
        unit: "ns".to_owned(),
    });
    figure.details.push(Detail {
        name: "size that reaches half of the rate".to_owned(),
        value: start * figure.burst.median / 1e9,
        unit: "B".to_owned(),
    });
    Ok(Some(figure))
}

/// Large copies both ways at once, in two streams.
pub(super) fn both_ways(
    runner: &Runner<'_>,
    label: &Label<'_>,
    manner: Manner,
    bytes: u64,
    there: &Copy<'_>,
    back: &Copy<'_>,
) -> Result<Option<Figure>, DeviceError> {
    let device = runner.device;
    let other = device.stream()?;
    let (begun, done) = (device.event()?, device.event()?);
    let variants = [Variant {
        name: format!("{} MiB each way, two streams", bytes >> 20),
        amount: 2.0 * bytes as f64,
        queue: Box::new(|stream| {
            device.record(stream, &begun)?;
            device.wait(&other, &begun)?;
            there(stream, bytes)?;
            back(&other, bytes)?;
            device.record(&other, &done)?;
            device.wait(stream, &done)
        }),
    }];
    let outcome = runner.best(&variants, manner)?;
    Ok(outcome.map(|outcome| figure(label, &variants[0].name, outcome.burst)))
}

/// What a figure of a link is called.
pub(super) const fn label<'l>(family: Family, id: &'l str, name: &'l str) -> Label<'l> {
    Label {
        id,
        family,
        name,
        path: Path::CopyEngine,
        format: None,
        unit: Unit::BytesPerSecond,
        counts: "bytes that cross the link",
    }
}

/// A figure of a link: what the SMs do meanwhile says nothing about it.
fn figure(label: &Label<'_>, variant: &str, burst: Spread) -> Figure {
    let burst = Spread {
        sm_clock_hz: None,
        ..burst
    };
    label.named(variant, burst)
}

/// Copies from and to memory that the system may move: timed by the host, since the call returns when they are done.
fn pageable(runner: &Runner<'_>, measured: &mut Measured, there: &Buffer) -> Result<(), Failure> {
    let device = runner.device;
    let bytes = PAGEABLE.min(there.bytes());
    let mut memory = vec![1_u8; bytes as usize];
    for (id, name, is_up) in [
        ("link-h2d-pageable", "pageable, host to device", true),
        ("link-d2h-pageable", "pageable, device to host", false),
    ] {
        let mut times = Vec::new();
        for repeat in 0..=runner.settings.repeats {
            let before = device.now().get();
            if is_up {
                device.write(there, 0, &memory)?;
            } else {
                device.read(there, 0, &mut memory)?;
            }
            // The first one is not counted.
            if repeat > 0 {
                times.push(device.now().get() - before);
            }
        }
        let spread = spread_of_times(times, Vec::new(), state_of(device));
        let rate = |time: f64| {
            if time > 0.0 {
                bytes as f64 / time * 1e9
            } else {
                0.0
            }
        };
        let variant = format!("{} MiB at once, pages in use before", bytes >> 20);
        let burst = Spread {
            median: rate(spread.median),
            best: rate(spread.best),
            p90: rate(spread.p90),
            ..spread
        };
        let label = label(Family::Link, id, name);
        measured.figures.push(figure(&label, &variant, burst));
    }
    Ok(())
}
