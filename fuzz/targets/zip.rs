#![no_main]

tenfold_fuzz::target!(data => tenfold::fuzzing::zip(data.to_vec()), tenfold_fuzz::structure::zip);
