//! Exact order statistics of any number of values, in bounded memory.
//!
//! Values are represented by keys that sort like them (a radix selection). Each pass counts the
//! 16-bit digits that follow the known digits of the wanted keys, which determines another digit,
//! until the remaining candidates are few enough to be sorted.

use super::passes::{BLOCK, Chunks, InBlocks, Tally, in_blocks};
use super::sort_key::{ElementOps, Key, zero};
use crate::error::{Error, Result};
use crate::memory;

/// The number of values with each digit.
pub(super) type Table = Vec<u64>;

/// The number of different digits.
pub(super) const DIGITS: usize = 1 << 16;

/// Up to this many keys are sorted in memory.
pub(super) const FEW: u64 = 1 << 18;

/// A table of all digits with the same value.
pub(super) fn table_of<T: Copy>(value: T) -> Result<Box<[T; DIGITS]>> {
    let table = memory::filled(value, DIGITS)?.into_boxed_slice();
    table
        .try_into()
        .map_err(|_| Error::invalid("a table of another length"))
}

/// All finite values of a tensor: stored ones, and implicit zeros.
pub(super) struct Quantiles<'a, L: ElementOps> {
    pub(super) chunks: &'a Chunks<'a>,
    pub(super) lens: &'a L,
    /// The number of finite stored values.
    pub(super) stored: u64,
    /// The number of implicit zeros.
    pub(super) implied: u64,
}

/// A wanted value.
#[derive(Clone, Copy)]
struct Wanted {
    /// The known digits of its key.
    prefix: u128,
    /// Its rank among the values with these digits.
    rank: u64,
    /// The number of stored values with these digits.
    stored: u64,
}

impl<L: ElementOps> Quantiles<'_, L> {
    /// The keys of the values at some ranks; `first` are the counts of the first digits of the
    /// stored values, if they are known.
    pub(super) fn find(&self, ranks: &[u64], first: Option<Table>) -> Result<Vec<L::Key>> {
        let mut level = 0;
        let all = |rank: &u64| Wanted {
            prefix: 0,
            rank: *rank,
            stored: self.stored,
        };
        let mut wanted: Vec<Wanted> = ranks.iter().map(all).collect();
        if let Some(table) = first {
            wanted = self.step(&wanted, &[0], vec![table], level);
            level = 1;
        }
        while level < L::Key::DIGITS {
            let prefixes = prefixes(&wanted);
            let stored = prefixes.iter().filter_map(|prefix| {
                let has = |wanted: &&Wanted| wanted.prefix == *prefix;
                wanted.iter().find(has).map(|wanted| wanted.stored)
            });
            if stored.fold(0, u64::saturating_add) <= FEW {
                return self.sort(&wanted, &prefixes, level);
            }
            let tables = self.count(&prefixes, level)?;
            wanted = self.step(&wanted, &prefixes, tables, level);
            level += 1;
        }
        let keys = wanted.iter().map(|wanted| L::Key::narrow(wanted.prefix));
        Ok(keys.collect())
    }

    /// The key of zero.
    fn zero(&self) -> L::Key {
        self.lens.key(&zero(self.lens))
    }

    /// Counts, for each prefix of `level` digits, the digits that follow it.
    fn count(&self, prefixes: &[u128], level: usize) -> Result<Vec<Table>> {
        let (counters, _) = self.chunks.pass(|| {
            let tables = prefixes.iter().map(|_| memory::zeros(DIGITS));
            Ok(Counter {
                lens: self.lens,
                keys: Vec::with_capacity(BLOCK),
                filter: Filter::new::<L::Key>(prefixes, level)?,
                tables: tables.collect::<Result<_>>()?,
            })
        })?;
        let all = counters.into_iter().map(|counter| counter.tables);
        Ok(all.reduce(add_all).unwrap_or_default())
    }

    /// Determines one more digit of every wanted key.
    fn step(
        &self,
        wanted: &[Wanted],
        prefixes: &[u128],
        tables: Vec<Table>,
        level: usize,
    ) -> Vec<Wanted> {
        let zero = self.zero();
        let step = |wanted: &Wanted| {
            let place = prefixes.iter().position(|prefix| *prefix == wanted.prefix);
            let table = place.and_then(|place| tables.get(place));
            let mut rank = wanted.rank;
            let has_zero = zero.prefix(level) == wanted.prefix;
            for (digit, stored) in table.into_iter().flatten().enumerate() {
                let implied = if has_zero && digit == zero.digit(level) {
                    self.implied
                } else {
                    0
                };
                let count = stored.saturating_add(implied);
                if rank < count {
                    return Wanted {
                        // A digit has sixteen bits.
                        prefix: wanted.prefix << 16 | u128::try_from(digit).unwrap_or(0),
                        rank,
                        stored: *stored,
                    };
                }
                rank = rank.saturating_sub(count);
            }
            *wanted // a rank beyond the last value, which is never requested
        };
        wanted.iter().map(step).collect()
    }

    /// Sorts the remaining candidates.
    fn sort(&self, wanted: &[Wanted], prefixes: &[u128], level: usize) -> Result<Vec<L::Key>> {
        let few = usize::try_from(FEW.min(self.chunks.count())).unwrap_or(usize::MAX);
        let (collectors, _) = self.chunks.pass(|| {
            Ok(Collector {
                lens: self.lens,
                filter: Filter::new::<L::Key>(prefixes, level)?,
                // All threads together find no more.
                keys: memory::with_room(few)?,
            })
        })?;
        let mut keys: Vec<L::Key> = memory::with_room(few)?;
        collectors
            .into_iter()
            .for_each(|found| keys.extend(found.keys));
        keys.sort_unstable();
        let zero = self.zero();
        let find = |wanted: &Wanted| {
            let start = keys.partition_point(|key| key.prefix(level) < wanted.prefix);
            let mut place = start.saturating_add(usize::try_from(wanted.rank).unwrap_or(0));
            if zero.prefix(level) == wanted.prefix {
                // The implicit zeros come before the stored ones.
                let before = keys
                    .partition_point(|key| *key < zero)
                    .saturating_sub(start);
                let before = u64::try_from(before).unwrap_or(u64::MAX);
                if wanted.rank >= before.saturating_add(self.implied) {
                    let rank = wanted.rank.saturating_sub(self.implied);
                    place = start.saturating_add(usize::try_from(rank).unwrap_or(0));
                } else if wanted.rank >= before {
                    return zero;
                }
            }
            keys.get(place).copied().unwrap_or(zero)
        };
        Ok(wanted.iter().map(find).collect())
    }
}

fn prefixes(wanted: &[Wanted]) -> Vec<u128> {
    let mut prefixes: Vec<u128> = wanted.iter().map(|wanted| wanted.prefix).collect();
    prefixes.sort_unstable();
    prefixes.dedup();
    prefixes
}

/// The sums of two lists of tables.
fn add_all(sums: Vec<Table>, more: Vec<Table>) -> Vec<Table> {
    let pairs = sums.into_iter().zip(more);
    pairs.map(|(sum, more)| add(sum, more)).collect()
}

/// The sum of two tables.
pub(super) fn add(mut sum: Table, more: Table) -> Table {
    for (sum, more) in sum.iter_mut().zip(more) {
        *sum = sum.saturating_add(more);
    }
    sum
}

/// Tests which of a few prefixes a key has.
struct Filter {
    prefixes: Vec<u128>,
    level: usize,
    /// By the first digit: 0 if no prefix begins with it, one more than the index of the only one
    /// that does, or 255 if several do.
    by_first: Box<[u8; DIGITS]>,
}

const SEVERAL: u8 = u8::MAX;

impl Filter {
    fn new<K: Key>(prefixes: &[u128], level: usize) -> Result<Filter> {
        let mut by_first = table_of(0_u8)?;
        for (place, prefix) in prefixes.iter().enumerate().take_while(|_| level > 0) {
            let first = prefix >> (16 * level.saturating_sub(1));
            let first = usize::try_from(first).unwrap_or(0);
            if let Some(slot) = by_first.get_mut(first) {
                let only = u8::try_from(place.saturating_add(1)).unwrap_or(SEVERAL);
                // If more than one digit is known, the others must still be compared.
                *slot = if *slot == 0 && level == 1 {
                    only
                } else {
                    SEVERAL
                };
            }
        }
        if level == 0 {
            by_first.fill(1);
        }
        Ok(Filter {
            prefixes: prefixes.to_vec(),
            level,
            by_first,
        })
    }

    /// Moves the keys whose first digit is that of a prefix to the front, and returns them.
    ///
    /// Every key is written, whether it is kept or not: which ones are kept is unpredictable, and
    /// branches would often be mispredicted.
    #[inline(always)]
    fn sift<'k, K: Key>(&self, keys: &'k mut [K]) -> &'k [K] {
        let mut kept = 0_usize;
        for place in 0..keys.len() {
            let Some(key) = keys.get(place).copied() else {
                break;
            };
            if let Some(slot) = keys.get_mut(kept) {
                *slot = key;
            }
            let first = self.by_first.get(key.digit(0) & 0xffff);
            kept = kept.wrapping_add(usize::from(first.is_some_and(|first| *first != 0)));
        }
        keys.get(..kept).unwrap_or_default()
    }

    #[inline(always)]
    fn place(&self, key: impl Key) -> Option<usize> {
        // The compiler sees that no digit exceeds the table.
        match self
            .by_first
            .get(key.digit(0) & 0xffff)
            .copied()
            .unwrap_or(0)
        {
            0 => None,
            SEVERAL => {
                let prefix = key.prefix(self.level);
                self.prefixes.iter().position(|known| *known == prefix)
            }
            only => Some(usize::from(only).saturating_sub(1)),
        }
    }
}

struct Counter<'a, L: ElementOps> {
    lens: &'a L,
    keys: Vec<L::Key>,
    filter: Filter,
    tables: Vec<Table>,
}

impl<L: ElementOps> InBlocks for Counter<'_, L> {
    #[inline(always)]
    fn block(&mut self, elements: &[u8]) {
        let level = self.filter.level;
        self.lens.keys(elements, &mut self.keys);
        let few = self.filter.sift(&mut self.keys);
        for key in few {
            if let Some(place) = self.filter.place(*key)
                && let Some(table) = self.tables.get_mut(place)
                && let Some(count) = table.get_mut(key.digit(level))
            {
                *count = count.wrapping_add(1);
            }
        }
    }
}

impl<L: ElementOps> Tally for Counter<'_, L> {
    type Part = ();

    fn piece(&mut self, elements: &[u8]) {
        in_blocks(self, elements, self.lens.width());
    }

    fn part(&mut self) {}
}

struct Collector<'a, L: ElementOps> {
    lens: &'a L,
    filter: Filter,
    keys: Vec<L::Key>,
}

impl<L: ElementOps> Tally for Collector<'_, L> {
    type Part = ();

    fn piece(&mut self, elements: &[u8]) {
        // No value that is not finite has the same first digit as one that is.
        let all = self.filter.level == 0;
        for element in elements.chunks_exact(self.lens.width()) {
            let key = self.lens.key(element);
            if self.filter.place(key).is_some() && (!all || self.lens.value(element).is_finite()) {
                self.keys.push(key);
            }
        }
    }

    fn part(&mut self) {}
}
