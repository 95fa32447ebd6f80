//! What the fuzz target for recordings does with its input. The replay in `crates/ridge-trace/tests/recordings.rs` includes
//! this file too.

use ridge_trace::native::{self, Chunks};

/// A recording, as `ridge timeline` takes it and `ridge trace` puts it together.
pub fn recording(input: &[u8]) {
    let Ok(chunks) = Chunks::new(input) else {
        assert!(native::read(input).is_err());
        return;
    };
    // Whole chunks behind one another are a recording again, with the same records.
    let mut again = input.get(..16).unwrap_or(input).to_vec();
    for chunk in chunks {
        let other = native::with_names(&chunk, |name| Some(format!("{name}{name}")))
            .or_else(|| native::without_places(&chunk));
        again.extend_from_slice(other.as_deref().unwrap_or(chunk.bytes));
    }
    let (timeline, recording) = native::read_all(input).expect("its chunks were read");
    let (other, _) = native::read_all(&again).expect("its chunks were read");
    assert_eq!(timeline.work.len(), other.work.len());
    assert_eq!(timeline.calls.len(), other.calls.len());
    let records: u64 = recording
        .processes
        .iter()
        .map(|process| process.records)
        .sum();
    assert!(records <= input.len() as u64);
    for work in &timeline.work {
        assert!(work.start_ns >= 0 && work.end_ns >= work.start_ns);
        let _ = (timeline.name(work.name), timeline.call_of(work));
        assert!(timeline.device_of(work) < timeline.devices.len());
    }
}
