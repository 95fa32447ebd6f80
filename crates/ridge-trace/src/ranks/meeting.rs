//! Kernels in which ranks wait for each other, told by what they do and not by their names.
//!
//! A collective can end on no rank before it has begun on all of them, and ends on all of them nearly at once. A rank that
//! comes early waits in it, so that its launch takes longest; the one that comes last finds all others there, and its launch
//! is the shortest. The kernel before it, of which a slow rank's launch is longer, begins together and ends apart.

use ridge_stats::Samples;

use super::member::Member;
use crate::analysis::to_f64;
use crate::document::Meeting;

/// Fewer launches show no habit.
const LEAST_LAUNCHES: usize = 4;
/// Ends have to lie this much closer together than starts: a quarter.
const CLOSER: f64 = 0.25;
/// Starts that are closer together than this are not told from ends that are: two processes read two clocks.
const LEAST_APART_NS: f64 = 1_000.0;
/// So many of a hundred launches have to end nowhere before they have begun everywhere; some may be matched wrongly where a
/// trace lacks records.
const MOST_OF_100: usize = 95;

/// Whether the times of the members can be compared: all count from a moment that is known.
pub(super) fn have_clocks(members: &[Member]) -> bool {
    members.iter().all(|member| member.origin_unix_ns.is_some())
}

/// How ranks wait for each other in a kernel; none where they do not, or where it cannot be told.
pub(super) fn of_kernel(members: &[Member], name: &str) -> Option<Meeting> {
    let first_origin = members
        .iter()
        .filter_map(|member| member.origin_unix_ns)
        .min()?;
    let mut launches: Vec<(i64, &[(i64, i64)])> = Vec::with_capacity(members.len());
    for member in members {
        let shift = i64::try_from(member.origin_unix_ns? - first_origin).ok()?;
        launches.push((shift, member.kernels.get(name)?));
    }
    let count = launches.first()?.1.len();
    let is_matched = launches.iter().all(|(_, own)| own.len() == count);
    if count < LEAST_LAUNCHES || members.len() < 2 || !is_matched {
        return None;
    }
    let (mut starts_apart, mut ends_apart) = (Vec::new(), Vec::new());
    let mut waits = vec![0_i64; members.len()];
    let mut came_last = vec![0_u64; members.len()];
    let mut met = 0_usize;
    for place in 0..count {
        let mut times = Vec::with_capacity(launches.len());
        for (shift, own) in &launches {
            let (start, end) = own.get(place)?;
            times.push((start.saturating_add(*shift), end.saturating_add(*shift)));
        }
        let starts = || times.iter().map(|(start, _)| *start);
        let ends = || times.iter().map(|(_, end)| *end);
        let (first_start, last_start) = (starts().min()?, starts().max()?);
        let (first_end, last_end) = (ends().min()?, ends().max()?);
        starts_apart.push(to_f64(last_start.saturating_sub(first_start)));
        ends_apart.push(to_f64(last_end.saturating_sub(first_end)));
        met += usize::from(first_end >= last_start);
        for (own, start) in waits.iter_mut().zip(starts()) {
            *own = own.saturating_add(last_start.saturating_sub(start));
        }
        if let Some(last) = starts().position(|start| start == last_start)
            && let Some(count) = came_last.get_mut(last)
        {
            *count += 1;
        }
    }
    let starts_apart_ns = Samples::new(starts_apart).ok()?.median();
    let ends_apart_ns = Samples::new(ends_apart).ok()?.median();
    let is_meeting = met.saturating_mul(100) >= count.saturating_mul(MOST_OF_100)
        && starts_apart_ns >= LEAST_APART_NS
        && ends_apart_ns <= CLOSER * starts_apart_ns;
    is_meeting.then(|| Meeting {
        launches: count as u64,
        starts_apart_ns,
        ends_apart_ns,
        waits_ns: waits.into_iter().map(to_f64).collect(),
        came_last,
    })
}
