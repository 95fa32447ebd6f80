//! Reads the text that NVIDIA's disassemblers print: `nvdisasm -c` and `cuobjdump -sass`.
//!
//! Reports hold no instruction text. Who has a CUDA toolkit can disassemble the cubin and lay the text beside the
//! counts of each instruction. The tools promise no format, so whatever is not an instruction is passed over.

/// One instruction of a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Instruction<'t> {
    /// The mangled name of the function whose code the instruction lies in.
    pub function: &'t str,
    /// Offset in the code of the function, in bytes.
    pub offset: u64,
    /// The instruction with its predicate and operands, without the closing semicolon.
    pub text: &'t str,
}

/// Lists the instructions of a disassembly, in its order.
///
/// ```
/// let text = "\t\tFunction : scale\n        /*0010*/              @P0 EXIT ;    /* 0x000000000000094d */\n";
/// let first = ncu_rep::cubin::sass::instructions(text).next();
/// assert_eq!(first.map(|i| (i.function, i.offset, i.text)), Some(("scale", 0x10, "@P0 EXIT")));
/// ```
#[must_use]
pub fn instructions(text: &str) -> Instructions<'_> {
    Instructions {
        lines: text.lines(),
        function: None,
    }
}

/// Iterates over the instructions of a disassembly.
#[derive(Clone, Debug)]
pub struct Instructions<'t> {
    lines: std::str::Lines<'t>,
    function: Option<&'t str>,
}

impl<'t> Iterator for Instructions<'t> {
    type Item = Instruction<'t>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let line = self.lines.next()?.trim();
            if let Some(head) = function(line) {
                self.function = head;
            } else if let (Some(function), Some((offset, text))) =
                (self.function, instruction(line))
            {
                return Some(Instruction {
                    function,
                    offset,
                    text,
                });
            }
        }
    }
}

/// The function that a line opens, or `Some(None)` for the start of a section without code.
fn function(line: &str) -> Option<Option<&str>> {
    // cuobjdump: `Function : name`.
    if let Some(rest) = line.strip_prefix("Function") {
        return Some(Some(rest.trim_start().strip_prefix(':')?.trim()));
    }
    // nvdisasm: `.section .text.name,"ax",@progbits`. Labels inside the section name subroutines of the same code.
    let rest = line.strip_prefix(".section")?;
    if !rest.starts_with(char::is_whitespace) {
        return None; // Such as `.sectioninfo`.
    }
    let name = rest.split(',').next()?.trim().trim_matches('"');
    Some(name.strip_prefix(".text."))
}

/// Offset and text of an instruction: `/*0010*/ @P0 EXIT ; /* encoding */`.
fn instruction(line: &str) -> Option<(u64, &str)> {
    // Braces group instructions that older GPUs issue together.
    let line = line.strip_prefix('{').unwrap_or(line).trim_start();
    let (offset, rest) = line.strip_prefix("/*")?.split_once("*/")?;
    let offset = offset.trim();
    // The second line of an encoding starts like an instruction, but with a prefix.
    if offset.is_empty() || offset.starts_with("0x") {
        return None;
    }
    let offset = u64::from_str_radix(offset, 16).ok()?;
    let text = rest.split_once("/*").map_or(rest, |(text, _)| text);
    let text = text
        .trim()
        .trim_end_matches('}')
        .trim_end()
        .trim_end_matches(';')
        .trim_end();
    (!text.is_empty()).then_some((offset, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(&str, u64, &str)> {
        instructions(text)
            .map(|i| (i.function, i.offset, i.text))
            .collect()
    }

    #[test]
    fn reads_a_listing_with_encodings() {
        let text = r#"
Fatbin elf code:
================
arch = sm_90
code version = [1,7]
host = linux
compile_size = 64bit

	code for sm_90
		Function : _Z4initPj
	.headerflags	@"EF_CUDA_TEXMODE_UNIFIED EF_CUDA_64BIT_ADDRESS EF_CUDA_SM90"
        /*0000*/                   LDC R1, c[0x0][0x28] ;                 /* 0x00000a00ff017b82 */
                                                                          /* 0x000fe20000000800 */
        /*0010*/               @P0 EXIT ;                                 /* 0x000000000000094d */
                                                                          /* 0x000fea0003800000 */
		..........

		Function : other
        /*0000*/                   BRA 0x0;
"#;
        assert_eq!(
            read(text),
            [
                ("_Z4initPj", 0, "LDC R1, c[0x0][0x28]"),
                ("_Z4initPj", 0x10, "@P0 EXIT"),
                ("other", 0, "BRA 0x0")
            ]
        );
    }

    #[test]
    fn reads_sections_and_passes_over_labels_and_data() {
        let text = r#"
	.headerflags	@"EF_CUDA_SM90 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM90)"
//--------------------- .nv.constant0._Z4initPj    --------------------------
	.section	.nv.constant0._Z4initPj,"a",@progbits
	/*0000*/ 	.byte	0x00, 0x01
//--------------------- .text._Z4initPj            --------------------------
	.section	.text._Z4initPj,"ax",@progbits
	.sectioninfo	@"SHI_REGISTERS=12"
        .global         _Z4initPj
.text._Z4initPj:
	//## File "/src/kernels.cu", line 4
        /*0000*/                   MOV R1, c[0x0][0x28] ;
.L_x_0:
        /*00a0*/              @!P1 BRA `(.L_x_0) ;
        /*00b0*/                   LDGSTS.E.BYPASS.128 [R5], desc[UR4][R2.64], !PT ;
"#;
        assert_eq!(
            read(text),
            [
                ("_Z4initPj", 0, "MOV R1, c[0x0][0x28]"),
                ("_Z4initPj", 0xa0, "@!P1 BRA `(.L_x_0)"),
                (
                    "_Z4initPj",
                    0xb0,
                    "LDGSTS.E.BYPASS.128 [R5], desc[UR4][R2.64], !PT"
                ),
            ]
        );
    }

    #[test]
    fn odd_lines_are_passed_over() {
        let text = "/*0000*/ NOP ;\nFunction\nFunction : f\n/*zz*/ NOP ;\n/**/\n/*10*/\n{ /*0008*/ NOP; }\n/*";
        assert_eq!(read(text), [("f", 8, "NOP")]);
    }
}
