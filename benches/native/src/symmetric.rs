//! Four indices of one size, packed by the exchange of the first two with the others.

use tenfold::{Endian, Limits, Order, Storage, Symmetry, Tensor, Tolerance};

use crate::{Answer, Outcome, memory, timed};

/// Answers `pack`, `unpack` and `symmetrize`, each with a CRC-32 of what came out if asked to `check`, and `memcpy`.
pub fn start(words: &[&str]) -> Outcome<Answer> {
    let [file, size] = words else {
        return Err("symmetric FILE SIZE".into());
    };
    let sizes = [size.parse()?; 4];
    let full = memory::tensor(file, "f64", &sizes, Order::Column, Endian::Little)?;
    let exchange = [Symmetry {
        permutation: vec![2, 3, 0, 1],
        operation: "x".into(),
        packed: false,
    }];
    let limits = Limits::default();
    let packed = full.pack(&exchange, Tolerance::Exact, &limits)?.tensor;
    let from = std::fs::read(file)?;
    let mut out = vec![1; from.len()];
    Ok(Box::new(move |words| match words {
        ["pack"] => {
            let (seconds, _) = timed(|| Ok(full.pack(&exchange, Tolerance::Exact, &limits)?))?;
            Ok((seconds, String::new()))
        }
        ["unpack"] => {
            let (seconds, ()) =
                timed(|| Ok(packed.read_into(Order::Column, &limits, &mut out)?))?;
            Ok((seconds, String::new()))
        }
        ["symmetrize"] => {
            let (seconds, _) = timed(|| Ok(full.symmetrized(&exchange, &limits)?))?;
            Ok((seconds, String::new()))
        }
        ["memcpy"] => Ok((memory::copy(&from, &mut out)?.0, String::new())),
        ["check", "pack"] => Ok((0.0, crc32fast::hash(&stored(&packed)?).to_string())),
        ["check", "unpack"] => Ok((0.0, crc32fast::hash(&out).to_string())),
        _ => Err("pack, unpack, symmetrize, memcpy or check".into()),
    }))
}

fn stored(tensor: &Tensor) -> Outcome<Vec<u8>> {
    match tensor.storage() {
        Storage::Dense { values, .. } => Ok(values.bytes.to_vec()?),
        _ => Err("not dense".into()),
    }
}
