//! Comparison of elements, a block at a time.

use super::scaled_sum::{dot, exponent, largest, scaled};
use super::tally::{Farthest, Tally};
use super::tolerance::{DiffTolerance, Steps};
use crate::bytes::to_u64;
use crate::dtype::{DType, Number, convert, difference, is_exact};

/// Numbers compared at a time: three such blocks of doubles fit in the L1 cache.
const BLOCK: usize = 1024;

/// Sums of squares in this range have suffered neither overflow nor underflow.
const SAFE: std::ops::Range<f64> = 1e-250..1e300;

/// Compares elements of two types under a tolerance.
pub(super) struct BlockComparer<'a> {
    a: DType,
    b: DType,
    tolerance: &'a DiffTolerance,
    steps: Option<Steps>,
    /// Whether doubles represent all numbers of both types.
    is_double: bool,
}

/// Buffers for a block.
#[derive(Default)]
pub(super) struct Room {
    a: Vec<f64>,
    b: Vec<f64>,
    apart: Vec<f64>,
    /// From here on, one number per element.
    sizes: Vec<f64>,
    limits: Vec<f64>,
    others: Vec<f64>,
}

impl<'a> BlockComparer<'a> {
    /// Both types must have the same number of components.
    pub(super) fn new(a: DType, b: DType, tolerance: &'a DiffTolerance) -> BlockComparer<'a> {
        let steps = tolerance.ulp;
        let fits = |dtype: DType| is_exact(dtype.number, Number::F64);
        BlockComparer {
            a,
            b,
            tolerance,
            steps: steps.and_then(|most| Steps::new(a.number, b.number, most)),
            is_double: fits(a) && fits(b),
        }
    }

    /// Compares elements, given by their little-endian bytes; the first is cell number `first`.
    pub(super) fn tally(&self, room: &mut Room, first: u64, a: &[u8], b: &[u8]) -> Tally {
        let mut tally = Tally::default();
        let cells = (BLOCK / self.a.arity.count()).max(1);
        let (a_width, b_width) = (self.a.width(), self.b.width());
        let blocks = a.chunks(cells * a_width).zip(b.chunks(cells * b_width));
        for ((a, b), block) in blocks.zip(0_u64..) {
            let first = first.saturating_add(block.saturating_mul(to_u64(cells)));
            self.block(room, first, a, b, &mut tally);
        }
        tally
    }

    fn block(&self, room: &mut Room, first: u64, a: &[u8], b: &[u8], tally: &mut Tally) {
        if self.a == self.b && a == b {
            return self.alike(room, a, tally);
        }
        tally.other_bits |= self.a == self.b;
        self.a.number.to_doubles(a, &mut room.a);
        self.b.number.to_doubles(b, &mut room.b);
        self.subtract(room, a, b);
        let squares = [&room.a, &room.b, &room.apart].map(|numbers| is_plain(numbers));
        if let [Some(aa), Some(bb), Some(apart)] = squares {
            tally.a.add(aa, 0);
            tally.b.add(bb, 0);
            tally.apart.add(apart, 0);
            tally.inner.add(dot(&room.a, &room.b), 0);
            self.measure(room);
            if self.steps.is_none() {
                return self.count(room, first, a, b, tally);
            }
            return self.look(room, first, a, b, tally);
        }
        self.excuse(room, a, b);
        self.measure(room);
        self.look(room, first, a, b, tally);
        self.leave_out(room);
        sum_with_care(room, tally);
    }

    /// A block without any different bit: only the norms are computed.
    fn alike(&self, room: &mut Room, a: &[u8], tally: &mut Tally) {
        self.a.number.to_doubles(a, &mut room.a);
        let (sum, power) = match is_plain(&room.a) {
            Some(sum) => (sum, 0),
            None => {
                room.b.clone_from(&room.a);
                room.apart.clear();
                room.apart.resize(room.a.len(), 0.0);
                self.leave_out(room);
                let power = scale_down(&mut room.a);
                (dot(&room.a, &room.a), power.saturating_mul(2))
            }
        };
        for own in [&mut tally.a, &mut tally.b, &mut tally.inner] {
            own.add(sum, power);
        }
    }

    fn subtract(&self, room: &mut Room, a: &[u8], b: &[u8]) {
        room.apart.clear();
        if self.is_double {
            let pairs = room.a.iter().zip(&room.b);
            room.apart.extend(pairs.map(|(a, b)| a - b));
            return;
        }
        let (a_type, b_type) = (self.a.number, self.b.number);
        let pairs = self.numbers(a, b);
        let differences = pairs.map(|(a, b)| difference((a_type, a), (b_type, b)));
        room.apart.extend(differences);
    }

    /// The bytes of both sides, number by number.
    fn numbers<'b>(
        &self,
        a: &'b [u8],
        b: &'b [u8],
    ) -> impl Iterator<Item = (&'b [u8], &'b [u8])> + use<'b> {
        let b = b.chunks_exact(self.b.number.width());
        a.chunks_exact(self.a.number.width()).zip(b)
    }

    /// Sets the difference of numbers that are not finite but the same to zero.
    fn excuse(&self, room: &mut Room, a_bytes: &[u8], b_bytes: &[u8]) {
        let doubles = room.a.iter().zip(&room.b).zip(&mut room.apart);
        for (((a, b), apart), bytes) in doubles.zip(self.numbers(a_bytes, b_bytes)) {
            let are_nan = a.is_nan() && b.is_nan();
            let is_same = self.is_double && a == b
                || are_nan && (self.tolerance.equal_nan || self.have_same_bits(bytes));
            if is_same {
                *apart = 0.0;
            }
        }
    }

    /// Whether two NaNs have the same bits, in the wider of the two types.
    fn have_same_bits(&self, (a, b): (&[u8], &[u8])) -> bool {
        let (a_type, b_type) = (self.a.number, self.b.number);
        let widened = |from, to, bytes: &[u8]| {
            let mut wide = Vec::new();
            convert(from, to, bytes, &mut wide);
            wide
        };
        if is_exact(a_type, b_type) {
            widened(a_type, b_type, a) == b
        } else {
            is_exact(b_type, a_type) && widened(b_type, a_type, b) == a
        }
    }

    /// Computes the differences of the elements, and the tolerances for them.
    fn measure(&self, room: &mut Room) {
        let count = self.a.arity.count();
        moduli(&room.apart, count, &mut room.sizes);
        if self.tolerance.relative == 0.0 {
            room.limits.clear();
            let limit = self.tolerance.absolute;
            return room.limits.resize(room.sizes.len(), limit);
        }
        moduli(&room.a, count, &mut room.limits);
        moduli(&room.b, count, &mut room.others);
        for (limit, other) in room.limits.iter_mut().zip(&room.others) {
            *limit = self.tolerance.limit(*limit, *other);
        }
    }

    /// Counts, and finds the worst cell, if everything is finite and no ULPs are counted.
    fn count(&self, room: &Room, first: u64, a: &[u8], b: &[u8], tally: &mut Tally) {
        let (mut unequal, mut changed, mut worst) = (0_u64, 0_u64, 0.0_f64);
        for (size, limit) in room.sizes.iter().zip(&room.limits) {
            let is_changed = size > limit;
            unequal += u64::from(*size != 0.0);
            changed += u64::from(is_changed);
            let counts = if is_changed { *size } else { 0.0 };
            worst = if counts > worst { counts } else { worst };
        }
        tally.unequal = tally.unequal.saturating_add(unequal);
        tally.changed = tally.changed.saturating_add(changed);
        let size = largest(&room.sizes);
        tally.largest = if size > tally.largest {
            size
        } else {
            tally.largest
        };
        if changed == 0 || !tally.is_farthest(worst) {
            return;
        }
        let mut cells = room.sizes.iter().zip(&room.limits);
        if let Some(place) = cells.position(|(size, limit)| *size == worst && size > limit) {
            self.mark(first, place, worst, a, b, tally);
        }
    }

    /// Checks every element that is not the same.
    fn look(&self, room: &Room, first: u64, a: &[u8], b: &[u8], tally: &mut Tally) {
        let count = self.a.arity.count();
        let doubles = room.a.chunks(count).zip(room.b.chunks(count));
        let elements = a.chunks(self.a.width()).zip(b.chunks(self.b.width()));
        let cells = room.sizes.iter().zip(&room.limits).zip(doubles);
        for ((((size, limit), (x, y)), (left, right)), place) in cells.zip(elements).zip(0..) {
            if *size == 0.0 {
                continue;
            }
            tally.unequal = tally.unequal.saturating_add(1);
            if super::tally::is_worse(*size, tally.largest) {
                tally.largest = *size;
            }
            if *size <= *limit && size.is_finite() || self.is_near(*size, left, right) {
                continue;
            }
            tally.changed = tally.changed.saturating_add(1);
            let has_nan = |numbers: &[f64]| numbers.iter().any(|number| number.is_nan());
            let is_finite = |numbers: &[f64]| numbers.iter().all(|number| number.is_finite());
            let kind = match (has_nan(x), has_nan(y)) {
                (true, false) => Some(&mut tally.nan_a),
                (false, true) => Some(&mut tally.nan_b),
                (true, true) if size.is_nan() => Some(&mut tally.nan_both),
                _ if is_finite(x) && is_finite(y) => None,
                _ => Some(&mut tally.infinite),
            };
            if let Some(kind) = kind {
                *kind = kind.saturating_add(1);
            }
            if tally.is_farthest(*size) {
                self.mark(first, place, *size, a, b, tally);
            }
        }
    }

    /// Whether all numbers of two elements are within the allowed number of ULPs.
    fn is_near(&self, size: f64, a: &[u8], b: &[u8]) -> bool {
        let (a_type, b_type) = (self.a.number, self.b.number);
        let mut numbers = self.numbers(a, b);
        !size.is_nan()
            && self
                .steps
                .is_some_and(|steps| numbers.all(|(a, b)| steps.are_near((a_type, a), (b_type, b))))
    }

    fn mark(&self, first: u64, place: usize, size: f64, a: &[u8], b: &[u8], tally: &mut Tally) {
        let element = |bytes: &[u8], width: usize| {
            let element = bytes.chunks(width).nth(place);
            element.unwrap_or_default().to_vec()
        };
        tally.farthest = Some(Farthest {
            cell: first.saturating_add(to_u64(place)),
            size,
            a: element(a, self.a.width()),
            b: element(b, self.b.width()),
        });
    }

    /// Sets elements that are not finite on both sides to zero, so that sums exclude them.
    fn leave_out(&self, room: &mut Room) {
        let count = self.a.arity.count();
        let pairs = room.a.chunks_mut(count).zip(room.b.chunks_mut(count));
        for ((a, b), apart) in pairs.zip(room.apart.chunks_mut(count)) {
            if !a.iter().chain(&*b).all(|number| number.is_finite()) {
                for numbers in [a, b, apart] {
                    numbers.fill(0.0);
                }
            }
        }
    }
}

/// The sum of squares, if it is reliable.
fn is_plain(numbers: &[f64]) -> Option<f64> {
    let sum = dot(numbers, numbers);
    let is_safe = SAFE.contains(&sum) || sum == 0.0 && numbers.iter().all(|x| *x == 0.0);
    is_safe.then_some(sum)
}

/// Scales the largest number to about 1, exactly; returns the exponent that was taken out.
fn scale_down(numbers: &mut [f64]) -> i32 {
    let most = numbers.iter().fold(0.0, |most, x| x.abs().max(most));
    if most == 0.0 {
        return 0;
    }
    let power = exponent(most);
    for number in numbers {
        *number = scaled(*number, power.saturating_neg());
    }
    power
}

/// Adds sums of finite numbers that are very large or very small.
fn sum_with_care(room: &mut Room, tally: &mut Tally) {
    // The difference of two numbers may overflow; that of their halves cannot.
    let halves = room.a.iter().zip(&room.b).map(|(a, b)| a / 2.0 - b / 2.0);
    let mut power = 0;
    if room.apart.iter().any(|apart| !apart.is_finite()) {
        room.apart = halves.collect();
        power = 1;
    }
    let power = scale_down(&mut room.apart).saturating_add(power);
    let (a_power, b_power) = (scale_down(&mut room.a), scale_down(&mut room.b));
    let twice = |power: i32| power.saturating_mul(2);
    tally.a.add(dot(&room.a, &room.a), twice(a_power));
    tally.b.add(dot(&room.b, &room.b), twice(b_power));
    let apart = dot(&room.apart, &room.apart);
    tally.apart.add(apart, twice(power));
    let inner = dot(&room.a, &room.b);
    tally.inner.add(inner, a_power.saturating_add(b_power));
}

/// Replaces `out` by the moduli of elements of `count` numbers each.
fn moduli(numbers: &[f64], count: usize, out: &mut Vec<f64>) {
    out.clear();
    if count == 1 {
        // Separately, as this is the common case and must be fast.
        return out.extend(numbers.iter().map(|number| number.abs()));
    }
    out.extend(numbers.chunks(count).map(|element| {
        let size = |part: &f64| part.abs();
        let most = element.iter().map(size).fold(0.0, f64::max);
        if most == 0.0 || !most.is_finite() {
            return element.iter().map(size).sum();
        }
        let squares = element.iter().map(|part| (part / most) * (part / most));
        most * squares.sum::<f64>().sqrt()
    }));
}
