//! A command line that tells how metrics were collected, and nothing else.

use super::vocabulary::{OTHER, is_metric, is_number, is_ranges, is_words};
use crate::report::collection::SWITCHES;

/// The word in place of the profiled program.
pub(super) const PROGRAM: &str = "app";

/// Options with a value that is a word, a number, or a list of those.
const WORD_OPTIONS: &[&str] = &[
    "-c",
    "-s",
    "--app-replay-buffer",
    "--app-replay-match",
    "--app-replay-mode",
    "--apply-rules",
    "--cache-control",
    "--call-stack-type",
    "--clock-control",
    "--devices",
    "--filter-mode",
    "--graph-profiling",
    "--import-sass",
    "--import-source",
    "--kernel-name-base",
    "--launch-count",
    "--launch-skip",
    "--mode",
    "--pipeline-boost-state",
    "--pm-sampling-buffer-size",
    "--pm-sampling-interval",
    "--pm-sampling-max-passes",
    "--profile-from-start",
    "--range-replay-options",
    "--replay-mode",
    "--section",
    "--set",
    "--source-level-metrics",
    "--target-processes",
    "--warp-sampling-buffer-size",
    "--warp-sampling-interval",
    "--warp-sampling-max-passes",
];

/// The line with harmless options and values only, and how many words it lost. Of the metrics that were asked for, those
/// stay that the report has.
pub(super) fn neutral(line: &str, has_metric: impl Fn(&str) -> bool) -> (String, u64) {
    let mut out = String::from("ncu");
    let mut removed = 0_u64;
    let mut words = line.split_ascii_whitespace().peekable();
    let mut lose = |word: &str, replacement: &str| {
        removed = removed.saturating_add(u64::from(word != replacement));
    };
    if let Some(profiler) = words.next() {
        lose(profiler, "ncu");
    }
    let mut push = |word: &str| {
        out.push(' ');
        out.push_str(word);
    };
    while let Some(word) = words.next() {
        if !word.starts_with('-') {
            push(PROGRAM);
            lose(word, PROGRAM);
            words.for_each(|word| lose(word, ""));
            break;
        }
        if SWITCHES.contains(&word) {
            push(word);
            continue;
        }
        let (option, value) = match word.split_once('=') {
            Some((option, value)) => (option, Some(value)),
            None => (word, words.next_if(|next| !next.starts_with('-'))),
        };
        let Some(value) = value else {
            lose(word, "");
            continue;
        };
        let cleaned = if option == "--metrics" {
            list(value, |item| is_metric(item) && has_metric(item))
        } else if WORD_OPTIONS.contains(&option) {
            list(value, |item| {
                is_words(item) || is_number(item) || is_ranges(item)
            })
        } else {
            lose(option, "");
            lose(value, "");
            continue;
        };
        push(option);
        push(&cleaned);
        lose(value, &cleaned);
    }
    (out, removed)
}

/// Keeps the harmless items of a list. An item that is not stays an item, so that nothing looks like a default.
fn list(value: &str, is_harmless: impl Fn(&str) -> bool) -> String {
    let items: Vec<&str> = value
        .split(',')
        .filter(|item| !item.is_empty())
        .map(|item| if is_harmless(item) { item } else { OTHER })
        .collect();
    if items.is_empty() {
        OTHER.to_owned()
    } else {
        items.join(",")
    }
}

#[cfg(test)]
mod tests {

    fn neutral(line: &str) -> (String, u64) {
        super::neutral(line, |metric| metric == "sm__cycles_active.avg")
    }

    #[test]
    fn only_the_way_of_collecting_is_left() {
        let (line, removed) = neutral(
            "/opt/nvidia/ncu --clock-control none --set=full -f -c 3 -k regex:secret -o /home/alice/out --metrics sm__cycles_active.avg,sm__secret,secret --section Secret ./app --token hunter2 ",
        );
        assert_eq!(
            line,
            "ncu --clock-control none --set full -f -c 3 --metrics sm__cycles_active.avg,other,other --section other app"
        );
        assert_eq!(removed, 10);
        assert_eq!(neutral(&line), (line, 0));
    }

    #[test]
    fn an_unknown_mode_stays_unknown() {
        let (line, _) = neutral("ncu --replay-mode quantum app");
        assert_eq!(line, "ncu --replay-mode other app");
    }

    #[test]
    fn broken_lines_are_no_trouble() {
        for line in [
            "",
            " ",
            "ncu",
            "ncu --set",
            "ncu --set= --",
            "ncu - =",
            "ncu --é=ü ö",
        ] {
            let (line, _) = neutral(line);
            assert_eq!(neutral(&line), (line.clone(), 0), "{line}");
        }
    }
}
