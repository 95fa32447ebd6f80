//! Numbers of the command line: sizes, amounts and capabilities as people type them.

use ridge_model::ComputeCapability;
use ridge_model::occupancy::SmLimits;
use ridge_model::quantity::Bytes;

/// A whole number of registers, barriers, blocks or SMs. What is too large for a launch is said later, with the limit.
pub(crate) fn count(text: &str) -> Result<u32, String> {
    let digits = text.trim();
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_number {
        return digits
            .parse()
            .map_err(|_| format!("the number is larger than {}", u32::MAX));
    }
    Err(match digits.strip_prefix('-') {
        Some(rest) if rest.bytes().all(|byte| byte.is_ascii_digit()) => {
            "a number below zero means nothing here".to_owned()
        }
        _ => "expected a whole number such as 32".to_owned(),
    })
}

/// The same, but at least one.
pub(crate) fn positive(text: &str) -> Result<u32, String> {
    match count(text)? {
        0 => Err("expected at least 1".to_owned()),
        number => Ok(number),
    }
}

/// The most in x, y and z. Technical specifications of the CUDA programming guide: the same for every compute capability
/// that is known here.
type Most = [u32; 3];
const BLOCK: Most = [1024, 1024, 64];
const GRID: Most = [2_147_483_647, 65_535, 65_535];

/// A size in x, y and z: one number, or up to three.
fn extent(text: &str) -> Result<[u32; 3], String> {
    let parts: Vec<&str> = text.split(['x', 'X', ',', '*']).collect();
    if parts.len() > 3 {
        return Err("expected at most three numbers, as in 16x16x1".to_owned());
    }
    let mut size = [1; 3];
    for (place, part) in size.iter_mut().zip(&parts) {
        *place = count(part).map_err(|reason| match parts.len() > 1 {
            true => format!("{reason}; sizes are written as 256, 16x16 or 8x8x4"),
            false => reason,
        })?;
    }
    Ok(size)
}

/// The first of x, y and z that is too large.
fn within(size: [u32; 3], most: Most, whole: &str, part: &str) -> Result<u64, String> {
    for (axis, (number, most)) in ["x", "y", "z"].iter().zip(size.iter().zip(most)) {
        if *number > most {
            return Err(format!(
                "{number} {part} in {axis} are too many: {whole} has at most {most} in {axis}"
            ));
        }
    }
    // Limits of 31, 16 and 16 bits make a product of less than 64.
    Ok(size.into_iter().map(u64::from).product())
}

/// Threads of a block. How many there are in all is a limit of the device.
pub(crate) fn block(text: &str) -> Result<u64, String> {
    within(extent(text)?, BLOCK, "a block", "threads")
}

/// Blocks of a grid.
pub(crate) fn grid(text: &str) -> Result<u64, String> {
    match within(extent(text)?, GRID, "a grid", "blocks")? {
        0 => Err("a grid has at least 1 block".to_owned()),
        blocks => Ok(blocks),
    }
}

/// An amount of memory, possibly none.
pub(crate) fn bytes(text: &str) -> Result<u32, String> {
    let text = text.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte == b'0') {
        return Ok(0);
    }
    let bytes: Bytes = text
        .parse()
        .map_err(|error: ridge_model::quantity::ParseError| error.to_string())?;
    let bytes = bytes.get();
    if bytes.fract() != 0.0 {
        return Err("expected whole bytes".to_owned());
    }
    if bytes > f64::from(u32::MAX) {
        return Err("no device has so much shared memory: an SM has at most 228 KiB".to_owned());
    }
    // Whole and in range, as just checked.
    Ok(bytes as u32)
}

/// A compute capability: `9.0`, `90`, `sm_90` or `sm_90a`.
pub(crate) fn capability(text: &str) -> Result<ComputeCapability, String> {
    let expected =
        || "expected a compute capability such as 9.0 or sm_90; --device takes a name".to_owned();
    let lower = text.trim().to_ascii_lowercase();
    let digits = ["sm_", "compute_", "sm", "cc"]
        .into_iter()
        .find_map(|prefix| lower.strip_prefix(prefix))
        .unwrap_or(&lower)
        .trim_end_matches(['a', 'f']);
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (major, minor) = match digits.split_once('.') {
        Some(parts) => parts,
        None if digits.len() >= 2 && digits.is_ascii() => digits.split_at(digits.len() - 1),
        None => return Err(expected()),
    };
    if !is_digits(major) || !is_digits(minor) {
        return Err(expected());
    }
    let number = |text: &str| text.parse().map_err(|_| expected());
    let capability = ComputeCapability {
        major: number(major)?,
        minor: number(minor)?,
    };
    if SmLimits::of(capability).is_some() {
        return Ok(capability);
    }
    let known: Vec<String> = ComputeCapability::KNOWN
        .iter()
        .map(ToString::to_string)
        .collect();
    Err(format!(
        "compute capability {capability} is not known; the nearest that is known is {}, of {}",
        SmLimits::nearest(capability),
        known.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_up_to_three_numbers() {
        assert_eq!(block("256"), Ok(256));
        assert_eq!(block("16x16"), Ok(256));
        assert_eq!(block("8,8,4"), Ok(256));
        assert_eq!(block("0"), Ok(0));
        for bad in [
            "",
            "x",
            "16x",
            "1x1x1x1",
            "-1",
            "1.5",
            "nan",
            "4294967296x1",
        ] {
            assert!(block(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn each_direction_has_a_limit() {
        assert_eq!(block("1x1x64"), Ok(64));
        assert_eq!(block("1024x1x1"), Ok(1024));
        assert_eq!(grid("2147483647"), Ok(2_147_483_647));
        assert_eq!(
            grid("2147483647x65535x65535"),
            Ok(2_147_483_647 * 65_535 * 65_535)
        );
        for (bad, limit) in [
            (block("1x1x65"), "64 in z"),
            (block("1025"), "1024 in x"),
            (block("1x1025"), "1024 in y"),
            (grid("2147483648"), "2147483647 in x"),
            (grid("1x65536"), "65535 in y"),
            (grid("1x1x65536"), "65535 in z"),
            (grid("65536x65536x65536"), "65535 in y"),
            (grid("4294967295x4294967295x4294967295"), "2147483647 in x"),
        ] {
            let reason = bad.unwrap_err();
            assert!(reason.ends_with(limit), "{reason}");
        }
    }

    #[test]
    fn grids_are_not_empty_and_not_endless() {
        assert_eq!(grid("4096x2"), Ok(8192));
        for bad in ["0", "16x0", "4294967295x4294967295", "-1"] {
            assert!(grid(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn memory_has_units() {
        assert_eq!(bytes("0"), Ok(0));
        assert_eq!(bytes("49152"), Ok(49_152));
        assert_eq!(bytes("48KiB"), Ok(49_152));
        for bad in ["", "-1", "nan", "inf", "1e99", "8GiB", "12mb", "0.5"] {
            assert!(bytes(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn capabilities_are_spelled_freely() {
        for text in ["9.0", "90", "sm_90", "SM90", "sm_90a", "compute_90"] {
            assert_eq!(
                capability(text),
                Ok(ComputeCapability { major: 9, minor: 0 }),
                "{text}"
            );
        }
        assert_eq!(
            capability("120"),
            Ok(ComputeCapability {
                major: 12,
                minor: 0
            })
        );
        assert!(
            capability("9.5")
                .unwrap_err()
                .contains("nearest that is known is 9.0")
        );
        for bad in [
            "",
            "9",
            "a.b",
            "-9.0",
            "9.0.0",
            "é0",
            "h200",
            "99999999999.0",
        ] {
            assert!(capability(bad).is_err(), "{bad}");
        }
    }
}
