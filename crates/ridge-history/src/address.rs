//! Addresses of servers among words, and words without the secrets of addresses.

/// Schemes of PostgreSQL.
const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];
/// The words of a connection string (`host=db.example user=ci`) that tell it from the name of a file.
const KEYS: [&str; 7] = [
    "host", "hostaddr", "port", "dbname", "user", "password", "service",
];
/// What is called so is a secret, in a query or a connection string.
const SECRETS: [&str; 2] = ["password", "passwd"];

/// Whether a text is meant to be the address of a server: `postgres://…` in any case, or a connection string such as
/// `host=db.example user=ci`.
#[must_use]
pub fn is_address(text: &str) -> bool {
    let text = text.trim();
    scheme(text).is_some()
        || text.split_once('=').is_some_and(|(key, _)| {
            KEYS.iter()
                .any(|known| key.trim_end().eq_ignore_ascii_case(known))
        })
}

/// The scheme that a text begins with, as the text has it.
fn scheme(text: &str) -> Option<&str> {
    SCHEMES.iter().find_map(|scheme| {
        text.get(..scheme.len())
            .filter(|head| head.eq_ignore_ascii_case(scheme))
    })
}

/// An address as the client takes it: without blanks around it, and with the scheme in small letters.
#[cfg(feature = "postgres")]
pub(crate) fn normal(text: &str) -> String {
    let text = text.trim();
    match scheme(text) {
        Some(scheme) => {
            let (_, rest) = text.split_at(scheme.len());
            format!("{}{rest}", scheme.to_ascii_lowercase())
        }
        None => text.to_owned(),
    }
}

/// A word without the secrets in it: the password of an address with a scheme, and values that are called passwords, as in
/// `host=db.example password=…`. The word is an address, a file, an option or an argument of a program; where it cannot be told
/// what belongs to a secret, more is left out.
#[must_use]
pub fn without_secrets(word: &str) -> String {
    let word = match word.find("://") {
        Some(at) => without_credentials(word, at + 3),
        None => word.to_owned(),
    };
    without_values(&word)
}

/// A text for people without the secrets of the addresses in it, word by word.
#[must_use]
pub fn text_without_secrets(text: &str) -> String {
    if !text.contains("://") {
        return without_values(text);
    }
    let words: Vec<String> = text
        .split(' ')
        .map(|word| match word.find("://") {
            Some(at) => without_credentials(word, at + 3),
            None => word.to_owned(),
        })
        .collect();
    without_values(&words.join(" "))
}

/// A word whose authority begins at a byte, without the password in it.
fn without_credentials(word: &str, authority: usize) -> String {
    let (scheme, rest) = word.split_at(authority);
    // A password may hold every letter, an @ and a slash too: it reaches up to the last @.
    let user_ends = |who: &str| who.find([':', '@', '/', '?', '#']).unwrap_or(who.len());
    let Some(at) = rest.rfind('@') else {
        // Without a host, what stands behind a colon and is no port can be a password.
        return match rest.split_once(':') {
            Some((user, behind))
                if !user.contains(['/', '?', '#']) && !starts_with_port(behind) =>
            {
                format!("{scheme}{user}")
            }
            _ => rest_without_query(scheme, rest),
        };
    };
    let (who, where_to) = rest.split_at(at);
    let end = user_ends(who);
    let (user, secret) = who.split_at(end);
    match secret.chars().next() {
        // Only a name, or an @ in the path behind a host.
        None | Some('/') => rest_without_query(scheme, rest),
        // Whether the @ belongs to a password or to what stands behind the host cannot be told.
        Some(_) if secret.contains(['?', '#']) => format!("{scheme}{user}"),
        Some(_) => rest_without_query(scheme, &format!("{user}{where_to}")),
    }
}

/// Whether a port stands here, and behind it the path or nothing.
fn starts_with_port(text: &str) -> bool {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let behind = text.get(digits..).unwrap_or_default();
    digits > 0 && (behind.is_empty() || behind.starts_with(['/', '?', '#', ',']))
}

/// The options of an address of PostgreSQL are left out: their names may be written in ways that hide what they are.
fn rest_without_query(scheme: &str, rest: &str) -> String {
    let is_postgres = SCHEMES
        .iter()
        .any(|known| scheme.to_ascii_lowercase().ends_with(known));
    let rest = match rest.find(['?', '#']) {
        Some(end) if is_postgres => rest.split_at(end).0,
        _ => rest,
    };
    format!("{scheme}{rest}")
}

/// A text in which values that are called passwords are left out, up to the end of each.
fn without_values(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let mut kept = String::with_capacity(text.len());
    let mut from = 0;
    while let Some((start, end)) = value_of_secret(&lower, text, from) {
        kept.push_str(text.get(from..start).unwrap_or_default());
        kept.push_str("...");
        from = end;
    }
    kept.push_str(text.get(from..).unwrap_or_default());
    kept
}

/// Where the value of the next secret lies. `lower` is the text in small letters, with the same places.
fn value_of_secret(lower: &str, text: &str, from: usize) -> Option<(usize, usize)> {
    let mut from = from;
    loop {
        let (key, behind) = SECRETS
            .iter()
            .filter_map(|key| Some((from + lower.get(from..)?.find(key)?, key.len())))
            .min()?;
        from = key + behind;
        let rest = lower.get(from..)?;
        let equals = rest.trim_start();
        let Some(value) = equals.strip_prefix('=') else {
            continue;
        };
        let value = value.trim_start();
        let start = lower.len() - value.len();
        return Some((start, start + length_of_value(text.get(start..)?)));
    }
}

/// How long a value of a connection string is: up to a blank that is neither in quotes nor behind a backslash. One whose quote
/// does not end takes all.
fn length_of_value(text: &str) -> usize {
    let mut quote = None;
    let mut is_escaped = false;
    for (place, letter) in text.char_indices() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if quote == Some(letter) => quote = None,
            '\'' | '"' if quote.is_none() && place == 0 => quote = Some(letter),
            _ if quote.is_none() && letter.is_whitespace() => return place,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn addresses_are_told_from_files() {
        for address in [
            "postgres://ci@db/perf",
            "POSTGRES://ci@db/perf",
            "PostgreSQL://ci@db/perf",
            " \tpostgres://ci@db/perf",
            "host=db.example user=ci password=s3cret",
            "password = 's3cret' host=db",
            "  Host=db",
        ] {
            assert!(is_address(address), "{address}");
        }
        for file in [
            "history.db",
            "a=b",
            "./host=db",
            "hosts=3",
            "postgres:/x",
            "mysql://a@b",
            "",
            "=",
            "é",
        ] {
            assert!(!is_address(file), "{file}");
        }
    }

    #[test]
    fn secrets_of_words_are_left_out() {
        for (word, shown) in [
            ("plain", "plain"),
            (
                "--db=https://me:s3cret@host/x?y=1",
                "--db=https://me@host/x?y=1",
            ),
            ("https://host/a@b", "https://host/a@b"),
            ("https://host:8080/a", "https://host:8080/a"),
            ("https://host:8080/a@b", "https://host@b"),
            ("mysql://me:a:b@c@host", "mysql://me@host"),
            ("mysql://me:a/b?c@host", "mysql://me"),
            (
                "POSTGRES://ci:s3cret@db:5433/perf",
                "POSTGRES://ci@db:5433/perf",
            ),
            (
                "  postgres://ci:se@cr/et@db/perf",
                "  postgres://ci@db/perf",
            ),
            ("postgres://ci:s3?cret@db/perf", "postgres://ci"),
            (
                "postgres://ci@db/perf?pass%77ord=s3cret",
                "postgres://ci@db/perf",
            ),
            ("postgres://ci:s3cret", "postgres://ci"),
            (
                "--store=postgresql://ci:s3cret@db",
                "--store=postgresql://ci@db",
            ),
            (
                "host=db password=s3cret user=ci",
                "host=db password=... user=ci",
            ),
            (
                "host=db PassWord = 's3 \\'cret' user=ci",
                "host=db PassWord = ... user=ci",
            ),
            (
                "host=db password=s3\\ cret user=ci",
                "host=db password=... user=ci",
            ),
            ("PGPASSWORD=s3cret", "PGPASSWORD=..."),
            ("password='s3cret", "password=..."),
            ("no password here", "no password here"),
        ] {
            assert_eq!(without_secrets(word), shown);
        }
    }

    #[test]
    fn a_message_keeps_all_but_its_secrets() {
        for (text, shown) in [
            (
                "cannot read postgres://ci:s3cret@db/perf: there is no such file",
                "cannot read postgres://ci@db/perf: there is no such file",
            ),
            (
                "write it as postgres://USER@HOST:PORT/DATABASE, with the password in PGPASSWORD",
                "write it as postgres://USER@HOST:PORT/DATABASE, with the password in PGPASSWORD",
            ),
            (
                "\"host=db password=s3cret user=ci\" and https://a.b/c: gone",
                "\"host=db password=... user=ci\" and https://a.b/c: gone",
            ),
        ] {
            assert_eq!(text_without_secrets(text), shown);
        }
    }

    fn scheme() -> impl Strategy<Value = &'static str> {
        prop::sample::select(vec![
            "postgres://",
            "POSTGRES://",
            "PostgreSQL://",
            "  postgres://",
            "mysql://",
            "https://",
            "--db=postgres://",
        ])
    }

    proptest! {
        /// The marks stand around the password, which may be anything: no part of what is between them is shown.
        #[test]
        fn no_address_shows_its_password(
            scheme in scheme(),
            user in "[a-z]{0,8}",
            secret in "\u{1}[^\u{2}]{0,20}\u{1}",
            behind in "(:[0-9]{1,5})?(/[a-z]{0,5}(\\?[a-z]{1,5}=[a-z@:/?]{0,5})?)?",
        ) {
            let address = format!("{scheme}{user}:{secret}@db{behind}");
            let shown = without_secrets(&address);
            prop_assert!(!shown.contains('\u{1}'), "{shown:?}");
            prop_assert!(shown.starts_with(scheme), "{shown:?}");
        }

        #[test]
        fn no_connection_string_shows_its_password(
            key in prop::sample::select(vec!["password", "PASSWORD", "passWord", "sslpassword"]),
            blanks in " {0,2}",
            secret in "[^\\\\'\u{1}]{0,20}",
            is_quoted in any::<bool>(),
            before in "(host=[a-z]{1,5} ){0,2}",
            behind in "( user=[a-z]{1,5}){0,2}",
        ) {
            let secret = if is_quoted {
                format!("'\u{1}{}\u{1}'", secret.replace(' ', "\\'"))
            } else {
                format!("\u{1}{}\u{1}", secret.split_whitespace().collect::<Vec<_>>().join("\\ "))
            };
            let shown = without_secrets(&format!("{before}{key}{blanks}={blanks}{secret}{behind}"));
            prop_assert!(!shown.contains('\u{1}'), "{shown:?}");
            prop_assert!(shown.starts_with(&before) && shown.ends_with(&behind), "{shown:?}");
        }

        #[test]
        fn a_word_without_a_secret_stays(word in "[a-zA-Z0-9./_=-]{0,30}") {
            prop_assume!(SECRETS.iter().all(|key| !word.to_ascii_lowercase().contains(key)));
            prop_assert_eq!(without_secrets(&word), word);
        }

        #[test]
        fn any_text_is_taken(word in "\\PC{0,60}") {
            let once = without_secrets(&word);
            prop_assert_eq!(without_secrets(&once), once);
        }
    }
}
