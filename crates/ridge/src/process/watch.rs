//! Waiting for a program, with an eye on other things.

use std::io;
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::Duration;

/// Waits until a program has ended, and looks after other things meanwhile: what those return ends the waiting, with the
/// program as it is then.
///
/// # Errors
/// When the system does not tell about the program, or when what is done meanwhile fails.
pub(crate) fn watch<E>(
    child: &mut Child,
    look: Duration,
    mut meanwhile: impl FnMut(&mut Child) -> io::Result<Option<E>>,
) -> io::Result<Result<ExitStatus, E>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Ok(status));
        }
        if let Some(end) = meanwhile(child)? {
            return Ok(Err(end));
        }
        thread::sleep(look);
    }
}
