#![no_main]

use libfuzzer_sys::fuzz_target;

// Behind a root, so that every input is one of the XML form.
fuzz_target!(|input: &[u8]| {
    let mut text = b"<ComputeSanitizerOutput>".to_vec();
    text.extend_from_slice(input);
    ridge_fuzz::sanitizer::sanitizer(&text);
});
