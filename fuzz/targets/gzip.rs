#![no_main]

tenfold_fuzz::target!(data => tenfold_fuzz::gzip(data), tenfold_fuzz::structure::gzip_body);
