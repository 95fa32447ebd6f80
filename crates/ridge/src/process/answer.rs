//! Short answers of tools that are asked beside what somebody waits for.

use std::io::{self, Read};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use super::end::finish;
use super::watch::watch;

/// What a tool said.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// What it printed, up to the bound, and then it ended well.
    Said(Vec<u8>),
    /// It ended, and not well.
    Failed,
    /// It took too long, and was ended with its children.
    TimedOut,
}

/// How often a tool that has closed its output is looked at: it ends then.
const LOOK: Duration = Duration::from_millis(1);

/// Asks a tool, which reads nothing, and whose messages nobody sees. Of a longer answer the first bytes count.
///
/// # Errors
/// When the tool cannot be started or watched.
pub(crate) fn ask(command: &mut Command, limit: Duration, most_bytes: u64) -> io::Result<Answer> {
    // The end of this process is not the end of a tool that its terminal interrupts; the limit is.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let start = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let Some(stream) = child.stdout.take() else {
        finish(&mut child)?;
        return Ok(Answer::Failed);
    };
    let (sender, receiver) = mpsc::channel();
    // What the tool leaves behind may hold its output open for ever: nobody waits for this thread.
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = stream.take(most_bytes).read_to_end(&mut bytes);
        let _ = sender.send(read.map(|_| bytes));
    });
    let said = match receiver.recv_timeout(limit) {
        Ok(said) => said?,
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
            finish(&mut child)?;
            return Ok(Answer::TimedOut);
        }
    };
    if u64::try_from(said.len()).unwrap_or(u64::MAX) >= most_bytes {
        // Enough is known, whatever else it wants to say.
        finish(&mut child)?;
        return Ok(Answer::Said(said));
    }
    let ended = watch(&mut child, LOOK, |child| {
        if start.elapsed() < limit {
            return Ok(None);
        }
        finish(child)?;
        Ok(Some(Answer::TimedOut))
    })?;
    Ok(match ended {
        Ok(status) if status.success() => Answer::Said(said),
        Ok(_) => Answer::Failed,
        Err(answer) => answer,
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str, limit_ms: u64) -> Answer {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        ask(&mut command, Duration::from_millis(limit_ms), 1000).unwrap()
    }

    #[test]
    fn answers_have_a_limit_in_time_and_size() {
        let long = 600_000;
        assert_eq!(
            shell("echo yes; echo no >&2", long),
            Answer::Said(b"yes\n".to_vec())
        );
        assert_eq!(shell("echo yes; exit 1", long), Answer::Failed);
        assert_eq!(shell("kill -9 $$", long), Answer::Failed);
        assert_eq!(shell("sleep 100", 50), Answer::TimedOut);
        // It closes its output and stays, or leaves a child behind that holds the output.
        assert_eq!(shell("exec >&-; sleep 100", 200), Answer::TimedOut);
        assert_eq!(shell("sleep 100 & exit 0", 200), Answer::TimedOut);
        // One that never stops talking.
        let Answer::Said(said) = shell("yes", long) else {
            panic!("it said enough");
        };
        assert_eq!(said.len(), 1000);
    }
}
