//! What the benches share: reports of any size made from a small one, and times taken side by side.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// The report that every clone has.
const FIXTURE: &[u8] = include_bytes!("../../../../fixtures/reports/vadd.ncu-rep.zst");

/// The input of a bench: the file that the environment names, or else the committed report.
pub(crate) fn seed() -> io::Result<Vec<u8>> {
    let bytes = match std::env::var_os("RIDGE_BENCH_REPORT") {
        Some(path) => std::fs::read(path)?,
        None => FIXTURE.to_vec(),
    };
    let limit = ncu_rep::default_limit(bytes.len() as u64);
    let unpacked = ncu_rep::unpack(&bytes, limit);
    match unpacked.problem {
        Some(problem) => Err(io::Error::other(problem.to_string())),
        None => Ok(unpacked.bytes.into_owned()),
    }
}

/// Writes a report of about so many bytes: all blocks of the seed once, then those with results over and over. Strings
/// stand in the first round only, since a report stores each metric name once.
///
/// With `distinct` each repetition gives its kernels other names of the same length, so that no two of them belong to
/// one group: the worst case for what is kept of each kernel.
pub(crate) fn grow(seed: &[u8], target_bytes: u64, distinct: bool, path: &Path) -> io::Result<u64> {
    let (start, blocks) = split(seed)?;
    let names = if distinct { names(seed)? } else { Vec::new() };
    let mut sink = BufWriter::with_capacity(1 << 20, File::create(path)?);
    sink.write_all(&seed[..start])?;
    let mut written = start as u64;
    let mut round = 0_u32;
    loop {
        for block in &blocks {
            if round > 0 && !block.has_results {
                continue;
            }
            if round == 0 {
                sink.write_all(block.bytes)?;
                written += block.bytes.len() as u64;
            } else {
                sink.write_all(&(block.header.len() as u32).to_le_bytes())?;
                sink.write_all(&block.header)?;
                if distinct {
                    sink.write_all(&renamed(block.payload, &names, round))?;
                } else {
                    sink.write_all(block.payload)?;
                }
                written += (4 + block.header.len() + block.payload.len()) as u64;
            }
            if written >= target_bytes {
                sink.flush()?;
                return Ok(written);
            }
        }
        round += 1;
        if written >= target_bytes {
            sink.flush()?;
            return Ok(written);
        }
    }
}

struct Block<'a> {
    bytes: &'a [u8],
    /// The header without its strings.
    header: Vec<u8>,
    payload: &'a [u8],
    payload_size: usize,
    has_results: bool,
}

/// The end of the file header, and the blocks.
fn split(report: &[u8]) -> io::Result<(usize, Vec<Block<'_>>)> {
    let broken = || io::Error::other("the seed report is damaged");
    let word = |place: usize| {
        let bytes = report.get(place..place + 4).ok_or_else(broken)?;
        Ok::<_, io::Error>(u32::from_le_bytes(bytes.try_into().map_err(|_| broken())?) as usize)
    };
    let start = 8 + word(4)?;
    let mut place = start;
    let mut blocks = Vec::new();
    while place < report.len() {
        let header = report
            .get(place + 4..place + 4 + word(place)?)
            .ok_or_else(broken)?;
        let payload = place + 4 + header.len();
        let mut block = parts(header).ok_or_else(broken)?;
        let end = payload + block.payload_size;
        block.bytes = report.get(place..end).ok_or_else(broken)?;
        block.payload = report.get(payload..end).ok_or_else(broken)?;
        blocks.push(block);
        place = end;
    }
    Ok((start, blocks))
}

/// What a block's header tells: protocol-buffer fields.
fn parts(header: &[u8]) -> Option<Block<'_>> {
    fn varint(bytes: &mut &[u8]) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = bytes.split_first()?;
            *bytes = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }
    let mut block = Block {
        bytes: &[],
        header: Vec::new(),
        payload: &[],
        payload_size: 0,
        has_results: false,
    };
    let mut rest = header;
    while !rest.is_empty() {
        let start = rest;
        let tag = varint(&mut rest)?;
        match tag & 7 {
            0 => {
                let value = varint(&mut rest)?;
                match tag >> 3 {
                    2 | 7 | 8 | 9 => block.has_results |= value > 0,
                    5 => block.payload_size = usize::try_from(value).ok()?,
                    _ => {}
                }
            }
            2 => {
                let length = usize::try_from(varint(&mut rest)?).ok()?;
                rest = rest.get(length..)?;
            }
            _ => return None,
        }
        if tag >> 3 != 4 {
            block
                .header
                .extend_from_slice(&start[..start.len() - rest.len()]);
        }
    }
    Some(block)
}

/// Names that kernels have in a report, demangled and mangled.
fn names(report: &[u8]) -> io::Result<Vec<Vec<u8>>> {
    let report =
        ncu_rep::Report::parse(report).map_err(|error| io::Error::other(error.to_string()))?;
    let mut names: Vec<Vec<u8>> = Vec::new();
    for profile in report.profiles() {
        let header = profile.header().value;
        let found = [
            &header.function_name,
            &header.demangled_name,
            &header.mangled_name,
        ];
        for name in found.into_iter().flatten() {
            let name = name.as_bytes().to_vec();
            if name.len() >= 4 && !names.contains(&name) {
                names.push(name);
            }
        }
    }
    Ok(names)
}

/// A payload whose kernels have their first four letters replaced by the number of the repetition.
fn renamed(payload: &[u8], names: &[Vec<u8>], round: u32) -> Vec<u8> {
    const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyzABCDEF";
    let mut bytes = payload.to_vec();
    let label: Vec<u8> = (0..4)
        .map(|place| LETTERS[(round >> (5 * place)) as usize % LETTERS.len()])
        .collect();
    for name in names {
        // Only as a whole field, so behind its own length.
        let mut field = vec![];
        let mut length = name.len();
        while length >= 0x80 {
            field.push((length & 0x7f) as u8 | 0x80);
            length >>= 7;
        }
        field.push(length as u8);
        let head = field.len();
        field.extend_from_slice(name);
        let mut place = 0;
        while let Some(found) = find(&bytes[place..], &field) {
            let at = place + found + head;
            bytes[at..at + 4].copy_from_slice(&label);
            place = at + name.len();
        }
    }
    bytes
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    let (&first, last) = (wanted.first()?, bytes.len().checked_sub(wanted.len())?);
    (0..=last).find(|&place| bytes[place] == first && bytes[place..].starts_with(wanted))
}

/// The time that something takes, and its result.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let result = work();
    (start.elapsed(), result)
}

/// The median; of an even number the upper one of the two in the middle.
pub(crate) fn median(samples: &mut [Duration]) -> Duration {
    samples.sort_unstable();
    samples.get(samples.len() / 2).copied().unwrap_or_default()
}

/// Milliseconds.
pub(crate) fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Memory of a process that belongs to no file, in bytes; absent where the system does not tell.
pub(crate) fn anonymous_memory(process: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib * 1024)
}
