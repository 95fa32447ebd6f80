//! Documents of which one kernel is meant: `FILE#NAME`, or one launch of it with `FILE#NAME@LAUNCH`.

use ridge_bench::document::Document as Bench;
use ridge_diagnose::document::Document as Diagnosis;

use crate::error::ExpectedError;
use crate::filter::{Address, LeftOut};

/// Keeps the kernels that are meant.
///
/// # Errors
/// When the document has kernels and none is meant; the message offers those that are there.
pub(crate) fn kernels(diagnosis: &mut Diagnosis, address: &Address) -> Result<(), ExpectedError> {
    let mut left_out = LeftOut::default();
    diagnosis.kernels.retain(|kernel| {
        let is_meant = kernel
            .launches
            .iter()
            .any(|launch| address.selects(&kernel.name, launch.index));
        if !is_meant {
            left_out.add(&kernel.name, kernel.diagnosed_launch);
        }
        is_meant
    });
    told(diagnosis.kernels.is_empty(), &left_out, address)
}

/// Keeps the states of the kernel that is meant. States are counted as launches are.
///
/// # Errors
/// As for [`kernels`].
pub(crate) fn states(document: &mut Bench, address: &Address) -> Result<(), ExpectedError> {
    let mut left_out = LeftOut::default();
    let mut place = 0;
    document.states.retain(|state| {
        let is_meant = address.selects(&state.kernel, place);
        if !is_meant {
            left_out.add(&state.kernel, place);
        }
        place += 1;
        is_meant
    });
    told(document.states.is_empty(), &left_out, address)
}

fn told(is_empty: bool, left_out: &LeftOut, address: &Address) -> Result<(), ExpectedError> {
    if is_empty && !left_out.is_empty() {
        return Err(left_out.nothing_at(address));
    }
    Ok(())
}
