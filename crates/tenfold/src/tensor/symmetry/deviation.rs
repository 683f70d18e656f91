//! Largest deviation of a tensor from a declared symmetry.

use super::Symmetry;
use super::dense_deviation::Cells;
use super::group::Group;
use crate::bytes::to_u64;
use crate::dtype::{DType, Kind};
use crate::error::Result;
use crate::limits::Limits;
use crate::tensor::Tensor;
use crate::tensor::index::slice::unravel_in;
use crate::tensor::storage::{Order, Storage};

/// Memory of one pass over sparse cells, in bytes.
const PASS: u64 = 32 << 20;

/// Hashes an index so that its remainders are evenly distributed.
pub(crate) fn spread(index: u64) -> u64 {
    xxhash_rust::xxh3::xxh3_64(&index.to_le_bytes())
}

/// The largest deviation from a symmetry.
#[derive(Debug, Clone, Default)]
pub(crate) struct Deviation {
    /// Difference between the worst cell and its image.
    pub(crate) apart: f64,
    /// The largest magnitude of all values.
    pub(crate) largest: f64,
    /// The worst cell; if all are equal as numbers, one whose bits differ.
    pub(crate) index: Vec<u64>,
    /// Whether unpacking would change bits somewhere, if only the sign of a zero.
    pub(crate) has_other_bits: bool,
    /// The number of cells that were compared one by one and have other bits.
    pub(crate) changed: u64,
}

impl Deviation {
    /// Compares a cell with its image under the symmetry.
    pub(crate) fn compare(&mut self, dtype: DType, index: &[u64], element: &[u8], image: &[u8]) {
        let number = dtype.number;
        let pairs = element.chunks_exact(number.width());
        for (own, other) in pairs.zip(image.chunks_exact(number.width())) {
            let (left, right) = (number.to_f64(own), number.to_f64(other));
            if left.is_finite() && left.abs() > self.largest {
                self.largest = left.abs();
            }
            let is_same = own == other || left == right && number.kind() == Kind::Float;
            if is_same || left.is_nan() && right.is_nan() {
                continue;
            }
            // Large integers may differ and still be equal as doubles.
            let apart = (left - right).abs().max(f64::MIN_POSITIVE);
            let is_unlike = left.is_nan() != right.is_nan() || !(left - right).is_finite();
            let apart = if is_unlike { f64::INFINITY } else { apart };
            if apart > self.apart {
                self.apart = apart;
                self.index = index.to_vec();
            }
        }
    }

    /// Records a cell whose bits differ.
    pub(crate) fn differ(&mut self, index: &[u64]) {
        if !self.has_other_bits && self.apart == 0.0 {
            self.index = index.to_vec();
        }
        self.has_other_bits = true;
        self.changed = self.changed.saturating_add(1);
    }
}

/// A symmetry to be tested on a tensor.
pub(crate) struct Claim<'a> {
    tensor: &'a Tensor,
    claim: &'a Symmetry,
    sizes: Vec<u64>,
    group: Group,
}

impl<'a> Claim<'a> {
    pub(crate) fn new(
        tensor: &'a Tensor,
        claim: &'a Symmetry,
        limits: &Limits,
    ) -> Result<Claim<'a>> {
        let sizes = tensor.sizes()?;
        let claims = std::slice::from_ref(claim);
        let group = Group::generate(&sizes, tensor.dtype(), claims, |_| true, limits)?;
        let group = group.metered(&tensor.meter);
        Ok(Claim {
            tensor,
            claim,
            sizes,
            group,
        })
    }

    /// Compares every cell with its image under the symmetry.
    pub(crate) fn deviation(&self, limits: &Limits) -> Result<Deviation> {
        match self.tensor.storage() {
            Storage::Dense { .. } => {
                let operation = self
                    .claim
                    .operation_on(self.tensor.dtype())
                    .unwrap_or_default();
                let cells = Cells::of(self.tensor, limits)?;
                let found = cells.deviations(&self.claim.permutation, &[operation])?;
                Ok(found.into_iter().next().unwrap_or_default())
            }
            Storage::Sparse { .. } => self.of_sparse(limits),
            Storage::Train { .. } | Storage::Opaque { .. } => Ok(Deviation::default()),
        }
    }

    /// Makes passes over the cells, each for whole orbits of the tested and the packed symmetries:
    /// a cell and its images must meet in memory, and may be anywhere in the file.
    fn of_sparse(&self, limits: &Limits) -> Result<Deviation> {
        let mut worst = Deviation::default();
        let Some(sparse) = self.tensor.sparse(&self.sizes, limits)? else {
            return Ok(worst);
        };
        let packed = self.tensor.packed_group(limits)?;
        let both = Group::generate(
            &self.sizes,
            self.tensor.dtype(),
            self.tensor.symmetries(),
            |symmetry| symmetry.packed || symmetry == self.claim,
            limits,
        )?;
        let both = both.metered(&self.tensor.meter);
        let width = self.tensor.dtype().width();
        let images = sparse.count().saturating_mul(packed.order());
        let n_passes = images
            .saturating_mul(to_u64(width).saturating_add(24))
            .div_ceil(PASS)
            .max(1);
        for pass in 0..n_passes {
            both.charge(images.into())?;
            let mut cells: Vec<(u64, Vec<u8>)> = Vec::new();
            sparse.for_each_image(&packed, &mut |index, value| {
                if spread(both.origin(index).index) % n_passes == pass {
                    cells.push((packed.global(index), value.to_vec()));
                }
                Ok(())
            })?;
            cells.sort_unstable();
            self.compare_all(&cells, &mut worst)?;
        }
        Ok(worst)
    }

    fn compare_all(&self, cells: &[(u64, Vec<u8>)], worst: &mut Deviation) -> Result<()> {
        let dtype = self.tensor.dtype();
        self.group.charge(to_u64(cells.len()).into())?;
        let zero = vec![0; dtype.width()];
        let mut index = vec![0; self.sizes.len()];
        for (global, value) in cells {
            unravel_in(*global, &self.sizes, Order::Column, &mut index);
            // Both the cell that has this one as its image, and the image of this one, as either
            // may be absent: the powers of the permutation reach both.
            for (other, operation) in self.group.images(&index) {
                let found = cells.binary_search_by_key(&other, |(global, _)| *global);
                let found = found.ok().and_then(|place| cells.get(place));
                let mut image = found.map_or_else(|| zero.clone(), |(_, value)| value.clone());
                operation.apply(dtype, &mut image)?;
                worst.compare(dtype, &index, value, &image);
            }
        }
        Ok(())
    }
}
