//! zTensor: the description at the end changes as CBOR, and what says where it is follows.

use super::{Random, cbor};

const FOOTER: usize = 40;

/// Changes the description of a file of any generation. The checksum that generation 2 has of it is put
/// right when the file is read.
pub fn mutate(data: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let is_second = data.starts_with(b"\x89ZT2");
    let tail = match data {
        _ if is_second => FOOTER,
        // Generations 1.1 and 1.2 end with their magic as well.
        _ if data.ends_with(b"ZTEN1000") => 16,
        _ => 8,
    };
    let (before, footer) = data.split_at_checked(data.len().checked_sub(tail)?)?;
    let word =
        |at: usize| usize::try_from(u64::from_le_bytes(footer[at..at + 8].try_into().ok()?)).ok();
    let start = if is_second {
        word(0)?
    } else {
        before.len().checked_sub(word(0)?)?
    };
    let (blobs, description) = before.split_at_checked(start)?;
    let description = cbor(description, random)?;
    let len = (description.len() as u64).to_le_bytes();
    let mut footer = footer.to_vec();
    let at = if is_second { 8 } else { 0 };
    footer[at..at + 8].copy_from_slice(&len);
    Some([blobs, &description, &footer].concat())
}
