//! Which kernels and launches a user means.

use regex_lite::Regex;

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

/// An input as it was named: a file, or one kernel of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) file: String,
    /// Base name of the kernel.
    pub(crate) kernel: Option<String>,
    pub(crate) launch: Option<usize>,
}

impl Address {
    /// Splits `FILE#NAME[@LAUNCH]`. A file whose name holds a `#` is meant when it exists.
    pub(crate) fn new(text: &str, exists: impl Fn(&str) -> bool) -> Result<Self, ExpectedError> {
        let whole = Self {
            file: text.to_owned(),
            kernel: None,
            launch: None,
        };
        let Some((file, kernel)) = text.rsplit_once('#').filter(|_| !exists(text)) else {
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
            file: file.to_owned(),
            kernel: Some(kernel.to_owned()),
            launch,
        })
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
        Address::new(text, |file| file == "odd#name").unwrap()
    }

    #[test]
    fn addresses_are_split() {
        assert_eq!(address("a.rep").kernel, None);
        let one = address("a.rep#k@3");
        assert_eq!(
            (one.file.as_str(), one.kernel.as_deref(), one.launch),
            ("a.rep", Some("k"), Some(3))
        );
        assert!(one.selects("k", 3) && !one.selects("k", 2) && !one.selects("l", 3));
        assert_eq!(address("odd#name").kernel, None);
        assert!(Address::new("a#k@x", |_| false).is_err());
    }
}
