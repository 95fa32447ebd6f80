//! What every device has to do, real or simulated.

use libtest_mimic::Failed;
use ridge_gpu::{
    Access, Argument, Buffer, Device, DeviceError, Dim3, Effect, Event, Fault, Flush, FlushKind,
    Function, Launch, Module, Operations, Prepared, Program, SensorSource, Stream, WindowEnd, Work,
};
use ridge_model::quantity::Nanos;
use ridge_model::{NumberFormat, PeakUnit};

pub(crate) type Outcome = Result<(), Failed>;
pub(crate) type Case = (&'static str, fn(&dyn Device) -> Outcome);

/// Every case. Those at the end leave a device of no more use.
pub(crate) const CASES: &[Case] = &[
    ("properties make sense", properties),
    ("time goes on and can be waited for", time),
    ("memory holds what was written", memory),
    ("ranges outside of buffers are refused", ranges),
    ("memory is looked at where it is", looks),
    ("memory has a digest, and a mask that comes off", digests),
    ("all streams are waited for", draining),
    ("pinned memory reaches the device and comes back", pinned),
    ("memory of other GPUs is reached", peers),
    ("kernels for one problem agree", agreement),
    ("PTX is an image", ptx),
    ("wrong images and names are refused", wrong_images),
    ("variables of a module are memory", globals),
    ("compile errors come with a log", compile_errors),
    ("mangled names are told", mangled_names),
    ("wrong arguments are refused", wrong_arguments),
    ("events measure the time between them", events),
    ("events that were not reached are not ready", not_ready),
    (
        "a blocked stream waits, and is released on every way out",
        blocking,
    ),
    (
        "a block that is not released ends by itself and is told",
        expiring,
    ),
    (
        "held back, launches do not show their latency",
        hidden_latency,
    ),
    ("freeing memory releases a blocked stream", freeing_releases),
    ("streams wait for events of others", waiting),
    ("graphs run all their launches", graphs),
    ("the SM clock is measured", clock),
    ("a flush makes reads cold", flushing),
    ("sensors are sane or absent", sensors),
    ("shared memory above 48 KiB is asked for", shared_memory),
    ("clusters run where the device has them", clusters),
    (
        "a block that needs too many registers is refused",
        registers,
    ),
    ("memory that is not there is refused", out_of_memory),
    (
        "an illegal address ends the context and is named",
        illegal_address,
    ),
    (
        "a misaligned address ends the context and is named",
        misaligned_address,
    ),
    ("a trap ends the context and is named", trap),
    ("an endless kernel ends in a timeout", endless),
];

/// What no case needs.
const PATIENCE: Nanos = Nanos::new(20e9);
const MIB: u64 = 1 << 20;
const SOURCE: &str = include_str!("kernels.cu");

fn program() -> Program {
    Program {
        text: SOURCE.to_owned(),
        name: "kernels.cu".to_owned(),
        ..Program::default()
    }
}

fn module(device: &dyn Device) -> Result<Module, Failed> {
    let compiled = device.compile(&program())?;
    Ok(device.load(&compiled.image)?)
}

fn kernel(device: &dyn Device, name: &str) -> Result<(Module, Function), Failed> {
    let module = module(device)?;
    let function = device.function(&module, name)?;
    Ok((module, function))
}

fn prepare(
    device: &dyn Device,
    function: &Function,
    grid: u32,
    block: u32,
    arguments: &[Argument<'_>],
    work: Work<'_>,
) -> Result<Prepared, DeviceError> {
    device.prepare(&Launch {
        function,
        grid: Dim3::linear(grid),
        block: Dim3::linear(block),
        cluster: None,
        dynamic_shared_bytes: 0,
        arguments,
        work,
    })
}

fn access(buffer: &Buffer, effect: Effect) -> Access<'_> {
    Access {
        buffer,
        offset: 0,
        bytes: buffer.bytes(),
        times: 1.0,
        effect,
    }
}

/// Runs something once, and waits for it.
fn run(device: &dyn Device, launch: &Prepared) -> Result<(), DeviceError> {
    let stream = device.stream()?;
    device.launch(&stream, launch)?;
    device.synchronize(&stream, PATIENCE)
}

/// The time of what `queue` puts between two events, held back until all is queued.
fn timed(
    device: &dyn Device,
    stream: &Stream,
    queue: &dyn Fn(&Stream) -> Result<(), DeviceError>,
) -> Result<f64, DeviceError> {
    let (start, stop) = (device.event()?, device.event()?);
    let block = device.block(stream, PATIENCE)?;
    device.record(stream, &start)?;
    queue(stream)?;
    device.record(stream, &stop)?;
    block.release();
    device.synchronize(stream, PATIENCE)?;
    Ok(device.elapsed(&start, &stop)?.get())
}

fn floats(device: &dyn Device, buffer: &Buffer, count: usize) -> Result<Vec<f32>, DeviceError> {
    let mut bytes = vec![0; count * 4];
    device.read(buffer, 0, &mut bytes)?;
    let float = |bytes: &[u8]| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    Ok(bytes.chunks_exact(4).map(float).collect())
}

fn words(device: &dyn Device, buffer: &Buffer, count: usize) -> Result<Vec<u32>, DeviceError> {
    let mut bytes = vec![0; count * 4];
    device.read(buffer, 0, &mut bytes)?;
    let word = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    Ok(bytes.chunks_exact(4).map(word).collect())
}

fn is_real(device: &dyn Device) -> bool {
    !device.properties().is_simulated()
}

fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Outcome {
    if holds {
        Ok(())
    } else {
        Err(otherwise().into())
    }
}

/// The error of something that has to fail.
fn error_of<T>(result: Result<T, DeviceError>) -> Result<DeviceError, Failed> {
    result.err().ok_or_else(|| "no error".into())
}

/// After an error that is none of the context, everything goes on.
fn usable(device: &dyn Device) -> Outcome {
    ensure(device.death().is_none(), || {
        format!("dead: {:?}", device.death())
    })?;
    let buffer = device.allocate(1024)?;
    let stream = device.stream()?;
    device.fill(&stream, &buffer, 0x2a)?;
    device.synchronize(&stream, PATIENCE)?;
    let mut bytes = [0; 1024];
    device.read(&buffer, 0, &mut bytes)?;
    ensure(bytes == [0x2a; 1024], || {
        "not usable after the error".to_owned()
    })
}

fn properties(device: &dyn Device) -> Outcome {
    let properties = device.properties();
    let told = format!("{properties:?}");
    let simulated = properties.name.contains("simulated");
    ensure(simulated == properties.is_simulated(), || told.clone())?;
    ensure(properties.uuid.is_some(), || told.clone())?;
    ensure(properties.multiprocessors > 0, || told.clone())?;
    ensure(properties.capability.major >= 7, || told.clone())?;
    let l2 = properties.l2.ok_or("no size of the L2")?.get();
    ensure((1e6..=1e9).contains(&l2), || told.clone())?;
    let clock = properties.max_sm_clock.ok_or("no clock")?.get();
    ensure(clock > 5e8 && clock < 4e9, || told.clone())?;
    ensure(properties.max_threads_per_block == 1024, || told.clone())?;
    let shared = properties.shared_per_block_opt_in >= properties.shared_per_block;
    ensure(shared, || told.clone())?;
    if is_real(device) {
        ensure(properties.driver.is_some(), || told.clone())?;
        ensure(properties.timer_step.is_some(), || told.clone())?;
        ensure(properties.pci_id.is_some(), || told.clone())?;
    }
    let memory = device.memory()?;
    ensure(
        memory.free <= memory.total && memory.free.get() > 0.0,
        || format!("{memory:?}"),
    )
}

fn time(device: &dyn Device) -> Outcome {
    let start = device.now();
    device.pause(Nanos::new(2e6));
    let waited = device.now() - start;
    ensure(waited >= Nanos::new(2e6) && waited < PATIENCE, || {
        format!("a pause of 2 ms took {waited}")
    })
}

fn memory(device: &dyn Device) -> Outcome {
    let (one, other) = (device.allocate(MIB)?, device.allocate(MIB)?);
    let pattern: Vec<u8> = (0..MIB).map(|place| (place * 7 % 251) as u8).collect();
    device.write(&one, 0, &pattern)?;
    device.write(&one, 1000, &[1, 2, 3])?;
    let stream = device.stream()?;
    device.fill(&stream, &other, 0xee)?;
    device.copy(&stream, &one, &other, 2000)?;
    device.synchronize(&stream, PATIENCE)?;
    let mut back = vec![0; MIB as usize];
    device.read(&other, 0, &mut back)?;
    ensure(back[..1000] == pattern[..1000], || "copy".to_owned())?;
    ensure(back[1000..1003] == [1, 2, 3], || {
        "write at an offset".to_owned()
    })?;
    ensure(back[1003..2000] == pattern[1003..2000], || {
        "copy".to_owned()
    })?;
    ensure(back[2000..].iter().all(|byte| *byte == 0xee), || {
        "fill".to_owned()
    })?;
    let mut part = [0; 5];
    device.read(&one, 999, &mut part)?;
    ensure(part == [pattern[999], 1, 2, 3, pattern[1003]], || {
        "read at an offset".to_owned()
    })
}

fn looks(device: &dyn Device) -> Outcome {
    // 100,003 bytes: not a whole number of words, so the ends matter.
    let bytes: Vec<u8> = (0..100_003_u32)
        .map(|place| (place * 7 % 256) as u8)
        .collect();
    let (one, other) = (device.allocate(100_003)?, device.allocate(100_003)?);
    device.write(&one, 0, &bytes)?;
    let stream = device.stream()?;
    device.copy(&stream, &one, &other, 100_003)?;
    ensure(device.is_equal(&stream, &one, &other, 100_003)?, || {
        "a copy differs".to_owned()
    })?;
    for place in [0, 50_000, 100_000, 100_002] {
        device.write(&other, place, &[bytes[place as usize] ^ 1])?;
        ensure(!device.is_equal(&stream, &one, &other, 100_003)?, || {
            format!("byte {place} differs and was not seen")
        })?;
        device.write(&other, place, &[bytes[place as usize]])?;
    }
    device.write(&other, 99_999, &[!bytes[99_999]])?;
    ensure(device.is_equal(&stream, &one, &other, 99_999)?, || {
        "what is behind the range was compared".to_owned()
    })?;
    for size in [1, 2, 4, 8] {
        for mask in [0, 1, 0x80, 0xff, 0x7f80, 0x7f80_0000, u64::MAX] {
            let mask = mask & (u64::MAX >> (64 - 8 * size));
            let expected = bytes
                .chunks_exact(size)
                .filter(|element| number_of(element) & mask == mask)
                .count() as u64;
            let found = device.count(&stream, &one, size, mask)?;
            ensure(found == expected, || {
                format!("{found} elements of {size} bytes have {mask:#x}, and {expected} do")
            })?;
        }
        let last = (bytes.len() / size - 1) as u64;
        let indices = [last, 0, 17, last, 5_000];
        let expected: Vec<u8> = indices
            .iter()
            .flat_map(|index| &bytes[*index as usize * size..][..size])
            .copied()
            .collect();
        let found = device.gather(&stream, &one, size, &indices)?;
        ensure(found == expected, || format!("{found:?}, not {expected:?}"))?;
        let outside = error_of(device.gather(&stream, &one, size, &[last + 1]))?;
        ensure(outside.code() == "GPU0125", || outside.to_string())?;
    }
    // What is in the stream comes first.
    device.fill(&stream, &one, 0xff)?;
    let filled = device.count(&stream, &one, 4, 0xffff_ffff)?;
    ensure(filled == 25_000, || {
        format!("{filled} of 25000 were filled")
    })?;
    ensure(device.gather(&stream, &one, 4, &[])?.is_empty(), || {
        "elements that nobody asked for".to_owned()
    })?;
    let wrong = error_of(device.count(&stream, &one, 3, 0))?;
    ensure(wrong.code() == "GPU0122", || wrong.to_string())?;
    usable(device)
}

fn digests(device: &dyn Device) -> Outcome {
    // Not a whole number of words, so the ends matter.
    let bytes: Vec<u8> = (0..10_003_u32)
        .map(|place| (place * 7 % 251) as u8)
        .collect();
    let (one, other) = (device.allocate(10_003)?, device.allocate(10_003)?);
    let stream = device.stream()?;
    device.write(&one, 0, &bytes)?;
    device.write(&other, 0, &bytes)?;
    let whole = device.digest(&stream, &one)?;
    ensure(device.digest(&stream, &other)? == whole, || {
        "the same contents have two digests".to_owned()
    })?;
    let mut turned = bytes.clone();
    turned.swap(0, 8);
    for (place, changed) in [
        (0, vec![bytes[0] ^ 1]),
        (5_000, vec![bytes[5_000] ^ 0x80]),
        (10_002, vec![bytes[10_002] ^ 1]),
        // Another order of the same bytes, and of the same words.
        (0, turned),
        (0, [&bytes[8..16], &bytes[..8]].concat()),
    ] {
        device.write(&other, place, &changed)?;
        ensure(device.digest(&stream, &other)? != whole, || {
            format!("a change at {place} was not seen")
        })?;
        device.write(&other, 0, &bytes)?;
    }
    let read = |buffer: &Buffer| -> Result<Vec<u8>, DeviceError> {
        device.synchronize(&stream, PATIENCE)?;
        let mut back = vec![0; 10_003];
        device.read(buffer, 0, &mut back)?;
        Ok(back)
    };
    device.mask(&stream, &one, 42)?;
    let masked = read(&one)?;
    let kept = masked.iter().zip(&bytes).filter(|(a, b)| a == b).count();
    // One of 256 bytes stays what it was, by chance.
    ensure(kept < 200, || format!("{kept} bytes were not masked"))?;
    device.mask(&stream, &other, 43)?;
    ensure(read(&other)? != masked, || "two keys mask alike".to_owned())?;
    device.mask(&stream, &one, 42)?;
    ensure(read(&one)? == bytes, || {
        "the mask did not come off".to_owned()
    })
}

fn draining(device: &dyn Device) -> Outcome {
    let (one, other) = (device.stream()?, device.stream()?);
    let memory = device.allocate(64 * MIB)?;
    device.fill(&one, &memory, 1)?;
    device.fill(&other, &memory, 2)?;
    let waited = device.drain()?;
    ensure(waited.get() >= 0.0, || format!("{waited}"))?;
    ensure(device.is_done(&one)? && device.is_done(&other)?, || {
        "a stream is not done".to_owned()
    })
}

fn number_of(element: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    bytes[..element.len()].copy_from_slice(element);
    u64::from_le_bytes(bytes)
}

fn ranges(device: &dyn Device) -> Outcome {
    let buffer = device.allocate(100)?;
    let larger = device.allocate(200)?;
    let stream = device.stream()?;
    for result in [
        device.write(&buffer, 100, &[1]),
        device.write(&buffer, u64::MAX, &[1]),
        device.read(&buffer, 50, &mut [0; 51]),
        device.copy(&stream, &larger, &buffer, 101),
        device.copy(&stream, &buffer, &larger, 101),
    ] {
        let error = error_of(result)?;
        ensure(matches!(error, DeviceError::OutOfRange { .. }), || {
            error.to_string()
        })?;
    }
    device.write(&buffer, 100, &[])?;
    let nothing = error_of(device.allocate(0))?;
    ensure(nothing.code() == "GPU0122", || nothing.to_string())?;
    usable(device)
}

fn pinned(device: &dyn Device) -> Outcome {
    let (from, to) = (device.allocate_pinned(MIB)?, device.allocate_pinned(MIB)?);
    let buffer = device.allocate(MIB)?;
    let pattern: Vec<u8> = (0..MIB).map(|place| (place * 3 % 249) as u8).collect();
    device.write_pinned(&from, 0, &pattern)?;
    device.write_pinned(&to, 0, &vec![0; MIB as usize])?;
    let stream = device.stream()?;
    device.upload(&stream, &from, &buffer, MIB)?;
    device.download(&stream, &buffer, &to, MIB)?;
    device.synchronize(&stream, PATIENCE)?;
    let mut back = vec![0; MIB as usize];
    device.read_pinned(&to, 0, &mut back)?;
    ensure(back == pattern, || "other bytes came back".to_owned())
}

/// A machine with one GPU has nothing to look at.
fn peers(device: &dyn Device) -> Outcome {
    let peers = device.peers()?;
    let own = device.allocate(MIB)?;
    let pattern: Vec<u8> = (0..MIB).map(|place| (place * 5 % 241) as u8).collect();
    let stream = device.stream()?;
    for peer in &peers {
        let is_another = peer.uuid.is_none() || peer.uuid != device.properties().uuid;
        ensure(is_another, || format!("{peer:?} is the device itself"))?;
        device.write(&own, 0, &pattern)?;
        let there = device.allocate_peer(peer.ordinal, MIB)?;
        device.copy_to_peer(&stream, &own, &there, MIB)?;
        device.fill(&stream, &own, 0)?;
        device.copy_from_peer(&stream, &there, &own, MIB)?;
        device.synchronize(&stream, PATIENCE)?;
        let mut back = vec![0; MIB as usize];
        device.read(&own, 0, &mut back)?;
        ensure(back == pattern, || {
            format!("other bytes came back from GPU {}", peer.ordinal)
        })?;
        let outside = error_of(device.copy_to_peer(&stream, &own, &there, MIB + 1))?;
        ensure(outside.code() == "GPU0125", || outside.to_string())?;
        let nothing = error_of(device.allocate_peer(peer.ordinal, 0))?;
        ensure(nothing.code() == "GPU0122", || nothing.to_string())?;
    }
    // What comes next works on the device and not on the last of the others.
    let after = device.allocate(MIB)?;
    device.write(&after, 0, &pattern)?;
    let missing = error_of(device.allocate_peer(1000, MIB))?;
    ensure(missing.code() == "GPU0105", || missing.to_string())?;
    usable(device)
}

pub(crate) fn agreement(device: &dyn Device) -> Outcome {
    const COUNT: u32 = 1 << 18;
    let module = module(device)?;
    let bytes = u64::from(COUNT) * 4;
    let input = device.allocate(bytes)?;
    let values: Vec<u8> = (0..COUNT)
        .flat_map(|place| (place as f32).to_le_bytes())
        .collect();
    device.write(&input, 0, &values)?;
    let mut outputs = Vec::new();
    for (name, threads) in [("scale", COUNT), ("scale4", COUNT / 4)] {
        let function = device.function(&module, name)?;
        let output = device.allocate(bytes)?;
        let stream = device.stream()?;
        device.fill(&stream, &output, 0xff)?;
        device.synchronize(&stream, PATIENCE)?;
        let arguments = [
            Argument::buffer(&output),
            Argument::buffer(&input),
            Argument::F32(3.0),
            Argument::U32(COUNT),
        ];
        let work = Work {
            accesses: &[
                access(&input, Effect::Read),
                access(&output, Effect::Write(NumberFormat::Fp32)),
            ],
            operations: &[],
            problem: 3,
        };
        let launch = prepare(device, &function, threads / 256, 256, &arguments, work)?;
        run(device, &launch)?;
        outputs.push(floats(device, &output, COUNT as usize)?);
    }
    let [one, other] = outputs.as_slice() else {
        return Err("two outputs".into());
    };
    ensure(one.iter().all(|value| value.is_finite()), || {
        "poison is left".to_owned()
    })?;
    ensure(one == other, || "the outputs differ".to_owned())?;
    if is_real(device) {
        let right = one
            .iter()
            .zip(0_u32..)
            .all(|(value, place)| (*value - 3.0 * place as f32).abs() < f32::EPSILON);
        ensure(right, || format!("{:?} …", &one[..8]))?;
    }
    Ok(())
}

fn ptx(device: &dyn Device) -> Outcome {
    let text = ".version 6.0\n.target sm_70\n.address_size 64\n\
                .visible .entry store(.param .u64 out)\n{\n.reg .b64 %rd<2>;\n.reg .b32 %r<2>;\n\
                ld.param.u64 %rd1, [out];\nmov.u32 %r1, 77;\nst.global.u32 [%rd1], %r1;\nret;\n}\n";
    let module = device.load(text.as_bytes())?;
    let function = device.function(&module, "store")?;
    let out = device.allocate(4)?;
    let work = Work {
        accesses: &[access(&out, Effect::WriteBytes([77, 0, 0, 0].into()))],
        ..Work::default()
    };
    let launch = prepare(device, &function, 1, 1, &[Argument::buffer(&out)], work)?;
    run(device, &launch)?;
    let stored = words(device, &out, 1)?;
    ensure(stored == [77], || format!("{stored:?}"))?;
    ensure(function.attributes().is_debug != Some(true), || {
        "debug".to_owned()
    })
}

pub(crate) fn wrong_images(device: &dyn Device) -> Outcome {
    for image in [
        &b"nothing of the kind, but long enough"[..],
        b"",
        b"\x7fELF",
    ] {
        let error = error_of(device.load(image))?;
        ensure(error.code() == "GPU0120", || format!("{image:?}: {error}"))?;
    }
    let error = error_of(device.function(&module(device)?, "scales"))?;
    let DeviceError::NoSuchFunction { known, .. } = &error else {
        return Err(error.to_string().into());
    };
    // Older drivers cannot list them.
    let listed = known.is_empty() || known.iter().any(|name| name == "scale");
    ensure(listed, || error.to_string())?;
    usable(device)
}

/// A kernel reads one variable and changes another; both are read and written as buffers are.
fn globals(device: &dyn Device) -> Outcome {
    let (module, function) = kernel(device, "weigh")?;
    let weights = device.global(&module, "weights", 256)?;
    let total = device.global(&module, "total", 4)?;
    ensure((weights.bytes(), total.bytes()) == (256, 4), || {
        format!("{} {}", weights.bytes(), total.bytes())
    })?;
    // What has no value of its own is zero.
    let start = words(device, &total, 1)?;
    ensure(start == [0], || format!("{start:?}"))?;
    let numbers: Vec<f32> = (0..64_u8).map(f32::from).collect();
    let bytes = |factor: f32| -> Vec<u8> {
        let scaled = numbers.iter().map(|number| factor * number);
        scaled.flat_map(f32::to_le_bytes).collect()
    };
    device.write(&weights, 0, &bytes(1.0))?;
    device.write(&total, 0, &41_u32.to_le_bytes())?;
    let out = device.allocate(256)?;
    let work = Work {
        accesses: &[
            access(&weights, Effect::Read),
            access(&out, Effect::WriteBytes(bytes(2.0).into())),
            access(&total, Effect::WriteBytes([42, 0, 0, 0].into())),
        ],
        ..Work::default()
    };
    let launch = prepare(device, &function, 1, 64, &[Argument::buffer(&out)], work)?;
    run(device, &launch)?;
    let mut found = vec![0; 256];
    device.read(&out, 0, &mut found)?;
    ensure(found == bytes(2.0), || {
        "the kernel did not see it".to_owned()
    })?;
    // Another handle is of the same memory, and outlives the module's.
    let again = device.global(&module, "total", 4)?;
    drop((module, function, launch, total));
    let stored = words(device, &again, 1)?;
    ensure(stored == [42], || format!("{stored:?}"))?;
    let stream = device.stream()?;
    device.fill(&stream, &weights, 0)?;
    device.synchronize(&stream, PATIENCE)?;
    device.read(&weights, 0, &mut found)?;
    ensure(found.iter().all(|byte| *byte == 0), || {
        "not filled".to_owned()
    })?;
    let module = self::module(device)?;
    for (name, bytes, code) in [
        ("weight", 4, "GPU0128"),
        ("weigh", 4, "GPU0128"),
        ("weights", 260, "GPU0125"),
        ("weights", 0, "GPU0122"),
    ] {
        let error = error_of(device.global(&module, name, bytes))?;
        ensure(error.code() == code, || format!("{name}: {error}"))?;
    }
    usable(device)
}

fn compile_errors(device: &dyn Device) -> Outcome {
    let error = error_of(device.compile(&Program {
        text: "extern \"C\" __global__ void k() {\n#error not today\n}".to_owned(),
        name: "wrong.cu".to_owned(),
        ..Program::default()
    }))?;
    let text = error.to_string();
    ensure(error.code() == "GPU0012", || text.clone())?;
    ensure(
        text.contains("wrong.cu(2)") && text.contains("not today"),
        || text.clone(),
    )?;
    usable(device)
}

fn mangled_names(device: &dyn Device) -> Outcome {
    let compiled = device.compile(&Program {
        text: "template <class T> __global__ void twice(T* x) { *x += *x; }".to_owned(),
        name: "twice.cu".to_owned(),
        name_expressions: vec!["twice<int>".to_owned()],
        ..Program::default()
    })?;
    let module = device.load(&compiled.image)?;
    let [name] = compiled.lowered_names.as_slice() else {
        return Err(format!("{:?}", compiled.lowered_names).into());
    };
    device.function(&module, name)?;
    Ok(())
}

fn wrong_arguments(device: &dyn Device) -> Outcome {
    let (_module, function) = kernel(device, "scale")?;
    let buffer = device.allocate(1024)?;
    let pointer = Argument::buffer(&buffer);
    let behind = Argument::Buffer {
        buffer: &buffer,
        offset: 1025,
    };
    let right = [pointer, pointer, Argument::F32(1.0), Argument::U32(1)];
    prepare(device, &function, 1, 1, &right, Work::default())?;
    let mut wrong: Vec<Vec<Argument<'_>>> =
        vec![vec![behind, pointer, Argument::F32(1.0), Argument::U32(1)]];
    if function.attributes().parameter_bytes.is_some() {
        wrong.push(vec![pointer]);
        wrong.push(vec![]);
        wrong.push(vec![pointer, pointer, Argument::F64(1.0), Argument::U32(1)]);
        wrong.push(vec![
            pointer,
            pointer,
            Argument::F32(1.0),
            Argument::U32(1),
            Argument::U32(1),
        ]);
    }
    for arguments in wrong {
        let result = prepare(device, &function, 1, 1, &arguments, Work::default());
        let error = error_of(result)?;
        ensure(error.code() == "GPU0122", || error.to_string())?;
    }
    usable(device)
}

/// A launch that takes 2 ms, whatever the device.
fn two_milliseconds(device: &dyn Device) -> Result<(Module, Prepared), Failed> {
    let (module, function) = kernel(device, "wait_ns")?;
    let rate = 66.91e12 * 0.95;
    let operations = [Operations {
        format: NumberFormat::Fp32,
        unit: PeakUnit::Vector,
        count: rate * 2e-3,
    }];
    let work = Work {
        operations: &operations,
        ..Work::default()
    };
    let launch = prepare(device, &function, 1, 1, &[Argument::U64(2_000_000)], work)?;
    Ok((module, launch))
}

fn events(device: &dyn Device) -> Outcome {
    let (_module, launch) = two_milliseconds(device)?;
    let stream = device.stream()?;
    run(device, &launch)?;
    let nothing = timed(device, &stream, &|_| Ok(()))?;
    ensure((0.0..50e3).contains(&nothing), || {
        format!("an empty pair: {nothing} ns")
    })?;
    for _ in 0..5 {
        let time = timed(device, &stream, &|stream| device.launch(stream, &launch))?;
        ensure((1.95e6..2.1e6).contains(&time), || {
            format!("2 ms: {time} ns")
        })?;
        ensure(time.fract().abs() < 1e-9, || {
            format!("no whole number: {time}")
        })?;
    }
    // Longer than any float of milliseconds is exact in nanoseconds.
    let long = timed(device, &stream, &|stream| {
        (0..20).try_for_each(|_| device.launch(stream, &launch))
    })?;
    ensure((39e6..43e6).contains(&long), || format!("40 ms: {long} ns"))
}

fn not_ready(device: &dyn Device) -> Outcome {
    let (_module, launch) = two_milliseconds(device)?;
    let stream = device.stream()?;
    let (start, stop) = (device.event()?, device.event()?);
    let early = error_of(device.elapsed(&start, &stop))?;
    ensure(early == DeviceError::NotReady, || early.to_string())?;
    let block = device.block(&stream, PATIENCE)?;
    device.record(&stream, &start)?;
    device.launch(&stream, &launch)?;
    device.record(&stream, &stop)?;
    let early = error_of(device.elapsed(&start, &stop))?;
    ensure(early == DeviceError::NotReady, || early.to_string())?;
    ensure(!device.is_done(&stream)?, || {
        "done while blocked".to_owned()
    })?;
    block.release();
    device.synchronize(&stream, PATIENCE)?;
    ensure(device.is_done(&stream)?, || {
        "not done after waiting".to_owned()
    })?;
    let time = device.elapsed(&start, &stop)?;
    ensure(time > Nanos::new(1.9e6), || time.to_string())
}

fn blocking(device: &dyn Device) -> Outcome {
    let (stream, other) = (device.stream()?, device.stream()?);
    let block = device.block(&stream, PATIENCE)?;
    let buffer = &device.event()?;
    device.record(&stream, buffer)?;
    ensure(!device.is_done(&stream)?, || "not blocked".to_owned())?;
    device.synchronize(&other, PATIENCE)?;
    let second = error_of(device.block(&other, PATIENCE).map(drop))?;
    ensure(second.code() == "GPU0122", || second.to_string())?;
    // As when an error is returned in between.
    drop(block);
    device.synchronize(&stream, PATIENCE)?;
    for _ in 0..50 {
        device.block(&stream, PATIENCE)?.release();
    }
    device.synchronize(&stream, PATIENCE)?;
    usable(device)
}

fn expiring(device: &dyn Device) -> Outcome {
    let stream = device.stream()?;
    let start = device.now();
    let block = device.block(&stream, Nanos::new(50e6))?;
    let error = error_of(device.synchronize(&stream, PATIENCE))?;
    ensure(
        error
            == DeviceError::BlockExpired {
                after: Nanos::new(50e6),
            },
        || error.to_string(),
    )?;
    let waited = device.now() - start;
    ensure(waited >= Nanos::new(49e6) && waited < PATIENCE, || {
        waited.to_string()
    })?;
    // Told once, and the old guard does not release a new block.
    device.synchronize(&stream, PATIENCE)?;
    let next = device.block(&stream, PATIENCE)?;
    drop(block);
    ensure(!device.is_done(&stream)?, || {
        "released by an old guard".to_owned()
    })?;
    next.release();
    device.synchronize(&stream, PATIENCE)?;
    usable(device)
}

fn hidden_latency(device: &dyn Device) -> Outcome {
    let (_module, function) = kernel(device, "count")?;
    let counter = device.allocate(4)?;
    let arguments = [Argument::buffer(&counter)];
    let launch = prepare(device, &function, 1, 32, &arguments, Work::default())?;
    let stream = device.stream()?;
    run(device, &launch)?;
    let mut held_back = Vec::new();
    let mut visible = Vec::new();
    for _ in 0..21 {
        held_back.push(timed(device, &stream, &|stream| {
            device.launch(stream, &launch)
        })?);
        let (start, stop): (Event, Event) = (device.event()?, device.event()?);
        device.record(&stream, &start)?;
        device.launch(&stream, &launch)?;
        device.record(&stream, &stop)?;
        device.synchronize(&stream, PATIENCE)?;
        visible.push(device.elapsed(&start, &stop)?.get());
    }
    let median = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    let (held_back, visible) = (median(&mut held_back), median(&mut visible));
    ensure(held_back <= visible && held_back < 20e3, || {
        format!("held back {held_back} ns, visible {visible} ns")
    })
}

fn freeing_releases(device: &dyn Device) -> Outcome {
    let stream = device.stream()?;
    let buffer = device.allocate(MIB)?;
    let start = device.now();
    let block = device.block(&stream, PATIENCE)?;
    device.fill(&stream, &buffer, 1)?;
    drop(buffer);
    drop(block);
    device.synchronize(&stream, PATIENCE)?;
    let waited = device.now() - start;
    ensure(waited < PATIENCE, || format!("waited {waited}"))?;
    usable(device)
}

fn waiting(device: &dyn Device) -> Outcome {
    let (_module, launch) = two_milliseconds(device)?;
    let (first, second) = (device.stream()?, device.stream()?);
    let (go, start, stop) = (device.event()?, device.event()?, device.event()?);
    run(device, &launch)?;
    let block = device.block(&first, PATIENCE)?;
    device.record(&first, &start)?;
    device.launch(&first, &launch)?;
    device.record(&first, &go)?;
    device.wait(&second, &go)?;
    device.record(&second, &stop)?;
    ensure(!device.is_done(&second)?, || "did not wait".to_owned())?;
    block.release();
    device.synchronize(&second, PATIENCE)?;
    device.synchronize(&first, PATIENCE)?;
    let time = device.elapsed(&start, &stop)?.get();
    ensure(time >= 1.95e6, || format!("{time} ns"))
}

pub(crate) fn graphs(device: &dyn Device) -> Outcome {
    let (_module, function) = kernel(device, "count")?;
    let counter = device.allocate(4)?;
    device.write(&counter, 0, &[0; 4])?;
    let arguments = [Argument::buffer(&counter)];
    let work = Work {
        accesses: &[access(&counter, Effect::Update(NumberFormat::Int32))],
        ..Work::default()
    };
    let launch = prepare(device, &function, 1, 32, &arguments, work)?;
    let graph = device.graph(&[&launch; 25])?;
    ensure(graph.launches() == 25, || graph.launches().to_string())?;
    // What a graph needs it keeps.
    drop(launch);
    let stream = device.stream()?;
    for _ in 0..4 {
        let time = timed(device, &stream, &|stream| {
            device.launch_graph(stream, &graph)
        })?;
        ensure(time > 0.0 && time < 10e6, || format!("{time} ns"))?;
    }
    let counted = words(device, &counter, 1)?;
    if is_real(device) {
        ensure(counted == [100], || format!("{counted:?}"))?;
    } else {
        ensure(counted != [0], || "nothing ran".to_owned())?;
    }
    let nothing = error_of(device.graph(&[]))?;
    ensure(nothing.code() == "GPU0122", || nothing.to_string())?;
    usable(device)
}

fn clock(device: &dyn Device) -> Outcome {
    let (_module, launch) = two_milliseconds(device)?;
    let stream = device.stream()?;
    let probe = device.clock_probe()?;
    ensure(device.clock(&probe)?.is_none(), || {
        "a clock without stamps".to_owned()
    })?;
    let highest = device.properties().max_sm_clock.ok_or("no clock")?.get();
    for _ in 0..50 {
        run(device, &launch)?;
    }
    for _ in 0..3 {
        let block = device.block(&stream, PATIENCE)?;
        device.stamp(&stream, &probe, WindowEnd::Start)?;
        device.launch(&stream, &launch)?;
        device.stamp(&stream, &probe, WindowEnd::Stop)?;
        block.release();
        device.synchronize(&stream, PATIENCE)?;
        let reading = device.clock(&probe)?.ok_or("no reading")?;
        let told = || format!("{reading:?}, at most {highest}");
        let share = reading.clock.get() / highest;
        ensure((0.1..1.03).contains(&share), told)?;
        ensure((1.95e6..2.2e6).contains(&reading.window.get()), told)?;
        let seen = f64::from(reading.multiprocessors);
        ensure(
            seen >= 0.5 * f64::from(device.properties().multiprocessors),
            told,
        )?;
    }
    // A new start alone is no window.
    device.stamp(&stream, &probe, WindowEnd::Start)?;
    device.synchronize(&stream, PATIENCE)?;
    ensure(device.clock(&probe)?.is_none(), || {
        "a window without an end".to_owned()
    })
}

fn flushing(device: &dyn Device) -> Outcome {
    const COUNT: u32 = 2 << 20;
    let (_module, function) = kernel(device, "scale4")?;
    let bytes = u64::from(COUNT) * 4;
    let (input, output) = (device.allocate(bytes)?, device.allocate(bytes)?);
    let arguments = [
        Argument::buffer(&output),
        Argument::buffer(&input),
        Argument::F32(3.0),
        Argument::U32(COUNT),
    ];
    let work = Work {
        accesses: &[
            access(&input, Effect::Read),
            access(&output, Effect::Write(NumberFormat::Fp32)),
        ],
        ..Work::default()
    };
    let launch = prepare(device, &function, COUNT / 1024, 256, &arguments, work)?;
    let stream = device.stream()?;
    let median = |flush: Option<Flush>| -> Result<f64, Failed> {
        let mut times = Vec::new();
        for _ in 0..31 {
            device.reset_persisting_l2()?;
            if let Some(flush) = flush {
                device.flush_l2(&stream, flush)?;
            }
            device.synchronize(&stream, PATIENCE)?;
            times.push(timed(device, &stream, &|stream| {
                device.launch(stream, &launch)
            })?);
        }
        times.sort_by(f64::total_cmp);
        Ok(times[times.len() / 2])
    };
    median(Some(Flush::READ))?;
    let hot = median(None)?;
    let cold = median(Some(Flush::READ))?;
    let dirty = median(Some(Flush::WRITE))?;
    let larger = median(Some(Flush {
        kind: FlushKind::Read,
        times_l2: 4,
    }))?;
    let told =
        || format!("hot {hot}, cold {cold}, dirty {dirty}, cold with a larger flush {larger}");
    ensure(hot < cold && hot < dirty, told)?;
    ensure((larger / cold - 1.0).abs() < 0.2, told)
}

fn sensors(device: &dyn Device) -> Outcome {
    let readings = device.sensors();
    let told = || format!("{readings:?}");
    let between = |value: Option<f64>, low: f64, high: f64| {
        value.is_none_or(|value| (low..high).contains(&value))
    };
    ensure(
        between(readings.sm_clock.map(|clock| clock.get()), 1e8, 4e9),
        told,
    )?;
    ensure(between(readings.power_watts, 1.0, 3000.0), told)?;
    ensure(between(readings.temperature_celsius, 1.0, 130.0), told)?;
    if let SensorSource::Absent { reason } = &device.properties().sensors {
        ensure(!reason.is_empty(), told)?;
        return ensure(readings == ridge_gpu::Readings::default(), told);
    }
    ensure(readings.sm_clock.is_some(), told)?;
    ensure(readings.throttle.is_some(), told)
}

fn shared_memory(device: &dyn Device) -> Outcome {
    let (_module, function) = kernel(device, "turn")?;
    let most = device.properties().shared_per_block_opt_in.get() as u32;
    let (input, output) = (device.allocate(1024)?, device.allocate(1024)?);
    let values: Vec<u8> = (0..256_u32).flat_map(u32::to_le_bytes).collect();
    device.write(&input, 0, &values)?;
    // Turned twice within the block.
    let expected = values.clone();
    for bytes in [2048, 60 << 10, most] {
        let last = bytes / 4 - 1;
        let arguments = [
            Argument::buffer(&output),
            Argument::buffer(&input),
            Argument::U32(last),
        ];
        let reversed: Vec<u8> = (0..256_u32).rev().flat_map(u32::to_le_bytes).collect();
        let launch = device.prepare(&Launch {
            function: &function,
            grid: Dim3::linear(1),
            block: Dim3::linear(256),
            cluster: None,
            dynamic_shared_bytes: bytes,
            arguments: &arguments,
            work: Work {
                accesses: &[access(&output, Effect::WriteBytes(reversed.clone().into()))],
                ..Work::default()
            },
        })?;
        run(device, &launch)?;
        let mut back = vec![0; 1024];
        device.read(&output, 0, &mut back)?;
        ensure(back == reversed && back != expected, || {
            format!("{bytes} bytes")
        })?;
    }
    let error = error_of(device.prepare(&Launch {
        function: &function,
        grid: Dim3::linear(1),
        block: Dim3::linear(256),
        cluster: None,
        dynamic_shared_bytes: most + 1024,
        arguments: &[
            Argument::buffer(&output),
            Argument::buffer(&input),
            Argument::U32(255),
        ],
        work: Work::default(),
    }))?;
    ensure(error.code() == "GPU0123", || error.to_string())?;
    usable(device)
}

fn clusters(device: &dyn Device) -> Outcome {
    let (_module, function) = kernel(device, "cluster_size")?;
    let out = device.allocate(64)?;
    let prepare = |blocks: u32, size: u32| {
        let bytes: Vec<u8> = [size.to_le_bytes(); 16].concat();
        device.prepare(&Launch {
            function: &function,
            grid: Dim3::linear(blocks),
            block: Dim3::linear(32),
            cluster: Some(Dim3::linear(size)),
            dynamic_shared_bytes: 0,
            arguments: &[Argument::buffer(&out)],
            work: Work {
                accesses: &[access(&out, Effect::WriteBytes(bytes.into()))],
                ..Work::default()
            },
        })
    };
    if !device.properties().has_clusters {
        let error = error_of(prepare(16, 4))?;
        return ensure(error.code() == "GPU0111", || error.to_string());
    }
    for size in [1, 2, 4, 8] {
        run(device, &prepare(16, size)?)?;
        let sizes = words(device, &out, 16)?;
        ensure(sizes == [size; 16], || format!("{size}: {sizes:?}"))?;
    }
    for (blocks, size) in [(15, 2), (17, 17), (16, 0)] {
        let error = error_of(prepare(blocks, size))?;
        ensure(error.code() == "GPU0122", || error.to_string())?;
    }
    usable(device)
}

/// On a driver before 11.8.
pub(crate) fn no_clusters(device: &dyn Device) -> Outcome {
    let (_module, function) = kernel(device, "cluster_size")?;
    let out = device.allocate(64)?;
    let error = error_of(device.prepare(&Launch {
        function: &function,
        grid: Dim3::linear(16),
        block: Dim3::linear(32),
        cluster: Some(Dim3::linear(2)),
        dynamic_shared_bytes: 0,
        arguments: &[Argument::buffer(&out)],
        work: Work::default(),
    }))?;
    let text = error.to_string();
    let expected = "a launch in clusters needs a driver for CUDA 11.8, and this one is for 11.4";
    ensure(text == expected, || text.clone())?;
    usable(device)
}

fn registers(device: &dyn Device) -> Outcome {
    let (_module, function) = kernel(device, "greedy")?;
    let most = function.attributes().max_threads.ok_or("no limit")?;
    ensure(most < 1024, || format!("{:?}", function.attributes()))?;
    let buffer = device.allocate(MIB)?;
    let arguments = [Argument::buffer(&buffer), Argument::buffer(&buffer)];
    let result = prepare(device, &function, 1, 1024, &arguments, Work::default());
    let error = error_of(result)?;
    ensure(error.code() == "GPU0123", || error.to_string())?;
    ensure(error.to_string().contains("greedy"), || error.to_string())?;
    let fits = prepare(device, &function, 1, most, &arguments, Work::default())?;
    run(device, &fits)?;
    usable(device)
}

fn out_of_memory(device: &dyn Device) -> Outcome {
    let total = device.memory()?.total.get() as u64;
    let error = error_of(device.allocate(total * 2))?;
    let DeviceError::OutOfMemory { free, is_host, .. } = &error else {
        return Err(error.to_string().into());
    };
    ensure(free.is_some() && !is_host, || error.to_string())?;
    // Taking nearly all of it and giving it back leaves it free.
    let before = device.memory()?.free.get();
    let most = device.allocate((before * 0.9) as u64)?;
    let error = error_of(device.allocate((before * 0.5) as u64))?;
    ensure(error.code() == "GPU0124", || error.to_string())?;
    drop(most);
    let after = device.memory()?.free.get();
    ensure(after >= before * 0.99, || {
        format!("{before} bytes, then {after}")
    })?;
    usable(device)
}

/// A kernel that ends the context: the error, and that everything after it says so.
fn ends(device: &dyn Device, name: &str, timeout: Nanos) -> Result<DeviceError, Failed> {
    let (_module, function) = kernel(device, name)?;
    let buffer = device.allocate(4096)?;
    device.write(&buffer, 0, &[0; 4096])?;
    let arguments = [Argument::buffer(&buffer)];
    let launch = prepare(device, &function, 1, 32, &arguments, Work::default())?;
    let stream = device.stream()?;
    device.launch(&stream, &launch)?;
    let error = error_of(device.synchronize(&stream, timeout))?;
    ensure(error.is_fatal(), || error.to_string())?;
    ensure(device.death().as_ref() == Some(&error), || {
        format!("{:?}", device.death())
    })?;
    for later in [
        error_of(device.allocate(16).map(drop))?,
        error_of(device.launch(&stream, &launch))?,
        error_of(device.read(&buffer, 0, &mut [0; 4]))?,
        error_of(device.synchronize(&stream, PATIENCE))?,
    ] {
        ensure(matches!(later, DeviceError::Dead { .. }), || {
            later.to_string()
        })?;
        ensure(later.root() == &error, || later.to_string())?;
    }
    Ok(error)
}

fn fault(device: &dyn Device, name: &str, allowed: &[Fault]) -> Outcome {
    let error = ends(device, name, PATIENCE)?;
    match &error {
        DeviceError::Fault { fault, .. } if allowed.contains(fault) => Ok(()),
        other => Err(other.to_string().into()),
    }
}

fn illegal_address(device: &dyn Device) -> Outcome {
    fault(device, "outside", &[Fault::IllegalAddress])
}

fn misaligned_address(device: &dyn Device) -> Outcome {
    fault(device, "misaligned", &[Fault::MisalignedAddress])
}

fn trap(device: &dyn Device) -> Outcome {
    // Which of both it is depends on the driver.
    fault(device, "trap_", &[Fault::Trap, Fault::IllegalInstruction])
}

fn endless(device: &dyn Device) -> Outcome {
    let allowed = Nanos::new(0.5e9);
    let start = device.now();
    let error = ends(device, "endless", allowed)?;
    let waited = device.now() - start;
    ensure(error == DeviceError::Timeout { after: allowed }, || {
        error.to_string()
    })?;
    ensure(waited >= allowed && waited < PATIENCE, || {
        waited.to_string()
    })
}
