#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| tenfold::fuzzing::yaml(text));
