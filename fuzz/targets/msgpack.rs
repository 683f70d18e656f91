#![no_main]

tenfold_fuzz::target!(data => tenfold::fuzzing::msgpack(data.to_vec()));
