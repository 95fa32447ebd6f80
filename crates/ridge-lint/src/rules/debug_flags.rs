//! Device code is compiled for a debugger.
//!
//! # What it says
//! The flags of a build that is measured contain `-G` (`--device-debug`), or turn optimisation of device code off.
//!
//! # How it is seen
//! By the words of `--flags`, of the entries for nvcc of `compile_commands.json`, and of commands in files of CMake that are about CUDA. In CMake,
//! whatever asks for a debug build is left out: `CMAKE_CUDA_FLAGS_DEBUG`, `$<CONFIG:Debug>`, `if(CMAKE_BUILD_TYPE STREQUAL "Debug")`.
//!
//! # Why it matters
//! With `-G` the compiler optimises nothing: variables lie in local memory and nothing is unrolled. Kernels can be ten times slower, and none
//! of what a profile says of them holds for the real build.
//!
//! # What to do
//! For profiles with source lines, `-lineinfo` is enough and costs nothing. Keep `-G` for builds that are debugged.
//!
//! # When it is wrong
//! When the build is for debugging.

use std::ops::Range;

use crate::finding::{Found, Severity};

pub(crate) const ID: &str = "debug-flags";

/// The flag that turns optimisation off, if there is one.
pub(crate) fn offending<'w>(words: &[&'w str]) -> Option<&'w str> {
    let is_optimised = words.iter().enumerate().any(|(at, word)| {
        matches!(*word, "-dopt=on" | "--dopt=on")
            || matches!(*word, "-dopt" | "--dopt") && words.get(at + 1) == Some(&"on")
    });
    words
        .iter()
        .enumerate()
        .find(|(at, word)| {
            if matches!(**word, "-G" | "--device-debug") {
                return !is_optimised;
            }
            // `-Xptxas=-v,-O0`, or the same in two words.
            let handed_on = match word.split_once('=') {
                Some((option, list)) => is_of_device_compiler(option).then_some(list),
                None => at
                    .checked_sub(1)
                    .and_then(|before| words.get(before))
                    .and_then(|before| is_of_device_compiler(before).then_some(**word)),
            };
            handed_on.is_some_and(|list| list.split(',').any(|flag| flag == "-O0"))
        })
        .map(|(_, word)| *word)
}

/// Options whose value goes to a compiler of device code.
fn is_of_device_compiler(option: &str) -> bool {
    matches!(
        option,
        "-Xptxas" | "--ptxas-options" | "-Xcicc" | "-Xcuda-ptxas"
    )
}

/// Whether the words of a command start a compiler that knows `-G` as nvcc does; of others `-G` means something else.
pub(crate) fn is_of_nvcc(words: &[&str]) -> bool {
    // A launcher, such as ccache, may stand before.
    words
        .iter()
        .take(4)
        .take_while(|word| !word.starts_with('-'))
        .any(|word| {
            let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
            let name = name.strip_suffix(".exe").unwrap_or(name);
            name == "nvcc" || name.starts_with("nvcc-") || name == "nvcc_wrapper"
        })
}

pub(crate) fn found(word: &str, range: Range<usize>) -> Found {
    Found {
        rule: ID,
        severity: Severity::Error,
        range,
        message: format!(
            "`{word}` turns the optimisation of device code off: times of this build mean nothing"
        ),
        advice: "compile what is measured without it; -lineinfo gives source lines at no cost",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nvcc_is_known_by_its_name_and_behind_a_launcher() {
        for words in [
            &["nvcc", "-G"][..],
            &["/usr/local/cuda/bin/nvcc"],
            &["ccache", "nvcc.exe", "-G"],
            &["nvcc-12.4"],
        ] {
            assert!(is_of_nvcc(words), "{words:?}");
        }
        for words in [
            &["g++", "-G", "nvcc"][..],
            &["clang++", "-x", "cuda"],
            &["/opt/nvcc/bin/g++"],
            &[],
        ] {
            assert!(!is_of_nvcc(words), "{words:?}");
        }
    }

    #[test]
    fn flags_that_turn_optimisation_off() {
        assert_eq!(offending(&["nvcc", "-O3", "-G"]), Some("-G"));
        assert_eq!(offending(&["-Xptxas", "-O0"]), Some("-O0"));
        assert_eq!(offending(&["-Xptxas", "-v,-O0"]), Some("-v,-O0"));
        assert_eq!(offending(&["-Xptxas=-v,-O0"]), Some("-Xptxas=-v,-O0"));
        for fine in [
            &["-g", "-lineinfo", "-O3"][..],
            &["-G", "-dopt=on"],
            &["-O0"],
            &["-Xcompiler", "-O0"],
            &[],
        ] {
            assert_eq!(offending(fine), None, "{fine:?}");
        }
    }
}
