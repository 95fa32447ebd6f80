//! Other people's programs, run with a time limit and with their children ended when it is over.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use ridge_collect::sanitize::End;

/// How often a process is looked at.
const LOOK: Duration = Duration::from_millis(20);
/// How long a process that was asked to end may take before it is ended: tools write what they have.
const GRACE: Duration = Duration::from_secs(3);
/// The end of what a program printed that is kept.
const TAIL_BYTES: u64 = 4096;

/// What became of a program.
pub(crate) struct Finished {
    pub(crate) end: End,
    pub(crate) took: Duration,
    /// The end of what it printed, both streams together.
    pub(crate) output: String,
}

/// Runs a program to its end, to the limit, or until somebody wants the run to end. It reads nothing.
pub(crate) fn run(
    program: &Path,
    arguments: &[OsString],
    limit: Option<Duration>,
    is_interrupted: &dyn Fn() -> bool,
) -> io::Result<Finished> {
    // A file, not a pipe: nobody has to read it while the program runs.
    let mut output = tempfile::tempfile()?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output.try_clone()?);
    // An interrupt from the terminal is for the process that asks; it decides what becomes of this one.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let start = Instant::now();
    let mut child = command.spawn()?;
    let end = loop {
        if let Some(status) = child.try_wait()? {
            break end_of(status);
        }
        let why = if is_interrupted() {
            End::Interrupted
        } else if limit.is_some_and(|limit| start.elapsed() >= limit) {
            End::TimedOut
        } else {
            thread::sleep(LOOK);
            continue;
        };
        finish(&mut child)?;
        break why;
    };
    let took = start.elapsed();
    Ok(Finished {
        end,
        took,
        output: tail(&mut output)?,
    })
}

fn end_of(status: ExitStatus) -> End {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return End::Signal(signal);
    }
    End::Code(status.code().unwrap_or(-1))
}

/// Ends a process and its children: first asks, then insists. Tools start the program in a session of its own, so that a
/// group is not enough.
fn finish(child: &mut Child) -> io::Result<()> {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal, kill_process, kill_process_group};
        let pid = |number: u32| i32::try_from(number).ok().and_then(Pid::from_raw);
        let whole = descendants(child.id());
        let leader = pid(child.id());
        let send = |signal| {
            if let Some(group) = leader {
                let _ = kill_process_group(group, signal);
            }
            for one in whole.iter().copied().filter_map(pid) {
                let _ = kill_process(one, signal);
            }
        };
        send(Signal::TERM);
        let asked = Instant::now();
        while asked.elapsed() < GRACE && child.try_wait()?.is_none() {
            thread::sleep(LOOK);
        }
        // Children may be left although the process is gone.
        send(Signal::KILL);
        // The last signal takes a moment too: whoever goes on finds them gone.
        let told = Instant::now();
        while told.elapsed() < GRACE && whole.iter().any(|one| runs(*one)) {
            thread::sleep(LOOK);
        }
    }
    // It may have ended in the meantime.
    let _ = child.kill();
    child.wait().map(|_| ())
}

/// Whether a process is there and has not ended, as `/proc` says.
#[cfg(unix)]
fn runs(process: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{process}/stat"))
        .is_ok_and(|stat| !stat.contains(") Z "))
}

/// The children of a process, their children and so on, as `/proc` lists them; none where there is no `/proc`.
#[cfg(unix)]
fn descendants(of: u32) -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    let parents: Vec<(u32, u32)> = entries
        .filter_map(|entry| {
            let number = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let stat = std::fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
            // The name in parentheses may hold anything.
            let (_, rest) = stat.rsplit_once(") ")?;
            Some((number, rest.split(' ').nth(1)?.parse().ok()?))
        })
        .collect();
    let mut found = vec![of];
    let mut place = 0;
    while let Some(parent) = found.get(place).copied() {
        place += 1;
        for (number, _) in parents.iter().filter(|(_, own)| *own == parent) {
            if !found.contains(number) {
                found.push(*number);
            }
        }
    }
    found.remove(0);
    found
}

/// The end of a file, from a whole line on.
fn tail(file: &mut File) -> io::Result<String> {
    let length = file.seek(SeekFrom::End(0))?;
    let start = length.saturating_sub(TAIL_BYTES);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(match text.split_once('\n') {
        Some((_, whole)) if start > 0 => whole.to_owned(),
        _ => text,
    })
}

/// Where a program of this name is: a path as it is, else in `PATH`, else in other folders. Relative folders may hold a
/// stranger's files.
///
/// # Errors
/// Where was looked; nowhere for a path.
pub(crate) fn find(name: &OsStr, more: &[PathBuf]) -> Result<PathBuf, Vec<String>> {
    let as_path = Path::new(name);
    if as_path.components().count() > 1 {
        return if as_path.is_file() {
            Ok(as_path.to_owned())
        } else {
            Err(Vec::new())
        };
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let absolute = |folder: &PathBuf| folder.is_absolute();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).filter(absolute).collect();
    let mut looked = vec!["the folders of PATH".to_owned()];
    for folder in more.iter().filter(|folder| absolute(folder)) {
        if !folders.contains(folder) {
            looked.push(folder.display().to_string());
            folders.push(folder.clone());
        }
    }
    let mut file = name.to_owned();
    file.push(std::env::consts::EXE_SUFFIX);
    match folders
        .iter()
        .map(|folder| folder.join(&file))
        .find(|program| is_program(program))
    {
        Some(program) => Ok(program),
        None => Err(looked),
    }
}

fn is_program(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::metadata(path)
            .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
    }
    #[cfg(not(unix))]
    path.is_file()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Option<Duration>, is_interrupted: bool) -> Finished {
        let arguments = ["-c", script].map(OsString::from);
        run(Path::new("/bin/sh"), &arguments, limit, &|| is_interrupted).unwrap()
    }

    #[test]
    fn what_became_of_a_program_is_told() {
        let finished = shell("echo out; echo err >&2; exit 3", None, false);
        assert_eq!(finished.end, End::Code(3));
        assert_eq!(finished.output, "out\nerr\n");
        assert_eq!(shell("kill -9 $$", None, false).end, End::Signal(9));
    }

    #[test]
    fn a_limit_and_an_interrupt_end_children_too() {
        // The inner process would hold the output open, and outlive the outer one.
        let script = "(sleep 100; echo survived) & wait";
        let limit = Some(Duration::from_millis(50));
        assert_eq!(shell(script, limit, false).end, End::TimedOut);
        assert_eq!(shell(script, None, true).end, End::Interrupted);
        // Nor does one in a session of its own outlive it.
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pid");
        let script = format!(
            "setsid sh -c 'echo $$ >{0}; exec sleep 100' & wait",
            file.display()
        );
        let limit = Some(Duration::from_millis(400));
        assert_eq!(shell(&script, limit, false).end, End::TimedOut);
        let pid: u32 = std::fs::read_to_string(file)
            .unwrap()
            .trim()
            .parse()
            .unwrap();
        assert!(!runs(pid), "still there");
    }

    #[test]
    fn long_outputs_are_kept_from_a_whole_line_on() {
        let finished = shell(
            "i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done",
            None,
            false,
        );
        assert!(finished.output.starts_with("line "));
        assert!(finished.output.ends_with("line 1999\n"));
        assert!(finished.output.len() <= 4096);
    }

    #[test]
    fn programs_are_found_by_name_and_path() {
        assert_eq!(
            find(OsStr::new("/bin/sh"), &[]).unwrap(),
            Path::new("/bin/sh")
        );
        assert!(find(OsStr::new("/bin/no-such-program"), &[]).is_err());
        let more = [PathBuf::from("/no-such-folder"), PathBuf::from("relative")];
        let looked = find(OsStr::new("no-such-program"), &more).unwrap_err();
        assert_eq!(looked, ["the folders of PATH", "/no-such-folder"]);
    }
}
