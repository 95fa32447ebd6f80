//! Compiles CUDA source with NVRTC, when that library is installed.

mod library;

use std::ffi::CString;
use std::fmt;
use std::path::{Path, PathBuf};

use ridge_model::ComputeCapability;

use library::{Library, Program};

/// Names under which the system's loader may know the library, newest first.
#[cfg(not(windows))]
pub const NAMES: &[&str] = &[
    "libnvrtc.so",
    "libnvrtc.so.13",
    "libnvrtc.so.12",
    "libnvrtc.so.11.2",
];
/// Names under which the system's loader may know the library, newest first.
#[cfg(windows)]
pub const NAMES: &[&str] = &[
    "nvrtc64_130_0.dll",
    "nvrtc64_120_0.dll",
    "nvrtc64_112_0.dll",
];

/// The compiler, loaded.
#[derive(Debug)]
pub struct Compiler {
    library: Library,
    version: (u32, u32),
}

/// Why there is no compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoCompiler {
    /// None of the candidates can be loaded.
    NotFound {
        /// The candidates, in the order in which they were tried.
        tried: Vec<PathBuf>,
    },
    /// A library was loaded that lacks a function.
    TooOld {
        /// The library.
        path: PathBuf,
        /// The function.
        function: &'static str,
    },
    /// The library was loaded and does not answer.
    Broken {
        /// The library.
        path: PathBuf,
        /// What it said.
        reason: String,
    },
}

impl NoCompiler {
    /// The stable code of the reason.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "GPU0001",
            Self::TooOld { .. } => "GPU0002",
            Self::Broken { .. } => "GPU0003",
        }
    }
}

impl fmt::Display for NoCompiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { tried } => {
                /// There are hundreds of candidates where every version of Python counts; these come first.
                const NAMED: usize = 5;
                write!(f, "NVRTC is not installed; looked for")?;
                for (place, path) in tried.iter().take(NAMED).enumerate() {
                    let comma = if place == 0 { " " } else { ", " };
                    write!(f, "{comma}{}", path.display())?;
                }
                match tried.len().saturating_sub(NAMED) {
                    0 => Ok(()),
                    more => write!(
                        f,
                        " and {more} more in toolkits, conda and Python environments"
                    ),
                }
            }
            Self::TooOld { path, function } => {
                write!(f, "{} is too old: it has no {function}", path.display())
            }
            Self::Broken { path, reason } => {
                write!(f, "{} does not work: {reason}", path.display())
            }
        }
    }
}

impl std::error::Error for NoCompiler {}

/// Source to compile.
#[derive(Clone, Copy, Debug)]
pub struct Source<'s> {
    /// CUDA C++.
    pub text: &'s str,
    /// What the compiler calls it in its messages.
    pub name: &'s str,
    /// What to compile for.
    pub capability: ComputeCapability,
    /// Folders in which headers are looked for.
    pub include_paths: &'s [PathBuf],
    /// Options. One that names an architecture goes before the capability.
    pub options: &'s [String],
    /// Headers by the name under which the source includes them.
    pub headers: &'s [(String, String)],
    /// Kernels whose mangled names are wanted.
    pub name_expressions: &'s [String],
}

impl<'s> Source<'s> {
    /// Source that needs nothing else.
    #[must_use]
    pub const fn new(text: &'s str, name: &'s str, capability: ComputeCapability) -> Self {
        Self {
            text,
            name,
            capability,
            include_paths: &[],
            options: &[],
            headers: &[],
            name_expressions: &[],
        }
    }
}

/// What the compiler made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiled {
    /// The image: a cubin, or PTX where an option names a virtual architecture.
    pub image: Vec<u8>,
    /// What it printed, such as warnings.
    pub log: String,
    /// The mangled name for each of [`Source::name_expressions`].
    pub lowered_names: Vec<String>,
}

/// Why source was not compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompileError {
    /// A name, the text or a path holds a zero byte, which no compiler takes.
    ZeroByte,
    /// The source is wrong, or needs what is not there.
    Refused {
        /// What the library says.
        reason: String,
        /// What the compiler printed.
        log: String,
    },
}

impl CompileError {
    /// The stable code of the reason.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::ZeroByte => "GPU0011",
            Self::Refused { .. } => "GPU0012",
        }
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ZeroByte => write!(f, "the source or a path holds a zero byte"),
            Self::Refused { reason, log } => {
                // The first error says most; what follows is often its consequence.
                let first = log.lines().find(|line| line.contains("error"));
                write!(f, "{reason}")?;
                first.map_or(Ok(()), |line| write!(f, ": {}", line.trim()))
            }
        }
    }
}

impl std::error::Error for CompileError {}

impl Compiler {
    /// Loads the first candidate that is there: a path, or a name that the system's loader looks up.
    ///
    /// # Errors
    /// When none can be loaded, or the one that can lacks a function.
    pub fn load(candidates: &[PathBuf]) -> Result<Self, NoCompiler> {
        let loaded = candidates
            .iter()
            .find_map(|path| Some((Library::load(path)?, path)));
        let Some((library, path)) = loaded else {
            return Err(NoCompiler::NotFound {
                tried: candidates.to_vec(),
            });
        };
        let mut library = library.map_err(|function| NoCompiler::TooOld {
            path: path.clone(),
            function,
        })?;
        let version = library.version().map_err(|reason| NoCompiler::Broken {
            path: path.clone(),
            reason,
        })?;
        library.load_builtins(path, version);
        Ok(Self { library, version })
    }

    /// Major and minor version of the library.
    #[must_use]
    pub const fn version(&self) -> (u32, u32) {
        self.version
    }

    /// Compiles source.
    ///
    /// # Errors
    /// When the compiler refuses it.
    pub fn compile(&self, source: &Source<'_>) -> Result<Compiled, CompileError> {
        let text = |text: &str| CString::new(text).map_err(|_| CompileError::ZeroByte);
        let texts = |texts: &[String]| -> Result<Vec<CString>, CompileError> {
            texts.iter().map(|one| text(one)).collect()
        };
        let mut options = texts(source.options)?;
        if !source.options.iter().any(|option| is_architecture(option)) {
            let ComputeCapability { major, minor } = source.capability;
            options.push(text(&format!("--gpu-architecture=sm_{major}{minor}"))?);
        }
        for path in source.include_paths {
            options.push(text(&include(path))?);
        }
        let headers: Vec<(CString, CString)> = source
            .headers
            .iter()
            .map(|(name, header)| Ok((text(name)?, text(header)?)))
            .collect::<Result<_, CompileError>>()?;
        let expressions = texts(source.name_expressions)?;
        let program = Program::new(
            &self.library,
            &text(source.text)?,
            &text(source.name)?,
            &headers,
        )
        .map_err(|reason| CompileError::Refused {
            reason,
            log: String::new(),
        })?;
        let named = expressions
            .iter()
            .try_for_each(|expression| program.add_name(expression));
        let compiled = named.and_then(|()| program.compile(&options));
        let log = program.log().unwrap_or_default();
        let made = compiled.and_then(|()| {
            let lowered = expressions
                .iter()
                .map(|expression| program.lowered_name(expression))
                .collect::<Result<_, String>>()?;
            Ok((program.image()?, lowered))
        });
        match made {
            Ok((image, lowered_names)) => Ok(Compiled {
                image,
                log,
                lowered_names,
            }),
            Err(reason) => Err(CompileError::Refused { reason, log }),
        }
    }
}

/// Whether an option names an architecture, in one of its spellings.
fn is_architecture(option: &str) -> bool {
    ["--gpu-architecture", "-arch"].iter().any(|name| {
        option
            .strip_prefix(name)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    })
}

fn include(path: &Path) -> String {
    format!("--include-path={}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_said() {
        let tried = vec![
            PathBuf::from("/nonexistent/libnvrtc.so"),
            PathBuf::from("/nonexistent/other.so"),
        ];
        let error = Compiler::load(&tried).unwrap_err();
        assert_eq!(error, NoCompiler::NotFound { tried });
        assert_eq!(error.code(), "GPU0001");
        assert_eq!(
            error.to_string(),
            "NVRTC is not installed; looked for /nonexistent/libnvrtc.so, /nonexistent/other.so"
        );
        assert!(Compiler::load(&[]).is_err());
    }

    #[test]
    fn the_first_error_of_the_log_is_told() {
        let error = CompileError::Refused {
            reason: "NVRTC_ERROR_COMPILATION".to_owned(),
            log: "k.cu(1): warning: x\nk.cu(2): error: y\nk.cu(3): error: z\n".to_owned(),
        };
        assert_eq!(
            error.to_string(),
            "NVRTC_ERROR_COMPILATION: k.cu(2): error: y"
        );
    }
}
