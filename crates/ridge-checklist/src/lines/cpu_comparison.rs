//! How much faster a GPU is depends on what it is compared with. A fair CPU version is compiled with optimisation, uses all
//! cores, and does the same work: the same input, output and precision. The time of the GPU has the copies in it that the
//! program needs.
//!
//! # How it is answered
//! By what is stated in a file of claims (`--claims FILE`), as no report can show it. No where a statement says that the
//! comparison is not fair: `-O0` or no `-O`, fewer threads than cores, other work, or copies left out of the time of the GPU.
//! Yes where all of it is stated and fair, with the ratio of both times. The file is TOML:
//!
//! ```toml
//! [cpu]
//! time = "120 ms"            # the same work on the CPU
//! threads = 32               # that it ran with
//! cores = 32                 # that the CPU has
//! flags = "-O3 -march=native -fopenmp"
//! same_work = true           # the same input, output and precision
//! [gpu]
//! time = "3.1 ms"
//! includes_copies = true     # those that the program needs
//! [results]
//! needs_repeat = false       # for the line `reproducible`
//! ```
//!
//! # What to do
//! Time the CPU version with `-O3 -march=native` and a thread for each core, on data of the real size, several times.
//!
//! # When it is wrong
//! Statements are believed. A library that is tuned for the CPU can be far faster than own code with the same flags.

use ridge_model::quantity::Nanos;

use crate::Build;
use crate::claims::Claims;
use crate::inputs::{Inputs, Named};
use crate::part::{Part, figure};
use crate::words::list;

pub(super) const ID: &str = "cpu-comparison";
pub(super) const QUESTION: &str = "Is the comparison with the CPU fair?";

pub(super) fn look(inputs: &Inputs) -> Vec<Part> {
    inputs.claims.iter().filter_map(of_claims).collect()
}

pub(super) fn ask(inputs: &Inputs) -> (String, Vec<String>) {
    (
        "no input can show it: state the time of the CPU, its threads, cores and flags".to_owned(),
        vec![
            "ridge explain cpu-comparison".to_owned(),
            format!("ridge checklist {} --claims claims.toml", inputs.files()),
        ],
    )
}

fn of_claims(named: &Named<Claims>) -> Option<Part> {
    let claims = &named.content;
    let (cpu, file) = (&claims.cpu, named.name.as_str());
    let mut faults = Vec::new();
    let mut missing = Vec::new();
    match (cpu.threads, cpu.cores) {
        (Some(threads), Some(cores)) if threads < cores => {
            faults.push(format!("it ran with {threads} threads on {cores} cores"));
        }
        (Some(_), Some(_)) => {}
        _ => missing.push("cpu.threads and cpu.cores".to_owned()),
    }
    match &cpu.flags {
        Some(flags) => match Build::of_flags(flags).optimisation().next() {
            Some(found) if found.host_level.is_some_and(|level| level > 0) => {}
            _ => faults.push(format!("it was compiled without optimisation ({flags:?})")),
        },
        None => missing.push("cpu.flags".to_owned()),
    }
    match cpu.is_same_work {
        Some(true) => {}
        Some(false) => faults.push("it does other work".to_owned()),
        None => missing.push("cpu.same_work".to_owned()),
    }
    match claims.includes_copies {
        Some(true) => {}
        Some(false) => faults.push("the time of the GPU leaves the copies out".to_owned()),
        None => missing.push("gpu.includes_copies".to_owned()),
    }
    for (time, name) in [(cpu.time, "cpu.time"), (claims.gpu_time, "gpu.time")] {
        if time.is_none() {
            missing.push(name.to_owned());
        }
    }
    // A file that states something else says nothing here.
    if *cpu == crate::CpuClaims::default() && claims.gpu_time.is_none() {
        return None;
    }
    let ratio = cpu.time.zip(claims.gpu_time);
    let ratio = ratio.map(|(cpu, gpu): (Nanos, Nanos)| cpu.get() / gpu.get());
    let by_it = ratio.map_or_else(String::new, |ratio| {
        if ratio < 1.0 {
            format!("; by it the CPU is the faster one, {:.2}x", 1.0 / ratio)
        } else {
            format!("; by it the GPU is {ratio:.2}x as fast")
        }
    });
    let mut part = if !faults.is_empty() {
        Part::no(format!("the CPU's side: {}", list(&faults)))
            .doing(["time the CPU version with -O3 -march=native, a thread for each core, and the same work".to_owned()])
            .then("ridge explain cpu-comparison")
    } else if !missing.is_empty() {
        Part::unknown(
            format!("{file} does not state {}", list(&missing)),
            "ridge explain cpu-comparison",
        )
    } else {
        Part::yes(format!(
            "both sides do the same work, the CPU optimised and with all cores, the GPU with its copies{by_it}"
        ))
    };
    let figures = [
        ("time of the CPU", cpu.time),
        ("time of the GPU", claims.gpu_time),
    ];
    for (metric, time) in figures {
        part = part.with(time.map(|time| figure(file, None, metric, time.get(), "ns")));
    }
    Some(part.with(
        ratio.map(|ratio| figure(file, None, "time of the CPU / time of the GPU", ratio, "")),
    ))
}
