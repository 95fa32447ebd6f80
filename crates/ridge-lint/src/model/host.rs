//! What host code does in its order, and the parts of it that are timed.

use super::{Function, Model, Runs, is_loop};
use crate::syntax::{Id, Kind, Role};

/// Something that host code does with the device or with a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event<'s> {
    Launch {
        kernel: &'s str,
    },
    /// A clock of the host is read.
    Clock,
    /// `cudaEventRecord`, with the name of the event.
    Record {
        event: &'s str,
    },
    /// `cudaEventElapsedTime`, with the names of both events.
    Elapsed {
        start: &'s str,
        stop: &'s str,
    },
    /// The host waits for the device.
    Wait,
    /// Memory is allocated or freed.
    Allocate,
    /// A copy that the host waits for.
    Copy,
    /// A function that neither waits nor starts anything.
    Harmless,
    /// A function of which nothing is known.
    Other,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Step<'s> {
    pub(crate) node: Id,
    pub(crate) event: Event<'s>,
}

/// A part of a function that is timed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Region {
    pub(crate) clock: Clock,
    /// Steps of the function: the one that starts the time, and the one that ends it.
    pub(crate) begin: usize,
    pub(crate) end: usize,
    /// The node at which the result is computed, for events.
    pub(crate) elapsed: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    Host,
    Events,
}

/// Calls of a function that are looked at, and pairs of clocks.
const MOST_STEPS: usize = 4096;

impl<'s> Model<'s> {
    /// What a host function does, in the order of the text.
    pub(crate) fn steps(&self, function: &Function<'s>) -> Vec<Step<'s>> {
        if matches!(function.runs, Runs::Kernel | Runs::Device) {
            return Vec::new();
        }
        let tree = &self.tree;
        tree.below(function.body)
            .filter(|id| tree.is(*id, Kind::Call))
            .take(MOST_STEPS)
            .map(|node| Step {
                node,
                event: self.event(node),
            })
            .collect()
    }

    fn event(&self, call: Id) -> Event<'s> {
        let tree = &self.tree;
        if tree.parts(call).any(|part| tree.is(part, Kind::KernelCall)) {
            return Event::Launch {
                kernel: self.callee(call),
            };
        }
        let name = self.callee(call);
        let argument = |which: usize| {
            self.arguments(call)
                .nth(which)
                .map_or("", |argument| tree.text(argument))
        };
        match name {
            "cudaLaunchKernel" | "cudaLaunchCooperativeKernel" | "cuLaunchKernel" => {
                Event::Launch {
                    kernel: last_word(argument(0)),
                }
            }
            "cudaEventRecord" => Event::Record { event: argument(0) },
            "cudaEventElapsedTime" => Event::Elapsed {
                start: argument(1),
                stop: argument(2),
            },
            "cudaDeviceSynchronize"
            | "cudaThreadSynchronize"
            | "cudaStreamSynchronize"
            | "cudaEventSynchronize"
            | "cuCtxSynchronize"
            | "cuStreamSynchronize"
            | "cuEventSynchronize" => Event::Wait,
            "cudaMalloc" | "cudaMallocHost" | "cudaMallocManaged" | "cudaMallocPitch"
            | "cudaMalloc3D" | "cudaHostAlloc" | "cudaFree" | "cudaFreeHost"
            | "cudaMallocArray" | "cudaFreeArray" => Event::Allocate,
            "cudaMemcpy"
            | "cudaMemcpy2D"
            | "cudaMemcpy3D"
            | "cudaMemcpyToSymbol"
            | "cudaMemcpyFromSymbol" => Event::Copy,
            "clock"
            | "gettimeofday"
            | "clock_gettime"
            | "omp_get_wtime"
            | "MPI_Wtime"
            | "QueryPerformanceCounter"
            | "now" => Event::Clock,
            "cudaGetLastError"
            | "cudaPeekAtLastError"
            | "cudaMemset"
            | "cudaMemsetAsync"
            | "cudaEventCreate"
            | "cudaEventCreateWithFlags"
            | "cudaStreamCreate"
            | "cudaMemcpyAsync"
            | "cudaGetErrorString"
            | "printf"
            | "fprintf"
            | "dim3"
            | "min"
            | "max"
            | "ceil"
            | "duration_cast"
            | "count"
            | "sqrt"
            | "exit"
            | "abs"
            | "swap" => Event::Harmless,
            // A macro that checks the result of what stands in it.
            _ if self.macros.contains_key(name)
                && self
                    .arguments(call)
                    .any(|argument| tree.is(argument, Kind::Call)) =>
            {
                Event::Harmless
            }
            _ => Event::Other,
        }
    }

    /// The parts between two readings of a clock, or between two events, in which a kernel is launched.
    pub(crate) fn regions(&self, steps: &[Step<'s>]) -> Vec<Region> {
        let mut regions = Vec::new();
        let mut last_clock = None;
        for (at, step) in steps.iter().enumerate() {
            match step.event {
                Event::Clock => {
                    if let Some(begin) = last_clock {
                        regions.push(Region {
                            clock: Clock::Host,
                            begin,
                            end: at,
                            elapsed: None,
                        });
                    }
                    last_clock = Some(at);
                }
                Event::Elapsed { start, stop } => {
                    let find = |name: &str, before: usize| {
                        steps[..before].iter().rposition(
                            |step| matches!(step.event, Event::Record { event } if event == name),
                        )
                    };
                    if let Some(end) = find(stop, at)
                        && let Some(begin) = find(start, end)
                    {
                        regions.push(Region {
                            clock: Clock::Events,
                            begin,
                            end,
                            elapsed: Some(at),
                        });
                    }
                }
                _ => {}
            }
        }
        regions.retain(|region| launches(steps, *region).next().is_some());
        regions
    }

    /// The outermost loop around a node that starts after another node.
    pub(crate) fn loop_since(&self, node: Id, since: Id) -> Option<Id> {
        let tree = &self.tree;
        tree.above(node)
            .take_while(|above| *above > since)
            .filter(|above| is_loop(tree, *above))
            .last()
    }

    /// Whether a node is repeated by a loop of its function.
    pub(crate) fn is_repeated(&self, node: Id, function: &Function<'_>) -> bool {
        let tree = &self.tree;
        tree.above(node)
            .take_while(|above| *above != function.node)
            .any(|above| is_loop(tree, above) || tree.is(above, Kind::Lambda))
    }

    /// Whether the result of a call is thrown away.
    pub(crate) fn is_result_unused(&self, call: Id) -> bool {
        let tree = &self.tree;
        tree.parent(call).is_some_and(|above| {
            tree.is(above, Kind::ExpressionStatement) && tree.role(above) != Role::Value
        })
    }
}

/// The name in `(void*)kernel` or `&kernel`.
fn last_word(text: &str) -> &str {
    text.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .next()
        .unwrap_or_default()
}

/// The launches of a region, with their place among the steps.
pub(crate) fn launches<'l, 's>(
    steps: &'l [Step<'s>],
    region: Region,
) -> impl Iterator<Item = (usize, &'s str)> + use<'l, 's> {
    let between = region.begin + 1..region.end.max(region.begin + 1);
    between.filter_map(|at| match steps[at].event {
        Event::Launch { kernel } => Some((at, kernel)),
        _ => None,
    })
}
