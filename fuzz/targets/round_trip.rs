#![no_main]

tenfold_fuzz::target!(data => tenfold_fuzz::round_trips(data));
