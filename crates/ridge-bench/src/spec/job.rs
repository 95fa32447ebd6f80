//! A state in numbers: everything that a measurement needs to know, and nothing that has to be computed again.

use serde::{Deserialize, Serialize};

use super::{
    Buffer, ElementType, Elements, Formula, Init, InitFormula, Kernel, Launch, Problem, Spec,
    SpecError, State, Timing,
};
use crate::expression::{Names, Value};

/// What a state runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The kernel's name in the spec.
    pub kernel: String,
    /// The file with the kernels, relative to the spec.
    pub source: String,
    /// Options of the compiler, macros among them.
    pub options: Vec<String>,
    /// Launches, in order.
    pub launches: Vec<JobLaunch>,
    /// How often they are run in a sample.
    pub repeat: u32,
    /// Device memory.
    pub buffers: Vec<JobBuffer>,
    /// Bytes that have to cross the border of device memory.
    pub bytes: Option<f64>,
    /// Operations of the computation.
    pub flops: Option<f64>,
    /// Their format, as [`ridge_model::NumberFormat`] reads it.
    pub format: String,
    /// Whether tensor units bound them.
    pub is_tensor: bool,
    /// Whether launches are part of what is timed.
    pub is_host_timed: bool,
    /// How often the bytes cross between SMs and L2 on a simulated device.
    pub simulated_traffic: f64,
}

/// One launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobLaunch {
    /// Name of the kernel in its module.
    pub entry: String,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Blocks of a cluster.
    pub cluster: Option<[u32; 3]>,
    /// Dynamic shared memory in bytes.
    pub shared: u32,
    /// Arguments, in the order of the parameters.
    pub args: Vec<JobArgument>,
}

/// An argument.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum JobArgument {
    /// The address of the buffer with this number.
    Buffer(usize),
    /// These bytes.
    Scalar(Vec<u8>),
}

/// Device memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobBuffer {
    /// Its name in the spec.
    pub name: String,
    /// What it starts with.
    pub elements: Elements,
    /// The global of the module that it is.
    pub symbol: Option<String>,
    /// Its place among the outputs that are compared.
    pub output: Option<usize>,
}

impl Job {
    /// Bytes of all buffers.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.buffers
            .iter()
            .fold(0, |sum, buffer| sum.saturating_add(buffer.elements.bytes()))
    }

    /// The outputs that are compared, in their order.
    pub fn outputs(&self) -> impl Iterator<Item = (usize, &JobBuffer)> {
        let mut outputs: Vec<(usize, &JobBuffer)> = self
            .buffers
            .iter()
            .enumerate()
            .filter(|(_, buffer)| buffer.output.is_some())
            .collect();
        outputs.sort_by_key(|(_, buffer)| buffer.output);
        outputs.into_iter()
    }

    /// Kernel launches of one sample.
    #[must_use]
    pub fn launch_count(&self) -> u64 {
        self.launches.len() as u64 * u64::from(self.repeat)
    }
}

/// The most threads of a block on every device.
const MAX_THREADS: u64 = 1024;

impl Spec {
    /// A state in numbers.
    ///
    /// # Errors
    /// When an expression has no value, or one that is not allowed.
    pub fn job(&self, state: &State, device: &Names) -> Result<Job, SpecError> {
        let names = self.names(state, device)?;
        let kernel = self
            .kernels
            .iter()
            .find(|kernel| kernel.name == state.kernel)
            .ok_or(SpecError {
                problem: Problem::NoKernels,
                place: None,
            })?;
        let outputs = self.outputs_of(kernel);
        let is_used = |buffer: &&Buffer| {
            buffer.symbol.is_some()
                || kernel
                    .launches
                    .iter()
                    .any(|launch| launch.args.contains(&buffer.name))
        };
        let mut buffers = Vec::new();
        for buffer in self.buffers.iter().filter(is_used) {
            buffers.push(JobBuffer {
                name: buffer.name.clone(),
                elements: self.elements(buffer, &names)?,
                symbol: buffer.symbol.clone(),
                output: outputs.iter().position(|output| *output == buffer.name),
            });
        }
        let launches: Result<Vec<JobLaunch>, SpecError> = kernel
            .launches
            .iter()
            .map(|launch| self.launch(launch, &buffers, &names))
            .collect();
        let mut options = self.options.clone();
        options.extend(kernel.options.iter().cloned());
        for (name, formula) in self.define.iter().chain(&kernel.define) {
            options.push(format!("-D{name}={}", self.value(formula, &names)?));
        }
        let amount =
            |own: &Option<Formula>, whole: &Option<Formula>| -> Result<Option<f64>, SpecError> {
                let Some(formula) = own.as_ref().or(whole.as_ref()) else {
                    return Ok(None);
                };
                match self.value(formula, &names)?.number() {
                    Some(value) if value >= 0.0 => Ok(Some(value)),
                    _ => Err(self.out_of_range(
                        formula,
                        &self.value(formula, &names)?.to_string(),
                        "a number that is not negative",
                    )),
                }
            };
        Ok(Job {
            kernel: kernel.name.clone(),
            source: kernel.source.clone().unwrap_or_else(|| self.source.clone()),
            options,
            launches: launches?,
            repeat: match &kernel.repeat {
                None => 1,
                Some(formula) => self.count(formula, &names, 1, 1_000_000)? as u32,
            },
            buffers,
            bytes: amount(&kernel.bytes, &self.bytes)?,
            // The gallery writes 0 where there are none.
            flops: amount(&kernel.flops, &self.flops)?.filter(|flops| *flops > 0.0),
            format: self.format.name().to_ascii_lowercase(),
            is_tensor: self.is_tensor,
            is_host_timed: self.timing == Timing::Host,
            simulated_traffic: amount(&kernel.simulated_traffic, &None)?.unwrap_or(1.0),
        })
    }

    /// The buffers that a kernel writes and that are compared.
    #[must_use]
    pub fn outputs_of(&self, kernel: &Kernel) -> &[String] {
        let own = match kernel.name.as_str() {
            "slow" => self.check.of_slow.as_ref(),
            "fixed" => self.check.of_fixed.as_ref(),
            _ => None,
        };
        own.unwrap_or(&self.check.outputs)
    }

    /// The elements of a buffer in numbers.
    pub(crate) fn elements(&self, buffer: &Buffer, names: &Names) -> Result<Elements, SpecError> {
        let number = |formula: &Formula| -> Result<f64, SpecError> {
            self.value(formula, names)?
                .number()
                .ok_or_else(|| self.out_of_range(formula, "a truth value", "a number"))
        };
        let small =
            |formula: &Option<Formula>, otherwise: u32, least: u64| -> Result<u32, SpecError> {
                formula.as_ref().map_or(Ok(otherwise), |formula| {
                    self.count(formula, names, least, u64::from(u32::MAX))
                        .map(|value| value as u32)
                })
            };
        let length = self.count(&buffer.length, names, 1, 1 << 50)?;
        let init = match &buffer.init {
            InitFormula::Fixed(init) => *init,
            InitFormula::Constant(value) => {
                self.in_range(buffer.kind, value, names)?;
                Init::Constant(number(value)?)
            }
            InitFormula::Random(low, high) => {
                let bound = |formula: &Option<Formula>, otherwise: f64| {
                    formula.as_ref().map_or(Ok(otherwise), number)
                };
                let (low_value, high_value) = (bound(low, 0.0)?, bound(high, 1.0)?);
                if let (Some(formula), true) =
                    (high.as_ref().or(low.as_ref()), low_value >= high_value)
                {
                    return Err(self.out_of_range(
                        formula,
                        &high_value.to_string(),
                        &format!("above the lower end, {low_value}"),
                    ));
                }
                Init::Random {
                    low: low_value,
                    high: high_value,
                }
            }
            InitFormula::Sorted(step) => Init::Sorted {
                step: small(&Some(step.clone()), 1, 1)?,
            },
            InitFormula::Shuffled(step) => Init::Shuffled {
                step: small(&Some(step.clone()), 1, 1)?,
            },
        };
        let needs_power = matches!(
            init,
            Init::Permutation | Init::InversePermutation | Init::Shuffled { .. }
        );
        if needs_power && !length.is_power_of_two() {
            return Err(self.out_of_range(
                &buffer.length,
                &length.to_string(),
                "a power of two for a permutation",
            ));
        }
        Ok(Elements {
            kind: buffer.kind,
            length,
            init,
            seed: small(&buffer.seed, 0, 0)?,
            take: small(&buffer.take, 1, 1)?,
            group: small(&buffer.group, 1, 1)?,
            offset: small(&buffer.offset, 0, 0)?,
        })
    }

    fn launch(
        &self,
        launch: &Launch,
        buffers: &[JobBuffer],
        names: &Names,
    ) -> Result<JobLaunch, SpecError> {
        let extent = |formulas: &[Formula], most: [u64; 3]| -> Result<[u32; 3], SpecError> {
            let mut sizes = [1; 3];
            for ((size, formula), most) in sizes.iter_mut().zip(formulas).zip(most) {
                *size = self.count(formula, names, 1, most)? as u32;
            }
            Ok(sizes)
        };
        let block = extent(&launch.block, [MAX_THREADS, MAX_THREADS, 64])?;
        let threads: u64 = block.iter().map(|size| u64::from(*size)).product();
        if let (true, Some(first)) = (threads > MAX_THREADS, launch.block.first()) {
            return Err(self.out_of_range(
                first,
                &format!("{threads} threads in all"),
                &format!("at most {MAX_THREADS} threads; `where` leaves such states out"),
            ));
        }
        let mut args = Vec::new();
        for name in &launch.args {
            if let Some(place) = buffers.iter().position(|buffer| buffer.name == *name) {
                args.push(JobArgument::Buffer(place));
            } else if let Some(scalar) = self.scalars.iter().find(|scalar| scalar.name == *name) {
                let value = self.in_range(scalar.kind, &scalar.value, names)?;
                let mut bytes = Vec::new();
                scalar.kind.push(value, &mut bytes);
                args.push(JobArgument::Scalar(bytes));
            }
        }
        Ok(JobLaunch {
            entry: launch.entry.clone(),
            grid: extent(&launch.grid, [i32::MAX as u64, 65_535, 65_535])?,
            block,
            cluster: launch
                .cluster
                .as_ref()
                .map(|formulas| extent(formulas, [16, 16, 16]))
                .transpose()?,
            shared: match &launch.shared {
                None => 0,
                Some(formula) => self.count(formula, names, 0, 1 << 20)? as u32,
            },
            args,
        })
    }

    /// A value that a type can hold.
    fn in_range(
        &self,
        kind: ElementType,
        formula: &Formula,
        names: &Names,
    ) -> Result<Value, SpecError> {
        let value = self.value(formula, names)?;
        if let Some((least, most)) = kind.range() {
            let is_within = matches!(value, Value::Int(value) if (least..=most).contains(&value));
            if !is_within {
                return Err(self.out_of_range(
                    formula,
                    &value.to_string(),
                    &format!("a whole number from {least} to {most}, which {kind} holds"),
                ));
            }
        } else if matches!(value, Value::Bool(_)) {
            return Err(self.out_of_range(formula, &value.to_string(), "a number"));
        }
        Ok(value)
    }

    /// A whole number in a range.
    pub(crate) fn count(
        &self,
        formula: &Formula,
        names: &Names,
        least: u64,
        most: u64,
    ) -> Result<u64, SpecError> {
        let value = self.value(formula, names)?;
        let whole = match value {
            Value::Int(value) => u64::try_from(value).ok(),
            // A size such as 1e6 is whole too.
            Value::Float(value) if value.fract().abs() == 0.0 && (0.0..1e15).contains(&value) => {
                Some(value as u64)
            }
            _ => None,
        };
        whole
            .filter(|whole| (least..=most).contains(whole))
            .ok_or_else(|| {
                self.out_of_range(
                    formula,
                    &value.to_string(),
                    &format!("a whole number from {least} to {most}"),
                )
            })
    }
}
