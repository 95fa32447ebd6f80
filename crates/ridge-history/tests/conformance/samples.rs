//! Results to store.

use ridge_history::{Circumstances, Labels, Record, Revision, Timestamp};

/// What differs between results.
#[derive(Clone)]
pub(crate) struct Sample {
    pub(crate) benchmark: &'static str,
    /// Minutes since the beginning of 2026.
    pub(crate) minute: i64,
    pub(crate) median: f64,
    pub(crate) branch: Option<&'static str>,
    pub(crate) commit: Option<&'static str>,
    pub(crate) host: &'static str,
    pub(crate) gpu: &'static str,
    pub(crate) labels: &'static [(&'static str, &'static str)],
}

impl Default for Sample {
    fn default() -> Self {
        Self {
            benchmark: "copy",
            minute: 0,
            median: 1000.0,
            branch: Some("main"),
            commit: Some("0123456789abcdef0123456789abcdef01234567"),
            host: "build-1",
            gpu: "NVIDIA H200",
            labels: &[],
        }
    }
}

pub(crate) fn at(minute: i64) -> Timestamp {
    let start: Timestamp = "2026-01-01".parse().unwrap();
    Timestamp::from_micros(start.micros() + minute * 60_000_000)
}

impl Sample {
    pub(crate) fn record(&self) -> Record {
        let document = format!(
            r#"{{"schema": "ridgepoint.bench", "version": 1, "tool_version": "0.1.0", "benchmark": "{}",
            "machine": {{"device": "{}", "uuid": "GPU-1", "driver": "580.65.06"}},
            "states": [{{"name": "scalar[n=1]", "status": "valid", "functions": [{{"registers": 32}}], "modes": [
                {{"mode": "cold", "invalid": [], "samples": 40, "median_ns": {}, "lower_ns": 990.5, "upper_ns": 1010.25,
                  "clock_hz": 1.98e9}}]}}]}}"#,
            self.benchmark, self.gpu, self.median,
        );
        Record::of_document(
            document.as_bytes(),
            Circumstances {
                time: Some(at(self.minute)),
                host: Some(self.host.to_owned()),
                revision: Revision {
                    commit: self.commit.map(str::to_owned),
                    branch: self.branch.map(str::to_owned),
                    is_dirty: Some(self.minute % 2 == 1),
                },
                command: Some("ridge bench 'a b.toml' --record".to_owned()),
                labels: self.labels.iter().copied().collect::<Labels>(),
                ..Circumstances::default()
            },
        )
        .unwrap()
    }
}

/// Ten results, one each minute.
pub(crate) fn ten() -> Vec<Record> {
    (0_u8..10)
        .map(|minute| {
            Sample {
                minute: minute.into(),
                median: 1000.0 + f64::from(minute),
                ..Sample::default()
            }
            .record()
        })
        .collect()
}
