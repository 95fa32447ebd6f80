//! Short names of several inputs, as long as they have to be to tell them apart.

use ridge_diagnose::document::Source;

use crate::charset::Charset;
use crate::width::{prefix, width};

/// Wider names are cut in the middle: the start tells what was profiled, the end often which run.
const WIDEST: usize = 24;
/// What every input ends with, so that it tells nothing. Those of packed files stand behind these.
const ENDINGS: &[&str] = &[".ncu-rep", ".ncu-repz", ".csv"];
const PACKED: &[&str] = &[".zst", ".gz"];

/// The short name of each input by its place, and none where there is only one to name.
pub(super) fn labels(sources: &[Source], charset: Charset) -> Vec<String> {
    if sources.len() < 2 {
        return Vec::new();
    }
    let paths: Vec<Vec<&str>> = sources
        .iter()
        .map(|source| components(&source.file))
        .collect();
    // As few parts of each path as make all of them different, or all parts where nothing does.
    let longest = paths.iter().map(Vec::len).max().unwrap_or(1);
    let names = (1..=longest)
        .map(|parts| paths.iter().map(|path| last(path, parts)).collect())
        .find(|names: &Vec<String>| are_distinct(names))
        .unwrap_or_else(|| paths.iter().map(|path| last(path, 1)).collect());
    let bare: Vec<String> = names.iter().map(|name| without_ending(name)).collect();
    let cut = |names: &[String]| -> Vec<String> {
        names.iter().map(|name| shortened(name, charset)).collect()
    };
    // What makes them different may be the ending, or lie in the middle.
    let wanted = [cut(&bare), cut(&names), bare];
    wanted
        .into_iter()
        .find(|names| are_distinct(names))
        .unwrap_or(names)
}

/// The parts of a path. What names a kernel in it belongs to the file name.
fn components(file: &str) -> Vec<&str> {
    if file == "-" {
        return vec!["standard input"];
    }
    let (path, kernel) = file.split_at(file.find('#').unwrap_or(file.len()));
    let start = path.rfind(['/', '\\']).map_or(0, |slash| slash + 1);
    let mut parts: Vec<&str> = path[..start]
        .split(['/', '\\'])
        .filter(|part| !part.is_empty())
        .collect();
    parts.push(&file[start..path.len() + kernel.len()]);
    parts
}

fn last(path: &[&str], parts: usize) -> String {
    path[path.len().saturating_sub(parts)..].join("/")
}

fn are_distinct(names: &[String]) -> bool {
    let distinct: std::collections::HashSet<&String> = names.iter().collect();
    distinct.len() == names.len()
}

fn without_ending(name: &str) -> String {
    let (file, kernel) = name.split_at(name.find('#').unwrap_or(name.len()));
    let strip = |name: &'_ str, endings: &[&str]| -> usize {
        let ending = endings.iter().find(|ending| name.ends_with(**ending));
        name.len() - ending.map_or(0, |ending| ending.len())
    };
    let unpacked = &file[..strip(file, PACKED)];
    let bare = &unpacked[..strip(unpacked, ENDINGS)];
    let bare = if bare.is_empty() { file } else { bare };
    format!("{bare}{kernel}")
}

fn shortened(name: &str, charset: Charset) -> String {
    if width(name) <= WIDEST {
        return name.to_owned();
    }
    let ellipsis = charset.ellipsis();
    let room = WIDEST - width(ellipsis);
    let start = prefix(name, room / 2);
    // The end is short of as much as the start took.
    let mut end = &name[start.len()..];
    while width(start) + width(end) > room {
        let mut characters = end.chars();
        characters.next();
        end = characters.as_str();
    }
    format!("{start}{ellipsis}{end}")
}

#[cfg(test)]
mod tests {
    use ridge_diagnose::document::{Collection, SourceKind};

    use super::*;

    fn of(files: &[&str]) -> Vec<String> {
        let sources: Vec<Source> = files
            .iter()
            .enumerate()
            .map(|(id, file)| Source {
                id,
                file: (*file).to_owned(),
                kind: SourceKind::NcuReport,
                profiler_version: None,
                devices: Vec::new(),
                created_unix_s: None,
                program: None,
                collection: Collection::default(),
                collected: None,
            })
            .collect();
        labels(&sources, Charset::Unicode)
    }

    #[test]
    fn one_input_needs_no_name() {
        assert!(of(&["a.ncu-rep"]).is_empty());
        assert!(of(&[]).is_empty());
    }

    #[test]
    fn names_are_as_long_as_they_have_to_be() {
        assert_eq!(of(&["runs/a.ncu-rep", "runs/b.ncu-rep.zst"]), ["a", "b"]);
        assert_eq!(of(&["old/a.ncu-rep", "new/a.ncu-rep"]), ["old/a", "new/a"]);
        assert_eq!(of(&["a.ncu-rep", "a.csv"]), ["a.ncu-rep", "a.csv"]);
        assert_eq!(of(&["-", r"C:\x\b.csv.gz"]), ["standard input", "b"]);
        assert_eq!(
            of(&["x/a.ncu-rep#slow", "x/a.ncu-rep#fast<a/b>"]),
            ["a#slow", "a#fast<a/b>"]
        );
        // The same file twice stays what it is.
        assert_eq!(of(&["x/a.csv", "x/a.csv"]), ["a.csv", "a.csv"]);
        assert_eq!(of(&[".csv", ".ncu-rep"]), [".csv", ".ncu-rep"]);
    }

    #[test]
    fn long_names_keep_their_start_and_their_end() {
        let long = "attention_forward_h200_batch_16_run_1.ncu-rep";
        let names = of(&[long, "b.ncu-rep"]);
        assert_eq!(
            names[0],
            "attention_f…batch_16_run_1".replace("batch_16_run_1", "tch_16_run_1")
        );
        assert!(width(&names[0]) <= WIDEST);
        // Where the middle makes the difference, nothing is cut.
        let names = of(&[
            "attention_forward_on_h200_first_of_all_runs_1.ncu-rep",
            "attention_forward_on_b200_first_of_all_runs_1.ncu-rep",
        ]);
        assert!(
            names[0].contains("h200") && names[1].contains("b200"),
            "{names:?}"
        );
        // Wide characters count twice.
        assert!(width(&of(&[&"行".repeat(40), "b"])[0]) <= WIDEST);
    }
}
