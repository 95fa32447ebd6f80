//! Command lines of the profiler.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// How a launch is repeated for the next pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replay {
    /// The launch alone, with the memory that it writes saved and put back.
    #[default]
    Kernel,
    /// The whole program, once for each pass.
    Application,
}

/// What is asked of the profiler.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Metrics by name.
    pub metrics: Vec<String>,
    /// Names of kernels and which launches of each, from 1; all launches of all kernels where empty.
    pub kernels: Vec<(String, Vec<u64>)>,
    /// Whether launches before the program switches the profiler on are looked at too.
    pub from_start: bool,
    /// Whether caches are emptied before each pass.
    pub flushes_caches: bool,
    /// Whether source files are taken into the report.
    pub has_source: bool,
    /// How a launch is repeated.
    pub replay: Replay,
    /// The report to write.
    pub report: PathBuf,
    /// Where the profiler writes what it has to say, apart from what the program prints.
    pub log: PathBuf,
    /// The program and its arguments.
    pub target: Vec<OsString>,
}

impl Request {
    /// The arguments of the profiler.
    ///
    /// Clocks stay as they are: what locks them changes what is measured, and needs a permission.
    #[must_use]
    pub fn arguments(&self) -> Vec<OsString> {
        let mut words: Vec<OsString> = ["--clock-control", "none"].map(OsString::from).to_vec();
        let mut option = |name: &str, value: &OsStr| {
            words.push(name.into());
            words.push(value.to_owned());
        };
        if !self.flushes_caches {
            option("--cache-control", "none".as_ref());
        }
        if self.replay == Replay::Application {
            option("--replay-mode", "application".as_ref());
        }
        if !self.from_start {
            option("--profile-from-start", "off".as_ref());
        }
        if self.has_source {
            option("--import-source", "yes".as_ref());
        }
        if let Some(kernels) = self.kernel_id() {
            option("--kernel-id", kernels.as_ref());
        }
        option("--metrics", self.metrics.join(",").as_ref());
        option("--log-file", self.log.as_ref());
        option("--export", self.report.as_ref());
        words.extend(self.target.iter().cloned());
        words
    }

    /// One expression for all names and one for all places, as the profiler takes no more: it may also profile the third
    /// launch of a kernel of which only the first is wanted.
    fn kernel_id(&self) -> Option<String> {
        if self.kernels.is_empty() {
            return None;
        }
        let mut names: Vec<String> = self.kernels.iter().map(|(name, _)| literal(name)).collect();
        names.dedup();
        let mut places: Vec<u64> = self.kernels.iter().flat_map(|(_, of)| of.clone()).collect();
        places.sort_unstable();
        places.dedup();
        let places: Vec<String> = places.iter().map(u64::to_string).collect();
        Some(format!(
            "::regex:^({})$:{}",
            names.join("|"),
            places.join("|")
        ))
    }
}

/// A regular expression that matches a name as it is. Colons separate the parts of a `--kernel-id`, so that any character
/// stands for one.
fn literal(name: &str) -> String {
    let mut pattern = String::with_capacity(name.len());
    for character in name.chars() {
        match character {
            ':' => pattern.push('.'),
            _ if character.is_alphanumeric() || character == '_' => pattern.push(character),
            _ => {
                pattern.push('\\');
                pattern.push(character);
            }
        }
    }
    pattern
}

/// A command as a person can paste it into a shell.
#[must_use]
pub fn shown(program: &OsStr, arguments: &[OsString]) -> String {
    let words = std::iter::once(program).chain(arguments.iter().map(OsString::as_os_str));
    let quoted: Vec<String> = words.map(|word| quote(&word.to_string_lossy())).collect();
    quoted.join(" ")
}

/// A word as a shell takes it.
#[must_use]
pub fn quote(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=+,@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> Request {
        Request {
            metrics: vec![
                "gpu__time_duration.sum".to_owned(),
                "inst_executed".to_owned(),
            ],
            from_start: true,
            flushes_caches: true,
            report: "tier1.ncu-rep".into(),
            log: "tier1.log".into(),
            target: vec!["./app".into(), "two words".into()],
            ..Request::default()
        }
    }

    #[test]
    fn the_command_leaves_clocks_alone_and_ends_with_the_program() {
        assert_eq!(
            shown("ncu".as_ref(), &request().arguments()),
            "ncu --clock-control none --metrics gpu__time_duration.sum,inst_executed --log-file tier1.log --export tier1.ncu-rep ./app 'two words'"
        );
    }

    #[test]
    fn kernels_are_one_expression_of_names_and_places() {
        let with_kernels = Request {
            kernels: vec![
                ("softmax".to_owned(), vec![3]),
                ("operator()".to_owned(), vec![1, 3]),
            ],
            from_start: false,
            replay: Replay::Application,
            flushes_caches: false,
            has_source: true,
            ..request()
        };
        assert_eq!(
            shown("ncu".as_ref(), &with_kernels.arguments()),
            r"ncu --clock-control none --cache-control none --replay-mode application --profile-from-start off --import-source yes --kernel-id '::regex:^(softmax|operator\(\))$:1|3' --metrics gpu__time_duration.sum,inst_executed --log-file tier1.log --export tier1.ncu-rep ./app 'two words'"
        );
    }
}
