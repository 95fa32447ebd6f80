//! What the fuzz target for code and flags does with its input. `crates/ridge-numerics/tests/flags.rs` includes this file too.

use ridge_numerics::flags::document::Document;
use ridge_numerics::flags::{Scan, Settings, scan_ptx};

/// The input as PTX, as instructions of a disassembler and as flags: none of it fails, and counts agree with what is there.
pub fn ptx(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let lines = text.lines().map(|line| ("f", line));
    for scan in [scan_ptx(&text), Scan::sass(lines)] {
        let document = Document::of(None, Some(("input", &scan)), "0");
        let code = document.code.expect("code was given");
        assert!(code.instructions <= text.len() as u64 + 1);
        assert!(
            document
                .effects
                .iter()
                .all(|effect| !effect.evidence.is_empty())
        );
    }
    let settings = Settings::parse(text.split_whitespace());
    assert!(settings.findings().len() <= 5);
}
