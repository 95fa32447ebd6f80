//! What stands for compiled code: the names of the kernels.

use crate::device::{Compiled, Program};
use crate::error::{DeviceError, Result};
use crate::nvrtc::CompileError;

/// The first line of an image that the simulated compiler made.
const MAGIC: &str = "ridge simulated image 1";

/// "Compiles": looks for the names of the kernels. It refuses what has `#error`, and braces that do not match, with a
/// log in the form of NVRTC's.
pub(super) fn compile(program: &Program) -> Result<Compiled> {
    let refuse = |line: usize, text: String| {
        Err(CompileError::Refused {
            reason: "NVRTC_ERROR_COMPILATION".to_owned(),
            log: format!(
                "{}({line}): error: {text}\n\n1 error detected in the compilation of \"{}\".\n",
                program.name, program.name
            ),
        }
        .into())
    };
    let code = without_comments(&program.text);
    let mut depth = 0_i64;
    for (line, number) in code.lines().zip(1..) {
        if let Some(message) = line.trim_start().strip_prefix("#error") {
            return refuse(number, format!("#error directive:{message}"));
        }
        for letter in line.chars() {
            depth += match letter {
                '{' => 1,
                '}' => -1,
                _ => 0,
            };
            if depth < 0 {
                return refuse(number, "expected a declaration".to_owned());
            }
        }
    }
    if depth > 0 {
        return refuse(code.lines().count(), "expected a \"}\"".to_owned());
    }
    let mut lines = vec![MAGIC.to_owned()];
    lines.extend(variables(&code).map(|variable| variable.line()));
    lines.extend(kernels(&code));
    lines.extend(program.name_expressions.iter().cloned());
    Ok(Compiled {
        image: lines.join("\n").into_bytes(),
        log: String::new(),
        lowered_names: program.name_expressions.clone(),
    })
}

/// The names of the kernels in an image; `None` when any name will do.
pub(super) fn kernels_of(image: &[u8]) -> Result<Vec<String>> {
    if let Ok(text) = std::str::from_utf8(image) {
        let mut lines = text.lines();
        if lines.next() == Some(MAGIC) {
            let is_kernel = |line: &&str| !line.starts_with(VARIABLE);
            return Ok(lines.filter(is_kernel).map(str::to_owned).collect());
        }
        // PTX.
        let entries: Vec<String> = text
            .lines()
            .filter_map(|line| line.split_once(".entry"))
            .map(|(_, rest)| rest.trim_start())
            .map(|rest| {
                rest.split(|letter: char| !is_name(letter))
                    .next()
                    .unwrap_or_default()
            })
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect();
        if !entries.is_empty() {
            return Ok(entries);
        }
    } else {
        // The names of the sections of a cubin, also of one inside a fatbin that is not compressed.
        let mut names = Vec::new();
        let mut rest = image;
        while let Some(place) = rest.windows(6).position(|window| window == b".text.") {
            rest = &rest[place + 6..];
            let end = rest
                .iter()
                .position(|byte| *byte == 0)
                .unwrap_or(rest.len());
            if let Ok(name) = std::str::from_utf8(&rest[..end])
                && !name.is_empty()
                && name.chars().all(is_name)
            {
                names.push(name.to_owned());
            }
        }
        if !names.is_empty() {
            return Ok(names);
        }
    }
    Err(DeviceError::InvalidImage {
        reason: "neither cubin, PTX nor fatbin".to_owned(),
        log: String::new(),
    })
}

/// What the line of a variable begins with in an image; no kernel has such a name.
const VARIABLE: char = '@';

/// A variable of an image, with its size where that can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) bytes: Option<u64>,
}

impl Variable {
    fn line(&self) -> String {
        let bytes = self
            .bytes
            .map_or_else(String::new, |bytes| bytes.to_string());
        format!("{VARIABLE}{} {bytes}", self.name)
    }
}

/// The variable of this name in an image.
pub(super) fn variable_of(image: &[u8], name: &str) -> Option<Variable> {
    let is_it = |variable: &Variable| variable.name == name;
    let Ok(text) = std::str::from_utf8(image) else {
        // The tables of names of a cubin have zeros around each.
        let entry = [&[0], name.as_bytes(), &[0]].concat();
        let is_there = image.windows(entry.len()).any(|part| part == entry);
        return is_there.then(|| Variable {
            name: name.to_owned(),
            bytes: None,
        });
    };
    let mut lines = text.lines();
    if lines.next() == Some(MAGIC) {
        return lines
            .filter_map(|line| line.strip_prefix(VARIABLE)?.split_once(' '))
            .map(|(name, bytes)| Variable {
                name: name.to_owned(),
                bytes: bytes.parse().ok(),
            })
            .find(is_it);
    }
    // PTX: `.visible .const .align 4 .b8 weights[256];`
    let mut declarations = text.lines().map(str::trim_start).filter_map(|line| {
        let line = [".visible", ".extern", ".weak"]
            .into_iter()
            .find_map(|word| line.strip_prefix(word))
            .unwrap_or(line)
            .trim_start();
        let rest = line
            .strip_prefix(".global")
            .or_else(|| line.strip_prefix(".const"))?;
        let words = rest.split(['=', ';']).next()?;
        let (head, count) = match words.split_once('[') {
            Some((head, count)) => (head, count.split(']').next()?.trim().parse().ok()),
            None => (words, Some(1)),
        };
        let mut words = head.split_whitespace().rev();
        let name = words.next()?;
        let bits: Option<u64> = words
            .next()
            .and_then(|kind| kind.get(2..))
            .and_then(|bits| bits.parse().ok());
        Some(Variable {
            name: name.to_owned(),
            bytes: count
                .zip(bits)
                .and_then(|(count, bits): (u64, u64)| count.checked_mul(bits / 8)),
        })
    });
    declarations.find(is_it)
}

/// Everything that is `__device__` or `__constant__` and no function.
fn variables(code: &str) -> impl Iterator<Item = Variable> {
    let parts = code
        .split("__device__")
        .flat_map(|part| part.split("__constant__"));
    parts.skip(1).filter_map(|rest| {
        let end = rest.find([';', '=', '(', '{'])?;
        // A parenthesis begins the parameters of a function.
        let is_variable = matches!(rest.as_bytes().get(end), Some(b';' | b'='));
        let declaration = rest[..end].trim();
        let (head, sizes) = declaration.split_once('[').unwrap_or((declaration, ""));
        let head = head.trim_end();
        let name = head.rsplit(|letter: char| !is_name(letter)).next()?;
        let kind = head.strip_suffix(name)?.trim();
        let count = match sizes {
            "" => Some(1),
            sizes => sizes
                .split('[')
                .map(|size| {
                    size.trim_end()
                        .trim_end_matches(']')
                        .trim()
                        .parse::<u64>()
                        .ok()
                })
                .try_fold(1_u64, |product, size| product.checked_mul(size?)),
        };
        let bytes = count
            .zip(size_of_type(kind))
            .and_then(|(count, size)| count.checked_mul(size));
        (is_variable && !name.is_empty() && !kind.is_empty()).then(|| Variable {
            name: name.to_owned(),
            bytes,
        })
    })
}

/// The size of a type; absent where it is none that the language has.
fn size_of_type(kind: &str) -> Option<u64> {
    let words = kind
        .split_whitespace()
        .filter(|word| !["static", "const", "volatile", "extern"].contains(word));
    let words: Vec<&str> = words.collect();
    Some(match words.join(" ").as_str() {
        "char" | "signed char" | "unsigned char" | "bool" | "int8_t" | "uint8_t" => 1,
        "short" | "unsigned short" | "__half" | "half" | "__nv_bfloat16" => 2,
        "int" | "unsigned" | "unsigned int" | "float" | "int32_t" | "uint32_t" => 4,
        "double" | "long long" | "unsigned long long" | "float2" | "int2" => 8,
        "float4" | "int4" | "double2" => 16,
        _ => return None,
    })
}

const fn is_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '$')
}

/// The source with blanks for comments and texts; lines stay where they are.
fn without_comments(source: &str) -> String {
    let mut code = String::with_capacity(source.len());
    let mut letters = source.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, letters.peek()) {
            ('/', Some('/')) => {
                while letters.peek().is_some_and(|next| *next != '\n') {
                    letters.next();
                }
            }
            ('/', Some('*')) => {
                letters.next();
                let mut before = ' ';
                for next in letters.by_ref() {
                    if next == '\n' {
                        code.push('\n');
                    }
                    if before == '*' && next == '/' {
                        break;
                    }
                    before = next;
                }
            }
            ('"' | '\'', _) => {
                // A digit separator starts no text.
                if letter == '\'' && code.ends_with(|last: char| last.is_ascii_hexdigit()) {
                    continue;
                }
                // `extern "C"` is no text either, but nobody asks.
                let mut escaped = false;
                for next in letters.by_ref() {
                    if next == '\n' {
                        code.push('\n');
                        break;
                    }
                    if next == letter && !escaped {
                        break;
                    }
                    escaped = next == '\\' && !escaped;
                }
            }
            _ => code.push(letter),
        }
    }
    code
}

/// The identifier before the parameters of everything that is `__global__`.
fn kernels(code: &str) -> Vec<String> {
    code.split("__global__")
        .skip(1)
        .filter_map(|rest| {
            let mut rest = rest;
            loop {
                let open = rest.find('(')?;
                let name = rest[..open]
                    .trim_end()
                    .rsplit(|letter: char| !is_name(letter))
                    .next()?;
                // Attributes have parameters too.
                if !matches!(
                    name,
                    "__launch_bounds__" | "__cluster_dims__" | "__maxnreg__"
                ) {
                    return (!name.is_empty()).then(|| name.to_owned());
                }
                let close = rest[open..].find(')')?;
                rest = &rest[open + close + 1..];
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(text: &str) -> Program {
        Program {
            text: text.to_owned(),
            name: "k.cu".to_owned(),
            ..Program::default()
        }
    }

    #[test]
    fn kernels_are_found_by_their_names() {
        let text = "// __global__ void no(\nextern \"C\" __global__ void __launch_bounds__(256, 2)\none(float* a) { }\n\
                    template <class T> __global__ void two(T* a) { int x = 1'000; }";
        let image = compile(&program(text)).unwrap().image;
        assert_eq!(kernels_of(&image).unwrap(), ["one", "two"]);
        let ptx = b".version 7.0\n.target sm_70\n.visible .entry three(.param .u64 a)\n{ ret; }";
        assert_eq!(kernels_of(ptx).unwrap(), ["three"]);
        let cubin = b"\x7fELF\xff\0.text._Z4fourPf\0.nv.info\0";
        assert_eq!(kernels_of(cubin).unwrap(), ["_Z4fourPf"]);
        assert!(kernels_of(b"nothing of the kind").is_err());
    }

    #[test]
    fn variables_are_found_with_their_sizes() {
        let text = "#define N 4\n__constant__ float weights[2][8];\n__device__ unsigned total = 0;\n\
                    __device__ Thing things[N];\n__device__ float f(float x) { return x; }\n\
                    extern \"C\" __global__ void k() { }";
        let image = compile(&program(text)).unwrap().image;
        let bytes = |name: &str| variable_of(&image, name).map(|found| found.bytes);
        assert_eq!(bytes("weights"), Some(Some(64)));
        assert_eq!(bytes("total"), Some(Some(4)));
        assert_eq!(bytes("things"), Some(None));
        assert_eq!((bytes("f"), bytes("k"), bytes("x")), (None, None, None));
        assert_eq!(kernels_of(&image).unwrap(), ["k"]);
        let ptx = b".version 7.0\n.visible .const .align 4 .b8 weights[256];\n.global .u32 total;\n.visible .entry k()\n{\n\
            \tst.global.u32 [total], 1;\n}";
        let bytes = |name: &str| variable_of(ptx, name).map(|found| found.bytes);
        assert_eq!(
            (bytes("weights"), bytes("total")),
            (Some(Some(256)), Some(Some(4)))
        );
        assert_eq!(bytes("k"), None);
        let cubin = b"\x7fELF\xff\0.text.k\0weights\0";
        assert!(variable_of(cubin, "weights").is_some() && variable_of(cubin, "weight").is_none());
    }

    #[test]
    fn wrong_source_is_refused_with_file_and_line() {
        let log = |text: &str| match compile(&program(text)) {
            Err(DeviceError::Compile(reason)) => match *reason {
                CompileError::Refused { log, .. } => log,
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        };
        assert!(
            log("a\n#error not today\n").starts_with("k.cu(2): error: #error directive: not today")
        );
        assert!(log("void f() {\n").contains("k.cu(1): error: expected a \"}\""));
        assert!(log("}\n").contains("k.cu(1): error"));
    }
}
