//! Code and flags that are none: nothing fails, whatever the input is.

#[path = "../../../fuzz/src/flags.rs"]
pub mod checks;

use proptest::prelude::*;

/// Pieces of PTX, of a disassembly and of flags.
const PIECES: [&str; 16] = [
    ".version 8.8\n.target sm_90\n",
    ".visible .entry k(",
    ".func (.reg .b32 %r) f(",
    "\tfma.rn.ftz.f32 %f1, %f2, %f3, %f4;",
    "@%p1 div.approx.f32 ",
    "{",
    "}",
    ";",
    "//",
    "\n",
    "HMMA.16816.F16 R4, R8",
    "@!P0 FADD.FTZ R1, R2",
    "--use_fast_math ",
    "-ftz ",
    "-fmad=",
    "\u{0}\u{fffd}.",
];

proptest! {
    #[test]
    fn any_bytes_are_passed_over(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        checks::ptx(&bytes);
    }

    #[test]
    fn any_pieces_in_any_order_are_read(pieces in proptest::collection::vec(0..PIECES.len(), 0..40)) {
        let text: String = pieces.into_iter().map(|piece| PIECES[piece]).collect();
        checks::ptx(text.as_bytes());
    }
}
