//! What can be said about a launch before a device refuses it with one word.

use super::{Argument, Dim3, FunctionAttributes, Launch, Properties};
use crate::error::{DeviceError, Result};

/// Clusters of more blocks than this need a device that allows them.
const PORTABLE_CLUSTER: u64 = 8;
/// The largest cluster of any device: those above [`PORTABLE_CLUSTER`] are asked for one by one.
const MAX_CLUSTER: u64 = 16;
/// Blocks in the second and third direction.
const MAX_GRID_YZ: u32 = 65_535;
/// Blocks in the first direction.
const MAX_GRID_X: u32 = i32::MAX as u32;
/// Threads of a block in the third direction.
const MAX_BLOCK_Z: u32 = 64;

/// Whether elements have a size that a device looks at.
pub(crate) fn element(size: usize) -> Result<()> {
    if matches!(size, 1 | 2 | 4 | 8) {
        Ok(())
    } else {
        invalid(format!(
            "elements of {size} bytes; 1, 2, 4 and 8 are possible"
        ))
    }
}

/// The end of the last of some elements, in bytes.
pub(crate) fn end_of(indices: &[u64], size: usize) -> u64 {
    let last = indices.iter().max();
    last.map_or(0, |last| last.saturating_add(1).saturating_mul(size as u64))
}

/// Checks a launch against kernel and device.
pub(crate) fn check(
    properties: &Properties,
    attributes: &FunctionAttributes,
    name: &str,
    launch: &Launch<'_>,
) -> Result<()> {
    let (grid, block) = (launch.grid, launch.block);
    if grid.count() == 0 || block.count() == 0 {
        return invalid(format!(
            "a grid of {grid} blocks of {block} threads has no threads"
        ));
    }
    if grid.x > MAX_GRID_X || grid.y > MAX_GRID_YZ || grid.z > MAX_GRID_YZ {
        return invalid(format!(
            "a grid of {grid} blocks; at most {MAX_GRID_X}x{MAX_GRID_YZ}x{MAX_GRID_YZ}"
        ));
    }
    let most = properties.max_threads_per_block;
    if block.count() > u64::from(most) || block.z > MAX_BLOCK_Z {
        return invalid(format!(
            "a block of {block} threads; at most {most} in all and {MAX_BLOCK_Z} in the third direction"
        ));
    }
    if let Some(allowed) = attributes.max_threads
        && block.count() > u64::from(allowed)
    {
        let registers = attributes.registers.map_or_else(String::new, |registers| {
            format!(" of {registers} registers each")
        });
        return Err(DeviceError::LaunchOutOfResources {
            function: name.to_owned(),
            detail: format!(
                "{} threads of a block{registers}, and the kernel allows {allowed}",
                block.count()
            ),
        });
    }
    let fixed = u64::from(attributes.static_shared_bytes.unwrap_or(0));
    let shared = fixed + u64::from(launch.dynamic_shared_bytes);
    let allowed = properties.shared_per_block_opt_in.get();
    if shared as f64 > allowed {
        return Err(DeviceError::LaunchOutOfResources {
            function: name.to_owned(),
            detail: format!(
                "{shared} bytes of shared memory ({fixed} of them static), and a block can have {allowed}"
            ),
        });
    }
    if let Some(cluster) = launch.cluster {
        check_cluster(properties, grid, cluster)?;
    }
    check_arguments(attributes, name, launch.arguments)
}

fn check_cluster(properties: &Properties, grid: Dim3, cluster: Dim3) -> Result<()> {
    if !properties.has_clusters {
        return Err(DeviceError::Unsupported {
            feature: "a launch in clusters",
            reason: format!(
                "compute capability {} has none, 9.0 is the first",
                properties.capability
            ),
        });
    }
    let blocks = cluster.count();
    if blocks == 0 || blocks > MAX_CLUSTER {
        return invalid(format!(
            "a cluster of {cluster} blocks; at most {PORTABLE_CLUSTER}, or {MAX_CLUSTER} where the device allows it"
        ));
    }
    let divides = |grid: u32, cluster: u32| grid.is_multiple_of(cluster);
    if divides(grid.x, cluster.x) && divides(grid.y, cluster.y) && divides(grid.z, cluster.z) {
        return Ok(());
    }
    invalid(format!(
        "a grid of {grid} blocks is no multiple of a cluster of {cluster}"
    ))
}

/// Arguments, where the driver tells what the kernel takes: one too short would make the driver read behind it.
fn check_arguments(
    attributes: &FunctionAttributes,
    name: &str,
    arguments: &[Argument<'_>],
) -> Result<()> {
    for (argument, place) in arguments.iter().zip(1..) {
        if let Argument::Buffer { buffer, offset } = argument
            && *offset > buffer.bytes()
        {
            return invalid(format!(
                "argument {place} starts {offset} bytes behind the start of a buffer of {} bytes",
                buffer.bytes()
            ));
        }
    }
    let Some(parameters) = &attributes.parameter_bytes else {
        return Ok(());
    };
    if parameters.len() != arguments.len() {
        return invalid(format!(
            "{name} takes {} arguments, and {} are given",
            parameters.len(),
            arguments.len()
        ));
    }
    for ((argument, expected), place) in arguments.iter().zip(parameters).zip(1..) {
        let given = argument.value().map_or(8, |value| value.len() as u64);
        if given != *expected {
            return invalid(format!(
                "argument {place} of {name} has {given} bytes, and the kernel takes {expected}"
            ));
        }
    }
    Ok(())
}

pub(crate) fn invalid<T>(reason: String) -> Result<T> {
    Err(DeviceError::InvalidLaunch { reason })
}

/// Checks that a range is inside a buffer.
pub(crate) fn inside(offset: u64, bytes: u64, size: u64) -> Result<()> {
    if offset.checked_add(bytes).is_some_and(|end| end <= size) {
        return Ok(());
    }
    Err(DeviceError::OutOfRange {
        offset,
        bytes,
        size,
    })
}
