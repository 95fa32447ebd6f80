//! Names of kernels: which there are, and what is shown of them.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

use super::vocabulary::{is_telling, without_file};
use crate::wire::Message;

/// Names for the list of what was kept are not collected beyond this.
const MAX_LISTED: usize = 10_000;

/// All kernels of a report, numbered from 1 in order of appearance.
#[derive(Debug, Default)]
pub(super) struct Kernels<'a> {
    /// By mangled name; by another one where that is missing.
    numbers: HashMap<Cow<'a, str>, u64>,
    /// By function name; the first kernel of a function's instances.
    functions: HashMap<Cow<'a, str>, u64>,
    /// Kernels whose names tell more than a name.
    telling: HashSet<u64>,
    last: u64,
    listed: BTreeSet<String>,
}

/// The three names of a kernel.
#[derive(Default)]
struct Names<'a> {
    mangled: Option<Cow<'a, str>>,
    function: Option<Cow<'a, str>>,
    demangled: Option<Cow<'a, str>>,
}

/// What is shown of a kernel's names.
#[derive(Clone, Debug)]
pub(super) enum Shown {
    /// The names, less the names of files in them.
    Names,
    /// This name instead of all of them.
    Renamed(String),
}

impl Shown {
    pub(super) fn name<'n>(&self, name: &'n str) -> Cow<'n, str> {
        match self {
            Self::Names => clean(name),
            Self::Renamed(renamed) => Cow::Owned(renamed.clone()),
        }
    }
}

/// The name without the name of its file.
fn clean(name: &str) -> Cow<'_, str> {
    without_file(name).map_or(Cow::Borrowed(name), Cow::Owned)
}

fn renamed(number: u64) -> String {
    format!("kernel_{number}")
}

impl<'a> Names<'a> {
    fn read(result: Message<'a>) -> Self {
        let mut names = Self::default();
        for field in result.fields().map_while(Result::ok) {
            let name = match field.number {
                5 => &mut names.mangled,
                6 => &mut names.function,
                7 => &mut names.demangled,
                _ => continue,
            };
            if let Some(text) = field.value.text() {
                *name = Some(text).filter(|text| !text.is_empty());
            }
        }
        names
    }

    fn key(&self) -> Option<&Cow<'a, str>> {
        self.mangled
            .as_ref()
            .or(self.demangled.as_ref())
            .or(self.function.as_ref())
    }

    /// Whether one of the names that a result stores, repeated ones included, tells more than a name.
    fn is_telling(result: Message<'_>) -> bool {
        result
            .fields()
            .map_while(Result::ok)
            .filter(|field| (5..=7).contains(&field.number))
            .filter_map(|field| field.value.text())
            .any(|name| is_telling(&clean(&name)))
    }
}

impl<'a> Kernels<'a> {
    /// Takes note of a kernel result.
    pub(super) fn add(&mut self, result: Message<'a>) {
        let names = Names::read(result);
        let Some(key) = names.key() else {
            return;
        };
        let last = &mut self.last;
        let number = *self.numbers.entry(key.clone()).or_insert_with(|| {
            *last = last.saturating_add(1);
            *last
        });
        if Names::is_telling(result) {
            self.telling.insert(number);
        }
        if let Some(function) = names.function {
            self.functions.entry(function).or_insert(number);
        }
    }

    /// What is shown of the names of a kernel result.
    pub(super) fn show(&mut self, result: Message<'_>, rename: bool) -> Shown {
        let names = Names::read(result);
        let number = names
            .key()
            .and_then(|key| self.numbers.get(&**key))
            .copied();
        match number {
            Some(number) if rename || self.telling.contains(&number) => {
                Shown::Renamed(renamed(number))
            }
            // Its last names are empty, but it may store others before them.
            None if rename || Names::is_telling(result) => Shown::Renamed("kernel".to_owned()),
            _ => {
                let name = names.demangled.or(names.function).or(names.mangled);
                if let Some(name) = name {
                    self.list(&clean(&name));
                }
                Shown::Names
            }
        }
    }

    /// What is shown of a function's symbol; absent if it is no kernel that was profiled.
    pub(super) fn symbol(&self, symbol: &str, rename: bool) -> Option<String> {
        let number = *self.numbers.get(symbol)?;
        Some(match rename || self.telling.contains(&number) {
            true => renamed(number),
            false => clean(symbol).into_owned(),
        })
    }

    /// What is shown of a function name that stands for itself, as in the metrics of a graph.
    pub(super) fn function(&mut self, name: &str, rename: bool) -> String {
        let known = self.functions.get(name).copied();
        let is_kept = !rename
            && !is_telling(&clean(name))
            && !known.is_some_and(|number| self.telling.contains(&number));
        if is_kept {
            let name = clean(name);
            self.list(&name);
            return name.into_owned();
        }
        let number = known.unwrap_or_else(|| {
            self.last = self.last.saturating_add(1);
            self.functions
                .insert(Cow::Owned(name.to_owned()), self.last);
            self.last
        });
        renamed(number)
    }

    fn list(&mut self, name: &str) {
        if self.listed.len() < MAX_LISTED && !self.listed.contains(name) {
            self.listed.insert(name.to_owned());
        }
    }

    /// The names that were shown.
    pub(super) fn into_shown(self) -> Vec<String> {
        self.listed.into_iter().collect()
    }
}
