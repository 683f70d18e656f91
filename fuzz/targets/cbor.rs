#![no_main]

tenfold_fuzz::target!(data => tenfold::fuzzing::cbor(data), tenfold_fuzz::structure::cbor);
