#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tenfold::fuzzing::pickle(data.to_vec()));
