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

    /// The offset of the first block whose labels an earlier block has.
    ///
    /// Equal hashes are suspects only: their labels are read again and compared.
    pub(crate) fn first_duplicate(
        mut self,
        records: &Records,
        source: &Source,
    ) -> Result<Option<u64>> {
        self.hashes.sort_unstable();
        let suspects: HashSet<u64> = self
            .hashes
            .windows(2)
            .filter_map(|pair| match pair {
                [first, second] if first == second => Some(*first),
                _ => None,
            })
            .collect();
        if suspects.is_empty() {
            return Ok(None);
        }
        let mut seen = HashSet::new();
        let mut found = None;
        records.for_each(source, &mut |labels, scan| {
            if found.is_none() && suspects.contains(&hash(labels)) && !seen.insert(labels.to_vec())
            {
                let len: u64 = labels.iter().map(|label| label_len(label)).sum();
                found = Some(scan.at().saturating_sub(len));
            }
            Ok(())
        })?;
        Ok(found)
    }
}

/// The bytes a label takes; overlong lengths are not foreseen, so the offset may be a little late.
fn label_len(label: &str) -> u64 {
    let len = crate::bytes::wide(label.len());
    len.saturating_add(if len < 0x80 { 1 } else { 4 })
}

fn hash(labels: &[String]) -> u64 {
    let mut state = Xxh3::new();
    for label in labels {
        state.update(&crate::bytes::wide(label.len()).to_le_bytes());
        state.update(label.as_bytes());
    }
    state.digest()
}
