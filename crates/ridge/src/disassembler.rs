//! SASS text from the user's own `nvdisasm`, where there is one.
//!
//! A report holds machine code, but no text of it. Nothing here is needed for an answer: without the disassembler,
//! instructions are shown by their place alone.

use std::env;
use std::fs;
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use ncu_rep::cubin::{Cubin, sass};
use ncu_rep::report::Source;
use ridge_diagnose::CodeMap;

/// Longer than large functions take, and short enough to wait for a program that hangs.
const PATIENCE: Duration = Duration::from_secs(20);
/// It takes a third of a second to start.
const POLL: Duration = Duration::from_millis(5);
/// A line of text for each of four million instructions.
const MAX_LISTING: u64 = 256 << 20;

pub(crate) struct Disassembler {
    program: PathBuf,
    /// The first thing that went wrong: for the next module it would likely be the same.
    failure: OnceLock<String>,
}

impl Disassembler {
    /// Looks in `PATH`, then in the toolkit that `CUDA_HOME` or `CUDA_PATH` names.
    pub(crate) fn find() -> Option<Self> {
        let path = env::var_os("PATH").unwrap_or_default();
        let toolkits = ["CUDA_HOME", "CUDA_PATH"]
            .into_iter()
            .filter_map(env::var_os)
            .map(|toolkit| Path::new(&toolkit).join("bin"));
        let name = format!("nvdisasm{}", env::consts::EXE_SUFFIX);
        let program = env::split_paths(&path)
            .chain(toolkits)
            // An empty entry means the working directory, where a stranger's files may lie.
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join(&name))
            .find(|program| program.is_file())?;
        Some(Self {
            program,
            failure: OnceLock::new(),
        })
    }

    /// Adds the text of some functions of a module to its map. What goes wrong is kept for [`Self::failure`].
    pub(crate) fn add_to(&self, map: &mut CodeMap, source: &Source<'_>, functions: &[&str]) {
        let Some(bytes) = source.cubin else { return };
        let Ok(cubin) = Cubin::parse(bytes) else {
            return; // The map is without it, too.
        };
        let symbols: Vec<String> = functions
            .iter()
            .filter_map(|name| cubin.function(name)?.symbol)
            .map(|symbol| symbol.to_string())
            .collect();
        if symbols.is_empty() || self.failure.get().is_some() {
            return;
        }
        match self.listing(bytes, Some(&symbols.join(","))) {
            Ok(text) => map.add_disassembly(sass::instructions(&text)),
            Err(failure) => {
                // Another thread may have failed first; one message is enough.
                let _ = self.failure.set(failure);
            }
        }
    }

    /// Why instructions have no text although there is a disassembler.
    pub(crate) fn failure(&self) -> Option<String> {
        let failure = self.failure.get()?;
        Some(format!(
            "instructions are shown without their text: {} {failure}",
            self.program.display()
        ))
    }

    /// The text of a whole module.
    pub(crate) fn whole(&self, cubin: &[u8]) -> Result<String, String> {
        self.listing(cubin, None)
    }

    fn listing(&self, cubin: &[u8], symbols: Option<&str>) -> Result<String, String> {
        let in_vain = |what: &str, error: std::io::Error| format!("{what}: {error}");
        let mut file = tempfile::Builder::new()
            .prefix("ridge-")
            .suffix(".cubin")
            .tempfile()
            .map_err(|error| in_vain("was not run, as there is no temporary file", error))?;
        file.write_all(cubin)
            .map_err(|error| in_vain("was not run, as the code cannot be written", error))?;
        // Files, not pipes: nobody has to read them while the program runs.
        let mut output = tempfile::tempfile().map_err(|error| in_vain("was not run", error))?;
        let mut messages = tempfile::tempfile().map_err(|error| in_vain("was not run", error))?;
        let status = self
            .run(file.path(), symbols, &output, &messages)
            .map_err(|error| in_vain("failed", error))?;
        if !status.success() {
            let text = beginning(&mut messages, 4096).unwrap_or_default();
            let reason = text.lines().find(|line| !line.trim().is_empty());
            return Err(format!(
                "failed ({status}): {}",
                reason.unwrap_or("no reason given")
            ));
        }
        beginning(&mut output, MAX_LISTING)
            .map_err(|error| in_vain("wrote what cannot be read", error))
    }

    fn run(
        &self,
        cubin: &Path,
        symbols: Option<&str>,
        output: &fs::File,
        messages: &fs::File,
    ) -> std::io::Result<ExitStatus> {
        let mut command = Command::new(&self.program);
        command.arg("--print-code");
        if let Some(symbols) = symbols {
            command.args(["--cuda-function-index", symbols]);
        }
        let mut child = command
            .arg(cubin)
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(messages.try_clone()?)
            .spawn()?;
        let start = Instant::now();
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status);
            }
            if start.elapsed() > PATIENCE {
                child.kill()?;
                child.wait()?;
                return Err(std::io::Error::new(
                    std::io::ErrorKind::TimedOut,
                    format!("no answer within {} s", PATIENCE.as_secs()),
                ));
            }
            thread::sleep(POLL);
        }
    }
}

fn beginning(file: &mut fs::File, limit: u64) -> std::io::Result<String> {
    file.rewind()?;
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
