//! Which version of the profiler knows which GPU.

/// Major and minor, or year and release.
type Pair = (u32, u32);

/// The profiler that comes with the first CUDA toolkit that compiles for a compute capability: 11.0, 11.1, 11.8, 12.8,
/// 12.9 and 13.0 by their release notes. An older one does not know the GPU.
const OLDEST: &[(Pair, Pair)] = &[
    ((7, 0), (2019, 1)),
    ((7, 5), (2019, 1)),
    ((8, 0), (2020, 1)),
    ((8, 6), (2020, 2)),
    ((8, 9), (2022, 3)),
    ((9, 0), (2022, 3)),
    ((10, 0), (2025, 1)),
    ((10, 3), (2025, 2)),
    ((11, 0), (2025, 3)),
    ((12, 0), (2025, 1)),
    ((12, 1), (2025, 2)),
];

/// The oldest `ncu` that knows a compute capability, as year and release; `None` for one that is not listed.
#[must_use]
pub fn oldest_for(capability: Pair) -> Option<Pair> {
    OLDEST
        .iter()
        .find(|(known, _)| *known == capability)
        .map(|(_, oldest)| *oldest)
}

/// Year and release of a version such as `2025.3.1.0`.
pub(super) fn release(version: &str) -> Option<Pair> {
    let mut parts = version.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_compared_as_numbers() {
        assert_eq!(release("2025.3.1.0"), Some((2025, 3)));
        assert!(release("2022.10.0") > release("2022.3.0"));
        assert_eq!(release("unknown"), None);
    }
}
