//! Deduplication: parts with the same bytes, for which one blob is enough.

use std::collections::HashMap;

use sha2::{Digest as _, Sha256};

use super::super::parts::Content;
use crate::bytes::{to_u64, to_usize};
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::memory;

/// Length of the beginning that is compared first: few different parts begin alike.
const HEAD: u64 = 64 << 10;

type Hash = [u8; 32];

/// The hashes by which parts of the same length are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Twin {
    len: u64,
    hash: Hash,
}

/// The hashes of every part that may have the same bytes as another.
pub(super) fn find(contents: &[&Content], limits: &Limits) -> Result<Vec<Option<Twin>>> {
    let mut alike: HashMap<u64, u64> = HashMap::new();
    for content in contents {
        count(&mut alike, content.len())?;
    }
    let mut heads: HashMap<Twin, u64> = HashMap::new();
    let mut twins = memory::with_room(contents.len())?;
    for content in contents {
        let len = content.len();
        if len == 0 || alike.get(&len) == Some(&1) {
            twins.push(None);
            continue;
        }
        let hash = hash(content, HEAD, limits)?;
        let head = Twin { len, hash };
        count(&mut heads, head)?;
        twins.push(Some(head));
    }
    for (twin, content) in twins.iter_mut().zip(contents) {
        let Some(head) = twin else { continue };
        if heads.get(head) == Some(&1) {
            *twin = None;
        } else if head.len > HEAD {
            head.hash = hash(content, head.len, limits)?;
        }
    }
    Ok(twins)
}

/// Increments the count of a key.
fn count<K: Eq + std::hash::Hash>(counts: &mut HashMap<K, u64>, key: K) -> Result<()> {
    memory::reserve_map(counts, 1)?;
    let count = counts.entry(key).or_default();
    *count = count.saturating_add(1);
    Ok(())
}

/// The hash of the first bytes of a part.
fn hash(content: &Content, most: u64, limits: &Limits) -> Result<Hash> {
    let mut sha = Sha256::new();
    let mut left = most.min(content.len());
    let read = content.for_each(limits, &mut |piece| {
        let part = to_usize(left.min(to_u64(piece.len())))?;
        sha.update(piece.get(..part).unwrap_or_default());
        left = left.saturating_sub(to_u64(part));
        // Nothing else stops a walk over bytes.
        match left {
            0 if most < content.len() => Err(Error::invalid("enough")),
            _ => Ok(()),
        }
    });
    match read {
        Err(error) if left > 0 => Err(error),
        _ => Ok(sha.finalize().into()),
    }
}
