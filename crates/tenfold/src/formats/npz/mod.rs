//! NumPy's archive of arrays, `.npz`: a zip archive whose members are `.npy` files.
//!
//! The pages are the documentation of `numpy.savez` and PKWARE's APPNOTE; see
//! [`npy`] for the members.
//!
//! | at | bytes | field | |
//! |---:|---:|---|---|
//! | 0 | … | members | each a local header (`PK\3\4`), an `.npy` file, stored or deflated, and a descriptor |
//! | … | … | directory | an entry a member: `PK\1\2`, its name, sizes, CRC-32 and place |
//! | … | 22 + n | end | `PK\5\6`, where the directory is, and a comment of n bytes |
//!
//! An array called `w` is the member `w.npy`.
//!
//! # What it holds
//! Any number of named arrays of the types and shapes of `.npy`; no metadata. What has no word is
//! carried in the comment, as NumPy would list one member more as one array more; it has room for
//! 65535 bytes.
//!
//! # Where the spec is silent
//! 1. A member without `.npy` at the end of its name is an array if it begins as one, by its whole
//!    name. What is no array (NumPy gives its bytes) is left out, with a note; so are arrays of types
//!    that the model has no numbers for, and pickled objects, which are never unpickled. Of these the
//!    CRC-32 is compared first: a damaged header is no type. An archive of members of which none is an
//!    array is refused; one without members has no arrays.
//! 2. Two members of one name are refused; a lenient reader notes them. NumPy finds the last.
//! 3. Names are UTF-8 where the archive says so, else code page 437, as Python has it. A name with a
//!    NUL, which Python cuts there, is not written.
//! 4. The CRC-32 of a member is compared when all its values are read, and by `verify`; reading a
//!    part of a stored array reads no more than that part. `verify` compares those of other members too.
//! 5. Members that are encrypted or neither stored nor deflated are refused; a lenient reader leaves
//!    them out. Members that overlap, that reach into the directory, or whose local header says other
//!    than the directory are refused, and so is what does not decode to the length it says.
//! 6. Anything before the first member is allowed, since offsets count from the first byte of the file;
//!    bytes between the directory and the end, or behind the comment, are refused. `verify` notes what is
//!    before, between and behind the members, and comments of entries.
//! 7. Written is in one go: members are stored unless `--opt compress=deflate` asks otherwise or they
//!    were deflated, the sizes and the CRC-32 follow the data (flag bit 3), ZIP64 is used only
//!    where 32 bits do not do, all dates are 1980-01-01. The values of stored arrays begin at
//!    multiples of 64, by an extra field that pads (0xD935), so that they can be mapped.
//! 8. A comment that is not ours is kept when the archive is rewritten and nothing is carried.

mod read;
mod write;

use std::collections::HashSet;

use crate::bundle::Bundle;
use crate::error::Result;
use crate::format::{
    Capabilities, ENDIAN, Format, Info, Match, Names, OptionInfo, ReadOptions, SidecarSlot, When,
    WriteOptions,
};
use crate::formats::npy;
use crate::io::{Head, Sink, Source};
use crate::loss::{Aspect, Loss};
use crate::wire::zip;

/// The `.npz` format.
#[derive(Debug)]
pub struct Npz;

const NAME: &str = "npz";
/// The ending of member names.
const SUFFIX: &str = ".npy";
/// The first bytes of an archive without members.
const EMPTY: &[u8] = b"PK\x05\x06";
/// Longest name of a member.
const MOST_NAME: usize = 65_535;
/// The metadata stored in the comment.
const CARRIED: &str = "tenfold";

/// Hints of this format.
mod hint {
    /// The compression of a member, if it was not stored.
    pub(super) const COMPRESS: &str = "npz:compress";
    /// The version of a member, if it is not the usual one.
    pub(super) const VERSION: &str = "npz:version";
    /// The byte order of a member, if it is big-endian: a lone `.npy` does not pass its own on.
    pub(super) const ENDIAN: &str = "npz:endian";
    /// A comment of another program.
    pub(super) const COMMENT: &str = "npz:comment";
}

static INFO: Info = Info {
    name: NAME,
    title: "NumPy's archive: named arrays in a zip file",
    extensions: &["npz"],
    magic: b"PK\x03\x04",
    versions: &["1"],
    only_read: &[],
    options: &[
        OptionInfo {
            name: "compress",
            when: When::Write,
            values: "stored|deflate",
            about: "how members are kept; as they were unless given",
        },
        OptionInfo {
            name: "level",
            when: When::Write,
            values: "1..9",
            about: "how hard deflate tries; 6 unless given",
        },
        ENDIAN,
    ],
    holds: Capabilities {
        names: Names::Flat,
        carries: SidecarSlot::Comment,
        ..npy::HOLDS
    },
};

/// Whether the first member of a zip archive has the name of an array.
fn begins_with_array(head: &Head) -> bool {
    zip::first_name(head.bytes()).is_some_and(|name| name.ends_with(b".npy"))
}

impl Format for Npz {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn read(&self, source: &Source, how: &ReadOptions) -> Result<Bundle> {
        read::read(source, how)
    }

    fn write(&self, bundle: &Bundle, out: &mut Sink, how: &WriteOptions) -> Result<()> {
        write::write(bundle, out, how)
    }

    fn probe(&self, head: &Head) -> Result<Match> {
        Ok(match head.bytes() {
            start if start.starts_with(EMPTY) => Match::Yes,
            // Other formats are zip archives too.
            start if !start.starts_with(INFO.magic) => Match::No,
            _ if begins_with_array(head) => Match::Maybe,
            _ => Match::Looks,
        })
    }

    fn format_losses(&self, bundle: &Bundle) -> Result<Vec<Loss>> {
        let mut losses = Vec::new();
        let mut seen = HashSet::new();
        for (key, tensor) in bundle.entries() {
            losses.extend(npy::misfits(key, tensor));
            let mut refuse = |detail: &str| {
                losses.push(Loss::impossible(key, Aspect::Keys, detail));
            };
            let name = key.flat_name().unwrap_or_default();
            if name.contains('\0') {
                refuse("a name with a NUL, which NumPy ends it at");
            }
            if name.len() > MOST_NAME.saturating_sub(SUFFIX.len()) {
                refuse("a name longer than zip allows");
            }
            if !seen.insert(key) {
                refuse("a name that is used twice");
            }
        }
        Ok(losses)
    }
}
