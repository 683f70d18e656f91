#![no_main]

tenfold_fuzz::target!(data => tenfold_fuzz::npy_literal(data));
