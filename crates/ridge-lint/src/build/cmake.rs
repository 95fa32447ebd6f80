//! Flags in files of CMake, as far as they stand there as words.

use std::ops::Range;

use crate::rules::debug_flags;

/// Flags of debug builds that apply to all builds, with their places.
pub(crate) fn flags(text: &str) -> Vec<(&str, Range<usize>)> {
    let mut found = Vec::new();
    // For each `if` that is open, whether it asks for a kind of build.
    let mut open: Vec<bool> = Vec::new();
    for (name, arguments, start) in commands(text) {
        let without_flag = arguments.replace("--device-debug", "");
        let asks = without_flag.to_ascii_lowercase().contains("debug");
        match name.to_ascii_lowercase().as_str() {
            "if" => open.push(asks),
            // What is behind an `else` of a question about debug builds may be either.
            "elseif" => {
                if let Some(last) = open.last_mut() {
                    *last |= asks;
                }
            }
            "endif" => {
                open.pop();
            }
            _ if asks
                || open.contains(&true)
                || !arguments.contains("CUDA") && !arguments.contains("nvcc") => {}
            _ => {
                let words: Vec<(usize, &str)> = words(arguments).collect();
                let plain: Vec<&str> = words.iter().map(|(_, word)| *word).collect();
                if let Some(word) = debug_flags::offending(&plain)
                    && let Some((at, _)) = words.iter().find(|(_, known)| *known == word)
                {
                    found.push((word, start + at..start + at + word.len()));
                }
            }
        }
    }
    found
}

/// The commands of a file: name, text between the parentheses, and where that begins.
fn commands(text: &str) -> Vec<(&str, &str, usize)> {
    let bytes = text.as_bytes();
    let (mut commands, mut name, mut depth, mut start) = (Vec::new(), 0..0, 0_usize, 0);
    let (mut is_quoted, mut at, mut word) = (false, 0, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'"' if depth > 0 => is_quoted = !is_quoted,
            b'#' if !is_quoted => {
                while at < bytes.len() && bytes[at] != b'\n' {
                    at += 1;
                }
                word = at + 1;
            }
            b'(' if !is_quoted => {
                if depth == 0 {
                    (name, start) = (word..at, at + 1);
                }
                depth += 1;
            }
            b')' if !is_quoted && depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    let parts = (text.get(name.clone()), text.get(start..at));
                    if let (Some(name), Some(arguments)) = parts {
                        commands.push((name.trim(), arguments, start));
                    }
                    word = at + 1;
                }
            }
            b'\n' if depth == 0 => word = at + 1,
            _ => {}
        }
        at += 1;
    }
    commands
}

/// Words between spaces, quotes, semicolons and the marks of generator expressions.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_between = |c: char| c.is_whitespace() || matches!(c, '"' | ';' | '<' | '>' | ',' | ':');
    let base = text.as_ptr().addr();
    text.split(is_between)
        .filter(|word| !word.is_empty())
        .map(move |word| (word.as_ptr().addr() - base, word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        flags(text)
            .into_iter()
            .map(|(word, range)| {
                assert_eq!(&text[range], word);
                word
            })
            .collect()
    }

    #[test]
    fn flags_that_apply_to_all_builds() {
        assert_eq!(
            found("set(CMAKE_CUDA_FLAGS \"${CMAKE_CUDA_FLAGS} -G -lineinfo\")\n"),
            ["-G"]
        );
        assert_eq!(
            found("target_compile_options(a PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--device-debug>)"),
            ["--device-debug"]
        );
    }

    #[test]
    fn flags_of_debug_builds_are_where_they_belong() {
        for text in [
            "set(CMAKE_CUDA_FLAGS_DEBUG \"-G\")",
            "if(CMAKE_BUILD_TYPE STREQUAL \"Debug\")\nset(CMAKE_CUDA_FLAGS \"-G\")\nendif()",
            "# set(CMAKE_CUDA_FLAGS \"-G\")",
            "add_custom_command(COMMAND cmake -G Ninja)",
            "target_compile_options(a PRIVATE $<$<AND:$<CONFIG:Debug>,$<COMPILE_LANGUAGE:CUDA>>:-G>)",
            "((((",
            ")",
            "\"",
            "set(CMAKE_CUDA_FLAGS \"-G",
        ] {
            assert!(found(text).is_empty(), "{text}");
        }
    }
}
