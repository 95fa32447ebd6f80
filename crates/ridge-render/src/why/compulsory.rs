//! What the computation needs, as the user gave it, against what the kernel did.

use ridge_diagnose::document::{Compulsory, CompulsoryBytes, CompulsoryOperations, Reading};
use ridge_model::quantity::{Bytes, Flops, Nanos};

use super::{Page, paragraph, percent, ratio};

pub(super) fn write(out: &mut String, compulsory: &Compulsory, page: &Page) {
    let list = [
        compulsory.bytes.as_ref().map(bytes),
        compulsory.operations.as_ref().map(operations),
        gap(compulsory),
    ];
    for text in list.into_iter().flatten() {
        paragraph(out, &text, "   ", "     ", page);
    }
}

fn bytes(bytes: &CompulsoryBytes) -> String {
    let given = format!("the {} given as compulsory", Bytes::new(bytes.given));
    let mut text = match (bytes.moved, bytes.factor) {
        (Some(moved), Some(factor)) => {
            format!("moves {}, {} {given}", Bytes::new(moved), times(factor))
        }
        _ => format!("bytes moved were not counted, to compare with {given}"),
    };
    if !bytes.fits {
        text.push_str(": the rest stayed in caches, or more was given than is compulsory");
    } else if let (Some(peak), Some(attainable)) = (bytes.at_peak_ns, bytes.at_attainable_ns) {
        text = format!(
            "{text}, which take {} at the peak of device memory and {} at the {} of it that kernels attain",
            Nanos::new(peak),
            Nanos::new(attainable),
            percent(bytes.attainable_share)
        );
    }
    text
}

fn operations(operations: &CompulsoryOperations) -> String {
    let given = format!("the {} given", Flops::new(operations.given));
    let mut text = match (operations.counted, operations.factor) {
        (Some(counted), Some(factor)) => {
            format!(
                "executes {}, {} {given}",
                Flops::new(counted),
                times(factor)
            )
        }
        _ => format!("floating-point operations were not counted, to compare with {given}"),
    };
    if !operations.fits {
        text.push_str(": the rest is no floating-point arithmetic, or more was given than it does");
    } else if let (Some(peak), Some(pipe)) = (operations.at_peak_ns, operations.pipe) {
        text = format!(
            "{text}, which take {} at the peak of the {} that it uses",
            Nanos::new(peak),
            pipe.label()
        );
    }
    text
}

/// A small part reads better in per cent than as 0.00 times.
fn times(factor: f64) -> String {
    if factor < 0.1 {
        format!("{} of", ratio(factor))
    } else {
        format!("{factor:.2} times")
    }
}

fn gap(known: &Compulsory) -> Option<String> {
    let gap = format!(
        "runs for {:.2} times its lower bound of {}",
        known.gap?,
        Nanos::new(known.bound_ns?)
    );
    let most = percent(known.saving_ceiling?);
    Some(match known.reading? {
        Reading::BelowBound => {
            format!("{gap}: data stayed in caches, or more was given than is compulsory")
        }
        Reading::Good => {
            format!("{gap}, which is good: at most {most} to gain in this computation")
        }
        Reading::Between => format!("{gap}: at most {most} to gain in this computation"),
        Reading::Far => format!(
            "{gap}: at most {most} to gain in this computation; look at the access pattern and at occupancy first"
        ),
    })
}

#[cfg(test)]
mod tests {
    use ridge_diagnose::Resource;
    use ridge_diagnose::document::Origin;

    use super::*;
    use crate::charset::Charset;
    use crate::style::Painter;

    fn page(known: &Compulsory) -> String {
        let page = Page {
            columns: 100,
            charset: Charset::Unicode,
            painter: Painter::plain(),
            top: 1,
            is_verbose: false,
        };
        let mut out = String::new();
        write(&mut out, known, &page);
        out
    }

    /// A kernel that moves 300 MB of 100 MB that are compulsory, and executes twice what was given.
    fn known() -> Compulsory {
        Compulsory {
            origin: Origin::CommandLine,
            bytes: Some(CompulsoryBytes {
                given: 1e8,
                moved: Some(3e8),
                factor: Some(3.0),
                fits: true,
                at_peak_ns: Some(2e4),
                at_attainable_ns: Some(2.2e4),
                attainable_share: 0.9,
                source: Vec::new(),
            }),
            operations: Some(CompulsoryOperations {
                given: 1e9,
                counted: Some(2e9),
                factor: Some(2.0),
                fits: true,
                at_peak_ns: Some(1e3),
                pipe: Some(Resource::Fma),
                source: Vec::new(),
            }),
            bound_ns: Some(2e4),
            bound_by: Some(Resource::Dram),
            gap: Some(4.0),
            saving_ceiling: Some(0.75),
            reading: Some(Reading::Between),
        }
    }

    #[test]
    fn all_that_is_known_is_told() {
        insta::assert_snapshot!(page(&known()), @"
        moves 300 MB, 3.00 times the 100 MB given as compulsory, which take 20.0 us at the peak of device
          memory and 22.0 us at the 90 % of it that kernels attain
        executes 2.00 GFLOP, 2.00 times the 1.00 GFLOP given, which take 1.00 us at the peak of the FMA
          pipe that it uses
        runs for 4.00 times its lower bound of 20.0 us: at most 75 % to gain in this computation
        ");
    }

    #[test]
    fn each_reading_has_words() {
        for (reading, words) in [
            (Reading::BelowBound, "stayed in caches"),
            (Reading::Good, "which is good"),
            (Reading::Between, "at most 75 %"),
            (Reading::Far, "occupancy first"),
        ] {
            let known = Compulsory {
                reading: Some(reading),
                ..known()
            };
            assert!(page(&known).contains(words), "{reading:?}");
        }
    }

    #[test]
    fn what_was_not_counted_is_not_told_as_zero() {
        let mut known = known();
        if let Some(bytes) = &mut known.bytes {
            (bytes.moved, bytes.factor) = (None, None);
            (bytes.at_peak_ns, bytes.at_attainable_ns) = (None, None);
        }
        if let Some(operations) = &mut known.operations {
            (operations.counted, operations.factor) = (None, None);
            (operations.at_peak_ns, operations.pipe) = (None, None);
        }
        (
            known.bound_ns,
            known.gap,
            known.saving_ceiling,
            known.reading,
        ) = (None, None, None, None);
        insta::assert_snapshot!(page(&known), @"
        bytes moved were not counted, to compare with the 100 MB given as compulsory
        floating-point operations were not counted, to compare with the 1.00 GFLOP given
        ");
    }

    #[test]
    fn what_does_not_fit_sets_no_bound() {
        let mut known = known();
        if let Some(bytes) = &mut known.bytes {
            (bytes.moved, bytes.factor, bytes.fits) = (Some(1e6), Some(0.01), false);
        }
        if let Some(operations) = &mut known.operations {
            (operations.counted, operations.factor, operations.fits) =
                (Some(1e6), Some(0.001), false);
        }
        known.gap = None;
        insta::assert_snapshot!(page(&known), @"
        moves 1.00 MB, 1.00 % of the 100 MB given as compulsory: the rest stayed in caches, or more was
          given than is compulsory
        executes 1.00 MFLOP, 0.10 % of the 1.00 GFLOP given: the rest is no floating-point arithmetic, or
          more was given than it does
        ");
    }
}
