//! The parts of a line: places, frames, numbers.

use std::borrow::Cow;

use super::super::record::{HostFrame, Place};

/// A line is read up to here: names of templates are long, but not without end.
const LONGEST: usize = 16 << 10;

/// The text of the beginning of a line.
pub(super) fn text_upto(bytes: &[u8]) -> Cow<'_, str> {
    super::lossy(bytes.get(..LONGEST).unwrap_or(bytes))
}

/// The first whole number of a text; commas between thousands do not end it.
pub(super) fn digits(text: &str) -> Option<u64> {
    let start = text.find(|character: char| character.is_ascii_digit())?;
    let mut value: Option<u64> = None;
    for character in text.get(start..)?.chars() {
        match character.to_digit(10) {
            Some(digit) => {
                value = Some(
                    value
                        .unwrap_or(0)
                        .checked_mul(10)?
                        .checked_add(u64::from(digit))?,
                );
            }
            None if character == ',' => {}
            None => break,
        }
    }
    value
}

/// The number that follows a word.
pub(super) fn number_after(text: &str, word: &str) -> Option<u64> {
    let (_, rest) = text.split_once(word)?;
    rest.starts_with(|character: char| character.is_ascii_digit())
        .then(|| digits(rest))?
}

/// Groups such as `(250,0,0)`, in their order.
pub(super) fn triples(text: &str) -> impl Iterator<Item = [u32; 3]> {
    text.split('(').skip(1).filter_map(|rest| {
        let (inner, _) = rest.split_once(')')?;
        let mut parts = inner.split(',').map(|part| part.trim().parse::<u32>());
        let triple = [
            parts.next()?.ok()?,
            parts.next()?.ok()?,
            parts.next()?.ok()?,
        ];
        parts.next().is_none().then_some(triple)
    })
}

/// A file and a line, where the text ends in one.
pub(super) fn file_and_line(text: &str) -> (&str, Option<u32>) {
    match text.rsplit_once(':') {
        Some((file, number)) if !file.is_empty() => match number.trim().parse() {
            Ok(line) => (file, Some(line)),
            Err(_) => (text, None),
        },
        _ => (text, None),
    }
}

fn hexadecimal(text: &str) -> Option<(u64, &str)> {
    let end = text
        .find(|character: char| !character.is_ascii_hexdigit())
        .unwrap_or(text.len());
    let (number, rest) = text.split_at_checked(end)?;
    Some((u64::from_str_radix(number, 16).ok()?, rest))
}

/// A place, in each of the forms that versions of the tool have:
/// `FN(args)+0xOFF in FILE:LINE`, the same without a file, `FN():0xOFF in FILE:LINE`, `0xOFF in FILE:LINE:FN(args)` and
/// `0xOFF in FN(args)`. A function may hold any of these characters, so that the last mark counts.
pub(super) fn place(text: &str) -> Place {
    let text = text.trim();
    let mut place = Place::default();
    if let Some(rest) = text.strip_prefix("0x")
        && let Some((offset, rest)) = hexadecimal(rest)
    {
        place.offset = Some(offset);
        if let Some(rest) = rest.strip_prefix(" in ") {
            old(&mut place, rest.trim());
        }
        return place;
    }
    for mark in ["+0x", ":0x"] {
        if let Some((function, rest)) = text.rsplit_once(mark)
            && let Some((offset, rest)) = hexadecimal(rest)
            && (rest.is_empty() || rest.starts_with(" in "))
        {
            place.offset = Some(offset);
            name(&mut place, function);
            if let Some(rest) = rest.strip_prefix(" in ") {
                let (file, line) = file_and_line(rest);
                place.file = Some(file.to_owned());
                place.line = line;
            }
            return place;
        }
    }
    name(&mut place, text);
    place
}

/// `FILE:LINE:FN(args)` or `FN(args)`.
fn old(place: &mut Place, text: &str) {
    for (at, _) in text.match_indices(':') {
        let (file, rest) = text.split_at(at);
        let rest = rest.strip_prefix(':').unwrap_or(rest);
        let end = rest
            .find(|character: char| !character.is_ascii_digit())
            .unwrap_or(rest.len());
        let Some((number, function)) = rest.split_at_checked(end) else {
            continue;
        };
        if let (Ok(line), Some(function)) = (number.parse(), function.strip_prefix(':')) {
            place.file = Some(file.to_owned());
            place.line = Some(line);
            name(place, function);
            return;
        }
    }
    let (file, line) = file_and_line(text);
    if line.is_some() {
        place.file = Some(file.to_owned());
        place.line = line;
    } else {
        name(place, text);
    }
}

/// A function, which may be a copy that belongs to a kernel.
fn name(place: &mut Place, function: &str) {
    let function = function.trim();
    let mut own = function;
    if let Some(rest) = function.strip_prefix("[clone ") {
        // The name in brackets may hold brackets too.
        let mut depth = 1_u32;
        for (at, character) in rest.char_indices() {
            depth = match character {
                '[' => depth.saturating_add(1),
                ']' => depth.saturating_sub(1),
                _ => depth,
            };
            if depth == 0 {
                place.clone_of = rest.get(..at).map(str::to_owned);
                own = rest.get(at..).unwrap_or_default();
                own = own.strip_prefix(']').unwrap_or(own).trim();
                break;
            }
        }
    }
    place.function = Some(own.to_owned()).filter(|own| !own.is_empty());
}

/// `FN [0xOFF] in MODULE`, `FN in FILE:LINE [0xOFF] in MODULE`, or `/path/lib (FN + 0x1b7) [0x26ec97]`.
pub(super) fn host_frame(text: &str) -> HostFrame {
    let mut frame = HostFrame::default();
    let text = text.trim();
    let (front, module) = match text.rsplit_once("] in ") {
        Some((front, module)) => (front, Some(module)),
        None => (text.strip_suffix(']').unwrap_or(text), None),
    };
    let (front, offset) = front.rsplit_once("[0x").unwrap_or((front, ""));
    frame.offset = hexadecimal(offset).map(|(offset, _)| offset);
    frame.module = module.map(str::to_owned);
    let front = front.trim();
    if let Some((library, symbol)) = front.split_once(" (")
        && front.starts_with('/')
        && let Some((symbol, _)) = symbol.rsplit_once(" + 0x")
    {
        frame.module = Some(library.to_owned());
        frame.function = Some(symbol.to_owned());
        return frame;
    }
    let mut function = front;
    if let Some((own, rest)) = front.rsplit_once(" in ") {
        let (file, line) = file_and_line(rest);
        if line.is_some() {
            function = own;
            frame.file = Some(file.to_owned());
            frame.line = line;
        }
    }
    frame.function = Some(function.to_owned()).filter(|function| !function.is_empty());
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let place = place(text);
        format!(
            "{} | {} | {}:{} | {}",
            place.function.unwrap_or_default(),
            place.clone_of.unwrap_or_default(),
            place.file.unwrap_or_default(),
            place.line.unwrap_or_default(),
            place.offset.unwrap_or_default()
        )
    }

    #[test]
    fn places_of_all_versions() {
        for (text, expected) in [
            ("k(int *)+0x90 in f.cu:7", "k(int *) |  | f.cu:7 | 144"),
            ("k(int *)+0x90", "k(int *) |  | :0 | 144"),
            (
                "[clone write_past_end(float *, int)] store(float *, int, float)+0xd0 in f.cu:4",
                "store(float *, int, float) | write_past_end(float *, int) | f.cu:4 | 208",
            ),
            (
                "void at::k<Op<int, 4>::in (x), f+0x1>(T)+0x10 in /a in b/C:D/k.cuh:12",
                "void at::k<Op<int, 4>::in (x), f+0x1>(T) |  | /a in b/C:D/k.cuh:12 | 16",
            ),
            (
                "unaligned_kernel():0x160 in memcheck_demo.cu:6",
                "unaligned_kernel() |  | memcheck_demo.cu:6 | 352",
            ),
            (
                "0x70 in memcheck_demo.cu:6:unaligned_kernel(void)",
                "unaligned_kernel(void) |  | memcheck_demo.cu:6 | 112",
            ),
            (
                "0xd0 in race.cu:53:ns::sum<A::B>(int*, int*)",
                "ns::sum<A::B>(int*, int*) |  | race.cu:53 | 208",
            ),
            ("0x70 in ns::k(int)", "ns::k(int) |  | :0 | 112"),
            ("0x70", " |  | :0 | 112"),
            ("", " |  | :0 | 0"),
            ("[clone ", "[clone |  | :0 | 0"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn host_frames_of_all_versions() {
        let frame = host_frame("main [0x8dda] in faults");
        assert_eq!(frame.function.as_deref(), Some("main"));
        assert_eq!(
            (frame.module.as_deref(), frame.offset),
            (Some("faults"), Some(0x8dda))
        );
        let frame =
            host_frame("cudaError cudaMalloc<float>(float**, unsigned long) [0x9faf] in faults");
        assert_eq!(
            frame.function.as_deref(),
            Some("cudaError cudaMalloc<float>(float**, unsigned long)")
        );
        let frame = host_frame("/usr/lib/libcuda.so.1 (cuLaunchKernel + 0x1b7) [0x26ec97]");
        assert_eq!(frame.function.as_deref(), Some("cuLaunchKernel"));
        assert_eq!(frame.module.as_deref(), Some("/usr/lib/libcuda.so.1"));
        let frame = host_frame("main in /src/app.cu:30 [0x10] in app");
        assert_eq!(
            (frame.file.as_deref(), frame.line),
            (Some("/src/app.cu"), Some(30))
        );
        assert_eq!(host_frame("main").function.as_deref(), Some("main"));
    }

    #[test]
    fn numbers_may_have_separators_and_no_end() {
        assert_eq!(digits("of size 1,000 bytes"), Some(1000));
        assert_eq!(digits("99999999999999999999999"), None);
        assert_eq!(number_after("size x", "size "), None);
        assert_eq!(triples("thread (1,2,3) in block (4,5,6)").count(), 2);
        assert_eq!(triples("f(int, float, 3) (1,2)").count(), 0);
    }
}
