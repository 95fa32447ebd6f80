//! Kernels that follow each other pass a large array through memory.
//!
//! # What it says
//! A kernel writes an array that the next one reads back from device memory; one kernel that does both steps would keep
//! each element in registers.
//!
//! # Evidence
//! Two or more launches in a row that keep DRAM or the L2 busy for 30 % of their time, of which one of each pair is
//! bound by these and the other by them or by execution, where the bytes that one writes are, to a tenth, the bytes that
//! the next one reads (or a small multiple, for several inputs).
//!
//! # Why it costs time
//! Each array between two kernels crosses the memory interface twice, and each kernel fills and drains the device once
//! more.
//!
//! # What to do
//! Fuse the kernels by hand, let a compiler do it (`torch.compile`, XLA, Triton), or move an element-wise step into the
//! epilogue of the kernel before it.
//!
//! # When it is wrong
//! Addresses are not in the report: two arrays of the same size look like one, and two versions of one kernel that are
//! compared with each other look like a chain. An array that is needed again later, such as an activation for the
//! backward pass, has to be written all the same. Where an element of the consumer needs what many blocks of the producer
//! wrote, as in a transposition, the two cannot become one kernel. Launches of the same kernel at the same size are left
//! out: they are the repetitions of a benchmark, or steps of an iteration that depend on all of the step before.
//!
//! # References
//! CUDA C++ Best Practices Guide, "Device Memory Accesses"; PyTorch documentation, "torch.compile".

use super::{Step, against, evidence, time_share};
use crate::attainable::attainable;
use crate::document::{
    Class, Confidence, Direction, Finding, Kernel, ReportFinding, Resource, Verify,
};
use crate::findings::WORTHWHILE;
use crate::ledger::Stage;

pub(super) const ID: &str = "unfused-kernels";

/// What a producer wrote and its consumer read have to agree this closely to be the same array. Reads of small arrays
/// (a bias, statistics of rows) and partial sectors at edges come on top. A convention.
const SAME_SIZE: f64 = 0.1;
/// An array has to be at least this large. A smaller one is written and read again in a few microseconds even from
/// device memory (8 MB in 1.7 us at 4.8 TB/s, in 9 us at 900 GB/s): a launch or two, which is another finding.
const LARGE_BYTES: f64 = 4e6;
/// Half of what makes a unit the limit (60 %): below, moving the array is not what the kernels spend their time on.
const MOVES_DATA: f64 = 0.3;

/// Runs of kernels that pass large arrays through memory.
pub(super) fn chains(steps: &[Step<'_>]) -> Vec<ReportFinding> {
    let mut findings = Vec::new();
    let mut start = 0;
    while start < steps.len() {
        let mut end = start;
        while end + 1 < steps.len() && passes(&steps[end], &steps[end + 1]).is_some() {
            end += 1;
        }
        if end > start {
            findings.extend(chain(&steps[start..=end]));
        }
        start = end + 1;
    }
    findings
}

/// The bytes of an array that one kernel writes and the next reads, where it looks like one.
fn passes(producer: &Step<'_>, consumer: &Step<'_>) -> Option<f64> {
    // Repetitions of a benchmark read what they read before, and steps of an iteration cannot be fused like this.
    if producer.group == consumer.group {
        return None;
    }
    let (producer, consumer) = (producer.kernel, consumer.kernel);
    let (written, read) = (producer.traffic.as_ref()?, consumer.traffic.as_ref()?);
    let (size, inputs) = (written.written_bytes, read.read_bytes);
    // The consumer may read several arrays of the same size; one of them is enough.
    let arrays = (inputs / size).round();
    let is_whole =
        (1.0..=4.0).contains(&arrays) && (inputs / (arrays * size) - 1.0).abs() <= SAME_SIZE;
    let moves_data = |kernel: &Kernel| {
        let class = kernel.limiter.as_ref().map(|limiter| limiter.class);
        class.is_some_and(|class| class != Class::Launch) && memory_share(kernel) >= MOVES_DATA
    };
    let is_bound_by = |kernel: &Kernel, counts: fn(Resource) -> bool| {
        let limiter = kernel.limiter.as_ref();
        limiter.is_some_and(|limiter| counts(limiter.busiest))
    };
    let (first, second) = (
        is_bound_by(producer, is_memory),
        is_bound_by(consumer, is_memory),
    );
    // Beside a kernel that is bound by memory there may be one that computes more than it moves.
    let suits = match (first, second) {
        (true, true) => true,
        (true, false) => is_bound_by(consumer, is_execution),
        (false, true) => is_bound_by(producer, is_execution),
        (false, false) => false,
    };
    (size >= LARGE_BYTES && is_whole && moves_data(producer) && moves_data(consumer) && suits)
        .then_some(size)
}

fn is_memory(resource: Resource) -> bool {
    matches!(resource, Resource::Dram | Resource::L2)
}

/// Units that work on the elements of one thread. Shared memory and the L1 are left out: a kernel that is bound by these
/// exchanges elements between threads, as a transposition does, and its neighbours cannot keep theirs in registers.
fn is_execution(resource: Resource) -> bool {
    use Resource::{Alu, Fma, Fp16, Fp64, InstructionFetch, Issue, Tensor, Uniform, Xu};
    matches!(
        resource,
        Alu | Fma | Fp16 | Fp64 | InstructionFetch | Issue | Tensor | Uniform | Xu
    )
}

fn is_memory_busiest(kernel: &Kernel) -> bool {
    kernel
        .limiter
        .as_ref()
        .is_some_and(|limiter| is_memory(limiter.busiest))
}

/// How busy DRAM or L2 is, whichever is more.
fn memory_share(kernel: &Kernel) -> f64 {
    let rows = kernel.resources.iter();
    rows.filter(|row| is_memory(row.resource))
        .map(|row| row.busy_share)
        .fold(0.0, f64::max)
}

fn chain(steps: &[Step<'_>]) -> Option<ReportFinding> {
    let total_ns: f64 = steps.iter().map(|step| step.duration_ns).sum();
    // Each array between two kernels is written once and read once for nothing.
    let between: f64 = steps
        .windows(2)
        .filter_map(|pair| passes(&pair[0], &pair[1]))
        .sum();
    let moved: f64 = steps
        .iter()
        .filter_map(|step| step.kernel.traffic.as_ref())
        .map(|traffic| traffic.read_bytes + traffic.written_bytes)
        .sum();
    let kept = (1.0 - 2.0 * between / moved).clamp(0.0, 1.0);
    // One kernel does all the work: its data path has less to do, its arithmetic stays.
    let busy = |resources: &[Resource]| -> f64 {
        let of = |kernel: &Kernel| {
            let rows = kernel
                .resources
                .iter()
                .filter(|row| resources.contains(&row.resource));
            rows.map(|row| row.busy_share).fold(0.0, f64::max)
        };
        steps
            .iter()
            .map(|step| of(step.kernel) * step.duration_ns)
            .sum::<f64>()
            / total_ns
    };
    let data = kept * busy(&[Resource::Dram]);
    let compute = busy(&[
        Resource::Fma,
        Resource::Fp64,
        Resource::Xu,
        Resource::Tensor,
    ]);
    let floor = data.max(compute);
    // What each kernel loses beside its busiest unit, the fused kernel loses too, once for what it moves.
    let today = busy(&[Resource::Dram]);
    // A kernel that something else keeps busy longer spends its time on that, and keeps it.
    let others: f64 = steps
        .iter()
        .filter(|step| !is_memory_busiest(step.kernel))
        .map(|step| step.duration_ns)
        .sum();
    let expected = (kept * (1.0 - today) + data)
        .max(others / total_ns)
        .max(data / attainable(Stage::DramBytes).share)
        .max(compute);
    let saving_expected = (1.0 - expected).clamp(0.0, 1.0 - floor);
    if saving_expected < WORTHWHILE {
        return None;
    }
    let mut groups: Vec<usize> = steps.iter().map(|step| step.group).collect();
    groups.sort_unstable();
    groups.dedup();
    Some(ReportFinding {
        finding: Finding {
            id: ID.to_owned(),
            title: format!(
                "each of {} kernels in a row reads as many bytes as the one before it wrote, {:.0} MB in all: if it is the same array, it passes through memory for nothing",
                steps.len(),
                between / 1e6
            ),
            saving_ceiling: (1.0 - floor).clamp(0.0, 1.0),
            saving_expected,
            next_limit: Some(if data >= compute { Resource::Dram } else { Resource::Issue }),
            confidence: Confidence::Low,
            evidence: vec![
                against("bytes written by a kernel and read by the next", between, "byte", 0.0),
                against("bytes read and written by all of them", moved, "byte", kept * moved),
                evidence("summed duration", total_ns, "ns"),
            ],
            actions: vec![
                "fuse the kernels: keep each element in registers from the first operation to the last".to_owned(),
                "let a compiler fuse them (torch.compile, XLA), or write the epilogue into the producer".to_owned(),
            ],
            verify: vec![Verify {
                metric: "dram__bytes_read.sum".to_owned(),
                direction: Direction::Down,
                target: None,
            }],
            locations: Vec::new(),
        },
        kernels: groups,
        time_share: time_share(steps),
    })
}
