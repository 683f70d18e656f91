//! Numbers as others, from memory into memory that is there: another type, or the other byte order.

use tenfold::{Endian, Limits, Order, Overflow};

use crate::{Answer, Outcome, memory, timed};

/// Answers `tenfold`, `memcpy` of as many bytes as are read and written in all, and `check`: the CRC-32 of what came out.
pub fn start(words: &[&str]) -> Outcome<Answer> {
    let [file, from, to, endian] = words else {
        return Err("cast FILE FROM TO little|big".into());
    };
    let endian = match *endian {
        "big" => Endian::Big,
        _ => Endian::Little,
    };
    let len = std::fs::metadata(file)?.len();
    let (stored, made) = (memory::number(from)?, memory::number(to)?);
    let dtype: tenfold::DType = from.parse()?;
    let count = len / dtype.width() as u64;
    let tensor = memory::tensor(file, from, &[count], Order::Row, endian)?;
    let cast = tensor.cast(made, Overflow::Fails, &Limits::default())?;
    let mut out = vec![1; len as usize / stored.width() * made.width()];
    let copied = (len as usize + out.len()) / 2;
    let source = vec![2; copied];
    let mut target = vec![1; copied];
    Ok(Box::new(move |words| match words {
        ["tenfold"] => {
            let (seconds, ()) =
                timed(|| Ok(cast.read_into(Order::Row, &Limits::default(), &mut out)?))?;
            Ok((seconds, String::new()))
        }
        ["check"] => Ok((0.0, crc32fast::hash(&out).to_string())),
        ["memcpy"] => Ok((memory::copy(&source, &mut target)?.0, String::new())),
        _ => Err("tenfold, check or memcpy".into()),
    }))
}
