//! Merging of several bundles.

use std::path::PathBuf;

use crate::bundle::Bundle;
use crate::error::Result;
use crate::key::Key;
use crate::loss::{Aspect, Loss, Tier};
use crate::meta::Meta;
use crate::note::{Note, NoteKind};

/// The content of one of several files.
#[derive(Debug)]
pub struct Part {
    /// The file.
    pub path: PathBuf,
    /// The name for an unnamed tensor.
    pub stem: Option<String>,
    /// Its content.
    pub bundle: Bundle,
}

/// Makes names unique: an unnamed tensor gets that of its file; with `every`, the name of its file
/// is also prefixed to every other name, as a segment of its own if names are paths.
pub fn name_by_files(parts: &mut [Part], every: bool, are_paths: bool) {
    for part in parts {
        let stem = part.stem.as_deref().unwrap_or("tensor");
        part.bundle.rename(|key| {
            let mut path = key.path().to_vec();
            match path.first_mut() {
                None => path.push(stem.into()),
                Some(_) if !every => {}
                Some(first) if !are_paths => *first = format!("{stem}.{first}"),
                Some(_) => path.insert(0, stem.into()),
            }
            Key::tree(path).with_state(key.state.clone())
        });
    }
}

/// Merges bundles, in order. Where metadata differs the first value is kept: that is noted, and a
/// loss.
///
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub fn merge(parts: Vec<Part>) -> Result<(Bundle, Vec<Loss>)> {
    let mut parts = parts;
    let mut losses = Vec::new();
    if parts.len() > 1 {
        for part in &mut parts {
            let dropped = part.bundle.drop_proofs("it is of one of several files");
            losses.extend(dropped.map(|detail| Loss {
                key: None,
                aspect: Aspect::Metadata,
                tier: Tier::Said,
                detail,
            }));
        }
    }
    let mut parts = parts.into_iter();
    let Some(first) = parts.next() else {
        return Ok((Bundle::new(), losses));
    };
    let (of_first, mut bundle) = (first.path.display().to_string(), first.bundle);
    for part in parts {
        for name in unite(&mut bundle.meta, &part.bundle.meta) {
            let file = part.path.display();
            let detail =
                format!("{name:?} of {file} differs from that of {of_first}, which is kept");
            bundle.note(Note::new(NoteKind::DifferingMetadata, &detail));
            losses.push(Loss {
                key: None,
                aspect: Aspect::Metadata,
                tier: Tier::Refused,
                detail,
            });
        }
        // Hints serve the rewriting of one file; those that differ are useless.
        let differing = unite(&mut bundle.hints, &part.bundle.hints);
        let hints = bundle.hints.iter();
        let hints = hints.filter(|(name, _)| !differing.contains(name));
        bundle.hints = hints
            .map(|(name, value)| (name.to_owned(), value.clone()))
            .collect();
        bundle.append(part.bundle)?;
    }
    Ok((bundle, losses))
}

/// Adds the metadata that is new; returns the names whose values differ.
fn unite<'a>(meta: &mut Meta, other: &'a Meta) -> Vec<&'a str> {
    let mut differing = Vec::new();
    for (name, value) in other.iter() {
        match meta.get(name) {
            None => meta.set(name, value.clone()),
            Some(known) if known == value => {}
            Some(_) => differing.push(name),
        }
    }
    differing
}
