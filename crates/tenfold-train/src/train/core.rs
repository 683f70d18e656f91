//! The elements of a core: shared between trains, and stored in blocks after additions.
//!
//! The cores of a sum have the cores of its terms as blocks, and zeros beside them. Blocks are
//! kept, so that a sum costs nothing, and computing with it costs no more than with its terms; the
//! dense core is built on demand.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

use crate::scalar::Scalar;

/// The elements of a core, row-major. Clones share them.
#[derive(Clone)]
pub(crate) struct Values<T>(Kind<T>);

#[derive(Clone)]
enum Kind<T> {
    Whole(Arc<Vec<T>>),
    Blocks(Arc<Blocks<T>>),
}

struct Blocks<T> {
    /// The number of elements of the dense core, and of the part for one left index and position.
    len: usize,
    per_place: usize,
    blocks: Vec<Block<T>>,
    whole: OnceLock<Vec<T>>,
    /// Builds the dense core.
    write: fn(&Blocks<T>) -> Vec<T>,
}

/// A smaller core within a core, surrounded by zeros.
#[derive(Clone)]
pub(crate) struct Block<T> {
    /// Its offsets on the left and on the right bond.
    pub(crate) left_at: usize,
    pub(crate) right_at: usize,
    /// Its sizes there.
    pub(crate) left: usize,
    pub(crate) right: usize,
    /// Row-major.
    pub(crate) values: Arc<Vec<T>>,
}

impl<T> Values<T> {
    /// The number of elements, including zeros beside blocks.
    pub(crate) fn len(&self) -> usize {
        match &self.0 {
            Kind::Whole(values) => values.len(),
            Kind::Blocks(blocks) => blocks.len,
        }
    }
}

impl<T: Scalar> Values<T> {
    /// The elements of a core that consists of disjoint blocks.
    pub(crate) fn of_blocks(
        left: usize,
        size: usize,
        right: usize,
        blocks: Vec<Block<T>>,
    ) -> Values<T> {
        Values(Kind::Blocks(Arc::new(Blocks {
            len: left * size * right,
            per_place: right,
            blocks,
            whole: OnceLock::new(),
            write,
        })))
    }

    /// The blocks: a dense core of bonds `left` and `right` is its own block.
    pub(crate) fn blocks(&self, left: usize, right: usize) -> Vec<Block<T>> {
        match &self.0 {
            Kind::Whole(values) => vec![Block {
                left_at: 0,
                right_at: 0,
                left,
                right,
                values: Arc::clone(values),
            }],
            Kind::Blocks(blocks) => blocks.blocks.clone(),
        }
    }

    /// The elements of the dense core.
    pub(crate) fn into_vec(self) -> Vec<T> {
        match self.0 {
            Kind::Whole(values) => Arc::unwrap_or_clone(values),
            Kind::Blocks(_) => self.to_vec(),
        }
    }
}

fn write<T: Scalar>(all: &Blocks<T>) -> Vec<T> {
    let mut whole = vec![T::default(); all.len];
    for block in &all.blocks {
        // Rows of a block, one per left index and position, are in the order of the dense core.
        let n_places = block.values.len() / (block.left * block.right).max(1);
        let first = block.left_at * n_places;
        let rows = whole.chunks_exact_mut(all.per_place).skip(first);
        for (row, own) in rows.zip(block.values.chunks_exact(block.right)) {
            let target = row.iter_mut().skip(block.right_at).zip(own);
            target.for_each(|(target, value)| *target = *value);
        }
    }
    whole
}

impl<T> From<Vec<T>> for Values<T> {
    fn from(values: Vec<T>) -> Values<T> {
        Values(Kind::Whole(Arc::new(values)))
    }
}

impl<T> FromIterator<T> for Values<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Values<T> {
        values.into_iter().collect::<Vec<T>>().into()
    }
}

impl<T> Deref for Values<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.0 {
            Kind::Whole(values) => values,
            Kind::Blocks(blocks) => blocks.whole.get_or_init(|| (blocks.write)(blocks)),
        }
    }
}

impl<T: Clone> DerefMut for Values<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        if let Kind::Blocks(blocks) = &self.0 {
            self.0 = Kind::Whole(Arc::new((blocks.write)(blocks)));
        }
        match &mut self.0 {
            Kind::Whole(values) => Arc::<Vec<T>>::make_mut(values),
            Kind::Blocks(_) => &mut [],
        }
    }
}

impl<T: PartialEq> PartialEq for Values<T> {
    fn eq(&self, other: &Values<T>) -> bool {
        self[..] == other[..]
    }
}

impl<T: fmt::Debug> fmt::Debug for Values<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self[..].fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_written_out_with_zeros_beside_them() {
        let block = |left_at, right_at, right, values: &[f64]| Block {
            left_at,
            right_at,
            left: 1,
            right,
            values: Arc::new(values.to_vec()),
        };
        // Bonds of 2 and 3, mode size 2.
        let blocks = vec![block(0, 0, 2, &[1., 2., 3., 4.]), block(1, 2, 1, &[5., 6.])];
        let mut values = Values::of_blocks(2, 2, 3, blocks);
        let whole = [1., 2., 0., 3., 4., 0., 0., 0., 5., 0., 0., 6.];
        assert_eq!(values.len(), 12);
        assert_eq!(values[..], whole);
        assert_eq!(values, whole.to_vec().into());
        let shared = values.clone();
        values[2] = 7.0;
        assert_eq!((values[2], shared[2]), (7.0, 0.0));
        assert_eq!(shared.into_vec(), whole);
    }
}
