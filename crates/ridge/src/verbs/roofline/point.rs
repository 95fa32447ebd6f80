//! Points of the command line.

use std::fmt::{self, Display};
use std::str::FromStr;

use ridge_model::bound::{BoundError, Ceilings};
use ridge_model::device::Origin;
use ridge_model::quantity::{Bytes, Flops, Hertz, Nanos};
use ridge_model::roof::{ComputeRoof, MemoryLevel, RoofClock};
use ridge_model::roofline::{Amounts, Moved, Precision, PrecisionRequest, RunRoofs, Subject};
use ridge_model::{Device, NumberFormat};

use crate::error::ExpectedError;

/// `NAME,OPERATIONS,BYTES,TIME[,PRECISION]`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GivenPoint {
    name: String,
    operations: Flops,
    bytes: Bytes,
    time: Nanos,
    precision: PrecisionRequest,
}

/// Why a text is no point.
#[derive(Clone, Debug)]
pub(crate) struct NoPoint(String);

impl Display for NoPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}; expected NAME,OPERATIONS,BYTES,TIME[,PRECISION], such as gemm,137GFLOP,805MB,215us,bf16",
            self.0
        )
    }
}

impl std::error::Error for NoPoint {}

impl FromStr for GivenPoint {
    type Err = NoPoint;

    /// Reads from the right, because names of kernels have commas. What ends in a time has no precision.
    fn from_str(text: &str) -> Result<Self, NoPoint> {
        let no = |reason: &dyn Display| NoPoint(reason.to_string());
        let (head, last) = last_field(text)?;
        let (rest, time, precision) = match last.parse::<Nanos>() {
            Ok(time) => (head, time, None),
            Err(no_time) => match last.parse::<PrecisionRequest>() {
                Ok(precision) => {
                    let (head, time) = last_field(head)?;
                    let time = time.parse::<Nanos>().map_err(|error| no(&error))?;
                    (head, time, Some(precision))
                }
                // A digit in front means that a time was meant.
                Err(_) if last.starts_with(|first: char| first.is_ascii_digit()) => {
                    return Err(no(&no_time));
                }
                Err(no_precision) => return Err(no(&no_precision)),
            },
        };
        let (rest, bytes) = last_field(rest)?;
        let (name, operations) = last_field(rest)?;
        if name.is_empty() {
            return Err(no(&"the name is missing"));
        }
        let point = Self {
            name: name.to_owned(),
            // Copies compute nothing, which is no mistake here.
            operations: match operations {
                "0" => Flops::ZERO,
                _ => operations.parse().map_err(|error| no(&error))?,
            },
            bytes: bytes.parse().map_err(|error| no(&error))?,
            time,
            precision: precision.unwrap_or(PrecisionRequest {
                format: NumberFormat::Fp32,
                unit: None,
            }),
        };
        if point.time.get() > 0.0 {
            Ok(point)
        } else {
            Err(no(&"a time of zero makes no rate"))
        }
    }
}

fn last_field(text: &str) -> Result<(&str, &str), NoPoint> {
    text.rsplit_once(',')
        .map(|(rest, last)| (rest.trim(), last.trim()))
        .ok_or_else(|| NoPoint("too few fields".to_owned()))
}

impl GivenPoint {
    /// A point without its roof says nothing: some roof of the table or of the chart has to be over it. What computes
    /// nothing needs none.
    pub(crate) fn check(
        &self,
        device: &Device,
        clock: Option<Hertz>,
        beside: &[Subject],
    ) -> Result<(), ExpectedError> {
        let ceilings = Ceilings {
            clock,
            ..Ceilings::of(device)
        };
        let Err(error) = ceilings.roof(self.precision.peak()) else {
            return Ok(());
        };
        let precision = self.precision.on(device);
        let mut others = beside.iter().flat_map(|subject| &subject.run.compute);
        if self.operations == Flops::ZERO || others.any(|(other, ..)| *other == precision) {
            return Ok(());
        }
        let hint = match &error {
            BoundError::NoPeak { available, .. } if !available.is_empty() => {
                format!("it has {}", available.join("; "))
            }
            BoundError::NoClock { .. } => {
                "leave out --clock, or add the clock with a table of your own: --devices FILE"
                    .to_owned()
            }
            _ => "add the peak with a table of your own: --devices FILE".to_owned(),
        };
        Err(ExpectedError::usage(format!("--point {}: {error}", self.name)).with_hint(hint))
    }

    /// The point on a device, with its roofs at a clock where one is given.
    pub(crate) fn subject(&self, device: &Device, clock: Option<Hertz>) -> Subject {
        let compute = clock.map_or_else(Vec::new, |clock| {
            device
                .peaks
                .iter()
                .filter_map(|peak| {
                    let roof = ComputeRoof::of(peak, RoofClock::Run(clock))?;
                    Some((Precision::of(peak), roof.rate, Vec::new()))
                })
                .collect()
        });
        Subject {
            name: self.name.clone(),
            signature: None,
            shape: None,
            source: None,
            side: None,
            launches: Vec::new(),
            launch: None,
            origin: Origin::Given,
            left_out: None,
            time: Some(self.time),
            total_time: Some(self.time),
            class: None,
            operations: vec![Amounts {
                precision: self.precision.on(device),
                operations: self.operations,
                source: Vec::new(),
                may_be_moves: false,
            }],
            not_counted: Vec::new(),
            moved: vec![Moved {
                level: MemoryLevel::Dram,
                bytes: self.bytes,
                source: Vec::new(),
            }],
            run: RunRoofs {
                sm_clock: clock,
                memory: Vec::new(),
                compute,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_have_commas() {
        let point: GivenPoint = "gemm<float, 4>, 2 GFLOP, 1MB, 3us".parse().unwrap();
        assert_eq!(point.name, "gemm<float, 4>");
        assert_eq!(point.precision.format, NumberFormat::Fp32);
        let point: GivenPoint = "a,1G,1MB,3us,bf16:tensor".parse().unwrap();
        assert_eq!((point.name.as_str(), point.time), ("a", Nanos::new(3e3)));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let reason = |text: &str| text.parse::<GivenPoint>().unwrap_err().to_string();
        assert!(reason("gemm").contains("too few fields"));
        assert!(reason("gemm,1G,1MB,3").contains("us"));
        assert!(reason("gemm,1G,1MB,3us,fp17").contains("fp17"));
        assert!(reason("gemm,1X,1MB,3us").contains("\"X\""));
        assert!(reason("gemm,1G,1MB,0us").contains("zero"));
        assert!(reason(",1G,1MB,3us").contains("name"));
    }
}
