//! `compile_commands.json`: which file is compiled how.

use std::ops::Range;
use std::path::Path;

use serde_json::Value;

use crate::Error;

/// One entry of a list of compile commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The folder in which it is compiled.
    pub folder: String,
    /// The file that is compiled, relative to the folder unless it is absolute.
    pub file: String,
    /// Whether it is CUDA, by its name or by what the command says.
    pub is_cuda: bool,
    /// The words of the command.
    pub words: Vec<String>,
    /// Where the name of the file stands in the list.
    pub(crate) range: Range<usize>,
}

/// Reads a list of compile commands.
///
/// # Errors
/// When it is no JSON, or no such list.
pub fn read(source: &[u8]) -> Result<Vec<Command>, Error> {
    let list: Value = serde_json::from_slice(source).map_err(|error| Error::Commands {
        line: error.line(),
        reason: "this is no JSON".to_owned(),
    })?;
    let wrong = |reason: &str| Error::Commands {
        line: 1,
        reason: reason.to_owned(),
    };
    let list = list
        .as_array()
        .ok_or_else(|| wrong("a list of compile commands is an array"))?;
    let text = String::from_utf8_lossy(source);
    // Strings may be written in other ways: then there are no places from there on.
    let mut from = Some(0);
    let mut commands = Vec::new();
    for entry in list {
        let text_of = |key: &str| entry.get(key).and_then(Value::as_str);
        let file = text_of("file").ok_or_else(|| wrong("an entry has no \"file\""))?;
        let words = match (
            entry.get("arguments").and_then(Value::as_array),
            text_of("command"),
        ) {
            (Some(words), _) => words
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
            (None, Some(command)) => split(command),
            (None, None) => {
                return Err(wrong("an entry has neither \"command\" nor \"arguments\""));
            }
        };
        let quoted = Value::from(file).to_string();
        let at = from
            .and_then(|from: usize| value_of_file(text.get(from..)?, &quoted).map(|at| from + at));
        let range = at.map_or(0..0, |at| at..at + quoted.len());
        from = at.map(|_| range.end);
        commands.push(Command {
            folder: text_of("directory").unwrap_or_default().to_owned(),
            is_cuda: says_cuda(&words)
                || Path::new(file)
                    .extension()
                    .is_some_and(|extension| extension == "cu" || extension == "cuh"),
            file: file.to_owned(),
            words,
            range,
        });
    }
    Ok(commands)
}

/// Where the value of the next key `"file"` stands that has a value.
fn value_of_file(text: &str, quoted: &str) -> Option<usize> {
    text.match_indices("\"file\"").find_map(|(at, key)| {
        let behind = text[at + key.len()..]
            .trim_start()
            .strip_prefix(':')?
            .trim_start();
        behind
            .starts_with(quoted)
            .then(|| text.len() - behind.len())
    })
}

/// Whether a command says that its file is CUDA, whatever its name says.
fn says_cuda(words: &[String]) -> bool {
    let mut pairs = words.iter().zip(words.iter().skip(1));
    pairs.any(|(option, value)| {
        matches!(
            (option.as_str(), value.as_str()),
            ("-x" | "--x", "cu" | "cuda")
        )
    }) || words
        .iter()
        .any(|word| matches!(word.as_str(), "-xcu" | "-xcuda" | "--x=cu" | "-x=cu"))
}

/// The words of a command line, as a shell splits them.
fn split(command: &str) -> Vec<String> {
    let (mut words, mut word, mut is_word, mut quote) = (Vec::new(), String::new(), false, None);
    let mut rest = command.chars();
    while let Some(c) = rest.next() {
        match (c, quote) {
            ('\\', None | Some('"')) => {
                word.extend(rest.next());
                is_word = true;
            }
            (c, Some(open)) if c == open => quote = None,
            ('"' | '\'', None) => {
                quote = Some(c);
                is_word = true;
            }
            (c, None) if c.is_whitespace() => {
                if is_word {
                    words.push(std::mem::take(&mut word));
                }
                is_word = false;
            }
            (c, _) => {
                word.push(c);
                is_word = true;
            }
        }
    }
    if is_word {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_have_words_and_places() {
        let source = br#"[
{"directory": "/b", "command": "nvcc -DX=\"a b\" -G -c k.cu", "file": "k.cu"},
{"directory": "/b", "arguments": ["nvcc", "-c", "m.cu"], "file": "m.cu"}
]"#;
        let commands = read(source).unwrap();
        assert_eq!(commands[0].words, ["nvcc", "-DX=a b", "-G", "-c", "k.cu"]);
        assert_eq!(&source[commands[0].range.clone()], br#""k.cu""#);
        assert_eq!(commands[1].file, "m.cu");
        let source = br#"[{"file":"a.cc","command":"nvcc -x cu a.cc"}, {"command": "g++ b.cc", "file" : "b.cc"}]"#;
        let commands = read(source).unwrap();
        assert_eq!(&source[commands[1].range.clone()], br#""b.cc""#);
        assert!(commands[0].is_cuda && !commands[1].is_cuda);
        for wrong in [&b"{}"[..], b"[1]", b"[{\"file\": \"a\"}]", b"[", b""] {
            assert_eq!(read(wrong).unwrap_err().code(), "LINT0005");
        }
    }

    #[test]
    fn quotes_and_escapes_are_those_of_a_shell() {
        assert_eq!(
            split(r#"a 'b c' "d\"e" f\ g '' "#),
            ["a", "b c", "d\"e", "f g", ""]
        );
    }
}
