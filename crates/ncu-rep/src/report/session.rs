//! Capture details: when, where and with what the report was made.
//!
//! They are spread over the blocks of the file, a part in each, and make sense only together.

use std::borrow::Cow;

use super::Problems;
use super::collection::Collection;
use super::header::some_text;
use crate::error::Error;
use crate::metric::Value;
use crate::wire::Message;

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
}

/// Parts beyond these are not merged; real reports have about a dozen.
const MAX_PARTS: usize = 1 << 16;

impl<'a> SessionBuilder<'a> {
    pub(super) fn add(&mut self, part: Message<'a>) {
        // Appended reports repeat their parts. Equal parts say nothing new.
        let known = self
            .parts
            .iter()
            .take(64)
            .any(|known| known.bytes == part.bytes);
        if !known && self.parts.len() < MAX_PARTS {
            self.parts.push(part);
        }
    }

    pub(super) fn finish(&mut self, problems: &mut Problems) -> Session<'a> {
        let mut session = Session::default();
        let mut settings = None;
        for part in &self.parts {
            if let Err(error) = session.merge(*part, &mut settings) {
                problems.push(error.inside("capture details"));
            }
        }
        session.collection = match &session.command_line {
            Some(line) => Collection::from_command_line(line),
            None => Collection::default(),
        };
        if let Some(settings) = settings
            && let Err(error) = session.collection.apply_settings(settings)
        {
            problems.push(error.inside("profiler settings"));
        }
        session
    }
}

impl<'a> Session<'a> {
    fn merge(
        &mut self,
        part: Message<'a>,
        settings: &mut Option<Message<'a>>,
    ) -> Result<(), Error> {
        for field in part.fields() {
            let field = field?;
            let value = field.value;
            match field.number {
                1 => self.process_id = value.varint().or(self.process_id),
                2 => self.created_unix_s = self.created_unix_s.or(value.varint()),
                3 => {
                    self.host = value
                        .message()
                        .map(System::decode)
                        .transpose()?
                        .or(self.host.take())
                }
                4 => {
                    self.target = value
                        .message()
                        .map(System::decode)
                        .transpose()?
                        .or(self.target.take())
                }
                6 => {
                    if let Some(message) = value.message() {
                        let device = Device::decode(message)?;
                        if !self.devices.contains(&device) {
                            self.devices.push(device);
                        }
                    }
                }
                7 => self.comment = some_text(value.text()).or(self.comment.take()),
                8 => {
                    if let Some(message) = value.message() {
                        let version = Version::decode(message)?;
                        if !self.versions.contains(&version) {
                            self.versions.push(version);
                        }
                    }
                }
                9 => {
                    self.executable = value
                        .message()
                        .map(ExecutableSettings::decode)
                        .transpose()?
                }
                10 => *settings = value.message().or(*settings),
                11 => self.command_line = some_text(value.text()).or(self.command_line.take()),
                _ => {}
            }
        }
        Ok(())
    }
}

impl<'a> System<'a> {
    fn decode(message: Message<'a>) -> Result<Self, Error> {
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
                        if field.number == 1 {
                            system.addresses.extend(some_text(field.value.text()));
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
    fn decode(message: Message<'a>) -> Result<Self, Error> {
        let mut device = Self::default();
        for field in message.fields() {
            let field = field?;
            match field.number {
                1 => device.index = field.value.varint().unwrap_or(0),
                2 => device.name = some_text(field.value.text()),
                3 => {
                    if let Some(message) = field.value.message() {
                        device.attributes.extend(decode_attribute(message)?);
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
    fn decode(message: Message<'a>) -> Result<Self, Error> {
        let mut settings = Self::default();
        for field in message.fields() {
            let field = field?;
            let text = some_text(field.value.text());
            match field.number {
                1 => settings.path = text,
                2 => settings.directory = text,
                3 => settings.arguments = text,
                4 => settings.environment.extend(text),
                _ => {}
            }
        }
        Ok(settings)
    }
}
