//! What the user states, because no input can show it: how the CPU was timed, and whether results have to repeat.

use std::fmt;
use std::num::NonZeroU32;

use ridge_model::quantity::Nanos;
use serde::Deserialize;

/// What the user states.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Claims {
    /// The version on the CPU.
    pub cpu: CpuClaims,
    /// The time of the same work on the GPU.
    pub gpu_time: Option<Nanos>,
    /// Whether that time has the copies to and from the GPU in it.
    pub includes_copies: Option<bool>,
    /// Whether results have to be the same from run to run.
    pub needs_repeat: Option<bool>,
}

/// What the user states of the version on the CPU.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CpuClaims {
    /// How long it takes.
    pub time: Option<Nanos>,
    /// Threads that it ran with.
    pub threads: Option<u32>,
    /// Cores that the CPU has.
    pub cores: Option<u32>,
    /// Flags that it was compiled with.
    pub flags: Option<String>,
    /// Whether it does the same work: the same input, output and precision.
    pub is_same_work: Option<bool>,
}

/// Why a file of claims cannot be read.
#[derive(Debug)]
pub struct ClaimsError(String);

impl ClaimsError {
    /// A name that does not change.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "CKL0002"
    }
}

impl fmt::Display for ClaimsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ClaimsError {}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    cpu: Cpu,
    #[serde(default)]
    gpu: Gpu,
    #[serde(default)]
    results: Results,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cpu {
    time: Option<String>,
    threads: Option<NonZeroU32>,
    cores: Option<NonZeroU32>,
    flags: Option<String>,
    same_work: Option<bool>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Gpu {
    time: Option<String>,
    includes_copies: Option<bool>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Results {
    needs_repeat: Option<bool>,
}

impl Claims {
    /// Reads TOML with the tables `cpu`, `gpu` and `results`; all keys may be absent.
    ///
    /// # Errors
    /// When it is no TOML, has a key that is not known, or a time that is none.
    pub fn read(text: &str) -> Result<Self, ClaimsError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let file: File = toml::from_str(text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start));
            let line = before.map_or(1, |before| before.matches('\n').count() + 1);
            ClaimsError(format!("line {line}: {}", error.message()))
        })?;
        let time = |key: &str, text: Option<String>| {
            text.map(|text| {
                text.parse::<Nanos>()
                    .map_err(|error| ClaimsError(format!("{key}: {error}")))
                    .and_then(|time| match time.get() {
                        ns if ns > 0.0 && ns.is_finite() => Ok(time),
                        _ => Err(ClaimsError(format!(
                            "{key}: {text:?} is no time that something takes"
                        ))),
                    })
            })
            .transpose()
        };
        Ok(Self {
            cpu: CpuClaims {
                time: time("cpu.time", file.cpu.time)?,
                threads: file.cpu.threads.map(NonZeroU32::get),
                cores: file.cpu.cores.map(NonZeroU32::get),
                flags: file.cpu.flags,
                is_same_work: file.cpu.same_work,
            },
            gpu_time: time("gpu.time", file.gpu.time)?,
            includes_copies: file.gpu.includes_copies,
            needs_repeat: file.results.needs_repeat,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stated_is_read() {
        let claims = Claims::read(
            "[cpu]\ntime = \"120 ms\"\nthreads = 32\ncores = 64\nflags = \"-O3\"\nsame_work = true\n\
             [gpu]\ntime = \"3ms\"\nincludes_copies = true\n[results]\nneeds_repeat = false\n",
        )
        .unwrap();
        assert_eq!(claims.cpu.time, Some(Nanos::new(120e6)));
        assert_eq!(claims.gpu_time, Some(Nanos::new(3e6)));
        assert_eq!(claims.needs_repeat, Some(false));
        assert_eq!(Claims::read("").unwrap(), Claims::default());
    }

    #[test]
    fn what_is_wrong_is_named() {
        let message = |text: &str| Claims::read(text).unwrap_err().to_string();
        assert!(message("[cpu]\nthread = 3\n").contains("thread"));
        assert!(message("[cpu]\ntime = \"soon\"\n").contains("cpu.time"));
        assert!(message("[gpu]\ntime = \"0 ms\"\n").contains("gpu.time"));
        assert!(message("[cpu]\nthreads = 0\n").contains("line 2: "));
        let broken = message("[cpu]\ncores = 4\ntime = \n");
        assert!(
            broken.contains("line 3: ") && !broken.contains('\n'),
            "{broken}"
        );
    }
}
