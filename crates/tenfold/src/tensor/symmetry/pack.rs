//! Packing by symmetries, which stores one cell of every orbit; and unpacking.

use super::dense_deviation::Cells;
use super::deviation::{Deviation, spread};
use super::group::{Group, Origin};
use super::stored_runs::{Lines, stored_parts};
use super::{Symmetry, lacks_negative};
use crate::bytes::{Bytes, Endian, PIECE, swap, to_u64};
use crate::dtype::{DType, Kind, Number, Numbers};
use crate::error::{Error, Result};
use crate::io::{Spool, Threads, join};
use crate::limits::Limits;
use crate::loss::{Aspect, Loss, Refusal};
use crate::memory;
use crate::tensor::Tensor;
use crate::tensor::index::slice::unravel_in;
use crate::tensor::sparse::builder::CooBuilder;
use crate::tensor::storage::{Address, Order, Storage};
use crate::tensor::verify::SYMMETRY_TOLERANCE;
use crate::units::measure_text;

/// The tolerance for deviations from the symmetries of a packing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tolerance {
    /// Unpacking restores every bit.
    Exact,
    /// No value deviates by more than this fraction of the largest one. 0 ignores the sign of
    /// zeros.
    Within(f64),
}

impl Tolerance {
    pub(crate) fn permits(self, worst: &Deviation) -> bool {
        match self {
            Tolerance::Exact => worst.apart == 0.0 && !worst.has_other_bits,
            Tolerance::Within(share) => worst.apart <= share * worst.largest,
        }
    }
}

/// A packed tensor, and the changes that packing made to its values.
#[derive(Debug, Clone)]
pub struct Packing {
    /// The tensor, with one stored cell per orbit.
    pub tensor: Tensor,
    /// The largest change of a value.
    pub deviation: f64,
    /// The number of values that change, if only in the sign of a zero.
    pub changed: u64,
}

impl Packing {
    /// The changes as text: `3 of 16 values change, by 2.1e-15 at most`.
    #[must_use]
    pub fn changes(&self) -> String {
        let (changed, cells) = (self.changed, self.tensor.cells().unwrap_or(u128::MAX));
        let most = measure_text(self.deviation, 3);
        format!("{changed} of {cells} values change, by {most} at most")
    }
}

/// Bytes of sparse cells in one pass.
const PASS: u64 = 32 << 20;

impl Tensor {
    /// Packs a dense or sparse tensor by symmetries that its values have; symmetries declared
    /// before stay declared.
    ///
    /// A dense tensor is packed by one symmetry, a sparse one by any number. The packed values are
    /// stored in memory or, if large, in a temporary file.
    ///
    /// # Errors
    /// [`Error::Invalid`] with the worst cell if the values do not have a symmetry.
    pub fn pack(
        &self,
        symmetries: &[Symmetry],
        tolerance: Tolerance,
        limits: &Limits,
    ) -> Result<Packing> {
        match self.try_pack(symmetries, tolerance, limits) {
            Ok(Ok(packing)) => Ok(packing),
            // Nothing else is beyond all measure of an integer.
            Ok(Err(worst)) if is_integer(self.dtype()) && worst.apart.is_infinite() => {
                Err(without_negatives(self.dtype(), symmetries))
            }
            Ok(Err(worst)) => Err(lacking(&worst, symmetries)),
            Err(error) if lacks_negative(&error) => {
                Err(without_negatives(self.dtype(), symmetries))
            }
            Err(error) => Err(error),
        }
    }

    /// The tolerance for packing by `symmetries`: `share`, if it is given; for declared symmetries
    /// the tolerance of `verify`, and otherwise none.
    #[must_use]
    pub fn packing_tolerance(&self, symmetries: &[Symmetry], share: Option<f64>) -> Tolerance {
        let is_declared = |symmetry: &Symmetry| self.declares(symmetry);
        match share {
            Some(share) => Tolerance::Within(share),
            None if symmetries.iter().all(is_declared) => Tolerance::Within(SYMMETRY_TOLERANCE),
            None => Tolerance::Exact,
        }
    }

    /// Packs as [`Tensor::pack`]; returns the deviation if it exceeds the tolerance.
    pub(crate) fn try_pack(
        &self,
        symmetries: &[Symmetry],
        tolerance: Tolerance,
        limits: &Limits,
    ) -> Result<std::result::Result<Packing, Deviation>> {
        let full = self.unpacked(limits)?;
        let is_given = |own: &&Symmetry| {
            let same = |given: &Symmetry| {
                given.permutation == own.permutation && given.operation == own.operation
            };
            symmetries.iter().any(same)
        };
        let given = symmetries.iter().map(|given| Symmetry {
            packed: true,
            ..given.clone()
        });
        let kept = full.symmetries().iter().filter(|own| !is_given(own));
        let all: Vec<Symmetry> = given.chain(kept.cloned()).collect();
        let claimed = Tensor {
            symmetries: all.clone(),
            ..full.clone()
        };
        claimed.check_symmetries()?;
        let group = claimed.packed_group(limits)?;
        let (storage, worst) = match full.storage() {
            Storage::Dense { .. } => full.pack_dense(symmetries, &group, limits)?,
            Storage::Sparse { address, .. } if !matches!(address, Address::Labels) => {
                full.pack_sparse(&group, limits)?
            }
            other => {
                let why = format!("a {} tensor cannot be packed", other.as_str());
                return Err(Error::invalid(why));
            }
        };
        if !tolerance.permits(&worst) {
            return Ok(Err(worst));
        }
        let tensor = Tensor::within(full.dims().to_vec(), full.dtype(), all, storage, limits)?;
        let is_dense = matches!(tensor.storage(), Storage::Dense { .. });
        let is_changed = worst.apart > 0.0 || worst.has_other_bits;
        let changed = if is_dense && is_changed {
            full.cells_unlike(&tensor, limits)?
        } else {
            worst.changed
        };
        Ok(Ok(Packing {
            tensor: tensor.with_meta_of(self),
            deviation: worst.apart,
            changed,
        }))
    }

    /// The same tensor with all its cells stored; its symmetries stay declared.
    ///
    /// Lazy for dense tensors. A sparse one is stored in memory or a temporary file.
    ///
    /// # Errors
    /// [`Error::Limit`] if there would be more cells than `limits` allow.
    pub fn unpacked(&self, limits: &Limits) -> Result<Tensor> {
        if !self.is_packed() {
            return Ok(self.clone());
        }
        let storage = match self.storage() {
            Storage::Dense { .. } => Storage::Dense {
                order: Order::Column,
                values: self.dense(Order::Column, limits)?,
            },
            Storage::Sparse { .. } => {
                let sizes = self.sizes()?;
                let mut listed = CooBuilder::new(self.dtype().number, Order::Column);
                let group = self.packed_group(limits)?;
                if let Some(sparse) = self.sparse(&sizes, limits)? {
                    let most = to_u64(self.dtype().width()).saturating_add(8);
                    let cells = sparse.count().saturating_mul(group.order());
                    let why = "a sparse tensor would be unpacked";
                    limits.check_decoded(why, cells.saturating_mul(most))?;
                    sparse.for_each_image(&group, &mut |index, value| {
                        listed.push(group.global(index), value)
                    })?;
                }
                listed.finish()?
            }
            other => other.clone(),
        };
        let mut symmetries = self.symmetries().to_vec();
        for symmetry in &mut symmetries {
            symmetry.packed = false;
        }
        let dims = self.dims().to_vec();
        let tensor = Tensor::within(dims, self.dtype(), symmetries, storage, limits)?;
        Ok(tensor.with_meta_of(self))
    }

    fn pack_dense(
        &self,
        symmetries: &[Symmetry],
        group: &Group,
        limits: &Limits,
    ) -> Result<(Storage, Deviation)> {
        let [symmetry] = symmetries else {
            let why = "a dense tensor is packed by one symmetry; --sparse permits several";
            return Err(Error::invalid(why));
        };
        let check = || -> Result<Deviation> {
            if self.storage().parts().iter().all(|part| part.is_empty()) {
                return Ok(Deviation::default());
            }
            let operation = symmetry.operation_on(self.dtype()).unwrap_or_default();
            let cells = Cells::of(self, limits)?;
            let found = cells.deviations(&symmetry.permutation, &[operation])?;
            Ok(found.into_iter().next().unwrap_or_default())
        };
        let parts = self.storage().parts();
        // Compressed or computed values must not be read by two readers at once.
        let is_at_hand =
            |part: &&Numbers| part.bytes.is_plain() && !part.bytes.source().is_computed();
        let len = if parts.iter().all(is_at_hand) {
            parts.iter().map(|part| part.bytes.len()).sum()
        } else {
            0
        };
        let threads = Threads::Cores.for_len(usize::try_from(len).unwrap_or(usize::MAX));
        let (worst, bytes) = join(threads, check, || self.kept(group, limits))?;
        let values = Numbers {
            number: self.dtype().number,
            endian: Endian::Little,
            bytes,
        };
        let order = Order::Column;
        Ok((Storage::Dense { order, values }, worst))
    }

    /// The number of cells whose bits differ from those of a tensor of the same shape.
    fn cells_unlike(&self, other: &Tensor, limits: &Limits) -> Result<u64> {
        let dense = |tensor: &Tensor| tensor.dense(Order::Column, limits)?.spooled(limits);
        let (own, other) = (dense(self)?, dense(other)?);
        let (mut at, mut image, mut count) = (0_u64, Vec::new(), 0_u64);
        let width = self.dtype().width();
        own.for_each(Endian::Little, width, PIECE, &mut |piece| {
            memory::resize(&mut image, piece.len())?;
            other.bytes.read_at(at, &mut image)?;
            if other.must_swap(Endian::Little) {
                swap(&mut image, other.number.width());
            }
            let cells = piece.chunks_exact(width).zip(image.chunks_exact(width));
            count = count.saturating_add(to_u64(cells.filter(|(one, two)| one != two).count()));
            at = at.saturating_add(to_u64(piece.len()));
            Ok(())
        })?;
        Ok(count)
    }

    /// The stored cells, little-endian.
    fn kept(&self, group: &Group, limits: &Limits) -> Result<Bytes> {
        let sizes = self.sizes()?;
        let all = self.dense(Order::Column, limits)?;
        let width = self.dtype().width();
        let len = group.stored().unwrap_or(0).saturating_mul(to_u64(width));
        let mut spool = Spool::new().expecting(len);
        let lines = Lines::of(group, &sizes);
        let lines = lines.ok_or_else(|| Error::invalid("more cells than can be counted"))?;
        let mut runs = lines.joined_runs();
        let mut run = runs.next();
        let mut first = 0_u64;
        all.for_each(Endian::Little, width, PIECE, &mut |piece| {
            let mut keep = |part: &[u8]| spool.write(part);
            stored_parts(&mut run, &mut runs, first, piece, width, &mut keep)?;
            first = first.saturating_add(to_u64(piece.len() / width.max(1)));
            Ok(())
        })?;
        Ok(Bytes::whole(spool.finish()?))
    }

    /// Makes passes over the cells, each for whole orbits: their cells may be anywhere in the file,
    /// and must meet in memory.
    fn pack_sparse(&self, group: &Group, limits: &Limits) -> Result<(Storage, Deviation)> {
        let sizes = self.sizes()?;
        let mut listed = CooBuilder::new(self.dtype().number, Order::Column);
        let mut worst = Deviation::default();
        if let Some(sparse) = self.sparse(&sizes, limits)? {
            let room = to_u64(self.dtype().width()).saturating_add(40);
            let n_passes = sparse.count().saturating_mul(room).div_ceil(PASS).max(1);
            for pass in 0..n_passes {
                let mut cells: Vec<(u64, u64, Vec<u8>)> = Vec::new();
                sparse.for_each(&mut |_, index, value| {
                    let orbit = group.origin(index).index;
                    if spread(orbit) % n_passes == pass && value.iter().any(|byte| *byte != 0) {
                        cells.push((orbit, group.global(index), value.to_vec()));
                    }
                    Ok(())
                })?;
                cells.sort_unstable();
                for orbit in cells.chunk_by(|(first, ..), (second, ..)| first == second) {
                    self.keep_one(group, &sizes, orbit, &mut listed, &mut worst)?;
                }
            }
        }
        Ok((listed.finish()?, worst))
    }

    /// Zeroes the components of a cell that a cell equal to its own conjugate cannot have.
    fn make_own_conjugate(&self, origin: &Origin, cell: &mut [u8]) {
        let number = self.dtype().number;
        for (place, component) in cell.chunks_exact_mut(number.width()).enumerate() {
            let is_lost = if place == 0 {
                origin.is_imaginary
            } else {
                origin.is_real
            };
            if is_lost && !number.is_zero(component) {
                component.fill(0);
            }
        }
    }

    /// Keeps the smallest cell of an orbit, and compares the others with its images.
    fn keep_one(
        &self,
        group: &Group,
        sizes: &[u64],
        orbit: &[(u64, u64, Vec<u8>)],
        listed: &mut CooBuilder,
        worst: &mut Deviation,
    ) -> Result<()> {
        let dtype = self.dtype();
        let zero = vec![0; dtype.width()];
        let at = |global: u64| {
            let found = orbit.binary_search_by_key(&global, |(_, global, _)| *global);
            let found = found.ok().and_then(|place| orbit.get(place));
            found.map_or(zero.as_slice(), |(.., value)| value)
        };
        let first = orbit.first().map_or(0, |(first, ..)| *first);
        let mut index = vec![0; sizes.len()];
        unravel_in(first, sizes, Order::Column, &mut index);
        let origin = group.origin(&index);
        let is_zero = origin.zero;
        let mut kept = if is_zero {
            zero.clone()
        } else {
            at(first).to_vec()
        };
        self.make_own_conjugate(&origin, &mut kept);
        // An orbit of zeros is not stored, and is unpacked without the signs that conjugation would
        // give it.
        let is_absent = kept.iter().all(|byte| *byte == 0);
        for (global, operation) in group.images(&index) {
            let mut image = kept.clone();
            if !is_zero && !is_absent {
                operation.apply(dtype, &mut image)?;
            }
            unravel_in(global, sizes, Order::Column, &mut index);
            worst.compare(dtype, &index, at(global), &image);
            if at(global) != image {
                worst.differ(&index);
            }
        }
        if !is_absent {
            listed.push(first, &kept)?;
        }
        Ok(())
    }
}

fn is_integer(dtype: DType) -> bool {
    dtype.number.kind() != Kind::Float
}

/// The refusal of symmetries that need negatives of an unsigned type, with the cast that has them.
fn without_negatives(dtype: DType, symmetries: &[Symmetry]) -> Error {
    let names: Vec<String> = symmetries.iter().map(Symmetry::to_string).collect();
    let wider = match dtype.number.width() {
        1 => Number::I16,
        2 => Number::I32,
        4 => Number::I64,
        8 => Number::I128,
        _ => Number::F128,
    };
    let why = format!(
        "the symmetry {} asks for negatives of numbers that have none as {dtype}; --cast {wider} gives them, \
         and is done before",
        names.join(", ")
    );
    refusal(why)
}

/// The error of values that lack symmetries.
fn lacking(worst: &Deviation, symmetries: &[Symmetry]) -> Error {
    let names: Vec<String> = symmetries.iter().map(Symmetry::to_string).collect();
    let (names, index) = (names.join(", "), &worst.index);
    let (apart, largest) = (worst.apart, worst.largest);
    let why = if apart == 0.0 {
        format!(
            "the values lack the symmetry {names} by the sign of a zero or a NaN, at cell {index:?}; \
             --symmetry-tol 0 forgives that"
        )
    } else {
        format!(
            "the values lack the symmetry {names}: cell {index:?} is off by {}, the largest \
             value is {}; --symmetry-tol sets what is tolerated",
            measure_text(apart, 3),
            measure_text(largest, 3)
        )
    };
    refusal(why)
}

fn refusal(why: String) -> Error {
    let losses = vec![Loss::impossible(None, Aspect::Symmetry, why)];
    let format = "a packed tensor";
    Refusal { format, losses }.into()
}

#[cfg(test)]
mod tests {
    use num_complex::Complex;

    use super::*;
    use crate::dtype::Element;
    use crate::tensor::Dim;
    use crate::tensor::symmetry::group::advance;

    fn symmetry(permutation: &[usize], operation: &str) -> Symmetry {
        Symmetry {
            permutation: permutation.to_vec(),
            operation: operation.into(),
            packed: false,
        }
    }

    fn tensor<T: Element>(sizes: &[u64], order: Order, values: &[T]) -> Tensor {
        let dims = sizes.iter().map(|size| Dim::indexed(*size)).collect();
        let values = Numbers::from_vec(values);
        Tensor::new(dims, T::DTYPE, vec![], Storage::Dense { order, values }).unwrap()
    }

    fn bytes(tensor: &Tensor) -> Vec<u8> {
        let mut all = Vec::new();
        let limits = Limits::default();
        tensor
            .for_each(1 << 10, &limits, &mut |piece| {
                all.extend_from_slice(piece);
                Ok(())
            })
            .unwrap();
        all
    }

    fn sparse(tensor: &Tensor) -> Tensor {
        let sizes = tensor.sizes().unwrap();
        let mut listed = CooBuilder::new(tensor.dtype().number, Order::Column);
        let all = tensor.dense(Order::Column, &Limits::default()).unwrap();
        let all = all.bytes.to_vec().unwrap();
        for (place, value) in (0..).zip(all.chunks_exact(tensor.dtype().width())) {
            if value.iter().any(|byte| *byte != 0) {
                listed.push(place, value).unwrap();
            }
        }
        let dims = sizes.iter().map(|size| Dim::indexed(*size)).collect();
        Tensor::new(dims, tensor.dtype(), vec![], listed.finish().unwrap()).unwrap()
    }

    /// A symmetric tensor: every cell is derived from the first of its orbit.
    fn symmetric(sizes: &[u64], symmetry: &Symmetry) -> Tensor {
        let limits = Limits::default();
        let dtype = Complex::<f64>::DTYPE;
        let claims = std::slice::from_ref(symmetry);
        let group = Group::generate(sizes, dtype, claims, |_| true, &limits).unwrap();
        let mut index = vec![0; sizes.len()];
        let mut all = Vec::new();
        for _ in 0..sizes.iter().product() {
            let origin = group.origin(&index);
            let number = f64::from(u32::try_from(origin.index).unwrap()) + 0.5;
            let re = if origin.is_imaginary { 0.0 } else { number };
            let im = if origin.is_real { 0.0 } else { 2.0 * number };
            let mut element = Vec::new();
            Complex { re, im }.to_le(&mut element);
            origin.operation.apply(dtype, &mut element).unwrap();
            if origin.zero {
                element.fill(0);
            }
            all.push(Complex::<f64>::from_le(&element));
            advance(&mut index, sizes);
        }
        tensor(sizes, Order::Column, &all)
    }

    #[test]
    fn what_is_packed_comes_back_bit_for_bit() {
        let limits = Limits::default();
        let cases: [(&[u64], &[usize]); 6] = [
            (&[4, 4], &[1, 0]),
            (&[3, 2, 3, 2], &[2, 1, 0, 3]),
            (&[3, 2, 3, 2], &[2, 3, 0, 1]),
            (&[3, 3, 3], &[1, 2, 0]),
            (&[2, 2, 2, 2], &[1, 2, 3, 0]),
            (&[3, 0, 3], &[2, 1, 0]),
        ];
        for (sizes, permutation) in cases {
            for operation in ["x", "-x", "x*", "-x*"] {
                let symmetry = symmetry(permutation, operation);
                let full = symmetric(sizes, &symmetry);
                for full in [sparse(&full), full] {
                    // An odd cycle makes every cell its own negative or conjugate, whose zeros may
                    // have either sign: nothing determines it.
                    if sizes == [3, 3, 3] && operation != "x" {
                        continue;
                    }
                    let given = std::slice::from_ref(&symmetry);
                    let packing = full.pack(given, Tolerance::Exact, &limits).unwrap();
                    let packed = packing.tensor;
                    assert_eq!(packing.deviation.to_bits(), 0);
                    assert!(packed.is_packed() && packed.check(&limits).unwrap().is_empty());
                    let words = format!("{sizes:?} {symmetry} {}", full.storage().as_str());
                    assert_eq!(bytes(&packed), bytes(&full), "{words}");
                    let unpacked = packed.unpacked(&limits).unwrap();
                    assert!(!unpacked.is_packed() && unpacked.symmetries().len() == 1);
                    assert_eq!(bytes(&unpacked), bytes(&full), "{words}");
                }
            }
        }
    }

    #[test]
    fn a_row_major_big_endian_tensor_is_packed_by_columns() {
        let values = [1_i16, 2, 3, 2, 4, 5, 3, 5, 6].map(i16::swap_bytes);
        let mut values = Numbers::from_vec(&values);
        values.endian = Endian::Big;
        let dims = vec![Dim::indexed(3), Dim::indexed(3)];
        let order = Order::Row;
        let full = Tensor::new(dims, i16::DTYPE, vec![], Storage::Dense { order, values }).unwrap();
        let given = [symmetry(&[1, 0], "x")];
        let packed = full.pack(&given, Tolerance::Exact, &Limits::default());
        let packed = packed.unwrap().tensor;
        let stored = packed.storage().parts()[0].to_vec::<i16>().unwrap();
        assert_eq!(stored, [1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn several_symmetries_pack_a_sparse_tensor() {
        let limits = Limits::default();
        let mut all = vec![0_f64; 16];
        // One orbit of the eight-fold symmetry of integrals: (01|00) and its images.
        for place in [1, 2, 4, 8] {
            all[place] = 7.5;
        }
        let full = tensor(&[2, 2, 2, 2], Order::Column, &all);
        let given = [
            symmetry(&[1, 0, 2, 3], "x"),
            symmetry(&[0, 1, 3, 2], "x"),
            symmetry(&[2, 3, 0, 1], "x"),
        ];
        let packed = sparse(&full)
            .pack(&given, Tolerance::Exact, &limits)
            .unwrap();
        assert_eq!(packed.tensor.stored(), 1);
        assert_eq!(bytes(&packed.tensor), bytes(&full));
        let error = full.pack(&given, Tolerance::Exact, &limits).unwrap_err();
        let text = "a dense tensor is packed by one symmetry; --sparse permits several";
        assert_eq!(error.to_string(), text);
    }

    #[test]
    fn values_without_the_symmetry_are_refused_with_the_worst_cell() {
        let limits = Limits::default();
        let full = tensor(&[2, 2], Order::Row, &[1.0_f64, 2.0, 2.5, 4.0]);
        let given = [symmetry(&[1, 0], "x")];
        for full in [sparse(&full), full.clone()] {
            let error = full.pack(&given, Tolerance::Exact, &limits).unwrap_err();
            let text = "] is off by 0.5, the largest value is 4; --symmetry-tol sets";
            assert!(error.to_string().contains(text), "{error}");
            assert!(full.pack(&given, Tolerance::Within(0.1), &limits).is_err());
            let packing = full.pack(&given, Tolerance::Within(0.2), &limits).unwrap();
            assert_eq!(packing.deviation.to_bits(), 0.5_f64.to_bits());
            // The stored cell is the one with the smaller column-major index: row 1, column 0.
            assert_eq!(
                packing.tensor.to_vec::<f64>().unwrap(),
                [1.0, 2.5, 2.5, 4.0]
            );
        }
    }

    #[test]
    fn the_sign_of_a_zero_is_forgiven_only_when_asked() {
        let limits = Limits::default();
        let full = tensor(&[2, 2], Order::Row, &[0.0_f32, 0.0, 0.0, 0.0]);
        let given = [symmetry(&[1, 0], "-x")];
        let error = full.pack(&given, Tolerance::Exact, &limits).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("at cell [1, 0]; --symmetry-tol 0"),
            "{error}"
        );
        let packed = full.pack(&given, Tolerance::Within(0.0), &limits).unwrap();
        assert_eq!(packed.tensor.stored(), 1);
    }
}
