//! gzip files: what is inside changes, and its checksum and length follow.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use super::Random;

/// What every gzip file of one member without a name begins with.
pub const HEAD: &[u8] = &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
/// More is not decompressed to be changed.
const LONGEST: u64 = 1 << 17;

/// Changes what a gzip file holds.
pub fn mutate(data: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    let mut members = data;
    // What can be read of a damaged file is enough to go on with.
    let read = GzDecoder::new(&mut members)
        .take(LONGEST)
        .read_to_end(&mut content);
    if read.is_err() && content.is_empty() {
        return None;
    }
    let content = random.bytes(&content);
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(random.below(10) as u32));
    if random.one_in(4) {
        // A file of two members is that of both contents.
        let (first, second) = content.split_at(random.below(content.len()));
        encoder.write_all(first).ok()?;
        let first = encoder.finish().ok()?;
        let mut encoder = GzEncoder::new(first, Compression::fast());
        encoder.write_all(second).ok()?;
        return encoder.finish().ok();
    }
    encoder.write_all(&content).ok()?;
    encoder.finish().ok()
}

/// The same for what follows the head.
pub fn mutate_body(data: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let changed = mutate(&[HEAD, data].concat(), random)?;
    Some(changed[HEAD.len()..].to_vec())
}
