//! The formats, one folder each: `mod.rs` (byte table), `read.rs`, `write.rs`; [`ALL`] is the
//! registry.

pub mod blz;
mod callables;
pub mod cc4s;
pub mod fcidump;
mod foreign;
pub mod gguf;
pub mod mtx;
pub mod npy;
pub mod npz;
pub mod primitiv;
pub mod raw;
pub mod safetensors;
pub mod tens;
pub mod tns;
pub mod torch;
pub mod vespa;
pub mod vespa_feed;
pub mod vespa_text;
pub mod ztensor;

use std::path::Path;

use crate::bytes::extension;
use crate::error::{Error, Result};
use crate::format::{Format, Match};
use crate::io::{Head, Source, presence, zip_end};

/// The signature of zip archives.
const ZIP: &[u8] = b"PK\x03\x04";

/// Every format that can be detected from content. Detection, the command line, the documentation
/// and the tests iterate over it.
pub static ALL: &[&dyn Format] = &[
    &tens::Tens,
    &ztensor::ZTensor,
    &blz::Blz,
    &vespa::Vespa,
    &vespa_text::VespaText,
    &vespa_feed::VespaFeed,
    &primitiv::Primitiv,
    &npy::Npy,
    &npz::Npz,
    &safetensors::Safetensors,
    &gguf::Gguf,
    &torch::Torch,
    &mtx::Mtx,
    &tns::Tns,
    &fcidump::Fcidump,
    &cc4s::Cc4s,
];

/// The formats that cannot be detected: they are used only if they are named.
pub static ONLY_NAMED: &[&dyn Format] = &[&raw::Raw];

/// Every format that has a name: [`ALL`] and [`ONLY_NAMED`].
pub fn named() -> impl Iterator<Item = &'static dyn Format> {
    ALL.iter().chain(ONLY_NAMED).copied()
}

/// The format named `name`.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static dyn Format> {
    named().find(|format| format.info().name == name)
}

/// The formats suggested by a file name's extension; for `x.npy.gz`, that of `x.npy`.
#[must_use]
pub fn by_extension(path: &Path) -> Vec<&'static dyn Format> {
    let Some(extension) = extension(path) else {
        return Vec::new();
    };
    let suggests = |format: &&dyn Format| format.info().extensions.contains(&extension.as_str());
    ALL.iter().copied().filter(suggests).collect()
}

/// Detects the format of a file: by its first bytes; for formats without a signature by its name
/// together with its content, or else by whether all of it parses.
///
/// # Errors
/// [`Error::Unrecognised`] if no format claims it, or several do; [`Error::Io`] if it cannot be
/// read, which says nothing about its format.
pub fn detect(source: &Source, path: Option<&Path>) -> Result<&'static dyn Format> {
    detect_by(&Head::of(source)?, path)
}

/// [`detect`] for a file whose head has been read.
pub(crate) fn detect_by(head: &Head, path: Option<&Path>) -> Result<&'static dyn Format> {
    if head.bytes().is_empty() {
        return Err(Error::Unrecognised {
            candidates: Vec::new(),
            content: foreign::content(head, path),
        });
    }
    let suggested = path.map(by_extension).unwrap_or_default();
    let is_suggested = |format: &&dyn Format| {
        suggested
            .iter()
            .any(|other| other.info().name == format.info().name)
    };
    let (signed, plain): (Vec<&dyn Format>, Vec<&dyn Format>) = ALL
        .iter()
        .partition(|format| !format.info().magic.is_empty());

    // Of formats with the same beginning, the one with a definite match.
    let mut sure: Vec<(Match, &'static dyn Format)> = Vec::new();
    for format in signed {
        let how_sure = format.probe(head)?;
        if is_enough(how_sure, is_suggested(&format)) {
            sure.push((how_sure, format));
        }
    }
    let best = sure.iter().map(|(how_sure, _)| *how_sure).max();
    let mut claims: Vec<&'static dyn Format> = { sure.into_iter() }
        .filter(|(how_sure, _)| Some(*how_sure) == best)
        .map(|(_, format)| format)
        .collect();
    if claims.is_empty()
        && let Some(path) = path
    {
        refuse_described(path)?;
    }
    // An archive after other bytes is of the format of its name; nothing else is searched at the
    // end.
    let archive = suggested.iter().find(|format| format.info().magic == ZIP);
    if let Some(archive) = archive.filter(|_| claims.is_empty())
        && zip_end(head.source())?.is_some()
    {
        claims.push(*archive);
    }
    if claims.is_empty() && !foreign::is_certain(head) {
        for format in plain.iter().filter(|format| is_suggested(format)) {
            if format.probe_named(head)? != Match::No {
                claims.push(*format);
            }
        }
        if claims.is_empty() {
            for format in plain {
                if is_enough(format.probe(head)?, suggested.is_empty()) {
                    claims.push(format);
                }
            }
        }
    }
    if claims.len() > 1 && claims.iter().any(is_suggested) {
        claims.retain(is_suggested);
    }
    match claims.as_slice() {
        [format] => Ok(*format),
        several => Err(Error::Unrecognised {
            candidates: several.iter().map(|format| format.info().name).collect(),
            content: { several.is_empty().then(|| foreign::content(head, path)) }.flatten(),
        }),
    }
}

/// Whether a match suffices; a weak one does only if `looks` is set.
fn is_enough(how_sure: Match, looks: bool) -> bool {
    match how_sure {
        Match::No => false,
        Match::Looks => looks,
        Match::Maybe | Match::Yes => true,
    }
}

/// Fails if the file is only a part of what another one describes, or should describe.
fn refuse_described(path: &Path) -> Result<()> {
    for format in ALL {
        let Some(by) = format.primary_of(path)? else {
            continue;
        };
        let (is_there, by) = (presence::is_file(&by)?, by.display());
        return Err(Error::invalid(if is_there {
            format!("a part of what {by} describes: open that")
        } else {
            format!(
                "elements that {by} should describe, which is not there; --raw dtype=f64 reads \
                 them as plain numbers"
            )
        }));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, text: &str) -> Option<&'static str> {
        let source = Source::memory(text.into());
        let path = Some(Path::new(name));
        Some(detect(&source, path).ok()?.info().name)
    }

    #[test]
    fn a_zip_archive_is_npz_by_its_first_member_or_its_name() {
        let member = |name: &str| format!("PK\x03\x04{}\x05\0\0\0{name}", "\0".repeat(22));
        assert_eq!(found("a.bin", &member("a.npy")), Some("npz"));
        assert_eq!(found("a.npz", &member("a.txt")), Some("npz"));
        assert_eq!(found("a.docx", &member("a.xml")), None);
    }

    #[test]
    fn lines_of_numbers_are_what_the_name_says() {
        let text = "2 2 1\n1 1 1\n";
        assert_eq!(found("x.tns", text), Some("tns"));
        assert_eq!(found("x", text), Some("tns"));
        assert_eq!(found("x.mtx", text), None);
    }
}
