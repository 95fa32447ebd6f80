#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| ridge_fuzz::lint::lint(input));
