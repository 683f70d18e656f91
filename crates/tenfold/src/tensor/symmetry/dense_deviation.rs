//! Deviation of a dense tensor from symmetries, tile by tile.

use std::sync::Mutex;

use super::Operation;
use super::deviation::Deviation;
use super::group::advance;
use super::tiles::Tiles;
use crate::bytes::{to_u64, to_usize};
use crate::dtype::{DType, Numbers};
use crate::error::{Error, Result};
use crate::io::{Threads, par_for_each};
use crate::limits::Limits;
use crate::memory;
use crate::tensor::Tensor;
use crate::tensor::dense::read_box;
use crate::tensor::dense::transpose::Stored;
use crate::tensor::index::slice::{Slice, box_len};
use crate::tensor::storage::{Order, Storage};

/// All values of a dense tensor, with fast access to any box.
pub(crate) struct Cells {
    dtype: DType,
    sizes: Vec<u64>,
    order: Order,
    values: Numbers,
}

/// The result of comparing tiles bit by bit.
#[derive(Default)]
struct Alike {
    /// The largest magnitude in the tiles that agree.
    largest: f64,
    /// The tiles that do not.
    others: Vec<Vec<Slice>>,
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

    /// Compares every cell with its image under `permutation` and each of `operations`.
    pub(crate) fn deviations(
        &self,
        permutation: &[usize],
        operations: &[Operation],
    ) -> Result<Vec<Deviation>> {
        self.deviations_while(permutation, operations, &Deviation::default(), &|_| true)
    }

    /// [`Cells::deviations`], continued from `start` and abandoned once none of them is acceptable.
    pub(crate) fn deviations_while(
        &self,
        permutation: &[usize],
        operations: &[Operation],
        start: &Deviation,
        is_fine: &dyn Fn(&Deviation) -> bool,
    ) -> Result<Vec<Deviation>> {
        let mut found = vec![start.clone(); operations.len()];
        let tiles = self.tiles(permutation);
        let suspects = match (operations, found.as_mut_slice()) {
            ([operation], [found]) => {
                let alike = self.alike(&tiles, *operation)?;
                found.largest = alike.largest.max(found.largest);
                alike.others
            }
            _ => tiles.all().collect(),
        };
        for slices in suspects {
            self.compare(permutation, operations, &slices, &mut found)?;
            if !found.iter().any(is_fine) {
                break;
            }
        }
        Ok(found)
    }

    /// Tiles that fit in a thread's caches together with their images.
    fn tiles(&self, permutation: &[usize]) -> Tiles {
        /// Two of them fit in the inner caches.
        const NEAR: u64 = 256 << 10;
        /// Large enough for a read call per run of cells in a file.
        const FAR: u64 = 4 << 20;
        let len = if self.is_in_memory() { NEAR } else { FAR };
        self.tiles_of(permutation, len)
    }

    /// Tiles of at most so many bytes.
    fn tiles_of(&self, permutation: &[usize], len: u64) -> Tiles {
        let most = len / to_u64(self.dtype.width()).max(1);
        Tiles::new(&self.sizes, permutation, &self.slowest_first(), most)
    }

    pub(crate) fn dtype(&self) -> DType {
        self.dtype
    }

    /// The length of the values in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.values.bytes.len()
    }

    pub(crate) fn order(&self) -> Order {
        self.order
    }

    pub(crate) fn is_in_memory(&self) -> bool {
        self.values.bytes.as_slice().is_some()
    }

    /// The values with their dimensions in the order `dims`.
    pub(crate) fn seen(&self, dims: &[usize]) -> Stored {
        Stored::new(&self.values, self.dtype, &self.sizes, self.order, dims)
    }

    /// The dimensions in stored order, slowest first.
    pub(crate) fn slowest_first(&self) -> Vec<usize> {
        let mut dims: Vec<usize> = (0..self.sizes.len()).collect();
        if self.order == Order::Column {
            dims.reverse();
        }
        dims
    }

    /// Compares tiles with their images bit by bit, on all cores: the fast path for tensors that
    /// are symmetric, whose cells then need no comparison one by one.
    fn alike(&self, tiles: &Tiles, operation: Operation) -> Result<Alike> {
        /// Tiles that a thread takes at a time.
        const BATCH: usize = 16;
        let own_dims = self.slowest_first();
        let image_dims = tiles.image_dims(&own_dims);
        let (own_cells, image_cells) = (self.seen(&own_dims), self.seen(&image_dims));
        let pairs: Vec<Vec<Slice>> = tiles.all().filter(|tile| tiles.is_first(tile)).collect();
        let len = usize::try_from(self.values.bytes.len()).unwrap_or(usize::MAX);
        let all = Mutex::new(Alike::default());
        par_for_each(Threads::Cores.for_len(len), pairs.chunks(BATCH), |batch| {
            let mut found = Alike::default();
            let (mut own, mut images) = (Vec::new(), Vec::new());
            for tile in batch {
                let seen = own_dims.iter().filter_map(|dim| tile.get(*dim).copied());
                let seen: Vec<Slice> = seen.collect();
                let len = box_len(&seen, self.dtype.width())?;
                for (cells, buffer) in [(&own_cells, &mut own), (&image_cells, &mut images)] {
                    memory::resize(buffer, len)?;
                    cells.read_box(&seen, to_u64(len), Threads::Exactly(1), buffer)?;
                }
                if operation.apply_all(self.dtype, &mut images).is_ok() && own == images {
                    found.largest = largest(self.dtype, &own).max(found.largest);
                    continue;
                }
                let image = tiles.image(tile);
                if tiles.is_mutual() && image != *tile {
                    found.others.push(image);
                }
                found.others.push(tile.clone());
            }
            let stopped = |_| Error::invalid("another thread stopped halfway");
            let mut all = all.lock().map_err(stopped)?;
            all.largest = found.largest.max(all.largest);
            all.others.append(&mut found.others);
            Ok(())
        })?;
        let mut all = all.into_inner().unwrap_or_default();
        all.others
            .sort_by_cached_key(|tile| tile.iter().map(|slice| slice.start).collect::<Vec<_>>());
        Ok(all)
    }

    /// The values of a box, row-major, little-endian.
    pub(crate) fn read(&self, slices: &[Slice]) -> Result<Vec<u8>> {
        let axes: Vec<usize> = (0..self.sizes.len()).collect();
        let mut out = memory::zeros(box_len(slices, self.dtype.width())?)?;
        self.seen(&axes)
            .read_box(slices, to_u64(out.len()), Threads::Cores, &mut out)?;
        Ok(out)
    }

    /// Compares the cells of a box one by one.
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
        let images = self.read(&image_slices)?;
        let mut index: Vec<u64> = slices.iter().map(|slice| slice.start).collect();
        let counts: Vec<u64> = slices.iter().map(|slice| slice.count).collect();
        let own_strides = read_box::strides(&counts, Order::Row);
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
                    // An integer without a negative counts as infinitely far from its image.
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
        let at = to_usize(place)?.saturating_mul(width);
        let element = bytes.get(at..).and_then(|rest| rest.get(..width));
        Ok(element.unwrap_or_default())
    }
}

/// The largest magnitude of finite numbers.
fn largest(dtype: DType, bytes: &[u8]) -> f64 {
    const PIECE: usize = 1 << 10;
    /// Number of maxima computed side by side, so that the loop is vectorized.
    const LANES: usize = 8;
    let mut doubles = Vec::with_capacity(PIECE);
    let mut most = [0.0_f64; LANES];
    for piece in bytes.chunks(PIECE.saturating_mul(dtype.number.width())) {
        dtype.number.to_doubles(piece, &mut doubles);
        for doubles in doubles.chunks(LANES) {
            for (most, double) in most.iter_mut().zip(doubles) {
                let size = double.abs();
                let is_more = size > *most && size < f64::INFINITY;
                *most = if is_more { size } else { *most };
            }
        }
    }
    most.into_iter().fold(0.0, f64::max)
}

/// Whether unpacking gives a cell other bits than it has.
fn changes(is_own: bool, operation: Operation, element: &[u8], image: &[u8]) -> bool {
    if !is_own {
        return element != image;
    }
    // A cell that is its own image is stored unchanged, or left out where only zero is possible.
    operation.is_minus() && element.iter().any(|byte| *byte != 0)
}

/// The stride of each dimension of a tile in its image.
pub(crate) fn image_strides(permutation: &[usize], image_slices: &[Slice]) -> Vec<u64> {
    let counts: Vec<u64> = image_slices.iter().map(|slice| slice.count).collect();
    let mut strides = vec![0; counts.len()];
    for (place, stride) in permutation
        .iter()
        .zip(read_box::strides(&counts, Order::Row))
    {
        if let Some(own) = strides.get_mut(*place) {
            *own = stride;
        }
    }
    strides
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::{Bytes, Endian};
    use crate::dtype::{Arity, Number};
    use crate::tensor::symmetry::group::Group;
    use crate::tensor::{Dim, Symmetry};

    /// A tensor that has a symmetry except for the cells `off`.
    fn nearly(sizes: &[u64], dtype: DType, symmetry: &Symmetry, off: &[usize]) -> Vec<u8> {
        let claims = std::slice::from_ref(symmetry);
        let limits = Limits::default();
        let group = Group::generate(sizes, dtype, claims, |_| true, &limits).unwrap();
        let mut index = vec![0; sizes.len()];
        let mut bytes = Vec::new();
        for cell in 0..sizes.iter().product() {
            let origin = group.origin(&index);
            let at = u8::try_from(origin.index % 120).unwrap();
            let mut element = vec![0; dtype.width()];
            for number in element.chunks_exact_mut(dtype.number.width()) {
                let mut spelled = Vec::new();
                let double = f64::from(at).to_le_bytes();
                crate::dtype::convert(Number::F64, dtype.number, &double, &mut spelled);
                number.copy_from_slice(&spelled);
            }
            origin.operation.apply(dtype, &mut element).unwrap();
            if off.contains(&usize::try_from(cell).unwrap()) {
                element[0] ^= 1;
            }
            bytes.extend(element);
            advance(&mut index, sizes);
        }
        bytes
    }

    #[test]
    fn tiles_that_are_alike_need_not_be_looked_at_cell_by_cell() {
        let cases: [(&[u64], &[usize]); 6] = [
            (&[7, 7], &[1, 0]),
            (&[4, 3, 4, 3], &[2, 3, 0, 1]),
            (&[3, 5, 3], &[2, 1, 0]),
            (&[4, 4, 4], &[1, 2, 0]),
            (&[3, 3, 3, 3], &[1, 2, 3, 0]),
            (&[3, 0, 3], &[2, 1, 0]),
        ];
        let dtypes = [
            DType::real(Number::F64),
            DType::complex(Number::F32),
            DType {
                number: Number::I8,
                arity: Arity::Quaternion,
            },
        ];
        let (mut n_alike, mut n_others) = (0, 0);
        for (sizes, permutation) in cases {
            for (dtype, code) in { dtypes }
                .into_iter()
                .flat_map(|dtype| ["x", "-x", "x*", "-x*"].map(|code| (dtype, code)))
            {
                let symmetry = Symmetry {
                    permutation: permutation.to_vec(),
                    operation: code.into(),
                    packed: false,
                };
                let operation = symmetry.operation_on(dtype).unwrap();
                for (order, off) in [
                    (Order::Column, &[][..]),
                    (Order::Column, &[5]),
                    (Order::Row, &[1, 30]),
                ] {
                    let values = Numbers {
                        number: dtype.number,
                        endian: Endian::Little,
                        bytes: Bytes::memory(nearly(sizes, dtype, &symmetry, off)),
                    };
                    let dims = sizes.iter().map(|size| Dim::indexed(*size)).collect();
                    let storage = Storage::Dense { order, values };
                    let tensor = Tensor::new(dims, dtype, vec![], storage).unwrap();
                    let cells = Cells::of(&tensor, &Limits::default()).unwrap();
                    let whole: Vec<Slice> = sizes.iter().map(|size| Slice::all(*size)).collect();
                    let mut wanted = [Deviation::default()];
                    if !sizes.contains(&0) {
                        let operations = &[operation];
                        cells
                            .compare(permutation, operations, &whole, &mut wanted)
                            .unwrap();
                    }
                    for len in [1, 60, 200, 1 << 20] {
                        let tiles = cells.tiles_of(permutation, len);
                        let alike = cells.alike(&tiles, operation).unwrap();
                        let mut found = [Deviation {
                            largest: alike.largest,
                            ..Deviation::default()
                        }];
                        n_alike += usize::from(alike.others.is_empty());
                        n_others += alike.others.len();
                        for tile in &alike.others {
                            cells
                                .compare(permutation, &[operation], tile, &mut found)
                                .unwrap();
                        }
                        let words = format!("{sizes:?} {permutation:?} {code} {dtype} {len}");
                        let bits = |found: &[Deviation; 1]| {
                            let [
                                Deviation {
                                    apart,
                                    largest,
                                    has_other_bits,
                                    ..
                                },
                            ] = found;
                            (apart.to_bits(), largest.to_bits(), *has_other_bits)
                        };
                        assert_eq!(bits(&found), bits(&wanted), "{words}");
                    }
                }
            }
        }
        assert!(n_alike > 50 && n_others > 50, "{n_alike} {n_others}");
    }
}
