//! Names of functions in compiled code, as their programmers wrote them.

use std::borrow::Cow;

/// Longer names stay mangled, so that the work is bounded; real ones stay below 6 kB.
const LONGEST_NAME: usize = 16 * 1024;

/// The name behind a mangled name of the Itanium C++ ABI, which nvcc uses too; any other name as it is.
pub(crate) fn demangle(mangled: &str) -> Cow<'_, str> {
    if !mangled.starts_with("_Z") || mangled.len() > LONGEST_NAME {
        return Cow::Borrowed(mangled);
    }
    cpp_demangle::Symbol::new(mangled)
        .ok()
        .and_then(|symbol| symbol.demangle().ok())
        .filter(|name| name.len() <= 4 * LONGEST_NAME)
        .map_or(Cow::Borrowed(mangled), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_demangled_or_left_alone() {
        assert_eq!(
            demangle("_Z4copyPK6float4PS_"),
            "copy(float4 const*, float4*)"
        );
        assert_eq!(demangle("tile_sum"), "tile_sum");
        assert_eq!(demangle("_Zgarbage"), "_Zgarbage");
    }
}
