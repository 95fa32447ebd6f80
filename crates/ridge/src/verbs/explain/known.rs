//! Names of metrics that reports are known to hold, to tell a misspelt name from one that is new.
//!
//! The list is what full reports of an H200 hold (Nsight Compute 2025.3, the reports in `fixtures/`), without roll-ups.
//! Other devices and versions have more, so that a name which is not in it may be right.

use super::distance;

/// One name on each line, in order.
const NAMES: &str = include_str!("names.txt");

/// Misspelt names differ in few letters.
const FEW: usize = 3;
/// So many names are offered.
const OFFERED: usize = 3;

pub(super) fn names() -> impl Iterator<Item = &'static str> {
    NAMES.lines()
}

pub(super) fn is_known(base: &str) -> bool {
    names().any(|name| name == base)
}

/// Known names that differ in few letters, nearest first.
pub(super) fn nearest(base: &str) -> Vec<&'static str> {
    // Names are long: one letter in eight is a typing error, more is another name.
    let allowed = (base.len() / 8).clamp(1, FEW);
    let mut near: Vec<(usize, &str)> = names()
        .filter(|name| name.len().abs_diff(base.len()) <= allowed)
        .map(|name| (distance(base, name), name))
        .filter(|(distance, _)| *distance <= allowed)
        .collect();
    near.sort_by_key(|(distance, _)| *distance);
    near.into_iter()
        .take(OFFERED)
        .map(|(_, name)| name)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_in_order_and_every_name_has_a_page() {
        let names: Vec<&str> = names().collect();
        assert!(names.is_sorted() && names.len() > 500);
        for name in names {
            let page = super::super::metric::page(name).unwrap_or_else(|| panic!("{name}"));
            assert!(!page.contains("not among"), "{name}");
        }
    }

    #[test]
    fn misspelt_names_are_near() {
        assert_eq!(nearest("dram__bytes_raed")[0], "dram__bytes_read");
        assert_eq!(nearest("sm__warp_active"), ["sm__warps_active"]);
        assert!(nearest("lts__something_that_is_new_here").is_empty());
    }
}
