//! Sources made from other sources.

use std::ops::Range;

use super::{Access, Source};
use crate::error::Result;
use crate::scalar::{Power, Scalar};

/// A source with every cell multiplied by a power of two.
pub(crate) struct Scaled<'a, T> {
    pub(crate) source: &'a dyn Source<T>,
    pub(crate) power: Power,
}

impl<T: Scalar> Source<T> for Scaled<'_, T> {
    fn shape(&self) -> &[usize] {
        self.source.shape()
    }

    fn cells<'a>(&'a self, range: Range<usize>, room: &'a mut Vec<T>) -> Result<&'a [T]> {
        let mut inner = Vec::new();
        let cells = self.source.cells(range, &mut inner)?;
        room.clear();
        room.extend(cells.iter().map(|cell| self.power.apply(*cell)));
        Ok(room)
    }

    fn access(&self) -> Access {
        self.source.access()
    }

    fn is_reversed(&self) -> bool {
        self.source.is_reversed()
    }
}
