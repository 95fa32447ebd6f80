//! Device code is compiled for a debugger.
//!
//! # What it says
//! The flags of a build that is measured contain `-G` (`--device-debug`), or turn optimisation of device code off.
//!
//! # How it is seen
//! By the words of `--flags`, of the entries of `compile_commands.json`, and of commands in files of CMake that are about CUDA. In CMake,
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
        .find(|(at, word)| match **word {
            "-G" | "--device-debug" => !is_optimised,
            "-Xptxas=-O0" | "--ptxas-options=-O0" | "-Xcicc=-O0" => true,
            "-O0" => at
                .checked_sub(1)
                .and_then(|before| words.get(before))
                .is_some_and(|before| matches!(*before, "-Xptxas" | "--ptxas-options" | "-Xcicc")),
            _ => false,
        })
        .map(|(_, word)| *word)
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
    fn flags_that_turn_optimisation_off() {
        assert_eq!(offending(&["nvcc", "-O3", "-G"]), Some("-G"));
        assert_eq!(offending(&["-Xptxas", "-O0"]), Some("-O0"));
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
