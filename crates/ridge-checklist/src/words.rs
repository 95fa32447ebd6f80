//! Words that several lines use.

/// Quotes a word for a shell when it needs it.
pub(crate) fn quote(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=+,@#".contains(c);
    if !word.is_empty() && !word.starts_with('#') && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Quotes the name of a file, which is no option whatever it begins with; `-` alone is the standard input.
pub(crate) fn path(name: &str) -> String {
    if name.len() > 1 && name.starts_with('-') {
        quote(&format!("./{name}"))
    } else {
        quote(name)
    }
}

/// A share in per cent, with a figure more where it is small.
pub(crate) fn percent(share: f64) -> String {
    let value = 100.0 * share;
    if value > 0.0 && value < 0.1 {
        "<0.1 %".to_owned()
    } else if value >= 9.95 {
        format!("{value:.0} %")
    } else {
        format!("{value:.1} %")
    }
}

/// So much of a name is shown in a sentence; figures and commands have it whole.
const SHOWN: usize = 40;

/// The beginning of a long name.
pub(crate) fn short(name: &str) -> String {
    match name.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &name[..end]),
        None => name.to_owned(),
    }
}

/// A list of words with `and` before the last.
pub(crate) fn list(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_shell_stay_one_word() {
        assert_eq!(quote("a/b.ncu-rep#gemm@3"), "a/b.ncu-rep#gemm@3");
        assert_eq!(quote("my report"), "'my report'");
        assert_eq!(quote("it's; rm"), r"'it'\''s; rm'");
        assert_eq!(quote(""), "''");
        assert_eq!(quote("#x"), "'#x'");
        assert_eq!(path("-o.npy"), "./-o.npy");
        assert_eq!(path("-"), "-");
        assert_eq!(path("my-report"), "my-report");
    }

    #[test]
    fn shares_and_lists_read_well() {
        assert_eq!(percent(0.034), "3.4 %");
        assert_eq!(percent(0.5), "50 %");
        assert_eq!(percent(0.0002), "<0.1 %");
        assert_eq!(percent(0.0), "0.0 %");
        let words = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(list(&words), "a, b and c");
        assert_eq!(list(&words[..1]), "a");
    }
}
