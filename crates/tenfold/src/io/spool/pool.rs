//! A process-wide pool for small spools: 16 MiB in memory, the rest in one shared temporary file.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};

use super::append_at;
use super::scratch::Scratch;
use crate::bytes::to_u64;
use crate::error::{Error, Result};
use crate::io::Source;

/// Memory of the pool; bytes beyond it go to the file.
const ROOM: usize = 16 << 20;

/// Memory in use.
static TAKEN: AtomicUsize = AtomicUsize::new(0);

/// The file, removed with its last user, and the offset of its next part.
static SHELF: Mutex<(Weak<Scratch>, u64)> = Mutex::new((Weak::new(), 0));

/// Bytes in memory.
pub(crate) struct Held {
    pub(crate) bytes: Vec<u8>,
    /// How many of them count against the pool.
    taken: usize,
}

impl Held {
    /// Bytes that the caller holds in memory anyway.
    pub(crate) fn of(bytes: Vec<u8>) -> Held {
        Held { bytes, taken: 0 }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        TAKEN.fetch_sub(self.taken, Ordering::Relaxed);
    }
}

/// Stores bytes, one lot of perhaps very many.
pub(crate) fn keep(bytes: Vec<u8>) -> Result<Source> {
    let taken = bytes.len();
    let before = TAKEN.fetch_add(taken, Ordering::Relaxed);
    if before.saturating_add(taken) <= ROOM {
        return Ok(Source::held(Held { bytes, taken }));
    }
    TAKEN.fetch_sub(taken, Ordering::Relaxed);
    put_down(&bytes)
}

/// Appends bytes to the file.
fn put_down(bytes: &[u8]) -> Result<Source> {
    let stopped = |_| Error::invalid("another spool stopped halfway");
    let mut shelf = SHELF.lock().map_err(stopped)?;
    let (file, at) = match shelf.0.upgrade() {
        Some(file) => (file, shelf.1),
        None => (Arc::new(Scratch::new(u64::MAX)?), 0),
    };
    let len = to_u64(bytes.len());
    file.grow(at.saturating_add(len))?;
    append_at(&file, bytes, at)?;
    *shelf = (Arc::downgrade(&file), at.saturating_add(len));
    Ok(Source::part_of_scratch(&file, at, len))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_down_comes_back() {
        let lots: Vec<Vec<u8>> = (1..9_u8).map(|n| vec![n; usize::from(n) * 1000]).collect();
        let sources: Vec<Source> = lots.iter().map(|lot| put_down(lot).unwrap()).collect();
        for (lot, source) in lots.iter().zip(&sources) {
            let mut found = vec![0; lot.len()];
            source.read_at(0, &mut found).unwrap();
            assert_eq!(&found, lot);
            assert!(source.read_at(1, &mut found).is_err());
            assert!(source.as_file().is_none() || lot.len() == 1000);
        }
    }

    #[test]
    fn what_is_kept_beyond_the_room_is_not_in_memory() {
        let lots: Vec<Source> = (0..20).map(|_| keep(vec![7; 1 << 20]).unwrap()).collect();
        let in_memory = lots.iter().filter(|lot| lot.slice(0..1).is_some()).count();
        assert!(in_memory <= 16, "{in_memory}");
        let mut last = [0; 3];
        lots[19].read_at((1 << 20) - 3, &mut last).unwrap();
        assert_eq!(last, [7; 3]);
    }
}
