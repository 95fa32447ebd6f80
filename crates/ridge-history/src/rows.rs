//! What rows of both databases have in common.

use std::collections::BTreeMap;

use crate::{ClockRange, Gpu, Head, Id, Labels, Revision, SeriesKey, Timestamp};

/// A row of the table of results.
pub(crate) struct HeadRow {
    pub(crate) id: Vec<u8>,
    pub(crate) time_us: i64,
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) host: Option<String>,
    pub(crate) gpu: Option<String>,
    pub(crate) gpu_uuid: Option<String>,
    pub(crate) driver: Option<String>,
    pub(crate) sm_clock_low_hz: Option<f64>,
    pub(crate) sm_clock_high_hz: Option<f64>,
    pub(crate) commit: Option<String>,
    pub(crate) branch: Option<String>,
    pub(crate) is_dirty: Option<i64>,
    pub(crate) command: Option<String>,
    pub(crate) labels: String,
    pub(crate) tool_version: Option<String>,
    pub(crate) schema_version: i64,
}

impl HeadRow {
    /// The head; else what is wrong with the row.
    pub(crate) fn head(self) -> Result<Head, String> {
        let id = Id::from_bytes(&self.id)
            .ok_or_else(|| format!("an identifier has {} bytes instead of 32", self.id.len()))?;
        Ok(Head {
            id,
            time: Timestamp::from_micros(self.time_us),
            kind: self.kind.parse().map_err(|_| {
                format!(
                    "result {} is of the unknown kind {:?}",
                    id.short(),
                    self.kind
                )
            })?,
            name: self.name,
            host: self.host,
            gpu: self.gpu.map(|name| Gpu {
                name,
                uuid: self.gpu_uuid,
            }),
            driver: self.driver,
            sm_clock: self
                .sm_clock_low_hz
                .zip(self.sm_clock_high_hz)
                .map(|(low_hz, high_hz)| ClockRange { low_hz, high_hz }),
            revision: Revision {
                commit: self.commit,
                branch: self.branch,
                is_dirty: self.is_dirty.map(|dirty| dirty != 0),
            },
            command: self.command,
            labels: labels_of_text(&self.labels)
                .ok_or_else(|| format!("the labels of result {} are no JSON object", id.short()))?,
            tool_version: self.tool_version,
            schema_version: u32::try_from(self.schema_version).unwrap_or(u32::MAX),
        })
    }
}

pub(crate) fn gpu(head: &Head) -> (Option<&str>, Option<&str>) {
    let gpu = head.gpu.as_ref();
    (
        gpu.map(|gpu| gpu.name.as_str()),
        gpu.and_then(|gpu| gpu.uuid.as_deref()),
    )
}

pub(crate) fn clock(head: &Head) -> (Option<f64>, Option<f64>) {
    head.sm_clock.map_or((None, None), |clock| {
        (Some(clock.low_hz), Some(clock.high_hz))
    })
}

pub(crate) fn labels_to_text(labels: &Labels) -> String {
    let map: BTreeMap<&str, &str> = labels.iter().collect();
    // A map of texts is JSON in every case.
    serde_json::to_string(&map).unwrap_or_else(|_| "{}".to_owned())
}

fn labels_of_text(text: &str) -> Option<Labels> {
    let map: BTreeMap<String, String> = serde_json::from_str(text).ok()?;
    Some(
        map.iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect(),
    )
}

pub(crate) fn series_hash(key: &SeriesKey) -> Vec<u8> {
    series_hash_of(&key.subject, &key.metric, &key.unit, key.gpu.as_deref())
}

/// What stands for a series in an index. Frozen, like identifiers.
pub(crate) fn series_hash_of(
    subject: &str,
    metric: &str,
    unit: &str,
    gpu: Option<&str>,
) -> Vec<u8> {
    let parts = [subject, metric, unit].map(str::as_bytes);
    // A GPU without a name is another one than no GPU.
    let gpu = gpu.map(str::as_bytes);
    let marks: &[u8] = if gpu.is_some() { b"1" } else { b"0" };
    Id::of_parts(parts.into_iter().chain([marks, gpu.unwrap_or_default()]))
        .bytes()
        .get(..16)
        .unwrap_or_default()
        .to_vec()
}

pub(crate) fn samples(stored: Option<i64>) -> Option<u64> {
    stored.and_then(|samples| u64::try_from(samples).ok())
}

pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(crate) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
