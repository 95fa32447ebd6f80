//! Work on the GPU in a process of its own: a kernel that hangs or faults ends that process and nothing else.
//!
//! Both talk in JSON documents over pipes, each with its length in front.

mod client;
mod serve;

pub(crate) use client::{Reply, Worker};
pub(crate) use serve::{keep_clocks, serve};

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::time::Duration;

use ridge_bench::ceilings::document as ceilings;
use ridge_bench::document::Machine;
use ridge_bench::protocol::{Failure, Floors, Measurement, Progress, Settings, Task};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The hidden verb of the process that works on the GPU.
pub(crate) const WORKER: &str = "__worker";
/// The hidden verb of the process that keeps a clock locked.
pub(crate) const KEEPER: &str = "__keep-clocks";

/// What is asked of the worker.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Request {
    /// Open a device.
    Open { device: String },
    /// Measure what nothing costs.
    Floors { settings: Settings },
    /// Measure a state.
    Measure(Box<MeasureRequest>),
    /// Measure a family of ceilings.
    Ceilings {
        family: ceilings::Family,
        settings: ceilings::Settings,
    },
}

/// A state to measure.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct MeasureRequest {
    pub(crate) task: Task,
    pub(crate) settings: Settings,
    pub(crate) floors: Floors,
    /// Files that hold the right outputs, in the order of the outputs; empty where something else says what is right.
    pub(crate) files: Vec<Option<PathBuf>>,
}

/// What the worker says.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Response {
    /// The device is open, which took so long.
    Opened {
        machine: Box<Machine>,
        took: Duration,
    },
    /// What nothing costs.
    Floors(Floors),
    /// Something goes on.
    Progress(Progress),
    /// A state is measured.
    Measured(Box<Measurement>),
    /// Something goes on, in words.
    Doing(String),
    /// A family of ceilings is measured.
    Ceilings(Box<ceilings::Measured>),
    /// It did not work. After a fatal failure the process ends.
    Failed { failure: Failure, is_fatal: bool },
}

/// The longest document that is read: all samples of the longest measurement are well below it.
const LONGEST: u32 = 1 << 30;

/// Writes a document.
fn write<T: Serialize>(out: &mut impl Write, message: &T) -> io::Result<()> {
    let text = serde_json::to_vec(message)?;
    let length = u32::try_from(text.len())
        .ok()
        .filter(|length| *length <= LONGEST)
        .ok_or_else(|| io::Error::from(io::ErrorKind::FileTooLarge))?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(&text)?;
    out.flush()
}

/// Reads a document.
fn read<T: DeserializeOwned>(input: &mut impl Read) -> io::Result<T> {
    let mut length = [0; 4];
    input.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length);
    if length > LONGEST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    // Grows with what is there, not with what is promised.
    let mut text = Vec::new();
    input.take(u64::from(length)).read_to_end(&mut text)?;
    if text.len() < length as usize {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(serde_json::from_slice(&text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_arrive_as_they_were_sent_and_broken_ones_are_refused() {
        let mut bytes = Vec::new();
        write(
            &mut bytes,
            &Request::Open {
                device: "sim:h200".to_owned(),
            },
        )
        .unwrap();
        assert!(
            matches!(read(&mut bytes.as_slice()).unwrap(), Request::Open { device } if device == "sim:h200")
        );
        for end in 0..bytes.len() {
            assert!(read::<Request>(&mut &bytes[..end]).is_err());
        }
        assert!(read::<Request>(&mut [0xff, 0xff, 0xff, 0xff, 1].as_slice()).is_err());
        assert!(read::<Request>(&mut [0xff, 0xff, 0xff, 0x3f, 1].as_slice()).is_err());
    }
}
