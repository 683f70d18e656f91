#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tenfold::fuzzing::msgpack(data.to_vec()));
