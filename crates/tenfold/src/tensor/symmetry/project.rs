//! Projection onto a symmetry: the nearest tensor that has it, in which every cell is the mean of
//! its orbit.

use super::dense_deviation::{Cells, image_strides};
use super::deviation::Deviation;
use super::group::Group;
use super::project_pairs::Pairs;
use super::tiles::boxes;
use super::{Operation, Symmetry};
use crate::bytes::{Bytes, Endian, to_u64};
use crate::dtype::{DType, Numbers};
use crate::error::{Error, Result};
use crate::io::Spool;
use crate::limits::Limits;
use crate::tensor::index::slice::{Slice, unravel_in};
use crate::tensor::storage::{Order, Storage};
use crate::tensor::{Tensor, Term, mean};

impl Tensor {
    /// The projection of a tensor onto the group that `symmetries` generate, and the largest change
    /// of a value: each cell becomes the mean of its images.
    ///
    /// All cells are stored, and the symmetries declared; a sparse tensor stays sparse. A symmetry
    /// that was declared before stays declared if it follows from the given ones. The result has
    /// the symmetries bit for bit, except for the sign of zeros that equal their own negative or
    /// conjugate. Floats are added in double precision (those of 128 bits in their own) and rounded
    /// to nearest, ties to even; cells that have the symmetries stay unchanged. The values are
    /// stored in memory or, if large, in a temporary file: in their previous order if one symmetry
    /// was given that is its own inverse, row-major otherwise.
    ///
    /// # Errors
    /// [`Error::Invalid`] with the first cell whose mean its type cannot represent: integers are
    /// not rounded. [`Error::Limit`] if there would be more cells than `limits` allow.
    pub fn symmetrized(&self, symmetries: &[Symmetry], limits: &Limits) -> Result<(Tensor, f64)> {
        let sizes = self.sizes()?;
        let dtype = self.dtype();
        let given = Tensor {
            symmetries: vec![],
            ..self.clone()
        };
        let given = given.with_declared_symmetries(symmetries)?;
        let group = Group::generate(&sizes, dtype, symmetries, |_| true, limits)?;
        let is_sparse = matches!(self.storage(), Storage::Sparse { .. });
        let cells = Cells::of(self, limits)?;
        let pairs = Pairs::of(&cells, &group, &sizes, limits).filter(|_| !is_sparse);
        let made = match pairs {
            Some(pairs) => Made::by_pairs(&pairs, &cells, limits)?,
            None => Made::by_orbits(&cells, &group, &sizes, is_sparse, limits)?,
        };
        let mut all = given.symmetries().to_vec();
        let follows = |own: &&Symmetry| !given.declares(own) && group.holds(own, dtype);
        let kept = self.symmetries().iter().filter(follows).cloned();
        all.extend(kept.map(Symmetry::unpacked));
        let storage = Storage::Dense {
            order: made.order,
            values: Numbers {
                number: dtype.number,
                endian: Endian::Little,
                bytes: made.bytes,
            },
        };
        let dims = self.dims().to_vec();
        let tensor = Tensor::within(dims, dtype, all, storage, limits)?.with_meta_of(self);
        let tensor = if is_sparse {
            tensor.to_sparse(limits)?
        } else {
            tensor
        };
        Ok((tensor, made.most))
    }

    /// The same tensor with these symmetries declared too, none of them packed. Whether the values
    /// have them is not checked.
    ///
    /// # Errors
    /// [`Error::Invalid`] if they do not fit the dimensions.
    pub fn with_declared_symmetries(&self, symmetries: &[Symmetry]) -> Result<Tensor> {
        let mut tensor = self.clone();
        for symmetry in symmetries {
            if !tensor.declares(symmetry) {
                tensor.symmetries.push(symmetry.clone().unpacked());
            }
        }
        tensor.check_symmetries()?;
        Ok(tensor)
    }

    pub(crate) fn declares(&self, symmetry: &Symmetry) -> bool {
        self.symmetries().iter().any(|own| {
            own.permutation == symmetry.permutation && own.operation == symmetry.operation
        })
    }
}

/// All values of a symmetrized tensor.
struct Made {
    order: Order,
    bytes: Bytes,
    /// The largest change of a value.
    most: f64,
}

impl Made {
    /// Projects by a symmetry that is its own inverse.
    fn by_pairs(pairs: &Pairs, cells: &Cells, limits: &Limits) -> Result<Made> {
        let (bytes, most) = pairs.project(limits)?;
        let order = cells.order();
        Ok(Made { order, bytes, most })
    }

    /// Projects by any group.
    fn by_orbits(
        cells: &Cells,
        group: &Group,
        sizes: &[u64],
        spares_zeros: bool,
        limits: &Limits,
    ) -> Result<Made> {
        let dtype = cells.dtype();
        let mut projection = Projection {
            dtype,
            cells,
            group,
            spares_zeros,
            worst: Deviation::default(),
            spool: Spool::within(limits).expecting(cells.len()),
        };
        // A slab and all its images together take a quarter of the memory.
        let images = group.order().saturating_add(1);
        let most = limits.memory / 4 / to_u64(dtype.width()).max(1) / images;
        for slices in boxes(sizes, &slab(sizes, most)) {
            projection.add(&slices)?;
        }
        Ok(Made {
            order: Order::Row,
            bytes: Bytes::whole(projection.spool.finish()?),
            most: projection.worst.apart,
        })
    }
}

/// The sides of a box of at most `most` consecutive cells.
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

/// A projection in progress.
struct Projection<'a> {
    dtype: DType,
    cells: &'a Cells,
    group: &'a Group,
    /// Whether orbits of absent cells stay absent: otherwise a negative zero would be stored.
    spares_zeros: bool,
    worst: Deviation,
    spool: Spool,
}

/// The image of a slab under one group element.
struct Image<'a> {
    permutation: &'a [usize],
    operation: Operation,
    values: Vec<u8>,
    strides: Vec<u64>,
}

/// One cell of an orbit, and the operation that turns it into another.
struct Member<'a> {
    global: u64,
    operation: Operation,
    element: &'a [u8],
}

impl Member<'_> {
    /// Sort key that gives the same order of cells from every cell of the orbit; of several
    /// operations that lead to one cell the simplest comes first.
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
            // The first group element is the identity.
            let own = orbit.first().map_or(&[][..], |member| member.element);
            self.fold(&index, &mut orbit, &mut made)?;
            self.worst.compare(self.dtype, &index, own, &made);
            self.spool.write(&made)?;
            number = number.saturating_add(1);
        }
        Ok(())
    }

    /// The projected value of a cell, given its images.
    ///
    /// It is computed for the first cell of the orbit and then turned into this one: floating point
    /// sums depend on the order of their terms, and this way they round alike in all cells of the
    /// orbit, so that the result has the symmetry bit for bit.
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
        // If two group elements lead to the same cell, every cell is reached equally often: the
        // mean is the same without the repetitions, with fewer roundings.
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
        Err(no_mean(self.dtype, index))
    }
}

/// The error of a cell whose mean its type cannot represent.
pub(crate) fn no_mean(dtype: DType, index: &[u64]) -> Error {
    Error::invalid(format!(
        "the mean of cell {index:?} and its images is no {}; convert with --cast f64 first",
        dtype.number
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::{Arity, Number};
    use crate::tensor::Dim;

    /// Bytes that are numbers of all kinds, many of them equal.
    fn mixed(dtype: DType, cells: usize, seed: u64) -> Vec<u8> {
        let special: [f64; 9] = [
            0.0,
            -0.0,
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            1.5,
            -1.5,
            1e300,
            1e-40,
        ];
        let mut out = Vec::new();
        let mut state = seed;
        for _ in 0..cells * dtype.arity.count() {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let [.., which, low, high] = state.to_le_bytes();
            let is_float = dtype.number.kind() == crate::dtype::Kind::Float;
            let double = match special.get(usize::from(which) % 24) {
                Some(special) if is_float && seed.is_multiple_of(3) => *special,
                // Integer means of integers, mostly.
                _ if !is_float => {
                    f64::from(low % 8) * if seed.is_multiple_of(2) { 2.0 } else { 1.0 }
                }
                _ => f64::from(low) - 128.0 + f64::from(high) / 7.0,
            };
            let mut number = Vec::new();
            crate::dtype::convert(
                Number::F64,
                dtype.number,
                &double.to_le_bytes(),
                &mut number,
            );
            if double.is_nan() && high % 2 == 0 && number.len() > 1 {
                number[0] ^= high; // another payload
            }
            out.extend(number);
        }
        out
    }

    fn in_file(bytes: &[u8]) -> Bytes {
        let file = crate::io::Scratch::of_len(0, &Limits::default()).unwrap();
        crate::io::append_at(&file, bytes, 0).unwrap();
        Bytes::whole(file.into_source().unwrap())
    }

    /// Symmetrizes in both ways and compares.
    fn check(tensor: &Tensor, symmetry: &Symmetry, words: &str) -> bool {
        let limits = Limits::default();
        let (sizes, dtype) = (tensor.sizes().unwrap(), tensor.dtype());
        let all = std::slice::from_ref(symmetry);
        let group = Group::generate(&sizes, dtype, all, |_| true, &limits).unwrap();
        let cells = Cells::of(tensor, &limits).unwrap();
        let slow = Made::by_orbits(&cells, &group, &sizes, false, &limits);
        let Some(mut pairs) = Pairs::of(&cells, &group, &sizes, &limits) else {
            return false;
        };
        for (part, tile, threads) in [(1, 1, 1), (100, 40, 3), (1 << 20, 70, 2), (300, 1 << 20, 1)]
        {
            pairs.cut(part, tile, threads);
            let quick = Made::by_pairs(&pairs, &cells, &limits);
            match (&slow, quick) {
                (Ok(slow), Ok(quick)) => {
                    assert_eq!(slow.most.to_bits(), quick.most.to_bits(), "{words}");
                    let row_major = |made: &Made| {
                        let values = Numbers {
                            number: dtype.number,
                            endian: Endian::Little,
                            bytes: made.bytes.clone(),
                        };
                        let order = made.order;
                        let dims = tensor.dims().to_vec();
                        let storage = Storage::Dense { order, values };
                        let made = Tensor::new(dims, dtype, vec![], storage).unwrap();
                        let all = made.dense(Order::Row, &limits).unwrap();
                        all.bytes.to_vec().unwrap()
                    };
                    assert_eq!(row_major(slow), row_major(&quick), "{words}");
                }
                (Err(slow), Err(quick)) if cells.order() == Order::Row => {
                    assert_eq!(slow.to_string(), quick.to_string(), "{words}");
                }
                (slow, quick) => assert_eq!(slow.is_ok(), quick.is_ok(), "{words}"),
            }
        }
        slow.is_ok()
    }

    #[test]
    fn pairs_become_what_orbits_do() {
        let cases: [(&[u64], &[usize]); 8] = [
            (&[5, 5], &[1, 0]),
            (&[3, 2, 3, 2], &[2, 3, 0, 1]),
            (&[4, 3, 4, 3], &[2, 1, 0, 3]),
            (&[5, 3, 3], &[0, 2, 1]),
            (&[2, 2, 2, 2, 3], &[3, 2, 1, 0, 4]),
            (&[4, 3], &[0, 1]),
            (&[1, 1], &[1, 0]),
            (&[3, 0, 3], &[2, 1, 0]),
        ];
        let numbers = [
            Number::F64,
            Number::F32,
            Number::F16,
            Number::F128,
            Number::I8,
            Number::I64,
            Number::U16,
        ];
        let arities = [Arity::Real, Arity::Complex, Arity::Quaternion];
        let (mut n_made, mut n_refused, mut seed) = (0, 0, 1);
        for (sizes, permutation) in cases {
            for dtype in { numbers }
                .into_iter()
                .flat_map(|number| { arities }.map(|arity| DType { number, arity }))
            {
                for code in ["x", "-x", "x*", "-x*"] {
                    for (order, endian) in [
                        (Order::Row, Endian::Little),
                        (Order::Column, Endian::Big),
                        (Order::Column, Endian::Little),
                    ] {
                        seed += 1;
                        let cells = usize::try_from(sizes.iter().product::<u64>()).unwrap();
                        let mut bytes = mixed(dtype, cells, seed);
                        if endian == Endian::Big {
                            crate::bytes::swap(&mut bytes, dtype.number.width());
                        }
                        let values = Numbers {
                            number: dtype.number,
                            endian,
                            bytes: match seed % 2 {
                                0 => in_file(&bytes),
                                _ => Bytes::memory(bytes),
                            },
                        };
                        let dims = sizes.iter().map(|size| Dim::indexed(*size)).collect();
                        let storage = Storage::Dense { order, values };
                        let tensor = Tensor::new(dims, dtype, vec![], storage).unwrap();
                        let symmetry = Symmetry {
                            permutation: permutation.to_vec(),
                            operation: code.into(),
                            packed: false,
                        };
                        let words = format!("{sizes:?} {permutation:?} {code} {dtype} {order:?}");
                        if check(&tensor, &symmetry, &words) {
                            n_made += 1
                        } else {
                            n_refused += 1
                        }
                    }
                }
            }
        }
        assert!(n_made > 1000 && n_refused > 100, "{n_made} {n_refused}");
    }
}
