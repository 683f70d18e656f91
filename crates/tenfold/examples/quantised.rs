//! Seconds that working out all quantised values of a file takes: `quantised FILE [ROUNDS]`, one
//! line a round. `benches/quantised.py` runs it beside the package `gguf`.

use std::time::Instant;

use tenfold::{Endian, Limits, Number, Overflow, Result, Storage};

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let file = words.first().map_or("model.gguf", String::as_str);
    let rounds = words.get(1).and_then(|word| word.parse().ok()).unwrap_or(3);
    for _ in 0..rounds {
        let start = Instant::now();
        let opened = tenfold::open(file)?;
        let mut sum = 0_u64;
        for (_, tensor) in opened.bundle.entries() {
            let limits = Limits::default();
            let dense = tensor.dequantized(Number::F32, Overflow::Fails, &limits)?;
            if let Storage::Dense { values, .. } = dense.storage() {
                values.for_each(Endian::Little, 4, 1 << 18, &mut |piece| {
                    sum = sum.wrapping_add(u64::try_from(piece.len()).unwrap_or(0));
                    Ok(())
                })?;
            }
        }
        println!("{} {sum}", start.elapsed().as_secs_f64());
    }
    Ok(())
}
