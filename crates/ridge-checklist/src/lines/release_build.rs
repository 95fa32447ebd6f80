//! Code that is built for debugging is up to a hundred times slower. `-G` turns off the optimisation of device code; host
//! code needs an `-O` of its own.
//!
//! # How it is answered
//! By flags (`--flags`), a `compile_commands.json`, and what results of `ridge bench` know of the modules that they loaded. No
//! where device code has `-G`, or the assembler or the host compiler a level of 0 (`-O0`, `-Xptxas -O0`). Yes where a level
//! above 0 is given and nothing undoes it. Without any `-O`, device code of `nvcc` is optimised and host code is not: then
//! the answer is open.
//!
//! # What to do
//! `nvcc -O3 -lineinfo` has line numbers for profilers and all optimisation; with CMake `-DCMAKE_BUILD_TYPE=Release`.
//!
//! # When it is wrong
//! Flags that a build system adds elsewhere are not among those that were given. A library can be built in another way.

use ridge_bench::document::Document as Bench;
use ridge_model::quantity::counted;

use crate::Build;
use crate::inputs::{Inputs, Named};
use crate::part::{Part, figure};

pub(super) const ID: &str = "release-build";
pub(super) const QUESTION: &str =
    "Is the code an optimised build, without debugging of device code?";

pub(super) fn look(inputs: &Inputs) -> Vec<Part> {
    let builds = inputs.builds.iter().map(of_build);
    builds
        .chain(inputs.benches.iter().filter_map(of_bench))
        .collect()
}

pub(super) fn ask(inputs: &Inputs) -> (String, Vec<String>) {
    (
        "the flags of the build are not given".to_owned(),
        vec![
            format!("ridge checklist {} --flags \"FLAGS\"", inputs.files()),
            format!(
                "ridge checklist {} build/compile_commands.json",
                inputs.files()
            ),
        ],
    )
}

fn of_build(named: &Named<Build>) -> Part {
    let (build, file) = (&named.content, named.name.as_str());
    let of = |number: usize, what: &str| {
        if build.len() == 1 {
            what.to_owned()
        } else {
            format!(
                "{number} of {}: {what}",
                counted(build.len() as u64, "command")
            )
        }
    };
    let count =
        |is: fn(&crate::build::Optimisation) -> bool| build.optimisation().filter(is).count();
    let debug = count(|found| found.is_device_debug);
    let device = count(|found| found.device_level == Some(0));
    let host = count(|found| found.host_level == Some(0));
    let silent = count(|found| found.host_level.is_none());
    let mut faults = Vec::new();
    if debug > 0 {
        faults.push(of(debug, "-G turns off the optimisation of device code"));
    }
    if device > 0 {
        faults.push(of(device, "the assembler for device code has -O0"));
    }
    if host > 0 {
        faults.push(of(host, "host code has -O0"));
    }
    let part = if !faults.is_empty() {
        Part::no(format!("{file}: {}", faults.join("; ")))
            .doing([
                "build with -O3 -lineinfo, without -G: profilers still know the lines".to_owned(),
            ])
            .then("cmake -DCMAKE_BUILD_TYPE=Release -B build && cmake --build build")
    } else if silent > 0 {
        let what = "no -O is given: device code is optimised by default, host code is not";
        Part::unknown(
            format!("{file}: {}", of(silent, what)),
            "ridge checklist FILE --flags \"ALL FLAGS\"",
        )
    } else {
        Part::yes(format!("{file}: optimised, without -G"))
    };
    part.with([
        figure(file, None, "commands", build.len() as f64, "command"),
        figure(file, None, "commands with -G", debug as f64, "command").healthy(0.0),
        figure(
            file,
            None,
            "commands with -O0",
            (device + host) as f64,
            "command",
        )
        .healthy(0.0),
    ])
}

fn of_bench(named: &Named<Bench>) -> Option<Part> {
    let file = named.name.as_str();
    let functions = || {
        named
            .content
            .states
            .iter()
            .flat_map(|state| &state.functions)
    };
    let known = functions()
        .filter(|function| function.is_debug.is_some())
        .count();
    let debug = functions()
        .filter(|function| function.is_debug == Some(true))
        .count();
    if known == 0 || named.content.machine.is_simulated {
        return None;
    }
    let part = if debug > 0 {
        Part::no(format!(
            "{file}: {} built for debugging (-G)",
            counted(debug as u64, "kernel")
        ))
        .doing(["build the kernels without -G".to_owned()])
        .then("ridge bench SPEC.toml -o bench.json")
    } else {
        Part::yes(format!("{file}: no kernel is built for debugging"))
    };
    Some(
        part.with([figure(
            file,
            None,
            "kernels built for debugging",
            debug as f64,
            "kernel",
        )
        .healthy(0.0)]),
    )
}
