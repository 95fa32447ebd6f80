//! Matrix units: by the vendor's library where it is installed, and by loops of `mma.sync`.

use std::rc::Rc;

use ridge_gpu::{
    Argument, Buffer, DeviceError, Operations, Prepared, PreparedProduct, Product, Stream,
};
use ridge_model::NumberFormat;
use ridge_model::device::PeakUnit;
use ridge_numerics::format::{Format, Overflow};

use super::document::{Detail, Family, Measured, Missing, Path, Unit};
use super::probe::{
    Kernels, Label, Shape, Spreader, bytes_of, checksum, contents, random_floats, random_words,
    writes, wrong,
};
use super::runner::{Manner, Runner, Variant};
use super::vector::repeated;
use crate::protocol::{Failure, FailureKind};

const SOURCE: &str = include_str!("kernels/tensor.cu");
/// What matrices repeat, in items of 16 bytes.
const PERIOD: u64 = 1 << 16;
/// Rows and columns of matrices, where there is room.
const SIZE: u64 = 8192;
/// Memory for the library, as its documentation recommends for 9.0.
const WORKSPACE: u64 = 32 << 20;
/// Algorithms that are tried for each way to store the matrices.
const ALGORITHMS: usize = 8;
const THREADS: u32 = 256;
const BLOCKS: [u32; 3] = [1, 2, 4];

/// A product of the library.
struct Kind {
    id: &'static str,
    name: &'static str,
    dtype: &'static str,
    format: NumberFormat,
    accumulator: NumberFormat,
    has_fast_sums: bool,
    /// Whether the library takes both orders of the left matrix.
    has_both_orders: bool,
    /// The first compute capability with it.
    since: (u32, u32),
}

const fn kind(
    id: &'static str,
    name: &'static str,
    dtype: &'static str,
    format: NumberFormat,
    accumulator: NumberFormat,
    since: (u32, u32),
) -> Kind {
    Kind {
        id,
        name,
        dtype,
        format,
        accumulator,
        has_fast_sums: false,
        has_both_orders: !matches!(format, NumberFormat::Fp8E4m3 | NumberFormat::Int8),
        since,
    }
}

const KINDS: [Kind; 8] = [
    kind(
        "tensor-fp64",
        "FP64 product",
        "fp64",
        NumberFormat::Fp64,
        NumberFormat::Fp64,
        (8, 0),
    ),
    kind(
        "tensor-tf32",
        "TF32 product",
        "tf32",
        NumberFormat::Tf32,
        NumberFormat::Fp32,
        (8, 0),
    ),
    kind(
        "tensor-bf16",
        "BF16 product",
        "bf16",
        NumberFormat::Bf16,
        NumberFormat::Fp32,
        (8, 0),
    ),
    kind(
        "tensor-fp16",
        "FP16 product",
        "fp16",
        NumberFormat::Fp16,
        NumberFormat::Fp32,
        (7, 0),
    ),
    kind(
        "tensor-fp16-sum16",
        "FP16 product, FP16 sums",
        "fp16",
        NumberFormat::Fp16,
        NumberFormat::Fp16,
        (7, 0),
    ),
    kind(
        "tensor-fp8-exact",
        "FP8 product, FP32 sums",
        "fp8",
        NumberFormat::Fp8E4m3,
        NumberFormat::Fp32,
        (8, 9),
    ),
    Kind {
        has_fast_sums: true,
        ..kind(
            "tensor-fp8",
            "FP8 product, fast sums",
            "fp8",
            NumberFormat::Fp8E4m3,
            NumberFormat::Fp32,
            (8, 9),
        )
    },
    kind(
        "tensor-int8",
        "INT8 product",
        "int8",
        NumberFormat::Int8,
        NumberFormat::Int32,
        (7, 5),
    ),
];

/// A loop of one instruction.
struct Loop {
    id: &'static str,
    name: &'static str,
    dtype: &'static str,
    expression: &'static str,
    format: NumberFormat,
    /// Operations of an instruction on 8.0 and later, and before.
    each: [f64; 2],
    steps: u32,
    /// Whether an architecture has it. Where it has not, the compiler writes it with others.
    is_there: fn(u32, u32) -> bool,
}

const LOOPS: [Loop; 7] = [
    Loop {
        id: "mma-fp64",
        name: "FP64, mma.sync",
        dtype: "fp64",
        expression: "products_fp64<4>",
        format: NumberFormat::Fp64,
        each: [512.0, 0.0],
        steps: 256,
        is_there: |major, minor| {
            (major, minor) == (8, 0) || major == 9 || (major, minor) == (10, 0)
        },
    },
    Loop {
        id: "mma-tf32",
        name: "TF32, mma.sync",
        dtype: "tf32",
        expression: "products<Tf32, 8>",
        format: NumberFormat::Tf32,
        each: [2048.0, 0.0],
        steps: 2048,
        is_there: |major, _| major >= 8,
    },
    Loop {
        id: "mma-bf16",
        name: "BF16, mma.sync",
        dtype: "bf16",
        expression: "products<Bf16, 8>",
        format: NumberFormat::Bf16,
        each: [4096.0, 0.0],
        steps: 2048,
        is_there: |major, _| major >= 8,
    },
    Loop {
        id: "mma-fp16",
        name: "FP16, mma.sync",
        dtype: "fp16",
        expression: "products<Fp16, 8>",
        format: NumberFormat::Fp16,
        each: [4096.0, 2048.0],
        steps: 2048,
        is_there: |major, minor| (major, minor) >= (7, 5),
    },
    Loop {
        id: "mma-fp16-sum16",
        name: "FP16, FP16 sums, mma.sync",
        dtype: "fp16",
        expression: "products<Fp16Sum16, 8>",
        format: NumberFormat::Fp16,
        each: [4096.0, 2048.0],
        steps: 2048,
        is_there: |major, minor| (major, minor) >= (7, 5),
    },
    Loop {
        id: "mma-fp8",
        name: "FP8, mma.sync",
        dtype: "fp8",
        expression: "products<Fp8, 8>",
        format: NumberFormat::Fp8E4m3,
        each: [8192.0, 0.0],
        steps: 2048,
        // On 9.0 and 10.0 the compiler widens to FP16 and adds by itself.
        is_there: |major, minor| (major, minor) == (8, 9) || major == 12,
    },
    Loop {
        id: "mma-int8",
        name: "INT8, mma.sync",
        dtype: "int8",
        expression: "products<Int8, 8>",
        format: NumberFormat::Int8,
        each: [8192.0, 2048.0],
        steps: 2048,
        is_there: |major, minor| (major, minor) >= (7, 5),
    },
];

pub(super) fn measure(
    runner: &Runner<'_>,
    measured: &mut Measured,
    tell: &mut dyn FnMut(&str),
) -> Result<(), Failure> {
    loops(runner, measured, tell)?;
    products(runner, measured, tell)
}

fn loops(
    runner: &Runner<'_>,
    measured: &mut Measured,
    tell: &mut dyn FnMut(&str),
) -> Result<(), Failure> {
    let device = runner.device;
    let capability = device.properties().capability;
    let kinds: Vec<&Loop> = LOOPS
        .iter()
        .filter(|kind| (kind.is_there)(capability.major, capability.minor))
        .collect();
    if kinds.is_empty() {
        return Ok(());
    }
    tell("compiling the loops of matrix instructions");
    let expressions: Vec<String> = kinds
        .iter()
        .map(|kind| kind.expression.to_owned())
        .collect();
    let kernels = Kernels::compile(device, "tensor.cu", SOURCE, &expressions)?;
    let sms = device.properties().multiprocessors;
    let out = device.allocate(u64::from(sms * BLOCKS[2] * THREADS) * 4)?;
    // A simulated device leaves what it is told.
    let image: Rc<[u8]> = bytes_of(&random_words(8, 10)).into();
    for kind in kinds {
        tell(kind.name);
        // FP64 operands are 12 doubles for each lane, others 8 words.
        let operands = if kind.format == NumberFormat::Fp64 {
            random_floats(32 * 12, 11)
                .iter()
                .flat_map(|number| f64::from(*number).to_le_bytes())
                .collect()
        } else {
            elements(kind.format, 32 * 8 * 4, 12)
        };
        let from = device.allocate(operands.len() as u64)?;
        device.write(&from, 0, &operands)?;
        let function = kernels.function(device, kind.expression)?;
        let each = if kind.format == NumberFormat::Fp64 && capability.major >= 9 {
            4096.0
        } else {
            kind.each[usize::from(capability.major < 8)]
        };
        let amount = |blocks: u32| {
            f64::from(blocks * sms * THREADS / 32) * 8.0 * f64::from(kind.steps) * each
        };
        let mut launches: Vec<(u32, Prepared)> = Vec::new();
        for blocks in BLOCKS {
            let launch = Shape {
                function: &function,
                blocks: blocks * sms,
                threads: THREADS,
                arguments: &[
                    Argument::buffer(&out),
                    Argument::buffer(&from),
                    Argument::U32(kind.steps),
                ],
                accesses: &[writes(&out, u64::from(blocks * sms * THREADS) * 4, &image)],
                operations: &[Operations {
                    format: kind.format,
                    unit: PeakUnit::TensorWarp,
                    count: amount(blocks),
                }],
            }
            .prepare(device)?;
            launches.push((blocks, launch));
        }
        let variants: Vec<Variant<'_>> = launches
            .iter()
            .map(|(blocks, launch)| Variant {
                name: format!(
                    "8 accumulators a warp, {} warps on each SM",
                    blocks * THREADS / 32
                ),
                amount: amount(*blocks),
                queue: Box::new(move |stream| device.launch(stream, launch)),
            })
            .collect();
        let Some(outcome) = runner.best(&variants, Manner::Burst)? else {
            continue;
        };
        let (blocks, launch) = &launches[outcome.variant];
        device.fill(&runner.stream, &out, 0xff)?;
        device.launch(&runner.stream, launch)?;
        let checksum = repeated(runner, &out, blocks * sms * THREADS, launch)?;
        let variant = variants[outcome.variant].name.clone();
        let mut figure = Label {
            id: kind.id,
            family: Family::Tensor,
            name: kind.name,
            path: Path::Loop,
            format: Some(kind.dtype),
            unit: unit(kind.format),
            counts: "a multiply-add is 2",
        }
        .figure(runner, outcome, &variant);
        figure.checksum = Some(checksum);
        measured.figures.push(figure);
    }
    Ok(())
}

const fn unit(format: NumberFormat) -> Unit {
    if format.is_integer() {
        Unit::OperationsPerSecond
    } else {
        Unit::FlopsPerSecond
    }
}

fn products(
    runner: &Runner<'_>,
    measured: &mut Measured,
    tell: &mut dyn FnMut(&str),
) -> Result<(), Failure> {
    let device = runner.device;
    let capability = device.properties().capability;
    let kinds = KINDS
        .iter()
        .filter(|kind| (capability.major, capability.minor) >= kind.since);
    let spread = Spreader::new(device)?;
    let workspace = device.allocate(WORKSPACE)?;
    for kind in kinds {
        tell(&format!("{}, cuBLASLt", kind.name));
        match product(runner, kind, &spread, &workspace) {
            Ok(figure) => measured.figures.push(figure),
            Err(failure) if device.death().is_some() => return Err(failure),
            Err(failure) => {
                let is_library = failure.message.contains("not installed");
                measured.missing.push(Missing {
                    family: Family::Tensor,
                    name: Some(if is_library {
                        "products of cuBLASLt".to_owned()
                    } else {
                        kind.name.to_owned()
                    }),
                    failure,
                });
                if is_library {
                    break;
                }
            }
        }
    }
    Ok(())
}

fn product(
    runner: &Runner<'_>,
    kind: &Kind,
    spread: &Spreader,
    workspace: &Buffer,
) -> Result<super::document::Figure, Failure> {
    let device = runner.device;
    let free = device.memory()?.free.get();
    // Three matrices of 8 bytes at most.
    let size = [SIZE, SIZE / 2, SIZE / 4]
        .into_iter()
        .find(|size| free > 4.0 * 8.0 * (size * size) as f64)
        .ok_or_else(|| Failure {
            code: "BEN0022".to_owned(),
            kind: FailureKind::Memory,
            message: "there is no room for three matrices".to_owned(),
            hint: Some("end what else uses the GPU: `nvidia-smi` lists it".to_owned()),
            log: None,
        })?;
    let element = u64::from(kind.format.bits()) / 8;
    let bytes = size * size * element;
    let (left, right) = (device.allocate(bytes)?, device.allocate(bytes)?);
    let to = device.allocate(size * size * Product::output_bytes(kind.format))?;
    // A model asks what its memory holds at each launch.
    let period = if device.properties().is_simulated() {
        PERIOD / 256
    } else {
        PERIOD
    };
    let images = [20, 21].map(|seed| elements(kind.format, (period * 16) as usize, seed));
    for (buffer, image) in [(&left, &images[0]), (&right, &images[1])] {
        spread.fill(runner, buffer, image)?;
    }
    let orders: &[[bool; 2]] = if kind.has_both_orders {
        &[[true, false], [false, false]]
    } else {
        &[[true, false]]
    };
    // A long product is tried with fewer algorithms.
    let most = if kind.format == NumberFormat::Fp64 {
        3
    } else {
        ALGORITHMS
    };
    let mut found: Vec<(usize, PreparedProduct)> = Vec::new();
    let mut refused = None;
    for (place, order) in orders.iter().enumerate() {
        let product = Product {
            rows: size,
            columns: size,
            depth: size,
            format: kind.format,
            accumulator: kind.accumulator,
            is_transposed: *order,
            has_fast_sums: kind.has_fast_sums,
            left: &left,
            right: &right,
            to: &to,
            workspace,
        };
        match device.products(&product, most) {
            Ok(all) => found.extend(all.into_iter().map(|one| (place, one))),
            Err(error) if error.is_fatal() => return Err(error.into()),
            Err(error) => refused = Some(error),
        }
    }
    // What the library offers and then refuses is left out.
    let runs = |product: &PreparedProduct| -> Result<bool, DeviceError> {
        let queued = device.launch_product(&runner.stream, product);
        match queued.and_then(|()| runner.synchronize()) {
            Ok(()) => Ok(true),
            Err(error) if error.is_fatal() => Err(error),
            Err(_) => Ok(false),
        }
    };
    let mut usable = Vec::new();
    for one in found {
        if runs(&one.1)? {
            usable.push(one);
        }
    }
    if usable.is_empty() {
        let reason = refused.unwrap_or(DeviceError::Unsupported {
            feature: "a matrix product of cuBLASLt",
            reason: "no algorithm that it offers runs".to_owned(),
        });
        return Err(reason.into());
    }
    let operations = 2.0 * (size as f64).powi(3);
    let variants: Vec<Variant<'_>> = usable
        .iter()
        .map(|(order, product)| Variant {
            name: format!(
                "{size} x {size} x {size}, {}, {}",
                if orders[*order][0] { "TN" } else { "NN" },
                product.algorithm()
            ),
            amount: operations,
            queue: Box::new(move |stream: &Stream| device.launch_product(stream, product)),
        })
        .collect();
    let Some(outcome) = runner.best(&variants, Manner::RestedThenSustained)? else {
        return Err(wrong("no product was measured".to_owned()));
    };
    let (order, chosen) = &usable[outcome.variant];
    device.fill(&runner.stream, &to, 0xff)?;
    device.launch_product(&runner.stream, chosen)?;
    let sum = checksum(&contents(runner, &to)?);
    let is_transposed = orders[*order][0];
    if !device.properties().is_simulated() {
        verify(runner, kind, size, is_transposed, &images, &to)?;
    }
    let variant = variants[outcome.variant].name.clone();
    let mut figure = Label {
        id: kind.id,
        family: Family::Tensor,
        name: kind.name,
        path: Path::Library,
        format: Some(kind.dtype),
        unit: unit(kind.format),
        counts: "a multiply-add is 2",
    }
    .figure(runner, outcome, &variant);
    figure.checksum = Some(sum);
    figure.details.push(Detail {
        name: "algorithms that were tried".to_owned(),
        value: usable.len() as f64,
        unit: "1".to_owned(),
    });
    Ok(figure)
}

/// Compares some elements of a result with what the host computes.
fn verify(
    runner: &Runner<'_>,
    kind: &Kind,
    size: u64,
    is_left_transposed: bool,
    images: &[Vec<u8>; 2],
    to: &Buffer,
) -> Result<(), Failure> {
    let element = u64::from(kind.format.bits()) / 8;
    let at = |image: &[u8], place: u64| {
        let byte = (place * element) as usize % image.len();
        number(kind.format, &image[byte..])
    };
    let output = match kind.format {
        NumberFormat::Fp8E4m3 => NumberFormat::Bf16,
        NumberFormat::Int8 => NumberFormat::Int32,
        other => other,
    };
    for (row, column) in [(0, 0), (size / 3, size / 2), (size - 1, size - 1)] {
        let (mut sum, mut all) = (0.0, 0.0);
        for k in 0..size {
            let left = if is_left_transposed {
                k + row * size
            } else {
                row + k * size
            };
            let term = at(&images[0], left) * at(&images[1], k + column * size);
            sum += term;
            all += f64::abs(term);
        }
        let width = Product::output_bytes(kind.format);
        let mut bytes = [0; 8];
        runner.device.read(
            to,
            (row + column * size) * width,
            &mut bytes[..width as usize],
        )?;
        let found = number(output, &bytes);
        // Sums of 16 and 8 bits are coarse; something that was not computed is far away.
        let is_near = (found - sum).abs() <= 0.02 * all;
        // Not a number is not near either.
        if !is_near {
            return Err(wrong(format!(
                "{} gave {found} at row {row} and column {column}, where the host has {sum}",
                kind.name
            )));
        }
    }
    Ok(())
}

/// Random elements of a format, spread like a bell around 0 where it has a point.
fn elements(format: NumberFormat, bytes: usize, seed: u64) -> Vec<u8> {
    let bell = |count: usize| -> Vec<f32> {
        let all = random_floats(count * 4, seed);
        all.chunks_exact(4)
            .map(|four| four.iter().sum::<f32>() * 0.866)
            .collect()
    };
    match format {
        // Exponents of 2^-4 to 2^0 with any sign and fraction: no infinity and no NaN.
        NumberFormat::Fp8E4m3 => random_words(bytes, seed)
            .iter()
            .map(|word| (word & 0x87) as u8 | (((word >> 8) % 5 + 3) as u8) << 3)
            .collect(),
        _ => match encoding(format).filter(|encoding| encoding.is_float()) {
            Some(encoding) => bell(bytes / encoding.size_bytes())
                .iter()
                .flat_map(|number| {
                    let code = encoding.encode(f64::from(*number), Overflow::NonFinite);
                    code.to_le_bytes().into_iter().take(encoding.size_bytes())
                })
                .collect(),
            None => bytes_of(&random_words(bytes / 4, seed)),
        },
    }
}

/// How elements of a format are written in bits.
fn encoding(format: NumberFormat) -> Option<Format> {
    Some(match format {
        NumberFormat::Fp64 => Format::F64,
        // TF32 has the bits of FP32.
        NumberFormat::Fp32 | NumberFormat::Tf32 => Format::F32,
        NumberFormat::Bf16 => Format::Bf16,
        NumberFormat::Fp16 => Format::F16,
        NumberFormat::Fp8E4m3 => Format::E4m3,
        NumberFormat::Int32 => Format::I32,
        NumberFormat::Int8 => Format::I8,
        _ => return None,
    })
}

/// The number at the start of some bytes.
fn number(format: NumberFormat, bytes: &[u8]) -> f64 {
    let number = || {
        let encoding = encoding(format)?;
        let mut code = [0; 8];
        let element = bytes.get(..encoding.size_bytes())?;
        code[..element.len()].copy_from_slice(element);
        Some(encoding.decode(u64::from_le_bytes(code)))
    };
    number().unwrap_or(f64::NAN)
}
