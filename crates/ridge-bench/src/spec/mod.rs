//! What is to be measured: a spec in TOML, read into values, with every mistake told at its place.
//!
//! [`Spec::read`] takes text and touches no file. [`Spec::states`] multiplies the axes, and [`Spec::job`] turns one of the
//! states into numbers: lengths, grids, arguments, macros. The keys are listed in [`keys`], from which the schema and the
//! reference are made too.

mod axis;
mod element;
mod init;
pub mod job;
pub mod keys;
mod problem;
mod read;

use std::ops::Range;

use ridge_model::NumberFormat;
use ridge_numerics::format::Format;
use ridge_numerics::tolerance::Preset;

pub use axis::{Axis, parse_axis};
pub use element::ElementType;
pub use init::{Elements, Init};
pub use problem::{Place, Problem, SpecError};

use crate::check::Rule;
use crate::expression::{Expression, ExpressionError, Names, Value};

/// The most states that one run measures.
pub const MAX_STATES: usize = 10_000;

/// The longest sum that an element may be.
const MAX_TERMS: u64 = 1 << 40;

/// An expression of a spec with its place.
#[derive(Clone, Debug)]
pub struct Formula {
    pub(crate) expression: Expression,
    /// Where its text stands in the spec.
    pub(crate) span: Range<usize>,
    /// Whether the bytes of the expression are those of the spec, so that a part of it has a place too.
    pub(crate) is_verbatim: bool,
    /// The key that it belongs to.
    pub(crate) key: String,
}

impl Formula {
    /// The expression as it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        self.expression.text()
    }

    /// The expression.
    #[must_use]
    pub const fn expression(&self) -> &Expression {
        &self.expression
    }
}

/// Device memory.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// What it is called.
    pub name: String,
    pub(crate) kind: ElementType,
    pub(crate) length: Formula,
    pub(crate) init: InitFormula,
    pub(crate) seed: Option<Formula>,
    pub(crate) take: Option<Formula>,
    pub(crate) group: Option<Formula>,
    pub(crate) offset: Option<Formula>,
    pub(crate) symbol: Option<String>,
    pub(crate) is_output: bool,
}

/// How elements are made, before axes have values.
#[derive(Clone, Debug)]
pub(crate) enum InitFormula {
    Fixed(Init),
    Constant(Formula),
    Random(Option<Formula>, Option<Formula>),
    Sorted(Formula),
    Shuffled(Formula),
}

/// An argument that is no buffer.
#[derive(Clone, Debug)]
pub struct Scalar {
    /// What it is called.
    pub name: String,
    pub(crate) kind: ElementType,
    pub(crate) value: Formula,
}

/// One launch.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Name of the kernel in its module.
    pub entry: String,
    pub(crate) grid: Vec<Formula>,
    pub(crate) block: Vec<Formula>,
    pub(crate) cluster: Option<Vec<Formula>>,
    pub(crate) shared: Option<Formula>,
    pub(crate) args: Vec<String>,
}

/// What is measured under one name.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The name.
    pub name: String,
    /// Its launches.
    pub launches: Vec<Launch>,
    pub(crate) repeat: Option<Formula>,
    pub(crate) source: Option<String>,
    pub(crate) options: Vec<String>,
    pub(crate) define: Vec<(String, Formula)>,
    pub(crate) axes: Option<Vec<String>>,
    pub(crate) restrictions: Vec<Formula>,
    pub(crate) bytes: Option<Formula>,
    pub(crate) flops: Option<Formula>,
    pub(crate) simulated_traffic: Option<Formula>,
}

/// What outputs are compared with.
#[derive(Clone, Debug)]
pub enum Reference {
    /// Nothing: outputs are only looked at for whether they were written and are finite.
    None,
    /// Another kernel of the spec.
    Kernel(String),
    /// Expressions for outputs.
    Expressions(Vec<(String, Formula)>),
    /// Files for outputs.
    Files(Vec<(String, String)>),
}

/// How much outputs may differ. What is given has to hold; without any, the type of the output decides.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tolerance {
    /// A share of each right element.
    pub relative: Option<f64>,
    /// What is added to that.
    pub absolute: Option<f64>,
    /// The norm of the differences as a share of the norm of the right elements.
    pub norm: Option<f64>,
    /// The format that sums are kept in.
    pub accumulate: Option<Format>,
    /// A rule that others use.
    pub preset: Option<Preset>,
}

/// What of the outputs is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckMode {
    /// Each element.
    Elements,
    /// Their sums.
    Sum,
    /// Nothing.
    None,
}

/// How outputs are checked.
#[derive(Clone, Debug)]
pub struct Check {
    /// With what.
    pub reference: Reference,
    /// What of them.
    pub mode: CheckMode,
    /// How much they may differ.
    pub tolerance: Tolerance,
    /// How many terms are added up for an element of an output.
    pub terms: Option<Formula>,
    /// How many elements of an expression are computed.
    pub samples: u64,
    pub(crate) outputs: Vec<String>,
    pub(crate) of_slow: Option<Vec<String>>,
    pub(crate) of_fixed: Option<Vec<String>>,
}

/// Where the clock is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// On the device: launches are queued ahead.
    Device,
    /// On the host: launches are part of what is timed.
    Host,
}

/// A spec.
#[derive(Clone, Debug)]
pub struct Spec {
    pub(crate) text: String,
    /// What the benchmark is called, if the spec says so.
    pub name: Option<String>,
    /// The file with the kernels, relative to the spec.
    pub source: String,
    /// Options of the compiler.
    pub options: Vec<String>,
    /// Folders of headers, relative to the spec.
    pub include: Vec<String>,
    /// The architecture to compile for, if not the device's.
    pub arch: Option<String>,
    pub(crate) define: Vec<(String, Formula)>,
    pub(crate) bytes: Option<Formula>,
    pub(crate) flops: Option<Formula>,
    /// Format of the operations.
    pub format: NumberFormat,
    /// Whether tensor units bound them.
    pub is_tensor: bool,
    /// Where the clock is.
    pub timing: Timing,
    pub(crate) sizes: Vec<(String, Formula)>,
    /// The axes.
    pub axes: Vec<Axis>,
    pub(crate) restrictions: Vec<Formula>,
    pub(crate) buffers: Vec<Buffer>,
    pub(crate) scalars: Vec<Scalar>,
    /// What is measured.
    pub kernels: Vec<Kernel>,
    /// How outputs are checked.
    pub check: Check,
    /// What has to be known, in the spec's words.
    pub note: Option<String>,
}

/// One point of the product of the axes, for one kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// The kernel.
    pub kernel: String,
    /// The axes with their values, in the order of the spec.
    pub axes: Vec<(String, Value)>,
}

impl State {
    /// Its name, such as `tiled[tile=32,n=4096]`.
    #[must_use]
    pub fn name(&self) -> String {
        if self.axes.is_empty() {
            return self.kernel.clone();
        }
        let axes: Vec<String> = self
            .axes
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        format!("{}[{}]", self.kernel, axes.join(","))
    }
}

impl Spec {
    /// The error of an expression at its place.
    pub(crate) fn at(&self, formula: &Formula, error: ExpressionError) -> SpecError {
        let inner = error.span();
        let span = if formula.is_verbatim {
            formula.span.start + inner.start..formula.span.start + inner.end.max(inner.start + 1)
        } else {
            formula.span.clone()
        };
        SpecError {
            place: self.place(&span),
            problem: Problem::Expression(error),
        }
    }

    /// The error of an expression at its place.
    #[must_use]
    pub fn error_at(&self, formula: &Formula, error: ExpressionError) -> SpecError {
        self.at(formula, error)
    }

    /// What the names of a state are worth.
    ///
    /// # Errors
    /// When a size has no value.
    pub fn state_names(&self, state: &State, device: &Names) -> Result<Names, SpecError> {
        self.names(state, device)
    }

    /// How the outputs of a state are compared.
    ///
    /// # Errors
    /// When the number of terms has no value.
    pub fn rule(&self, state: &State, device: &Names) -> Result<Rule, SpecError> {
        let rule = Rule::new(self.check.mode, self.check.tolerance);
        let Some(terms) = &self.check.terms else {
            return Ok(rule);
        };
        let names = self.names(state, device)?;
        Ok(rule.over(self.count(terms, &names, 1, MAX_TERMS)?))
    }

    /// The expression that says what an output has to be.
    #[must_use]
    pub fn expression_of(&self, output: &str) -> Option<&Formula> {
        match &self.check.reference {
            Reference::Expressions(all) => all
                .iter()
                .find(|(name, _)| name == output)
                .map(|(_, formula)| formula),
            _ => None,
        }
    }

    /// The elements of all buffers that start with something, of one generation of inputs.
    ///
    /// # Errors
    /// When an expression has no value.
    pub fn inputs(
        &self,
        names: &Names,
        generation: u32,
    ) -> Result<Vec<(String, Elements)>, SpecError> {
        let mut inputs = Vec::new();
        for buffer in &self.buffers {
            let elements = self.elements(buffer, names)?.of_generation(generation);
            if !elements.is_poison() {
                inputs.push((buffer.name.clone(), elements));
            }
        }
        Ok(inputs)
    }

    /// The state of a reference: the axes of another state, and the first value of those that it does not have.
    ///
    /// # Errors
    /// When there is no such kernel.
    pub fn reference_state(&self, kernel: &str, state: &State) -> Result<State, SpecError> {
        let found = self
            .kernels
            .iter()
            .find(|known| known.name == kernel)
            .ok_or(SpecError {
                problem: Problem::NoKernels,
                place: None,
            })?;
        let has = |axis: &&Axis| {
            found
                .axes
                .as_ref()
                .is_none_or(|own| own.contains(&axis.name))
        };
        let axes = self
            .axes
            .iter()
            .filter(has)
            .map(|axis| {
                let own = state.axes.iter().find(|(name, _)| *name == axis.name);
                (
                    axis.name.clone(),
                    own.map_or(axis.values[0], |(_, value)| *value),
                )
            })
            .collect();
        Ok(State {
            kernel: kernel.to_owned(),
            axes,
        })
    }

    /// A value that is not allowed, at the place of its expression.
    pub(crate) fn out_of_range(&self, formula: &Formula, value: &str, allowed: &str) -> SpecError {
        SpecError {
            place: self.place(&formula.span),
            problem: Problem::OutOfRange {
                key: formula.key.clone(),
                value: value.to_owned(),
                allowed: allowed.to_owned(),
            },
        }
    }

    /// Specs that come from options have no text.
    fn place(&self, span: &Range<usize>) -> Option<Box<Place>> {
        (!self.text.is_empty()).then(|| Box::new(Place::of(&self.text, span)))
    }

    pub(crate) fn value(&self, formula: &Formula, names: &Names) -> Result<Value, SpecError> {
        formula
            .expression
            .value(names)
            .map_err(|error| self.at(formula, error))
    }

    /// Puts values in the place of an axis or a size; a size becomes an axis.
    ///
    /// # Errors
    /// When the spec has no such axis or size, or there are no values.
    pub fn set_axis(&mut self, name: &str, values: Vec<Value>) -> Result<(), SpecError> {
        if values.is_empty() {
            return Err(SpecError {
                problem: Problem::EmptyAxis(name.to_owned()),
                place: None,
            });
        }
        if let Some(axis) = self.axes.iter_mut().find(|axis| axis.name == name) {
            axis.values = values;
            return Ok(());
        }
        if let Some(place) = self.sizes.iter().position(|(size, _)| size == name) {
            self.sizes.remove(place);
            self.axes.push(Axis {
                name: name.to_owned(),
                values,
            });
            return Ok(());
        }
        let known: Vec<String> = self
            .axes
            .iter()
            .map(|axis| axis.name.clone())
            .chain(self.sizes.iter().map(|(size, _)| size.clone()))
            .collect();
        Err(SpecError {
            problem: Problem::UnknownWord {
                what: "axis or size",
                nearest: crate::expression::nearest(name, known.iter().map(String::as_str)),
                word: name.to_owned(),
                known,
            },
            place: None,
        })
    }

    /// All states that the restrictions leave: the kernels in order, and for each the product of its axes, the last
    /// axis varying fastest.
    ///
    /// # Errors
    /// When there are too many or none, or a restriction has no value.
    pub fn states(&self, device: &Names) -> Result<Vec<State>, SpecError> {
        let mut states = Vec::new();
        let mut before = 0_usize;
        let mut removed: Vec<(usize, &Formula)> = Vec::new();
        for kernel in &self.kernels {
            let axes: Vec<&Axis> = self
                .axes
                .iter()
                .filter(|axis| {
                    kernel
                        .axes
                        .as_ref()
                        .is_none_or(|own| own.contains(&axis.name))
                })
                .collect();
            let count = axes
                .iter()
                .try_fold(1_usize, |count, axis| count.checked_mul(axis.values.len()))
                .unwrap_or(usize::MAX);
            before = before.saturating_add(count);
            if before > MAX_STATES {
                return Err(SpecError {
                    problem: Problem::TooManyStates(before),
                    place: None,
                });
            }
            for point in 0..count {
                let state = self.state(kernel, &axes, point);
                match self.refused_by(kernel, &state, device)? {
                    None => states.push(state),
                    Some(formula) => match removed
                        .iter_mut()
                        .find(|(_, known)| std::ptr::eq(*known, formula))
                    {
                        Some((count, _)) => *count += 1,
                        None => removed.push((1, formula)),
                    },
                }
            }
        }
        if let (true, Some((_, most))) = (
            states.is_empty(),
            removed.iter().max_by_key(|(count, _)| *count),
        ) {
            return Err(SpecError {
                place: self.place(&most.span),
                problem: Problem::NothingLeft {
                    states: before,
                    restriction: most.text().to_owned(),
                },
            });
        }
        Ok(states)
    }

    fn state(&self, kernel: &Kernel, axes: &[&Axis], point: usize) -> State {
        let mut rest = point;
        let mut values = Vec::with_capacity(axes.len());
        for axis in axes.iter().rev() {
            values.push((axis.name.clone(), axis.values[rest % axis.values.len()]));
            rest /= axis.values.len();
        }
        values.reverse();
        State {
            kernel: kernel.name.clone(),
            axes: values,
        }
    }

    fn refused_by<'s>(
        &'s self,
        kernel: &'s Kernel,
        state: &State,
        device: &Names,
    ) -> Result<Option<&'s Formula>, SpecError> {
        let names = self.names(state, device)?;
        for formula in self.restrictions.iter().chain(&kernel.restrictions) {
            // A restriction on what this kernel does not have says nothing about it.
            let is_about_others = self
                .axes
                .iter()
                .map(|axis| &axis.name)
                .chain(self.sizes.iter().map(|(size, _)| size))
                .any(|name| formula.expression.uses(name) && names.get(name).is_none());
            if is_about_others {
                continue;
            }
            match self.value(formula, &names)? {
                Value::Bool(true) => {}
                Value::Bool(false) => return Ok(Some(formula)),
                other => {
                    return Err(self.out_of_range(
                        formula,
                        &other.to_string(),
                        "a condition, such as `tile * rows <= 1024`",
                    ));
                }
            }
        }
        Ok(None)
    }

    /// The names of a state: those of the device, axes, then sizes in order.
    pub(crate) fn names(&self, state: &State, device: &Names) -> Result<Names, SpecError> {
        let mut names = device.clone();
        for (name, value) in &state.axes {
            names.set(name.clone(), *value);
        }
        // What depends on an axis that the kernel does not have has no value for it.
        let mut without: Vec<&str> = self
            .axes
            .iter()
            .map(|axis| axis.name.as_str())
            .filter(|axis| !state.axes.iter().any(|(name, _)| name == axis))
            .collect();
        for (name, formula) in &self.sizes {
            if without.iter().any(|other| formula.expression.uses(other)) {
                without.push(name);
                continue;
            }
            let value = self.value(formula, &names)?;
            names.set(name.clone(), value);
        }
        Ok(names)
    }
}

#[cfg(test)]
mod tests;
