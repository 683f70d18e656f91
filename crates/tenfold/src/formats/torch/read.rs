//! Reads a file of either layout.
#![deny(clippy::arithmetic_side_effects)]

use super::callables::is_allowed;
use super::calls::Calls;
use super::content::Walk;
use super::storages::Storages;
use super::{NAME, archive, hint, legacy};
use crate::bundle::Bundle;
use crate::bytes::Scan;
use crate::error::{Error, Result};
use crate::format::ReadOptions;
use crate::formats::callables::callables;
use crate::io::{Head, Source};
use crate::limits::Limits;
use crate::wire::pickle::Pickle;

pub(super) fn read(source: &Source, how: &ReadOptions) -> Result<Bundle> {
    let head = Head::of(source)?;
    match head.bytes() {
        [] | [_] | [_, _] | [_, _, _] => Scan::new(source, NAME).fail(EMPTY),
        _ if legacy::looks_right(&head) => of_legacy(source, how),
        [0x80, ..] => Scan::new(source, NAME).fail("a pickle that is not PyTorch's"),
        _ if is_tar(&head) => Err(Error::Unsupported {
            format: NAME,
            what: "the tar archive of PyTorch before 0.1.10".into(),
        }),
        _ => of_archive(source, how),
    }
}

const EMPTY: &str = "neither a zip archive nor a pickle begins here";

/// Whether a file is a tar archive that begins as PyTorch's do.
pub(super) fn is_tar(head: &Head) -> bool {
    let mark = head.bytes().get(257..).unwrap_or_default();
    head.bytes().starts_with(b"sys_info\0") && mark.starts_with(b"ustar")
}

fn of_archive(source: &Source, how: &ReadOptions) -> Result<Bundle> {
    let archive = archive::read(source, &how.limits)?;
    let mut scan = Scan::part(&archive.pickle, NAME, archive.range.clone());
    let read = Pickle::read(&mut scan, &how.limits).and_then(|pickle| {
        scan.end()?;
        let mut bundle = content(&pickle, &archive.pickle, &archive.storages, &how.limits)?;
        bundle.push_callables(callables(&pickle, is_allowed));
        archive.audit(source, &pickle, &mut bundle, &how.limits)?;
        Ok(bundle)
    });
    let mut bundle = read.map_err(|error| blame(error, archive.unpacked_from))?;
    bundle.hints.set(hint::LAYOUT, "zip");
    Ok(bundle)
}

/// Offsets inside decompressed data are no offsets in the file.
fn blame(error: Error, unpacked_from: Option<u64>) -> Error {
    match (error, unpacked_from) {
        (Error::Malformed { why, .. }, Some(at)) => Error::malformed(at, why).of(NAME),
        (error, _) => error,
    }
}

fn of_legacy(source: &Source, how: &ReadOptions) -> Result<Bundle> {
    let legacy = legacy::read(source, how.mode, &how.limits)?;
    let mut bundle = content(&legacy.pickle, source, &legacy.storages, &how.limits)?;
    bundle.push_callables(callables(&legacy.pickle, is_allowed));
    for pickle in &legacy.others {
        bundle.push_callables(callables(pickle, is_allowed));
    }
    bundle.hints.set(hint::LAYOUT, "legacy");
    for note in legacy.notes {
        bundle.note(note);
    }
    Ok(bundle)
}

fn content(
    pickle: &Pickle,
    source: &Source,
    storages: &Storages,
    limits: &Limits,
) -> Result<Bundle> {
    Walk::new(Calls {
        pickle,
        source,
        storages,
        limits,
    })
    .run()
}
