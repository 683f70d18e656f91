#![no_main]

tenfold_fuzz::target!(data => tenfold_fuzz::detects(data), tenfold_fuzz::structure::gzip);
