#![no_main]

use libfuzzer_sys::fuzz_target;

// Behind a banner, so that every input is one of the text form.
fuzz_target!(|input: &[u8]| {
    let mut text = b"========= COMPUTE-SANITIZER\n".to_vec();
    text.extend_from_slice(input);
    ridge_fuzz::sanitizer::sanitizer(&text);
});
