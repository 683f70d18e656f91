//! Reads two arrays side by side, in pieces, on all cores.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard};

use super::sparse::Cells;
use crate::bytes::{Endian, PIECE, swap, to_u64, to_usize};
use crate::dtype::{DType, Numbers};
use crate::error::{Error, Result};
use crate::io::spawn;
use crate::memory;

/// One of the two arrays.
pub(super) struct Side {
    width: usize,
    from: From,
}

enum From {
    /// Stored or computed values; with the width of a number if its bytes are swapped.
    Numbers(Numbers, Option<usize>),
    /// Sorted cells, with zeros between them.
    Cells(Cells),
}

impl Side {
    /// Elements in the byte order `endian`.
    pub(super) fn numbers(numbers: Numbers, dtype: DType, endian: Endian) -> Side {
        let swapped = numbers.must_swap(endian).then(|| numbers.number.width());
        Side {
            width: dtype.width(),
            from: From::Numbers(numbers, swapped),
        }
    }

    /// Explicit cells, with zeros between them.
    pub(super) fn cells(cells: Cells, dtype: DType) -> Side {
        Side {
            width: dtype.width(),
            from: From::Cells(cells),
        }
    }

    /// The same side, if random access is as fast as sequential reading.
    fn at_hand(&self) -> Option<Side> {
        match &self.from {
            From::Numbers(numbers, swapped) if !numbers.bytes.source().is_computed() => {
                Some(Side {
                    width: self.width,
                    from: From::Numbers(numbers.clone(), *swapped),
                })
            }
            _ => None,
        }
    }

    /// Whether it must be computed.
    pub(super) fn is_computed(&self) -> bool {
        self.at_hand().is_none()
    }

    /// Reads `count` elements from element `first` on.
    fn read(&mut self, first: u64, count: u64, out: &mut Vec<u8>) -> Result<()> {
        memory::resize(out, to_usize(count)?.saturating_mul(self.width))?;
        match &mut self.from {
            From::Cells(cells) => cells.fill(first, out),
            From::Numbers(numbers, swapped) => {
                let at = first.saturating_mul(to_u64(self.width));
                numbers.bytes.read_at(at, out)?;
                if let Some(width) = swapped {
                    swap(out, *width);
                }
                Ok(())
            }
        }
    }
}

/// State shared by the readers.
struct Feed {
    next: u64,
    a: Side,
    b: Side,
}

/// Restores the order of results.
struct Fold<T, F> {
    next: u64,
    waiting: BTreeMap<u64, T>,
    each: F,
    error: Option<Error>,
    is_over: bool,
}

/// Calls `look` with pieces of two arrays of `count` elements, each with the number of its first
/// element, on all cores; and `fold` with the results, in order, until it breaks.
pub(super) fn in_pieces<T: Send, R: Default>(
    a: Side,
    b: Side,
    count: u64,
    look: impl Fn(&mut R, u64, &[u8], &[u8]) -> T + Sync,
    fold: impl FnMut(T) -> ControlFlow<()> + Send,
) -> Result<()> {
    let per_piece = (to_u64(PIECE) / to_u64(a.width.max(b.width).max(1))).max(1);
    let n_pieces = count.div_ceil(per_piece);
    let cores = std::thread::available_parallelism().map_or(1, |cores| to_u64(cores.get()));
    let feed = Mutex::new(Feed { next: 0, a, b });
    let fold = Mutex::new(Fold {
        next: 0,
        waiting: BTreeMap::new(),
        each: fold,
        error: None,
        is_over: false,
    });
    let work = || work(&feed, &fold, count, per_piece, &look);
    std::thread::scope(|scope| {
        // Threads that cannot be started are not needed.
        let _others: Vec<_> = (1..cores.min(n_pieces))
            .map_while(|_| spawn(scope, work))
            .collect();
        work();
    });
    let fold = fold.into_inner().map_err(|_| stopped())?;
    fold.error.map_or(Ok(()), Err)
}

fn work<T, R: Default, F: FnMut(T) -> ControlFlow<()>>(
    feed: &Mutex<Feed>,
    fold: &Mutex<Fold<T, F>>,
    count: u64,
    per_piece: u64,
    look: &impl Fn(&mut R, u64, &[u8], &[u8]) -> T,
) {
    let mut room = R::default();
    let (mut a, mut b) = (Vec::new(), Vec::new());
    loop {
        let read = next_piece(feed, count, per_piece, &mut a, &mut b);
        let looked = match read {
            Ok(None) => return,
            Ok(Some(piece)) => {
                let first = piece.saturating_mul(per_piece);
                Ok((piece, look(&mut room, first, &a, &b)))
            }
            Err(error) => Err(error),
        };
        let Ok(mut fold) = fold.lock() else { return };
        if !take_in(&mut fold, looked) {
            return;
        }
    }
}

/// Reads the next piece of both sides; returns its number.
fn next_piece(
    feed: &Mutex<Feed>,
    count: u64,
    per_piece: u64,
    a: &mut Vec<u8>,
    b: &mut Vec<u8>,
) -> Result<Option<u64>> {
    let mut feed = feed.lock().map_err(|_| stopped())?;
    let piece = feed.next;
    let first = piece.saturating_mul(per_piece);
    if first >= count {
        return Ok(None);
    }
    feed.next = piece.saturating_add(1);
    let part = per_piece.min(count.saturating_sub(first));
    // Values in files are read by all threads at once; computed ones come in order.
    match (feed.a.at_hand(), feed.b.at_hand()) {
        (Some(mut own_a), Some(mut own_b)) => {
            drop::<MutexGuard<_>>(feed);
            own_a.read(first, part, a)?;
            own_b.read(first, part, b)?;
        }
        _ => {
            feed.a.read(first, part, a)?;
            feed.b.read(first, part, b)?;
        }
    }
    Ok(Some(piece))
}

/// Passes on the results that are next in order; false at the end.
fn take_in<T, F: FnMut(T) -> ControlFlow<()>>(
    fold: &mut Fold<T, F>,
    looked: Result<(u64, T)>,
) -> bool {
    match looked {
        Err(error) => {
            fold.error = fold.error.take().or(Some(error));
            fold.is_over = true;
        }
        Ok((piece, found)) => {
            fold.waiting.insert(piece, found);
        }
    }
    while !fold.is_over
        && let Some(found) = fold.waiting.remove(&fold.next)
    {
        fold.next = fold.next.saturating_add(1);
        fold.is_over = (fold.each)(found).is_break();
    }
    !fold.is_over
}

fn stopped() -> Error {
    Error::invalid("another reader stopped halfway")
}
