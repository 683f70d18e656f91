//! Positions of the first NaN and the first infinity of a tensor.

use super::Stats;
use crate::bytes::{Endian, PIECE};
use crate::dtype::{DType, Number};
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::tensor::{Cell, Order, Storage, Tensor, unravel_in};

/// The position of an element.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The labels of its block, one per mapped dimension.
    pub labels: Vec<String>,
    /// Its index, one number per indexed dimension.
    pub index: Vec<u64>,
}

/// The first elements that are not finite, in row-major order; for labelled tensors, in the order
/// of the blocks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NotFinite {
    /// The first NaN.
    pub nan: Option<Place>,
    /// The first infinity, of either sign.
    pub inf: Option<Place>,
}

impl Stats {
    /// Finds the first NaN and the first infinity of the tensor that these statistics describe: a
    /// second pass, up to the last of the two, and none if all values are finite.
    ///
    /// # Errors
    /// Errors of reading the values.
    pub fn first_not_finite(&self, tensor: &Tensor, limits: &Limits) -> Result<NotFinite> {
        let mut search = Search {
            dtype: tensor.dtype(),
            wants_nan: self.nan > 0,
            wants_inf: self.infinite() > 0,
            found: NotFinite::default(),
        };
        if !search.wants_nan && !search.wants_inf {
            return Ok(search.found);
        }
        match tensor.storage() {
            Storage::Sparse { .. } => search.cells(tensor, limits)?,
            _ => search.dense(tensor, limits)?,
        }
        Ok(search.found)
    }
}

struct Search {
    dtype: DType,
    wants_nan: bool,
    wants_inf: bool,
    found: NotFinite,
}

impl Search {
    /// Checks all cells in row-major order, up to the last that is needed.
    fn dense(&mut self, tensor: &Tensor, limits: &Limits) -> Result<()> {
        let sizes = tensor.sizes()?;
        let mut at = 0_u64;
        let mut is_done = false;
        let each = &mut |piece: &[u8]| {
            for element in piece.chunks_exact(self.dtype.width()) {
                self.look(element, || place(&[], at, &sizes));
                at = at.saturating_add(1);
            }
            is_done = self.is_done();
            if is_done { Err(Error::Stopped) } else { Ok(()) }
        };
        match tensor.for_each(PIECE, limits, each) {
            Err(Error::Stopped) if is_done => Ok(()),
            other => other,
        }
    }

    /// Checks all explicit cells or blocks, which come in any order.
    fn cells(&mut self, tensor: &Tensor, limits: &Limits) -> Result<()> {
        let sizes = tensor.indexed_sizes();
        let dtype = self.dtype;
        tensor.for_each_cell(limits, &mut |cell| match cell {
            Cell::At { index, value } => {
                let place = || Place {
                    labels: Vec::new(),
                    index: index.to_vec(),
                };
                self.look_again(value, place);
                Ok(())
            }
            Cell::Labelled { labels, values } => {
                let mut at = 0_u64;
                let width = dtype.width();
                values.for_each(Endian::Little, width, PIECE, &mut |piece| {
                    for element in piece.chunks_exact(width) {
                        self.look(element, || place(labels, at, &sizes));
                        at = at.saturating_add(1);
                    }
                    Ok(())
                })
            }
        })
    }

    fn is_done(&self) -> bool {
        let has = |is_wanted: bool, found: &Option<Place>| !is_wanted || found.is_some();
        has(self.wants_nan, &self.found.nan) && has(self.wants_inf, &self.found.inf)
    }

    /// Records the position of an element if it is the first of its class.
    fn look(&mut self, element: &[u8], place: impl Fn() -> Place) {
        let slot = match class(self.dtype, element) {
            Class::Finite => return,
            Class::Nan => &mut self.found.nan,
            Class::Inf => &mut self.found.inf,
        };
        slot.get_or_insert_with(place);
    }

    /// Records the position of an element if it precedes the recorded one.
    fn look_again(&mut self, element: &[u8], place: impl Fn() -> Place) {
        let slot = match class(self.dtype, element) {
            Class::Finite => return,
            Class::Nan => &mut self.found.nan,
            Class::Inf => &mut self.found.inf,
        };
        let place = place();
        if slot.as_ref().is_none_or(|first| place < *first) {
            *slot = Some(place);
        }
    }
}

/// The position of cell number `at` of a block, row-major.
fn place(labels: &[String], at: u64, sizes: &[u64]) -> Place {
    let mut index = vec![0; sizes.len()];
    unravel_in(at, sizes, Order::Row, &mut index);
    Place {
        labels: labels.to_vec(),
        index,
    }
}

/// The class of an element; of several numbers one NaN decides, else one infinity.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Finite,
    Inf,
    Nan,
}

fn class(dtype: DType, element: &[u8]) -> Class {
    let number = dtype.number;
    let numbers = element.chunks_exact(number.width().max(1));
    let classes = numbers.map(|bytes| class_of_one(number, bytes));
    classes.max().unwrap_or(Class::Finite)
}

/// By the bits, so that large 128-bit numbers stay finite.
fn class_of_one(number: Number, bytes: &[u8]) -> Class {
    let (mantissa, exponent) = match number {
        Number::F16 => (10, 5),
        Number::Bf16 => (7, 8),
        Number::F32 => (23, 8),
        Number::F64 => (52, 11),
        Number::F128 => (112, 15),
        _ => return Class::Finite,
    };
    let mut bits = 0_u128;
    for byte in bytes.iter().rev() {
        bits = bits << 8 | u128::from(*byte);
    }
    let low = |count: u32| 1_u128.checked_shl(count).map_or(u128::MAX, |bit| bit - 1);
    if bits >> mantissa & low(exponent) != low(exponent) {
        Class::Finite
    } else if bits & low(mantissa) == 0 {
        Class::Inf
    } else {
        Class::Nan
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Samples;
    use crate::dtype::Numbers;
    use crate::tensor::Dim;

    fn first(tensor: &Tensor) -> NotFinite {
        let limits = Limits::default();
        let stats = Samples::of(tensor, &limits).unwrap().stats().unwrap();
        stats.first_not_finite(tensor, &limits).unwrap()
    }

    fn at(index: &[u64]) -> Option<Place> {
        Some(Place {
            labels: vec![],
            index: index.to_vec(),
        })
    }

    #[test]
    fn the_first_is_the_first_in_row_major_order() {
        let values = [
            0.0,
            f32::NAN,
            f32::INFINITY,
            1.0,
            f32::NAN,
            f32::NEG_INFINITY,
        ];
        for (order, nan, inf) in [
            (Order::Row, [0, 1], [0, 2]),
            (Order::Column, [0, 2], [0, 1]),
        ] {
            let values = Numbers::from_vec(&values);
            let storage = Storage::Dense { order, values };
            let dims = vec![Dim::indexed(2), Dim::indexed(3)];
            let tensor = Tensor::new(dims, "f32".parse().unwrap(), vec![], storage).unwrap();
            let found = first(&tensor);
            assert_eq!((found.nan, found.inf), (at(&nan), at(&inf)), "{order:?}");
        }
    }

    #[test]
    fn every_type_knows_its_nan_and_its_infinity_by_their_bits() {
        let of = |number, bits: u128| {
            let width = Number::width(number);
            class_of_one(number, &bits.to_le_bytes()[..width])
        };
        for (number, inf) in [
            (Number::F16, 0x7c00_u128),
            (Number::Bf16, 0x7f80),
            (Number::F32, 0x7f80_0000),
            (Number::F64, 0x7ff0_0000_0000_0000),
            (Number::F128, 0x7fff << 112),
        ] {
            assert!(of(number, inf) == Class::Inf);
            assert!(of(number, inf + 1) == Class::Nan);
            assert!(of(number, inf - 1) == Class::Finite);
        }
        assert!(of(Number::I64, u128::MAX) == Class::Finite);
    }
}
