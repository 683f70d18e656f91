//! Statistics of the only tensor of a file.

use tenfold::{Limits, Samples};

use crate::{Answer, Outcome, memory, timed};

/// Answers `tenfold`, with the least and the largest value, and `read`.
pub fn start(words: &[&str]) -> Outcome<Answer> {
    let [file] = words else {
        return Err("stats FILE".into());
    };
    let file = file.to_string();
    Ok(Box::new(move |words| match words {
        ["tenfold"] => {
            let (seconds, stats) = timed(|| {
                let opened = tenfold::open(&file)?;
                let (_, tensor) = opened.bundle.entries().first().ok_or("no tensor")?;
                Ok(Samples::of(tensor, &Limits::default())?.stats()?)
            })?;
            let finite = stats.finite.ok_or("no finite value")?;
            let ends = format!("{} {}", finite.min.to_f64(), finite.max.to_f64());
            Ok((seconds, ends))
        }
        ["read"] => Ok((memory::read(&[&file])?, String::new())),
        _ => Err("tenfold or read".into()),
    }))
}
