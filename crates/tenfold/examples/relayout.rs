//! Seconds that a column to row relayout of a cube of doubles takes, into a fresh buffer:
//! `relayout [SIZE] [ROUNDS]`, one line a round. `benches/convert.py` runs it beside NumPy.

use std::time::Instant;

use tenfold::{Bytes, Dim, Endian, Limits, Number, Numbers, Order, Result, Storage, Tensor};

fn main() -> Result<()> {
    let mut words = std::env::args()
        .skip(1)
        .map(|word| word.parse::<u64>().ok());
    let size = words.next().flatten().unwrap_or(512);
    let rounds = words.next().flatten().unwrap_or(3);
    let bytes: Vec<u8> = (0..size.pow(3)).flat_map(u64::to_le_bytes).collect();
    let len = bytes.len();
    let values = Numbers {
        number: Number::F64,
        endian: Endian::Little,
        bytes: Bytes::memory(bytes),
    };
    let storage = Storage::Dense {
        order: Order::Column,
        values,
    };
    let dims = vec![Dim::indexed(size); 3];
    let tensor = Tensor::new(dims, "f64".parse()?, vec![], storage)?;
    for _ in 0..rounds {
        let start = Instant::now();
        // As NumPy does: memory nobody has touched, in large pages.
        let mut fresh = memmap2::MmapMut::map_anon(len)?;
        fresh.advise(memmap2::Advice::HugePage)?;
        tensor.read_into(Order::Row, &Limits::default(), &mut fresh)?;
        println!("{}", start.elapsed().as_secs_f64());
        check(&fresh, size)?;
    }
    Ok(())
}

/// The cell (i, j, k) holds its place in the column-major cube.
fn check(bytes: &[u8], size: u64) -> Result<()> {
    let places = (0..size).flat_map(|i| {
        (0..size).flat_map(move |j| (0..size).map(move |k| i + size * (j + size * k)))
    });
    let (numbers, _) = bytes.as_chunks::<8>();
    let is_right = numbers
        .iter()
        .zip(places)
        .all(|(number, place)| u64::from_le_bytes(*number) == place);
    match is_right {
        true => Ok(()),
        false => Err(tenfold::Error::Invalid(
            "a cell is in the wrong place".into(),
        )),
    }
}
