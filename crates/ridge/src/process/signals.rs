//! Signals that ask for an end, and what signals are called.

use std::io;
use std::process::Child;

/// Signals that ask for an end. They are the program's: this process waits for what becomes of it.
#[cfg(unix)]
pub(crate) struct Signals {
    interrupt: std::sync::Arc<std::sync::atomic::AtomicBool>,
    others: Vec<(
        rustix::process::Signal,
        std::sync::Arc<std::sync::atomic::AtomicBool>,
    )>,
}

#[cfg(unix)]
fn flag(signal: i32) -> io::Result<std::sync::Arc<std::sync::atomic::AtomicBool>> {
    let flag = std::sync::Arc::default();
    signal_hook::flag::register(signal, std::sync::Arc::clone(&flag))?;
    Ok(flag)
}

#[cfg(unix)]
impl Signals {
    /// Watches for an interrupt, a wish to end and the end of a terminal.
    pub(crate) fn watch() -> io::Result<Self> {
        let mut signals = Self::watch_wishes()?;
        let hangup = flag(signal_hook::consts::SIGHUP)?;
        signals.others.push((rustix::process::Signal::HUP, hangup));
        Ok(signals)
    }

    /// Watches for an interrupt and a wish to end. The end of a terminal ends this process, as long as it does other things
    /// than to wait.
    pub(crate) fn watch_wishes() -> io::Result<Self> {
        use signal_hook::consts::{SIGINT, SIGTERM};
        Ok(Self {
            interrupt: flag(SIGINT)?,
            others: vec![(rustix::process::Signal::TERM, flag(SIGTERM)?)],
        })
    }

    /// Hands on what has come, and says whether anything has.
    pub(crate) fn hand_on(&self, child: &mut Child) -> bool {
        use std::io::IsTerminal;
        use std::sync::atomic::Ordering;
        let send = |signal| {
            let process = i32::try_from(child.id())
                .ok()
                .and_then(rustix::process::Pid::from_raw);
            if let Some(process) = process {
                // It may have ended by itself.
                let _ = rustix::process::kill_process(process, signal);
            }
        };
        let mut has_come = false;
        if self.interrupt.swap(false, Ordering::Relaxed) {
            has_come = true;
            // Ctrl-C reaches every process of a terminal by itself, and twice is more than once.
            let is_of_terminal = io::stdin().is_terminal()
                || io::stdout().is_terminal()
                || io::stderr().is_terminal();
            if !is_of_terminal {
                send(rustix::process::Signal::INT);
            }
        }
        for (signal, flag) in &self.others {
            if flag.swap(false, Ordering::Relaxed) {
                has_come = true;
                send(*signal);
            }
        }
        has_come
    }
}

#[cfg(not(unix))]
pub(crate) struct Signals;

#[cfg(not(unix))]
impl Signals {
    #[expect(clippy::unnecessary_wraps, reason = "as on other systems")]
    pub(crate) fn watch() -> io::Result<Self> {
        Ok(Self)
    }

    #[expect(clippy::unnecessary_wraps, reason = "as on other systems")]
    pub(crate) fn watch_wishes() -> io::Result<Self> {
        Ok(Self)
    }

    pub(crate) fn hand_on(&self, _child: &mut Child) -> bool {
        false
    }
}

/// The name of a signal, as it stands behind its number.
pub(crate) fn signal_name(signal: u64) -> &'static str {
    match signal {
        1 => " (SIGHUP)",
        2 => " (SIGINT)",
        3 => " (SIGQUIT)",
        4 => " (SIGILL)",
        6 => " (SIGABRT)",
        7 => " (SIGBUS)",
        8 => " (SIGFPE)",
        9 => " (SIGKILL)",
        11 => " (SIGSEGV)",
        13 => " (SIGPIPE)",
        15 => " (SIGTERM)",
        _ => "",
    }
}
