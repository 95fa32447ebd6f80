//! From the address of an instruction to a place in the source.

use std::collections::HashMap;

use ncu_rep::cubin::sass::Instruction;
use ncu_rep::cubin::{Cubin, LineTable};
use ncu_rep::report::Source;

use crate::document::Location;

/// Functions of one module with their load addresses and line tables.
///
/// One map serves all kernels of a module, so it is built once and shared.
#[derive(Debug, Default)]
pub struct CodeMap {
    /// Ordered by address.
    functions: Vec<LoadedFunction>,
    lines: LineTable,
    /// Addresses of barriers and exchanges between lanes, in order.
    exchanges: Vec<u64>,
    /// Text of imported source files by path.
    files: HashMap<String, String>,
    /// Instructions by function and offset, where a disassembler was found.
    disassembly: HashMap<(String, u64), String>,
}

#[derive(Debug)]
struct LoadedFunction {
    address: u64,
    name: String,
}

impl CodeMap {
    /// Builds the map of a source. What its cubin does not hold is absent from the places.
    #[must_use]
    pub fn new(source: &Source<'_>) -> Self {
        let mut functions: Vec<LoadedFunction> = source
            .functions
            .iter()
            .map(|relocation| LoadedFunction {
                address: relocation.address,
                name: relocation.symbol.clone().into_owned(),
            })
            .collect();
        functions.sort_by_key(|function| function.address);
        let cubin = source.cubin.and_then(|bytes| Cubin::parse(bytes).ok());
        let exchanges = cubin
            .as_ref()
            .map(|cubin| exchanges(cubin, &functions))
            .unwrap_or_default();
        let files = source
            .files
            .iter()
            .filter_map(|file| {
                Some((
                    file.path.clone().into_owned(),
                    file.content.clone()?.into_owned(),
                ))
            })
            .collect();
        Self {
            functions,
            exchanges,
            lines: cubin.map(|cubin| cubin.lines()).unwrap_or_default(),
            files,
            disassembly: HashMap::new(),
        }
    }

    /// Adds the text of instructions, such as from [`ncu_rep::cubin::sass::instructions`].
    pub fn add_disassembly<'t>(&mut self, instructions: impl Iterator<Item = Instruction<'t>>) {
        for instruction in instructions {
            self.disassembly.insert(
                (instruction.function.to_owned(), instruction.offset),
                instruction.text.to_owned(),
            );
        }
    }

    /// Whether the code has line data at all; if not, it was compiled without `-lineinfo`.
    #[must_use]
    pub fn has_lines(&self) -> bool {
        !self.lines.is_empty()
    }

    /// Addresses of barriers and exchanges between lanes from one instruction to another, in the order of the code.
    #[must_use]
    pub fn exchanges_between(&self, first: u64, second: u64) -> &[u64] {
        let from = self.exchanges.partition_point(|address| *address <= first);
        let to = self.exchanges.partition_point(|address| *address < second);
        self.exchanges.get(from..to).unwrap_or_default()
    }

    /// The place of an instruction: what is not known of it is absent.
    #[must_use]
    pub fn locate(&self, address: u64) -> Location {
        let end = self
            .functions
            .partition_point(|function| function.address <= address);
        let Some(function) = end
            .checked_sub(1)
            .and_then(|place| self.functions.get(place))
        else {
            return Self::unknown(address);
        };
        let offset = address.saturating_sub(function.address);
        let mut location = Location {
            function: Some(function.name.clone()),
            pc: Some(offset),
            sass: self
                .disassembly
                .get(&(function.name.clone(), offset))
                .cloned(),
            ..Location::default()
        };
        if let Some(place) = self.lines.locate(&function.name, offset) {
            location.file = Some(place.file.to_owned());
            location.line = Some(place.line);
            location.inlined_at = place
                .inlined()
                .map(|call| format!("{}:{}", call.file, call.line))
                .collect();
        }
        location
    }

    /// A place of which only the address is known.
    #[must_use]
    pub fn unknown(address: u64) -> Location {
        Location {
            pc: Some(address),
            ..Location::default()
        }
    }

    /// The text of a source line, where the report holds the file.
    #[must_use]
    pub fn line_text(&self, file: &str, line: u32) -> Option<&str> {
        let text = self.files.get(file)?;
        text.lines()
            .nth(usize::try_from(line).ok()?.checked_sub(1)?)
    }
}

/// Addresses of block barriers and shuffles.
///
/// From 7.0 on an instruction has 16 bytes, and its lowest 12 bits are the operation; bits 9 to 11 tell the form of its
/// operands.
fn exchanges(cubin: &Cubin<'_>, functions: &[LoadedFunction]) -> Vec<u64> {
    const OPERATION: u16 = 0x1ff;
    const BARRIER: u16 = 0xb1d & OPERATION;
    const SHUFFLE: u16 = 0xf89 & OPERATION;
    let mut addresses = Vec::new();
    for function in functions {
        let Some(code) = cubin.function(&function.name).map(|function| function.code) else {
            continue;
        };
        let (instructions, _) = code.as_chunks::<16>();
        for (address, instruction) in (function.address..).step_by(16).zip(instructions) {
            let operation = u16::from_le_bytes([instruction[0], instruction[1]]) & OPERATION;
            if operation == BARRIER || operation == SHUFFLE {
                addresses.push(address);
            }
        }
    }
    addresses.sort_unstable();
    addresses
}

#[cfg(test)]
mod tests {
    use ncu_rep::cubin::sass;

    use super::*;

    /// The opcodes are found in the machine code; the disassembler's text of the same code says whether they are right.
    #[test]
    fn barriers_and_shuffles_are_where_the_disassembler_sees_them() {
        let unpacked = |file: &[u8]| {
            ncu_rep::unpack(file, ncu_rep::default_limit(1 << 20))
                .bytes
                .into_owned()
        };
        let bytes = unpacked(include_bytes!(
            "../../../fixtures/cubin/triton_softmax.cubin.zst"
        ));
        let text = unpacked(include_bytes!(
            "../../../fixtures/sass/triton_softmax_c.txt.zst"
        ));
        let cubin = Cubin::parse(&bytes).unwrap();
        let functions = [LoadedFunction {
            address: 0x7000,
            name: "softmax_k".to_owned(),
        }];
        let text = String::from_utf8(text).unwrap();
        let expected: Vec<u64> = sass::instructions(&text)
            .filter(|instruction| {
                let mut words = instruction.text.split_whitespace();
                let first = words.next().unwrap_or_default();
                let operation = if first.starts_with('@') {
                    words.next().unwrap_or_default()
                } else {
                    first
                };
                operation.starts_with("BAR.") || operation.starts_with("SHFL.")
            })
            .map(|instruction| 0x7000 + instruction.offset)
            .collect();
        assert_eq!(expected.len(), 19);
        assert_eq!(exchanges(&cubin, &functions), expected);
    }
}
