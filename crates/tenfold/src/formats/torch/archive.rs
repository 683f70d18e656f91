//! The layout since PyTorch 1.6: a zip archive.
#![deny(clippy::arithmetic_side_effects)]

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::NAME;
use super::storages::{Packing, Storages, Stored};
use crate::bundle::Bundle;
use crate::bytes::{Bytes, Endian, Scan, to_u64};
use crate::error::{Error, Result};
use crate::io::{Head, Source};
use crate::limits::Limits;
use crate::note::{Note, NoteKind};
use crate::wire::pickle::{Item, Pickle};
use crate::wire::zip;
use crate::wire::zip::{Member, Method};

/// The member with the pickle.
const PICKLE: &str = "data.pkl";

/// Whether a file is a zip archive that has a member with the pickle.
pub(super) fn looks_right(head: &Head) -> Result<bool> {
    let name = zip::first_name(head.bytes());
    match name.and_then(|name| std::str::from_utf8(name).ok()) {
        // Archives of PyTorch begin with the pickle; arrays of NumPy are excluded quickly.
        Some(name) if is_pickle(name) => Ok(true),
        Some(name) if name.ends_with(".npy") => Ok(false),
        Some(_) => head.ask(|source| {
            let archive = zip::read(source, NAME, &Limits::default())?;
            Ok(archive.members.iter().any(|member| is_pickle(&member.name)))
        }),
        // No archive, or a name of thousands of bytes, which PyTorch never writes.
        None => Ok(false),
    }
}

fn is_pickle(name: &str) -> bool {
    name == PICKLE
        || name
            .strip_suffix(PICKLE)
            .is_some_and(|rest| rest.ends_with('/'))
}

/// A zip archive that `torch.save` wrote.
pub(super) struct Archive {
    /// The source of the pickle.
    pub(super) pickle: Source,
    /// The range of the pickle in that source.
    pub(super) range: std::ops::Range<u64>,
    /// The offset in the file of a compressed pickle.
    pub(super) unpacked_from: Option<u64>,
    pub(super) storages: Storages,
    members: Vec<Member>,
    /// The prefix of member names.
    folder: String,
    /// Ranges of the file outside all members.
    gaps: Vec<Range<u64>>,
}

/// The members besides the pickle and the storages, below the folder.
const ABOUT: &[&str] = &[
    "version",
    "byteorder",
    ".format_version",
    ".storage_alignment",
    ".data/serialization_id",
];

pub(super) fn read(source: &Source, limits: &Limits) -> Result<Archive> {
    let zip::Archive {
        members,
        comment,
        mut gaps,
    } = zip::read(source, NAME, limits)?;
    // The comment is not part of the checkpoint.
    gaps.push(source.len().saturating_sub(to_u64(comment.len()))..source.len());
    let mut pickles = members.iter().filter(|member| is_pickle(&member.name));
    let Some(pickle) = pickles.next() else {
        return fail(0, "the archive has no member data.pkl");
    };
    if let Some(other) = pickles.next() {
        let why = format!("the members {:?} and {:?}", pickle.name, other.name);
        return fail(other.at, &why);
    }
    let folder = pickle.name.strip_suffix(PICKLE).unwrap_or_default();
    let mut by_key = HashMap::new();
    let mut endian = Endian::Little;
    for member in &members {
        let Some(name) = member.name.strip_prefix(folder) else {
            continue;
        };
        if name == "byteorder" {
            endian = byte_order(source, member, limits)?;
        }
        if let Some(key) = name.strip_prefix("data/") {
            let stored = stored(source, member, limits)?;
            if by_key.insert(key.to_owned(), stored).is_some() {
                let why = format!("the member {:?} stands twice", member.name);
                return fail(member.at, &why);
            }
        }
    }
    limits.check_header(pickle.len)?;
    let mut archive = Archive {
        pickle: source.clone(),
        range: pickle.stored.clone(),
        unpacked_from: None,
        storages: Storages { endian, by_key },
        members: Vec::new(),
        folder: folder.to_owned(),
        gaps,
    };
    if pickle.method == Method::Stored {
        stored(source, pickle, limits)?
            .part(0, pickle.len)?
            .check()?;
    } else {
        limits.charge(pickle.len)?;
        let bytes = content(source, pickle, limits)?;
        archive.pickle = Source::memory(bytes);
        archive.range = 0..archive.pickle.len();
        archive.unpacked_from = Some(pickle.stored.start);
    }
    archive.members = members;
    Ok(archive)
}

impl Archive {
    /// Registers for verification what no tensor of `bundle` covers: checksums of members, members
    /// that the pickle does not mention, and bytes between them.
    pub(super) fn audit(
        &self,
        source: &Source,
        pickle: &Pickle,
        bundle: &mut Bundle,
        limits: &Limits,
    ) -> Result<()> {
        let tensors = bundle.entries().iter();
        let parts = tensors.flat_map(|(_, tensor)| tensor.storage().parts());
        let whole = parts.filter(|part| part.bytes.has_checksum());
        let compared: HashSet<u64> = whole.map(|part| part.bytes.at()).collect();
        let keys = storage_keys(pickle);
        let (mut n_odd, mut odd) = (0_u64, None);
        for member in &self.members {
            let is_compared = is_pickle(&member.name) || compared.contains(&member.stored.start);
            // 0 means none, as for storages.
            let has_crc = member.crc != 0 || member.method != Method::Stored;
            if !is_compared
                && has_crc
                && let Some(content) = member.content(source, limits)?
            {
                let name = format!("the member {:?}", member.name);
                bundle.audit().compare(&name, content, limits)?;
            }
            let name = member.name.strip_prefix(&self.folder).unwrap_or("/");
            let is_known =
                is_pickle(&member.name) || ABOUT.contains(&name) || { name.strip_prefix("data/") }
                    .is_some_and(|key| keys.contains(key));
            if !is_known {
                n_odd = n_odd.saturating_add(1);
                odd = odd.or(Some(member));
            }
        }
        if let Some(member) = odd {
            let first = &member.name;
            let text =
                format!("members that are no part of a checkpoint: {n_odd}, first {first:?}");
            let note = Note::new(NoteKind::UnreadBytes, text);
            bundle.audit().note(note.at(member.at));
        }
        let gaps = self.gaps.iter().cloned();
        bundle.audit().is_archive();
        bundle.audit().account(source, gaps, 0, limits)
    }
}

/// The keys of all storages in a pickle.
fn storage_keys(pickle: &Pickle) -> HashSet<&str> {
    let ids = pickle.ids().filter_map(|id| match pickle.item(id) {
        Item::Persistent(tuple) => pickle.sequence(*tuple)?.get(2),
        _ => None,
    });
    ids.filter_map(|key| pickle.text(*key)).collect()
}

fn fail<T>(at: u64, why: &str) -> Result<T> {
    Err(Error::malformed(at, why).of(NAME))
}

/// Whether a member is stored or deflated; other methods are not supported.
fn packing(member: &Member) -> Result<Packing> {
    let what = match member.method {
        Method::Stored => return Ok(Packing::AsTheyAre),
        Method::Deflated => return Ok(Packing::Deflated),
        Method::Encrypted => "encryption".to_owned(),
        Method::Other(number) => format!("compression method {number}"),
    };
    Err(Error::Unsupported {
        format: NAME,
        what: format!("{what} of the member {:?}", member.name),
    })
}

fn stored(source: &Source, member: &Member, limits: &Limits) -> Result<Stored> {
    let packing = packing(member)?;
    let bytes = Bytes::run(source, member.stored.clone())?;
    // PyTorch writes 0 if it was told not to compute checksums.
    let mut crc = Some(member.crc).filter(|crc| *crc != 0);
    if packing == Packing::Deflated {
        limits.check_ratio(bytes.len(), member.len)?;
        crc = Some(member.crc);
    }
    Ok(Stored {
        bytes,
        packing,
        len: member.len,
        crc,
    })
}

/// All bytes of a deflated member.
fn content(source: &Source, member: &Member, limits: &Limits) -> Result<Vec<u8>> {
    packing(member)?;
    let content = member.content(source, limits)?;
    content.map_or(Ok(Vec::new()), |content| content.to_vec())
}

fn byte_order(source: &Source, member: &Member, limits: &Limits) -> Result<Endian> {
    let words: &[(&[u8], Endian)] = &[(b"little", Endian::Little), (b"big", Endian::Big)];
    let text = match member.method {
        _ if member.len > 16 => Vec::new(),
        Method::Stored => Scan::part(source, NAME, member.stored.clone()).take(member.len)?,
        _ => content(source, member, limits)?,
    };
    match words.iter().find(|(word, _)| *word == text) {
        Some((_, endian)) => Ok(*endian),
        None => fail(
            member.stored.start,
            "the byte order is neither little nor big",
        ),
    }
}
