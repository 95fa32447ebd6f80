//! Metrics and attributes: names and numbers pass as they are, texts only if they are known to be harmless.

use std::borrow::Cow;

use super::schema::result;
use super::vocabulary::{
    OTHER, is_device, is_metric, is_metric_list, is_opcode, is_ranges, is_words,
};
use super::{Redactor, Subject, schema, whole};
use crate::encode::Encoder;
use crate::error::{Error, Kind};
use crate::report::WorkloadKind;
use crate::wire::{Message, Value};

/// The metric that holds names of kernels.
const KERNEL_NAME: &str = "launch__kernel_name";

/// Metrics whose values are lists of metrics. A report may have the list without its members.
const LISTS: [&str; 3] = ["breakdown:", "group:", "profiler__"];

/// Keys in this range are nanoseconds since 1970 (2011 to 2049); no address and no count of a report is as large. A
/// difference of two of them is never in the range.
const TIMES: std::ops::Range<u64> = 1_300_000_000_000_000_000..2_500_000_000_000_000_000;

/// How the texts and values of a metric are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Its values identify a machine, or may do so.
    Identity,
    /// Its texts are names of kernels.
    KernelName,
    /// Its texts may be opcodes.
    Opcodes,
    /// Any other.
    Plain,
}

impl Class {
    pub(super) fn of(name: &str) -> Self {
        if name == KERNEL_NAME {
            Self::KernelName
        } else if !is_metric(name) || is_identity(name) {
            // A name that is not shown may be a damaged one: nobody knows what its values are.
            Self::Identity
        } else if name.starts_with("sass__") {
            Self::Opcodes
        } else {
            Self::Plain
        }
    }
}

/// Whether a metric or attribute tells which machine, slot or board it is, rather than of which kind.
fn is_identity(name: &str) -> bool {
    let is_numa = name.starts_with("numa__") && !name.contains("display_name");
    let is_slot = name.contains("pci_") && name.ends_with("_id");
    let marks = [
        "uuid",
        "guid",
        "luid",
        "serial",
        "numa_id",
        "board_group_id",
        "hostname",
        "host_name",
        "process_name",
        "executable",
        "username",
        "user_name",
    ];
    is_numa || is_slot || marks.iter().any(|mark| name.contains(mark))
}

/// The earliest time of day among the keys of a result's instances.
pub(super) fn earliest_time(message: Message<'_>, kind: WorkloadKind) -> Option<u64> {
    let metrics = result(kind).fields.iter().find_map(|(number, action)| {
        matches!(action, schema::Action::Special(schema::Special::Metric)).then_some(*number)
    })?;
    let mut earliest = None;
    for metric in inner(message, metrics) {
        for instance in inner(metric, 3) {
            for key in inner(instance, 1) {
                for field in key.fields().map_while(Result::ok) {
                    if let (5, Some(time)) = (field.number, field.value.varint())
                        && TIMES.contains(&time)
                        && earliest.is_none_or(|earliest| time < earliest)
                    {
                        earliest = Some(time);
                    }
                }
            }
        }
    }
    earliest
}

/// The messages of one field.
fn inner(message: Message<'_>, number: u32) -> impl Iterator<Item = Message<'_>> {
    message
        .fields()
        .map_while(Result::ok)
        .filter(move |field| field.number == number)
        .filter_map(|field| field.value.message())
}

/// Whether a value stands for a key, for an instance or for the whole.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Key,
    Value,
}

impl<'a> Redactor<'a> {
    /// Whether a metric is one of those that are kept. One whose name cannot be told is looked at as any other.
    pub(super) fn is_wanted(&self, message: Message<'a>) -> bool {
        let Some(wanted) = &self.wanted else {
            return true;
        };
        let mut numbers = message.fields().map_while(Result::ok);
        let name = numbers.find(|field| field.number == 1);
        let index = name.map_or(Some(0), |field| field.value.varint());
        let slot = index.and_then(|index| usize::try_from(index).ok());
        let name = slot.and_then(|slot| self.names.get(slot));
        name.is_none_or(|name| wanted.contains(&**name))
    }

    /// Copies a metric.
    pub(super) fn metric(&mut self, message: Message<'a>, out: &mut Encoder) -> Result<(), Error> {
        const NAME: &str = "metrics";
        let mut stored = None;
        for field in message.fields() {
            let field = field.map_err(|error| error.inside(NAME))?;
            if field.number == 1 {
                stored = Some(field.value.varint().unwrap_or(0));
            }
        }
        let index = stored.unwrap_or(0);
        let slot = usize::try_from(index).unwrap_or(usize::MAX);
        let (Some(class), Some(name)) = (self.classes.get(slot).copied(), self.names.get(slot))
        else {
            let len = u64::try_from(self.names.len()).unwrap_or(u64::MAX);
            let kind = Kind::StringIndex { index, len };
            return Err(Error::new(kind, message.offset, "name").inside(NAME));
        };
        let name = name.clone();
        let mut has_identity = false;
        // Written once, so that no reader can take the values for those of another metric.
        if stored.is_some() {
            out.number(1, index);
        }
        for field in message.fields() {
            let field = field.map_err(|error| error.inside(NAME))?;
            match (field.number, field.value) {
                (1, _) => {}
                (4, Value::Varint(category)) => out.number(4, category),
                (2 | 3, Value::Bytes(value)) if class == Class::Identity => {
                    has_identity |= !value.bytes.is_empty();
                }
                (2, Value::Bytes(value)) => {
                    let open = out.open(2);
                    if let Err(error) = self.value(value, class, Role::Value, &name, out) {
                        out.discard(open);
                        return Err(error.inside(NAME));
                    }
                    out.close(open);
                }
                (3, Value::Bytes(instance)) => self.item(3, out, |this, out| {
                    this.instance(instance, class, &name, out)
                        .map_err(|error| error.inside(NAME))
                }),
                _ => self.tally.add_at(Subject::Unknown, NAME),
            }
        }
        if has_identity {
            self.tally.add_at(Subject::DeviceIdentity, place(&name));
        }
        Ok(())
    }

    fn instance(
        &mut self,
        message: Message<'a>,
        class: Class,
        name: &str,
        out: &mut Encoder,
    ) -> Result<(), Error> {
        if class == Class::KernelName {
            whole(message, 1).map_err(|error| error.inside("instance"))?;
        }
        for field in message.fields() {
            let field = field.map_err(|error| error.inside("instance"))?;
            let role = match field.number {
                1 => Role::Key,
                2 => Role::Value,
                _ => {
                    self.tally.add_at(Subject::Unknown, "instance");
                    continue;
                }
            };
            let Some(value) = field.value.message() else {
                self.tally.add_at(Subject::Unknown, "instance");
                continue;
            };
            let open = out.open(field.number);
            if let Err(error) = self.value(value, class, role, name, out) {
                out.discard(open);
                return Err(error);
            }
            out.close(open);
        }
        Ok(())
    }

    fn value(
        &mut self,
        message: Message<'a>,
        class: Class,
        role: Role,
        name: &str,
        out: &mut Encoder,
    ) -> Result<(), Error> {
        if class == Class::KernelName {
            whole(message, 0).map_err(|error| error.inside("value"))?;
        }
        for field in message.fields() {
            let field = field.map_err(|error| error.inside("value"))?;
            match (field.number, field.value) {
                (1, Value::Bytes(text)) => {
                    if let Some(text) = self.text(text.text(), class, name) {
                        out.text(1, &text);
                    }
                }
                (5, Value::Varint(time)) if role == Role::Key && TIMES.contains(&time) => {
                    // Readers take a key of 0 for an unused slot, so that time starts at 1.
                    let start = self.current.start.unwrap_or(time);
                    out.number(5, time.saturating_sub(start).saturating_add(1));
                }
                (2, Value::Fixed32(_)) | (3, Value::Fixed64(_)) | (4 | 5, Value::Varint(_)) => {
                    out.scalar(field.number, field.value);
                }
                _ => self.tally.add_at(Subject::Unknown, "value"),
            }
        }
        Ok(())
    }

    /// The text of a value, if it may be shown.
    fn text(&mut self, text: Cow<'a, str>, class: Class, name: &str) -> Option<Cow<'a, str>> {
        if text.is_empty() {
            return Some(text);
        }
        if class == Class::KernelName {
            let shown = match &self.current.kernel {
                Some(shown @ super::Shown::Renamed(_)) => shown.name(&text).into_owned(),
                _ => self.kernels.function(&text, self.rename_kernels),
            };
            self.tally
                .add(Subject::KernelNames, u64::from(text != shown));
            return Some(Cow::Owned(shown));
        }
        if is_metric_list(&text) {
            return Some(self.metric_list(text, name));
        }
        let is_harmless = is_words(&text)
            || is_ranges(&text)
            || (name.contains("display_name") && is_device(&text))
            || (class == Class::Opcodes && is_opcode(&text));
        if !is_harmless {
            self.tally.add_at(Subject::MetricTexts, place(name));
        }
        is_harmless.then_some(text)
    }

    /// A list of metrics. Only lists of the profiler's own name metrics that the report does not have.
    fn metric_list(&mut self, list: Cow<'a, str>, name: &str) -> Cow<'a, str> {
        let is_own = LISTS.iter().any(|start| name.starts_with(start));
        let shown = |item| match is_own && is_metric(item) || self.is_metric(item) {
            true => item,
            false => OTHER, // Also for one that is hidden already.
        };
        if list.split(',').all(|item| shown(item) == item) {
            return list;
        }
        let items: Vec<&str> = list.split(',').map(shown).collect();
        let neutral = items.join(",");
        self.tally.add_at(Subject::MetricTexts, place(name));
        Cow::Owned(neutral)
    }

    /// Copies an attribute of a device: like a metric, but with its name beside it.
    pub(super) fn attribute(
        &mut self,
        message: Message<'a>,
        out: &mut Encoder,
    ) -> Result<(), Error> {
        const NAME: &str = "attribute";
        let name = super::text_field(message, 1).unwrap_or_default();
        let class = match Class::of(&name) {
            // No attribute is a kernel's name.
            Class::KernelName => Class::Plain,
            class => class,
        };
        let mut has_identity = false;
        for field in message.fields() {
            let field = field.map_err(|error| error.inside(NAME))?;
            match (field.number, field.value) {
                (1, Value::Bytes(name)) => {
                    self.keep_text(1, name, Subject::MetricNames, out, is_metric);
                }
                (2, Value::Bytes(value)) if class == Class::Identity => {
                    has_identity |= !value.bytes.is_empty();
                }
                (2, Value::Bytes(value)) => {
                    let open = out.open(2);
                    if let Err(error) = self.value(value, class, Role::Value, &name, out) {
                        out.discard(open);
                        return Err(error.inside(NAME));
                    }
                    out.close(open);
                }
                _ => self.tally.add_at(Subject::Unknown, NAME),
            }
        }
        if has_identity {
            self.tally.add_at(Subject::DeviceIdentity, place(&name));
        }
        Ok(())
    }
}

/// The name of a metric for the list of removals, which may be shown itself.
fn place(name: &str) -> &str {
    if is_metric(name) { name } else { "(removed)" }
}
