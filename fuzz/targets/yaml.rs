#![no_main]

tenfold_fuzz::target!(data => tenfold_fuzz::yaml(data), tenfold_fuzz::structure::yaml);
