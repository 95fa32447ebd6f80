//! Comments that allow what a rule finds: `// ridge-lint: allow(rule, rule) reason` on the line or the one before, and
//! `// ridge-lint: allow-file(rule)` for the whole file.

use crate::finding::{Found, Lines};
use crate::rules;
use crate::syntax::{Kind, Tree};

/// What the comments of a file allow.
#[derive(Debug, Default)]
pub(crate) struct Allowed {
    /// Lines, from 0, with the rules that are allowed on them; sorted.
    lines: Vec<(usize, &'static str)>,
    file: Vec<&'static str>,
    /// What names no rule, with its range.
    pub(crate) unknown: Vec<(std::ops::Range<usize>, String)>,
}

impl Allowed {
    pub(crate) fn read(tree: &Tree<'_>, lines: &Lines<'_>) -> Self {
        let mut allowed = Self::default();
        for id in tree
            .below(tree.root())
            .filter(|id| tree.is(*id, Kind::Comment))
        {
            let text = tree.text(id);
            let Some(place) = text.find("ridge-lint:") else {
                continue;
            };
            let rest = text[place + "ridge-lint:".len()..].trim_start();
            let (is_file, list) = match (
                rest.strip_prefix("allow-file("),
                rest.strip_prefix("allow("),
            ) {
                (Some(list), _) => (true, list),
                (None, Some(list)) => (false, list),
                (None, None) => {
                    let word = rest.split_whitespace().next().unwrap_or_default();
                    allowed.unknown.push((
                        tree.range(id),
                        format!("`{word}` is neither allow(…) nor allow-file(…)"),
                    ));
                    continue;
                }
            };
            let Some((list, _)) = list.split_once(')') else {
                allowed.unknown.push((
                    tree.range(id),
                    "the list of rules has no closing parenthesis".to_owned(),
                ));
                continue;
            };
            // A comment allows what is on its own last line and on the one below.
            let line = lines.line(tree.end(id));
            for name in list.split(',').map(str::trim) {
                match rules::named(name) {
                    None => {
                        let near =
                            rules::nearest(name).map(|near| format!("; did you mean `{near}`?"));
                        allowed.unknown.push((
                            tree.range(id),
                            format!("`{name}` is no rule{}", near.unwrap_or_default()),
                        ));
                    }
                    Some(rule) if is_file => allowed.file.push(rule),
                    Some(rule) => allowed.lines.extend([(line, rule), (line + 1, rule)]),
                }
            }
        }
        allowed.lines.sort_unstable();
        allowed
    }

    pub(crate) fn allows(&self, found: &Found, lines: &Lines<'_>) -> bool {
        let line = lines.line(found.range.start);
        self.file.contains(&found.rule) || self.lines.binary_search(&(line, found.rule)).is_ok()
    }
}
