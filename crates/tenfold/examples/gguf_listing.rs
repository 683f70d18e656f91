//! Seconds that opening a file and going through its tensors takes: `gguf_listing FILE [ROUNDS]`, one line
//! a round. With `dequantize` after them, seconds to work all quantised values out instead.
//! `benches/gguf_listing.py` runs it beside the package `gguf`.

use std::time::Instant;

use tenfold::{Endian, Limits, Number, Overflow, Result, Storage};

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let file = words.first().map_or("model.gguf", String::as_str);
    let rounds = words.get(1).and_then(|word| word.parse().ok()).unwrap_or(3);
    let must_read = words.get(2).is_some_and(|word| word == "dequantize");
    for _ in 0..rounds {
        let start = Instant::now();
        let opened = tenfold::open(file)?;
        let mut sum = 0_u64;
        for (key, tensor) in opened.bundle.entries() {
            let name = key.flat_name().unwrap_or_default();
            sum = sum.wrapping_add(tensor.indexed_sizes().iter().sum::<u64>());
            sum = sum.wrapping_add(u64::try_from(name.len()).unwrap_or(0));
            if must_read {
                let limits = Limits::default();
                let dense = tensor.dequantized(Number::F32, Overflow::Fails, &limits)?;
                if let Storage::Dense { values, .. } = dense.storage() {
                    values.for_each(Endian::Little, 4, 1 << 18, &mut |piece| {
                        sum = sum.wrapping_add(u64::try_from(piece.len()).unwrap_or(0));
                        Ok(())
                    })?;
                }
            }
        }
        println!("{} {sum}", start.elapsed().as_secs_f64());
    }
    Ok(())
}
