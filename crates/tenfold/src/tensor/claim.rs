//! How far the values of a tensor are from a symmetry that is claimed of it.

use super::Tensor;
use super::dense;
use super::group::{Group, advance};
use super::relayout::Stored;
use super::slice::{Slice, box_len, unravel_in};
use super::storage::{Order, Storage};
use super::symmetry::{Operation, Symmetry};
use crate::bytes::{Threads, narrow, wide};
use crate::error::Result;
use crate::limits::Limits;
use crate::number::{DType, Kind, Numbers};

/// How much one pass over sparse cells may hold.
const PASS: u64 = 32 << 20;

/// The most bytes of dense values that are compared with their images at once.
const TILE: u64 = 4 << 20;

/// Mixes an index so that its remainders are spread evenly.
pub(crate) fn spread(index: u64) -> u64 {
    xxhash_rust::xxh3::xxh3_64(&index.to_le_bytes())
}

/// The largest deviation from a symmetry.
#[derive(Debug, Clone, Default)]
pub(crate) struct Deviation {
    /// How far the worst cell is from what its image makes of it.
    pub(crate) apart: f64,
    /// The largest magnitude of all values.
    pub(crate) largest: f64,
    /// The worst cell; if all agree as numbers, one whose bits do not.
    pub(crate) index: Vec<u64>,
    /// Whether unpacking would give other bits somewhere, if only the sign of a zero.
    pub(crate) has_other_bits: bool,
}

impl Deviation {
    /// Takes in a cell and what the symmetry makes of its image.
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
            // Large integers may differ and be the same double.
            let apart = (left - right).abs().max(f64::MIN_POSITIVE);
            let is_unlike = left.is_nan() != right.is_nan() || !(left - right).is_finite();
            let apart = if is_unlike { f64::INFINITY } else { apart };
            if apart > self.apart {
                self.apart = apart;
                self.index = index.to_vec();
            }
        }
    }

    /// Notes that a cell comes back with other bits.
    pub(crate) fn differ(&mut self, index: &[u64]) {
        if !self.has_other_bits && self.apart == 0.0 {
            self.index = index.to_vec();
        }
        self.has_other_bits = true;
    }
}

/// A symmetry that a tensor may have.
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
        Ok(Claim {
            tensor,
            claim,
            sizes,
            group,
        })
    }

    /// Compares every cell with what the symmetry makes of its image.
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

    /// Passes over the cells, each holding whole orbits of the claimed and packed symmetries.
    fn of_sparse(&self, limits: &Limits) -> Result<Deviation> {
        let mut worst = Deviation::default();
        let Some(sparse) = self.tensor.sparse(&self.sizes) else {
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
        let width = self.tensor.dtype().width();
        let images = sparse.count().saturating_mul(packed.order());
        let n_passes = images
            .saturating_mul(wide(width).saturating_add(24))
            .div_ceil(PASS)
            .max(1);
        for pass in 0..n_passes {
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
        let zero = vec![0; dtype.width()];
        let mut index = vec![0; self.sizes.len()];
        for (global, value) in cells {
            unravel_in(*global, &self.sizes, Order::Column, &mut index);
            // Both the cell that this one is the image of and its own image, as either may be
            // absent: the powers of the permutation come round to both.
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

/// All values of a dense tensor where any box of them is at hand.
pub(crate) struct Cells {
    dtype: DType,
    sizes: Vec<u64>,
    order: Order,
    values: Numbers,
}

impl Cells {
    pub(crate) fn of(tensor: &Tensor, limits: &Limits) -> Result<Cells> {
        let order = match tensor.storage() {
            Storage::Dense { order, .. } if !tensor.is_packed() => *order,
            _ => Order::Row,
        };
        Ok(Cells {
            dtype: tensor.dtype(),
            sizes: tensor.sizes()?,
            order,
            values: tensor.dense(order, limits)?.spooled(limits)?,
        })
    }

    /// Compares every cell with what each of `operations` makes of its image under `permutation`.
    ///
    /// Goes tile by tile: the image of a tile is a tile.
    pub(crate) fn deviations(
        &self,
        permutation: &[usize],
        operations: &[Operation],
    ) -> Result<Vec<Deviation>> {
        self.deviations_while(permutation, operations, &Deviation::default(), &|_| true)
    }

    /// [`Cells::deviations`], counted on from `start` and given up when none of them is fine.
    pub(crate) fn deviations_while(
        &self,
        permutation: &[usize],
        operations: &[Operation],
        start: &Deviation,
        is_fine: &dyn Fn(&Deviation) -> bool,
    ) -> Result<Vec<Deviation>> {
        let mut found = vec![start.clone(); operations.len()];
        for slices in self.tiles() {
            self.compare(permutation, operations, &slices, &mut found)?;
            if !found.iter().any(is_fine) {
                break;
            }
        }
        Ok(found)
    }

    /// Boxes that together are the tensor, none much larger than [`TILE`].
    fn tiles(&self) -> impl Iterator<Item = Vec<Slice>> {
        boxes(&self.sizes, &sides(&self.sizes, self.dtype.width()))
    }

    /// The values of a box, row-major, little-endian.
    pub(crate) fn read(&self, slices: &[Slice]) -> Result<Vec<u8>> {
        let axes: Vec<usize> = (0..self.sizes.len()).collect();
        self.read_seen(slices, &axes)
    }

    /// The values of a box of the tensor with its dimensions in the order `axes`.
    fn read_seen(&self, slices: &[Slice], axes: &[usize]) -> Result<Vec<u8>> {
        let mut out = vec![0; box_len(slices, self.dtype.width())?];
        let stored = Stored::new(&self.values, self.dtype, &self.sizes, self.order, axes);
        stored.read_box(slices, wide(out.len()), Threads::Cores, &mut out)?;
        Ok(out)
    }

    /// Whether every cell of a box is, bit for bit, what the symmetry makes of its image: the quick
    /// answer for what is symmetric, whose cells need not be looked at one by one.
    fn agrees(
        &self,
        permutation: &[usize],
        operation: Operation,
        slices: &[Slice],
        own: &[u8],
    ) -> Result<bool> {
        let mut axes = vec![0; permutation.len()];
        for (axis, place) in permutation.iter().enumerate() {
            if let Some(own) = axes.get_mut(*place) {
                *own = axis;
            }
        }
        let mut images = self.read_seen(slices, &axes)?;
        if operation != Operation::default() {
            let mut cells = images.chunks_exact_mut(self.dtype.width());
            if cells.any(|cell| operation.apply(self.dtype, cell).is_err()) {
                return Ok(false);
            }
        }
        Ok(own == images)
    }

    fn compare(
        &self,
        permutation: &[usize],
        operations: &[Operation],
        slices: &[Slice],
        found: &mut [Deviation],
    ) -> Result<()> {
        let image_slices: Vec<Slice> = permutation
            .iter()
            .filter_map(|place| slices.get(*place).copied())
            .collect();
        let own = self.read(slices)?;
        if let ([operation], [found]) = (operations, &mut *found)
            && self.agrees(permutation, *operation, slices, &own)?
        {
            found.largest = largest(self.dtype, &own).max(found.largest);
            return Ok(());
        }
        let images = self.read(&image_slices)?;
        let mut index: Vec<u64> = slices.iter().map(|slice| slice.start).collect();
        let counts: Vec<u64> = slices.iter().map(|slice| slice.count).collect();
        let own_strides = dense::strides(&counts, Order::Row);
        let image_strides = image_strides(permutation, &image_slices);
        let mut item = vec![0; counts.len()];
        let mut image = Vec::new();
        loop {
            for ((place, item), slice) in index.iter_mut().zip(&item).zip(slices) {
                *place = slice.start.saturating_add(*item);
            }
            let is_own = permutation
                .iter()
                .zip(&index)
                .all(|(place, own)| index.get(*place) == Some(own));
            let element = self.element(&own, &item, &own_strides)?;
            let other = self.element(&images, &item, &image_strides)?;
            for (operation, found) in operations.iter().zip(found.iter_mut()) {
                image.clear();
                image.extend_from_slice(other);
                if operation.apply(self.dtype, &mut image).is_err() {
                    // An integer without a negative is as far from its image as can be.
                    image.clear();
                    found.apart = f64::INFINITY;
                    found.differ(&index);
                    continue;
                }
                found.compare(self.dtype, &index, element, &image);
                if changes(is_own, *operation, element, &image) {
                    found.differ(&index);
                }
            }
            if !advance(&mut item, &counts) {
                return Ok(());
            }
        }
    }

    /// One element of a box that was read.
    pub(crate) fn element<'b>(
        &self,
        bytes: &'b [u8],
        item: &[u64],
        strides: &[u64],
    ) -> Result<&'b [u8]> {
        let place = item.iter().zip(strides).fold(0_u64, |sum, (item, stride)| {
            sum.saturating_add(item.saturating_mul(*stride))
        });
        let width = self.dtype.width();
        let at = narrow(place)?.saturating_mul(width);
        let element = bytes.get(at..).and_then(|rest| rest.get(..width));
        Ok(element.unwrap_or_default())
    }
}

/// The largest magnitude of finite numbers.
fn largest(dtype: DType, bytes: &[u8]) -> f64 {
    const PIECE: usize = 1 << 12;
    let mut doubles = Vec::with_capacity(PIECE);
    let mut most = 0.0_f64;
    for piece in bytes.chunks(PIECE.saturating_mul(dtype.number.width())) {
        dtype.number.to_doubles(piece, &mut doubles);
        for double in &doubles {
            let size = double.abs();
            most = if size > most && size < f64::INFINITY {
                size
            } else {
                most
            };
        }
    }
    most
}

/// Whether unpacking gives a cell other bits than it has.
fn changes(is_own: bool, operation: Operation, element: &[u8], image: &[u8]) -> bool {
    if !is_own {
        return element != image;
    }
    // A cell that is its own image is stored as it is, or left out where only zero is possible.
    operation.is_minus() && element.iter().any(|byte| *byte != 0)
}

/// How far a step along each dimension of a tile goes in its image.
pub(crate) fn image_strides(permutation: &[usize], image_slices: &[Slice]) -> Vec<u64> {
    let counts: Vec<u64> = image_slices.iter().map(|slice| slice.count).collect();
    let mut strides = vec![0; counts.len()];
    for (place, stride) in permutation.iter().zip(dense::strides(&counts, Order::Row)) {
        if let Some(own) = strides.get_mut(*place) {
            *own = stride;
        }
    }
    strides
}

/// Boxes with these sides, or less at the ends, that together are all cells; in row-major order.
pub(crate) fn boxes(sizes: &[u64], sides: &[u64]) -> impl Iterator<Item = Vec<Slice>> + use<> {
    let (sizes, sides) = (sizes.to_vec(), sides.to_vec());
    let counts: Vec<u64> = (sizes.iter().zip(&sides))
        .map(|(size, side)| size.div_ceil((*side).max(1)))
        .collect();
    let mut place = vec![0_u64; sizes.len()];
    (0_u64..).map_while(move |number| {
        if !unravel_in(number, &counts, Order::Row, &mut place) {
            return None;
        }
        let slices = place.iter().zip(&sides).zip(&sizes);
        let slices = slices.map(|((place, side), size)| {
            let start = place.saturating_mul(*side);
            Slice::range(start..start.saturating_add(*side).min(*size))
        });
        Some(slices.collect())
    })
}

/// The sides of a tile: those of the tensor, the longest halved until it fits.
fn sides(sizes: &[u64], width: usize) -> Vec<u64> {
    let mut sides: Vec<u64> = sizes.iter().map(|size| (*size).max(1)).collect();
    let most = TILE / wide(width).max(1);
    while super::product(&sides).is_none_or(|cells| cells > most.into()) {
        match sides.iter_mut().max() {
            Some(side) if *side > 1 => *side = side.div_ceil(2),
            _ => break,
        }
    }
    sides
}
