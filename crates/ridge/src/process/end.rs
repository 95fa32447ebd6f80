//! The end of a process that has children.

use std::io;
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use super::LOOK;

/// How long a process that was asked to end may take before it is ended: tools write what they have.
const GRACE: Duration = Duration::from_secs(3);
/// Ends a process and its children: first asks, then insists. Tools start the program in a session of its own, so that a
/// group is not enough.
pub(super) fn finish(child: &mut Child) -> io::Result<()> {
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
pub(super) fn runs(process: u32) -> bool {
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
