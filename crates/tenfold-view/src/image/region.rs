//! A rectangle in a tensor.

use std::ops::Range;

use tenfold::{Error, Result, Slice};

/// A rectangle in a tensor: two axes, or one, or none, and a position along each of the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// The vertical axis; `None` for a single row.
    pub rows: Option<usize>,
    /// The horizontal axis; `None` for a single column.
    pub columns: Option<usize>,
    /// A position along each dimension; those of the two axes are ignored.
    pub at: Vec<u64>,
    /// The rows.
    pub down: Range<u64>,
    /// The columns.
    pub right: Range<u64>,
}

impl Region {
    /// The default region of a tensor of these sizes: the last two axes, as far as they exist, at
    /// position 0 of the others.
    #[must_use]
    pub fn first_of(sizes: &[u64]) -> Region {
        let last = sizes.len().checked_sub(1);
        let (rows, columns) = match last {
            Some(0) => (Some(0), None),
            Some(last) => (last.checked_sub(1), Some(last)),
            None => (None, None),
        };
        let size = |axis: Option<usize>| axis.and_then(|axis| sizes.get(axis)).map_or(1, |n| *n);
        Region {
            rows,
            columns,
            at: vec![0; sizes.len()],
            down: 0..size(rows),
            right: 0..size(columns),
        }
    }

    /// The number of rows and columns.
    #[must_use]
    pub fn size(&self) -> (u64, u64) {
        let len = |range: &Range<u64>| range.end.saturating_sub(range.start);
        (len(&self.down), len(&self.right))
    }

    /// Fails unless it lies inside a tensor of these sizes.
    ///
    /// # Errors
    /// [`Error::Invalid`] with the part that does not.
    pub fn check(&self, sizes: &[u64]) -> Result<()> {
        let invalid = |why: String| Err(Error::Invalid(why));
        if self.at.len() != sizes.len() {
            let (given, ndim) = (self.at.len(), sizes.len());
            return invalid(format!("{given} places for {ndim} dimensions"));
        }
        if self.rows.is_some() && self.rows == self.columns {
            return invalid("rows and columns are two different axes".into());
        }
        for (axis, range) in [(self.rows, &self.down), (self.columns, &self.right)] {
            let size = match axis {
                None => 1,
                Some(axis) => match sizes.get(axis) {
                    Some(size) => *size,
                    None => return invalid(format!("there is no axis {axis}")),
                },
            };
            if range.start > range.end || range.end > size {
                let Range { start, end } = range;
                return invalid(format!("{start} to {end} of an axis of size {size}"));
            }
        }
        for (axis, (place, size)) in self.at.iter().zip(sizes).enumerate() {
            let is_fixed = Some(axis) != self.rows && Some(axis) != self.columns;
            if is_fixed && place >= size {
                return invalid(format!("place {place} of an axis of size {size}"));
            }
        }
        Ok(())
    }

    /// Whether the vertical axis follows the horizontal one among the axes of the tensor.
    #[must_use]
    pub fn is_turned(&self) -> bool {
        matches!((self.rows, self.columns), (Some(rows), Some(columns)) if rows > columns)
    }

    /// The whole region, as a box of the tensor.
    #[must_use]
    pub fn whole(&self) -> Vec<Slice> {
        let (down, right) = (self.down.clone(), self.right.clone());
        self.slices(Slice::range(down), Slice::range(right))
    }

    /// The box of the tensor for these rows and columns.
    pub(crate) fn slices(&self, down: Slice, right: Slice) -> Vec<Slice> {
        let places = self.at.iter().enumerate();
        let slice = |(axis, place): (usize, &u64)| match axis {
            axis if Some(axis) == self.rows => down,
            axis if Some(axis) == self.columns => right,
            _ => Slice::one(*place),
        };
        places.map(slice).collect()
    }
}
