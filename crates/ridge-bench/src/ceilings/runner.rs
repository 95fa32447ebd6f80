//! Repeats of some work: which variant is the best, a burst of it, and the same kept going.

use ridge_gpu::{ClockProbe, Device, DeviceError, Event, Stream, WindowEnd};
use ridge_model::quantity::Nanos;
use ridge_stats::Samples;

use super::document::{Settings, Spread, State};

/// Queues one unit of work.
pub(super) type Queue<'q> = Box<dyn Fn(&Stream) -> Result<(), DeviceError> + 'q>;

/// One way to do the work.
pub(super) struct Variant<'q> {
    /// What it is called.
    pub(super) name: String,
    /// What one unit does, in the unit of the figure but not yet for a second: bytes or operations.
    pub(super) amount: f64,
    /// Queues it.
    pub(super) queue: Queue<'q>,
}

/// What came of a work.
pub(super) struct Outcome {
    pub(super) variant: usize,
    pub(super) burst: Spread,
    pub(super) sustained: Option<Spread>,
}

/// How the repeats of some work are made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// One after the other, after a pause.
    Burst,
    /// The same, and then kept going without pause.
    BurstThenSustained,
    /// Work that reaches the limit of the power: with a rest between repeats, so that each is a burst of its own; then
    /// kept going without pause.
    RestedThenSustained,
    /// Copies from and to the host, whose first moments can be slower and which others of the host disturb for tenths of
    /// a second at a time: after a warm-up, without pause, and as many more repeats as it takes to see them for a while.
    Watched,
}

impl Manner {
    pub(super) const fn sustained(is_sustained: bool) -> Self {
        if is_sustained {
            Self::BurstThenSustained
        } else {
            Self::Burst
        }
    }

    const fn is_sustained(self) -> bool {
        matches!(self, Self::BurstThenSustained | Self::RestedThenSustained)
    }
}

/// What repeats are made with.
pub(super) struct Runner<'d> {
    pub(super) device: &'d dyn Device,
    pub(super) settings: &'d Settings,
    pub(super) stream: Stream,
    start: Event,
    stop: Event,
    probe: ClockProbe,
}

/// One repeat.
struct Repeat {
    time_ns: f64,
    clock_hz: Option<f64>,
}

/// What fits into the queue behind a blocked stream, with room for events and stamps.
const QUEUE: f64 = 16.0;
/// Repeats of a variant that is tried.
const TRIALS: u32 = 5;
/// The pause before a burst, so that it starts from a cool and idle device.
const PAUSE: Nanos = Nanos::new(50e6);
/// The same where work reaches the limit of the power, whose control looks back over some tens of milliseconds.
const LONG_PAUSE: Nanos = Nanos::new(200e6);
/// Such work rests between repeats for so many times their length, at most so long.
const REST: f64 = 8.0;
const LONGEST_REST: f64 = 60e6;
/// A link is kept busy for so long before it is timed, with so many copies at most.
const WARM_UP_NS: f64 = 300e6;
const WARM_UP_COPIES: u32 = 64;
/// What others disturb is watched for this part of the time of a sustained figure, and for so long at least.
const WATCHED: f64 = 0.75;
const WATCHED_LEAST_NS: f64 = 500e6;
/// How much work is queued at a time while it is kept going.
const CHUNK_NS: f64 = 20e6;

impl<'d> Runner<'d> {
    pub(super) fn new(device: &'d dyn Device, settings: &'d Settings) -> Result<Self, DeviceError> {
        let runner = Self {
            device,
            settings,
            stream: device.stream()?,
            start: device.event()?,
            stop: device.event()?,
            probe: device.clock_probe()?,
        };
        // An L2 with persisting lines gives memory a bandwidth that it has not.
        device.reset_persisting_l2()?;
        Ok(runner)
    }

    pub(super) fn timeout(&self) -> Nanos {
        Nanos::new(self.settings.timeout_ns)
    }

    pub(super) fn synchronize(&self) -> Result<(), DeviceError> {
        self.device.synchronize(&self.stream, self.timeout())
    }

    /// The time of what is queued, with the stream held back until all of it is.
    pub(super) fn timed(
        &self,
        queue: &dyn Fn(&Stream) -> Result<(), DeviceError>,
    ) -> Result<f64, DeviceError> {
        Ok(self.repeat(1, queue)?.time_ns)
    }

    fn repeat(
        &self,
        units: u32,
        queue: &dyn Fn(&Stream) -> Result<(), DeviceError>,
    ) -> Result<Repeat, DeviceError> {
        let device = self.device;
        let block = device.block(&self.stream, self.timeout())?;
        device.stamp(&self.stream, &self.probe, WindowEnd::Start)?;
        device.record(&self.stream, &self.start)?;
        for _ in 0..units {
            queue(&self.stream)?;
        }
        device.record(&self.stream, &self.stop)?;
        device.stamp(&self.stream, &self.probe, WindowEnd::Stop)?;
        block.release();
        self.synchronize()?;
        Ok(Repeat {
            time_ns: device.elapsed(&self.start, &self.stop)?.get(),
            clock_hz: device
                .clock(&self.probe)?
                .map(|reading| reading.clock.get()),
        })
    }

    /// Takes the best of several variants: a burst, and where it is asked for the same kept going.
    pub(super) fn best(
        &self,
        variants: &[Variant<'_>],
        manner: Manner,
    ) -> Result<Option<Outcome>, DeviceError> {
        let mut best: Option<(usize, f64, u32)> = None;
        for (place, variant) in variants.iter().enumerate() {
            // The first launch of a kernel loads it, which must not be waited for in a blocked stream.
            (variant.queue)(&self.stream)?;
            self.synchronize()?;
            let once = self.repeat(1, &variant.queue)?.time_ns.max(1.0);
            let units = (self.settings.repeat_ns / once).ceil().clamp(1.0, QUEUE) as u32;
            match manner {
                Manner::Watched => self.warm_up(variant)?,
                Manner::RestedThenSustained => self.device.pause(PAUSE),
                Manner::Burst | Manner::BurstThenSustained => {}
            }
            let mut times = Vec::new();
            for _ in 0..TRIALS {
                times.push(self.repeat(units, &variant.queue)?.time_ns);
            }
            let rate = variant.amount * f64::from(units) / median(times);
            if best.is_none_or(|(_, most, _)| rate > most) {
                best = Some((place, rate, units));
            }
        }
        let Some((place, _, units)) = best else {
            return Ok(None);
        };
        let variant = &variants[place];
        match manner {
            Manner::Watched => {}
            Manner::RestedThenSustained => self.device.pause(LONG_PAUSE),
            Manner::Burst | Manner::BurstThenSustained => self.device.pause(PAUSE),
        }
        let mut times = Vec::new();
        let mut clocks = Vec::new();
        let until = self.device.now().get() + self.watched_ns(manner);
        while times.len() < self.settings.repeats as usize || self.device.now().get() < until {
            let repeat = self.repeat(units, &variant.queue)?;
            if manner == Manner::RestedThenSustained {
                let rest = (repeat.time_ns * REST).min(LONGEST_REST);
                self.device.pause(Nanos::new(rest));
            }
            times.push(repeat.time_ns);
            clocks.extend(repeat.clock_hz);
        }
        let state = self.state(variant, units * 2)?;
        let amount = variant.amount * f64::from(units);
        let burst = spread_of_rates(times, amount, clocks, state);
        let sustained = if manner.is_sustained() && self.settings.sustained_ns > 0.0 {
            let once = variant.amount / burst.median * 1e9;
            Some(self.keep_going(variant, once)?)
        } else {
            None
        };
        Ok(Some(Outcome {
            variant: place,
            burst,
            sustained,
        }))
    }

    /// For how long repeats go on at least. Nothing disturbs a model.
    fn watched_ns(&self, manner: Manner) -> f64 {
        if manner == Manner::Watched && !self.device.properties().is_simulated() {
            (self.settings.sustained_ns * WATCHED).max(WATCHED_LEAST_NS)
        } else {
            0.0
        }
    }

    /// Does some work until its first, slower moments are over.
    fn warm_up(&self, variant: &Variant<'_>) -> Result<(), DeviceError> {
        let began = self.device.now().get();
        for _ in 0..WARM_UP_COPIES {
            (variant.queue)(&self.stream)?;
            self.synchronize()?;
            if self.device.now().get() - began >= WARM_UP_NS {
                break;
            }
        }
        Ok(())
    }

    /// What the sensors say while work is going on.
    fn state(&self, variant: &Variant<'_>, units: u32) -> Result<State, DeviceError> {
        for _ in 0..units {
            (variant.queue)(&self.stream)?;
        }
        let state = state_of(self.device);
        self.synchronize()?;
        Ok(state)
    }

    /// Keeps work going: what the last third of the time gave.
    fn keep_going(&self, variant: &Variant<'_>, once_ns: f64) -> Result<Spread, DeviceError> {
        let device = self.device;
        let units = (CHUNK_NS / once_ns.max(1.0)).ceil().clamp(1.0, 4096.0) as u32;
        let began = device.now().get();
        let (mut times, mut clocks) = (Vec::new(), Vec::new());
        let mut state;
        loop {
            device.stamp(&self.stream, &self.probe, WindowEnd::Start)?;
            device.record(&self.stream, &self.start)?;
            for _ in 0..units {
                (variant.queue)(&self.stream)?;
            }
            device.record(&self.stream, &self.stop)?;
            device.stamp(&self.stream, &self.probe, WindowEnd::Stop)?;
            state = state_of(device);
            self.synchronize()?;
            times.push(device.elapsed(&self.start, &self.stop)?.get());
            clocks.push(
                device
                    .clock(&self.probe)?
                    .map(|reading| reading.clock.get()),
            );
            if device.now().get() - began >= self.settings.sustained_ns {
                break;
            }
        }
        let late = times.len() * 2 / 3;
        let clocks = clocks.split_off(late).into_iter().flatten().collect();
        let amount = variant.amount * f64::from(units);
        Ok(spread_of_rates(
            times.split_off(late),
            amount,
            clocks,
            state,
        ))
    }
}

/// What the sensors say now.
pub(super) fn state_of(device: &dyn Device) -> State {
    let readings = device.sensors();
    let mut throttle: Vec<String> = Vec::new();
    for reason in ridge_gpu::ThrottleReason::ALL {
        let is_set = readings
            .throttle
            .is_some_and(|reasons| reasons.bits() & reason.bit() != 0);
        if is_set && reason.is_slowdown() {
            throttle.push(reason.name().to_owned());
        }
    }
    State {
        memory_clock_hz: readings.memory_clock.map(|clock| clock.get()),
        power_w: readings.power_watts,
        temperature_c: readings.temperature_celsius,
        throttle,
    }
}

/// The median of at least one number; zero of none.
pub(super) fn median(times: Vec<f64>) -> f64 {
    Samples::new(times).map_or(0.0, |samples| samples.median())
}

/// Rates a second from times in nanoseconds.
fn spread_of_rates(times: Vec<f64>, amount: f64, clocks: Vec<f64>, state: State) -> Spread {
    let spread = spread_of_times(times, clocks, state);
    let rate = |time: f64| if time > 0.0 { amount / time * 1e9 } else { 0.0 };
    Spread {
        median: rate(spread.median),
        best: rate(spread.best),
        p90: rate(spread.p90),
        repeat_ns: spread.median,
        ..spread
    }
}

/// Times in nanoseconds.
pub(super) fn spread_of_times(times: Vec<f64>, clocks: Vec<f64>, state: State) -> Spread {
    let repeats = times.len() as u32;
    let samples = Samples::new(times).ok();
    let at = |p| {
        samples
            .as_ref()
            .and_then(|samples| samples.quantile(p))
            .unwrap_or(0.0)
    };
    Spread {
        median: at(0.5),
        best: at(0.0),
        p90: at(0.9),
        repeats,
        repeat_ns: at(0.5),
        sm_clock_hz: (!clocks.is_empty()).then(|| median(clocks)),
        state,
    }
}
