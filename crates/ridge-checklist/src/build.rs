//! How a program is built: flags of compilers, from the command line or a `compile_commands.json`.

use std::fmt;

use ridge_numerics::flags::{Effect, Settings};
use serde::Deserialize;

/// How a program is built: one command or many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Build {
    /// The words of each command.
    commands: Vec<Vec<String>>,
}

/// Why some bytes are no list of commands.
#[derive(Debug)]
pub struct BuildError(String);

impl BuildError {
    /// A name that does not change.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "CKL0001"
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BuildError {}

/// An entry of `compile_commands.json`.
#[derive(Deserialize)]
struct Entry {
    command: Option<String>,
    arguments: Option<Vec<String>>,
}

/// What the flags of one command say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Optimisation {
    /// Device code is built for debugging: not optimised.
    pub(crate) is_device_debug: bool,
    /// The level of the assembler for device code, where one is given.
    pub(crate) device_level: Option<u8>,
    /// The level of the host compiler, where one is given; sizes and debugging have levels too.
    pub(crate) host_level: Option<u8>,
}

/// The level that the rest of `-O…` asks for.
fn level(text: &str) -> Option<u8> {
    match text {
        "" | "g" => Some(1),
        "s" | "z" => Some(2),
        "fast" | "max" => Some(3),
        _ => text.parse().ok(),
    }
}

impl Build {
    /// Flags as they stand on a command line.
    #[must_use]
    pub fn of_flags(flags: &str) -> Self {
        Self {
            commands: vec![words(flags)],
        }
    }

    /// Whether some bytes are meant to be a `compile_commands.json`: a list of objects that have a directory and a file.
    #[must_use]
    pub fn looks_like(bytes: &[u8]) -> bool {
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let text = text.trim_ascii_start();
        let head = &text[..text.len().min(1 << 16)];
        let has = |name: &[u8]| head.windows(name.len()).any(|part| part == name);
        text.first() == Some(&b'[')
            && has(b"\"directory\"")
            && has(b"\"file\"")
            && (has(b"\"command\"") || has(b"\"arguments\""))
    }

    /// Reads a `compile_commands.json`.
    ///
    /// # Errors
    /// When it is no list of commands, or an empty one.
    pub fn read(bytes: &[u8]) -> Result<Self, BuildError> {
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let entries: Vec<Entry> = serde_json::from_slice(text).map_err(|error| {
            BuildError(format!("the list of compile commands is damaged: {error}"))
        })?;
        let commands: Vec<Vec<String>> = entries
            .into_iter()
            .filter_map(|entry| match (entry.arguments, entry.command) {
                (Some(words), _) => Some(words),
                (None, Some(command)) => Some(words(&command)),
                (None, None) => None,
            })
            .collect();
        if commands.is_empty() {
            return Err(BuildError(
                "the list of compile commands has no command in it".to_owned(),
            ));
        }
        Ok(Self { commands })
    }

    /// How many commands there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.commands.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.commands.is_empty()
    }

    /// What the flags of each command say of optimisation.
    pub(crate) fn optimisation(&self) -> impl Iterator<Item = Optimisation> {
        self.commands.iter().map(|words| optimisation(words))
    }

    /// What the flags do to results, beyond what compilers do by default; each once.
    pub(crate) fn effects(&self) -> Vec<Effect> {
        let mut effects = Vec::new();
        for command in &self.commands {
            let settings = Settings::parse(command.iter().map(String::as_str));
            for finding in settings.findings() {
                // Contraction is the default, and brings results closer to the exact value.
                if finding.effect != Effect::Contraction && !effects.contains(&finding.effect) {
                    effects.push(finding.effect);
                }
            }
        }
        effects
    }
}

fn optimisation(words: &[String]) -> Optimisation {
    let mut found = Optimisation::default();
    let mut is_optimised_debug = false;
    let mut words = words.iter().map(String::as_str).peekable();
    while let Some(word) = words.next() {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        match name {
            "-G" | "--device-debug" => found.is_device_debug = true,
            "-dopt" | "--dopt" => {
                let value = value.or_else(|| words.next_if(|next| *next == "on"));
                is_optimised_debug = value == Some("on");
            }
            "-Xptxas" | "--ptxas-options" | "-Xcompiler" | "--compiler-options" => {
                let Some(list) = value.or_else(|| words.next()) else {
                    continue;
                };
                let mut levels = list.split([',', ' ']).filter_map(|option| {
                    level(option.trim_matches(['"', '\'']).strip_prefix("-O")?)
                });
                let Some(last) = levels.next_back() else {
                    continue;
                };
                if name.contains("ptxas") {
                    found.device_level = Some(last);
                } else {
                    found.host_level = Some(last);
                }
            }
            "-O" | "--optimize" => {
                let value = value.or_else(|| words.next_if(|next| next.parse::<u8>().is_ok()));
                found.host_level = level(value.unwrap_or_default());
            }
            _ => {
                if let Some(level) = name.strip_prefix("-O").and_then(level) {
                    found.host_level = Some(level);
                }
            }
        }
    }
    found.is_device_debug &= !is_optimised_debug;
    found
}

/// Splits a command as a shell does, as far as flags need it: spaces, quotes and backslashes.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut characters = command.chars();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(characters.next()),
            (None, _) if character.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(flags: &str) -> Optimisation {
        Build::of_flags(flags).optimisation().next().unwrap()
    }

    #[test]
    fn flags_of_optimisation_are_known() {
        assert_eq!(of("nvcc -O3 -arch=sm_90 a.cu").host_level, Some(3));
        assert_eq!(of("-O 2").host_level, Some(2));
        assert_eq!(of("--optimize=3 -O0").host_level, Some(0));
        assert_eq!(of("-Ofast").host_level, Some(3));
        assert_eq!(of("-Xcompiler -O2,-Wall").host_level, Some(2));
        assert_eq!(of("-Xcompiler '-O2 -Wall'").host_level, Some(2));
        let device = of("-O3 -Xptxas=-v,-O1");
        assert_eq!((device.host_level, device.device_level), (Some(3), Some(1)));
        assert!(of("-g -G -O3").is_device_debug);
        assert!(!of("-G -dopt=on").is_device_debug);
        assert!(!of("-lineinfo -g").is_device_debug);
        // The name of an output is no flag.
        assert_eq!(of("-o Output"), Optimisation::default());
    }

    #[test]
    fn commands_of_a_project_are_read() {
        let text = br#"[{"directory": "/b", "file": "a.cu", "command": "nvcc -G \"a b.cu\""},
            {"directory": "/b", "file": "b.cpp", "arguments": ["c++", "-O2", "b.cpp"]}]"#;
        assert!(Build::looks_like(text));
        let build = Build::read(text).unwrap();
        let all: Vec<Optimisation> = build.optimisation().collect();
        assert!(all[0].is_device_debug && all[1].host_level == Some(2));
        assert_eq!(Build::read(b"[]").unwrap_err().code(), "CKL0001");
        assert!(!Build::looks_like(br#"[{"name": "x", "ph": "X"}]"#));
        for end in 1..text.len() - 1 {
            assert!(Build::read(&text[..end]).is_err());
        }
    }

    #[test]
    fn contraction_by_default_is_no_effect() {
        assert!(Build::of_flags("-O3").effects().is_empty());
        let effects = Build::of_flags("-O3 --use_fast_math").effects();
        assert!(effects.contains(&Effect::FlushToZero));
    }

    proptest! {
        #[test]
        fn words_never_fail(text in ".*") {
            let _ = Build::of_flags(&text).optimisation().count();
        }
    }
}
