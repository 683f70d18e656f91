#![no_main]

tenfold_fuzz::target!(data => tenfold_fuzz::reads("torch", data), tenfold_fuzz::structure::zip);
