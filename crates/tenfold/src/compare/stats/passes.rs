//! Parallel passes over all values, with results independent of the number of cores.

use std::sync::atomic::{AtomicU64, Ordering};

use pulp::{Arch, Simd, WithSimd};

use crate::bytes::{Endian, PIECE, swap, to_u64, to_usize};
use crate::dtype::Numbers;
use crate::error::{Error, Result};
use crate::io::spawn;
use crate::memory;

/// Elements with random access, cut into chunks that depend only on their number.
pub(super) struct Chunks<'a> {
    numbers: &'a Numbers,
    width: usize,
    count: u64,
    /// Elements per chunk.
    chunk: u64,
}

/// An accumulator of one thread.
pub(super) trait Tally: Send {
    /// The result of one chunk.
    type Part: Send;

    /// Takes some elements, little-endian.
    fn piece(&mut self, elements: &[u8]);

    /// Finishes a chunk.
    fn part(&mut self) -> Self::Part;
}

/// A tally that takes few elements at a time, with code compiled for the widest vector
/// instructions.
pub(super) trait InBlocks {
    /// Takes one block. It must be inlined, with everything it calls.
    fn block(&mut self, elements: &[u8]);
}

/// Elements per block: few enough to stay in the cache.
pub(super) const BLOCK: usize = 2048;

/// Passes elements of `width` bytes to a tally, block by block.
pub(super) fn in_blocks(tally: &mut impl InBlocks, elements: &[u8], width: usize) {
    let len = BLOCK.saturating_mul(width.max(1));
    Arch::new().dispatch(Piece {
        tally,
        elements,
        len,
    });
}

struct Piece<'a, T> {
    tally: &'a mut T,
    elements: &'a [u8],
    /// Length of a block.
    len: usize,
}

impl<T: InBlocks> WithSimd for Piece<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for block in self.elements.chunks(self.len) {
            self.tally.block(block);
        }
    }
}

/// The results of a pass: of each thread in any order, and of all chunks in order.
pub(super) type Found<T> = (Vec<T>, Vec<<T as Tally>::Part>);

/// Most chunks, so that their results are few.
const MOST_CHUNKS: u64 = 4096;

/// The result of one thread: its tally, and the result of each chunk it took.
type Worked<T> = (T, Vec<(u64, <T as Tally>::Part)>);

impl<'a> Chunks<'a> {
    pub(super) fn new(numbers: &'a Numbers, width: usize) -> Chunks<'a> {
        let width = width.max(1);
        let count = numbers.bytes.len() / to_u64(width);
        let piece = to_u64(PIECE / width).max(1);
        let least = count.div_ceil(MOST_CHUNKS).max(piece.saturating_mul(4));
        Chunks {
            numbers,
            width,
            count,
            chunk: least.next_multiple_of(piece),
        }
    }

    /// The number of elements.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Makes one pass over all elements.
    pub(super) fn pass<T: Tally>(&self, make: impl Fn() -> Result<T> + Sync) -> Result<Found<T>> {
        let n_chunks = self.count.div_ceil(self.chunk);
        let n_cores = std::thread::available_parallelism().map_or(1, |cores| to_u64(cores.get()));
        let next = AtomicU64::new(0);
        let work = || self.work(&next, make()?);
        let results = if n_cores.min(n_chunks) < 2 {
            vec![work()]
        } else {
            std::thread::scope(|scope| {
                let others: Vec<_> = (1..n_cores.min(n_chunks))
                    .map_while(|_| spawn(scope, work))
                    .collect();
                let stopped = |_| Err(Error::invalid("a thread stopped halfway"));
                let own = work();
                let joined = others.into_iter().map(|worker| worker.join());
                let joined = joined.map(|result| result.unwrap_or_else(stopped));
                std::iter::once(own).chain(joined).collect()
            })
        };
        let (mut tallies, mut parts) = (Vec::new(), Vec::new());
        for result in results {
            let (tally, found) = result?;
            tallies.push(tally);
            parts.extend(found);
        }
        parts.sort_by_key(|(chunk, _)| *chunk);
        Ok((tallies, parts.into_iter().map(|(_, part)| part).collect()))
    }

    /// Takes chunks until none is left.
    fn work<T: Tally>(&self, next: &AtomicU64, mut tally: T) -> Result<Worked<T>> {
        let per_piece = to_u64(PIECE / self.width).max(1);
        let mut buffer =
            memory::zeros(to_usize(per_piece.min(self.count))?.saturating_mul(self.width))?;
        let mut parts = Vec::new();
        loop {
            let chunk = next.fetch_add(1, Ordering::Relaxed);
            let mut at = chunk.saturating_mul(self.chunk);
            let end = at.saturating_add(self.chunk).min(self.count);
            if at >= end {
                return Ok((tally, parts));
            }
            while at < end {
                let now = per_piece.min(end.saturating_sub(at));
                let len = to_usize(now)?.saturating_mul(self.width);
                let piece = buffer.get_mut(..len).unwrap_or_default();
                let from = at.saturating_mul(to_u64(self.width));
                self.numbers.bytes.read_at(from, piece)?;
                if self.numbers.must_swap(Endian::Little) {
                    swap(piece, self.numbers.number.width());
                }
                tally.piece(piece);
                at = at.saturating_add(now);
            }
            parts.push((chunk, tally.part()));
        }
    }
}
