#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tenfold::fuzzing::zip(data.to_vec()));
