//! What a document says about itself: GPU, clocks, version, and the points of series.
//!
//! The documents are those that `ridge` writes, of this version and of others. Fields that are not known are skipped,
//! fields that are missing are absent, and a part that looks otherwise than expected gives no point.

mod bench;
mod ceilings;
mod diagnosis;
mod timeline;

use serde::Deserialize;
use serde_json::Value;

use crate::{ClockRange, Error, Gpu, Kind, Point};

/// What was read out of a document.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) kind: Kind,
    pub(crate) schema_version: u32,
    pub(crate) name: Option<String>,
    pub(crate) gpu: Option<Gpu>,
    pub(crate) driver: Option<String>,
    pub(crate) sm_clock: Option<ClockRange>,
    pub(crate) tool_version: Option<String>,
    pub(crate) points: Vec<Point>,
}

/// More points than any document of a command has; what is beyond is left out.
const MOST_POINTS: usize = 1_000_000;

#[derive(Deserialize)]
struct Header {
    schema: String,
    version: u32,
}

/// Reads a document.
pub(crate) fn facts(json: &[u8]) -> Result<Facts, Error> {
    let json = json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(json);
    let malformed = |error: serde_json::Error| Error::Document(error.to_string());
    let header: Header = serde_json::from_slice(json).map_err(|error| {
        Error::Document(format!(
            "it is no document of ridge: {error}; expected a JSON object with schema and version"
        ))
    })?;
    let kind = Kind::ALL
        .into_iter()
        .find(|kind| kind.schema() == header.schema)
        .ok_or_else(|| {
            Error::Document(format!(
                "it has the schema {:?}; results are documents of ridge bench, why, timeline and ceilings",
                header.schema
            ))
        })?;
    let mut facts = Facts {
        kind,
        schema_version: header.version,
        name: None,
        gpu: None,
        driver: None,
        sm_clock: None,
        tool_version: None,
        points: Vec::new(),
    };
    match kind {
        Kind::Bench => serde_json::from_slice::<bench::Document>(json)
            .map_err(malformed)?
            .add_to(&mut facts),
        Kind::Why => serde_json::from_slice::<diagnosis::Document>(json)
            .map_err(malformed)?
            .add_to(&mut facts),
        Kind::Trace => serde_json::from_slice::<timeline::Document>(json)
            .map_err(malformed)?
            .add_to(&mut facts),
        Kind::Ceilings => serde_json::from_slice::<ceilings::Document>(json)
            .map_err(malformed)?
            .add_to(&mut facts),
    }
    facts.points.truncate(MOST_POINTS);
    Ok(facts)
}

impl Facts {
    fn add(&mut self, subject: &str, metric: impl Into<String>, unit: &str, value: Option<f64>) {
        self.points.extend(value.map(|value| Point {
            subject: subject.to_owned(),
            metric: metric.into(),
            unit: unit.to_owned(),
            value,
            low: None,
            high: None,
            samples: None,
        }));
    }

    /// The models of GPU that there are, each once.
    fn set_gpu(&mut self, names: impl Iterator<Item = Option<String>>) {
        let mut all: Vec<String> = Vec::new();
        for name in names.flatten() {
            if !all.contains(&name) {
                all.push(name);
            }
        }
        if !all.is_empty() {
            self.gpu = Some(Gpu {
                name: all.join(" + "),
                uuid: None,
            });
        }
    }

    fn set_clock(&mut self, clocks: impl Iterator<Item = Option<f64>>) {
        self.sm_clock = clocks
            .flatten()
            .fold(None, |range: Option<ClockRange>, hz| {
                Some(range.map_or(
                    ClockRange {
                        low_hz: hz,
                        high_hz: hz,
                    },
                    |range| ClockRange {
                        low_hz: range.low_hz.min(hz),
                        high_hz: range.high_hz.max(hz),
                    },
                ))
            });
    }
}

/// The machine of a benchmark or of ceilings.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Machine {
    device: Option<String>,
    uuid: Option<String>,
    driver: Option<String>,
}

impl Machine {
    fn add_to(self, facts: &mut Facts) {
        facts.gpu = self.device.map(|name| Gpu {
            name,
            uuid: self.uuid,
        });
        facts.driver = self.driver;
    }
}

/// The parts of a list that look as they are expected to.
fn parts<Part: for<'de> Deserialize<'de>>(list: Vec<Value>) -> impl Iterator<Item = Part> {
    list.into_iter()
        .filter_map(|part| serde_json::from_value(part).ok())
}

/// A launch as CUDA writes it: `<<<(64,1,1), (256,1,1)>>>`.
fn launch(grid: Option<[u32; 3]>, block: Option<[u32; 3]>) -> String {
    let (Some([gx, gy, gz]), Some([bx, by, bz])) = (grid, block) else {
        return String::new();
    };
    format!("<<<({gx},{gy},{gz}), ({bx},{by},{bz})>>>")
}

#[cfg(test)]
mod tests {
    use super::*;

    const BENCH: &[u8] = include_bytes!("../../../../fixtures/formats/bench-1/copy.json");
    const CEILINGS: &[u8] = include_bytes!("../../../../fixtures/formats/ceilings-1.json");

    fn point<'f>(facts: &'f Facts, subject: &str, metric: &str) -> &'f Point {
        facts
            .points
            .iter()
            .find(|point| point.subject == subject && point.metric == metric)
            .unwrap_or_else(|| panic!("{subject} {metric} in {:#?}", facts.points))
    }

    #[test]
    fn benchmarks_have_times_of_their_states() {
        let facts = facts(BENCH).unwrap();
        assert_eq!(facts.kind, Kind::Bench);
        assert_eq!(facts.name.as_deref(), Some("copy"));
        assert_eq!(facts.tool_version.as_deref(), Some("0.1.0"));
        let gpu = facts.gpu.clone().unwrap();
        assert_eq!(gpu.name, "simulated H200 SXM");
        assert_eq!(gpu.uuid.as_deref(), Some("SIM-H200-SXM-1"));
        let clock = facts.sm_clock.unwrap();
        assert!(clock.low_hz <= clock.high_hz && (clock.low_hz / 1e9 - 1.98).abs() < 0.01);
        let subject = "copy/scalar[n=16777216,block=256]";
        let time = point(&facts, subject, "time.cold");
        assert_eq!(
            (
                time.unit.as_str(),
                time.value,
                time.low,
                time.high,
                time.samples
            ),
            ("ns", 29888.0, Some(29760.0), Some(29984.0), Some(9))
        );
        let share = point(&facts, subject, "share_of_bound.cold");
        assert_eq!(
            (share.unit.as_str(), share.value),
            ("fraction", 0.932_839_532_092_780_8)
        );
    }

    #[test]
    fn invalid_times_are_no_points() {
        let mut document: Value = serde_json::from_slice(BENCH).unwrap();
        document["states"][0]["modes"][0]["invalid"] =
            serde_json::json!([{"id": "clock", "text": "fell", "hint": null}]);
        document["states"][1]["status"] = "differs".into();
        // A part that looks otherwise gives none either, and takes nothing else with it.
        document["states"]
            .as_array_mut()
            .unwrap()
            .push(serde_json::json!({"name": 3}));
        let facts = facts(&serde_json::to_vec(&document).unwrap()).unwrap();
        let times: Vec<&str> = facts
            .points
            .iter()
            .filter(|point| point.metric.starts_with("time"))
            .map(|point| point.metric.as_str())
            .collect();
        assert_eq!(times, ["time.hot"], "{:#?}", facts.points);
    }

    #[test]
    fn diagnoses_have_durations_of_their_kernels() {
        let facts = facts(
            br#"{"schema": "ridgepoint.diagnosis", "version": 1,
            "sources": [{"id": 0, "file": "a/run.ncu-rep", "program": "./app", "devices": [{"name": "NVIDIA H200"}],
                "created_unix_s": 1795995850, "collection": {"sm_clock_hz": [1.5e9, 1.9e9]}}],
            "kernels": [
                {"name": "gemm", "signature": "void ns::gemm<(int)3, f(x)>(float *, int (*)(int))", "grid": [8, 1, 1],
                 "block": [256, 1, 1], "launches": [{"index": 0}, {"index": 4}], "duration_ns": 1200.5,
                 "timed": {"launches": 7, "total_ns": 7000, "median_ns": 1000}, "limiter": {"share": 0.75},
                 "speed_of_light": {"compute": 0.5, "memory": null},
                 "traffic": {"read_bytes": 4096, "written_bytes": 0},
                 "findings": [{"id": "bank-conflicts", "saving_expected": 0.2}]},
                {"name": "gemm", "signature": "void ns::gemm<(int)3, f(x)>(double *)", "grid": [8, 1, 1],
                 "block": [256, 1, 1], "duration_ns": 7}]}"#,
        )
        .unwrap();
        assert_eq!(facts.name.as_deref(), Some("./app"));
        assert_eq!(facts.gpu.as_ref().unwrap().name, "NVIDIA H200");
        assert_eq!(facts.sm_clock.map(|clock| clock.high_hz), Some(1.9e9));
        let subject = "void ns::gemm<(int)3, f(x)><<<(8,1,1), (256,1,1)>>>";
        let duration = point(&facts, subject, "duration");
        assert_eq!((duration.value, duration.samples), (1200.5, Some(2)));
        assert_eq!(
            Some(point(&facts, subject, "duration.clean").value),
            Some(1000.0)
        );
        assert_eq!(
            Some(point(&facts, subject, "throughput.compute").value),
            Some(0.5)
        );
        assert_eq!(
            Some(point(&facts, subject, "limiter_share").value),
            Some(0.75)
        );
        assert_eq!(
            Some(point(&facts, subject, "traffic.written").value),
            Some(0.0)
        );
        assert!(
            facts
                .points
                .iter()
                .all(|point| point.metric != "throughput.memory")
        );
        // Two kernels of one name and launch: the second keeps its parameters.
        let other = "void ns::gemm<(int)3, f(x)>(double *)<<<(8,1,1), (256,1,1)>>>";
        assert_eq!(Some(point(&facts, other, "duration").value), Some(7.0));
    }

    #[test]
    fn traces_have_times_of_their_devices() {
        let facts = facts(
            br#"{"schema": "ridgepoint.timeline", "version": 1, "traces": [{"file": "runs/app.ridgetrace",
            "tool_version": "0.1.0", "devices": [{"number": 0, "name": "NVIDIA H200", "span_ns": 100.0, "busy_ns": 60,
            "idle_ns": 40, "kernel_ns": 50, "copy_ns": 20, "copy_exposed_ns": 10, "counts": {"kernels": 3}}]}]}"#,
        )
        .unwrap();
        assert_eq!(facts.name.as_deref(), Some("app"));
        assert_eq!(Some(point(&facts, "app/GPU 0", "span").value), Some(100.0));
        assert_eq!(
            Some(point(&facts, "app/GPU 0", "busy_share").value),
            Some(0.6)
        );
        assert_eq!(Some(point(&facts, "app/GPU 0", "kernels").value), Some(3.0));
    }

    #[test]
    fn ceilings_have_their_figures() {
        let facts = facts(CEILINGS).unwrap();
        assert_eq!(facts.kind, Kind::Ceilings);
        assert_eq!(point(&facts, "launch-in-a-row", "burst").unit, "ns");
        assert!(facts.points.iter().any(|point| point.unit == "B/s"));
    }

    #[test]
    fn what_is_no_result_is_told() {
        for (json, reason) in [
            ("[]", "no document of ridge"),
            (r#"{"schema": "x"}"#, "missing field `version`"),
            (
                r#"{"schema": "ridgepoint.doctor", "version": 1}"#,
                "ridgepoint.doctor",
            ),
            (
                r#"{"schema": "ridgepoint.bench", "version": 1, "states": 4}"#,
                "expected a sequence",
            ),
        ] {
            let error = facts(json.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}
