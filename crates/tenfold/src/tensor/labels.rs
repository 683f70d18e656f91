//! Labelled blocks: no two may have the same labels.

use std::collections::HashSet;

use xxhash_rust::xxh3::Xxh3;

use crate::bytes::{Records, Source};
use crate::error::Result;

/// Remembers eight bytes of every block's labels, so that a million blocks cost eight megabytes
/// while they are compared, and nothing afterwards.
#[derive(Default)]
pub(crate) struct LabelSet {
    hashes: Vec<u64>,
}

impl LabelSet {
    pub(crate) fn push(&mut self, labels: &[String]) {
        self.hashes.push(hash(labels));
    }

    /// The offset of a block whose labels an earlier block has.
    ///
    /// Equal hashes are suspects only: their labels are read again and compared.
    pub(crate) fn duplicate(mut self, records: &Records, source: &Source) -> Result<Option<u64>> {
        self.hashes.sort_unstable();
        self.hashes = self
            .hashes
            .windows(2)
            .filter_map(|pair| match pair {
                [first, second] if first == second => Some(*first),
                _ => None,
            })
            .collect();
        if self.hashes.is_empty() {
            return Ok(None);
        }
        let mut suspects: Vec<(u64, u64)> = Vec::new();
        records.for_each(source, &mut |at, labels, _| {
            let hash = hash(labels);
            if self.hashes.binary_search(&hash).is_ok() {
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
}

/// Eight bytes of labels.
pub(crate) fn hash<T: AsRef<str>>(labels: &[T]) -> u64 {
    let mut state = Xxh3::new();
    for label in labels.iter().map(AsRef::as_ref) {
        state.update(&crate::bytes::wide(label.len()).to_le_bytes());
        state.update(label.as_bytes());
    }
    state.digest()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::{Endian, RecordsBuilder, Scan};
    use crate::limits::Limits;
    use crate::number::{DType, Number, Numbers};
    use crate::tensor::{Address, Dim, Order, Storage, Tensor};

    #[test]
    fn a_repeated_block_is_found_at_its_first_byte_however_its_lengths_are_written() {
        let source = Source::memory(b"\x01a\x07\x01b\x08\x80\0\0\x01a\x09".to_vec());
        let mut scan = Scan::new(&source, "test");
        let mut set = LabelSet::default();
        let limits = Limits::default();
        let records = Records::find(&mut scan, 3, 1, 1, &limits, &mut |_, labels| {
            set.push(labels);
            Ok(())
        });
        let found = set.duplicate(&records.unwrap(), &source).unwrap();
        assert_eq!(found, Some(6));
    }

    #[test]
    fn blocks_have_as_many_labels_as_there_are_mapped_dimensions() {
        let mut records = RecordsBuilder::new(2, 1);
        records.push(&["a", "b"], &[7]).unwrap();
        let storage = Storage::Sparse {
            order: Order::Row,
            address: Address::Labels,
            values: Numbers {
                number: Number::I8,
                endian: Endian::Little,
                bytes: records.finish().unwrap(),
            },
        };
        let tensor = |dims| Tensor::new(dims, DType::real(Number::I8), vec![], storage.clone());
        assert!(tensor(vec![Dim::mapped("x")]).is_err());
        assert!(tensor(vec![Dim::mapped("x"), Dim::mapped("y")]).is_ok());
    }
}
