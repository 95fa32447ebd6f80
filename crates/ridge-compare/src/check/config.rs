//! `ridge.toml`: what a project asks of its kernels.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use ridge_bench::protocol::Mode;
use ridge_bench::spec::Place;
use ridge_model::quantity::{Bytes, Nanos};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Pattern, Rule};

/// What `ridge.toml` says to `ridge check`. The table `history` is that of `ridge history`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// Specs to measure where no result is named, relative to the file.
    pub specs: Vec<String>,
    /// The baseline where none is named.
    pub baseline: Option<String>,
    /// The line that names it.
    pub baseline_line: Option<usize>,
    /// The GPU to measure on.
    pub device: Option<String>,
    /// How far equal measurements differ on this machine, as a share.
    pub band: Option<f64>,
    /// What counts as the same, as a share.
    pub margin: Option<f64>,
    /// How long to go on measuring while a verdict is AMBIGUOUS.
    pub max_time: Option<Nanos>,
    /// What kernels may need.
    pub budgets: Vec<Budget>,
}

/// What some kernels may need at most, or have to reach at least. What is absent is not asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Budget {
    /// Kernels that it is for.
    pub kernel: Pattern,
    /// States that it is for: the name with the axes, such as `gemm[n=4096]`.
    pub state: Option<Pattern>,
    /// The mode that it is for.
    pub mode: Option<Mode>,
    /// Time at most.
    pub time: Option<Nanos>,
    /// Share of the lower bound at least.
    pub share_of_bound: Option<f64>,
    /// Registers of a thread at most.
    pub registers: Option<u32>,
    /// Local memory of a thread at most: what spilled, and arrays that are not in registers.
    pub local_memory: Option<Bytes>,
    /// Theoretical occupancy at least.
    pub occupancy: Option<f64>,
    /// Findings that must not come back.
    pub findings: Vec<String>,
    /// How much slower than the baseline it may be, as a share.
    pub slowdown: Option<f64>,
    /// Its line in the file.
    pub line: usize,
    /// The line of each of its keys.
    pub key_lines: BTreeMap<String, usize>,
}

impl Budget {
    /// The line of what it says about a rule.
    #[must_use]
    pub fn line_of(&self, rule: Rule) -> usize {
        let key = match rule {
            Rule::Time => "time",
            Rule::ShareOfBound => "share_of_bound",
            Rule::Registers => "registers",
            Rule::LocalMemory => "local_memory",
            Rule::Occupancy => "occupancy",
            Rule::Finding => "findings",
            Rule::Baseline => "slowdown",
            Rule::Validity | Rule::Completeness => "kernel",
        };
        self.key_lines.get(key).copied().unwrap_or(self.line)
    }
}

/// What is wrong with a configuration, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigError {
    message: String,
    hint: Option<String>,
    place: Option<Box<Place>>,
}

impl ConfigError {
    /// A name that does not change.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "CHK0001"
    }

    /// Where it is, if it is at one place.
    #[must_use]
    pub fn place(&self) -> Option<&Place> {
        self.place.as_deref()
    }

    /// What to write.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ConfigError {}

const CHECK_KEYS: &[&str] = &["spec", "baseline", "device", "band", "margin", "max_time"];
const BUDGET_KEYS: &[&str] = &[
    "kernel",
    "state",
    "mode",
    "time",
    "share_of_bound",
    "registers",
    "local_memory",
    "occupancy",
    "findings",
    "slowdown",
];
/// More budgets than a person writes; each is held against each kernel.
const MOST_BUDGETS: usize = 10_000;

impl Config {
    /// Reads a configuration.
    ///
    /// # Errors
    /// The first thing that is wrong, with its place.
    pub fn read(text: &str) -> Result<Self, ConfigError> {
        let reader = Reader { text };
        let table = DeTable::parse(text).map_err(|error| ConfigError {
            message: error.message().to_owned(),
            hint: None,
            place: error.span().map(|span| Box::new(Place::of(text, &span))),
        })?;
        let mut config = Self::default();
        for (key, value) in table.get_ref() {
            match key.get_ref().as_ref() {
                "check" => reader.check(reader.table("check", value)?, &mut config)?,
                "budget" => {
                    let DeValue::Array(budgets) = value.get_ref() else {
                        return Err(reader.wrong(
                            "budget is a list of tables",
                            "write [[budget]]",
                            &value.span(),
                        ));
                    };
                    if budgets.len() > MOST_BUDGETS {
                        return Err(reader.wrong(
                            &format!("{} budgets are more than {MOST_BUDGETS}", budgets.len()),
                            "one budget may be for many kernels: kernel = \"gemm*\"",
                            &value.span(),
                        ));
                    }
                    for budget in budgets.iter() {
                        config.budgets.push(reader.budget(budget)?);
                    }
                }
                "history" => {}
                other => {
                    return Err(reader.wrong(
                        &format!("{other:?} is no table of ridge.toml"),
                        "tables are [check], [[budget]] and [history]",
                        &key.span(),
                    ));
                }
            }
        }
        Ok(config)
    }
}

struct Reader<'t> {
    text: &'t str,
}

type Item<'t> = Spanned<DeValue<'t>>;

impl<'t> Reader<'t> {
    fn wrong(&self, message: &str, hint: &str, span: &Range<usize>) -> ConfigError {
        ConfigError {
            message: message.to_owned(),
            hint: Some(hint.to_owned()),
            place: Some(Box::new(Place::of(self.text, span))),
        }
    }

    fn table<'a>(&self, name: &str, value: &'a Item<'t>) -> Result<&'a DeTable<'t>, ConfigError> {
        match value.get_ref() {
            DeValue::Table(table) => Ok(table),
            _ => Err(self.wrong(
                &format!("{name} is a table"),
                &format!("write [{name}]"),
                &value.span(),
            )),
        }
    }

    fn check(&self, table: &DeTable<'t>, config: &mut Config) -> Result<(), ConfigError> {
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "spec" => config.specs = self.texts("spec", value)?,
                "baseline" => {
                    config.baseline = Some(self.string("baseline", value)?);
                    config.baseline_line = Some(Place::of(self.text, &key.span()).line);
                }
                "device" => config.device = Some(self.string("device", value)?),
                "band" => config.band = Some(self.share("band", value, 0.0)?),
                "margin" => config.margin = Some(self.share("margin", value, f64::MIN_POSITIVE)?),
                "max_time" => config.max_time = Some(self.time("max_time", value)?),
                other => return Err(self.unknown(other, "[check]", CHECK_KEYS, &key.span())),
            }
        }
        Ok(())
    }

    fn budget(&self, item: &Item<'t>) -> Result<Budget, ConfigError> {
        let table = self.table("budget", item)?;
        // The span of a table in a list may be empty; its first key stands right below its header.
        let first = table
            .iter()
            .map(|(key, _)| key.span())
            .min_by_key(|span| span.start);
        let mut budget = Budget {
            kernel: Pattern::new("*"),
            state: None,
            mode: None,
            time: None,
            share_of_bound: None,
            registers: None,
            local_memory: None,
            occupancy: None,
            findings: Vec::new(),
            slowdown: None,
            line: Place::of(self.text, &first.clone().unwrap_or(item.span())).line,
            key_lines: table
                .iter()
                .map(|(key, _)| {
                    let line = Place::of(self.text, &key.span()).line;
                    (key.get_ref().as_ref().to_owned(), line)
                })
                .collect(),
        };
        let mut is_named = false;
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            match name {
                "kernel" => {
                    is_named = true;
                    budget.kernel = Pattern::new(&self.string(name, value)?);
                }
                "state" => {
                    is_named = true;
                    budget.state = Some(Pattern::new(&self.string(name, value)?));
                }
                "mode" => budget.mode = Some(self.mode(value)?),
                "time" => budget.time = Some(self.time(name, value)?),
                "share_of_bound" => budget.share_of_bound = Some(self.share(name, value, 0.0)?),
                "registers" => budget.registers = Some(self.whole(name, value)?),
                "local_memory" => budget.local_memory = Some(self.bytes(name, value)?),
                "occupancy" => budget.occupancy = Some(self.share(name, value, 0.0)?),
                "findings" => budget.findings = self.findings(value)?,
                "slowdown" => budget.slowdown = Some(self.share(name, value, 0.0)?),
                other => return Err(self.unknown(other, "[[budget]]", BUDGET_KEYS, &key.span())),
            }
        }
        let span = first.unwrap_or(item.span());
        if !is_named {
            return Err(self.wrong(
                "a budget has to say which kernels it is for",
                "kernel = \"gemm*\", or kernel = \"*\" for all",
                &span,
            ));
        }
        if !budget.asks() {
            return Err(self.wrong(
                "the budget asks for nothing",
                "give it time, share_of_bound, registers, local_memory, occupancy, findings or slowdown",
                &span,
            ));
        }
        Ok(budget)
    }

    /// Names of findings. One that no finding has would never come back.
    fn findings(&self, value: &Item<'t>) -> Result<Vec<String>, ConfigError> {
        let findings = self.texts("findings", value)?;
        match findings
            .iter()
            .find(|name| !ridge_diagnose::ids().any(|id| id == name.as_str()))
        {
            None => Ok(findings),
            Some(other) => Err(self.wrong(
                &format!("no finding is called {other:?}"),
                "`ridge explain` lists them",
                &value.span(),
            )),
        }
    }

    fn unknown(&self, key: &str, table: &str, known: &[&str], span: &Range<usize>) -> ConfigError {
        self.wrong(
            &format!("{key:?} means nothing in {table}"),
            &format!("keys of {table}: {}", known.join(", ")),
            span,
        )
    }

    fn string(&self, key: &str, value: &Item<'t>) -> Result<String, ConfigError> {
        match value.get_ref() {
            DeValue::String(text) => Ok(text.as_ref().to_owned()),
            _ => Err(self.wrong(
                &format!("{key} is a text"),
                &format!("{key} = \"…\""),
                &value.span(),
            )),
        }
    }

    /// One text, or a list of them.
    fn texts(&self, key: &str, value: &Item<'t>) -> Result<Vec<String>, ConfigError> {
        match value.get_ref() {
            DeValue::Array(items) => items.iter().map(|item| self.string(key, item)).collect(),
            _ => Ok(vec![self.string(key, value)?]),
        }
    }

    fn number(&self, value: &Item<'t>) -> Option<f64> {
        match value.get_ref() {
            DeValue::Integer(integer) => i64::from_str_radix(integer.as_str(), integer.radix())
                .ok()
                .map(|number| number as f64),
            DeValue::Float(float) => float.as_str().parse().ok(),
            _ => None,
        }
    }

    /// A number such as 0.05, or a text such as "5 %": at least `least` and at most 1.
    fn share(&self, key: &str, value: &Item<'t>, least: f64) -> Result<f64, ConfigError> {
        let percent = || match value.get_ref() {
            DeValue::String(text) => {
                let number = text.trim().strip_suffix('%')?.trim().parse::<f64>().ok()?;
                Some(number / 100.0)
            }
            _ => None,
        };
        self.number(value)
            .or_else(percent)
            .filter(|share| (least..=1.0).contains(share))
            .ok_or_else(|| {
                self.wrong(
                    &format!("{key} is a share from 0 to 1"),
                    &format!("{key} = 0.05, or {key} = \"5 %\""),
                    &value.span(),
                )
            })
    }

    fn time(&self, key: &str, value: &Item<'t>) -> Result<Nanos, ConfigError> {
        self.string(key, value)
            .ok()
            .and_then(|text| text.parse::<Nanos>().ok())
            .filter(|time| time.get() > 0.0 && time.get().is_finite())
            .ok_or_else(|| {
                self.wrong(
                    &format!("{key} is a time"),
                    &format!("{key} = \"120 us\""),
                    &value.span(),
                )
            })
    }

    fn whole(&self, key: &str, value: &Item<'t>) -> Result<u32, ConfigError> {
        self.number(value)
            .filter(|number| (0.0..=1e6).contains(number) && number.fract() <= 0.0)
            .map(|number| number as u32)
            .ok_or_else(|| {
                self.wrong(
                    &format!("{key} is a whole number"),
                    &format!("{key} = 64"),
                    &value.span(),
                )
            })
    }

    /// A number of bytes, or a text such as "1 KiB".
    fn bytes(&self, key: &str, value: &Item<'t>) -> Result<Bytes, ConfigError> {
        let typed = || self.string(key, value).ok()?.parse::<Bytes>().ok();
        self.number(value)
            .filter(|number| *number >= 0.0 && number.is_finite())
            .map(Bytes::new)
            .or_else(typed)
            .ok_or_else(|| {
                self.wrong(
                    &format!("{key} is a number of bytes"),
                    &format!("{key} = 0, or {key} = \"1 KiB\""),
                    &value.span(),
                )
            })
    }

    fn mode(&self, value: &Item<'t>) -> Result<Mode, ConfigError> {
        let word = self.string("mode", value)?;
        let known = || Mode::ALL.map(Mode::name).join(", ");
        Mode::ALL
            .into_iter()
            .find(|mode| mode.name() == word)
            .ok_or_else(|| {
                self.wrong(
                    &format!("{word:?} is no mode"),
                    &format!("modes: {}", known()),
                    &value.span(),
                )
            })
    }
}

impl Budget {
    /// Whether it asks for anything.
    fn asks(&self) -> bool {
        self.time.is_some()
            || self.share_of_bound.is_some()
            || self.registers.is_some()
            || self.local_memory.is_some()
            || self.occupancy.is_some()
            || !self.findings.is_empty()
            || self.slowdown.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_can_be_asked_for() {
        let config = Config::read(
            r#"
[history]
record = true

[check]
spec = "bench/gemm.toml"
baseline = "branch:main"
device = "cuda:0"
band = "1 %"
margin = 0.02
max_time = "30 s"

[[budget]]
kernel = "gemm*"
state = "*n=4096*"
mode = "cold"
time = "1.2 ms"
share_of_bound = 0.8
registers = 64
local_memory = 0
occupancy = "50 %"
findings = ["register-spill", "uncoalesced-global"]
slowdown = "5 %"

[[budget]]
kernel = "*"
findings = "bank-conflicts"
"#,
        )
        .unwrap();
        assert_eq!(config.specs, ["bench/gemm.toml"]);
        assert_eq!(config.baseline.as_deref(), Some("branch:main"));
        assert_eq!(config.band, Some(0.01));
        assert_eq!(config.max_time, Some(Nanos::new(30e9)));
        let [gemm, all] = config.budgets.as_slice() else {
            panic!("{config:?}")
        };
        assert_eq!(gemm.time, Some(Nanos::new(1.2e6)));
        assert_eq!((gemm.occupancy, gemm.slowdown), (Some(0.5), Some(0.05)));
        assert_eq!(gemm.local_memory, Some(Bytes::new(0.0)));
        assert_eq!(gemm.line, 14);
        assert_eq!(all.findings, ["bank-conflicts"]);
        assert_eq!(Config::read("").unwrap(), Config::default());
    }

    #[test]
    fn mistakes_are_told_at_their_place() {
        for (text, line, message) in [
            ("[check]\nbaselin = \"x\"", 2, "means nothing in [check]"),
            (
                "[[budget]]\nkernel = \"a\"\nspils = 0",
                3,
                "means nothing in [[budget]]",
            ),
            ("[[budget]]\nkernel = \"a\"", 2, "asks for nothing"),
            ("[[budget]]\ntime = \"1 us\"", 2, "which kernels"),
            ("[[budget]]\nkernel = \"a\"\ntime = 3", 3, "time is a time"),
            (
                "[[budget]]\nkernel = \"a\"\ntime = \"-1 us\"",
                3,
                "time is a time",
            ),
            (
                "[[budget]]\nkernel = \"a\"\noccupancy = 50",
                3,
                "a share from 0 to 1",
            ),
            (
                "[[budget]]\nkernel = \"a\"\nregisters = 1.5",
                3,
                "a whole number",
            ),
            (
                "[[budget]]\nkernel = \"a\"\nmode = \"warm\"",
                3,
                "is no mode",
            ),
            ("[budget]\nkernel = \"a\"", 1, "a list of tables"),
            ("[check]\nband = nan", 2, "a share from 0 to 1"),
            ("[check]\nspec = [1]", 2, "spec is a text"),
            ("check = 1", 1, "check is a table"),
            (
                "[[budgets]]\nkernel = \"a\"",
                1,
                "is no table of ridge.toml",
            ),
            (
                "[[budget]]\nkernel = \"a\"\nfindings = \"register-spil\"",
                3,
                "no finding is called \"register-spil\"",
            ),
        ] {
            let error = Config::read(text).unwrap_err();
            assert!(error.to_string().contains(message), "{text}: {error}");
            assert_eq!(error.place().unwrap().line, line, "{text}");
            assert!(error.hint().is_some(), "{text}");
        }
        let broken = Config::read("[check\n").unwrap_err();
        assert!(broken.place().is_some());
    }
}
