//! Elementwise sums and products of trains.

use super::{Block, Core, Train, Values};
use tenfold::memory;

use crate::error::Result;
use crate::scalar::Scalar;

impl<T: Scalar> Train<T> {
    /// The sum; the ranks add up. It shares the cores of its terms, at no cost.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) if the shapes differ.
    pub fn add(&self, other: &Train<T>) -> Result<Train<T>> {
        self.check_same_shape(other)?;
        let last = self.cores.len() - 1;
        let pairs = self.cores.iter().zip(&other.cores).enumerate();
        let cores = pairs.map(|(mode, (one, two))| beside(one, two, mode == 0, mode == last));
        Ok(Train {
            cores: cores.collect(),
        })
    }

    /// The difference; the ranks add up.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) if the shapes differ.
    pub fn sub(&self, other: &Train<T>) -> Result<Train<T>> {
        self.add(&other.scale(T::of_real(-1.0)))
    }

    /// The tensor with a number added to every cell; ranks grow by 1.
    ///
    /// # Errors
    /// None for a train built by this library.
    pub fn add_number(&self, number: T) -> Result<Train<T>> {
        self.add(&Train::constant(&self.shape(), number)?)
    }

    /// The tensor times a number.
    #[must_use]
    pub fn scale(&self, factor: T) -> Train<T> {
        let mut train = self.steady().into_owned();
        if let Some(first) = train.cores.first_mut() {
            first.values = first.values.iter().map(|value| *value * factor).collect();
        }
        train
    }

    /// The elementwise product; the ranks multiply.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) if the shapes differ.
    pub fn hadamard(&self, other: &Train<T>) -> Result<Train<T>> {
        self.check_same_shape(other)?;
        let (own, other) = (self.steady(), other.steady());
        let pairs = own.cores.iter().zip(&other.cores);
        let cores = pairs.map(|(one, two)| {
            let mut values = memory::with_room(one.values.len() * two.values.len() / one.size)?;
            for first in one.values.chunks_exact(one.size * one.right) {
                for second in two.values.chunks_exact(two.size * two.right) {
                    let places = first.chunks_exact(one.right);
                    for (row, other) in places.zip(second.chunks_exact(two.right)) {
                        let products = row.iter().flat_map(|x| other.iter().map(move |y| *x * *y));
                        values.extend(products);
                    }
                }
            }
            Ok(Core {
                left: one.left * two.left,
                size: one.size,
                right: one.right * two.right,
                values: values.into(),
            })
        });
        let cores = cores.collect::<Result<_>>()?;
        Ok(Train { cores })
    }

    /// Concatenation with another tensor along `mode`: all other modes have the same sizes.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) if they have not, or there is no such mode.
    pub fn append(&self, other: &Train<T>, mode: usize) -> Result<Train<T>> {
        let (before, after) = (self.core(mode)?.size, other.core(mode)?.size);
        self.padded(mode, 0, after)
            .add(&other.padded(mode, before, 0))
    }

    /// The tensor padded with zeros along one mode.
    fn padded(&self, mode: usize, before: usize, after: usize) -> Train<T> {
        let cores = self.cores.iter().enumerate().map(|(place, core)| {
            if place != mode {
                return core.clone();
            }
            let mut values = Vec::new();
            for matrix in core.values.chunks_exact(core.size * core.right) {
                values.extend(std::iter::repeat_n(T::default(), before * core.right));
                values.extend_from_slice(matrix);
                values.extend(std::iter::repeat_n(T::default(), after * core.right));
            }
            Core {
                size: before + core.size + after,
                values: values.into(),
                ..*core
            }
        });
        Train {
            cores: cores.collect(),
        }
    }
}

/// Two cores in one: a block diagonal on bonds that both trains have of their own, a sum on the
/// outer bonds, which they share.
fn beside<T: Scalar>(one: &Core<T>, two: &Core<T>, is_first: bool, is_last: bool) -> Core<T> {
    let size = one.size;
    if is_first && is_last {
        let both = one.values.iter().zip(two.values.iter());
        let values = both.map(|(one, two)| *one + *two).collect();
        return Core {
            values,
            ..one.clone()
        };
    }
    let left = if is_first { 1 } else { one.left + two.left };
    let right = if is_last { 1 } else { one.right + two.right };
    let mut blocks = one.blocks();
    blocks.extend(two.blocks().into_iter().map(|block| Block {
        left_at: block.left_at + left - two.left,
        right_at: block.right_at + right - two.right,
        ..block
    }));
    let values = Values::of_blocks(left, size, right, blocks);
    Core {
        left,
        size,
        right,
        values,
    }
}
