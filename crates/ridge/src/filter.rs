//! Which files, kernels and launches a user means.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use regex_lite::Regex;
use ridge_collect::launches::closest;

use crate::error::ExpectedError;

/// A filter of names: everything, or what matches an expression.
#[derive(Clone, Debug, Default)]
pub(crate) struct NameFilter(Option<Regex>);

impl NameFilter {
    pub(crate) fn new(expression: Option<&str>) -> Result<Self, ExpectedError> {
        let compile = |expression: &str| {
            Regex::new(expression).map_err(|error| {
                ExpectedError::usage(format!("{expression:?} is no regular expression: {error}"))
                    .with_hint("put a backslash before characters that are meant as they are, such as ( and *")
            })
        };
        Ok(Self(expression.map(compile).transpose()?))
    }

    pub(crate) fn matches(&self, name: &str) -> bool {
        self.0
            .as_ref()
            .is_none_or(|expression| expression.is_match(name))
    }

    pub(crate) fn expression(&self) -> Option<&str> {
        self.0.as_ref().map(Regex::as_str)
    }
}

/// Which launches of a file: all, or one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Launches(Option<usize>);

impl Launches {
    pub(crate) fn new(only: Option<usize>) -> Self {
        Self(only)
    }

    pub(crate) fn contains(self, index: usize) -> bool {
        self.0.is_none_or(|only| only == index)
    }

    pub(crate) fn only(self) -> Option<usize> {
        self.0
    }
}

/// Which kernels of all inputs are meant.
pub(crate) struct Selection {
    pub(crate) names: NameFilter,
    pub(crate) launches: Launches,
}

impl Selection {
    /// Every launch of every kernel.
    pub(crate) fn all() -> Self {
        Self {
            names: NameFilter::default(),
            launches: Launches::default(),
        }
    }

    pub(crate) fn selects(
        &self,
        address: &Address,
        name: &str,
        signature: &str,
        launch: usize,
    ) -> bool {
        (self.names.matches(name) || self.names.matches(signature))
            && self.launches.contains(launch)
            && address.selects(name, launch)
    }
}

/// So many names are offered when none was meant.
const OFFERED: usize = 8;
/// So many are kept, to offer those that are closest to what was asked for.
const KEPT: usize = 512;

/// What a selection left out, to offer it when nothing else is left.
#[derive(Debug, Default)]
pub(crate) struct LeftOut {
    /// Different names, in order of appearance.
    names: Vec<String>,
    has_more: bool,
    last_launch: Option<usize>,
}

impl LeftOut {
    pub(crate) fn add(&mut self, name: &str, launch: usize) {
        self.last_launch = self.last_launch.max(Some(launch));
        if self.names.iter().any(|known| known == name) {
            return;
        }
        if self.names.len() < KEPT {
            self.names.push(name.to_owned());
        } else {
            self.has_more = true;
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        for name in &other.names {
            self.add(name, other.last_launch.unwrap_or_default());
        }
        self.has_more |= other.has_more;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The complaint that nothing in any input was selected.
    pub(crate) fn nothing_matches(&self, selection: &Selection) -> ExpectedError {
        let launch = selection.launches.only();
        match selection.names.expression() {
            // An expression is not close to any name.
            Some(name) => self.no_kernel(&format!("no kernel matches {name:?}"), "", launch),
            None => match launch {
                Some(launch) => ExpectedError::usage(format!("there is no launch {launch}"))
                    .with_hint(self.launches()),
                None => self.no_kernel("no kernel is selected", "", None),
            },
        }
    }

    /// The complaint that one address selects nothing.
    pub(crate) fn nothing_at(&self, address: &Address) -> ExpectedError {
        let name = address.kernel.as_deref().unwrap_or_default();
        self.no_kernel(
            &format!("{} holds no kernel {name:?}", address.text()),
            name,
            address.launch,
        )
    }

    /// The complaint that a file holds no such kernel.
    pub(crate) fn no_kernel_of(&self, file: &str, name: &str) -> ExpectedError {
        if self.is_empty() {
            return ExpectedError::usage(format!("{file} holds no kernel {name:?}, nor any other"));
        }
        self.no_kernel(&format!("{file} holds no kernel {name:?}"), name, None)
    }

    /// The names that are closest to the one that was asked for; without such a one, the first.
    fn no_kernel(&self, what: &str, asked: &str, launch: Option<usize>) -> ExpectedError {
        let all = self.names.iter().map(String::as_str);
        let mut names: Vec<&str> = match asked {
            "" => all.collect(),
            asked => closest(asked, all),
        };
        let more = if self.has_more || names.len() > OFFERED {
            ", …"
        } else {
            ""
        };
        names.truncate(OFFERED);
        let names = format!("one of {}{more}", names.join(", "));
        match launch {
            Some(launch) => ExpectedError::usage(format!("{what} at launch {launch}"))
                .with_hint(format!("{names}; {}", self.launches())),
            None => ExpectedError::usage(what).with_hint(names),
        }
    }

    fn launches(&self) -> String {
        format!(
            "launches are counted from 0; the last one is {}",
            self.last_launch.unwrap_or_default()
        )
    }
}

/// What a selection holds: groups of launches by name and first launch.
#[derive(Debug, Default)]
pub(crate) struct Selected(Vec<(String, usize)>);

impl Selected {
    pub(crate) fn add(&mut self, name: &str, launch: usize) {
        self.0.push((name.to_owned(), launch));
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.0.extend_from_slice(&other.0);
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// The complaint that what was given is about one kernel, and several are selected.
    pub(crate) fn are_several(&self) -> Option<ExpectedError> {
        if self.0.len() < 2 {
            return None;
        }
        let list: Vec<String> = self
            .0
            .iter()
            .take(OFFERED)
            .map(|(name, launch)| format!("{name} (--launch {launch})"))
            .collect();
        let more = if self.0.len() > list.len() {
            ", …"
        } else {
            ""
        };
        Some(
            ExpectedError::usage(format!(
                "--bytes and --flops are about one kernel at one size, and {} are selected",
                self.0.len()
            ))
            .with_hint(format!(
                "choose one with --kernel REGEX, --launch N or FILE#NAME@N: {}{more}",
                list.join(", ")
            )),
        )
    }
}

/// An input as it was named: a file, or one kernel of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) file: OsString,
    /// Base name of the kernel.
    pub(crate) kernel: Option<String>,
    pub(crate) launch: Option<usize>,
}

impl Address {
    /// Splits `FILE#NAME[@LAUNCH]`. A file whose name holds a `#` is meant when it exists. A name that is not Unicode
    /// is always that of a file.
    pub(crate) fn new(
        argument: &OsStr,
        exists: impl Fn(&OsStr) -> bool,
    ) -> Result<Self, ExpectedError> {
        let whole = Self::whole(argument);
        let parts = argument.to_str().and_then(|text| text.rsplit_once('#'));
        let Some((file, kernel)) = parts.filter(|_| !exists(argument)) else {
            return Ok(whole);
        };
        if file.is_empty() || kernel.is_empty() {
            return Ok(whole);
        }
        let (kernel, launch) = match kernel.rsplit_once('@') {
            Some((kernel, launch)) => {
                let launch = launch.parse().map_err(|_| {
                    ExpectedError::usage(format!("{launch:?} behind @ is no launch number"))
                        .with_hint("launches are counted from 0 in each file: FILE#NAME@0")
                })?;
                (kernel, Some(launch))
            }
            None => (kernel, None),
        };
        Ok(Self {
            file: file.into(),
            kernel: Some(kernel.to_owned()),
            launch,
        })
    }

    /// Splits an argument with a look at the files that exist.
    pub(crate) fn of_argument(argument: &OsStr) -> Result<Self, ExpectedError> {
        Self::new(argument, |file| Path::new(file).exists())
    }

    /// A file from which no kernel is selected; a `#` in its name is one.
    pub(crate) fn whole(file: &OsStr) -> Self {
        Self {
            file: file.to_owned(),
            kernel: None,
            launch: None,
        }
    }

    /// The file as it was named, as text: what is not Unicode is replaced.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        self.file.to_string_lossy()
    }

    pub(crate) fn selects(&self, name: &str, launch: usize) -> bool {
        self.kernel.as_deref().is_none_or(|kernel| kernel == name)
            && self.launch.is_none_or(|only| only == launch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Address {
        Address::new(OsStr::new(text), |file| file == "odd#name").unwrap()
    }

    #[test]
    fn addresses_are_split() {
        assert_eq!(address("a.rep").kernel, None);
        let one = address("a.rep#k@3");
        assert_eq!(
            (&*one.text(), one.kernel.as_deref(), one.launch),
            ("a.rep", Some("k"), Some(3))
        );
        assert!(one.selects("k", 3) && !one.selects("k", 2) && !one.selects("l", 3));
        assert_eq!(address("odd#name").kernel, None);
        assert!(Address::new(OsStr::new("a#k@x"), |_| false).is_err());
    }
}
