//! The only tensors of two files, compared.

use tenfold::{DiffTolerance, DiffOptions};

use crate::{Answer, Outcome, memory, timed};

/// Answers `exact`, `near` under the tolerance that `numpy.allclose` is asked for, and `read`.
pub fn start(words: &[&str]) -> Outcome<Answer> {
    let [one, other] = words else {
        return Err("diff FILE FILE".into());
    };
    let (one, other) = (one.to_string(), other.to_string());
    Ok(Box::new(move |words| {
        let tolerance = match words {
            ["exact"] => DiffTolerance::default(),
            ["near"] => DiffTolerance {
                relative: 1e-5,
                absolute: 1e-8,
                ..DiffTolerance::default()
            },
            ["read"] => return Ok((memory::read(&[&one, &other])?, String::new())),
            _ => return Err("exact, near or read".into()),
        };
        let how = DiffOptions {
            tolerance,
            ..DiffOptions::default()
        };
        let (seconds, found) = timed(|| {
            let (one, other) = (tenfold::open(&one)?, tenfold::open(&other)?);
            let (_, a) = one.bundle.entries().first().ok_or("no tensor")?;
            let (_, b) = other.bundle.entries().first().ok_or("no tensor")?;
            Ok(tenfold::compare(a, b, &how)?)
        })?;
        Ok((seconds, format!("{:?}", found.verdict)))
    }))
}
