//! What the launches of a job do, for a device that cannot find out by itself: a simulated one is told what is read and
//! written, and what the outputs are then.

use std::rc::Rc;

use ridge_gpu::{Access, Buffer, Effect, Operations};
use ridge_model::{NumberFormat, PeakUnit};

use crate::check::{Expected, scramble};
use crate::expression::Value;
use crate::spec::job::{Job, JobArgument};
use crate::spec::{ElementType, Elements, Init};

/// What the outputs of all kernels of a spec are on a simulated device: they agree, as kernels that compute the same do.
pub(super) fn contents(place: usize, elements: &Elements) -> Vec<u8> {
    /// Bytes of the pattern, which is repeated.
    const PATTERN: u64 = 4096;
    let mut bytes = Vec::new();
    for index in 0..elements.length.min(PATTERN) {
        let bits = scramble(scramble(place as u64 + 1) ^ index);
        let value = if elements.kind.is_float() {
            // A multiple of 1/128 below 1, which every format holds.
            Value::Float((bits % 255) as f64 / 128.0 - 127.0 / 128.0)
        } else {
            Value::Int((bits % 100) as i64)
        };
        elements.kind.push(value, &mut bytes);
    }
    bytes
}

/// The accesses of one launch of a job. `is_last` tells whether no later launch writes an output.
pub(super) fn accesses<'b>(
    job: &Job,
    launch: usize,
    buffers: &[&'b Buffer],
    expected: &[Expected],
) -> Vec<Access<'b>> {
    let mut found = Vec::new();
    let own = &job.launches[launch];
    let mut used: Vec<usize> = own
        .args
        .iter()
        .filter_map(|argument| match argument {
            JobArgument::Buffer(place) => Some(*place),
            JobArgument::Scalar(_) => None,
        })
        .collect();
    used.dedup();
    // A spec does not say which launch uses a variable of the module: each reads it, and the last one writes it.
    for (place, buffer) in job.buffers.iter().enumerate() {
        if buffer.symbol.is_some() && !used.contains(&place) {
            used.push(place);
        }
    }
    for place in used {
        let (buffer, elements) = (buffers[place], &job.buffers[place].elements);
        let whole = |effect| Access {
            buffer,
            offset: 0,
            bytes: elements.bytes(),
            times: job.simulated_traffic,
            effect,
        };
        let is_variable = job.buffers[place].symbol.is_some();
        let is_written_later = job.launches[launch + 1..]
            .iter()
            .any(|later| is_variable || later.args.contains(&JobArgument::Buffer(place)));
        match job.buffers[place].output {
            Some(output) if !is_written_later => {
                if !elements.is_poison() && elements.init != Init::Constant(0.0) {
                    found.push(whole(Effect::Read));
                }
                write(
                    &mut found,
                    buffer,
                    output,
                    elements,
                    expected.get(output),
                    job.simulated_traffic,
                );
            }
            _ if elements.is_poison() || elements.init == Init::Constant(0.0) => {
                found.push(whole(Effect::Write(format_of(elements.kind))));
            }
            _ => found.push(whole(Effect::Read)),
        }
    }
    found
}

fn write<'b>(
    found: &mut Vec<Access<'b>>,
    buffer: &'b Buffer,
    output: usize,
    elements: &Elements,
    expected: Option<&Expected>,
    times: f64,
) {
    let bytes = match expected {
        Some(Expected::Bytes(bytes)) => Rc::from(bytes.as_slice()),
        _ => Rc::from(contents(output, elements)),
    };
    found.push(Access {
        buffer,
        offset: 0,
        bytes: elements.bytes(),
        times,
        effect: Effect::WriteBytes(bytes),
    });
    if let Some(Expected::Some(some)) = expected {
        for (index, value) in some {
            let mut bytes = Vec::new();
            let value = if elements.kind.is_float() {
                Value::Float(*value)
            } else {
                Value::Int(*value as i64)
            };
            elements.kind.push(value, &mut bytes);
            found.push(Access {
                buffer,
                offset: index * elements.kind.size() as u64,
                bytes: elements.kind.size() as u64,
                // These bytes are counted with the whole.
                times: 0.0,
                effect: Effect::WriteBytes(Rc::from(bytes)),
            });
        }
    }
}

/// The operations of one launch: its share of the job's.
pub(super) fn operations(job: &Job) -> Vec<Operations> {
    let (Some(flops), Ok(format)) = (job.flops, job.format.parse::<NumberFormat>()) else {
        return Vec::new();
    };
    vec![Operations {
        format,
        unit: if job.is_tensor {
            PeakUnit::Tensor
        } else {
            PeakUnit::Vector
        },
        count: flops / job.launch_count().max(1) as f64,
    }]
}

const fn format_of(kind: ElementType) -> NumberFormat {
    match kind {
        ElementType::F64 | ElementType::I64 | ElementType::U64 => NumberFormat::Fp64,
        ElementType::F32 => NumberFormat::Fp32,
        ElementType::F16 | ElementType::I16 | ElementType::U16 => NumberFormat::Fp16,
        ElementType::Bf16 => NumberFormat::Bf16,
        ElementType::E4m3 => NumberFormat::Fp8E4m3,
        ElementType::E5m2 => NumberFormat::Fp8E5m2,
        ElementType::I32 | ElementType::U32 => NumberFormat::Int32,
        ElementType::I8 | ElementType::U8 => NumberFormat::Int8,
    }
}
