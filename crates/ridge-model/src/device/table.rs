//! The table of devices: reading it, and the one that comes with Ridgepoint.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use super::csv::{self, Row};
use super::{Confidence, Device, Fact, Origin, PciId, Peak, PeakUnit, TableError};
use crate::NumberFormat;
use crate::arch::ComputeCapability;
use crate::arch::tensor::Board;
use crate::quantity::{Bandwidth, Bytes, ComputeRate, Hertz};
use crate::spelling::{distance, plain};

/// A table of every GPU in the world would be smaller.
const LIMIT_BYTES: usize = 4 << 20;

/// Devices, in the order in which they are listed.
#[derive(Clone, Debug, PartialEq)]
pub struct Devices {
    pub(super) devices: Vec<Device>,
}

/// A column with a peak.
pub(super) struct PeakColumn {
    name: &'static str,
    pub(super) input: NumberFormat,
    pub(super) accumulator: NumberFormat,
    is_tensor: bool,
}

impl PeakColumn {
    pub(super) const fn unit(&self) -> PeakUnit {
        if self.is_tensor {
            PeakUnit::Tensor
        } else {
            PeakUnit::Vector
        }
    }

    /// The peak of this column, without its rate.
    const fn peak(&self) -> Peak {
        Peak {
            input: self.input,
            accumulator: self.accumulator,
            unit: self.unit(),
            is_sparse: false,
            rate: ComputeRate::ZERO,
            clock: None,
            origin: Origin::Derived,
        }
    }

    /// Whether a peak stands in this column.
    fn holds(&self, peak: &Peak) -> bool {
        !peak.is_sparse
            && peak.input == self.input
            && peak.accumulator == self.accumulator
            && peak.unit == self.unit()
    }
}

const fn vector(name: &'static str, input: NumberFormat) -> PeakColumn {
    PeakColumn {
        name,
        input,
        accumulator: input,
        is_tensor: false,
    }
}

const fn tensor(name: &'static str, input: NumberFormat, accumulator: NumberFormat) -> PeakColumn {
    PeakColumn {
        name,
        input,
        accumulator,
        is_tensor: true,
    }
}

/// Columns with dense peaks, in 10^12 operations a second.
pub(super) const PEAK_COLUMNS: &[PeakColumn] = &[
    vector("fp64", NumberFormat::Fp64),
    tensor("fp64_tensor", NumberFormat::Fp64, NumberFormat::Fp64),
    vector("fp32", NumberFormat::Fp32),
    vector("fp16_vector", NumberFormat::Fp16),
    tensor("tf32_f32acc", NumberFormat::Tf32, NumberFormat::Fp32),
    tensor("fp16_f32acc", NumberFormat::Fp16, NumberFormat::Fp32),
    tensor("fp16_f16acc", NumberFormat::Fp16, NumberFormat::Fp16),
    tensor("bf16_f32acc", NumberFormat::Bf16, NumberFormat::Fp32),
    tensor("fp8_f32acc", NumberFormat::Fp8E4m3, NumberFormat::Fp32),
    tensor("fp8_f16acc", NumberFormat::Fp8E4m3, NumberFormat::Fp16),
    tensor("int8_i32acc", NumberFormat::Int8, NumberFormat::Int32),
    tensor("int4_i32acc", NumberFormat::Int4, NumberFormat::Int32),
    tensor("fp4_f32acc", NumberFormat::Fp4, NumberFormat::Fp32),
];

/// The number of columns before the peaks.
const PEAKS_BEHIND: usize = 12;

/// All other columns.
const COLUMNS: &[&str] = &[
    "name",
    "aliases",
    "pci_ids",
    "cc",
    "class",
    "sm",
    "boost_mhz",
    "tensor_mhz",
    "mem_gb",
    "mem_gbs",
    "l2_mib",
    "l2_gbs",
    "sparse_24",
    "pcie_gbs_dir",
    "nvlink_gbs_dir",
    "tdp_w",
    "spec_source",
    "peak_source",
    "confidence",
    "verify",
];

/// What the column of sparsity says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sparsity {
    None,
    Doubles,
    /// Whether the 4-bit peak doubles is not known.
    DoublesAllButFp4,
}

impl Devices {
    /// The devices that Ridgepoint knows.
    ///
    /// # Panics
    /// Never: a test reads the table that is built in.
    #[must_use]
    pub fn known() -> &'static Self {
        static KNOWN: OnceLock<Devices> = OnceLock::new();
        KNOWN.get_or_init(|| {
            Self::parse(include_str!("gpus.csv")).expect("the table that is built in can be read")
        })
    }

    /// Reads a table: a header with the names of columns in any order, then one row for each device. Only `name` and
    /// `cc` are needed. A row without any peak gets those that follow from `cc`, `sm` and the clocks.
    ///
    /// # Errors
    /// When the text is no such table; the error says in which line and column.
    pub fn parse(text: &str) -> Result<Self, TableError> {
        if text.len() > LIMIT_BYTES {
            return Err(TableError::TooLarge {
                limit_bytes: LIMIT_BYTES,
            });
        }
        let rows = csv::rows(text)?;
        let (header, rows) = rows.split_first().ok_or(TableError::Empty)?;
        let columns = columns(header)?;
        let mut devices: Vec<Device> = Vec::with_capacity(rows.len());
        let mut names = HashSet::new();
        for row in rows {
            let device = Cells::new(row, &columns)?.device()?;
            if !names.insert(plain(&device.name)) {
                return Err(TableError::DoubleName {
                    line: row.line,
                    name: device.name,
                });
            }
            devices.push(device);
        }
        Ok(Self { devices })
    }

    /// These devices and others: one with the name of an earlier one takes its place, as a whole. A PCI id that one of
    /// the others has is no longer that of an earlier one.
    #[must_use]
    pub fn with(&self, others: Self) -> Self {
        let mut devices = self.devices.clone();
        let ids: HashSet<PciId> = others
            .devices
            .iter()
            .flat_map(|other| other.pci_ids.iter().copied())
            .collect();
        for device in &mut devices {
            device.pci_ids.retain(|id| !ids.contains(id));
        }
        let places: HashMap<String, usize> = devices
            .iter()
            .enumerate()
            .map(|(place, device)| (plain(&device.name), place))
            .collect();
        for other in others.devices {
            let earlier = places.get(&plain(&other.name)).copied();
            match earlier.and_then(|place| devices.get_mut(place)) {
                Some(device) => *device = other,
                None => devices.push(other),
            }
        }
        Self { devices }
    }

    /// The names of all columns, in the order in which we write them.
    pub fn columns() -> impl Iterator<Item = &'static str> {
        let (specification, rest) = COLUMNS.split_at(PEAKS_BEHIND);
        let peaks = PEAK_COLUMNS.iter().map(|column| column.name);
        specification
            .iter()
            .copied()
            .chain(peaks)
            .chain(rest.iter().copied())
    }

    /// What a column with a peak holds, such as `BF16 tensor, FP32 accumulate`; absent for other columns.
    #[must_use]
    pub fn peak_label(column: &str) -> Option<String> {
        let column = PEAK_COLUMNS.iter().find(|known| known.name == column)?;
        Some(column.peak().label())
    }

    /// All devices.
    pub fn iter(&self) -> impl Iterator<Item = &Device> {
        self.devices.iter()
    }
}

/// The column of each cell.
fn columns(header: &Row) -> Result<Vec<&'static str>, TableError> {
    let known = || {
        COLUMNS
            .iter()
            .copied()
            .chain(PEAK_COLUMNS.iter().map(|column| column.name))
    };
    let mut columns = Vec::with_capacity(header.cells.len());
    for cell in &header.cells {
        let Some(column) = known().find(|column| column.eq_ignore_ascii_case(cell)) else {
            let lower = cell.to_ascii_lowercase();
            return Err(TableError::UnknownColumn {
                name: cell.clone(),
                nearest: known()
                    .map(|column| (distance(&lower, column), column))
                    .min_by_key(|(distance, _)| *distance)
                    .filter(|(distance, _)| *distance <= 3)
                    .map(|(_, column)| column),
            });
        };
        if columns.contains(&column) {
            return Err(TableError::DoubleColumn {
                name: column.to_owned(),
            });
        }
        columns.push(column);
    }
    for name in ["name", "cc"] {
        if !columns.contains(&name) {
            return Err(TableError::MissingColumn { name });
        }
    }
    Ok(columns)
}

/// The cells of a row by column.
struct Cells<'r> {
    row: &'r Row,
    columns: &'r [&'static str],
}

impl<'r> Cells<'r> {
    fn new(row: &'r Row, columns: &'r [&'static str]) -> Result<Self, TableError> {
        if row.cells.len() > columns.len() {
            return Err(TableError::TooManyCells { line: row.line });
        }
        Ok(Self { row, columns })
    }

    /// The text of a cell; absent where it is empty.
    fn text(&self, column: &str) -> Option<&'r str> {
        let place = self.columns.iter().position(|name| *name == column)?;
        let cell = self.row.cells.get(place)?;
        Some(cell.as_str()).filter(|cell| !cell.is_empty())
    }

    /// The text of a cell as something else.
    fn read<T>(
        &self,
        column: &'static str,
        expected: &'static str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, TableError> {
        let Some(text) = self.text(column) else {
            return Ok(None);
        };
        read(text).map(Some).ok_or_else(|| TableError::BadCell {
            line: self.row.line,
            column,
            value: text.to_owned(),
            expected,
        })
    }

    fn needed<T>(&self, column: &'static str, value: Option<T>) -> Result<T, TableError> {
        value.ok_or(TableError::MissingCell {
            line: self.row.line,
            column,
        })
    }

    /// A number above zero. The bounds are those of what can be, with the units of the columns: see
    /// [`Plausible`](crate::quantity::Plausible).
    fn number(&self, column: &'static str) -> Result<Option<f64>, TableError> {
        let expected = "a number from 0.001 to 1e9 without a unit";
        self.read(column, expected, |text| {
            let number: f64 = text.parse().ok()?;
            (0.001..=1e9).contains(&number).then_some(number)
        })
    }

    fn device(&self) -> Result<Device, TableError> {
        let name = self.needed("name", self.text("name"))?.to_owned();
        let capability = self.read("cc", "a compute capability such as 9.0", |text| {
            let (major, minor) = text.split_once('.')?;
            Some(ComputeCapability {
                major: major.parse().ok()?,
                minor: minor.parse().ok()?,
            })
        })?;
        let capability = self.needed("cc", capability)?;
        let aliases: Vec<String> = self
            .text("aliases")
            .into_iter()
            .flat_map(|text| text.split('|'))
            .map(|alias| alias.trim().to_owned())
            .filter(|alias| !alias.is_empty())
            .collect();
        let pci_ids = self.read(
            "pci_ids",
            "PCI ids such as 10de:2335, with | between them",
            |text| {
                let ids = text.split('|').map(str::trim).filter(|id| !id.is_empty());
                ids.map(PciId::of).collect::<Option<Vec<PciId>>>()
            },
        )?;
        let board = self
            .read("class", "pro or geforce", |text| match text {
                "pro" => Some(Board::Professional),
                "geforce" => Some(Board::GeForce),
                _ => None,
            })?
            .unwrap_or_else(|| board_of(&name, &aliases));
        let source = |column| {
            self.read(
                column,
                "measured, documented, derived or unverified",
                Origin::of_table,
            )
            .map(|origin| origin.unwrap_or(Origin::Unverified))
        };
        let (spec, peak) = (source("spec_source")?, source("peak_source")?);
        let spec_fact = |value| Fact {
            value,
            origin: spec,
        };
        let derived = |value| Fact {
            value,
            origin: Origin::Derived,
        };
        let unverified = |value: f64| Fact {
            value,
            origin: Origin::Unverified,
        };
        let boost_clock = self.number("boost_mhz")?.map(|mhz| Hertz::new(mhz * 1e6));
        let tensor_clock = self.number("tensor_mhz")?.map(|mhz| Hertz::new(mhz * 1e6));
        let multiprocessors = self.read("sm", "a whole number above 0", |text| {
            text.parse()
                .ok()
                .filter(|count| *count > 0 && *count < 100_000)
        })?;
        let confidence = self
            .read("confidence", "low, medium or high", Confidence::of)?
            .unwrap_or(Confidence::Low);
        let mut device = Device {
            name,
            aliases,
            pci_ids: pci_ids.unwrap_or_default(),
            capability,
            board,
            multiprocessors: multiprocessors.map(|value| Fact {
                value,
                origin: spec,
            }),
            boost_clock: boost_clock.map(|value| Fact {
                value,
                origin: spec,
            }),
            tensor_clock: tensor_clock.map(|value| Fact {
                value,
                origin: Origin::Derived,
            }),
            memory: self
                .number("mem_gb")?
                .map(unverified)
                .map(|fact| fact.map(|gb| Bytes::new(gb * 1e9))),
            bandwidth: self
                .number("mem_gbs")?
                .map(spec_fact)
                .map(|fact| fact.map(Bandwidth::from_gb_per_s)),
            l2: self
                .number("l2_mib")?
                .map(spec_fact)
                .map(|fact| fact.map(|mib| Bytes::new(mib * 1_048_576.0))),
            l2_bandwidth: self.number("l2_gbs")?.map(|gbs| Fact {
                value: Bandwidth::from_gb_per_s(gbs),
                origin: Origin::Documented,
            }),
            host_link: self
                .number("pcie_gbs_dir")?
                .map(derived)
                .map(|fact| fact.map(Bandwidth::from_gb_per_s)),
            nvlink: self
                .number("nvlink_gbs_dir")?
                .map(unverified)
                .map(|fact| fact.map(Bandwidth::from_gb_per_s)),
            power_limit_w: self.number("tdp_w")?.map(unverified),
            peaks: Vec::new(),
            confidence,
            doubts: self.text("verify").unwrap_or_default().to_owned(),
        };
        device.peaks = self.peaks(&device, peak)?;
        if device.peaks.is_empty() {
            device.derive_peaks();
        }
        Ok(device)
    }

    /// Dense peaks of the row, those of slower instructions, and those with sparsity.
    fn peaks(&self, device: &Device, origin: Origin) -> Result<Vec<Peak>, TableError> {
        let sparsity = self
            .read("sparse_24", "no, x2 or x2-not-fp4", |text| match text {
                "no" => Some(Sparsity::None),
                "x2" => Some(Sparsity::Doubles),
                "x2-not-fp4" => Some(Sparsity::DoublesAllButFp4),
                _ => None,
            })?
            .unwrap_or(Sparsity::None);
        let mut peaks = Vec::new();
        for column in PEAK_COLUMNS {
            let Some(tera) = self.number(column.name)? else {
                continue;
            };
            peaks.push(Peak {
                rate: ComputeRate::from_tera(tera),
                clock: device.peak_clock(column.input, column.unit()),
                origin,
                ..column.peak()
            });
        }
        let slower: Vec<Peak> = peaks
            .iter()
            .filter_map(|peak| device.by_one_warp(peak))
            .collect();
        let sparse: Vec<Peak> = peaks
            .iter()
            .filter(|peak| peak.unit == PeakUnit::Tensor && peak.input != NumberFormat::Fp64)
            .filter(|peak| match sparsity {
                Sparsity::None => false,
                Sparsity::Doubles => true,
                Sparsity::DoublesAllButFp4 => peak.input != NumberFormat::Fp4,
            })
            .map(|peak| Peak {
                is_sparse: true,
                rate: peak.rate * 2.0,
                origin: Origin::Derived,
                ..*peak
            })
            .collect();
        peaks.extend(slower);
        peaks.extend(sparse);
        Ok(peaks)
    }
}

impl Device {
    /// What stands in a column of the table; absent where the cell is empty.
    #[must_use]
    pub fn cell(&self, column: &str) -> Option<String> {
        let mega = |clock: Option<Fact<Hertz>>| clock.map(|fact| short(fact.value.get() / 1e6));
        let giga = |rate: Option<Fact<Bandwidth>>| rate.map(|fact| short(fact.value.get() / 1e9));
        match column {
            "name" => Some(self.name.clone()),
            "aliases" => Some(self.aliases.join("|")).filter(|text| !text.is_empty()),
            "cc" => Some(self.capability.to_string()),
            "class" => Some(
                match self.board {
                    Board::Professional => "pro",
                    Board::GeForce => "geforce",
                }
                .to_owned(),
            ),
            "pci_ids" => {
                let ids: Vec<String> = self.pci_ids.iter().map(ToString::to_string).collect();
                Some(ids.join("|")).filter(|text| !text.is_empty())
            }
            "sm" => self.multiprocessors.map(|fact| fact.value.to_string()),
            "boost_mhz" => mega(self.boost_clock),
            "tensor_mhz" => mega(self.tensor_clock),
            "mem_gb" => self.memory.map(|fact| short(fact.value.get() / 1e9)),
            "mem_gbs" => giga(self.bandwidth),
            "l2_mib" => self.l2.map(|fact| short(fact.value.get() / 1_048_576.0)),
            "l2_gbs" => giga(self.l2_bandwidth),
            "pcie_gbs_dir" => giga(self.host_link),
            "nvlink_gbs_dir" => giga(self.nvlink),
            "tdp_w" => self.power_limit_w.map(|fact| short(fact.value)),
            "sparse_24" => Some(self.sparsity().to_owned()),
            "spec_source" => self.bandwidth.map(|fact| fact.origin.name().to_owned()),
            "peak_source" => self.peaks.first().map(|peak| peak.origin.name().to_owned()),
            "confidence" => Some(self.confidence.name().to_owned()),
            "verify" => Some(self.doubts.clone()).filter(|text| !text.is_empty()),
            _ => {
                let column = PEAK_COLUMNS.iter().find(|known| known.name == column)?;
                let peak = self.peaks.iter().find(|peak| column.holds(peak))?;
                Some(short(peak.rate.get() / 1e12))
            }
        }
    }

    fn sparsity(&self) -> &'static str {
        let has_sparse = |is_fp4: bool| {
            self.peaks
                .iter()
                .any(|peak| peak.is_sparse && (peak.input == NumberFormat::Fp4) == is_fp4)
        };
        let has_fp4 = self
            .peaks
            .iter()
            .any(|peak| peak.input == NumberFormat::Fp4);
        match (has_sparse(false), has_fp4 && !has_sparse(true)) {
            (false, _) => "no",
            (true, false) => "x2",
            (true, true) => "x2-not-fp4",
        }
    }
}

/// A number without the dust of binary fractions.
fn short(value: f64) -> String {
    let rounded: f64 = format!("{value:.9e}").parse().unwrap_or(value);
    rounded.to_string()
}

/// The class by the names of a device.
pub(super) fn board_of(name: &str, aliases: &[String]) -> Board {
    std::iter::once(name)
        .chain(aliases.iter().map(String::as_str))
        .map(Board::of)
        .find(|board| *board == Board::GeForce)
        .unwrap_or(Board::Professional)
}

impl<T> Fact<T> {
    fn map<U>(self, convert: impl FnOnce(T) -> U) -> Fact<U> {
        Fact {
            value: convert(self.value),
            origin: self.origin,
        }
    }
}

impl Device {
    /// The SM clock that a peak of a unit belongs to. Double precision on tensor units keeps the higher clock.
    pub(super) fn peak_clock(&self, input: NumberFormat, unit: PeakUnit) -> Option<Hertz> {
        let boost = self.boost_clock.map(|fact| fact.value);
        match self.tensor_clock {
            Some(fact) if unit != PeakUnit::Vector && input != NumberFormat::Fp64 => {
                Some(fact.value)
            }
            _ => boost,
        }
    }

    /// The peak of instructions of one warp, where the device has faster ones.
    fn by_one_warp(&self, peak: &Peak) -> Option<Peak> {
        if peak.unit != PeakUnit::Tensor {
            return None;
        }
        let warp = Peak {
            unit: PeakUnit::TensorWarp,
            origin: Origin::Derived,
            ..*peak
        };
        let share = self.operations_per_cycle(&warp)? / self.operations_per_cycle(peak)?;
        Some(Peak {
            rate: peak.rate * share,
            ..warp
        })
    }

    /// Fills in the peaks that follow from architecture, multiprocessors and clocks.
    pub(super) fn derive_peaks(&mut self) {
        let dense: Vec<Peak> = PEAK_COLUMNS
            .iter()
            .map(|column| Peak {
                clock: self.peak_clock(column.input, column.unit()),
                ..column.peak()
            })
            .collect();
        let tensor = || dense.iter().filter(|peak| peak.unit == PeakUnit::Tensor);
        let slower = tensor().map(|peak| Peak {
            unit: PeakUnit::TensorWarp,
            ..*peak
        });
        let sparse = tensor().map(|peak| Peak {
            is_sparse: true,
            ..*peak
        });
        let all = dense.iter().copied().chain(slower).chain(sparse);
        self.peaks = all
            .filter_map(|peak| {
                let rate = self.derived(&peak)?;
                Some(Peak { rate, ..peak })
            })
            .collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::PeakRequest;
    use proptest::prelude::*;

    /// How far a derived peak may be from the sheet's.
    const TOLERANCE: f64 = 0.02;

    /// A published peak goes before what the units of the chip could do.
    #[test]
    fn a_published_peak_goes_before_a_derived_one() {
        let a10g = Devices::known().find("a10g").unwrap();
        let peak = |format| a10g.peak(PeakRequest::of(format)).unwrap().rate.to_string();
        assert_eq!(peak(NumberFormat::Fp16), "70.0 TFLOP/s");
        assert_eq!(peak(NumberFormat::Bf16), "70.0 TFLOP/s");
        assert_eq!(peak(NumberFormat::Tf32), "35.0 TFLOP/s");
        // A report names the board, not its class.
        assert_eq!(Board::of("NVIDIA A10G"), a10g.board);
        assert_eq!(Board::of("NVIDIA A10"), Board::Professional);
    }

    /// Units, operations in a cycle and clock make the peak of the sheet, or the row says why they cannot.
    #[test]
    fn derived_peaks_agree_with_the_table() {
        let mut checked = 0;
        for device in Devices::known().iter() {
            for peak in &device.peaks {
                match device.derived(peak) {
                    Some(derived) => {
                        let off = (derived / peak.rate).get() - 1.0;
                        assert!(
                            off.abs() <= TOLERANCE,
                            "{}: {} is {}, derived {derived}",
                            device.name,
                            peak.label(),
                            peak.rate
                        );
                        checked += 1;
                    }
                    None => assert!(
                        device.doubts.contains("cannot be derived"),
                        "{}: {} cannot be derived, and the row does not say why",
                        device.name,
                        peak.label()
                    ),
                }
            }
        }
        assert!(checked > 500, "{checked}");
    }

    #[test]
    fn all_boards_of_the_sheet_are_there() {
        assert_eq!(Devices::known().iter().count(), 42);
        for device in Devices::known().iter() {
            assert!(!device.peaks.is_empty(), "{}", device.name);
            assert!(device.bandwidth.is_some(), "{}", device.name);
            assert!(
                device.confidence != Confidence::Low || !device.doubts.is_empty(),
                "{}: low confidence without a reason",
                device.name
            );
        }
    }

    /// 660 of 989 TFLOP/s: two thirds.
    #[test]
    fn instructions_of_one_warp_have_a_roof_of_their_own() {
        let h100 = Devices::known().find("h100-sxm").unwrap();
        let peak = |unit| {
            h100.peak(PeakRequest::of(NumberFormat::Bf16).on(unit))
                .unwrap()
        };
        let share = peak(PeakUnit::TensorWarp).rate / peak(PeakUnit::Tensor).rate;
        assert!((share.get() - 2.0 / 3.0).abs() < 1e-9);
        assert_eq!(peak(PeakUnit::TensorWarp).rate.to_string(), "660 TFLOP/s");
        let a100 = Devices::known().find("a100 40 sxm4").unwrap();
        assert_eq!(
            a100.peak(PeakRequest::of(NumberFormat::Bf16).on(PeakUnit::TensorWarp)),
            None,
            "where all instructions have one rate, there is one roof"
        );
    }

    #[test]
    fn two_clocks_make_two_kinds_of_peak() {
        let h100 = Devices::known().find("h100-sxm").unwrap();
        let clock = |format| h100.peak(PeakRequest::of(format)).unwrap().clock.unwrap();
        assert_eq!(clock(NumberFormat::Fp32).to_string(), "1.98 GHz");
        assert_eq!(clock(NumberFormat::Bf16).to_string(), "1.83 GHz");
        // 779 TFLOP/s at 1593 MHz were 90.1 % of the peak at that clock.
        let bf16 = h100.peak(PeakRequest::of(NumberFormat::Bf16)).unwrap();
        let at_run = bf16.at(Hertz::new(1.593e9)).unwrap();
        assert!((779e12 / at_run.get() - 0.9045).abs() < 0.001, "{at_run}");
    }

    #[test]
    fn sparsity_doubles_only_where_the_table_says_so() {
        let sparse = |name: &str, format| {
            let request = PeakRequest {
                is_sparse: true,
                ..PeakRequest::of(format)
            };
            Devices::known()
                .find(name)
                .unwrap()
                .peak(request)
                .map(|peak| peak.rate.to_string())
        };
        assert_eq!(
            sparse("h100-sxm", NumberFormat::Bf16).unwrap(),
            "1.98 PFLOP/s"
        );
        assert_eq!(sparse("h100-sxm", NumberFormat::Fp64), None);
        assert_eq!(sparse("t4", NumberFormat::Fp16), None);
        assert_eq!(sparse("b300", NumberFormat::Fp4), None);
        assert_eq!(sparse("b300", NumberFormat::Bf16).unwrap(), "4.50 PFLOP/s");
    }

    #[test]
    fn a_table_of_ones_own_adds_and_replaces() {
        let own = Devices::parse(
            "cc,name,sm,boost_mhz,mem_gbs\n8.9,RTX 4070,46,2475,504\n9.0,h100-sxm,132,1980,3000\n",
        )
        .unwrap();
        let all = Devices::known().with(own);
        assert_eq!(all.iter().count(), 43);
        let h100 = all.find("h100 sxm").unwrap();
        assert_eq!(h100.bandwidth.unwrap().value.to_string(), "3.00 TB/s");
        assert_eq!(
            h100.l2, None,
            "a row replaces a row, cell by cell nothing is mixed"
        );
        let added = all.find("rtx4070").unwrap();
        let fp32 = added.peak(PeakRequest::of(NumberFormat::Fp32)).unwrap();
        assert_eq!(fp32.rate.to_string(), "29.1 TFLOP/s");
        assert_eq!(fp32.origin, Origin::Derived);
    }

    #[test]
    fn cells_make_the_same_table_again() {
        let quoted =
            |cell: Option<String>| format!("\"{}\"", cell.unwrap_or_default().replace('"', "\"\""));
        let mut text = Devices::columns().collect::<Vec<_>>().join(",");
        for device in Devices::known().iter() {
            text.push('\n');
            let cells: Vec<String> = Devices::columns()
                .map(|column| quoted(device.cell(column)))
                .collect();
            text.push_str(&cells.join(","));
        }
        let again = Devices::parse(&text).unwrap();
        for (device, again) in Devices::known().iter().zip(again.iter()) {
            assert_eq!(device, again);
        }
    }

    #[test]
    fn what_is_no_table_is_refused_with_its_place() {
        let lines: Vec<String> = [
            "",
            "# only a remark\n",
            "name\nX",
            "name,cc,bandwith\n",
            "name,cc,wavelength\n",
            "name,cc,cc\n",
            "name,cc\nX,9.0,1",
            "name,cc\n,9.0",
            "name,cc\nX",
            "name,cc\nX,ninety",
            "name,cc,sm\nX,9.0,-4",
            "name,cc,mem_gbs\nX,9.0,3.35 TB/s",
            "name,cc,mem_gbs\nX,9.0,NaN",
            "name,cc,mem_gbs\nX,9.0,0",
            "name,cc,class\nX,9.0,gaming",
            "name,cc,spec_source\nX,9.0,given",
            "name,cc\nX 1,9.0\nx-1,9.0",
            "name,cc\n\"X,9.0",
        ]
        .into_iter()
        .map(|text| {
            let error = Devices::parse(text).unwrap_err();
            format!("{} {error}", error.code())
        })
        .collect();
        insta::assert_snapshot!(lines.join("\n"));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_fail(text in "(name,cc[,a-z_0-9]{0,12}\n)?[ -~\n\"]{0,60}") {
            let _ = Devices::parse(&text);
        }
    }
}
