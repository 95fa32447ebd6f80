//! One profiled workload: a handle that decodes its parts when they are asked for.

use std::borrow::Cow;

use super::frame::{Entry, sized_at};
use super::header::{Header, WorkloadKind};
use super::{NvtxState, PART_FACTOR, Partial, Problems, Process, Report, RuleResult, Stack};
use crate::error::Error;
use crate::metric::Metrics;
use crate::wire::{Field, Message, Room, len};

/// One profiled workload of a report: a kernel launch, a range, a command list or a graph.
///
/// A profile is a cheap handle; each method decodes one part and keeps nothing.
#[derive(Clone, Copy, Debug)]
pub struct Profile<'r> {
    report: &'r Report<'r>,
    entry: Entry,
}

/// A section of the profiler that was collected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section<'r> {
    /// Identifier, such as `SpeedOfLight`.
    pub id: Cow<'r, str>,
    /// Title, such as `GPU Speed Of Light Throughput`.
    pub title: Cow<'r, str>,
}

impl<'r> Profile<'r> {
    pub(super) fn new(report: &'r Report<'_>, entry: &Entry) -> Self {
        Self {
            report,
            entry: *entry,
        }
    }

    fn message(&self) -> Message<'r> {
        sized_at(self.report.bytes, self.entry.offset)
    }

    /// What kind of workload it is.
    #[must_use]
    pub fn kind(&self) -> WorkloadKind {
        self.entry.kind
    }

    /// How many bytes the result takes in the report.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        len(self.message().bytes)
    }

    /// The process that launched it, where the report says so.
    #[must_use]
    pub fn process(&self) -> Option<&'r Process> {
        self.report
            .processes
            .get(usize::try_from(self.entry.process).ok()?)
    }

    /// Names, launch sizes and the rest of its identity.
    #[must_use]
    pub fn header(&self) -> Partial<Header<'r>> {
        let (value, error) = Header::decode(self.kind(), self.entry.process, self.message());
        let problems = error.map(|error| error.inside(self.kind().field_name()));
        Partial {
            value,
            problems: problems.into_iter().collect(),
        }
    }

    /// Scalar values of all metrics. Instances stay encoded until they are asked for.
    #[must_use]
    pub fn metrics(&self) -> Partial<Metrics<'r>> {
        let number = self.kind().fields().metrics;
        let mut metrics = Metrics::new(&self.report.names);
        let fields = self.message().fields().flatten();
        let count = fields.filter(|field| field.number == number).count();
        metrics.reserve(count, &self.room());
        let problems = self.each(number, "metrics", |message, room| {
            metrics.decode(message, room)
        });
        Partial {
            value: metrics,
            problems,
        }
    }

    /// What the profiler's own rules said.
    #[must_use]
    pub fn rules(&self) -> Partial<Vec<RuleResult<'r>>> {
        let mut rules = Vec::new();
        let problems = self.each(self.kind().fields().rules, "rules", |message, room| {
            room.push(&mut rules, RuleResult::default())?;
            rules
                .last_mut()
                .map_or(Ok(()), |rule| rule.fill(message, room))
        });
        Partial {
            value: rules,
            problems,
        }
    }

    /// The sections that were collected: they tell which set the profiler ran with.
    #[must_use]
    pub fn sections(&self) -> Partial<Vec<Section<'r>>> {
        let mut sections = Vec::new();
        let problems = self.each(
            self.kind().fields().sections,
            "sections",
            |message, room| room.push(&mut sections, Section::decode(message)?),
        );
        Partial {
            value: sections,
            problems,
        }
    }

    /// NVTX ranges that were open at the launch; absent when the profiler did not record them.
    #[must_use]
    pub fn nvtx(&self) -> Partial<Option<NvtxState<'r>>> {
        let mut state = None;
        let problems = self.each(self.kind().fields().nvtx, "NVTX state", |message, room| {
            state.insert(NvtxState::default()).fill(message, room)
        });
        Partial {
            value: state,
            problems,
        }
    }

    /// The CPU call stack of the launch, innermost frame first.
    #[must_use]
    pub fn cpu_stack(&self) -> Partial<Option<Stack<'r>>> {
        self.stack(self.kind().fields().cpu_stack, "CPU stack")
    }

    /// The Python call stack of the launch, innermost frame first.
    #[must_use]
    pub fn python_stack(&self) -> Partial<Option<Stack<'r>>> {
        self.stack(self.kind().fields().python_stack, "Python stack")
    }

    fn stack(&self, number: u32, name: &'static str) -> Partial<Option<Stack<'r>>> {
        let mut stack = None;
        let problems = self.each(number, name, |message, room| {
            stack.insert(Stack::default()).fill(message, room)
        });
        Partial {
            value: stack,
            problems,
        }
    }

    /// What one part of the result may take in memory.
    fn room(&self) -> Room {
        Room::new(PART_FACTOR, self.size_bytes())
    }

    /// Calls a decoder for each message of one field; what fails is listed and the rest goes on.
    fn each(
        &self,
        number: u32,
        name: &'static str,
        mut decode: impl FnMut(Message<'r>, &mut Room) -> Result<(), Error>,
    ) -> Vec<Error> {
        let mut room = self.room();
        let mut problems = Problems::default();
        let mut complain =
            |error: Error| problems.push(error.inside(name).inside(self.kind().field_name()));
        for field in self.message().fields() {
            match field {
                Ok(Field {
                    number: found,
                    value,
                }) if found == number => {
                    let decoded = value.message().map(|message| decode(message, &mut room));
                    if let Some(Err(error)) = decoded {
                        complain(error);
                    }
                    if room.is_spent() {
                        break;
                    }
                }
                Ok(_) => {}
                Err(error) => complain(error),
            }
        }
        problems.into_vec()
    }
}

impl<'r> Section<'r> {
    fn decode(message: Message<'r>) -> Result<Self, Error> {
        let mut section = Self {
            id: Cow::Borrowed(""),
            title: Cow::Borrowed(""),
        };
        for field in message.fields() {
            let field = field?;
            match field.number {
                1 => section.id = field.value.text().unwrap_or_default(),
                2 => section.title = field.value.text().unwrap_or_default(),
                _ => {}
            }
        }
        Ok(section)
    }
}
