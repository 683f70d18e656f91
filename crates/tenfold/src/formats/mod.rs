//! The formats, each in a folder of its own: `mod.rs` says what it is, `read.rs` and `write.rs` do
//! it.

pub mod blz;
pub mod primitiv;

use std::path::Path;

use crate::bytes::Source;
use crate::error::{Error, Result};
use crate::format::{Format, Match};

/// Every format there is. Detection, the command line, the documentation and the tests walk it.
pub static ALL: &[&dyn Format] = &[&blz::Blz, &primitiv::Primitiv];

/// The format called `name`.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static dyn Format> {
    ALL.iter()
        .copied()
        .find(|format| format.info().name == name)
}

/// The formats that a file name's extension suggests.
#[must_use]
pub fn by_extension(path: &Path) -> Vec<&'static dyn Format> {
    let Some(extension) = path.extension().and_then(|extension| extension.to_str()) else {
        return Vec::new();
    };
    let extension = extension.to_ascii_lowercase();
    let suggests = |format: &&dyn Format| format.info().extensions.contains(&extension.as_str());
    ALL.iter().copied().filter(suggests).collect()
}

/// Finds out of which format a file is, by its content; its name decides between equals.
///
/// # Errors
/// [`Error::Unrecognised`] if no format claims it, or several do.
pub fn detect(source: &Source, path: Option<&Path>) -> Result<&'static dyn Format> {
    let claims: Vec<(Match, &dyn Format)> = ALL
        .iter()
        .map(|format| (format.probe(source), *format))
        .filter(|(sure, _)| *sure != Match::No)
        .collect();
    let best = claims
        .iter()
        .map(|(sure, _)| *sure)
        .max()
        .unwrap_or(Match::No);
    let mut surest: Vec<&'static dyn Format> = claims
        .iter()
        .filter(|(sure, _)| *sure == best)
        .map(|(_, format)| *format)
        .collect();
    let suggested = path.map(by_extension).unwrap_or_default();
    if surest.is_empty() {
        // A broken file of a format without magic is still that format's by its name.
        surest = suggested
            .iter()
            .copied()
            .filter(|format| format.info().magic.is_empty())
            .collect();
    }
    let is_suggested = |format: &&dyn Format| {
        suggested
            .iter()
            .any(|other| other.info().name == format.info().name)
    };
    if surest.len() > 1 && surest.iter().any(is_suggested) {
        surest.retain(is_suggested);
    }
    match surest.as_slice() {
        [format] => Ok(*format),
        several => Err(Error::Unrecognised {
            candidates: several.iter().map(|format| format.info().name).collect(),
        }),
    }
}
