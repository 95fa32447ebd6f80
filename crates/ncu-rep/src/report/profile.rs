//! One profiled workload: a handle that decodes its parts when they are asked for.

use std::borrow::Cow;

use super::frame::Entry;
use super::header::{Header, WorkloadKind};
use super::{NvtxState, Partial, Problems, Process, Report, RuleResult, Stack};
use crate::error::Error;
use crate::metric::Metrics;
use crate::wire::{Field, Message};

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
        let start = usize::try_from(self.entry.offset).unwrap_or(usize::MAX);
        let size = usize::try_from(self.entry.size).unwrap_or(0);
        let bytes = self
            .report
            .bytes
            .get(start..start.saturating_add(size))
            .unwrap_or_default();
        Message::new(bytes, self.entry.offset)
    }

    /// What kind of workload it is.
    #[must_use]
    pub fn kind(&self) -> WorkloadKind {
        self.entry.kind
    }

    /// How many bytes the result takes in the report.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        u64::from(self.entry.size)
    }

    /// The process that launched it, where the report says so.
    #[must_use]
    pub fn process(&self) -> Option<&'r Process> {
        self.report
            .processes
            .get(usize::try_from(self.entry.process?).ok()?)
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
        let mut metrics = Metrics::new(&self.report.names);
        let problems = self.each(self.kind().fields().metrics, "metrics", |message| {
            metrics.decode(message)
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
        let problems = self.each(self.kind().fields().rules, "rules", |message| {
            rules.push(RuleResult::decode(message)?);
            Ok(())
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
        let problems = self.each(self.kind().fields().sections, "sections", |message| {
            sections.push(Section::decode(message)?);
            Ok(())
        });
        Partial {
            value: sections,
            problems,
        }
    }

    /// NVTX ranges that were open at the launch; absent when the profiler did not record them.
    #[must_use]
    pub fn nvtx(&self) -> Partial<Option<NvtxState<'r>>> {
        let mut state = None;
        let problems = self.each(self.kind().fields().nvtx, "NVTX state", |message| {
            state = Some(NvtxState::decode(message)?);
            Ok(())
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
        let problems = self.each(number, name, |message| {
            stack = Some(Stack::decode(message)?);
            Ok(())
        });
        Partial {
            value: stack,
            problems,
        }
    }

    /// Calls a decoder for each message of one field; what fails is listed and the rest goes on.
    fn each(
        &self,
        number: u32,
        name: &'static str,
        mut decode: impl FnMut(Message<'r>) -> Result<(), Error>,
    ) -> Vec<Error> {
        let mut problems = Problems::default();
        let mut complain =
            |error: Error| problems.push(error.inside(name).inside(self.kind().field_name()));
        for field in self.message().fields() {
            match field {
                Ok(Field {
                    number: found,
                    value,
                }) if found == number => {
                    if let Some(Err(error)) = value.message().map(&mut decode) {
                        complain(error);
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
