//! What a GPU reaches, measured with loops of one instruction, copies, empty launches and the vendor's library.
//!
//! [`measure`] measures one family on a [`ridge_gpu::Device`]; [`judge`] puts data sheet and expectations beside the
//! figures. Families are measured one by one, so that one that fails takes no other with it.
//!
//! The kernels are in `kernels/`. What the compiler makes of their loops is checked by `scripts/ceilings_sass.py`: it
//! counts the instructions, since a loop that is folded or whose loads are hoisted gives a figure that is too good.

mod atomics;
mod cache;
pub mod document;
mod dram;
mod judge;
mod launch;
mod link;
mod measured;
mod peer;
mod probe;
mod runner;
mod tensor;
mod vector;

pub use judge::judge;

use ridge_gpu::Device;

use crate::protocol::Failure;
use document::{Family, Measured, Settings};
use runner::Runner;

/// Measures a family; `tell` hears what goes on.
///
/// # Errors
/// When the family cannot be measured at all. A figure that this device has not is no error, but missing; a machine with
/// one GPU has no figures of others, and none is missing.
pub fn measure(
    device: &dyn Device,
    family: Family,
    settings: &Settings,
    tell: &mut dyn FnMut(&str),
) -> Result<Measured, Failure> {
    let runner = Runner::new(device, settings)?;
    let mut measured = Measured::default();
    match family {
        Family::Dram => dram::measure(&runner, &mut measured, tell)?,
        Family::L2 => cache::l2(&runner, &mut measured, tell)?,
        Family::L1 => cache::l1(&runner, &mut measured, tell)?,
        Family::Vector => vector::measure(&runner, &mut measured, tell)?,
        Family::Tensor => tensor::measure(&runner, &mut measured, tell)?,
        Family::Atomics => atomics::measure(&runner, &mut measured, tell)?,
        Family::Launch => launch::measure(&runner, &mut measured, tell)?,
        Family::Link => link::measure(&runner, &mut measured, tell)?,
        Family::Peer => peer::measure(&runner, &mut measured, tell)?,
    }
    Ok(measured)
}

#[cfg(test)]
mod tests;
