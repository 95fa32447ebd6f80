//! Which kernels matter, and what the whole report could gain.

use ridge_diagnose::document::{Document, Part, Totals};
use ridge_model::quantity::Nanos;

use super::{Page, paragraph, percent};

/// Shares are rounded: from here on a part is the whole.
const WHOLE: f64 = 0.999;

pub(super) fn write(out: &mut String, document: &Document, page: &Page) {
    let of_several = document.totals.len() > 1;
    for totals in document
        .totals
        .iter()
        .filter(|totals| totals.all.kernels.len() > 1)
    {
        let file = document
            .sources
            .iter()
            .find(|source| of_several && source.id == totals.source)
            .map_or_else(String::new, |source| format!("{}: ", source.file));
        paragraph(out, &format!("{file}{}", text(totals)), "", "  ", page);
    }
}

fn text(totals: &Totals) -> String {
    let (main, all) = (&totals.main, &totals.all);
    let (count, whole) = (all.kernels.len(), Nanos::new(totals.duration_ns));
    if all.time_share < WHOLE {
        let selected = match count {
            1 => "the kernel selected takes".to_owned(),
            _ => format!("the {count} kernels selected take"),
        };
        return format!(
            "{selected} {} of the {whole} of all kernels; {}",
            percent(all.time_share),
            savings(all, "of all that time")
        );
    }
    if main.kernels.len() == count {
        return format!(
            "{} {whole}: {}",
            match count {
                1 => "1 kernel takes".to_owned(),
                _ => format!("{count} kernels take"),
            },
            savings(all, "of it")
        );
    }
    let verb = if main.kernels.len() == 1 {
        "takes"
    } else {
        "take"
    };
    let others = if all.saving_ceiling > 0.0 {
        format!(
            "; with those of all kernels about {}, at most {}",
            percent(all.saving_expected),
            percent(all.saving_ceiling)
        )
    } else {
        String::new()
    };
    format!(
        "{} of {count} kernels {verb} {} of {whole}: {}{others}",
        main.kernels.len(),
        percent(main.time_share),
        savings(main, "of the whole"),
    )
}

fn savings(part: &Part, whole: &str) -> String {
    if part.saving_ceiling <= 0.0 {
        return format!("no finding promises to save any {whole}");
    }
    let findings = if part.kernels.len() == 1 {
        "its best finding saves"
    } else {
        "their best findings save"
    };
    format!(
        "{findings} about {}, at most {} {whole}",
        percent(part.saving_expected),
        percent(part.saving_ceiling)
    )
}
