//! TOML to a spec. Every key is looked up in [`super::keys`] first, so that a mistake is told where it stands.

use std::ops::Range;

use ridge_model::NumberFormat;
use ridge_numerics::tolerance::Preset;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::axis;
use super::keys::{self, Key, Table};
use super::{
    Axis, Buffer, Check, CheckMode, ElementType, Formula, Init, InitFormula, Kernel, Launch, Place,
    Problem, Reference, Scalar, Spec, SpecError, Timing, Tolerance,
};
use crate::expression::{Expression, Value, nearest};

type Entry<'a, 't> = (&'a str, Range<usize>, &'a Spanned<DeValue<'t>>);

/// The most elements of an expression that a check computes when nothing is said: one wrong element of a thousand is all
/// but surely among these.
const SAMPLES: u64 = 1 << 16;
/// The same of an expression with sums, each of which may take as long as a thousand elements.
const SAMPLES_OF_SUMS: u64 = 1024;

impl Spec {
    /// Reads a spec.
    ///
    /// # Errors
    /// What is wrong, with its place.
    pub fn read(text: &str) -> Result<Self, SpecError> {
        let reader = Reader { text };
        let table = DeTable::parse(text).map_err(|error| SpecError {
            problem: Problem::Syntax(error.message().to_owned()),
            place: error.span().map(|span| Box::new(Place::of(text, &span))),
        })?;
        reader.spec(table.get_ref())
    }
}

struct Reader<'t> {
    text: &'t str,
}

/// A table whose keys were looked up.
struct Fields<'a, 't> {
    title: String,
    span: Range<usize>,
    entries: Vec<(&'static Key, Range<usize>, &'a Spanned<DeValue<'t>>)>,
}

impl<'a, 't> Fields<'a, 't> {
    fn get(&self, name: &str) -> Option<&'a Spanned<DeValue<'t>>> {
        self.entries
            .iter()
            .find(|(key, _, _)| key.name == name)
            .map(|(_, _, value)| *value)
    }

    fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }
}

impl<'t> Reader<'t> {
    fn error(&self, problem: Problem, span: &Range<usize>) -> SpecError {
        SpecError {
            problem,
            place: Some(Box::new(Place::of(self.text, span))),
        }
    }

    /// The entries of a table in the order of the text.
    fn entries<'a>(table: &'a DeTable<'t>) -> Vec<Entry<'a, 't>> {
        let mut entries: Vec<Entry<'a, 't>> = table
            .iter()
            .map(|(key, value)| (key.get_ref().as_ref(), key.span(), value))
            .collect();
        entries.sort_by_key(|(_, span, _)| span.start);
        entries
    }

    fn fields<'a>(
        &self,
        known: &'static Table,
        title: &str,
        table: &'a DeTable<'t>,
        span: Range<usize>,
    ) -> Result<Fields<'a, 't>, SpecError> {
        let mut entries: Vec<(&'static Key, Range<usize>, &'a Spanned<DeValue<'t>>)> = Vec::new();
        for (name, place, value) in Self::entries(table) {
            let is = |key: &&Key| key.name == name || (key.also == name && !key.also.is_empty());
            let Some(key) = known.keys.iter().find(is) else {
                let names = known
                    .keys
                    .iter()
                    .flat_map(|key| [key.name, key.also])
                    .filter(|name| !name.is_empty());
                return Err(self.error(
                    Problem::UnknownKey {
                        key: name.to_owned(),
                        table: title.to_owned(),
                        nearest: nearest(name, names),
                        known: known.keys.iter().map(|key| key.name).collect(),
                    },
                    &place,
                ));
            };
            if entries
                .iter()
                .any(|(other, _, _)| std::ptr::eq(*other, key))
            {
                return Err(self.error(
                    Problem::Twice {
                        key: key.name,
                        also: key.also,
                    },
                    &place,
                ));
            }
            entries.push((key, place, value));
        }
        for key in known.keys.iter().filter(|key| key.is_required) {
            if !entries
                .iter()
                .any(|(other, _, _)| std::ptr::eq(*other, key))
            {
                return Err(self.error(
                    Problem::MissingKey {
                        key: key.name,
                        table: title.to_owned(),
                    },
                    &span,
                ));
            }
        }
        Ok(Fields {
            title: title.to_owned(),
            span,
            entries,
        })
    }

    fn wrong(&self, key: &str, expected: &str, value: &Spanned<DeValue<'t>>) -> SpecError {
        self.error(
            Problem::WrongType {
                key: key.to_owned(),
                expected: expected.to_owned(),
                found: describe(value.get_ref()),
            },
            &value.span(),
        )
    }

    fn text(&self, key: &str, value: &Spanned<DeValue<'t>>) -> Result<String, SpecError> {
        value
            .get_ref()
            .as_str()
            .map(str::to_owned)
            .ok_or_else(|| self.wrong(key, "a text", value))
    }

    fn texts(
        &self,
        key: &str,
        value: Option<&Spanned<DeValue<'t>>>,
    ) -> Result<Vec<String>, SpecError> {
        let Some(value) = value else {
            return Ok(Vec::new());
        };
        let list = value
            .get_ref()
            .as_array()
            .ok_or_else(|| self.wrong(key, "a list of texts", value))?;
        list.iter().map(|item| self.text(key, item)).collect()
    }

    fn table<'a>(
        &self,
        key: &str,
        value: &'a Spanned<DeValue<'t>>,
    ) -> Result<&'a DeTable<'t>, SpecError> {
        value
            .get_ref()
            .as_table()
            .ok_or_else(|| self.wrong(key, "a table", value))
    }

    /// A number or an expression.
    fn formula(&self, key: &str, value: &Spanned<DeValue<'t>>) -> Result<Formula, SpecError> {
        let span = value.span();
        let written = self.text.get(span.clone()).unwrap_or_default();
        let (text, span, is_verbatim) = match value.get_ref() {
            DeValue::Integer(_) | DeValue::Float(_) => {
                let number = self.number(key, value)?;
                (number.to_string(), span, false)
            }
            DeValue::String(text) => {
                // The text between plain quotes, where nothing is escaped, is the expression itself.
                let is_verbatim = written.len() == text.len() + 2
                    && written.get(1..written.len() - 1) == Some(text.as_ref());
                let inner = if is_verbatim {
                    span.start + 1..span.end - 1
                } else {
                    span
                };
                (text.to_string(), inner, is_verbatim)
            }
            _ => return Err(self.wrong(key, "a number or an expression", value)),
        };
        match Expression::parse(&text) {
            Ok(expression) => Ok(Formula {
                expression,
                span,
                is_verbatim,
                key: key.to_owned(),
            }),
            Err(error) => {
                let place = if is_verbatim {
                    let inner = error.span();
                    span.start + inner.start..span.start + inner.end.max(inner.start + 1)
                } else {
                    span
                };
                Err(self.error(Problem::Expression(error), &place))
            }
        }
    }

    fn optional(&self, fields: &Fields<'_, 't>, key: &str) -> Result<Option<Formula>, SpecError> {
        fields
            .get(key)
            .map(|value| self.formula(key, value))
            .transpose()
    }

    /// One expression or up to three.
    fn extent(&self, key: &str, value: &Spanned<DeValue<'t>>) -> Result<Vec<Formula>, SpecError> {
        match value.get_ref().as_array() {
            None => Ok(vec![self.formula(key, value)?]),
            Some(list) if (1..=3).contains(&list.len()) => {
                list.iter().map(|item| self.formula(key, item)).collect()
            }
            Some(_) => Err(self.wrong(key, "one expression or a list of up to three", value)),
        }
    }

    fn formulas(
        &self,
        key: &str,
        value: Option<&Spanned<DeValue<'t>>>,
    ) -> Result<Vec<Formula>, SpecError> {
        let Some(value) = value else {
            return Ok(Vec::new());
        };
        match value.get_ref().as_array() {
            None => Ok(vec![self.formula(key, value)?]),
            Some(list) => list.iter().map(|item| self.formula(key, item)).collect(),
        }
    }

    /// A number of its own.
    fn number(&self, key: &str, value: &Spanned<DeValue<'t>>) -> Result<Value, SpecError> {
        let number = match value.get_ref() {
            DeValue::Integer(integer) => i64::from_str_radix(integer.as_str(), integer.radix())
                .ok()
                .map(Value::Int),
            DeValue::Float(float) => float
                .as_str()
                .parse::<f64>()
                .ok()
                .filter(|value| value.is_finite())
                .map(Value::Float),
            _ => None,
        };
        number.ok_or_else(|| self.wrong(key, "a number", value))
    }

    fn float(&self, fields: &Fields<'_, 't>, key: &str) -> Result<Option<f64>, SpecError> {
        let Some(value) = fields.get(key) else {
            return Ok(None);
        };
        let number = self.number(key, value)?.number().unwrap_or_default();
        if number < 0.0 {
            return Err(self.error(
                Problem::OutOfRange {
                    key: key.to_owned(),
                    value: number.to_string(),
                    allowed: "0 or more".to_owned(),
                },
                &value.span(),
            ));
        }
        Ok(Some(number))
    }

    fn whole(&self, fields: &Fields<'_, 't>, key: &str) -> Result<Option<u64>, SpecError> {
        let Some(value) = fields.get(key) else {
            return Ok(None);
        };
        match self.number(key, value)? {
            Value::Int(number) if number > 0 => Ok(Some(number.unsigned_abs())),
            _ => Err(self.wrong(key, "a whole number above 0", value)),
        }
    }

    fn boolean(&self, fields: &Fields<'_, 't>, key: &str) -> Result<Option<bool>, SpecError> {
        fields
            .get(key)
            .map(|value| {
                value
                    .get_ref()
                    .as_bool()
                    .ok_or_else(|| self.wrong(key, "true or false", value))
            })
            .transpose()
    }

    fn unknown_word(
        &self,
        what: &'static str,
        word: &str,
        known: Vec<String>,
        span: &Range<usize>,
    ) -> SpecError {
        self.error(
            Problem::UnknownWord {
                what,
                word: word.to_owned(),
                nearest: nearest(word, known.iter().map(String::as_str)),
                known,
            },
            span,
        )
    }

    /// One of the words of a key.
    fn word(
        &self,
        what: &'static str,
        words: &[(&str, &str)],
        value: &Spanned<DeValue<'t>>,
    ) -> Result<String, SpecError> {
        let word = self.text(what, value)?;
        if words.iter().any(|(known, _)| *known == word) {
            return Ok(word);
        }
        let known = words.iter().map(|(known, _)| (*known).to_owned()).collect();
        Err(self.unknown_word(what, &word, known, &value.span()))
    }

    fn words(
        &self,
        fields: &Fields<'_, 't>,
        key: &'static str,
    ) -> Result<Option<String>, SpecError> {
        let Some((known, _, value)) = fields
            .entries
            .iter()
            .find(|(known, _, _)| known.name == key)
        else {
            return Ok(None);
        };
        match known.kind {
            keys::Kind::Word(words) => self.word(key, words, value).map(Some),
            _ => self.text(key, value).map(Some),
        }
    }

    fn element_type(&self, fields: &Fields<'_, 't>) -> Result<ElementType, SpecError> {
        let name = self.words(fields, "type")?.unwrap_or_default();
        // The word was looked up in the same list.
        Ok(ElementType::named(&name).unwrap_or(ElementType::F32))
    }

    /// A name that expressions can use.
    fn named(&self, name: &str, span: &Range<usize>) -> Result<(), SpecError> {
        let is_name = name.starts_with(|first: char| first.is_alphabetic() || first == '_')
            && name
                .chars()
                .all(|letter| letter.is_alphanumeric() || letter == '_');
        let is_word = ["and", "or", "not", "true", "false"].contains(&name);
        if is_name && !is_word {
            Ok(())
        } else {
            Err(self.error(Problem::BadName(name.to_owned()), span))
        }
    }

    /// The entries of a table whose keys are names.
    fn names<'a>(
        &self,
        fields: &Fields<'a, 't>,
        key: &str,
    ) -> Result<Vec<Entry<'a, 't>>, SpecError> {
        let Some(value) = fields.get(key) else {
            return Ok(Vec::new());
        };
        let entries = Self::entries(self.table(key, value)?);
        for (name, span, _) in &entries {
            self.named(name, span)?;
        }
        Ok(entries)
    }

    fn define(&self, fields: &Fields<'_, 't>) -> Result<Vec<(String, Formula)>, SpecError> {
        self.names(fields, "define")?
            .into_iter()
            .map(|(name, _, value)| Ok((name.to_owned(), self.formula(name, value)?)))
            .collect()
    }

    fn spec(&self, table: &DeTable<'t>) -> Result<Spec, SpecError> {
        let fields = self.fields(&keys::SPEC, keys::SPEC.title, table, 0..0)?;
        let mut taken: Vec<String> = Vec::new();
        let axes = self.axes(&fields, &mut taken)?;
        let mut sizes = Vec::new();
        for (name, span, value) in self.names(&fields, "sizes")? {
            self.take_name(&mut taken, name, &span)?;
            sizes.push((name.to_owned(), self.formula(name, value)?));
        }
        let mut buffers = Vec::new();
        for (name, span, value) in self.names(&fields, "buffers")? {
            buffers.push(self.buffer(name, &span, value)?);
        }
        let mut scalars = Vec::new();
        for (name, span, value) in self.names(&fields, "scalars")? {
            if buffers.iter().any(|buffer: &Buffer| buffer.name == name) {
                return Err(self.error(Problem::NameTwice(name.to_owned()), &span));
            }
            scalars.push(self.scalar(name, &span, value)?);
        }
        let arguments: Vec<&str> = buffers
            .iter()
            .map(|buffer| buffer.name.as_str())
            .chain(scalars.iter().map(|scalar| scalar.name.as_str()))
            .collect();
        let kernels = self.kernels(&fields, &axes, &arguments)?;
        let check = self.check(&fields, &buffers, &kernels)?;
        let format = match fields.get("format") {
            None => NumberFormat::Fp32,
            Some(value) => {
                let word = self.text("format", value)?;
                word.parse().map_err(|_| {
                    let known = NumberFormat::ALL
                        .iter()
                        .map(|format| format.name().to_ascii_lowercase().replace(' ', "-"))
                        .collect();
                    self.unknown_word("number format", &word, known, &value.span())
                })?
            }
        };
        let optional = |key: &str| {
            fields
                .get(key)
                .map(|value| self.text(key, value))
                .transpose()
        };
        // Of the gallery: read so that a mistake in them is told too.
        for key in ["label", "fix"] {
            optional(key)?;
        }
        self.words(&fields, "scope")?;
        self.texts("accept", fields.get("accept"))?;
        Ok(Spec {
            text: self.text.to_owned(),
            name: optional("name")?,
            source: optional("source")?.unwrap_or_else(|| "kernels.cu".to_owned()),
            options: self.texts("options", fields.get("options"))?,
            include: self.texts("include", fields.get("include"))?,
            arch: optional("arch")?,
            define: self.define(&fields)?,
            bytes: self.optional(&fields, "bytes")?,
            flops: self.optional(&fields, "flops")?,
            format,
            is_tensor: self.words(&fields, "unit")?.as_deref() == Some("tensor"),
            timing: match self.words(&fields, "timing")?.as_deref() {
                Some("host") => Timing::Host,
                _ => Timing::Device,
            },
            sizes,
            axes,
            restrictions: self.formulas("where", fields.get("where"))?,
            buffers,
            scalars,
            kernels,
            check,
            note: optional("note")?,
        })
    }

    fn take_name(
        &self,
        taken: &mut Vec<String>,
        name: &str,
        span: &Range<usize>,
    ) -> Result<(), SpecError> {
        if taken.iter().any(|known| known == name) {
            return Err(self.error(Problem::NameTwice(name.to_owned()), span));
        }
        taken.push(name.to_owned());
        Ok(())
    }

    fn axes(
        &self,
        fields: &Fields<'_, 't>,
        taken: &mut Vec<String>,
    ) -> Result<Vec<Axis>, SpecError> {
        let mut axes = Vec::new();
        for (name, span, value) in self.names(fields, "axes")? {
            self.take_name(taken, name, &span)?;
            let values = match value.get_ref() {
                DeValue::Array(list) => list
                    .iter()
                    .map(|item| self.number(name, item))
                    .collect::<Result<Vec<Value>, SpecError>>()?,
                DeValue::Table(table) => {
                    let title = format!("the axis `{name}`");
                    let own = self.fields(&keys::AXIS, &title, table, value.span())?;
                    let number = |key: &str| {
                        own.get(key)
                            .map(|value| self.number(key, value))
                            .transpose()
                    };
                    let (from, to) = (number("from")?, number("to")?);
                    let step = number("step")?.unwrap_or(Value::Int(1));
                    let range = from
                        .zip(to)
                        .map(|(from, to)| (from, to, number("power_of")));
                    match range {
                        Some((from, to, base)) => {
                            axis::values(from, to, step, base?).map_err(|allowed| {
                                self.error(
                                    Problem::OutOfRange {
                                        key: name.to_owned(),
                                        value: self
                                            .text
                                            .get(value.span())
                                            .unwrap_or_default()
                                            .to_owned(),
                                        allowed: allowed.to_owned(),
                                    },
                                    &value.span(),
                                )
                            })?
                        }
                        None => Vec::new(),
                    }
                }
                _ => {
                    return Err(self.wrong(
                        name,
                        "a list of numbers, or a table with from and to",
                        value,
                    ));
                }
            };
            if values.is_empty() {
                return Err(self.error(
                    Problem::EmptyAxis(name.to_owned()),
                    &(span.start..value.span().end),
                ));
            }
            axes.push(Axis {
                name: name.to_owned(),
                values,
            });
        }
        Ok(axes)
    }

    fn buffer(
        &self,
        name: &str,
        span: &Range<usize>,
        value: &Spanned<DeValue<'t>>,
    ) -> Result<Buffer, SpecError> {
        let title = format!("the buffer `{name}`");
        let fields = self.fields(
            &keys::BUFFER,
            &title,
            self.table(name, value)?,
            span.clone(),
        )?;
        let kind = self.element_type(&fields)?;
        let required = |key: &'static str| -> Result<Formula, SpecError> {
            self.optional(&fields, key)?.ok_or_else(|| {
                self.error(
                    Problem::MissingKey {
                        key,
                        table: title.clone(),
                    },
                    &fields.span,
                )
            })
        };
        let word = self.words(&fields, "init")?;
        let init = match word.as_deref() {
            None => InitFormula::Fixed(Init::Poison),
            Some("zeros") => InitFormula::Fixed(Init::Constant(0.0)),
            Some("iota") => InitFormula::Fixed(Init::Iota),
            Some("normal") => InitFormula::Fixed(Init::Normal),
            Some("bits") => InitFormula::Fixed(Init::Bits),
            Some("permutation") => InitFormula::Fixed(Init::Permutation),
            Some("inverse-permutation") => InitFormula::Fixed(Init::InversePermutation),
            Some("constant") => InitFormula::Constant(required("value")?),
            Some("random") => InitFormula::Random(
                self.optional(&fields, "low")?,
                self.optional(&fields, "high")?,
            ),
            Some("sorted") => InitFormula::Sorted(required("step")?),
            Some(_) => InitFormula::Shuffled(required("step")?),
        };
        let is_float_only = matches!(word.as_deref(), Some("normal"));
        let is_integer_only = matches!(
            word.as_deref(),
            Some("bits" | "permutation" | "inverse-permutation" | "sorted" | "shuffled")
        );
        if (is_float_only && !kind.is_float()) || (is_integer_only && kind.is_float()) {
            let place = fields.get("init").map_or(span.clone(), Spanned::span);
            let what = if is_float_only {
                "floating-point numbers"
            } else {
                "integers"
            };
            let word = word.unwrap_or_default();
            return Err(self.error(
                Problem::Conflict(format!(
                    "`{word}` makes {what}, and `{name}` has the type {kind}"
                )),
                &place,
            ));
        }
        Ok(Buffer {
            name: name.to_owned(),
            kind,
            length: required("length")?,
            init,
            seed: self.optional(&fields, "seed")?,
            take: self.optional(&fields, "take")?,
            group: self.optional(&fields, "group")?,
            offset: self.optional(&fields, "offset")?,
            symbol: fields
                .get("symbol")
                .map(|value| self.text("symbol", value))
                .transpose()?,
            is_output: self.boolean(&fields, "output")?.unwrap_or(word.is_none()),
        })
    }

    fn scalar(
        &self,
        name: &str,
        span: &Range<usize>,
        value: &Spanned<DeValue<'t>>,
    ) -> Result<Scalar, SpecError> {
        let title = format!("the scalar `{name}`");
        let fields = self.fields(
            &keys::SCALAR,
            &title,
            self.table(name, value)?,
            span.clone(),
        )?;
        let formula = match fields.get("value") {
            Some(value) => self.formula("value", value)?,
            None => Formula {
                expression: Expression::parse(name)
                    .map_err(|error| self.error(Problem::Expression(error), span))?,
                span: span.clone(),
                is_verbatim: false,
                key: name.to_owned(),
            },
        };
        Ok(Scalar {
            name: name.to_owned(),
            kind: self.element_type(&fields)?,
            value: formula,
        })
    }

    fn launch(&self, fields: &Fields<'_, 't>, arguments: &[&str]) -> Result<Launch, SpecError> {
        let required = |key: &'static str| {
            fields.get(key).ok_or_else(|| {
                self.error(
                    Problem::MissingKey {
                        key,
                        table: fields.title.clone(),
                    },
                    &fields.span,
                )
            })
        };
        let args = match fields.get("args") {
            None => Vec::new(),
            Some(value) => {
                let names = self.texts("args", Some(value))?;
                let spans = value
                    .get_ref()
                    .as_array()
                    .into_iter()
                    .flat_map(|list| list.iter().map(Spanned::span));
                for (name, span) in names.iter().zip(spans) {
                    if !arguments.contains(&name.as_str()) {
                        let known = arguments.iter().map(ToString::to_string).collect();
                        return Err(self.unknown_word("buffer or scalar", name, known, &span));
                    }
                }
                names
            }
        };
        Ok(Launch {
            entry: self.text("entry", required("entry")?)?,
            grid: self.extent("grid", required("grid")?)?,
            block: self.extent("block", required("block")?)?,
            cluster: fields
                .get("cluster")
                .map(|value| self.extent("cluster", value))
                .transpose()?,
            shared: self.optional(fields, "shared")?,
            args,
        })
    }

    fn launches(
        &self,
        key: &str,
        value: &Spanned<DeValue<'t>>,
        title: &str,
        arguments: &[&str],
    ) -> Result<Vec<Launch>, SpecError> {
        let list = value
            .get_ref()
            .as_array()
            .filter(|list| !list.is_empty())
            .ok_or_else(|| self.wrong(key, "a list of tables", value))?;
        list.iter()
            .map(|item| {
                let table = self.table(key, item)?;
                self.launch(
                    &self.fields(&keys::LAUNCH, title, table, item.span())?,
                    arguments,
                )
            })
            .collect()
    }

    fn kernels(
        &self,
        fields: &Fields<'_, 't>,
        axes: &[Axis],
        arguments: &[&str],
    ) -> Result<Vec<Kernel>, SpecError> {
        let mut kernels: Vec<Kernel> = Vec::new();
        for (name, repeat) in [("slow", "slow_repeat"), ("fixed", "fixed_repeat")] {
            if let Some(value) = fields.get(name) {
                kernels.push(Kernel {
                    name: name.to_owned(),
                    launches: self.launches(
                        name,
                        value,
                        &format!("a launch of `{name}`"),
                        arguments,
                    )?,
                    repeat: self.optional(fields, repeat)?,
                    source: None,
                    options: Vec::new(),
                    define: Vec::new(),
                    axes: None,
                    restrictions: Vec::new(),
                    bytes: None,
                    flops: None,
                    simulated_traffic: None,
                });
            } else if let Some(value) = fields.get(repeat) {
                return Err(self.error(
                    Problem::Conflict(format!("`{repeat}` is there, but no [[{name}]]")),
                    &value.span(),
                ));
            }
        }
        for (name, span, value) in self.names(fields, "kernels")? {
            if kernels.iter().any(|kernel| kernel.name == name) {
                return Err(self.error(Problem::NameTwice(name.to_owned()), &span));
            }
            kernels.push(self.kernel(name, &span, value, axes, arguments)?);
        }
        if kernels.is_empty() {
            return Err(self.error(Problem::NoKernels, &(0..0)));
        }
        Ok(kernels)
    }

    fn kernel(
        &self,
        name: &str,
        span: &Range<usize>,
        value: &Spanned<DeValue<'t>>,
        axes: &[Axis],
        arguments: &[&str],
    ) -> Result<Kernel, SpecError> {
        let title = format!("the kernel `{name}`");
        let fields = self.fields(
            &keys::KERNEL,
            &title,
            self.table(name, value)?,
            span.clone(),
        )?;
        let launches = match fields.get("launch") {
            Some(list) => {
                let single = ["entry", "grid", "block", "cluster", "shared", "args"];
                if let Some(key) = single.into_iter().find(|key| fields.has(key)) {
                    let message = format!("{title} has `{key}` of its own and a list of launches");
                    return Err(self.error(Problem::Conflict(message), span));
                }
                self.launches("launch", list, &format!("a launch of `{name}`"), arguments)?
            }
            None => vec![self.launch(&fields, arguments)?],
        };
        let own_axes = match fields.get("axes") {
            None => None,
            Some(value) => {
                let names = self.texts("axes", Some(value))?;
                if let Some(name) = names
                    .iter()
                    .find(|name| !axes.iter().any(|axis| axis.name == **name))
                {
                    let known = axes.iter().map(|axis| axis.name.clone()).collect();
                    return Err(self.unknown_word("axis", name, known, &value.span()));
                }
                Some(names)
            }
        };
        Ok(Kernel {
            name: name.to_owned(),
            launches,
            repeat: self.optional(&fields, "repeat")?,
            source: fields
                .get("source")
                .map(|value| self.text("source", value))
                .transpose()?,
            options: self.texts("options", fields.get("options"))?,
            define: self.define(&fields)?,
            axes: own_axes,
            restrictions: self.formulas("where", fields.get("where"))?,
            bytes: self.optional(&fields, "bytes")?,
            flops: self.optional(&fields, "flops")?,
            simulated_traffic: self.optional(&fields, "simulated_traffic")?,
        })
    }

    /// Names of buffers in a list, each of which has to be there.
    fn outputs(
        &self,
        fields: &Fields<'_, 't>,
        key: &str,
        buffers: &[Buffer],
    ) -> Result<Option<Vec<String>>, SpecError> {
        let Some(value) = fields.get(key) else {
            return Ok(None);
        };
        let names = self.texts(key, Some(value))?;
        match names
            .iter()
            .find(|name| !buffers.iter().any(|buffer| buffer.name == **name))
        {
            None => Ok(Some(names)),
            Some(name) => {
                let known = buffers.iter().map(|buffer| buffer.name.clone()).collect();
                Err(self.unknown_word("buffer", name, known, &value.span()))
            }
        }
    }

    fn check(
        &self,
        spec: &Fields<'_, 't>,
        buffers: &[Buffer],
        kernels: &[Kernel],
    ) -> Result<Check, SpecError> {
        let outputs: Vec<String> = buffers
            .iter()
            .filter(|buffer| buffer.is_output)
            .map(|buffer| buffer.name.clone())
            .collect();
        let first = || match kernels {
            [first, _, ..] => Reference::Kernel(first.name.clone()),
            _ => Reference::None,
        };
        let Some(value) = spec.get("check") else {
            return Ok(Check {
                reference: first(),
                mode: CheckMode::Elements,
                tolerance: Tolerance::default(),
                terms: None,
                samples: SAMPLES,
                outputs,
                of_slow: None,
                of_fixed: None,
            });
        };
        let fields = self.fields(
            &keys::CHECK,
            keys::CHECK.title,
            self.table("check", value)?,
            value.span(),
        )?;
        let ways = ["reference", "expression", "file"];
        let given: Vec<&str> = ways.into_iter().filter(|key| fields.has(key)).collect();
        if let [one, other, ..] = given.as_slice() {
            let message = format!("`{one}` and `{other}` both say what is right");
            return Err(self.error(Problem::Conflict(message), &value.span()));
        }
        let known_buffer = |name: &str, span: &Range<usize>| {
            if buffers.iter().any(|buffer| buffer.name == name) {
                return Ok(());
            }
            let known = buffers.iter().map(|buffer| buffer.name.clone()).collect();
            Err(self.unknown_word("buffer", name, known, span))
        };
        let reference = if let Some(value) = fields.get("reference") {
            let name = self.text("reference", value)?;
            if !kernels.iter().any(|kernel| kernel.name == name) {
                let known = kernels.iter().map(|kernel| kernel.name.clone()).collect();
                return Err(self.unknown_word("kernel", &name, known, &value.span()));
            }
            Reference::Kernel(name)
        } else if fields.has("expression") {
            let mut expressions = Vec::new();
            for (name, span, value) in self.names(&fields, "expression")? {
                known_buffer(name, &span)?;
                expressions.push((name.to_owned(), self.formula(name, value)?));
            }
            Reference::Expressions(expressions)
        } else if fields.has("file") {
            let mut files = Vec::new();
            for (name, span, value) in self.names(&fields, "file")? {
                known_buffer(name, &span)?;
                files.push((name.to_owned(), self.text(name, value)?));
            }
            Reference::Files(files)
        } else {
            first()
        };
        let preset: Option<Preset> = self
            .words(&fields, "preset")?
            .and_then(|name| name.parse().ok());
        let terms = fields
            .get("terms")
            .map(|value| self.formula("terms", value))
            .transpose()?;
        self.one_tolerance(&fields, preset, terms.is_some())?;
        let of_slow = self.outputs(&fields, "slow", buffers)?;
        let has_sums = matches!(&reference, Reference::Expressions(expressions)
            if expressions.iter().any(|(_, formula)| formula.expression.has_sums()));
        let samples = if has_sums { SAMPLES_OF_SUMS } else { SAMPLES };
        Ok(Check {
            outputs: match self.outputs(&fields, "outputs", buffers)? {
                Some(given) => given,
                None if outputs.is_empty() => of_slow.clone().unwrap_or_default(),
                None => outputs,
            },
            of_fixed: self
                .outputs(&fields, "fixed", buffers)?
                .or_else(|| of_slow.clone()),
            of_slow,
            reference,
            mode: match self.words(&fields, "mode")?.as_deref() {
                Some("sum") => CheckMode::Sum,
                Some("none") => CheckMode::None,
                _ => CheckMode::Elements,
            },
            tolerance: Tolerance {
                relative: self.float(&fields, "relative")?,
                absolute: self.float(&fields, "absolute")?,
                norm: self.float(&fields, "tolerance")?,
                accumulate: self
                    .words(&fields, "accumulate")?
                    .and_then(|name| name.parse().ok()),
                preset,
            },
            terms,
            samples: self.whole(&fields, "samples")?.unwrap_or(samples),
        })
    }
}

impl<'t> Reader<'t> {
    /// Limits are given, or follow from the computation.
    fn one_tolerance(
        &self,
        fields: &Fields<'_, 't>,
        preset: Option<Preset>,
        has_terms: bool,
    ) -> Result<(), SpecError> {
        let first = |keys: &[&'static str]| {
            keys.iter()
                .find_map(|key| Some((*key, fields.get(key)?.span())))
        };
        let given = first(&["relative", "absolute"]);
        let reasoned = first(&["preset", "terms", "accumulate"]);
        if let (Some((given, _)), Some((reasoned, span))) = (given, &reasoned) {
            let message =
                format!("`{given}` and `{reasoned}` both say how much outputs may differ");
            return Err(self.error(Problem::Conflict(message), span));
        }
        if preset == Some(Preset::TensorCore) && !has_terms {
            let span = reasoned.map_or(0..0, |(_, span)| span);
            let message = "`tensor-core` is about sums of products: `terms` says of how many";
            return Err(self.error(Problem::Conflict(message.to_owned()), &span));
        }
        Ok(())
    }
}

fn describe(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("the text {text:?}"),
        DeValue::Integer(number) => format!("the number {}", number.as_str()),
        DeValue::Float(number) => format!("the number {}", number.as_str()),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(list) => format!("a list of {}", list.len()),
        DeValue::Table(_) => "a table".to_owned(),
    }
}
