//! What an address says of encryption and the client does not know: `sslmode=verify-full`, and `sslrootcert`.

use super::tls::Proof;

const MODE: &str = "sslmode";
const ROOTS: &str = "sslrootcert";

/// The address as the client takes it, and how the server has to show who it is. Where it has to, the address asks for encryption.
///
/// # Errors
/// In words that hold no part of the address, when the two do not go together.
pub(super) fn taken(address: &str) -> Result<(String, Proof), &'static str> {
    let mut options = if address.contains("://") {
        Options::of_url(address)
    } else {
        Options::of_words(address)
    };
    let roots = options.take(ROOTS)?;
    let mode = options.get(MODE);
    let is_verified = match mode.as_deref() {
        Some("verify-full") => true,
        Some("verify-ca") => {
            return Err("sslmode=verify-ca is not there; take sslmode=verify-full");
        }
        None | Some("disable" | "prefer" | "require") => false,
        Some(_) => return Err("sslmode is disable, prefer, require or verify-full"),
    };
    if !is_verified {
        return match roots {
            Some(_) => {
                Err("sslrootcert goes with sslmode=verify-full, and is for nothing without it")
            }
            None => Ok((address.to_owned(), Proof::None)),
        };
    }
    options.take(MODE)?;
    options.add(MODE, "require");
    let proof = match roots {
        None => Proof::OfSystem,
        Some(roots) if roots == "system" => Proof::OfSystem,
        Some(roots) => Proof::OfFile(roots),
    };
    Ok((options.text(), proof))
}

/// The options of an address, each with its text.
struct Options<'a> {
    before: &'a str,
    parts: Vec<(String, String)>,
    is_url: bool,
}

impl<'a> Options<'a> {
    /// `…?key=value&key=value`, of which the first part ends behind the last `@`: a password may hold a question mark.
    fn of_url(address: &'a str) -> Self {
        let host = address.rfind('@').unwrap_or(0);
        let (before, query) = match address.get(host..).and_then(|text| text.find('?')) {
            Some(mark) => address.split_at(host + mark),
            None => (address, ""),
        };
        let parts = query
            .trim_start_matches('?')
            .split('&')
            .filter(|part| !part.is_empty())
            .map(|part| {
                let (key, value) = part.split_once('=').unwrap_or((part, ""));
                // As it stands where it is not taken: what is wrong with it, the client says.
                (decoded(key), format!("{}={value}", key))
            })
            .collect();
        Self {
            before,
            parts,
            is_url: true,
        }
    }

    /// `key = 'value' key=value`, with a backslash before a quote or a backslash.
    fn of_words(address: &'a str) -> Self {
        let mut parts = Vec::new();
        let mut rest = address.trim_start();
        while !rest.is_empty() {
            let equals = rest.find('=').map_or(rest.len(), |at| at + 1);
            let value = rest.get(equals..).unwrap_or_default();
            let blanks = value.len() - value.trim_start().len();
            let end = equals + blanks + length(value.trim_start());
            let (part, behind) = rest.split_at(end);
            let key = part.split('=').next().unwrap_or_default().trim();
            parts.push((key.to_owned(), part.to_owned()));
            rest = behind.trim_start();
        }
        Self {
            before: "",
            parts,
            is_url: false,
        }
    }

    fn get(&self, key: &str) -> Option<String> {
        // The last one counts, as for the client.
        let (_, text) = self.parts.iter().rfind(|(name, _)| name == key)?;
        let (_, value) = text.split_once('=')?;
        Some(if self.is_url {
            decoded(value)
        } else {
            unquoted(value.trim_start())
        })
    }

    /// An option that is left out of the address from here on.
    fn take(&mut self, key: &str) -> Result<Option<String>, &'static str> {
        let value = self.get(key);
        self.parts.retain(|(name, _)| name != key);
        match value {
            Some(value) if value.is_empty() => Err("sslrootcert names no file"),
            value => Ok(value),
        }
    }

    fn add(&mut self, key: &str, value: &str) {
        self.parts.push((key.to_owned(), format!("{key}={value}")));
    }

    fn text(&self) -> String {
        let parts: Vec<&str> = self.parts.iter().map(|(_, text)| text.as_str()).collect();
        if self.is_url {
            format!("{}?{}", self.before, parts.join("&"))
        } else {
            parts.join(" ")
        }
    }
}

/// How long a value of a connection string is.
fn length(text: &str) -> usize {
    let is_quoted = text.starts_with('\'');
    let mut is_escaped = false;
    for (place, letter) in text.char_indices().skip(usize::from(is_quoted)) {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '\'' if is_quoted => return place + 1,
            _ if !is_quoted && letter.is_whitespace() => return place,
            _ => {}
        }
    }
    text.len()
}

fn unquoted(value: &str) -> String {
    let inner = value
        .strip_prefix('\'')
        .and_then(|text| text.strip_suffix('\''));
    let mut out = String::new();
    let mut is_escaped = false;
    for letter in inner.unwrap_or(value).chars() {
        if letter == '\\' && !is_escaped {
            is_escaped = true;
        } else {
            out.push(letter);
            is_escaped = false;
        }
    }
    out
}

/// Text with percent codes in place of bytes. What is no code stays as it is.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let code = behind.get(..2).filter(|_| *first == b'%');
        let code = code.and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = behind.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_client_does_not_know_is_taken_out() {
        let file = |name: &str| Proof::OfFile(name.to_owned());
        for (address, rest, proof) in [
            (
                "postgres://ci@db/perf",
                "postgres://ci@db/perf",
                Proof::None,
            ),
            (
                "postgres://ci:a?sslmode=x@db/perf?sslmode=require",
                "postgres://ci:a?sslmode=x@db/perf?sslmode=require",
                Proof::None,
            ),
            (
                "postgres://ci@db/perf?connect_timeout=3&sslmode=verify-full",
                "postgres://ci@db/perf?connect_timeout=3&sslmode=require",
                Proof::OfSystem,
            ),
            (
                "postgres://ci@db/perf?sslmode=verify-full&sslrootcert=system",
                "postgres://ci@db/perf?sslmode=require",
                Proof::OfSystem,
            ),
            (
                "postgres://ci@db/perf?sslrootcert=%2Fa%20b%2Fc.pem&sslmode=verify-full&application_name=a%26b",
                "postgres://ci@db/perf?application_name=a%26b&sslmode=require",
                file("/a b/c.pem"),
            ),
            (
                "host=db user=ci sslmode = 'verify-full' password='a b=\\'c' sslrootcert='/x y/\\\\z.pem'",
                "host=db user=ci password='a b=\\'c' sslmode=require",
                file("/x y/\\z.pem"),
            ),
            (
                "host=db user=ci sslmode=disable",
                "host=db user=ci sslmode=disable",
                Proof::None,
            ),
        ] {
            assert_eq!(taken(address), Ok((rest.to_owned(), proof)), "{address}");
        }
        for (address, reason) in [
            ("postgres://ci@db/perf?sslmode=verify-ca", "verify-full"),
            ("postgres://ci@db/perf?sslmode=on", "disable, prefer"),
            ("postgres://ci@db/perf?sslrootcert=a.pem", "goes with"),
            ("host=db sslmode=require sslrootcert=a.pem", "goes with"),
            (
                "postgres://ci@db/perf?sslmode=verify-full&sslrootcert=",
                "no file",
            ),
        ] {
            let error = taken(address).unwrap_err();
            assert!(error.contains(reason), "{address}: {error}");
        }
    }

    #[test]
    fn any_text_is_taken_apart() {
        for text in [
            "",
            "=",
            "'",
            "a='",
            "a=\\",
            "?",
            "://?&=&",
            "é=é ü",
            "a = ",
            "%",
            "://?%zz=%f",
        ] {
            let _ = taken(text);
        }
    }
}
