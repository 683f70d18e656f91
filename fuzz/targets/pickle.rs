#![no_main]

tenfold_fuzz::target!(data => tenfold::fuzzing::pickle(data.to_vec()), tenfold_fuzz::structure::pickle);
