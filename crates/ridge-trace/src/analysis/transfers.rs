//! Copies by direction and memory, against what the link carries.

use std::collections::BTreeMap;

use super::{HostLink, distribution, to_f64};
use crate::document::{Link, Transfer};
use crate::timeline::{Copied, CopyKind, Memory, Work};

/// From this size on the time of a copy is that of its bytes, not that of starting it: a few microseconds at 55 GB/s are
/// a few hundred kilobytes.
const LARGE_BYTES: u64 = 1 << 20;

pub(super) fn of<'t>(
    work: impl Iterator<Item = &'t Work>,
    link: Option<&HostLink>,
) -> Vec<Transfer> {
    let mut groups: BTreeMap<(CopyKind, Memory, Memory), Vec<(i64, Copied)>> = BTreeMap::new();
    for work in work {
        if let Some(copied) = work.copied() {
            let key = (copied.kind, copied.from, copied.to);
            groups
                .entry(key)
                .or_default()
                .push((work.duration_ns(), *copied));
        }
    }
    let mut rows: Vec<Transfer> = groups
        .into_iter()
        .filter_map(|((kind, from, to), copies)| {
            let is_large = |copied: &Copied| copied.bytes.is_some_and(|bytes| bytes >= LARGE_BYTES);
            let large = rate(copies.iter().filter(|(_, copied)| is_large(copied)));
            let rate = large.or_else(|| rate(copies.iter()));
            let link = link.and_then(|link| {
                Some(Link {
                    bytes_per_s: link.of(kind)?,
                    origin: link.origin,
                    source: link.source.clone(),
                })
            });
            let bytes: Option<u64> = copies.iter().map(|(_, copied)| copied.bytes).sum();
            Some(Transfer {
                kind,
                from,
                to,
                durations: distribution::of(copies.iter().map(|(duration, _)| *duration))?,
                bytes,
                rate_bytes_per_s: rate,
                is_rate_of_large: large.is_some(),
                link_share: rate
                    .zip(link.as_ref())
                    .map(|(rate, link)| rate / link.bytes_per_s),
                link,
            })
        })
        .collect();
    rows.sort_by(|a, b| b.durations.sum_ns.total_cmp(&a.durations.sum_ns));
    rows
}

/// Bytes a second of copies whose sizes are known.
fn rate<'c>(copies: impl Iterator<Item = &'c (i64, Copied)>) -> Option<f64> {
    let (mut bytes, mut time) = (0_u64, 0_i64);
    for (duration, copied) in copies {
        if let Some(own) = copied.bytes {
            bytes = bytes.saturating_add(own);
            time += duration;
        }
    }
    (time > 0 && bytes > 0).then(|| {
        #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
        let bytes = bytes as f64;
        bytes / to_f64(time) * 1e9
    })
}
