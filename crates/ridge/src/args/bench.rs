//! The arguments of `ridge bench`.

use std::hash::{BuildHasher, RandomState};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use ridge_bench::expression::Value;
use ridge_bench::protocol::{FlushKind, Mode, Settings};
use ridge_bench::spec::parse_axis;
use ridge_model::quantity::{Hertz, Nanos};

use crate::error::ExpectedError;
use crate::filter::NameFilter;
use crate::verbs::bench::{BenchOptions, Flags, LockClocks, What};
use crate::verbs::ceilings::stored::Choice;

pub(super) const EXAMPLES: &str = "\
Examples:
  ridge bench examples/transpose.toml              every state of a spec: times, bounds, the best
  ridge bench examples/transpose.toml --axis n=2048,4096 --filter tiled --mode cold,hot
  ridge bench copy.cu --kernel copy --size n=67108864 --grid 'ceil_div(n, 1024)' --block 256 \\
      --arg 'in=f32[n]:random' --arg 'out=f32[n]' --arg 'n=i32' --bytes '8 * n'
  ridge bench examples/copy.toml examples/gemm.toml -o results.json
                                                   two specs, one document
  ridge bench examples/transpose.toml --device sim:h200 --format json
                                                   the same on a simulated GPU, where there is none

docs/reference/bench-spec.md describes specs; `ridge explain cold` and the other modes tell what times are of.";

#[derive(Debug, Args)]
pub(crate) struct BenchArguments {
    /// Specs in TOML, or a file of kernels (CUDA source, PTX, a cubin or a fatbin) with the options below
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The GPU: its number, or sim:NAME for a simulated one (`ridge devices` lists names)
    #[arg(long, value_name = "DEVICE", default_value = "0")]
    device: String,
    /// What times are of
    #[arg(
        long,
        value_name = "MODE",
        value_delimiter = ',',
        value_enum,
        default_value = "cold"
    )]
    mode: Vec<ModeArgument>,
    /// Stop when the median is known within this share, 0.005 or 0.5%
    #[arg(long, value_name = "SHARE", value_parser = share, default_value = "0.5%")]
    precision: f64,
    /// Samples before precision can end a measurement
    #[arg(long, value_name = "N", default_value_t = 30)]
    min_samples: usize,
    /// Samples at which it ends in any case
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    max_samples: usize,
    /// Time of sampling before precision can end a measurement, for each mode of a state [default: 250ms, or --max-time if
    /// that is less; 0s on a simulated GPU and with --fresh-inputs]
    #[arg(long, value_name = "TIME", value_parser = least_time)]
    min_time: Option<Nanos>,
    /// Time of sampling at which it ends in any case, for each mode of a state; looking at outputs does not count
    #[arg(long, value_name = "TIME", value_parser = str::parse::<Nanos>, default_value = "5s")]
    max_time: Nanos,
    /// Time at which warming up ends in any case
    #[arg(long, value_name = "TIME", value_parser = str::parse::<Nanos>, default_value = "1s")]
    warm_up: Nanos,
    /// Time after which a kernel counts as hanging
    #[arg(long, value_name = "TIME", value_parser = str::parse::<Nanos>, default_value = "10s")]
    timeout: Nanos,
    /// With what the L2 is flushed before cold samples
    #[arg(long, value_name = "KIND", value_enum, default_value = "read")]
    flush: FlushArgument,
    /// How many times the size of the L2 is touched by that
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=64))]
    flush_times: u32,
    /// Make inputs anew, with other numbers, before each sample
    #[arg(long)]
    fresh_inputs: bool,
    /// Values of an axis or a size, in place of the spec's: n=1024,2048, n=8:32:8 or n=2^10:14
    #[arg(long, value_name = "NAME=VALUES", value_parser = axis)]
    axis: Vec<(String, Vec<Value>)>,
    /// Only states whose name contains a match of this regular expression, such as 'tiled.*tile=32'
    #[arg(long, value_name = "REGEX")]
    filter: Option<String>,
    /// Lock the SM clock while measuring: base, or a clock in MHz; needs root, and is restored whatever happens
    #[arg(long, value_name = "CLOCK", value_parser = lock)]
    lock_clocks: Option<LockClocks>,
    /// A table of devices of your own, in the form of `ridge devices --format csv`
    #[arg(long, value_name = "FILE")]
    devices: Option<PathBuf>,
    /// What was measured on the GPU: a file of `ridge ceilings`, auto for what it has stored for this GPU, or none
    #[arg(long, value_name = "FILE", default_value = "auto", value_parser = str::parse::<Choice>)]
    ceilings: Choice,
    #[command(flatten)]
    record: super::history::RecordArgument,
    #[command(flatten)]
    kernel: KernelArguments,
    /// Format of the answer [default: text]
    #[arg(long, value_enum)]
    format: Option<BenchFormat>,
}

/// What a spec would say, for one kernel of a file.
#[derive(Debug, Args)]
#[command(next_help_heading = "Instead of a spec")]
struct KernelArguments {
    /// Name of the kernel
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Blocks: an expression for x, or up to three with commas between them
    #[arg(long, value_name = "EXPRESSIONS")]
    grid: Option<String>,
    /// Threads of a block
    #[arg(long, value_name = "EXPRESSIONS")]
    block: Option<String>,
    /// Bytes of dynamic shared memory
    #[arg(long, value_name = "EXPRESSION")]
    shared: Option<String>,
    /// An argument, in the order of the parameters: NAME=TYPE[LENGTH] is only written, NAME=TYPE[LENGTH]:INIT has content
    /// (random, zeros, iota, bits), NAME=TYPE:VALUE is no buffer
    #[arg(long = "arg", value_name = "ARGUMENT")]
    args: Vec<String>,
    /// A named number for expressions
    #[arg(long, value_name = "NAME=EXPRESSION")]
    size: Vec<String>,
    /// Bytes that have to cross the border of device memory
    #[arg(long, value_name = "EXPRESSION")]
    bytes: Option<String>,
    /// Operations; a multiply-add is two
    #[arg(long, value_name = "EXPRESSION")]
    flops: Option<String>,
    /// What each element of the output has to be: an expression over its index i, sizes and inputs such as in[i]
    #[arg(long, value_name = "EXPRESSION")]
    check: Option<String>,
    /// An option of the compiler
    #[arg(long = "option", value_name = "OPTION", allow_hyphen_values = true)]
    options: Vec<String>,
    /// A folder of headers
    #[arg(long, short = 'I', value_name = "FOLDER")]
    include: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ModeArgument {
    /// One launch with nothing of its own in the L2
    Cold,
    /// One launch again and again on the same buffers
    Hot,
    /// Launches one behind the other, over their number
    Batch,
    /// One launch and the wait for it, as the host sees it
    Latency,
    /// What one more launch in a CUDA graph costs
    Graph,
    /// All of them
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FlushArgument {
    /// Loads: what is left is clean
    Read,
    /// Stores: what is left is dirty, and the kernel pays for writing it back
    Write,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BenchFormat {
    /// A page for people
    Text,
    /// The same tables as Markdown
    Markdown,
    /// One row for each state and mode
    Csv,
    /// One document with all samples, described by schemas/bench.schema.json
    Json,
}

fn share(text: &str) -> Result<f64, String> {
    let (number, factor) = text
        .strip_suffix('%')
        .map_or((text, 1.0), |number| (number, 0.01));
    number
        .trim()
        .parse::<f64>()
        .ok()
        .map(|number| number * factor)
        .filter(|share| *share > 0.0 && *share < 1.0)
        .ok_or_else(|| "expected a share above 0 and below 1, such as 0.005 or 0.5%".to_owned())
}

/// A time that may be zero: then the interval of the median alone decides.
fn least_time(text: &str) -> Result<Nanos, String> {
    if ["0", "0s", "0ms", "0us", "0ns"].contains(&text.trim()) {
        return Ok(Nanos::new(0.0));
    }
    text.parse::<Nanos>().map_err(|error| error.to_string())
}

fn axis(text: &str) -> Result<(String, Vec<Value>), String> {
    let (name, values) = text.split_once('=').ok_or("expected NAME=VALUES")?;
    Ok((name.trim().to_owned(), parse_axis(values)?))
}

fn lock(text: &str) -> Result<LockClocks, String> {
    if text == "base" {
        return Ok(LockClocks::Base);
    }
    text.parse::<f64>()
        .ok()
        .filter(|megahertz| (100.0..10_000.0).contains(megahertz))
        .map(|megahertz| LockClocks::At(Hertz::new(megahertz * 1e6)))
        .ok_or_else(|| "expected base, or a clock in MHz such as 1500".to_owned())
}

impl BenchArguments {
    pub(crate) fn options(self) -> Result<BenchOptions, ExpectedError> {
        let mut modes = Vec::new();
        for mode in &self.mode {
            let chosen: &[Mode] = match mode {
                ModeArgument::Cold => &[Mode::Cold],
                ModeArgument::Hot => &[Mode::Hot],
                ModeArgument::Batch => &[Mode::Batch],
                ModeArgument::Latency => &[Mode::Latency],
                ModeArgument::Graph => &[Mode::Graph],
                ModeArgument::All => &Mode::ALL,
            };
            modes.extend(
                chosen
                    .iter()
                    .filter(|mode| !modes.contains(*mode))
                    .copied()
                    .collect::<Vec<_>>(),
            );
        }
        if self.min_samples < 6 {
            return Err(ExpectedError::usage(format!(
                "--min-samples {} is too few: the median has an interval from 6 samples on",
                self.min_samples
            ))
            .with_hint("--min-samples 30"));
        }
        if self.max_samples < self.min_samples {
            return Err(ExpectedError::usage(format!(
                "--max-samples {} is below --min-samples {}",
                self.max_samples, self.min_samples
            ))
            .with_hint(format!("--min-samples {}", self.max_samples.max(6))));
        }
        for (option, time) in [("--max-time", self.max_time), ("--timeout", self.timeout)] {
            if time.get() <= 0.0 || !time.get().is_finite() {
                return Err(
                    ExpectedError::usage(format!("{option} has to be above zero"))
                        .with_hint(format!("{option} 5s")),
                );
            }
        }
        let min_time = self.min_time()?;
        // A simulated device repeats itself.
        let check_seed = if self.device.starts_with("sim:") {
            Settings::default().check_seed
        } else {
            RandomState::new().hash_one(()) as u32
        };
        let what = match (self.kernel.flags()?, self.files.as_slice()) {
            (None, files) => files.iter().cloned().map(What::File).collect(),
            (Some(flags), [file]) => vec![What::Kernel(file.clone(), Box::new(flags))],
            (Some(_), files) => {
                return Err(ExpectedError::usage(format!(
                    "--kernel and the options beside it describe a kernel of one file, and {} are named",
                    files.len()
                ))
                .with_hint("measure them one by one, or describe them in specs"));
            }
        };
        Ok(BenchOptions {
            what,
            device: self.device,
            settings: Settings {
                modes,
                precision: self.precision,
                min_samples: self.min_samples,
                max_samples: self.max_samples,
                min_time_ns: min_time.get(),
                max_time_ns: self.max_time.get(),
                flush: match self.flush {
                    FlushArgument::Read => FlushKind::Read,
                    FlushArgument::Write => FlushKind::Write,
                },
                flush_times_l2: self.flush_times,
                has_fresh_inputs: self.fresh_inputs,
                max_warm_up_ns: self.warm_up.get().max(0.0),
                timeout_ns: self.timeout.get(),
                check_seed,
                ..Settings::default()
            },
            axes: self.axis,
            filter: NameFilter::new(self.filter.as_deref())?,
            lock_clocks: self.lock_clocks,
            table: self.devices,
            ceilings: self.ceilings,
            recording: self.record.recording()?,
            format: self.format,
        })
    }

    /// How long to sample at least. What nobody asked for gives way to what somebody did.
    fn min_time(&self) -> Result<Nanos, ExpectedError> {
        let Some(asked) = self.min_time else {
            // A model has no drift to average over. Making inputs takes far longer than a sample, so that the usual number
            // of samples would take minutes.
            let usual = if self.fresh_inputs || self.device.starts_with("sim:") {
                0.0
            } else {
                Settings::default().min_time_ns
            };
            return Ok(Nanos::new(usual.min(self.max_time.get())));
        };
        if !(0.0..=self.max_time.get()).contains(&asked.get()) {
            return Err(ExpectedError::usage(format!(
                "--min-time {asked} is not between 0 and --max-time, which is {}",
                self.max_time
            ))
            .with_hint("--min-time 250ms"));
        }
        Ok(asked)
    }
}

impl KernelArguments {
    /// What was given in place of a spec, if anything was.
    fn flags(self) -> Result<Option<Flags>, ExpectedError> {
        let Self {
            kernel,
            grid,
            block,
            shared,
            args,
            size,
            bytes,
            flops,
            check,
            options,
            include,
        } = self;
        let is_given = kernel.is_some()
            || grid.is_some()
            || block.is_some()
            || shared.is_some()
            || !args.is_empty()
            || !size.is_empty()
            || bytes.is_some()
            || flops.is_some()
            || check.is_some();
        if !is_given && options.is_empty() && include.is_empty() {
            return Ok(None);
        }
        let missing = |option: &str| {
            ExpectedError::usage(format!(
                "{option} is missing: a kernel without a spec needs --kernel, --grid and --block"
            ))
            .with_hint(
                "`ridge bench --help` has an example; a spec in TOML says the same in a file",
            )
        };
        Ok(Some(Flags {
            kernel: kernel.ok_or_else(|| missing("--kernel"))?,
            grid: grid.ok_or_else(|| missing("--grid"))?,
            block: block.ok_or_else(|| missing("--block"))?,
            shared,
            args,
            size,
            bytes,
            flops,
            check,
            options,
            include,
        }))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Alone {
        #[command(flatten)]
        bench: BenchArguments,
    }

    fn least(options: &[&str]) -> Result<f64, String> {
        let all = ["bench", "copy.toml"].iter().chain(options);
        let parsed = Alone::try_parse_from(all).map_err(|error| error.to_string())?;
        let options = parsed.bench.options().map_err(|error| error.message)?;
        Ok(options.settings.min_time_ns)
    }

    /// What nobody asked for gives way, and what somebody asked for is taken or refused.
    #[test]
    fn the_least_time_of_sampling_fits_the_other_options() {
        let usual = Settings::default().min_time_ns;
        assert_eq!(least(&[]), Ok(usual));
        assert_eq!(least(&["--max-time", "100ms"]), Ok(100e6));
        assert_eq!(least(&["--fresh-inputs"]), Ok(0.0));
        assert_eq!(least(&["--device", "sim:h200"]), Ok(0.0));
        assert_eq!(
            least(&["--device", "sim:h200", "--min-time", "1s"]),
            Ok(1e9)
        );
        assert_eq!(least(&["--min-time", "0s"]), Ok(0.0));
        for wrong in [
            &["--min-time", "6s"][..],
            &["--min-time", "1s", "--max-time", "500ms"],
        ] {
            let refused = least(wrong).unwrap_err();
            assert!(
                refused.starts_with("--min-time ") && refused.contains("--max-time"),
                "{refused}"
            );
        }
    }
}
