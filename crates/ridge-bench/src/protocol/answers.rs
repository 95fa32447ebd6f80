//! What outputs have to be, and whether they are.
//!
//! The device looks first, where it is a real one: outputs of hundreds of megabytes take longer to copy than to measure. It
//! finds that all is right, or leaves it to the host, which then copies everything and says what is wrong. The device
//! therefore decides nothing that the host would decide otherwise.

use std::cell::OnceCell;

use ridge_gpu::{Buffer, Device, DeviceError, Stream};
use ridge_model::quantity::Nanos;

use super::failure::Failure;
use super::loaded::Loaded;
use super::measure::{Right, Task, generations, load, lowered};
use super::settings::Settings;
use crate::check::{self, Compared, Expected, Outcome, Rule, scramble};
use crate::spec::Elements;
use crate::spec::job::{Job, JobBuffer};

/// What the outputs of a job have to be, for each generation of inputs.
pub(super) enum Answers {
    /// Nobody knows.
    Unknown,
    /// This, from outside the device.
    Known(Vec<Vec<Expected>>),
    /// What a kernel made of the same inputs.
    Kept(Vec<Vec<Kept>>),
}

/// What a kernel made.
pub(super) enum Kept {
    /// Copied to the host.
    Host(Expected),
    /// Still on the device, and copied to the host when it has to be.
    Device(Masked, OnceCell<Expected>),
}

/// Right outputs on the device. They are masked while kernels run that are measured, so that none can find and copy them.
pub(super) struct Masked {
    buffer: Buffer,
    key: u64,
}

impl Masked {
    /// Does something with the right outputs in clear.
    fn open<T>(
        &self,
        device: &dyn Device,
        stream: &Stream,
        look: impl FnOnce(&Buffer) -> Result<T, DeviceError>,
    ) -> Result<T, DeviceError> {
        device.mask(stream, &self.buffer, self.key)?;
        let found = look(&self.buffer);
        device.mask(stream, &self.buffer, self.key)?;
        found
    }
}

/// The key of what is right for a generation.
fn key(settings: &Settings, generation: u32) -> u64 {
    scramble(scramble(u64::from(settings.check_seed)) ^ u64::from(generation))
}

/// What one output has to be.
#[derive(Clone, Copy)]
enum Answer<'a> {
    Expected(&'a Expected),
    Kept(&'a Masked, &'a OnceCell<Expected>),
}

impl<'a> Answer<'a> {
    fn of(kept: &'a Kept) -> Self {
        match kept {
            Kept::Host(expected) => Self::Expected(expected),
            Kept::Device(masked, host) => Self::Kept(masked, host),
        }
    }

    fn on_host(self, loaded: &Loaded<'_>) -> Result<&'a Expected, DeviceError> {
        let device = loaded.device;
        match self {
            Self::Expected(expected) => Ok(expected),
            Self::Kept(masked, host) => {
                if let Some(expected) = host.get() {
                    return Ok(expected);
                }
                let bytes = masked.open(device, &loaded.stream, |buffer| {
                    loaded.synchronize()?;
                    let mut bytes = vec![0; usize::try_from(buffer.bytes()).unwrap_or(0)];
                    device.read(buffer, 0, &mut bytes)?;
                    Ok(bytes)
                })?;
                Ok(host.get_or_init(|| Expected::Bytes(bytes)))
            }
        }
    }
}

impl Answers {
    /// Gets them; a reference kernel runs for that.
    pub(super) fn new(
        device: &dyn Device,
        task: &Task,
        settings: &Settings,
    ) -> Result<Self, Failure> {
        let (job, source) = match &task.right {
            Right::Unknown => return Ok(Self::Unknown),
            Right::Known(generations) => return Ok(Self::Known(generations.clone())),
            Right::Kernel(reference) => &**reference,
        };
        let run = || -> Result<Vec<Vec<Kept>>, Failure> {
            let loadable = load(device, source, job)?;
            let job = lowered(job, &loadable);
            let timeout = Nanos::new(settings.timeout_ns);
            let mut loaded = Loaded::new(device, &loadable.module, &job, &[], timeout)?;
            let count = generations(&task.job, settings);
            let is_on_device = has_room(device, &job, count);
            let mut all = Vec::new();
            for generation in 0..count {
                if generation > 0 {
                    loaded.fill(&job, generation)?;
                }
                loaded.launch(0, loaded.count())?;
                loaded.synchronize()?;
                all.push(kept(
                    &loaded,
                    &job,
                    is_on_device,
                    key(settings, generation),
                )?);
            }
            // Memory that is freed may be part of what a later kernel can reach: no right answer stays in it.
            loaded.wipe(&job)?;
            Ok(all)
        };
        run().map(Self::Kept).map_err(|failure| Failure {
            message: format!("the reference `{}` failed: {}", job.kernel, failure.message),
            ..failure
        })
    }

    /// What a simulated device has to be told, since it does not compute.
    pub(super) fn declared(&self) -> &[Expected] {
        match self {
            Self::Known(generations) => generations.first().map_or(&[], Vec::as_slice),
            Self::Unknown | Self::Kept(_) => &[],
        }
    }

    /// For how many generations of inputs they are known.
    pub(super) fn generations(&self) -> usize {
        match self {
            Self::Unknown => 0,
            Self::Known(all) => all.len(),
            Self::Kept(all) => all.len(),
        }
    }

    /// Whether they come from outside the device.
    pub(super) const fn is_known(&self) -> bool {
        matches!(self, Self::Known(_))
    }

    fn of(&self, generation: u32, output: usize) -> Answer<'_> {
        let place = |count: usize| generation as usize % count.max(1);
        let found = match self {
            Self::Unknown => None,
            Self::Known(all) => all
                .get(place(all.len()))
                .and_then(|known| known.get(output))
                .map(Answer::Expected),
            Self::Kept(all) => all
                .get(place(all.len()))
                .and_then(|kept| kept.get(output))
                .map(Answer::of),
        };
        found.unwrap_or(Answer::Expected(&Expected::Unknown))
    }

    /// Compares the outputs that are in memory.
    pub(super) fn compare(
        &self,
        loaded: &Loaded<'_>,
        job: &Job,
        rule: &Rule,
        generation: u32,
    ) -> Result<Vec<Outcome>, DeviceError> {
        job.outputs()
            .enumerate()
            .map(|(output, (place, buffer))| {
                let answer = self.of(generation, output);
                // A simulated device would have to make up hundreds of megabytes; the head of its outputs says as much.
                if !loaded.device.properties().is_simulated()
                    && let Some(outcome) = glance(loaded, place, buffer, answer, rule)?
                {
                    return Ok(outcome);
                }
                let found = loaded.read(place)?;
                let expected = answer.on_host(loaded)?;
                let was_poisoned = buffer.elements.is_poison();
                Ok(check::compare(
                    &buffer.name,
                    &buffer.elements,
                    &found,
                    expected,
                    rule,
                    was_poisoned,
                ))
            })
            .collect()
    }
}

/// Whether what a reference makes may stay on the device: it may take a third of what is free, so that there is as much again
/// for the copies that a state keeps of its own, and some to spare.
fn has_room(device: &dyn Device, job: &Job, generations: u32) -> bool {
    let bytes: u64 = job
        .outputs()
        .map(|(_, buffer)| buffer.elements.bytes())
        .sum::<u64>()
        .saturating_mul(u64::from(generations));
    !device.properties().is_simulated()
        && device
            .memory()
            .is_ok_and(|memory| bytes as f64 * 3.0 <= memory.free.get())
}

fn kept(
    loaded: &Loaded<'_>,
    job: &Job,
    is_on_device: bool,
    key: u64,
) -> Result<Vec<Kept>, DeviceError> {
    let mut all = Vec::new();
    for (place, buffer) in job.outputs() {
        let room = is_on_device
            .then(|| loaded.device.allocate(buffer.elements.bytes()))
            .and_then(Result::ok);
        all.push(match room {
            Some(copy) => {
                let from = loaded.buffer(place);
                loaded
                    .device
                    .copy(&loaded.stream, from, &copy, copy.bytes())?;
                loaded.device.mask(&loaded.stream, &copy, key)?;
                loaded.synchronize()?;
                Kept::Device(Masked { buffer: copy, key }, OnceCell::new())
            }
            None => Kept::Host(Expected::Bytes(loaded.read(place)?)),
        });
    }
    Ok(all)
}

/// How an output compares, when the device finds that all of it is right. Absent when something is wrong with it or not
/// sure, and where the device cannot look.
fn glance(
    loaded: &Loaded<'_>,
    place: usize,
    buffer: &JobBuffer,
    answer: Answer<'_>,
    rule: &Rule,
) -> Result<Option<Outcome>, DeviceError> {
    let found = looked_at(loaded, place, buffer, answer, rule);
    match found {
        // A job may take all memory; then there is no room to look.
        Err(DeviceError::OutOfMemory { .. }) => Ok(None),
        other => other,
    }
}

fn looked_at(
    loaded: &Loaded<'_>,
    place: usize,
    buffer: &JobBuffer,
    answer: Answer<'_>,
    rule: &Rule,
) -> Result<Option<Outcome>, DeviceError> {
    let (device, stream, memory) = (loaded.device, &loaded.stream, loaded.buffer(place));
    let elements = &buffer.elements;
    let (kind, size) = (elements.kind, elements.kind.size());
    let was_poisoned = elements.is_poison();
    let unwritten = u64::MAX >> (64 - 8 * size);
    if was_poisoned && device.count(stream, memory, size, unwritten)? > 0 {
        return Ok(None);
    }
    let compare = |elements: &Elements, found: &[u8], expected: &Expected| {
        check::compare(&buffer.name, elements, found, expected, rule, was_poisoned)
    };
    let outcome = match answer {
        _ if rule.what == Compared::Nothing => None,
        Answer::Kept(right, _) => {
            let is_equal = right.open(device, stream, |right| {
                device.is_equal(stream, memory, right, elements.bytes())
            })?;
            return Ok(is_equal.then(|| check::equal(&buffer.name, elements, rule)));
        }
        Answer::Expected(Expected::Unknown) => None,
        Answer::Expected(Expected::Bytes(_)) => return Ok(None),
        Answer::Expected(Expected::Some(some)) => {
            let indices: Vec<u64> = some.iter().map(|(index, _)| *index).collect();
            if indices.iter().any(|index| *index >= elements.length) {
                return Ok(None);
            }
            let found = device.gather(stream, memory, size, &indices)?;
            let gathered = Elements {
                length: indices.len() as u64,
                ..*elements
            };
            let right = (0..).zip(some.iter().map(|(_, right)| *right)).collect();
            Some(compare(&gathered, &found, &Expected::Some(right)))
        }
    };
    let outcome = match outcome {
        Some(outcome) => outcome,
        None => {
            if let Some(exponent) = kind.exponent()
                && device.count(stream, memory, size, exponent)? > 0
            {
                return Ok(None);
            }
            compare(elements, &[], &Expected::Unknown)
        }
    };
    Ok(Some(outcome).filter(|outcome| outcome.is_right))
}

#[cfg(test)]
mod tests {
    use ridge_gpu::{SimDevice, SimOptions};

    use super::super::Source;
    use super::*;
    use crate::expression::Names;
    use crate::spec::{CheckMode, Spec, Tolerance};

    const LENGTH: u64 = 1000;
    const SPEC: &str = r#"
        [buffers]
        in = { type = "f32", length = 1000, init = "random", seed = 1 }
        out = { type = "f32", length = 1000 }
        [kernels.copy]
        entry = "copy"
        grid = 4
        block = 256
        args = ["in", "out"]
    "#;

    /// A job whose output holds what a test says.
    struct Case {
        device: SimDevice,
        job: Job,
    }

    impl Case {
        fn new(kind: &str) -> Self {
            let names = Names::default();
            let spec = SPEC.replace(
                "out = { type = \"f32\"",
                &format!("out = {{ type = \"{kind}\""),
            );
            let spec = Spec::read(&spec).unwrap();
            let state = &spec.states(&names).unwrap()[0];
            Self {
                device: SimDevice::open(&SimOptions::named("h200").unwrap()).unwrap(),
                job: spec.job(state, &names).unwrap(),
            }
        }

        /// What the device finds and what the host finds.
        fn looks(&self, found: &[u8], answer: &Answers, rule: &Rule) -> (Option<Outcome>, Outcome) {
            let source = Source {
                name: "copy.cu".to_owned(),
                content: b"extern \"C\" __global__ void copy(const float* in, float* out) { }"
                    .to_vec(),
                options: Vec::new(),
                include_paths: Vec::new(),
            };
            let loadable = load(&self.device, &source, &self.job).unwrap();
            let module = &loadable.module;
            let timeout = Nanos::new(1e9);
            let loaded = Loaded::new(&self.device, module, &self.job, &[], timeout).unwrap();
            let (place, buffer) = self.job.outputs().next().unwrap();
            self.device.write(loaded.buffer(place), 0, found).unwrap();
            let seen = glance(&loaded, place, buffer, answer.of(0, 0), rule).unwrap();
            let mut whole = answer.compare(&loaded, &self.job, rule, 0).unwrap();
            (seen, whole.remove(0))
        }

        fn kept(&self, right: &[u8]) -> Answers {
            let copy = self.device.allocate(right.len() as u64).unwrap();
            self.device.write(&copy, 0, right).unwrap();
            let stream = self.device.stream().unwrap();
            self.device.mask(&stream, &copy, 7).unwrap();
            let masked = Masked {
                buffer: copy,
                key: 7,
            };
            Answers::Kept(vec![vec![Kept::Device(masked, OnceCell::new())]])
        }
    }

    fn rule(mode: CheckMode) -> Rule {
        Rule::new(mode, Tolerance::default())
    }

    fn floats(value: impl Fn(u64) -> f32) -> Vec<u8> {
        (0..LENGTH)
            .flat_map(|index| value(index).to_le_bytes())
            .collect()
    }

    fn some() -> Answers {
        let right = [0, 7, 999].map(|index| (index, index as f64));
        Answers::Known(vec![vec![Expected::Some(right.to_vec())]])
    }

    #[test]
    fn what_the_device_finds_right_is_what_the_host_says() {
        let (case, right) = (Case::new("f32"), floats(|index| index as f32));
        for mode in [CheckMode::Elements, CheckMode::Sum, CheckMode::None] {
            for answers in [Answers::Unknown, some(), case.kept(&right)] {
                let (seen, whole) = case.looks(&right, &answers, &rule(mode));
                assert_eq!(seen, Some(whole), "{mode:?}");
            }
        }
    }

    #[test]
    fn what_is_wrong_is_left_to_the_host() {
        let case = Case::new("f32");
        let right = floats(|index| index as f32);
        let wrong = floats(|index| if index == 7 { 8.0 } else { index as f32 });
        let unwritten = floats(|index| {
            if index == 500 {
                f32::from_bits(u32::MAX)
            } else {
                index as f32
            }
        });
        let infinite = floats(|index| {
            if index == 7 {
                f32::INFINITY
            } else {
                index as f32
            }
        });
        for found in [&wrong, &unwritten, &infinite] {
            for answers in [some(), case.kept(&right)] {
                let (seen, whole) = case.looks(found, &answers, &rule(CheckMode::Elements));
                assert_eq!(seen, None, "{whole:?}");
            }
        }
        // What is compared with nothing has to be written and finite.
        for found in [&unwritten, &infinite] {
            let (seen, whole) = case.looks(found, &Answers::Unknown, &rule(CheckMode::Elements));
            assert_eq!((seen, whole.is_right), (None, false));
        }
        let (seen, whole) = case.looks(&wrong, &case.kept(&right), &rule(CheckMode::Elements));
        assert_eq!((seen, whole.wrong), (None, 1));
        assert_eq!(whole.first.unwrap().index, 7);
    }

    #[test]
    fn rounding_and_integers_like_the_pattern_are_for_the_host_to_judge() {
        let case = Case::new("f32");
        let (right, near) = (
            floats(|index| index as f32),
            floats(|index| index as f32 * 1.000_001),
        );
        let (seen, whole) = case.looks(&near, &case.kept(&right), &rule(CheckMode::Elements));
        assert_eq!((seen, whole.is_right), (None, true));
        let case = Case::new("i32");
        let minus: Vec<u8> = (0..LENGTH)
            .flat_map(|index| (index as i32 - 3).to_le_bytes())
            .collect();
        let (seen, whole) = case.looks(&minus, &Answers::Unknown, &rule(CheckMode::Elements));
        assert_eq!((seen, whole.is_right), (None, true));
    }

    /// Else a kernel could find it and copy it.
    #[test]
    fn what_is_right_lies_on_the_device_in_no_clear_form() {
        let (case, right) = (Case::new("f32"), floats(|index| index as f32));
        let Answers::Kept(all) = case.kept(&right) else {
            panic!("kept");
        };
        let Kept::Device(masked, _) = &all[0][0] else {
            panic!("on the device");
        };
        let mut found = vec![0; right.len()];
        case.device.read(&masked.buffer, 0, &mut found).unwrap();
        let words = found.chunks_exact(4).zip(right.chunks_exact(4));
        assert_eq!(words.filter(|(a, b)| a == b).count(), 0);
        // Looking at it leaves it masked.
        let answers = Answers::Kept(all);
        assert!(
            case.looks(&right, &answers, &rule(CheckMode::Elements))
                .0
                .is_some()
        );
        let Answers::Kept(all) = &answers else {
            panic!("kept");
        };
        let Kept::Device(masked, _) = &all[0][0] else {
            panic!("on the device");
        };
        let mut again = vec![0; right.len()];
        case.device.read(&masked.buffer, 0, &mut again).unwrap();
        assert_eq!(found, again);
    }
}
