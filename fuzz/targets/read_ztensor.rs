#![no_main]

tenfold_fuzz::target!(data => tenfold_fuzz::reads("ztensor", data), tenfold_fuzz::structure::ztensor);
