//! Capture details: when, where and with what the report was made.
//!
//! They are spread over the blocks of the file, a part in each, and make sense only together.

use std::borrow::Cow;
use std::collections::HashSet;

use super::Problems;
use super::collection::Collection;
use super::header::some_text;
use crate::error::Error;
use crate::metric::Value;
use crate::wire::{Message, Room};

/// What was profiled, where and with what.
#[derive(Clone, Debug, Default)]
pub struct Session<'a> {
    /// Process id of the profiler's session.
    pub process_id: Option<u64>,
    /// When it was made, in seconds since 1970.
    pub created_unix_s: Option<u64>,
    /// The machine that ran the profiler.
    pub host: Option<System<'a>>,
    /// The machine that ran the program.
    pub target: Option<System<'a>>,
    /// GPUs with their attributes.
    pub devices: Vec<Device<'a>>,
    /// Comments of the user.
    pub comment: Option<Cow<'a, str>>,
    /// Versions of CUDA, of the profiler and of its libraries.
    pub versions: Vec<Version<'a>>,
    /// How the program was started; stored by some versions only.
    pub executable: Option<ExecutableSettings<'a>>,
    /// The complete command line of the profiler, arguments of the program included.
    pub command_line: Option<Cow<'a, str>>,
    /// How the metrics were collected: from the command line, or from stored settings.
    pub collection: Collection,
}

/// A machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct System<'a> {
    /// Operating system.
    pub os: Option<Cow<'a, str>>,
    /// Its build.
    pub build: Option<Cow<'a, str>>,
    /// Processor.
    pub processor: Option<Cow<'a, str>>,
    /// Architecture, such as `x86_64`.
    pub architecture: Option<Cow<'a, str>>,
    /// Name of the machine.
    pub name: Option<Cow<'a, str>>,
    /// IP addresses.
    pub addresses: Vec<Cow<'a, str>>,
}

/// A GPU and its attributes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Device<'a> {
    /// The number that the program used.
    pub index: u64,
    /// Its name.
    pub name: Option<Cow<'a, str>>,
    /// Attributes without the prefix `device__attribute_`; an attribute without a value is absent.
    pub attributes: Vec<(Cow<'a, str>, Value<'a>)>,
}

impl Device<'_> {
    /// The value of an attribute, named without the prefix `device__attribute_`.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&Value<'_>> {
        self.attributes
            .iter()
            .find(|(found, _)| found == name)
            .map(|(_, value)| value)
    }
}

/// The version of a component.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Version<'a> {
    /// The component, such as `CUDA Version`.
    pub provider: Cow<'a, str>,
    /// Its version.
    pub text: Cow<'a, str>,
}

/// How a program was started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecutableSettings<'a> {
    /// Its path.
    pub path: Option<Cow<'a, str>>,
    /// Its working directory.
    pub directory: Option<Cow<'a, str>>,
    /// Its arguments.
    pub arguments: Option<Cow<'a, str>>,
    /// Its environment.
    pub environment: Vec<Cow<'a, str>>,
}

impl Session<'_> {
    /// The version text of a component.
    #[must_use]
    pub fn version(&self, provider: &str) -> Option<&str> {
        self.versions
            .iter()
            .find(|version| version.provider == provider)
            .map(|version| &*version.text)
    }

    /// The version of the profiler, such as `2025.3.1.0`.
    #[must_use]
    pub fn profiler_version(&self) -> Option<&str> {
        self.version("Nsight Compute Target")?
            .split_whitespace()
            .next()
    }
}

/// Merges the parts that blocks carry.
#[derive(Debug, Default)]
pub(super) struct SessionBuilder<'a> {
    parts: Vec<Message<'a>>,
    known: HashSet<&'a [u8]>,
}

impl<'a> SessionBuilder<'a> {
    pub(super) fn add(&mut self, part: Message<'a>, room: &mut Room) -> Result<(), Error> {
        // Appended reports repeat their parts. Equal parts say nothing new.
        if self.known.contains(part.bytes) {
            return Ok(());
        }
        room.charge(size_of::<&[u8]>().saturating_mul(3))?;
        self.known.insert(part.bytes);
        room.push(&mut self.parts, part)
    }

    pub(super) fn finish(self, room: &mut Room, problems: &mut Problems) -> Session<'a> {
        let mut session = Session::default();
        let mut seen = Seen::default();
        for part in &self.parts {
            if let Err(error) = session.merge(*part, &mut seen, room) {
                problems.push(error.inside("capture details"));
            }
            if room.is_spent() {
                break;
            }
        }
        if let Some(line) = &session.command_line {
            match Collection::from_command_line(line, room) {
                Ok(collection) => session.collection = collection,
                Err(error) => problems.push(error.inside("command line")),
            }
        }
        if let Some(settings) = seen.settings
            && let Err(error) = session.collection.apply_settings(settings, room)
        {
            problems.push(error.inside("profiler settings"));
        }
        session
    }
}

/// What earlier parts held.
#[derive(Default)]
struct Seen<'a> {
    devices: HashSet<&'a [u8]>,
    versions: HashSet<&'a [u8]>,
    settings: Option<Message<'a>>,
}

/// Whether a message is the first of its kind; parts repeat each other's.
fn is_new<'a>(
    seen: &mut HashSet<&'a [u8]>,
    message: Message<'a>,
    room: &mut Room,
) -> Result<bool, Error> {
    if seen.contains(message.bytes) {
        return Ok(false);
    }
    room.charge(size_of::<&[u8]>().saturating_mul(3))?;
    Ok(seen.insert(message.bytes))
}

impl<'a> Session<'a> {
    fn merge(
        &mut self,
        part: Message<'a>,
        seen: &mut Seen<'a>,
        room: &mut Room,
    ) -> Result<(), Error> {
        for field in part.fields() {
            let field = field?;
            let value = field.value;
            match field.number {
                1 => self.process_id = value.varint().or(self.process_id),
                2 => self.created_unix_s = self.created_unix_s.or(value.varint()),
                3 => {
                    if let Some(message) = value.message() {
                        self.host = Some(System::decode(message, room)?);
                    }
                }
                4 => {
                    if let Some(message) = value.message() {
                        self.target = Some(System::decode(message, room)?);
                    }
                }
                6 => {
                    if let Some(message) = value.message()
                        && is_new(&mut seen.devices, message, room)?
                    {
                        let device = Device::decode(message, room)?;
                        room.push(&mut self.devices, device)?;
                    }
                }
                7 => self.comment = some_text(value.text()).or(self.comment.take()),
                8 => {
                    if let Some(message) = value.message()
                        && is_new(&mut seen.versions, message, room)?
                    {
                        room.push(&mut self.versions, Version::decode(message)?)?;
                    }
                }
                9 => {
                    if let Some(message) = value.message() {
                        self.executable = Some(ExecutableSettings::decode(message, room)?);
                    }
                }
                10 => seen.settings = value.message().or(seen.settings),
                11 => self.command_line = some_text(value.text()).or(self.command_line.take()),
                _ => {}
            }
        }
        Ok(())
    }
}

impl<'a> System<'a> {
    fn decode(message: Message<'a>, room: &mut Room) -> Result<Self, Error> {
        let mut system = Self::default();
        for field in message.fields() {
            let field = field?;
            let text = || some_text(field.value.text());
            match field.number {
                1 => system.os = text(),
                2 => system.build = text(),
                3 => system.processor = text(),
                4 => system.architecture = text(),
                5 => system.name = text(),
                7 => {
                    for field in field.value.message().into_iter().flat_map(Message::fields) {
                        let field = field?;
                        if let (1, Some(address)) = (field.number, some_text(field.value.text())) {
                            room.push(&mut system.addresses, address)?;
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(system)
    }
}

impl<'a> Device<'a> {
    fn decode(message: Message<'a>, room: &mut Room) -> Result<Self, Error> {
        let mut device = Self::default();
        for field in message.fields() {
            let field = field?;
            match field.number {
                1 => device.index = field.value.varint().unwrap_or(0),
                2 => device.name = some_text(field.value.text()),
                3 => {
                    if let Some(message) = field.value.message()
                        && let Some(attribute) = decode_attribute(message)?
                    {
                        room.push(&mut device.attributes, attribute)?;
                    }
                }
                _ => {}
            }
        }
        Ok(device)
    }
}

fn decode_attribute<'a>(message: Message<'a>) -> Result<Option<(Cow<'a, str>, Value<'a>)>, Error> {
    const PREFIX: &str = "device__attribute_";
    let (mut name, mut value) = (None, None);
    for field in message.fields() {
        let field = field?;
        match field.number {
            1 => name = field.value.text(),
            2 => {
                value = field
                    .value
                    .message()
                    .map(Value::decode)
                    .transpose()?
                    .flatten()
            }
            _ => {}
        }
    }
    let name = name.map(|name| match name {
        Cow::Borrowed(name) => Cow::Borrowed(name.strip_prefix(PREFIX).unwrap_or(name)),
        Cow::Owned(name) => Cow::Owned(name.strip_prefix(PREFIX).unwrap_or(&name).to_owned()),
    });
    Ok(name.zip(value))
}

impl<'a> Version<'a> {
    fn decode(message: Message<'a>) -> Result<Self, Error> {
        let mut version = Self::default();
        for field in message.fields() {
            let field = field?;
            match field.number {
                1 => version.provider = field.value.text().unwrap_or_default(),
                2 => version.text = field.value.text().unwrap_or_default(),
                _ => {}
            }
        }
        Ok(version)
    }
}

impl<'a> ExecutableSettings<'a> {
    fn decode(message: Message<'a>, room: &mut Room) -> Result<Self, Error> {
        let mut settings = Self::default();
        for field in message.fields() {
            let field = field?;
            let text = some_text(field.value.text());
            match field.number {
                1 => settings.path = text,
                2 => settings.directory = text,
                3 => settings.arguments = text,
                4 => {
                    if let Some(text) = text {
                        room.push(&mut settings.environment, text)?;
                    }
                }
                _ => {}
            }
        }
        Ok(settings)
    }
}
