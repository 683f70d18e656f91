//! Bonds balanced by powers of two: the same tensor exactly, in cores whose products stay in range.
//!
//! Scaling an index of a bond on one side and unscaling it on the other changes no cell, but it
//! changes the rounding threshold of a decomposition, and intermediate overflow. So every index of
//! a bond has a power of two of its own, moved from the cores on the one side to those on the
//! other.

use std::borrow::Cow;

use super::core::Block;
use super::{Core, Train, Values};
use crate::error::{Error, Result};
use crate::num::real;
use crate::scalar::{Power, Scalar, largest, reals};

/// The factors for the indices of a bond; `None` for an index where all entries are zero.
pub(super) type Powers = Vec<Option<Power>>;

/// Factors of one.
pub(super) fn ones(count: usize) -> Powers {
    vec![Some(Power::ONE); count]
}

/// The inverse factors.
pub(super) fn inverse(powers: &[Option<Power>]) -> Powers {
    let powers = powers.iter();
    powers.map(|power| power.map(Power::inverse)).collect()
}

/// The elementwise products of factors.
pub(super) fn both(one: &[Option<Power>], other: &[Option<Power>]) -> Powers {
    let pairs = one.iter().zip(other);
    pairs
        .map(|(one, other)| Some((*one)?.and((*other)?)))
        .collect()
}

/// Divides all by the largest power, which is returned too.
pub(super) fn without_largest(powers: Powers) -> (Powers, Power) {
    let largest = powers.iter().flatten().copied().max();
    let largest = largest.unwrap_or(Power::ONE);
    let back = largest.inverse();
    let powers = powers.into_iter().map(|power| Some(power?.and(back)));
    (powers.collect(), largest)
}

/// The largest absolute entry for every pair of bond indices of a core.
struct Sizes {
    left: usize,
    right: usize,
    /// Row-major.
    powers: Powers,
}

impl Sizes {
    fn of<T: Scalar>(core: &Core<T>) -> Sizes {
        let mut powers = vec![None; core.left * core.right];
        for block in core.blocks() {
            let rows = powers.chunks_exact_mut(core.right).skip(block.left_at);
            let len = (core.size * block.right).max(1);
            for (row, values) in rows.zip(block.values.chunks_exact(len)) {
                let places = row.iter_mut().skip(block.right_at);
                for (place, size) in places.zip(largest_of_columns(values, block.right)) {
                    *place = Power::size_of(size);
                }
            }
        }
        let (left, right) = (core.left, core.right);
        Sizes {
            left,
            right,
            powers,
        }
    }

    /// The largest entry at every index to the right, after scaling from the left.
    fn to_the_right(&self, left: &[Option<Power>]) -> Powers {
        let mut most = vec![None; self.right];
        let rows = self.powers.chunks_exact(self.right.max(1));
        for (row, left) in rows.zip(left) {
            for (most, size) in most.iter_mut().zip(row) {
                *most = (*most).max(sum(*size, *left));
            }
        }
        most
    }

    /// The largest entry at every index to the left, before scaling from the right.
    fn to_the_left(&self, right: &[Option<Power>]) -> Powers {
        let rows = self.powers.chunks_exact(self.right.max(1)).take(self.left);
        let most = |row: &[Option<Power>]| {
            let sizes = row.iter().zip(right);
            sizes
                .map(|(size, right)| sum(*size, *right))
                .max()
                .flatten()
        };
        rows.map(most).collect()
    }
}

/// The product of two powers, if there are two.
fn sum(one: Option<Power>, other: Option<Power>) -> Option<Power> {
    Some(one?.and(other?))
}

/// The largest part of any entry in each column.
fn largest_of_columns<T: Scalar>(values: &[T], n_columns: usize) -> Vec<f64> {
    let mut most = vec![0.0_f64; n_columns];
    for row in values.chunks_exact(n_columns.max(1)) {
        let parts = reals(row).chunks_exact(T::REALS);
        for (most, parts) in most.iter_mut().zip(parts) {
            *most = parts.iter().fold(*most, |most, part| most.max(part.abs()));
        }
    }
    most
}

impl<T: Scalar> Core<T> {
    /// The largest entry at every index to the right, after scaling from the left.
    pub(super) fn reach_right(&self, left: &[Option<Power>]) -> Powers {
        Sizes::of(self).to_the_right(left)
    }

    /// The largest entry at every index to the left, before scaling from the right.
    pub(super) fn reach_left(&self, right: &[Option<Power>]) -> Powers {
        Sizes::of(self).to_the_left(right)
    }

    /// The core with scaled bonds; blocks stay blocks.
    pub(super) fn rescaled(&self, left: &[Option<Power>], right: &[Option<Power>]) -> Core<T> {
        let blocks = self.blocks();
        let scaled = |block: &Block<T>| {
            let left = left.iter().skip(block.left_at);
            let right = right.get(block.right_at..).unwrap_or_default();
            let len = (self.size * block.right).max(1);
            let mut values = Vec::with_capacity(block.values.len());
            for (matrix, left) in block.values.chunks_exact(len).zip(left) {
                let factors: Powers = right
                    .iter()
                    .map(|right| sum(*left, *right))
                    .take(block.right)
                    .collect();
                for row in matrix.chunks_exact(block.right.max(1)) {
                    let pairs = row.iter().zip(&factors);
                    values.extend(pairs.map(|(value, factor)| match factor {
                        Some(power) => power.apply(*value),
                        None => T::default(),
                    }));
                }
            }
            values
        };
        let values = match blocks.as_slice() {
            [block] if block.right == self.right && block.left == self.left => scaled(block).into(),
            _ => {
                let blocks = blocks.iter().map(|block| Block {
                    values: scaled(block).into(),
                    ..*block
                });
                Values::of_blocks(self.left, self.size, self.right, blocks.collect())
            }
        };
        Core { values, ..*self }
    }
}

/// The powers of two up to which products of cores may grow, and down to which they may shrink,
/// well within the range of doubles.
const CALM: (f64, f64) = (-800.0, 150.0);

/// Whether all products of entries of some of the cores stay in range.
fn is_calm<T: Scalar>(cores: &[&Core<T>]) -> bool {
    let (mut down, mut up) = (0.0, 0.0);
    for core in cores {
        let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
        for block in core.blocks() {
            for part in reals(&block.values).iter().map(|part| part.abs()) {
                most = most.max(part);
                if part > 0.0 {
                    least = least.min(part);
                }
            }
        }
        down += least.min(1.0).log2();
        up += (most * real(core.left)).max(1.0).log2();
    }
    // Infinite entries count as in range: scaling cannot repair them.
    up.is_infinite() || (up <= CALM.1 && down >= CALM.0)
}

/// Cores of the same tensor, whose products stay in range. Partial products of those before
/// `middle` have no entry above 1, and neither have those of the cores after it; the powers of two
/// remain between both.
pub(super) struct Balanced<T> {
    pub(super) before: Vec<Core<T>>,
    pub(super) after: Vec<Core<T>>,
    /// At the bond in the middle.
    pub(super) powers: Powers,
}

impl<T: Scalar> Balanced<T> {
    /// Balances the cores on both sides of a bond.
    pub(super) fn at(cores: &[&Core<T>], middle: usize) -> Balanced<T> {
        let (first, last) = cores.split_at_checked(middle).unwrap_or((cores, &[]));
        let mut left = ones(1);
        let mut before = Vec::with_capacity(first.len());
        for core in first {
            let next = core.reach_right(&left);
            before.push(core.rescaled(&left, &inverse(&next)));
            left = next;
        }
        let mut right = ones(1);
        let mut after = Vec::with_capacity(last.len());
        for core in last.iter().rev() {
            let next = core.reach_left(&right);
            after.push(core.rescaled(&inverse(&next), &right));
            right = next;
        }
        after.reverse();
        Balanced {
            before,
            after,
            powers: both(&left, &right),
        }
    }

    /// All cores, with the powers in one of those beside the middle except for the largest, which
    /// may be out of range for a single core: each gets a share of it.
    fn into_cores(self) -> Vec<Core<T>> {
        let (mut cores, mut after) = (self.before, self.after);
        let (powers, largest) = without_largest(self.powers);
        if let Some(heavy) = after.first_mut() {
            *heavy = heavy.rescaled(&powers, &ones(heavy.right));
        } else if let Some(heavy) = cores.last_mut() {
            *heavy = heavy.rescaled(&ones(heavy.left), &powers);
        }
        cores.extend(after);
        let shares = largest.shares(cores.len());
        for (core, share) in cores.iter_mut().zip(shares) {
            *core = core.rescaled(&vec![Some(share); core.left], &ones(core.right));
        }
        cores
    }
}

impl<T: Scalar> Train<T> {
    /// The train, or another of the same tensor whose products stay in range as long as cells do.
    pub(super) fn steady(&self) -> Cow<'_, Train<T>> {
        let cores: Vec<&Core<T>> = self.cores.iter().collect();
        if is_calm(&cores) {
            return Cow::Borrowed(self);
        }
        Cow::Owned(self.balanced())
    }

    /// Whether intermediate products of entries may leave the range.
    pub(super) fn is_wild(&self) -> bool {
        !is_calm(&self.cores.iter().collect::<Vec<_>>())
    }

    /// A power of two far above all cells, up to ranks: `None` if all cells are 0.
    pub(super) fn reach(&self) -> Option<Power> {
        let cores = self.cores.iter();
        let reach = cores.fold(ones(1), |left, core| core.reach_right(&left));
        reach.into_iter().flatten().max()
    }

    /// Fails unless all entries of the cores are finite, as norms require.
    ///
    /// # Errors
    /// [`tenfold::Error::OutOfRange`] with the first number that is not finite.
    pub(super) fn check_finite(&self) -> Result<()> {
        if self.is_finite() {
            return Ok(());
        }
        for (number, core) in self.cores.iter().enumerate() {
            let is_wrong = |value: &T| !reals(&[*value]).iter().all(|part| part.is_finite());
            let mut values = core.values.iter().enumerate();
            if let Some((at, value)) = values.find(|(_, value)| is_wrong(value)) {
                let per_left = core.size * core.right;
                let index = [at / per_left, at / core.right % core.size, at % core.right];
                let count = self.cores.len();
                return Err(Error::out_of_range(format!(
                    "the train holds {value}, at {index:?} of core {} of {count}",
                    number + 1
                )));
            }
        }
        Ok(())
    }

    /// Whether all entries of the cores are finite.
    pub(super) fn is_finite(&self) -> bool {
        let mut blocks = self.cores.iter().flat_map(Core::blocks);
        blocks.all(|block| reals(&block.values).iter().all(|part| part.is_finite()))
    }

    /// Another train of the same tensor whose products stay in range as long as cells do.
    pub(super) fn balanced(&self) -> Train<T> {
        let cores: Vec<&Core<T>> = self.cores.iter().collect();
        let cores = Balanced::at(&cores, cores.len() / 2).into_cores();
        Train { cores }
    }
}

/// A number that may be out of range of a double: a product with a power of two.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wide<T> {
    pub(super) value: T,
    pub(super) power: Power,
}

impl<T: Scalar> Wide<T> {
    /// A number near 1 and its power of two.
    pub(super) fn of(value: T) -> Wide<T> {
        let power = Power::size_of(largest(&[value])).unwrap_or(Power::ONE);
        let value = power.inverse().apply(value);
        Wide { value, power }
    }

    /// The same number, normalized to near 1.
    pub(super) fn near_one(self) -> Wide<T> {
        let found = Wide::of(self.value);
        let power = found.power.and(self.power);
        Wide { power, ..found }
    }

    /// The product of two numbers near 1.
    pub(super) fn times(self, other: Wide<T>) -> Wide<T> {
        Wide {
            value: self.value * other.value,
            power: self.power.and(other.power),
        }
    }

    /// The sum of numbers with powers.
    pub(super) fn sum(terms: impl Iterator<Item = (T, Power)> + Clone) -> Wide<T> {
        let sizes = terms.clone().filter_map(|(value, power)| {
            let size = reals(&[value])
                .iter()
                .fold(0.0, |most: f64, part| most.max(part.abs()));
            Some(Power::size_of(size)?.and(power))
        });
        let power = sizes.max().unwrap_or(Power::ONE);
        let back = power.inverse();
        let value = terms.map(|(value, own)| own.and(back).apply(value)).sum();
        Wide { value, power }
    }

    /// The number as a double.
    ///
    /// # Errors
    /// [`tenfold::Error::OutOfRange`] if it leaves the range of doubles.
    pub(super) fn narrow(self, what: &str) -> Result<T> {
        let found = self.nearest(what)?;
        if found == T::default() && self.value != T::default() {
            return Err(self.no_double(what));
        }
        Ok(found)
    }

    /// The number as a double, or 0 on underflow.
    ///
    /// # Errors
    /// [`tenfold::Error::OutOfRange`] if it is larger than any.
    pub(super) fn nearest(self, what: &str) -> Result<T> {
        let found = self.power.apply(self.value);
        let parts = |value: &T| reals(std::slice::from_ref(value)).to_vec();
        let mut pairs = parts(&found).into_iter().zip(parts(&self.value));
        if pairs.any(|(found, value)| !found.is_finite() && value.is_finite()) {
            Err(self.no_double(what))
        } else {
            Ok(found)
        }
    }

    fn no_double(self, what: &str) -> Error {
        let near = self.near_one();
        let (value, exponent) = (near.value, near.power.exponent());
        Error::out_of_range(format!(
            "{what} is {value:.6} times 2^{exponent}: no double holds it"
        ))
    }
}
