//! The nearest tensor that has a symmetry: every cell becomes the mean of its orbit.

use super::Tensor;
use super::cells::{Cells, image_strides};
use super::claim::Deviation;
use super::group::Group;
use super::slice::{Slice, unravel_in};
use super::storage::{Order, Storage};
use super::symmetry::{Operation, Symmetry};
use super::tiles::boxes;
use crate::bytes::{Bytes, Endian, Spool, wide};
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::number::{DType, Numbers, Term, mean};

impl Tensor {
    /// The projection of a tensor onto the group that `symmetries` generate, and the most that any
    /// value changes: each cell becomes the mean of what its images make of it.
    ///
    /// All cells are stored, and the symmetries declared; a sparse tensor stays sparse. One that was
    /// declared before stays if it follows from those that are given. The result has them bit for
    /// bit, save for the sign of zeros that equal their own negative or conjugate. Floats are added
    /// in double precision (those of 128 bits in their own) and rounded to the nearest, ties to
    /// even; cells that have the symmetries stay as they are. The values are kept in memory or,
    /// when large, in a temporary file.
    ///
    /// # Errors
    /// [`Error::Invalid`] with the first cell whose mean is no number of its type: integers are not
    /// rounded. [`Error::Limit`] if there would be more cells than `limits` allow.
    pub fn symmetrized(&self, symmetries: &[Symmetry], limits: &Limits) -> Result<(Tensor, f64)> {
        let sizes = self.sizes()?;
        let dtype = self.dtype();
        let given = Tensor {
            symmetries: vec![],
            ..self.clone()
        };
        let given = given.declaring(symmetries)?;
        let group = Group::generate(&sizes, dtype, symmetries, |_| true, limits)?;
        let is_sparse = matches!(self.storage(), Storage::Sparse { .. });
        let mut projection = Projection {
            dtype,
            cells: Cells::of(self, limits)?,
            group: &group,
            spares_zeros: is_sparse,
            worst: Deviation::default(),
            spool: Spool::within(limits),
        };
        // A slab and all its images together take a quarter of the memory.
        let images = group.order().saturating_add(1);
        let most = limits.memory / 4 / wide(dtype.width()).max(1) / images;
        for slices in boxes(&sizes, &slab(&sizes, most)) {
            projection.add(&slices)?;
        }
        let values = Numbers {
            number: dtype.number,
            endian: Endian::Little,
            bytes: Bytes::whole(projection.spool.finish()?),
        };
        let mut all = given.symmetries().to_vec();
        let follows = |own: &&Symmetry| !given.declares(own) && group.holds(own, dtype);
        let kept = self.symmetries().iter().filter(follows).cloned();
        all.extend(kept.map(Symmetry::unpacked));
        let (order, dims) = (Order::Row, self.dims().to_vec());
        let storage = Storage::Dense { order, values };
        let tensor = Tensor::within(dims, dtype, all, storage, limits)?.described_like(self);
        let tensor = match is_sparse {
            true => tensor.to_sparse(limits)?,
            false => tensor,
        };
        Ok((tensor, projection.worst.apart))
    }

    /// The same tensor that says of itself that it has these symmetries too, packed by none of them.
    /// Whether it has them is not looked at.
    ///
    /// # Errors
    /// [`Error::Invalid`] if they do not fit the dimensions.
    pub fn declaring(&self, symmetries: &[Symmetry]) -> Result<Tensor> {
        let mut tensor = self.clone();
        for symmetry in symmetries {
            if !tensor.declares(symmetry) {
                tensor.symmetries.push(symmetry.clone().unpacked());
            }
        }
        tensor.check_symmetries()?;
        Ok(tensor)
    }

    fn declares(&self, symmetry: &Symmetry) -> bool {
        self.symmetries().iter().any(|own| {
            own.permutation == symmetry.permutation && own.operation == symmetry.operation
        })
    }
}

/// The sides of a box of consecutive cells, no more than `most` of them.
fn slab(sizes: &[u64], most: u64) -> Vec<u64> {
    let mut sides = vec![1; sizes.len()];
    let mut room = most.max(1);
    for (side, size) in sides.iter_mut().zip(sizes).rev() {
        *side = room.min(*size).max(1);
        room = if *side < *size { 1 } else { room / *side };
        room = room.max(1);
    }
    sides
}

/// A symmetrized tensor as it comes to be.
struct Projection<'a> {
    dtype: DType,
    cells: Cells,
    group: &'a Group,
    /// Whether an orbit of nothing but absent cells stays so: a negative zero would be stored.
    spares_zeros: bool,
    worst: Deviation,
    spool: Spool,
}

/// What one element of the group makes of a slab.
struct Image<'a> {
    permutation: &'a [usize],
    operation: Operation,
    values: Vec<u8>,
    strides: Vec<u64>,
}

/// One cell of an orbit, and what makes another of it.
struct Member<'a> {
    global: u64,
    operation: Operation,
    element: &'a [u8],
}

impl Member<'_> {
    /// Cells in one order whichever of them is asked for; of several ways to one the plainest first.
    fn rank(&self) -> (u64, bool, bool) {
        let Operation { negate, conjugate } = self.operation;
        (self.global, negate, conjugate)
    }
}

impl Projection<'_> {
    /// Adds the cells of a slab to the result.
    fn add(&mut self, slices: &[Slice]) -> Result<()> {
        let mut images = Vec::new();
        for (permutation, operation) in self.group.elements() {
            let moved = permutation.iter().filter_map(|place| slices.get(*place));
            let moved: Vec<Slice> = moved.copied().collect();
            images.push(Image {
                permutation,
                operation: *operation,
                values: self.cells.read(&moved)?,
                strides: image_strides(permutation, &moved),
            });
        }
        let counts: Vec<u64> = slices.iter().map(|slice| slice.count).collect();
        let (mut item, mut index) = (vec![0; counts.len()], vec![0; counts.len()]);
        let mut number = 0_u64;
        let mut made = Vec::new();
        while unravel_in(number, &counts, Order::Row, &mut item) {
            for ((place, item), slice) in index.iter_mut().zip(&item).zip(slices) {
                *place = slice.start.saturating_add(*item);
            }
            let mut orbit = Vec::with_capacity(images.len());
            for image in &images {
                orbit.push(Member {
                    global: self.group.image(&index, image.permutation),
                    operation: image.operation,
                    element: self.cells.element(&image.values, &item, &image.strides)?,
                });
            }
            // The first combination is the one that leaves everything in place.
            let own = orbit.first().map_or(&[][..], |member| member.element);
            self.fold(&index, &mut orbit, &mut made)?;
            self.worst.compare(self.dtype, &index, own, &made);
            self.spool.write(&made)?;
            number = number.saturating_add(1);
        }
        Ok(())
    }

    /// What becomes of a cell, given all that its images make of it.
    ///
    /// Works it out for the first cell of the orbit and turns that into this one, so that sums are
    /// rounded the same way for all of them.
    fn fold(&self, index: &[u64], orbit: &mut Vec<Member>, made: &mut Vec<u8>) -> Result<()> {
        made.clear();
        let is_absent = |member: &Member| member.element.iter().all(|byte| *byte == 0);
        if self.spares_zeros && orbit.iter().all(is_absent) {
            made.resize(self.dtype.width(), 0);
            return Ok(());
        }
        let first = orbit.iter().min_by_key(|member| member.rank());
        let turn = first.map_or(Operation::default(), |member| member.operation);
        for member in orbit.iter_mut() {
            member.operation = member.operation.then(turn);
        }
        orbit.sort_by_key(Member::rank);
        // Where several combinations are one, all are: the mean stays, with fewer roundings.
        orbit.dedup_by_key(|member| member.rank());
        let width = self.dtype.number.width();
        let mut is_spelled = true;
        for component in 0..self.dtype.arity.count() {
            let from = component.saturating_mul(width);
            let terms = orbit.iter().map(|member| {
                let rest = member.element.get(from..).unwrap_or_default();
                let Operation { negate, conjugate } = member.operation;
                let is_negated = negate != (conjugate && component > 0);
                (rest.get(..width).unwrap_or_default(), is_negated)
            });
            let terms: Vec<Term> = terms.collect();
            is_spelled &= mean(self.dtype.number, &terms, made);
        }
        if is_spelled && turn.apply(self.dtype, made).is_ok() {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "the mean of cell {index:?} and its images is no {}; convert with --cast f64 first",
            self.dtype.number
        )))
    }
}
