//! Ranks made by hand: a step is a kernel of the rank's own, then one in which all ranks wait for the last.

use super::*;
use crate::timeline::{Builder, Launch, NewWork, Rank, SourceKind, Timeline};

const STEPS: i64 = 20;

/// A rank whose own kernel takes `own_ns(step)`, and whose meeting ends when that of the slowest rank does. `clock_ns` is how
/// wrong its clock is.
struct Made<'f> {
    rank: u64,
    own_ns: &'f dyn Fn(i64) -> i64,
    slowest_ns: &'f dyn Fn(i64) -> i64,
    clock_ns: i128,
}

/// What the exchange itself takes once all are there.
const EXCHANGE_NS: i64 = 20_000;

fn made(made: &Made<'_>) -> Timeline {
    let mut builder = Builder::new(SourceKind::Recording);
    builder.set_unix_ns_of_zero(1_000_000_000 + made.clock_ns);
    builder.set_rank(Rank {
        number: made.rank,
        local: None,
        size: Some(4),
        told_by: "OMPI_COMM_WORLD_RANK".to_owned(),
    });
    let stream = builder.stream(None, 0, None, 7);
    let launch = builder.launch(Launch::default());
    let (own, meeting) = (builder.name("own(int)"), builder.name("exchange(float)"));
    let mut add = |name, start_ns, end_ns| {
        let new = NewWork {
            start_ns,
            end_ns,
            stream,
            correlation: None,
            graph: None,
        };
        builder.push_kernel(new, name, launch);
    };
    let mut now = 0;
    for step in 0..STEPS {
        let ready = now + (made.own_ns)(step);
        let end = now + (made.slowest_ns)(step) + EXCHANGE_NS;
        add(own, now, ready);
        add(meeting, ready, end);
        // The next step begins where all are done.
        now = end;
    }
    builder.finish()
}

fn members(own_ns: &[&dyn Fn(i64) -> i64], clock_ns: &[i128]) -> Vec<Member> {
    let slowest = |step| own_ns.iter().map(|own| own(step)).max().unwrap_or(0);
    let mut members = Vec::new();
    for (place, own_ns) in own_ns.iter().enumerate() {
        let timeline = made(&Made {
            rank: place as u64,
            own_ns,
            slowest_ns: &slowest,
            clock_ns: clock_ns.get(place).copied().unwrap_or(0),
        });
        members.extend(Member::of(
            &timeline,
            place,
            &format!("r{place}.ridgetrace"),
        ));
    }
    members
}

fn kernel<'r>(ranks: &'r Ranks, name: &str) -> &'r RankKernel {
    let mut kernels = ranks.kernels.iter();
    kernels
        .find(|kernel| kernel.name.starts_with(name))
        .unwrap()
}

/// Around 100 us, by a few hundredths, and different in each step.
fn jitter(step: i64, rank: i64) -> i64 {
    100_000 + (step * 7 + rank * 3) % 5 * 400
}

#[test]
fn the_rank_that_waits_least_comes_last() {
    let (a, b, c) = (
        |step| jitter(step, 0),
        |step| jitter(step, 1),
        |step| jitter(step, 3),
    );
    let slow = |step| jitter(step, 2) + 30_000;
    let ranks = compare(members(&[&a, &b, &slow, &c], &[])).unwrap();
    let last = ranks.last.as_ref().unwrap();
    assert_eq!(
        (last.member, last.launches, last.came_last),
        (Some(2), 20, 20)
    );
    assert!(
        (last.wait_ns - 20.0 * 30_000.0).abs() < 20.0 * 2_000.0,
        "{last:?}"
    );
    // Its launches of the exchange are the shortest, and it is not called fast for that.
    let exchange = kernel(&ranks, "exchange");
    assert!(exchange.medians_ns[2] < exchange.medians_ns[0]);
    assert!(exchange.meeting.is_some());
    assert!(kernel(&ranks, "own").meeting.is_none());
    // It stands out in what it does before.
    let odd: Vec<(usize, Figure)> = ranks
        .odd
        .iter()
        .map(|odd| (odd.member, odd.figure))
        .collect();
    assert_eq!(odd, [(2, Figure::KernelTime), (2, Figure::KernelMedian)]);
    // By hand: 20 launches of 100.8 us (of rank 2 of 130.8 us), and 20 exchanges of 20 us.
    assert_eq!(
        ranks.title,
        "rank 2 comes last in 20 of 20 launches in which ranks wait for each other: the others wait 600 us for it, 20 % of the span; rank 2 stands out: its kernels run for 3.02 ms without waiting for ranks, 25 % more than the median of 2.42 ms; that is 20 % of the span"
    );
}

#[test]
fn equal_ranks_have_no_odd_one() {
    let own: Vec<Box<dyn Fn(i64) -> i64>> = (0..4)
        .map(|rank| Box::new(move |step| jitter(step, rank)) as Box<dyn Fn(i64) -> i64>)
        .collect();
    let own: Vec<&dyn Fn(i64) -> i64> = own.iter().map(|own| &**own).collect();
    let ranks = compare(members(&own, &[])).unwrap();
    assert_eq!(ranks.odd, []);
    assert_eq!(ranks.title, "none of 4 stands out");
}

/// Ranks that are late in turns wait for each other, and none of them is the one to look at.
#[test]
fn ranks_that_take_turns() {
    let own: Vec<Box<dyn Fn(i64) -> i64>> = (0..4_i64)
        .map(|rank| {
            Box::new(move |step: i64| 100_000_i64 + if step % 4 == rank { 40_000_i64 } else { 0 })
                as Box<dyn Fn(i64) -> i64>
        })
        .collect();
    let own: Vec<&dyn Fn(i64) -> i64> = own.iter().map(|own| &**own).collect();
    let ranks = compare(members(&own, &[])).unwrap();
    assert_eq!(ranks.last.as_ref().unwrap().member, None);
    assert!(ranks.title.contains("take turns"), "{}", ranks.title);
    assert_eq!(ranks.odd, []);
}

/// Clocks that disagree by more than ranks wait tell nothing about waiting, and nothing is claimed.
#[test]
fn clocks_that_disagree_claim_nothing() {
    let (a, b, c) = (
        |step| jitter(step, 0),
        |step| jitter(step, 1),
        |step| jitter(step, 3),
    );
    let slow = |step| jitter(step, 2) + 30_000;
    let ranks = compare(members(
        &[&a, &b, &slow, &c],
        &[0, 5_000_000, 0, -3_000_000],
    ))
    .unwrap();
    assert!(ranks.kernels.iter().all(|kernel| kernel.meeting.is_none()));
    assert_eq!(ranks.last, None);
}

#[test]
fn two_ranks_have_no_odd_one_but_one_can_come_last() {
    let fast = |step| jitter(step, 0);
    let slow = |step| jitter(step, 1) + 30_000;
    let ranks = compare(members(&[&fast, &slow], &[])).unwrap();
    assert_eq!(ranks.odd, []);
    assert_eq!(ranks.last.as_ref().unwrap().member, Some(1));
    assert!(
        ranks.title.starts_with("rank 1 comes last in 20 of 20"),
        "{}",
        ranks.title
    );
    assert!(!ranks.title.contains("stands out"));
    assert!(
        ranks
            .remarks
            .iter()
            .any(|remark| remark.starts_with("2 of 4 ranks are here"))
    );
    assert!(compare(members(&[&fast], &[])).is_none());
}

#[test]
fn other_programs_are_not_judged() {
    let own = |step| jitter(step, 0);
    let mut members = members(&[&own, &own, &own], &[]);
    for member in &mut members[1..] {
        member.kernels = std::mem::take(&mut member.kernels)
            .into_iter()
            .map(|(name, launches)| (format!("{name} of {}", member.trace), launches))
            .collect();
    }
    let ranks = compare(members).unwrap();
    assert!(
        ranks
            .title
            .starts_with("these are not traces of one program: 0 % of the time"),
        "{}",
        ranks.title
    );
    assert_eq!((ranks.odd.len(), ranks.last), (0, None));
}

#[test]
fn ranks_are_put_in_order_and_named() {
    let own = |step| jitter(step, 0);
    let mut made = members(&[&own, &own, &own], &[]);
    made.reverse();
    let ranks = compare(made.clone()).unwrap();
    let labels: Vec<&str> = ranks.members.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(labels, ["rank 0", "rank 1", "rank 2"]);
    assert_eq!(ranks.members[0].trace, 0);
    // Two runs of rank 0 are no ranks of one run.
    made[0].rank = Some(0);
    let ranks = compare(made).unwrap();
    assert!(
        ranks
            .members
            .iter()
            .all(|row| row.label.ends_with(".ridgetrace"))
    );
    assert!(
        ranks
            .remarks
            .iter()
            .any(|remark| remark.contains("told apart by their files"))
    );
}

/// Several ranks in one recording, as `ridge trace -- torchrun` makes it.
#[test]
fn one_trace_can_hold_several_ranks() {
    let mut builder = Builder::new(SourceKind::Recording);
    builder.set_unix_ns_of_zero(0);
    let launch = builder.launch(Launch::default());
    let name = builder.name("k");
    for number in 0..3_u64 {
        let process = builder.process(100 + number);
        builder.set_process_rank(
            process,
            Rank {
                number,
                local: Some(number),
                size: Some(3),
                told_by: "RANK".to_owned(),
            },
        );
        let stream = builder.stream(Some(process), number, Some(1), 7);
        for place in 0..5 {
            let new = NewWork {
                start_ns: place * 1_000_000,
                end_ns: place * 1_000_000 + if number == 1 { 700_000 } else { 500_000 },
                stream,
                correlation: None,
                graph: None,
            };
            builder.push_kernel(new, name, launch);
        }
    }
    let members = Member::of(&builder.finish(), 0, "run.ridgetrace");
    let ranks = compare(members).unwrap();
    let rows: Vec<(Option<u64>, &[u64], u64)> = ranks
        .members
        .iter()
        .map(|row| (row.rank, &row.processes[..], row.devices))
        .collect();
    assert_eq!(
        rows,
        [
            (Some(0), &[100][..], 1),
            (Some(1), &[101], 1),
            (Some(2), &[102], 1)
        ]
    );
    assert!(ranks.odd.iter().all(|odd| odd.member == 1));
    assert!(
        ranks
            .odd
            .iter()
            .any(|odd| odd.figure == Figure::KernelMedian)
    );
}
