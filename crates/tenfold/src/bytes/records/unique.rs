//! Uniqueness of labels: no two blocks may have the same.

use std::collections::HashSet;

use xxhash_rust::xxh3::Xxh3;

use crate::bytes::{Records, to_u64};
use crate::error::Result;
use crate::io::Source;
use crate::memory;

/// A set of 64-bit hashes of the labels of every block: a million blocks cost eight megabytes while
/// they are compared, and nothing afterwards. More blocks are hashed in several walks, a part of
/// them at a time.
#[derive(Debug)]
pub(crate) struct LabelSet {
    hashes: Vec<u64>,
    count: u64,
    /// Most hashes held at once.
    most: u64,
}

impl Default for LabelSet {
    fn default() -> LabelSet {
        LabelSet {
            hashes: Vec::new(),
            count: 0,
            most: MOST,
        }
    }
}

/// Most hashes held at once, unless blocks can be walked over only once.
const MOST: u64 = 2 << 20;

impl LabelSet {
    /// A set that holds the hashes of all blocks, as these can be walked over only once.
    pub(crate) fn whole() -> LabelSet {
        LabelSet {
            most: u64::MAX,
            ..LabelSet::default()
        }
    }

    pub(crate) fn push<T: AsRef<str>>(&mut self, labels: &[T]) -> Result<()> {
        if self.count < self.most {
            memory::push(&mut self.hashes, hash(labels))?;
        }
        self.count = self.count.saturating_add(1);
        Ok(())
    }

    /// The offset of a block whose labels an earlier block has.
    pub(crate) fn duplicate(self, records: &Records, source: &Source) -> Result<Option<u64>> {
        let most = self.most;
        self.duplicate_among(records, source, most)
    }

    fn duplicate_among(self, records: &Records, source: &Source, most: u64) -> Result<Option<u64>> {
        if self.count <= most {
            return repeated(self.hashes, records, source);
        }
        let n_parts = self.count.div_ceil(most.max(1));
        let mut hashes = self.hashes;
        for part in 0..n_parts {
            hashes.clear();
            records.for_each(source, &mut |_, labels, _| {
                let hash = hash(labels);
                if hash.checked_rem(n_parts) == Some(part) {
                    memory::push(&mut hashes, hash)
                } else {
                    Ok(())
                }
            })?;
            let found = repeated(std::mem::take(&mut hashes), records, source)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }
}

/// The offset of a block whose labels an earlier block has, if the hashes of both are given.
///
/// Equal hashes are candidates only: their labels are read again and compared.
fn repeated(mut hashes: Vec<u64>, records: &Records, source: &Source) -> Result<Option<u64>> {
    hashes.sort_unstable();
    let twice = |pair: &[u64]| match pair {
        [first, second] if first == second => Some(*first),
        _ => None,
    };
    let suspected: Vec<u64> = memory::collected(hashes.windows(2).filter_map(twice))?;
    drop(hashes);
    if suspected.is_empty() {
        return Ok(None);
    }
    let mut suspects: Vec<(u64, u64)> = Vec::new();
    records.for_each(source, &mut |at, labels, _| {
        let hash = hash(labels);
        if suspected.binary_search(&hash).is_ok() {
            suspects.push((hash, at));
        }
        Ok(())
    })?;
    suspects.sort_unstable();
    for group in suspects.chunk_by(|(first, _), (second, _)| first == second) {
        let mut seen = HashSet::new();
        for (_, at) in group {
            if !seen.insert(records.labels_at(source, *at)?) {
                return Ok(Some(*at));
            }
        }
    }
    Ok(None)
}

/// A 64-bit hash of labels.
pub(crate) fn hash<T: AsRef<str>>(labels: &[T]) -> u64 {
    let mut state = Xxh3::new();
    for label in labels.iter().map(AsRef::as_ref) {
        state.update(&to_u64(label.len()).to_le_bytes());
        state.update(label.as_bytes());
    }
    state.digest()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::Scan;
    use crate::limits::Limits;

    #[test]
    fn a_repeated_block_is_found_at_its_first_byte_however_its_lengths_are_written() {
        let source = Source::memory(b"\x01a\x07\x01b\x08\x80\0\0\x01a\x09".to_vec());
        let mut scan = Scan::new(&source, "test");
        let mut set = LabelSet::default();
        let limits = Limits::default();
        let records = Records::find(&mut scan, 3, 1, 1, &limits, &mut |_, labels| {
            set.push(labels)
        });
        let found = set.duplicate(&records.unwrap(), &source).unwrap();
        assert_eq!(found, Some(6));
    }

    #[test]
    fn a_repeated_block_is_found_among_more_than_are_held_at_once() {
        for twice in [None, Some(3_u8), Some(77)] {
            let labels = (0..100_u8).map(|n| if n == 90 { twice.unwrap_or(n) } else { n });
            let bytes: Vec<u8> = labels.flat_map(|label| [1, label]).collect();
            let source = Source::memory(bytes);
            let mut scan = Scan::new(&source, "test");
            let mut set = LabelSet::default();
            let limits = Limits::default();
            let records = Records::find(&mut scan, 100, 1, 0, &limits, &mut |_, labels| {
                set.push(labels)
            });
            let found = set.duplicate_among(&records.unwrap(), &source, 7).unwrap();
            assert_eq!(found, twice.map(|_| 180));
        }
    }
}
