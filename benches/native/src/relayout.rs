//! Values from column to row order, from memory into memory that is there.

use tenfold::{Endian, Limits, Order};

use crate::{Answer, Outcome, memory, timed};

/// Answers `tenfold`, `memcpy`, and `check`: the CRC-32 of what came out.
pub fn start(words: &[&str]) -> Outcome<Answer> {
    let [file, dtype, sizes] = words else {
        return Err("relayout FILE DTYPE SIZES".into());
    };
    let sizes = memory::sizes(sizes)?;
    let tensor = memory::tensor(file, dtype, &sizes, Order::Column, Endian::Little)?;
    let from = std::fs::read(file)?;
    let mut out = vec![1; from.len()];
    Ok(Box::new(move |words| match words {
        ["tenfold"] => {
            let (seconds, ()) =
                timed(|| Ok(tensor.read_into(Order::Row, &Limits::default(), &mut out)?))?;
            Ok((seconds, String::new()))
        }
        ["check"] => Ok((0.0, crc32fast::hash(&out).to_string())),
        ["memcpy"] => Ok((memory::copy(&from, &mut out)?.0, String::new())),
        _ => Err("tenfold, check or memcpy".into()),
    }))
}
