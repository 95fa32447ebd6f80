//! What the host did, thread by thread.

use crate::timeline::{Call, CallClass, ThreadId, Timeline};

/// Calls of each thread, in order, to look up what a thread did in an interval.
pub(crate) struct Host<'t> {
    timeline: &'t Timeline,
    threads: Vec<Thread>,
    /// The class of each name that a call has.
    classes: Vec<CallClass>,
    /// Calls that copied from or to pageable memory, by place.
    is_pageable: Vec<bool>,
}

#[derive(Default)]
struct Thread {
    /// Places of the outermost calls: those that no other call of the thread contains.
    calls: Vec<u32>,
}

/// A call within an interval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Within<'t> {
    pub(crate) call: &'t Call,
    pub(crate) class: CallClass,
    pub(crate) is_pageable: bool,
    /// How much of the interval it takes.
    pub(crate) overlap_ns: i64,
}

impl Within<'_> {
    /// Whether the host could not go on before the GPU had done something.
    pub(crate) fn is_blocking(&self) -> bool {
        match self.class {
            CallClass::Synchronise | CallClass::Copy => true,
            CallClass::CopyAsync => self.is_pageable,
            _ => false,
        }
    }
}

impl<'t> Host<'t> {
    pub(crate) fn new(timeline: &'t Timeline) -> Self {
        let classes = timeline
            .names
            .iter()
            .map(|(_, name)| CallClass::of(name))
            .collect();
        let mut is_pageable = vec![false; timeline.calls.len()];
        for work in &timeline.work {
            let copies_pageable = work.copied().is_some_and(crate::Copied::is_pageable);
            if let Some(place) = work
                .call
                .filter(|_| copies_pageable)
                .map(crate::timeline::CallId::place)
                && let Some(flag) = is_pageable.get_mut(place)
            {
                *flag = true;
            }
        }
        let mut threads: Vec<Thread> = timeline.threads.iter().map(|_| Thread::default()).collect();
        let mut ends: Vec<i64> = vec![i64::MIN; threads.len()];
        for (place, call) in timeline.calls.iter().enumerate() {
            let thread = call.thread.place();
            let (Some(own), Some(end)) = (threads.get_mut(thread), ends.get_mut(thread)) else {
                continue;
            };
            // A call of the driver within one of the runtime is part of it.
            if call.end_ns > *end {
                *end = call.end_ns;
                own.calls.extend(u32::try_from(place).ok());
            }
        }
        Self {
            timeline,
            threads,
            classes,
            is_pageable,
        }
    }

    pub(crate) fn class(&self, call: &Call) -> CallClass {
        self.classes
            .get(call.name.place())
            .copied()
            .unwrap_or(CallClass::Other)
    }

    /// The outermost calls of a thread that have a part in an interval, in order.
    pub(crate) fn within(
        &self,
        thread: ThreadId,
        (start, end): (i64, i64),
    ) -> impl Iterator<Item = Within<'t>> {
        let calls = self
            .threads
            .get(thread.place())
            .map_or(&[][..], |thread| &thread.calls);
        let timeline = self.timeline;
        let call =
            move |place: &u32| &timeline.calls[usize::try_from(*place).unwrap_or(usize::MAX)];
        // Outermost calls end in the order in which they start.
        let first = calls.partition_point(|place| call(place).end_ns <= start);
        let places = calls.get(first..).unwrap_or_default().iter().copied();
        places
            .map(move |place| (place, call(&place)))
            .take_while(move |(_, call)| call.start_ns < end)
            .map(|(place, call)| Within {
                call,
                class: self.class(call),
                is_pageable: self
                    .is_pageable
                    .get(usize::try_from(place).unwrap_or(usize::MAX))
                    == Some(&true),
                overlap_ns: call.end_ns.min(end) - call.start_ns.max(start),
            })
            .collect::<Vec<_>>()
            .into_iter()
    }

    /// Every outermost call.
    pub(crate) fn outermost(&self) -> impl Iterator<Item = Within<'t>> + '_ {
        let places = self
            .threads
            .iter()
            .flat_map(|thread| thread.calls.iter().copied());
        places.map(|place| {
            let place = usize::try_from(place).unwrap_or(usize::MAX);
            let call = &self.timeline.calls[place];
            Within {
                call,
                class: self.class(call),
                is_pageable: self.is_pageable.get(place) == Some(&true),
                overlap_ns: call.duration_ns(),
            }
        })
    }
}
