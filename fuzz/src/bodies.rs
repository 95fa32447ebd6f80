//! What each fuzz target does with its input. The replay in `crates/ncu-rep/tests/replay.rs` includes this file too.
//!
//! A body reads its input and then everything that the reader offers on the result, since much is read only when it
//! is asked for. It passes if it returns: a panic, an overflow, memory beyond a small multiple of the input or time
//! beyond a multiple of its length are the faults looked for.

use ncu_rep::cubin::{Cubin, fatbin, ptxas};
use ncu_rep::{Error, Partial, Report};

/// An Nsight Compute report, packed or not.
pub fn report(input: &[u8]) {
    let unpacked = ncu_rep::unpack(input, 1 << 20);
    if let Ok(report) = Report::parse(&unpacked.bytes) {
        walk(&report, &mut |problem| {
            assert!(!problem.to_string().is_empty());
        });
    }
    for rename_kernels in [false, true] {
        let options = ncu_rep::redact::Options {
            rename_kernels,
            metrics: None,
        };
        if let Ok(redacted) = ncu_rep::redact::redact_to_vec(&unpacked.bytes, &options) {
            // Whatever the damage, the copy has none.
            let copy = Report::parse(&redacted.bytes);
            assert!(copy.is_ok());
            if let Ok(copy) = copy {
                let mut problems = Vec::new();
                walk(&copy, &mut |problem| problems.push(problem));
                assert_eq!(problems, []);
            }
        }
    }
}

/// A CSV export of `ncu`.
pub fn csv(input: &[u8]) {
    let _ = ncu_rep::csv::looks_like(input);
    let Ok(report) = ncu_rep::csv::read(input) else {
        return;
    };
    for kernel in report.kernels.iter().take(64) {
        for metric in &kernel.metrics() {
            let _ = ncu_rep::unit_of(metric.name);
            for instance in metric.instances() {
                let _ = instance.map(|instance| instance.value);
            }
        }
    }
}

/// A cubin, a fat binary, or text about either.
pub fn cubin(input: &[u8]) {
    walk_cubin(input, &mut |_| {});
    if let Ok((images, _)) = fatbin::images(input) {
        for image in images.iter().take(64) {
            if let Ok(content) = image.unpack() {
                walk_cubin(&content, &mut |_| {});
            }
        }
    }
    if let Ok(text) = std::str::from_utf8(input) {
        let _ = ptxas::looks_like(input);
        let _ = ptxas::read(text).len();
        let _ = ncu_rep::cubin::sass::instructions(text).count();
    }
}

/// Decodes every part of a report and hands over what could not be read.
pub fn walk(report: &Report<'_>, complain: &mut dyn FnMut(Error)) {
    report.problems().iter().cloned().for_each(&mut *complain);
    for profile in report.profiles() {
        let header = keep(profile.header(), complain);
        let _ = (header.name(), profile.process(), profile.size_bytes());
        let metrics = keep(profile.metrics(), complain);
        for metric in &metrics {
            assert!(metrics.get(metric.name).is_some());
            let _ = (metric.number(), metric.has_instances());
            metric
                .instances()
                .filter_map(Result::err)
                .for_each(&mut *complain);
            let _ = (metric.by_number().is_ok(), metric.by_text().is_ok());
        }
        for rule in keep(profile.rules(), complain) {
            let _ = rule.messages().count();
        }
        keep(profile.sections(), complain);
        keep(profile.nvtx(), complain);
        keep(profile.cpu_stack(), complain);
        keep(profile.python_stack(), complain);
    }
    for key in report.sources() {
        let source = report.source(key);
        assert!(source.is_some());
        if let Some(cubin) = source.and_then(|source| keep(source, complain).cubin) {
            walk_cubin(cubin, complain);
        }
    }
}

/// Decodes every part of a cubin and hands over what could not be read.
pub fn walk_cubin(input: &[u8], complain: &mut dyn FnMut(Error)) {
    let cubin = match Cubin::parse(input) {
        Ok(cubin) => cubin,
        Err(error) => return complain(error),
    };
    let lines = cubin.lines();
    for function in cubin.functions() {
        assert!(cubin.function(&function.name).is_some());
        // Functions of a hostile file may share their code.
        for offset in (0..1024).step_by(16) {
            if let Some(place) = lines.locate(&function.name, offset) {
                assert!(place.line > 0 && place.inlined().count() <= 64);
                let _ = place.inner();
            }
        }
    }
    let problems = cubin.problems().iter().chain(lines.problems());
    problems.cloned().for_each(complain);
}

fn keep<T>(part: Partial<T>, complain: &mut dyn FnMut(Error)) -> T {
    part.problems.into_iter().for_each(complain);
    part.value
}
