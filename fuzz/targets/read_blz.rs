#![no_main]

tenfold_fuzz::target!(data => tenfold_fuzz::reads("blz", data));
