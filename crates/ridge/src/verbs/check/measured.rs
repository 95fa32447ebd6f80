//! Specs that are measured here. Each run is a fresh process, as what processes differ by is in no interval of a single one.

use std::ffi::OsString;

use ridge_collect::sanitize::End;
use ridge_compare::check::{Found, Named};

use super::results::{Loaded, Spec};
use crate::error::ExpectedError;
use crate::exit;
use crate::output::Output;
use crate::process;

/// Measures specs as often as it is asked to.
pub(super) struct Measurer<'m> {
    specs: &'m [Spec],
    device: String,
    is_interrupted: &'m dyn Fn() -> bool,
    runs: usize,
}

/// The seed of a simulated device where its description has none.
const SEED: u64 = 1;

impl<'m> Measurer<'m> {
    pub(super) fn new(
        specs: &'m [Spec],
        device: &str,
        is_interrupted: &'m dyn Fn() -> bool,
    ) -> Result<Self, ExpectedError> {
        if !specs.is_empty() {
            crate::gpu::check(device)?;
        }
        Ok(Self {
            specs,
            device: device.to_owned(),
            is_interrupted,
            runs: 0,
        })
    }

    /// How often everything was measured so far.
    pub(super) const fn runs(&self) -> usize {
        self.runs
    }

    /// One run: every spec, or only the states that are named.
    pub(super) fn run(
        &mut self,
        states: Option<&[String]>,
        output: &Output,
    ) -> Result<Vec<Loaded>, ExpectedError> {
        let mut results = Vec::new();
        for spec in self.specs {
            let number = self.runs + 1;
            output.progress(&format!("run {number}: {}", spec.path.display()));
            let loaded = self.measure(spec, states)?;
            output.progress("");
            results.extend(loaded);
        }
        if !self.specs.is_empty() {
            self.runs += 1;
        }
        Ok(results)
    }

    /// A process of this command that measures, and its document; `None` where none of the states is of this spec.
    fn measure(
        &self,
        Spec { path: spec, only }: &Spec,
        states: Option<&[String]>,
    ) -> Result<Option<Loaded>, ExpectedError> {
        let failed = |error: std::io::Error| {
            ExpectedError::unable(format!("cannot measure {}: {error}", spec.display()))
        };
        let program = std::env::current_exe().map_err(failed)?;
        let folder = tempfile::tempdir().map_err(failed)?;
        let file = folder.path().join("result.json");
        let mut arguments: Vec<OsString> = ["bench".into(), spec.into(), "--device".into()].into();
        arguments.push(self.device_of_run().into());
        arguments.extend(["--quiet", "--format", "json", "--output"].map(OsString::from));
        arguments.push(file.clone().into());
        if let Some(states) = states {
            let escaped: Vec<String> = states.iter().map(|state| escaped(state)).collect();
            arguments.push("--filter".into());
            arguments.push(format!("^({})$", escaped.join("|")).into());
        } else if let Some(kernel) = only {
            // The name of a state is that of its kernel, with the axes in brackets behind it.
            arguments.push("--filter".into());
            arguments.push(format!("^{}(\\[.*)?$", escaped(kernel)).into());
        }
        let finished =
            process::run(&program, &arguments, None, self.is_interrupted).map_err(failed)?;
        let code = match finished.end {
            End::Code(code) => code,
            End::Interrupted => {
                return Err(ExpectedError {
                    message: "interrupted while measuring".to_owned(),
                    hint: None,
                    exit: exit::INTERRUPTED,
                    excerpt: None,
                });
            }
            _ => -1,
        };
        // What is not valid, wrong or failed is in the document; the rest is not.
        match std::fs::read(&file) {
            Ok(bytes) => match Found::read(&bytes) {
                Some(Ok(found)) => Ok(Some(Loaded {
                    named: Named {
                        name: spec.display().to_string(),
                        found,
                        only: only.clone(),
                    },
                    bytes,
                })),
                _ => Err(ExpectedError::internal(format!(
                    "what `ridge bench` wrote for {} cannot be read",
                    spec.display()
                ))),
            },
            Err(_) if code == i32::from(exit::USAGE.number) && states.is_some() => Ok(None),
            Err(_) => Err(refused(spec, code, &finished.output)),
        }
    }

    /// A simulated device is seeded anew for each run, as no two runs of a GPU are the same.
    fn device_of_run(&self) -> String {
        if !self.device.starts_with("sim:") || self.runs == 0 {
            return self.device.clone();
        }
        let seed = self
            .device
            .split(',')
            .filter_map(|part| part.trim().strip_prefix("seed=")?.parse::<u64>().ok())
            .next_back()
            .unwrap_or(SEED);
        format!(
            "{},seed={}",
            self.device,
            seed.wrapping_add(self.runs as u64)
        )
    }
}

/// Why there is no result, in the words of the process that was to measure.
fn refused(spec: &std::path::Path, code: i32, said: &str) -> ExpectedError {
    let code = exit::ALL
        .iter()
        .find(|known| i32::from(known.number) == code)
        .copied()
        .filter(|known| *known != exit::FINE)
        .unwrap_or(exit::UNABLE);
    let mut lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or("it said nothing");
    let hint = said
        .lines()
        .find_map(|line| line.trim().strip_prefix("try: "))
        .map_or_else(|| format!("ridge bench {}", spec.display()), str::to_owned);
    ExpectedError {
        message: format!(
            "cannot measure {}: {}",
            spec.display(),
            first.strip_prefix("error: ").unwrap_or(first)
        ),
        hint: Some(hint),
        exit: code,
        excerpt: None,
    }
}

/// A text as a regular expression of itself.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        if !letter.is_alphanumeric()
            && letter != '_'
            && letter.is_ascii()
            && !letter.is_whitespace()
        {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_a_simulated_device_differ_in_their_seed() {
        let never = || false;
        let device = |device: &str, runs: usize| {
            let mut measurer = Measurer::new(&[], device, &never).unwrap();
            measurer.runs = runs;
            measurer.device_of_run()
        };
        assert_eq!(device("sim:h200", 0), "sim:h200");
        assert_eq!(device("sim:h200", 2), "sim:h200,seed=3");
        assert_eq!(
            device("sim:h200,seed=40,noise=0.01", 1),
            "sim:h200,seed=40,noise=0.01,seed=41"
        );
        assert_eq!(device("0", 5), "0");
    }

    #[test]
    fn names_of_states_are_no_expressions() {
        let filter =
            crate::filter::NameFilter::new(Some(&format!("^({})$", escaped("a.b[n=4, m=2]"))))
                .unwrap();
        assert!(filter.matches("a.b[n=4, m=2]") && !filter.matches("aXb[n=4, m=2]"));
    }
}
