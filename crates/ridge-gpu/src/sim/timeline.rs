//! Simulated time: what is queued in streams, when it runs, and what it leaves behind.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::rc::{Rc, Weak};

use ridge_model::quantity::Nanos;
use ridge_model::{NumberFormat, PeakUnit};

use super::cache::{Cache, Traffic};
use super::cheats::{Cheats, Done};
use super::contents::Contents;
use super::costs;
use super::options::{SimFaultKind, SimOptions};
use super::random::{Random, mix};
use crate::device::{Effect, Flush, FlushKind, Operations, WindowEnd};
use crate::error::{DeviceError, Fault, Result};

/// Whose memory it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// That of the device: the only one that is counted.
    Device,
    /// Pinned memory of the host.
    Host,
    /// That of another device.
    Peer,
}

/// Memory, of the device or another one, or pinned.
pub(super) struct Memory {
    pub(super) id: u64,
    pub(super) bytes: u64,
    pub(super) contents: RefCell<Contents>,
    /// The device that it belongs to.
    pub(super) owner: Weak<RefCell<State>>,
    pub(super) freed: Freed,
    pub(super) place: Place,
}

/// Numbers and sizes of memory that is no more. A list of its own, since memory may go while the state is in use.
pub(super) type Freed = Rc<RefCell<Vec<(u64, u64)>>>;

impl Drop for Memory {
    fn drop(&mut self) {
        let is_counted = self.place == Place::Device;
        let bytes = if is_counted { self.bytes } else { 0 };
        self.freed.borrow_mut().push((self.id, bytes));
    }
}

/// When a stream came to an event; absent while it has not.
pub(super) type Reached = Rc<Cell<Option<f64>>>;

/// A point in a stream. Each time that it is recorded is one of its own: who waits, waits for the last one until then.
#[derive(Default)]
pub(super) struct EventState {
    last: RefCell<Option<Reached>>,
}

impl EventState {
    /// The last time that it was recorded; absent where it was not at all.
    pub(super) fn last(&self) -> Option<Reached> {
        self.last.borrow().clone()
    }

    /// Records it.
    pub(super) fn record(&self) -> Reached {
        Rc::clone(self.last.borrow_mut().insert(Reached::default()))
    }
}

/// The stamps of a window: cycles and time.
#[derive(Default)]
pub(super) struct Stamps {
    pub(super) start: Cell<Option<(f64, f64)>>,
    pub(super) stop: Cell<Option<(f64, f64)>>,
}

/// Memory that a launch touches.
pub(super) struct Touched {
    pub(super) memory: Rc<Memory>,
    pub(super) offset: u64,
    pub(super) bytes: u64,
    pub(super) times: f64,
    pub(super) effect: Effect,
}

/// A launch.
pub(super) struct Kernel {
    pub(super) name: String,
    pub(super) touched: Vec<Touched>,
    pub(super) operations: Vec<Operations>,
    pub(super) problem: u64,
}

/// What can be in a stream.
#[derive(Clone)]
pub(super) enum Op {
    Kernel(Rc<Kernel>),
    Graph(Rc<Vec<Rc<Kernel>>>),
    Fill(Rc<Memory>, u8),
    Copy {
        from: Rc<Memory>,
        to: Rc<Memory>,
        bytes: u64,
    },
    Record(Reached),
    Wait(Reached),
    Stamp(Rc<Stamps>, WindowEnd),
    Flush(Flush),
}

#[derive(Default)]
struct Queue {
    /// Until when what was started runs.
    ready: f64,
    /// What is held back, with the time at which the host queued it.
    held: VecDeque<(f64, Op)>,
}

struct Blocked {
    number: u64,
    stream: u64,
    since: f64,
    expires: f64,
}

/// The state of a simulated device.
pub(super) struct State {
    pub(super) options: SimOptions,
    /// Bytes a nanosecond.
    dram: f64,
    l2: f64,
    link: f64,
    l2_bytes: u64,
    boost: f64,
    /// The clock of the host.
    pub(super) now: f64,
    random: Random,
    process: f64,
    /// When the device last had work, and how long it has worked.
    last_work: f64,
    worked: f64,
    cycles: f64,
    cycles_at: f64,
    pub(super) cache: Cache,
    pub(super) memory_used: u64,
    pub(super) freed: Freed,
    next_id: u64,
    /// The names of calls, where somebody wants them.
    pub(super) recorded: Option<Vec<&'static str>>,
    streams: BTreeMap<u64, Queue>,
    blocked: Option<Blocked>,
    expired: Option<Nanos>,
    fault: Option<(f64, Fault)>,
    pub(super) death: Option<DeviceError>,
    launches: HashMap<String, u64>,
    /// Until when kernels work in streams of their own.
    elsewhere: f64,
    cheats: Cheats,
    /// Memory of the device, for kernels that look around in it.
    pub(super) memories: Vec<Weak<Memory>>,
}

impl State {
    /// `None` where the table does not know enough of the device.
    pub(super) fn new(options: &SimOptions) -> Option<Self> {
        let device = &options.device;
        let dram = device.bandwidth?.value.get() / 1e9;
        let l2 = device
            .l2_bandwidth
            .map_or(dram * costs::L2_OVER_DRAM, |fact| fact.value.get() / 1e9);
        let link = device
            .host_link
            .map_or(costs::LINK, |fact| fact.value.get() / 1e9);
        let l2_bytes = device.l2?.value.get() as u64;
        let boost = device.boost_clock?.value.get();
        device.multiprocessors?;
        device.memory?;
        let mut random = Random::new(mix(&[options.seed, 1]));
        let process = (options.process_effect * random.normal()).exp();
        Some(Self {
            options: options.clone(),
            dram: dram * costs::DRAM_SHARE,
            l2,
            link: link * costs::LINK_SHARE,
            l2_bytes,
            boost,
            now: 0.0,
            random,
            process,
            last_work: f64::NEG_INFINITY,
            worked: 0.0,
            cycles: 0.0,
            cycles_at: 0.0,
            cache: Cache::new(l2_bytes),
            memory_used: 0,
            freed: Freed::default(),
            next_id: 0,
            recorded: None,
            streams: BTreeMap::new(),
            blocked: None,
            expired: None,
            fault: None,
            death: None,
            launches: HashMap::new(),
            elsewhere: 0.0,
            cheats: Cheats::default(),
            memories: Vec::new(),
        })
    }

    pub(super) fn id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    pub(super) fn open_stream(&mut self) -> u64 {
        let id = self.id();
        self.streams.insert(id, Queue::default());
        id
    }

    pub(super) fn close_stream(&mut self, stream: u64) {
        self.streams.remove(&stream);
    }

    /// What every call does first: it takes its time, and finds out what happened until then.
    pub(super) fn call(&mut self, call: &'static str, cost: f64) -> Result<()> {
        if let Some(cause) = &self.death {
            return Err(DeviceError::Dead {
                cause: Box::new(cause.root().clone()),
            });
        }
        self.now += cost;
        self.expire();
        let freed = self.freed.take();
        if !freed.is_empty() {
            // A driver waits for the device before it frees, and has to release a blocked stream for that.
            self.release_at(self.now);
        }
        for (id, bytes) in freed {
            self.memory_used -= bytes;
            self.cache.forget(id);
        }
        self.surface(call)
    }

    /// Tells a fault that the device has come to by now.
    fn surface(&mut self, call: &'static str) -> Result<()> {
        match self.fault {
            Some((at, fault)) if at <= self.now => {
                let error = DeviceError::Fault { fault, call };
                self.death = Some(error.clone());
                Err(error)
            }
            _ => Ok(()),
        }
    }

    /// Releases a stream that was blocked for too long.
    fn expire(&mut self) {
        if let Some(blocked) = &self.blocked
            && blocked.expires <= self.now
        {
            let (at, since) = (blocked.expires, blocked.since);
            self.expired = Some(Nanos::new(at - since));
            self.release_at(at);
        }
    }

    /// Holds a stream back; the number of the block.
    pub(super) fn block(&mut self, stream: u64, expires: Nanos) -> Result<u64> {
        if self.blocked.is_some() {
            return crate::device::invalid("a stream is blocked already".to_owned());
        }
        let since = self
            .streams
            .get(&stream)
            .map_or(self.now, |queue| queue.ready.max(self.now));
        let number = self.id();
        self.blocked = Some(Blocked {
            number,
            stream,
            since,
            expires: since + expires.get(),
        });
        Ok(number)
    }

    /// Releases the stream that a block holds back, if that one still holds.
    pub(super) fn release(&mut self, number: u64) {
        if let Some(calls) = self.recorded.as_mut() {
            calls.push("release");
        }
        self.expire();
        if self
            .blocked
            .as_ref()
            .is_some_and(|blocked| blocked.number == number)
        {
            self.release_at(self.now);
        }
    }

    fn release_at(&mut self, time: f64) {
        let Some(blocked) = self.blocked.take() else {
            return;
        };
        if let Some(queue) = self.streams.get_mut(&blocked.stream) {
            queue.ready = queue.ready.max(time + costs::RELEASE_LATENCY);
        }
        self.advance();
    }

    /// Queues something.
    pub(super) fn queue(&mut self, stream: u64, op: Op) {
        let now = self.now;
        if let Op::Kernel(kernel) = &op
            && self.fault_of(&kernel.name) == Some(SimFaultKind::Waits)
        {
            // The call returns only when everything before it is done.
            let _ = self.drain(stream, Nanos::new(f64::INFINITY));
        }
        if let Some(queue) = self.streams.get_mut(&stream) {
            queue.held.push_back((now, op));
        }
        self.advance();
    }

    /// Starts everything that nothing holds back.
    fn advance(&mut self) {
        loop {
            let mut has_moved = false;
            let streams: Vec<u64> = self.streams.keys().copied().collect();
            for stream in streams {
                while let Some((issued, op)) = self.startable(stream) {
                    self.execute(stream, issued, &op);
                    has_moved = true;
                }
            }
            if !has_moved {
                return;
            }
        }
    }

    /// The next of a stream, where it may start.
    fn startable(&mut self, stream: u64) -> Option<(f64, Op)> {
        if self
            .blocked
            .as_ref()
            .is_some_and(|blocked| blocked.stream == stream)
        {
            return None;
        }
        let queue = self.streams.get_mut(&stream)?;
        if let Some((_, Op::Wait(reached))) = queue.held.front()
            && reached.get().is_none()
        {
            return None;
        }
        queue.held.pop_front()
    }

    /// Waits until a stream is done, but not longer than `timeout`.
    pub(super) fn drain(&mut self, stream: u64, timeout: Nanos) -> Result<()> {
        let deadline = self.now + timeout.get();
        loop {
            let Some(queue) = self.streams.get(&stream) else {
                return Ok(());
            };
            let until = if queue.held.is_empty() {
                let is_blocked = self
                    .blocked
                    .as_ref()
                    .is_some_and(|blocked| blocked.stream == stream);
                if is_blocked {
                    f64::INFINITY
                } else {
                    queue.ready
                }
            } else {
                f64::INFINITY
            };
            let release = self
                .blocked
                .as_ref()
                .map_or(f64::INFINITY, |blocked| blocked.expires);
            let next = until.min(release);
            let fault = self.fault.map_or(f64::INFINITY, |(at, _)| at);
            if fault <= next && fault <= deadline {
                self.now = self.now.max(fault) + costs::WAKE;
                return self.surface("synchronize");
            }
            if next > deadline || next.is_infinite() {
                if deadline.is_finite() {
                    self.now = self.now.max(deadline);
                }
                let error = DeviceError::Timeout { after: timeout };
                self.death = Some(error.clone());
                return Err(error);
            }
            if until <= release {
                self.now = self.now.max(until) + costs::WAKE;
                return Ok(());
            }
            self.now = self.now.max(release);
            self.expire();
        }
    }

    /// Waits until all streams are done, those that a kernel works in beside its own too.
    pub(super) fn drain_all(&mut self) -> Result<()> {
        let streams: Vec<u64> = self.streams.keys().copied().collect();
        for stream in streams {
            self.drain(stream, Nanos::new(f64::INFINITY))?;
        }
        if self.elsewhere > self.now {
            self.now = self.elsewhere + costs::WAKE;
        }
        Ok(())
    }

    /// That a stream had to release itself, told once.
    pub(super) fn take_expired(&mut self) -> Option<Nanos> {
        self.expired.take()
    }

    pub(super) fn is_done(&self, stream: u64) -> bool {
        let is_blocked = self
            .blocked
            .as_ref()
            .is_some_and(|blocked| blocked.stream == stream);
        self.streams
            .get(&stream)
            .is_none_or(|queue| !is_blocked && queue.held.is_empty() && queue.ready <= self.now)
    }

    /// What is wrong with the next launch of a kernel.
    fn fault_of(&self, kernel: &str) -> Option<SimFaultKind> {
        let launch = self.launches.get(kernel).copied().unwrap_or(0);
        self.options.fault(kernel, launch)
    }

    /// The share of the highest clock at a time.
    fn clock_share(&self, time: f64) -> f64 {
        let throttled = self
            .options
            .throttle
            .filter(|throttle| time >= throttle.after.get())
            .map_or(1.0, |throttle| throttle.factor);
        let warm_up = self.options.warm_up.get();
        let warm = if warm_up > 0.0 {
            (0.6 + 0.4 * self.worked / warm_up).min(1.0)
        } else {
            1.0
        };
        throttled.min(warm)
    }

    fn execute(&mut self, stream: u64, issued: f64, op: &Op) {
        let ready = self.streams.get(&stream).map_or(0.0, |queue| queue.ready);
        let end = match op {
            Op::Record(reached) => {
                // The device comes to an event sooner than to a kernel.
                let at = ready.max(issued + costs::RELEASE_LATENCY) + costs::EVENT;
                reached.set(Some(at));
                at
            }
            Op::Wait(reached) => ready.max(reached.get().unwrap_or(0.0)),
            Op::Kernel(kernel) => {
                let start = (ready + costs::GAP).max(issued + costs::LAUNCH_LATENCY);
                let (time, is_here) = self.run(kernel, start);
                self.work(start, time);
                if is_here {
                    start + time
                } else {
                    self.elsewhere = self.elsewhere.max(start + time);
                    start + costs::EMPTY_KERNEL
                }
            }
            Op::Graph(kernels) => {
                let mut at = ready.max(issued + costs::LAUNCH_LATENCY) + costs::GRAPH_START;
                for kernel in kernels.iter() {
                    at += costs::NODE_GAP;
                    let (time, _) = self.run(kernel, at);
                    self.work(at, time);
                    at += time;
                }
                at
            }
            Op::Stamp(stamps, end) => {
                let start = (ready + costs::GAP).max(issued + costs::LAUNCH_LATENCY);
                self.work(start, costs::EMPTY_KERNEL);
                if !self.options.probe_fails {
                    let timer = (start / costs::TIMER_STEP).floor() * costs::TIMER_STEP;
                    let stamp = Some((self.cycles_until(start), timer));
                    match end {
                        WindowEnd::Start => {
                            stamps.stop.set(None);
                            stamps.start.set(stamp);
                        }
                        WindowEnd::Stop => stamps.stop.set(stamp),
                    }
                }
                start + costs::EMPTY_KERNEL
            }
            Op::Fill(memory, byte) => {
                let start = (ready + costs::GAP).max(issued + costs::LAUNCH_LATENCY);
                memory.contents.borrow_mut().fill(0, memory.bytes, *byte);
                let traffic = self.cache.touch(memory.id, 0, memory.bytes, false, true);
                let time = self.moved(traffic, memory.bytes as f64, start);
                self.work(start, time);
                start + time
            }
            Op::Flush(flush) => {
                let start = (ready + costs::GAP).max(issued + costs::LAUNCH_LATENCY);
                let bytes = self.l2_bytes * u64::from(flush.times_l2);
                let writes = flush.kind == FlushKind::Write;
                // No buffer has the number 0.
                let traffic = self.cache.touch(0, 0, bytes, !writes, writes);
                let time = self.moved(traffic, bytes as f64, start);
                self.work(start, time);
                start + time
            }
            Op::Copy { from, to, bytes } => {
                let start = (ready + costs::COPY_START).max(issued + costs::LAUNCH_LATENCY);
                if !Rc::ptr_eq(from, to) {
                    let source = from.contents.borrow();
                    to.contents.borrow_mut().copy_from(&source, *bytes);
                }
                let between = [from.place, to.place];
                let time = if between.contains(&Place::Host) {
                    *bytes as f64 / self.link
                } else if between.contains(&Place::Peer) {
                    *bytes as f64 / self.peer_link()
                } else {
                    let read = self.cache.touch(from.id, 0, *bytes, true, false);
                    let written = self.cache.touch(to.id, 0, *bytes, false, true);
                    let both = Traffic {
                        read: read.read,
                        written_back: read.written_back + written.written_back,
                    };
                    self.moved(both, 2.0 * *bytes as f64, start)
                };
                start + time * self.noise()
            }
        };
        if let Some(queue) = self.streams.get_mut(&stream) {
            queue.ready = end;
        }
    }

    /// What the link to another device of the same kind carries, in bytes a nanosecond: NVLink where the table has it.
    fn peer_link(&self) -> f64 {
        let nvlink = self.options.device.nvlink;
        nvlink.map_or(self.link, |fact| fact.value.get() / 1e9 * costs::LINK_SHARE)
    }

    /// The device has worked.
    fn work(&mut self, start: f64, time: f64) {
        if time.is_finite() {
            self.worked += time;
            self.last_work = self.last_work.max(start + time);
        }
    }

    /// The cycles that an SM has counted until a time.
    fn cycles_until(&mut self, time: f64) -> f64 {
        let from = self.cycles_at;
        if time > from {
            let fall = self.options.throttle.map(|throttle| throttle.after.get());
            let parts = match fall {
                Some(fall) if fall > from && fall < time => vec![(from, fall), (fall, time)],
                _ => vec![(from, time)],
            };
            for (start, end) in parts {
                self.cycles += (end - start) * self.boost / 1e9 * self.clock_share(start);
            }
            self.cycles_at = time;
        }
        self.cycles
    }

    fn noise(&mut self) -> f64 {
        let noise = self.options.noise;
        // Nothing gets much faster by chance.
        self.process * (1.0 + noise * self.random.normal().max(-2.0))
    }

    /// The time of work that only moves bytes.
    fn moved(&self, traffic: Traffic, l2_bytes: f64, start: f64) -> f64 {
        let dram = (traffic.read + traffic.written_back) as f64 / self.dram;
        let l2 = l2_bytes / (self.l2 * self.clock_share(start));
        costs::EMPTY_KERNEL + dram.max(l2)
    }

    /// Runs a kernel: its time, and whether it is in the stream that it was launched in.
    fn run(&mut self, kernel: &Kernel, start: f64) -> (f64, bool) {
        let fault = self.fault_of(&kernel.name);
        *self.launches.entry(kernel.name.clone()).or_insert(0) += 1;
        match fault {
            Some(SimFaultKind::NoWork) => return (costs::EMPTY_KERNEL, true),
            Some(SimFaultKind::Hang) => return (f64::INFINITY, true),
            Some(SimFaultKind::Ends(fault)) => {
                let at = start + costs::EMPTY_KERNEL;
                self.fault.get_or_insert((at, fault));
                return (costs::EMPTY_KERNEL, true);
            }
            _ => {}
        }
        let done = match fault {
            Some(SimFaultKind::Cheats(cheat)) => {
                self.memories.retain(|memory| memory.strong_count() > 0);
                self.cheats.done(cheat, kernel, start, &self.memories)
            }
            Some(SimFaultKind::WrongOutput) => Done::Wrong,
            _ => Done::Right,
        };
        if done == Done::Nothing {
            return (costs::EMPTY_KERNEL, true);
        }
        let mut time = self.time(kernel, start);
        if fault == Some(SimFaultKind::Debug) {
            time *= costs::DEBUG_FACTOR;
        }
        self.leave(kernel, done);
        if let Some(SimFaultKind::Cheats(cheat)) = fault {
            self.cheats.ended(cheat, kernel, start + time);
        }
        (time, fault != Some(SimFaultKind::OtherStream))
    }

    fn time(&mut self, kernel: &Kernel, start: f64) -> f64 {
        let share = self.clock_share(start);
        let mut traffic = Traffic::default();
        let mut l2_bytes = 0.0;
        for touched in &kernel.touched {
            let part = self.cache.touch(
                touched.memory.id,
                touched.offset,
                touched.bytes,
                touched.effect.reads(),
                touched.effect.writes(),
            );
            traffic.read += part.read;
            traffic.written_back += part.written_back;
            l2_bytes += touched.bytes as f64 * touched.times;
        }
        let moved = self.moved(traffic, l2_bytes, start) - costs::EMPTY_KERNEL;
        let mut units: HashMap<PeakUnit, f64> = HashMap::new();
        for operations in &kernel.operations {
            let rate = self.rate(operations.format, operations.unit) * share;
            *units.entry(operations.unit).or_insert(0.0) += operations.count / rate;
        }
        let computed = units.into_values().fold(0.0, f64::max);
        let drift = 1.0 + self.options.drift * start / 1e9;
        let slow = match self.options.bimodal {
            Some(bimodal) if self.random.uniform() < bimodal.share => bimodal.factor,
            _ => 1.0,
        };
        (costs::EMPTY_KERNEL + moved.max(computed)) * self.noise() * drift.max(0.01) * slow
    }

    /// Operations a nanosecond. What the table does not know runs at the rate of FP32.
    fn rate(&self, format: NumberFormat, unit: PeakUnit) -> f64 {
        use ridge_model::PeakRequest;
        let device = &self.options.device;
        let peak = device
            .peak(PeakRequest::of(format).on(unit))
            .or_else(|| device.peak(PeakRequest::of(NumberFormat::Fp32).on(PeakUnit::Vector)));
        peak.map_or(f64::INFINITY, |peak| {
            peak.rate.get() / 1e9 * costs::UNIT_SHARE
        })
    }

    /// What a kernel leaves in memory: values that follow from the problem and from all that it read.
    fn leave(&self, kernel: &Kernel, done: Done) {
        let is_wrong = done == Done::Wrong;
        let mut words = vec![kernel.problem];
        // Where it is known what is left, nothing follows from what was read.
        let follows = kernel
            .touched
            .iter()
            .any(|touched| matches!(touched.effect, Effect::Write(_) | Effect::Update(_)));
        for touched in kernel
            .touched
            .iter()
            .filter(|touched| follows && touched.effect.reads())
        {
            let contents = touched.memory.contents.borrow();
            words.push(contents.digest(touched.offset, touched.bytes));
        }
        let inputs = mix(&words);
        let written = kernel
            .touched
            .iter()
            .filter(|touched| touched.effect.writes());
        for (touched, place) in written.zip(0_u64..) {
            let written = done.share_of(touched.bytes);
            let seed = mix(&[inputs, place, u64::from(is_wrong)]);
            let mut contents = touched.memory.contents.borrow_mut();
            match &touched.effect {
                Effect::WriteBytes(bytes) if !is_wrong => {
                    contents.write(touched.offset, written, Rc::clone(bytes));
                }
                Effect::Write(format) | Effect::Update(format) => {
                    contents.write_numbers(touched.offset, written, seed, *format);
                }
                Effect::WriteBytes(bytes) => {
                    // One bit of the first byte is enough to be wrong.
                    let mut bytes = bytes.to_vec();
                    if let Some(last) = bytes.last_mut() {
                        *last ^= 0x40;
                    }
                    contents.write(touched.offset, written, Rc::from(bytes));
                }
                Effect::Read => {}
            }
        }
    }

    /// The SM clock now, in hertz, and whether the device is idle.
    pub(super) fn clock(&self) -> (f64, bool) {
        let is_idle = self.now - self.last_work > costs::CLOCK_HOLD;
        if is_idle {
            (costs::IDLE_CLOCK, true)
        } else {
            (self.boost * self.clock_share(self.now), false)
        }
    }

    pub(super) const fn worked(&self) -> f64 {
        self.worked
    }

    /// How long so many bytes of device memory take to read.
    pub(super) fn reading(&self, bytes: u64) -> f64 {
        bytes as f64 / self.dram
    }

    pub(super) const fn link(&self) -> f64 {
        self.link
    }
}
