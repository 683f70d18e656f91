//! The layout before PyTorch 1.6: consecutive pickles, then the storages.
#![deny(clippy::arithmetic_side_effects)]

use std::collections::HashMap;

use super::NAME;
use super::plain::kept_class;
use super::storages::{Named, Storages, Stored};
use crate::bytes::{Endian, Scan};
use crate::error::{Error, Result};
use crate::format::Mode;
use crate::io::{Head, Source};
use crate::limits::Limits;
use crate::note::{Note, NoteKind};
use crate::wire::pickle::{Item, Pickle};

/// The number 0x1950a86a20f9469cfc6c as the operand of `LONG1`.
const MAGIC: [u8; 12] = *b"\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
/// Its possible offsets: after the protocol, and a frame.
const PLACES: [usize; 2] = [2, 11];
/// The version of the layout.
const PROTOCOL: u64 = 1001;

/// Whether a file begins with the pickled number.
pub(super) fn looks_right(head: &Head) -> bool {
    let start = head.bytes();
    let mut rests = PLACES.iter().filter_map(|place| start.get(*place..));
    start.first() == Some(&0x80) && rests.any(|rest| rest.starts_with(&MAGIC))
}

/// A file of pickles and storages.
pub(super) struct Legacy {
    /// The pickle with the tensors.
    pub(super) pickle: Pickle,
    /// The pickles before and after it, which Python loads too.
    pub(super) others: Vec<Pickle>,
    pub(super) storages: Storages,
    pub(super) notes: Vec<Note>,
}

pub(super) fn read(source: &Source, mode: Mode, limits: &Limits) -> Result<Legacy> {
    let mut scan = Scan::new(source, NAME);
    let magic = Pickle::read(&mut scan, limits)?;
    let at = scan.at();
    let protocol = Pickle::read(&mut scan, limits)?;
    match protocol.count(protocol.root) {
        Some(PROTOCOL) => {}
        found => {
            let found = found.map_or_else(|| "no number".into(), |found| found.to_string());
            return scan.fail_at(at, format!("the version is {found}, not {PROTOCOL}"));
        }
    }
    let machine = Pickle::read(&mut scan, limits)?;
    let pickle = Pickle::read(&mut scan, limits)?;
    let widths = widths(&pickle)?;
    let at = scan.at();
    let keys = Pickle::read(&mut scan, limits)?;
    let Some(listed) = keys.sequence(keys.root) else {
        return scan.fail_at(at, "the keys of the storages are no list");
    };
    let mut by_key = HashMap::new();
    for key in listed {
        let Some(key) = keys.text(*key) else {
            return scan.fail_at(
                keys.at(*key).unwrap_or(at),
                "the key of a storage is no text",
            );
        };
        let Some(width) = widths.get(key) else {
            let why = format!("the storage {key:?} is of no tensor");
            return scan.fail_at(at, why);
        };
        let stored = storage(source, &mut scan, *width)?;
        if by_key.insert(key.to_owned(), stored).is_some() {
            return scan.fail_at(at, format!("the storage {key:?} stands twice"));
        }
    }
    let mut notes = Vec::new();
    if scan.left() > 0 {
        let text = format!("bytes behind the last storage: {}", scan.left());
        match mode {
            Mode::Strict => return scan.fail(text),
            Mode::Lenient => notes.push(Note::new(NoteKind::Lenient, text).at(scan.at())),
        }
    }
    // As written on all machines.
    let endian = Endian::Little;
    Ok(Legacy {
        pickle,
        others: vec![magic, protocol, machine, keys],
        storages: Storages { endian, by_key },
        notes,
    })
}

/// The width of an element of each storage, as declared by the tensors.
fn widths(pickle: &Pickle) -> Result<HashMap<String, u64>> {
    let mut widths = HashMap::new();
    for id in pickle.ids() {
        let is_kept = matches!(pickle.item(id), Item::Persistent(_));
        if !is_kept || kept_class(pickle, id).is_some() {
            continue;
        }
        let named = Named::of(pickle, id)?;
        let width = named.kind.kind.width();
        if *widths.entry(named.key.to_owned()).or_insert(width) != width {
            let why = format!("the storage {:?} has two types", named.key);
            return Err(Error::malformed(pickle.at(id), why).of(NAME));
        }
    }
    Ok(widths)
}

fn storage(source: &Source, scan: &mut Scan, width: u64) -> Result<Stored> {
    let at = scan.at();
    let count = scan.u64(Endian::Little)?;
    let Some(len) = count.checked_mul(width) else {
        return scan.fail_at(at, format!("a storage of {count} elements"));
    };
    let start = scan.at();
    scan.skip(len)?;
    Stored::plain(source, start..scan.at())
}
