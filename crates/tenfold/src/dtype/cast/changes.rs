//! Changes made by a cast: the number of changed values, and the largest difference.

use std::sync::atomic::{AtomicU64, Ordering};

use super::scalar::convert;
use crate::bytes::to_u64;
use crate::dtype::distance::difference;
use crate::dtype::{Kind, Number};

/// Counts of a cast, accumulated by several threads while numbers are cast.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    numbers: AtomicU64,
    changed: AtomicU64,
    /// The bits of the largest change: those of non-negative doubles sort as the doubles do.
    largest: AtomicU64,
}

/// The result of counting a cast.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Counts {
    pub(crate) numbers: u64,
    pub(crate) changed: u64,
    /// The largest difference between a number and its cast; NaN if a NaN became a number.
    pub(crate) largest: f64,
}

impl Changes {
    /// A counter for one thread; its counts are added when it is dropped.
    pub(crate) fn counter(&self, from: Number, to: Number) -> Counter<'_> {
        Counter {
            all: self,
            from,
            to,
            counts: Counts::NONE,
            before: Vec::new(),
            after: Vec::new(),
        }
    }

    /// The counts so far.
    pub(crate) fn counts(&self) -> Counts {
        Counts {
            numbers: self.numbers.load(Ordering::Relaxed),
            changed: self.changed.load(Ordering::Relaxed),
            largest: f64::from_bits(self.largest.load(Ordering::Relaxed)),
        }
    }
}

impl Counts {
    const NONE: Counts = Counts {
        numbers: 0,
        changed: 0,
        largest: 0.0,
    };

    /// Takes a non-negative change into account; NaN counts as the largest.
    fn reach(&mut self, change: f64) {
        if change.total_cmp(&self.largest).is_gt() {
            self.largest = change;
        }
    }
}

/// Counts the changes made by one thread.
pub(crate) struct Counter<'a> {
    all: &'a Changes,
    from: Number,
    to: Number,
    counts: Counts,
    before: Vec<f64>,
    after: Vec<f64>,
}

impl Counter<'_> {
    /// Adds some numbers, little-endian, and their casts.
    pub(crate) fn add(&mut self, stored: &[u8], made: &[u8]) {
        if is_double(self.from) && is_double(self.to) {
            self.by_doubles(stored, made);
        } else {
            self.one_by_one(stored, made);
        }
    }

    /// Counts by comparing doubles, for types whose values all differ as doubles. A NaN stays one,
    /// whatever its bits.
    fn by_doubles(&mut self, stored: &[u8], made: &[u8]) {
        let (before, after) = (&mut self.before, &mut self.after);
        self.from.to_doubles(stored, before);
        self.to.to_doubles(made, after);
        let mut lanes = Lanes::default();
        let (groups, rest) = before.as_chunks::<LANES>();
        let (made, made_rest) = after.as_chunks::<LANES>();
        for (before, after) in groups.iter().zip(made) {
            lanes.add(before, after);
        }
        lanes.add(rest, made_rest);
        let lost_nan: u64 = lanes.lost_nan.iter().sum();
        let changed: u64 = lanes.changed.iter().sum();
        let counts = &mut self.counts;
        counts.numbers = counts.numbers.saturating_add(to_u64(before.len()));
        counts.changed = counts.changed.saturating_add(changed + lost_nan);
        let largest = lanes.largest.into_iter().fold(0.0, f64::max);
        counts.reach(if lost_nan > 0 { f64::NAN } else { largest });
    }

    /// Counts by casting each number back.
    fn one_by_one(&mut self, stored: &[u8], made: &[u8]) {
        let (from, to, counts) = (self.from, self.to, &mut self.counts);
        let mut back = Vec::new();
        let numbers = stored.chunks_exact(from.width());
        for (stored, made) in numbers.zip(made.chunks_exact(to.width())) {
            counts.numbers = counts.numbers.saturating_add(1);
            back.clear();
            let is_back = convert(to, from, made, &mut back);
            let both_nan = from.to_f64(stored).is_nan() && to.to_f64(made).is_nan();
            if is_back && back == stored || both_nan {
                continue;
            }
            counts.changed = counts.changed.saturating_add(1);
            // Exact, also for values that are equal as doubles.
            counts.reach(difference((from, stored), (to, made)).abs());
        }
    }
}

/// Numbers counted side by side, for vector registers.
const LANES: usize = 8;

/// Counts of neighboring numbers, one per lane.
#[derive(Default)]
struct Lanes {
    changed: [u64; LANES],
    largest: [f64; LANES],
    lost_nan: [u64; LANES],
}

impl Lanes {
    /// Adds at most as many numbers as there are lanes.
    #[inline]
    fn add(&mut self, before: &[f64], after: &[f64]) {
        let counts = self.changed.iter_mut().zip(&mut self.largest);
        let counts = counts.zip(&mut self.lost_nan);
        for ((before, after), ((changed, largest), lost_nan)) in
            before.iter().zip(after).zip(counts)
        {
            let change = (before - after).abs();
            // False for NaN, and for an infinity that stays infinite.
            *changed += u64::from(change > 0.0);
            *largest = if change > *largest { change } else { *largest };
            *lost_nan += u64::from(before.is_nan() && !after.is_nan());
        }
    }
}

impl Drop for Counter<'_> {
    fn drop(&mut self) {
        let Counts {
            numbers,
            changed,
            largest,
        } = self.counts;
        self.all.numbers.fetch_add(numbers, Ordering::Relaxed);
        self.all.changed.fetch_add(changed, Ordering::Relaxed);
        // The bits of NaN sort above all others, once its sign is cleared.
        let largest = largest.abs().to_bits();
        self.all.largest.fetch_max(largest, Ordering::Relaxed);
    }
}

/// Whether every number of a type is a double.
fn is_double(number: Number) -> bool {
    match number.kind() {
        Kind::Bool => true,
        Kind::Float => number.width() <= 8,
        Kind::Signed | Kind::Unsigned => number.width() <= 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted<const N: usize, const M: usize>(
        (from, stored): (Number, &[[u8; N]]),
        (to, made): (Number, &[[u8; M]]),
    ) -> Counts {
        let changes = Changes::default();
        let mut counter = changes.counter(from, to);
        counter.add(stored.as_flattened(), made.as_flattened());
        drop(counter);
        changes.counts()
    }

    #[test]
    fn only_numbers_that_become_others_are_changed() {
        let stored = [1.0, 0.1, f64::NAN, f64::INFINITY, -0.0, 1e-300].map(f64::to_le_bytes);
        let made = [1.0_f32, 0.1, f32::NAN, f32::INFINITY, -0.0, 0.0].map(f32::to_le_bytes);
        let counts = counted((Number::F64, &stored), (Number::F32, &made));
        assert_eq!((counts.numbers, counts.changed), (6, 2));
        assert_eq!(counts.largest, (0.1 - f64::from(0.1_f32)).abs());
    }

    #[test]
    fn wide_integers_are_told_apart_beyond_doubles() {
        let exact = 1_i64 << 60;
        let stored = [exact, exact + 1, 7].map(i64::to_le_bytes);
        let double = 2.0_f64.powi(60);
        let made = [double, double, 7.0].map(f64::to_le_bytes);
        let counts = counted((Number::I64, &stored), (Number::F64, &made));
        assert_eq!((counts.numbers, counts.changed), (3, 1));
        assert_eq!(counts.largest, 1.0);
    }

    #[test]
    fn a_nan_that_becomes_a_number_is_changed() {
        let stored = [f64::NAN, 3.5].map(f64::to_le_bytes);
        for made in [
            counted(
                (Number::F64, &stored),
                (Number::I32, &[0_i32, 4].map(i32::to_le_bytes)),
            ),
            counted(
                (Number::F64, &stored),
                (Number::I64, &[0_i64, 4].map(i64::to_le_bytes)),
            ),
        ] {
            assert_eq!((made.numbers, made.changed), (2, 2));
            assert!(made.largest.is_nan());
        }
    }
}
