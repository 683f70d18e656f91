//! In-memory sources of any number type.

use std::ops::Range;

use half::{bf16, f16};
use num_complex::Complex;

use super::Source;
use crate::error::{Error, Result};
use crate::huge_vec::resize;
use crate::num::nearest;
use crate::scalar::{Complex64, Scalar};
use crate::train::count_cells;

/// A number type that converts to `T`: exactly if it has no more digits, otherwise to the nearest.
pub trait Promote<T>: Copy + Sync + 'static {
    /// The number as a `T`.
    fn widen(self) -> T;

    /// The slice itself, if its numbers are already of that type.
    fn same(_values: &[Self]) -> Option<&[T]> {
        None
    }
}

macro_rules! widen {
    ($($from:ty),*) => {$(
        impl Promote<f64> for $from {
            fn widen(self) -> f64 {
                f64::from(self)
            }
        }
    )*};
}

macro_rules! widen_nearest {
    ($($from:ty),*) => {$(
        impl Promote<f64> for $from {
            fn widen(self) -> f64 {
                nearest(self)
            }
        }
    )*};
}

widen!(f32, f16, bf16, u8, u16, u32, i8, i16, i32, bool);
widen_nearest!(u64, i64, u128, i128);

impl Promote<f64> for f64 {
    fn widen(self) -> f64 {
        self
    }

    fn same(values: &[f64]) -> Option<&[f64]> {
        Some(values)
    }
}

impl Promote<Complex64> for Complex64 {
    fn widen(self) -> Complex64 {
        self
    }

    fn same(values: &[Complex64]) -> Option<&[Complex64]> {
        Some(values)
    }
}

impl Promote<Complex64> for Complex<f32> {
    fn widen(self) -> Complex64 {
        Complex::new(self.re.into(), self.im.into())
    }
}

/// Cells that lie in memory.
///
/// ```
/// use tenfold_train::{Cells, Options, compress};
///
/// let squares: Vec<i32> = (0..12).map(|n| n * n).collect();
/// let source = Cells::new(&[3, 4], &squares)?;
/// let found = compress(&source, &Options::relative(1e-10))?;
/// assert!((found.train.element(&[2, 1])? - 81.0).abs() < 1e-6);
/// # Ok::<(), tenfold_train::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Cells<'a, E> {
    shape: Vec<usize>,
    values: &'a [E],
    is_reversed: bool,
}

impl<'a, E> Cells<'a, E> {
    /// Row-major cells: the last mode varies fastest.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the shape has not as many cells.
    pub fn new(shape: &[usize], values: &'a [E]) -> Result<Cells<'a, E>> {
        let cells = count_cells(shape)?;
        if cells != values.len() {
            let why = format!("{} values for the {cells} cells of {shape:?}", values.len());
            return Err(Error::invalid(why));
        }
        Ok(Cells {
            shape: shape.to_vec(),
            values,
            is_reversed: false,
        })
    }

    /// Column-major cells: the first mode varies fastest.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the shape has not as many cells.
    pub fn column_major(shape: &[usize], values: &'a [E]) -> Result<Cells<'a, E>> {
        let mut cells = Cells::new(shape, values)?;
        cells.shape.reverse();
        cells.is_reversed = true;
        Ok(cells)
    }
}

impl<T: Scalar, E: Promote<T>> Source<T> for Cells<'_, E> {
    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn cells<'a>(&'a self, range: Range<usize>, room: &'a mut Vec<T>) -> Result<&'a [T]> {
        if let Some(all) = E::same(self.values) {
            return all.get(range).ok_or_else(outside);
        }
        resize(room, range.len())?;
        self.read(range.start, room)?;
        Ok(room)
    }

    fn read(&self, first: usize, out: &mut [T]) -> Result<()> {
        let values = self.values.get(first..first + out.len());
        for (target, value) in out.iter_mut().zip(values.ok_or_else(outside)?) {
            *target = value.widen();
        }
        Ok(())
    }

    fn all(&self) -> Option<&[T]> {
        E::same(self.values)
    }

    fn is_reversed(&self) -> bool {
        self.is_reversed
    }
}

fn outside() -> Error {
    Error::invalid("cells outside the slice")
}
