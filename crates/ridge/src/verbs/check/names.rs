//! Names of the files that recorded baselines have.
//!
//! | baseline | file |
//! |---|---|
//! | label `release-2` | `release-2.json` |
//! | label `ü` | `%C3%BC.json` |
//! | branch `feature/x` | `branch-feature%2Fx.json` |
//! | commit `0123abc` | `commit-0123abc.json` |
//!
//! ASCII letters, digits, `-`, `_` and `.` stand for themselves, and every other byte is a percent code. A label that begins
//! with what tells branches and commits from labels has its first letter as one. So no two baselines share a file.

use std::fmt::Write;

use super::baselines::Wanted;

/// Most file systems take no longer name.
const LONGEST: usize = 255;
const BRANCH: &str = "branch-";
const COMMIT: &str = "commit-";
const EXTENSION: &str = ".json";

/// The name of the file; `None` for a file that is named itself, and for a name that no file can have.
pub(super) fn file_name(wanted: &Wanted) -> Option<String> {
    let name = match wanted {
        Wanted::File(_) => return None,
        Wanted::Label(label) => {
            let lower = label.to_ascii_lowercase();
            match label.chars().next() {
                Some(first) if lower.starts_with(BRANCH) || lower.starts_with(COMMIT) => {
                    let rest = &label[first.len_utf8()..];
                    format!("%{:02X}{}", u32::from(first), encoded(rest))
                }
                _ => encoded(label),
            }
        }
        Wanted::Commit(commit) => format!("{COMMIT}{}", encoded(commit)),
        Wanted::Branch(branch) => format!("{BRANCH}{}", encoded(branch)),
    };
    let name = name + EXTENSION;
    (name.len() <= LONGEST).then_some(name)
}

/// The name that earlier versions gave: everything but letters, digits, `-`, `_` and `.` was a line.
pub(super) fn earlier_name(wanted: &Wanted) -> Option<String> {
    let (kind, name) = match wanted {
        Wanted::File(_) => return None,
        Wanted::Label(label) => ("", label),
        Wanted::Commit(commit) => (COMMIT, commit),
        Wanted::Branch(branch) => (BRANCH, branch),
    };
    let plain = |letter: char| if is_plain(letter) { letter } else { '_' };
    let safe: String = name.chars().map(plain).collect();
    Some(format!("{kind}{safe}{EXTENSION}"))
}

const fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.')
}

fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if is_plain(char::from(byte)) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn label(text: &str) -> Option<String> {
        file_name(&Wanted::Label(text.to_owned()))
    }

    #[test]
    fn names_that_were_taken_for_one_are_not() {
        let all = [
            Wanted::Label("ü".to_owned()),
            Wanted::Label("_".to_owned()),
            Wanted::Label("__".to_owned()),
            Wanted::Label("a:b".to_owned()),
            Wanted::Label("a_b".to_owned()),
            Wanted::Label("a%3Ab".to_owned()),
            Wanted::Label("branch-main".to_owned()),
            Wanted::Label("BRANCH-main".to_owned()),
            Wanted::Label("commit-0123abc".to_owned()),
            Wanted::Label("%62ranch-main".to_owned()),
            Wanted::Branch("main".to_owned()),
            Wanted::Branch("feature/x".to_owned()),
            Wanted::Branch("feature_x".to_owned()),
            Wanted::Commit("0123abc".to_owned()),
        ];
        let mut files = HashMap::new();
        for wanted in all {
            if let Some(other) = files.insert(file_name(&wanted).unwrap(), wanted.clone()) {
                panic!("{wanted:?} and {other:?}");
            }
        }
    }

    #[test]
    fn plain_labels_keep_their_names() {
        assert_eq!(label("default").as_deref(), Some("default.json"));
        assert_eq!(label("v1.2-rc_1").as_deref(), Some("v1.2-rc_1.json"));
        assert_eq!(label("branch-main").as_deref(), Some("%62ranch-main.json"));
        assert_eq!(label("../x").as_deref(), Some("..%2Fx.json"));
        assert_eq!(label(&"a".repeat(250)).map(|name| name.len()), Some(255));
        assert_eq!(label(&"a".repeat(251)), None);
        assert_eq!(label(&"ü".repeat(42)), None);
        assert_eq!(
            file_name(&Wanted::Branch("main".to_owned())).as_deref(),
            Some("branch-main.json")
        );
    }

    /// Every sequence of up to three of these, of every kind: different baselines have different files, none of which leaves its
    /// folder.
    #[test]
    fn no_two_share_a_file() {
        let parts = [
            "", "ü", "_", "%", "a", "B", ":", "/", "\\", "branch-", "commit-", "5F", "..",
        ];
        let mut files: HashMap<String, Wanted> = HashMap::new();
        for one in parts {
            for other in parts {
                for third in parts {
                    let text = format!("{one}{other}{third}");
                    for wanted in [
                        Wanted::Label(text.clone()),
                        Wanted::Branch(text.clone()),
                        Wanted::Commit(text.clone()),
                    ] {
                        let file = file_name(&wanted).unwrap();
                        assert!(!file.contains(['/', '\\', ':']), "{file}");
                        let known = files.entry(file).or_insert_with(|| wanted.clone());
                        assert_eq!(*known, wanted);
                    }
                }
            }
        }
        assert!(files.len() > 3_000, "{}", files.len());
    }
}
