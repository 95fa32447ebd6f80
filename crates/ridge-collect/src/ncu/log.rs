//! What the profiler says: how many passes it made over which launch, and what went wrong.

/// One launch that was profiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profiled {
    /// The kernel as the profiler names it.
    pub kernel: String,
    /// How often it was run.
    pub passes: u64,
}

/// Something that went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The user may not read counters (`ERR_NVGPUCTRPERM`).
    NoPermission,
    /// Nothing was profiled. These kernels were launched and did not match, if the profiler told.
    NoKernels {
        /// Their names.
        available: Vec<String>,
    },
    /// The program is not there, or cannot be started.
    NoProgram,
    /// The program returned this code, or ended by the signal of this number.
    ProgramFailed(i32),
    /// Driver, device and profiler do not fit together.
    Unsupported(String),
    /// The report could not be written.
    NotWritten(String),
    /// Another tool has the counters.
    Busy(String),
    /// The memory of a launch could not be saved for its next pass.
    NoMemoryToReplay(String),
    /// A launch could not be run again for its next pass.
    NotReplayed(String),
    /// Anything else that the profiler calls an error.
    Other(String),
}

/// The whole of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// Launches that were profiled, in order.
    pub profiled: Vec<Profiled>,
    /// What went wrong, in order.
    pub troubles: Vec<Trouble>,
}

/// What a message means.
type Meaning = fn(String) -> Trouble;

/// Messages that are known, by a part of them in lower case.
const KNOWN: &[(&str, Meaning)] = &[
    ("err_nvgpuctrperm", |_| Trouble::NoPermission),
    ("does not exist or is not an executable", |_| {
        Trouble::NoProgram
    }),
    ("unable to write to file", Trouble::NotWritten),
    ("no space left", Trouble::NotWritten),
    ("failed to save report", Trouble::NotWritten),
    ("not compatible", Trouble::Unsupported),
    ("not supported on device", Trouble::Unsupported),
    ("unsupported gpu", Trouble::Unsupported),
    ("device not supported", Trouble::Unsupported),
    ("already in use", Trouble::Busy),
    ("another profiler", Trouble::Busy),
    ("to save memory", Trouble::NoMemoryToReplay),
    ("save-and-restore failed", Trouble::NoMemoryToReplay),
    ("failed to profile", Trouble::NotReplayed),
    ("launchfailed", Trouble::NotReplayed),
    ("cannot be replayed", Trouble::NotReplayed),
    ("unable to replay", Trouble::NotReplayed),
    ("replay is not supported", Trouble::NotReplayed),
];

impl Log {
    /// Reads what the profiler wrote. Lines of other forms are skipped: they may be anything.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let mut log = Self::default();
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            let line = line.trim_end();
            if let Some(said) = line.strip_prefix("==PROF== Profiling ") {
                if let Some(profiled) = profiled(said) {
                    log.profiled.push(profiled);
                } else if let Some((launch, pass)) = replayed(said) {
                    log.count_pass(launch, pass);
                }
            } else if line.starts_with("==WARNING== No kernels were profiled") {
                let mut available = Vec::new();
                if lines
                    .next_if(|next| next.starts_with("Available Kernels"))
                    .is_some()
                {
                    while let Some(name) = lines.peek().and_then(|next| numbered(next)) {
                        available.push(name.to_owned());
                        lines.next();
                    }
                }
                log.troubles.push(Trouble::NoKernels { available });
            } else if let Some(message) = line.strip_prefix("==ERROR== ") {
                log.troubles.push(trouble(message));
            }
        }
        log
    }

    /// One more pass over a launch of a program that is run again for each pass. Launches of one label are told apart by how
    /// many passes they have had: each run has all of them.
    fn count_pass(&mut self, launch: &str, pass: u64) {
        let before = self
            .profiled
            .iter_mut()
            .find(|one| pass > 1 && one.passes == pass - 1 && one.kernel == launch);
        if let Some(one) = before {
            one.passes = pass;
        } else {
            self.profiled.push(Profiled {
                kernel: launch.to_owned(),
                passes: pass,
            });
        }
    }

    /// The code that the program returned, where it returned one that is not zero.
    #[must_use]
    pub fn program_code(&self) -> Option<i32> {
        self.troubles.iter().find_map(|trouble| match trouble {
            Trouble::ProgramFailed(code) => Some(*code),
            _ => None,
        })
    }
}

fn trouble(message: &str) -> Trouble {
    const RETURNED: &str = "The application returned an error code (";
    let code = message
        .strip_prefix(RETURNED)
        .and_then(|rest| rest.split(')').next()?.parse().ok());
    if let Some(code) = code {
        return Trouble::ProgramFailed(code);
    }
    let lower = message.to_lowercase();
    KNOWN
        .iter()
        .find(|(part, _)| lower.contains(part))
        .map_or_else(
            || Trouble::Other(message.to_owned()),
            |(_, make)| make(message.to_owned()),
        )
}

/// `"NAME" - 0: 0%....50%....100% - 14 passes`, or the same with `"1:7:NAME:2"` and without a number.
fn profiled(rest: &str) -> Option<Profiled> {
    let (kernel, rest) = rest.strip_prefix('"')?.split_once('"')?;
    let (_, count) = rest.rsplit_once(" - ")?;
    let passes = count
        .strip_suffix(" passes")
        .or_else(|| count.strip_suffix(" pass"))?;
    Some(Profiled {
        kernel: kernel.to_owned(),
        passes: passes.parse().ok()?,
    })
}

/// `"1:7:NAME:1": Application replay pass 3`, or the same with a number before the colon.
fn replayed(rest: &str) -> Option<(&str, u64)> {
    let (kernel, rest) = rest.strip_prefix('"')?.split_once('"')?;
    let (_, pass) = rest.split_once(": Application replay pass ")?;
    Some((kernel, pass.trim_end().parse().ok()?))
}

/// `1. NAME`.
fn numbered(line: &str) -> Option<&str> {
    let (number, name) = line.trim_start().split_once(". ")?;
    number.parse::<u64>().ok()?;
    Some(name.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Nsight Compute 2025.3.1 printed it on an H200.
    const SEEN: &str = "==WARNING== Note: Running with unmodified GPU clocks. If not controlled otherwise, profiling results may be inconsistent.\n\
        ==PROF== Connected to process 698 (/home/user/t)\n\
        ==PROF== Profiling \"mix\" - 0: 0%....50%....100% - 14 passes\n\
        ==PROF== Profiling \"other(float *, int)\" - 1 (1/1): 0%....50%....100% - 1 pass\n\
        ==PROF== Profiling \"1:7:other:2\": 0%....50%....100% - 4 passes\n\
        done\n\
        ==PROF== Disconnected from process 698\n\
        ==ERROR== The application returned an error code (3).\n\
        ==PROF== Report: /tmp/rc3.ncu-rep\n";

    #[test]
    fn passes_and_the_code_of_the_program_are_read() {
        let log = Log::read(SEEN);
        let passes: Vec<_> = log
            .profiled
            .iter()
            .map(|one| (one.kernel.as_str(), one.passes))
            .collect();
        assert_eq!(
            passes,
            [("mix", 14), ("other(float *, int)", 1), ("1:7:other:2", 4)]
        );
        assert_eq!(log.program_code(), Some(3));
    }

    /// As Nsight Compute 2025.3.1 printed it on an H200.
    #[test]
    fn passes_of_a_program_that_is_run_again_are_counted() {
        let log = Log::read(
            "==PROF== Connected to process 28660 (/usr/bin/python3.12)\n\
             ==PROF== Profiling \"1:7:a:1\": Application replay pass 1\n\
             ==PROF== Profiling \"1:7:b:1\": Application replay pass 1\n\
             ==PROF== Profiling \"1:7:b:1\": Application replay pass 1\n\
             ==PROF== Disconnected from process 28660\n\
             ==PROF== Connected to process 28685 (/usr/bin/python3.12)\n\
             ==PROF== Profiling \"1:7:a:1\": Application replay pass 2\n\
             ==PROF== Profiling \"1:7:b:1\": Application replay pass 2\n\
             ==PROF== Profiling \"1:7:b:1\": Application replay pass 2\n\
             ==PROF== Creating report from application replay data: 0%....................100%\n",
        );
        let passes: Vec<_> = log
            .profiled
            .iter()
            .map(|one| (one.kernel.as_str(), one.passes))
            .collect();
        assert_eq!(passes, [("1:7:a:1", 2), ("1:7:b:1", 2), ("1:7:b:1", 2)]);
        assert_eq!(log.troubles, []);
    }

    #[test]
    fn kernels_that_were_there_are_offered() {
        let log = Log::read(
            "==WARNING== No kernels were profiled.\nAvailable Kernels:\n1. mix\n2. other\n",
        );
        let available = vec!["mix".to_owned(), "other".to_owned()];
        assert_eq!(log.troubles, [Trouble::NoKernels { available }]);
    }

    #[test]
    fn what_is_known_is_told_apart() {
        let known = |message: &str| Log::read(&format!("==ERROR== {message}\n")).troubles;
        assert_eq!(
            known(
                "ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters on the target device 0."
            ),
            [Trouble::NoPermission]
        );
        assert_eq!(
            known("'./nothere' does not exist or is not an executable. Please make sure"),
            [Trouble::NoProgram]
        );
        assert!(matches!(
            known(
                "Unable to write to file x.ncu-rep. Please verify this file is not locked, and writable."
            )[..],
            [Trouble::NotWritten(_)]
        ));
        assert!(matches!(
            known("Cuda driver is not compatible with Nsight Compute")[..],
            [Trouble::Unsupported(_)]
        ));
        assert!(matches!(
            known("Failed to profile \"reduce\" in process 5")[..],
            [Trouble::NotReplayed(_)]
        ));
        assert!(matches!(known("something new")[..], [Trouble::Other(_)]));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(text in "(==ERROR== |==PROF== Profiling |\"|[0-9]+\\. |- |pass|\\PC|\n){0,60}") {
            let log = Log::read(&text);
            proptest::prop_assert!(log.profiled.len() + log.troubles.len() <= text.lines().count());
        }
    }
}
