#![no_main]

tenfold_fuzz::target!(data => tenfold_fuzz::reads("npz", data), tenfold_fuzz::structure::zip);
