//! The lock of the SM clock.

use ridge_bench::document::Machine;
use ridge_gpu::clocks::Keeper;
use ridge_model::quantity::Hertz;

use crate::error::ExpectedError;
use crate::output::Output;
use crate::worker::KEEPER;

/// The clock to lock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum LockClocks {
    /// The base clock.
    Base,
    /// One of one's choice.
    At(Hertz),
}

/// Locks the clock in a process of its own, which restores it whatever becomes of this one.
pub(super) fn lock(
    clock: LockClocks,
    machine: &Machine,
    output: &Output,
) -> Result<Keeper, ExpectedError> {
    let refused = |reason: String| {
        ExpectedError::unable(format!("cannot lock the clock: {reason}")).with_hint(
            "leave out --lock-clocks: samples whose clock is not held are rejected anyway",
        )
    };
    if machine.is_simulated {
        return Err(refused("the device is simulated".to_owned()));
    }
    if machine.is_mig == Some(true) {
        return Err(refused(
            "the device is a partition (MIG), whose neighbours have the same clock".to_owned(),
        ));
    }
    let uuid = machine
        .uuid
        .as_deref()
        .ok_or_else(|| refused("the GPU has no identifier".to_owned()))?;
    let program = std::env::current_exe().map_err(|error| refused(error.to_string()))?;
    let mut command = std::process::Command::new(program);
    command.arg(KEEPER).arg(uuid).arg(match clock {
        LockClocks::Base => "base".to_owned(),
        LockClocks::At(clock) => clock.get().to_string(),
    });
    let keeper = Keeper::start(command).map_err(|error| {
        let mut expected = refused(error.to_string());
        if let Some(hint) = error.hint() {
            expected.hint = Some(hint);
        }
        expected
    })?;
    output.note(&format!(
        "the SM clock is locked to {:.4} until the run ends, and then left to the driver: NVML does not tell what was locked before",
        keeper.clock()
    ));
    Ok(keeper)
}

/// Leaves the clock to the driver, and waits until that is done.
pub(super) fn restore(keeper: Keeper) -> Result<(), ExpectedError> {
    keeper.restore().map_err(|error| {
        let mut expected = ExpectedError::unable(error.to_string());
        expected.hint = error.hint();
        expected
    })
}
