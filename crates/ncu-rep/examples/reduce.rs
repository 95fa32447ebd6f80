//! Cuts a report down to a small one: `cargo run --example reduce -- IN OUT [RESULTS]`.
//!
//! Keeps the first results, each with every 64th metric and those of the launch's identity, at most four instances of
//! a metric, one section without its content, the rules that said something, and at most one cubin. Strings that are
//! no longer used are dropped and the others renumbered. The output is packed with zstd.

#![expect(
    clippy::arithmetic_side_effects,
    reason = "what is counted here fits into memory"
)]

use std::error::Error;

use ncu_rep::{Report, default_limit, unpack};

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let (input, output) = arguments
        .next()
        .zip(arguments.next())
        .ok_or("which files?")?;
    let results = arguments.next().map_or(Ok(2), |count| count.parse())?;
    let file = std::fs::read(input)?;
    let unpacked = unpack(&file, default_limit(u64::try_from(file.len())?));
    let small = reduce(&unpacked.bytes, results)?;
    if let Some(problem) = Report::parse(&small)?.problems().first() {
        return Err(problem.to_string().into());
    }
    std::fs::write(output, zstd::encode_all(&small[..], 19)?)?;
    Ok(())
}

/// A field: number, wire type and value; the value of a length-delimited field is without its length.
type Field<'a> = (u64, u64, &'a [u8]);

fn varint(bytes: &mut &[u8]) -> Outcome<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first().ok_or("a number breaks off")?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err("a number is too long".into())
}

fn take<'a>(bytes: &mut &'a [u8], count: u64) -> Outcome<&'a [u8]> {
    let (head, rest) = bytes
        .split_at_checked(usize::try_from(count)?)
        .ok_or("a value breaks off")?;
    *bytes = rest;
    Ok(head)
}

fn fields(mut bytes: &[u8]) -> Outcome<Vec<Field<'_>>> {
    let mut list = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes)?;
        let value = match tag & 7 {
            0 => {
                let start = bytes;
                varint(&mut bytes)?;
                start
                    .get(..start.len().saturating_sub(bytes.len()))
                    .unwrap_or_default()
            }
            1 => take(&mut bytes, 8)?,
            2 => {
                let size = varint(&mut bytes)?;
                take(&mut bytes, size)?
            }
            5 => take(&mut bytes, 4)?,
            _ => return Err("an unknown wire type".into()),
        };
        list.push((tag >> 3, tag & 7, value));
    }
    Ok(list)
}

fn put_varint(out: &mut Vec<u8>, mut value: u64) -> Outcome<()> {
    while value > 0x7f {
        out.push(u8::try_from(value & 0x7f)? | 0x80);
        value >>= 7;
    }
    out.push(u8::try_from(value)?);
    Ok(())
}

fn put(out: &mut Vec<u8>, (number, kind, value): Field<'_>) -> Outcome<()> {
    put_varint(out, number << 3 | kind)?;
    if kind == 2 {
        put_varint(out, u64::try_from(value.len())?)?;
    }
    out.extend(value);
    Ok(())
}

fn put_number(out: &mut Vec<u8>, number: u64, value: u64) -> Outcome<()> {
    let mut bytes = Vec::new();
    put_varint(&mut bytes, value)?;
    put(out, (number, 0, &bytes))
}

fn number(list: &[Field<'_>], number: u64) -> Outcome<u64> {
    let field = list.iter().find(|field| (field.0, field.1) == (number, 0));
    field.map_or(Ok(0), |&(.., mut value)| varint(&mut value))
}

fn sized<'a>(bytes: &mut &'a [u8]) -> Outcome<&'a [u8]> {
    let size = u32::from_le_bytes(take(bytes, 4)?.try_into()?);
    take(bytes, u64::from(size))
}

fn put_sized(out: &mut Vec<u8>, message: &[u8]) -> Outcome<()> {
    out.extend(u32::try_from(message.len())?.to_le_bytes());
    out.extend(message);
    Ok(())
}

#[derive(Default)]
struct Reducer<'a> {
    strings: Vec<&'a [u8]>,
    /// New strings, by their old numbers.
    kept: Vec<u64>,
    cubins: usize,
}

fn reduce(input: &[u8], results: usize) -> Outcome<Vec<u8>> {
    let mut rest = input;
    let mut out = take(&mut rest, 4)?.to_vec();
    put_sized(&mut out, sized(&mut rest)?)?;
    let mut reducer = Reducer::default();
    let mut left = results;
    while !rest.is_empty() {
        let header = fields(sized(&mut rest)?)?;
        let mut payload = take(&mut rest, number(&header, 5)?)?;
        for (.., table) in header.iter().filter(|field| field.0 == 4) {
            let strings = fields(table)?;
            reducer.strings.extend(strings.iter().map(|field| field.2));
        }
        let known = reducer.kept.len();
        let (sources, kernels) = (number(&header, 1)?, number(&header, 2)?);
        let (mut entries, mut kept_kernels) = (Vec::new(), 0);
        for _ in 0..sources {
            put_sized(&mut entries, &reducer.source(sized(&mut payload)?)?)?;
        }
        for _ in 0..kernels {
            let kernel = sized(&mut payload)?;
            if left > 0 {
                left = left.saturating_sub(1);
                kept_kernels += 1;
                put_sized(&mut entries, &reducer.kernel(kernel)?)?;
            }
        }
        if !payload.is_empty() {
            return Err("only sources and kernels can be cut".into());
        }
        let mut head = Vec::new();
        put_number(&mut head, 1, sources)?;
        put_number(&mut head, 2, kept_kernels)?;
        for field in header.iter().filter(|field| matches!(field.0, 3 | 6)) {
            put(&mut head, *field)?;
        }
        let mut table = Vec::new();
        for old in reducer.kept.get(known..).unwrap_or_default() {
            let text = reducer.strings.get(usize::try_from(*old)?);
            put(&mut table, (1, 2, text.ok_or("a string is missing")?))?;
        }
        put(&mut head, (4, 2, &table))?;
        put_number(&mut head, 5, u64::try_from(entries.len())?)?;
        put_sized(&mut out, &head)?;
        out.extend(entries);
    }
    Ok(out)
}

impl Reducer<'_> {
    fn source(&mut self, source: &[u8]) -> Outcome<Vec<u8>> {
        let mut out = Vec::new();
        for field in fields(source)? {
            if field.0 == 4 && !field.2.is_empty() {
                self.cubins += 1;
                if self.cubins > 1 {
                    continue;
                }
            }
            put(&mut out, field)?;
        }
        Ok(out)
    }

    fn kernel(&mut self, kernel: &[u8]) -> Outcome<Vec<u8>> {
        let mut out = Vec::new();
        let (mut place, mut sections) = (0_u64, 0);
        for (number, kind, value) in fields(kernel)? {
            match number {
                13 => {
                    place += 1;
                    if let Some(metric) = self.metric(value, place % 64 == 1)? {
                        put(&mut out, (13, 2, &metric))?;
                    }
                }
                17 => {
                    sections += 1;
                    if sections == 1 {
                        let mut section = Vec::new();
                        for field in fields(value)?.into_iter().filter(|field| field.0 < 4) {
                            put(&mut section, field)?;
                        }
                        put(&mut out, (17, 2, &section))?;
                    }
                }
                19 => {
                    let body = fields(value)?.into_iter().find(|field| field.0 == 3);
                    if body.is_some_and(|body| !body.2.is_empty()) {
                        put(&mut out, (19, 2, value))?;
                    }
                }
                _ => put(&mut out, (number, kind, value))?,
            }
        }
        Ok(out)
    }

    fn metric(&mut self, metric: &[u8], is_wanted: bool) -> Outcome<Option<Vec<u8>>> {
        let list = fields(metric)?;
        let old = number(&list, 1)?;
        let name = *self
            .strings
            .get(usize::try_from(old)?)
            .ok_or("a string is missing")?;
        let named: [&[u8]; 4] = [
            b"gpu__time_duration.sum",
            b"inst_executed",
            b"launch__registers_per_thread",
            b"launch__shared_mem_per_block_driver",
        ];
        if !is_wanted && !named.contains(&name) {
            return Ok(None);
        }
        let place = self.kept.iter().position(|kept| *kept == old);
        let place = place.unwrap_or_else(|| {
            self.kept.push(old);
            self.kept.len().saturating_sub(1)
        });
        let mut out = Vec::new();
        put_number(&mut out, 1, u64::try_from(place)?)?;
        let mut instances = 0;
        for field in list.into_iter().filter(|field| field.0 != 1) {
            instances += u32::from(field.0 == 3);
            if field.0 != 3 || instances <= 4 {
                put(&mut out, field)?;
            }
        }
        Ok(Some(out))
    }
}
