//! zip archives: members change, and their checksums, lengths and the directory follow.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;

use super::{Random, pickle, sequence};

const ENTRY: &[u8] = b"PK\x01\x02";
const LOCAL: &[u8] = b"PK\x03\x04";
const END: &[u8] = b"PK\x05\x06";
const DEFLATED: u16 = 8;
/// More is not decompressed to be changed.
const LONGEST: u64 = 1 << 17;

#[derive(Clone, Debug, PartialEq)]
struct Member {
    name: Vec<u8>,
    is_deflated: bool,
    content: Vec<u8>,
}

fn number(data: &[u8], at: usize, width: usize) -> Option<usize> {
    let bytes = data.get(at..at.checked_add(width)?)?;
    let place = |number, byte: &u8| number << 8 | usize::from(*byte);
    Some(bytes.iter().rev().fold(0, place))
}

/// The members that the directory of an archive names.
fn members(data: &[u8]) -> Option<Vec<Member>> {
    let end = data.windows(END.len()).rposition(|bytes| bytes == END)?;
    let count = number(data, end + 10, 2)?;
    let mut at = number(data, end + 16, 4)?;
    let mut all = Vec::new();
    for _ in 0..count {
        let entry = data.get(at..).filter(|entry| entry.starts_with(ENTRY))?;
        let name_len = number(entry, 28, 2)?;
        let local = number(entry, 42, 4)?;
        let is_deflated = number(entry, 10, 2)? == usize::from(DEFLATED);
        let start = local + 30 + number(data, local + 26, 2)? + number(data, local + 28, 2)?;
        let stored = data.get(start..start.checked_add(number(entry, 20, 4)?)?)?;
        let mut content = Vec::new();
        if is_deflated {
            DeflateDecoder::new(stored)
                .take(LONGEST)
                .read_to_end(&mut content)
                .ok()?;
        } else {
            content.extend(stored);
        }
        all.push(Member {
            name: entry.get(46..46 + name_len)?.to_vec(),
            is_deflated,
            content,
        });
        at += 46 + name_len + number(entry, 30, 2)? + number(entry, 32, 2)?;
    }
    Some(all)
}

fn archive(members: &[Member]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut directory = Vec::new();
    for member in members {
        let stored = if member.is_deflated {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(&member.content).ok()?;
            encoder.finish().ok()?
        } else {
            member.content.clone()
        };
        let at = u32::try_from(out.len()).ok()?;
        // From the version that is needed to the length of the name, which both records have.
        let mut common = [
            20_u16,
            0,
            if member.is_deflated { DEFLATED } else { 0 },
            0,
            0x21,
        ]
        .map(u16::to_le_bytes)
        .concat();
        common.extend(crc32fast::hash(&member.content).to_le_bytes());
        common.extend(u32::try_from(stored.len()).ok()?.to_le_bytes());
        common.extend(u32::try_from(member.content.len()).ok()?.to_le_bytes());
        common.extend(u16::try_from(member.name.len()).ok()?.to_le_bytes());
        // PyTorch wants its tensors at multiples of 64: the extra field makes up for the rest.
        let begins = out.len() + 30 + member.name.len() + 4;
        let padding = begins.next_multiple_of(64) - begins;
        let extra = [
            b"FB".as_slice(),
            &(padding as u16).to_le_bytes(),
            &vec![b'Z'; padding],
        ]
        .concat();
        let extra_len = (extra.len() as u16).to_le_bytes();
        out.extend([LOCAL, &common, &extra_len, &member.name, &extra, &stored].concat());
        let rest = [[0; 12].as_slice(), &at.to_le_bytes()].concat();
        directory.extend([ENTRY, &[20, 0], &common, &rest, &member.name].concat());
    }
    let count = u16::try_from(members.len()).ok()?.to_le_bytes();
    let at = u32::try_from(out.len()).ok()?.to_le_bytes();
    let len = u32::try_from(directory.len()).ok()?.to_le_bytes();
    out.extend(directory);
    out.extend([END, &[0; 4], &count, &count, &len, &at, &[0, 0]].concat());
    Some(out)
}

fn fresh(random: &mut Random) -> Member {
    const NAMES: &[&str] = &[
        "a.npy",
        "archive/data.pkl",
        "archive/data/0",
        "archive/data/1",
        "archive/version",
        "archive/byteorder",
        "archive/.data/serialization_id",
        "archive/constants.pkl",
        "arr_0.npy",
        "../a.npy",
        "a/",
        "",
    ];
    Member {
        name: random.pick(NAMES).unwrap_or(&"").as_bytes().to_vec(),
        is_deflated: random.one_in(2),
        content: random.number().to_le_bytes().repeat(random.below(4)),
    }
}

/// Changes one or two members, pickles by their instructions.
pub fn mutate(data: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let mut all = members(data)?;
    for _ in 0..=random.below(2) {
        let at = random.below(all.len());
        match all.get_mut(at) {
            Some(member) if random.one_in(12) => member.is_deflated = !member.is_deflated,
            Some(member) if random.one_in(12) => member.name = random.bytes(&member.name),
            Some(member) if !random.one_in(6) => {
                let is_pickle = member.name.ends_with(b".pkl") && !random.one_in(4);
                member.content = if is_pickle {
                    pickle(&member.content, random)?
                } else {
                    random.bytes(&member.content)
                };
            }
            _ => sequence::change(&mut all, random, fresh),
        }
    }
    archive(&all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_comes_apart_and_together() {
        let both = [false, true].map(|is_deflated| Member {
            name: b"archive/data.pkl".to_vec(),
            is_deflated,
            content: b"hello hello hello\n".to_vec(),
        });
        let made = archive(&both).unwrap();
        assert_eq!(members(&made).unwrap(), both);
    }
}
