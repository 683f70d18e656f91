#![no_main]

tenfold_fuzz::target!(data => tenfold_fuzz::reads("cc4s", data), tenfold_fuzz::structure::described_by_yaml);
