//! Packs a dense tensor lazily; used when reading back a tensor that was unpacked for its format.

use std::sync::Mutex;

use super::group::{Group, advance};
use super::{Operation, Symmetry};
use crate::bytes::{Bytes, Endian, swap, to_u64, to_usize};
use crate::dtype::{DType, Kind, Numbers};
use crate::error::{Error, Result};
use crate::io::{Compute, Pages, Source};
use crate::limits::Limits;
use crate::tensor::Tensor;
use crate::tensor::index::slice::unravel_in;
use crate::tensor::storage::{Order, Storage};

impl Tensor {
    /// The same dense tensor with these symmetries, at most one of them packed: then only one cell
    /// of every orbit is stored. The cells are selected lazily, and a cell that does not have the
    /// symmetry is found on reading.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the symmetries do not fit, [`Error::Limit`] if their orbits have more
    /// cells than `limits` allow.
    pub(crate) fn repacked(&self, symmetries: Vec<Symmetry>, limits: &Limits) -> Result<Tensor> {
        let mut packed = symmetries.iter().filter(|symmetry| symmetry.packed);
        let storage = match (packed.next(), packed.next()) {
            (None, _) => self.storage().clone(),
            (Some(_), Some(_)) => {
                return Err(Error::invalid(
                    "a dense tensor is packed by one symmetry at most",
                ));
            }
            (Some(symmetry), None) => Storage::Dense {
                order: Order::Column,
                values: self.picked(symmetry, limits)?,
            },
        };
        let dims = self.dims().to_vec();
        let tensor = Tensor::within(dims, self.dtype(), symmetries, storage, limits)?;
        Ok(tensor.with_meta_of(self))
    }

    fn picked(&self, symmetry: &Symmetry, limits: &Limits) -> Result<Numbers> {
        if !matches!(self.storage(), Storage::Dense { .. }) || self.is_packed() {
            return Err(Error::invalid("only plain dense tensors are packed"));
        }
        let (sizes, dtype) = (self.sizes()?, self.dtype());
        // The group requires a permutation of dimensions of equal size, which `check` verifies.
        Tensor::new(
            self.dims().to_vec(),
            dtype,
            vec![Symmetry {
                packed: false,
                ..symmetry.clone()
            }],
            self.storage().clone(),
        )?;
        let all = std::slice::from_ref(symmetry);
        let group = Group::generate(&sizes, dtype, all, |_| true, limits)?;
        let stored = group
            .stored()
            .and_then(|cells| cells.checked_mul(to_u64(dtype.width())))
            .ok_or_else(|| Error::invalid("more cells than can be counted"))?;
        let picked = Picked {
            tensor: self.clone(),
            limits: limits.clone(),
            axes: moved_axes(&symmetry.permutation),
            operation: Operation::of_code(&symmetry.operation).unwrap_or_default(),
            group,
            sizes,
            dtype,
            len: stored,
            walk: Mutex::default(),
        };
        Ok(Numbers {
            number: dtype.number,
            endian: Endian::Little,
            bytes: Bytes::whole(Source::computed(picked)),
        })
    }
}

/// The axes of a transposed tensor in which every cell is where its image was, the last varying
/// fastest where the first does in the tensor itself: reading both in parallel compares each cell
/// with its image.
fn moved_axes(permutation: &[usize]) -> Vec<usize> {
    let mut axes = vec![0; permutation.len()];
    for (axis, place) in permutation.iter().enumerate() {
        if let Some(own) = axes.get_mut(*place) {
            *own = axis;
        }
    }
    axes.reverse();
    axes
}

/// The stored cells of a dense tensor, selected on reading.
struct Picked {
    tensor: Tensor,
    limits: Limits,
    /// The order of dimensions in which every cell is where its image was.
    axes: Vec<usize>,
    operation: Operation,
    group: Group,
    sizes: Vec<u64>,
    dtype: DType,
    len: u64,
    walk: Mutex<Walk>,
}

/// A walk over all cells that stops at stored ones.
#[derive(Default)]
struct Walk {
    /// The number of stored cells passed.
    position: u64,
    /// The next cell, the first dimension varying fastest.
    global: u64,
    /// The cells from which the walk to every `STEP`th stored one starts.
    marks: Vec<u64>,
    /// The cells and their images, opened on the first read.
    values: Option<[Values; 2]>,
}

/// All values in some order.
struct Values {
    pages: Pages,
    endian: Endian,
}

impl Values {
    fn new(numbers: Numbers) -> Values {
        let endian = numbers.endian;
        let pages = Pages::new(numbers.bytes);
        Values { pages, endian }
    }

    /// Reads an element, little-endian.
    fn read_at(&mut self, at: u64, dtype: DType, element: &mut [u8]) -> Result<()> {
        self.pages.read_at(at, element)?;
        if self.endian != Endian::Little {
            swap(element, dtype.number.width());
        }
        Ok(())
    }
}

/// Number of stored cells between two marks.
const STEP: u64 = 1 << 16;

impl Compute for Picked {
    fn len(&self) -> u64 {
        self.len
    }

    fn inputs(&self) -> Vec<&Bytes> {
        self.tensor.part_bytes()
    }

    fn depth(&self) -> u32 {
        // The cells and their images are both read through views.
        let parts = self.tensor.storage().parts();
        let below = parts.iter().map(|part| part.bytes.source().depth()).max();
        below.unwrap_or(0).saturating_add(2)
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<()> {
        let stopped = |_| Error::invalid("another reader of the tensor stopped halfway");
        let mut walk = self.walk.lock().map_err(stopped)?;
        let width = to_u64(self.dtype.width());
        let mut element = vec![0; self.dtype.width()];
        let mut at = at;
        let mut rest = buffer;
        while !rest.is_empty() {
            self.seek(&mut walk, at / width)?;
            self.next(&mut walk, &mut element)?;
            let within = element.get(to_usize(at % width)?..).unwrap_or_default();
            let part = within.len().min(rest.len());
            let (now, later) = rest.split_at_mut(part);
            now.copy_from_slice(within.get(..part).unwrap_or_default());
            rest = later;
            at = at.saturating_add(to_u64(part));
        }
        Ok(())
    }
}

impl Picked {
    /// Moves to the stored cell number `position`.
    fn seek(&self, walk: &mut Walk, position: u64) -> Result<()> {
        if position < walk.position {
            let mark = to_usize(position / STEP)?;
            walk.global = walk.marks.get(mark).copied().unwrap_or(0);
            walk.position = position - position % STEP;
        }
        let mut passed = vec![0; self.dtype.width()];
        while walk.position < position {
            self.next(walk, &mut passed)?;
        }
        Ok(())
    }

    /// Passes the next stored cell, and copies its value to `element`.
    fn next(&self, walk: &mut Walk, element: &mut [u8]) -> Result<()> {
        if walk.position.is_multiple_of(STEP) && to_u64(walk.marks.len()) == walk.position / STEP {
            walk.marks.push(walk.global);
        }
        let mut index = vec![0; self.sizes.len()];
        if !unravel_in(walk.global, &self.sizes, Order::Column, &mut index) {
            return Err(Error::invalid("a packed tensor ends before its length"));
        }
        loop {
            let origin = self.group.origin(&index);
            let is_stored = origin.index == walk.global && !origin.zero;
            self.check(walk, &index, element)?;
            walk.global = walk.global.saturating_add(1);
            if is_stored {
                walk.position = walk.position.saturating_add(1);
                return Ok(());
            }
            if !advance(&mut index, &self.sizes) {
                return Err(Error::invalid("a packed tensor ends before its length"));
            }
        }
    }

    /// The cells and their images, both with the first dimension varying fastest.
    fn values(&self) -> Result<[Values; 2]> {
        let cells = self.tensor.dense(Order::Column, &self.limits)?;
        let images = self.tensor.permuted(&self.axes, &self.limits)?;
        Ok([Values::new(cells), Values::new(images)])
    }

    /// Reads the next cell, and compares it with its image under the symmetry.
    fn check(&self, walk: &mut Walk, index: &[u64], element: &mut [u8]) -> Result<()> {
        let at = walk.global.saturating_mul(to_u64(element.len()));
        let mut image = vec![0; element.len()];
        let [cells, images] = match &mut walk.values {
            Some(values) => values,
            none => none.insert(self.values()?),
        };
        cells.read_at(at, self.dtype, element)?;
        images.read_at(at, self.dtype, &mut image)?;
        if self.operation != Operation::default() {
            self.operation.apply(self.dtype, &mut image)?;
        }
        let width = self.dtype.number.width();
        let mut pairs = element.chunks_exact(width).zip(image.chunks_exact(width));
        if pairs.all(|(one, other)| one == other || self.is_zero(one) && self.is_zero(other)) {
            return Ok(());
        }
        let why = format!("the cell {index:?} does not have the symmetry that its file claims");
        Err(Error::malformed(None, why))
    }

    /// Whether a number is zero or minus zero.
    fn is_zero(&self, number: &[u8]) -> bool {
        let Some((last, rest)) = number.split_last() else {
            return true;
        };
        let sign = match self.dtype.number.kind() {
            Kind::Float => 0x80,
            _ => 0,
        };
        rest.iter().all(|byte| *byte == 0) && last & !sign == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::Dim;

    fn cube(values: &[f64]) -> Tensor {
        let storage = Storage::Dense {
            order: Order::Row,
            values: Numbers::from_vec(values),
        };
        let dims = vec![Dim::indexed(3); 3];
        Tensor::new(dims, "f64".parse().unwrap(), vec![], storage).unwrap()
    }

    fn symmetry(permutation: [usize; 3], operation: &str) -> Symmetry {
        Symmetry {
            permutation: permutation.to_vec(),
            operation: operation.into(),
            packed: true,
        }
    }

    /// A cube whose cell is `value` of its index.
    fn filled(value: impl Fn(usize, usize, usize) -> f64) -> Tensor {
        let mut values = Vec::new();
        for cell in 0..27 {
            values.push(value(cell / 9, cell / 3 % 3, cell % 3));
        }
        cube(&values)
    }

    fn weight(a: usize, b: usize, c: usize) -> f64 {
        let numbers = [a, b, c].map(|n| f64::from(u8::try_from(n).unwrap()));
        numbers[0] * 9.0 + numbers[1] * 3.0 + numbers[2]
    }

    #[test]
    fn one_cell_of_every_orbit_is_picked_and_all_come_back() {
        let swapped = filled(|a, b, c| weight(a.min(b), a.max(b), c));
        let turned = filled(|a, b, c| {
            let turns = [(a, b, c), (b, c, a), (c, a, b)];
            turns.map(|(a, b, c)| weight(a, b, c)).iter().sum()
        });
        let odd = filled(|a, b, c| weight(a, b, c) - weight(a, c, b));
        for (tensor, symmetry, stored) in [
            (swapped, symmetry([1, 0, 2], "x"), 18),
            (turned, symmetry([1, 2, 0], "x"), 11),
            (odd, symmetry([0, 2, 1], "-x"), 9),
        ] {
            let packed = tensor.repacked(vec![symmetry], &Limits::default()).unwrap();
            assert_eq!((packed.stored(), packed.is_packed()), (stored, true));
            let (before, after) = (tensor.to_vec::<f64>(), packed.to_vec::<f64>());
            assert_eq!(before.unwrap(), after.unwrap());
        }
    }

    #[test]
    fn a_cell_without_the_symmetry_is_found_when_it_is_read() {
        let mut values = vec![1.0; 27];
        values[1] = 2.0; // [0, 0, 1], the image of [0, 1, 0]
        let packed = cube(&values).repacked(vec![symmetry([0, 2, 1], "x")], &Limits::default());
        let error = packed.unwrap().to_vec::<f64>().unwrap_err();
        let text = "the cell [0, 1, 0] does not have the symmetry that its file claims";
        assert_eq!(error.to_string(), text);
    }

    #[test]
    fn what_is_no_permutation_is_refused() {
        for permutation in [[0, 0, 1], [0, 1, 3]] {
            let symmetries = vec![symmetry(permutation, "x")];
            assert!(
                cube(&[0.0; 27])
                    .repacked(symmetries, &Limits::default())
                    .is_err()
            );
        }
    }
}
