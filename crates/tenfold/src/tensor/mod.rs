//! One tensor: dimensions, storage, and the only constructor. The fourth step of the ladder.
//!
//! A [`Tensor`] has dimensions, an element type, symmetries, and a storage of values. Its one
//! constructor checks that all of these fit each other, so that users of a tensor need not check
//! again.

mod axes;
mod cast;
mod components;
mod constraint;
mod dense;
mod dequantize;
mod dim;
mod index;
mod labelled;
mod read;
mod sign_bits;
mod sparse;
mod storage;
mod symmetry;
mod train;
mod verify;

pub use cast::CastChanges;
use cast::CastRecord;
pub(crate) use constraint::Constraint;
pub(crate) use dense::read_box::strides;
pub(crate) use dense::strided::Strides;
pub(crate) use dequantize::{is_quantization, not_understood};
use dim::product_of;
pub use dim::{Dim, Size};
pub(crate) use dim::{Shapes, product};
pub use index::expr::IndexExpr;
pub use index::slice::Slice;
pub(crate) use index::slice::unravel_in;
pub(crate) use labelled::decimal::Numbering;
pub(crate) use labelled::from_indexed::MOST_BLOCKS;
pub use labelled::labels::Labels;
pub(crate) use labelled::labels::Places;
pub use labelled::to_indexed::Placed;
pub use read::Cell;
use sparse::Distinct;
pub use sparse::Duplicates;
pub use sparse::from_dense::Density;
pub(crate) use sparse::sort::SortedCells;
pub use storage::{Address, Order, Storage};
pub(crate) use symmetry::deviation::Deviation;
pub(crate) use symmetry::group::Group;
pub(crate) use symmetry::mean::{Term, mean};
pub(crate) use symmetry::mean_simd::Pairing;
pub use symmetry::orbits::Orbits;
pub use symmetry::pack::{Packing, Tolerance};
pub(crate) use symmetry::signs::Signs;
pub use symmetry::{Operation, Symmetry};
pub(crate) use verify::SYMMETRY_TOLERANCE;

use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::bytes::{Extent, to_u64};
use crate::dtype::{DType, Number, Numbers};
use crate::error::{Error, Result};
use crate::limits::{Limits, Meter};
use crate::meta::Meta;

/// A tensor whose values stay in the file until they are read.
///
/// ```
/// use tenfold::{Dim, Numbers, Order, Storage, Tensor};
///
/// let values = Numbers::from_vec(&[1.0_f64, 2.0, 3.0, 4.0, 5.0, 6.0]);
/// let storage = Storage::Dense { order: Order::Column, values };
/// let tensor = Tensor::new(vec![Dim::indexed(2), Dim::indexed(3)], "f64".parse()?, vec![], storage)?;
/// assert_eq!(tensor.to_vec::<f64>()?, [1.0, 3.0, 5.0, 2.0, 4.0, 6.0]);
/// # Ok::<(), tenfold::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Tensor {
    /// Shared by tensors of a file that have the same dimensions.
    dims: Arc<[Dim]>,
    dtype: DType,
    symmetries: Vec<Symmetry>,
    storage: Storage,
    /// Canonical-form constraints of its format on the values.
    demands: Vec<Constraint>,
    /// The last cast of its values that may have changed some.
    cast: Option<Arc<CastRecord>>,
    /// The outcome of the check for duplicate sparse cells, once values were read.
    distinct: Option<Arc<OnceLock<Distinct>>>,
    /// Counts work on its values.
    meter: Meter,
    /// The metadata of the tensor.
    pub meta: Meta,
    /// Hints for rewriting it in the same format to the same bytes; no part of its meaning.
    pub hints: Meta,
}

impl Tensor {
    /// Approximate memory in bytes of its shape and the list of its parts, without metadata.
    pub(crate) fn weight(&self) -> usize {
        let name = |dim: &Dim| dim.name.as_ref().map_or(0, String::len);
        let dims = self.dims.iter().map(|dim| size_of::<Dim>() + name(dim));
        let symmetries = self.symmetries.iter();
        let symmetries = symmetries
            .map(|symmetry| size_of::<Symmetry>() + size_of_val(symmetry.permutation.as_slice()));
        let n_parts = match &self.storage {
            Storage::Dense { .. } => 0,
            Storage::Sparse { address, .. } => match address {
                Address::Coordinates(columns) => columns.len(),
                Address::Linear(_) | Address::Rows { .. } | Address::Labels => 0,
            },
            Storage::Train { cores, .. } => cores.len(),
            Storage::Opaque { parts, .. } => parts.len(),
        };
        let parts = n_parts.saturating_mul(2 * size_of::<(String, Numbers)>());
        let shape: usize = dims.chain(symmetries).sum();
        shape.saturating_add(parts)
    }

    /// Constructs a tensor, if its parts fit.
    ///
    /// # Errors
    /// [`Error::Invalid`] if they do not: too few values for the sizes, for example.
    pub fn new(
        dims: Vec<Dim>,
        dtype: DType,
        symmetries: Vec<Symmetry>,
        storage: Storage,
    ) -> Result<Tensor> {
        Tensor::within(dims, dtype, symmetries, storage, &Limits::default())
    }

    /// [`Tensor::new`] without symmetries, with dimensions shared by other tensors.
    pub(crate) fn sharing(dims: Arc<[Dim]>, dtype: DType, storage: Storage) -> Result<Tensor> {
        Tensor::checked(dims, dtype, vec![], storage, &Limits::default())
    }

    /// [`Tensor::new`], where packed symmetries may generate as large a group as `limits` allow.
    pub(crate) fn within(
        dims: Vec<Dim>,
        dtype: DType,
        symmetries: Vec<Symmetry>,
        storage: Storage,
        limits: &Limits,
    ) -> Result<Tensor> {
        Tensor::checked(dims.into(), dtype, symmetries, storage, limits)
    }

    fn checked(
        dims: Arc<[Dim]>,
        dtype: DType,
        symmetries: Vec<Symmetry>,
        storage: Storage,
        limits: &Limits,
    ) -> Result<Tensor> {
        let (meta, hints) = (Meta::new(), Meta::new());
        let by_position = matches!(&storage, Storage::Sparse { address, .. } if !matches!(address, Address::Labels));
        let tensor = Tensor {
            dims,
            dtype,
            symmetries,
            storage,
            demands: Vec::new(),
            cast: None,
            distinct: by_position.then(Arc::default),
            meter: Meter::default(),
            meta,
            hints,
        };
        tensor.check_symmetries()?;
        tensor.check_storage(limits)?;
        Ok(tensor)
    }

    /// The same tensor with the metadata, hints and casts of another, from which it was derived.
    #[must_use]
    pub(crate) fn with_meta_of(mut self, other: &Tensor) -> Tensor {
        self.meta.clone_from(&other.meta);
        self.hints.clone_from(&other.hints);
        self.cast.clone_from(&other.cast);
        self.meter.clone_from(&other.meter);
        self
    }

    pub(crate) fn count_each_job(&self) {
        self.meter.count_each_job();
    }

    /// Counts work on its values; `decoded` are the compressed bytes that earlier tensors use, and
    /// `is_shared` says whether reading others counts as well.
    pub(crate) fn count_work(
        &mut self,
        meter: &Meter,
        is_shared: bool,
        decoded: &mut HashSet<Range<u64>>,
    ) {
        self.meter.clone_from(meter);
        for part in self.storage.plain_parts_mut() {
            // A computation counts its own work.
            let is_computed = part.bytes.is_all_computed();
            if is_shared && !part.bytes.is_compressed() && !is_computed {
                part.bytes.count_reading(meter);
                continue;
            }
            if part.bytes.is_compressed()
                && let Extent::Run(run) = part.bytes.extent()
                && !decoded.insert(run.clone())
            {
                part.bytes.count_reading(meter);
            }
        }
    }

    /// The dimensions.
    #[must_use]
    pub fn dims(&self) -> &[Dim] {
        &self.dims
    }

    /// The element type.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The symmetries it declares.
    #[must_use]
    pub fn symmetries(&self) -> &[Symmetry] {
        &self.symmetries
    }

    /// The storage of its values.
    #[must_use]
    pub fn storage(&self) -> &Storage {
        &self.storage
    }

    /// The sizes of all dimensions.
    ///
    /// # Errors
    /// [`Error::Invalid`] if a dimension is mapped.
    pub fn sizes(&self) -> Result<Vec<u64>> {
        self.check_indexed()?;
        Ok(self.indexed_sizes())
    }

    /// Fails if a dimension is mapped.
    fn check_indexed(&self) -> Result<()> {
        if self.dims.iter().all(|dim| dim.size != Size::Mapped) {
            Ok(())
        } else {
            Err(Error::invalid(
                "a mapped dimension has labels, not positions",
            ))
        }
    }

    /// The sizes of the indexed dimensions.
    #[must_use]
    pub fn indexed_sizes(&self) -> Vec<u64> {
        self.dims.iter().filter_map(Dim::indexed_size).collect()
    }

    /// The number of mapped dimensions.
    #[must_use]
    pub fn n_mapped(&self) -> usize {
        self.dims
            .iter()
            .filter(|dim| dim.size == Size::Mapped)
            .count()
    }

    /// The number of cells: for a labelled tensor, those of one block.
    ///
    /// `None` if there are more than 2^128.
    #[must_use]
    pub fn cells(&self) -> Option<u128> {
        product_of(self.dims.iter().filter_map(Dim::indexed_size))
    }

    /// The number of stored elements (or labelled blocks); for a train, the elements of all cores.
    #[must_use]
    pub fn stored(&self) -> u64 {
        match &self.storage {
            Storage::Sparse {
                address: Address::Labels,
                values,
                ..
            } => match values.bytes.extent() {
                Extent::Records(records) => records.count(),
                _ => 0,
            },
            Storage::Dense { values, .. } | Storage::Sparse { values, .. } => {
                values.bytes.len() / to_u64(self.dtype.width())
            }
            Storage::Train { cores, .. } => cores.iter().fold(0, |sum, core| {
                sum.saturating_add(core.bytes.len() / to_u64(self.dtype.width()))
            }),
            Storage::Opaque { .. } => 0,
        }
    }

    /// Whether only one cell of every orbit is stored.
    #[must_use]
    pub fn is_packed(&self) -> bool {
        self.symmetries.iter().any(|symmetry| symmetry.packed)
    }

    pub(crate) fn packed_group(&self, limits: &Limits) -> Result<Group> {
        let sizes = self.sizes()?;
        let group = Group::generate(
            &sizes,
            self.dtype,
            &self.symmetries,
            |symmetry| symmetry.packed,
            limits,
        )?;
        Ok(group.metered(&self.meter))
    }

    fn check_symmetries(&self) -> Result<()> {
        for symmetry in &self.symmetries {
            let sizes = self.sizes()?;
            let mut places = symmetry.permutation.clone();
            places.sort_unstable();
            if places != (0..sizes.len()).collect::<Vec<_>>() {
                let why = format!(
                    "{:?} is no permutation of {} dimensions",
                    symmetry.permutation,
                    sizes.len()
                );
                return Err(Error::invalid(why));
            }
            let moved = symmetry.permutation.iter().map(|place| sizes.get(*place));
            if !moved.eq(sizes.iter().map(Some)) {
                return Err(Error::invalid(
                    "a symmetry exchanges dimensions of different sizes",
                ));
            }
        }
        Ok(())
    }

    fn check_storage(&self, limits: &Limits) -> Result<()> {
        match &self.storage {
            Storage::Dense { order, values } => {
                self.check_number(values)?;
                self.check_indexed()?;
                let stored = match self.symmetries.iter().filter(|sym| sym.packed).count() {
                    0 => self.cells(),
                    1 if *order == Order::Column => {
                        self.packed_group(limits)?.stored().map(u128::from)
                    }
                    1 => return Err(Error::invalid("only column-major tensors are packed")),
                    _ => {
                        let why = "a dense tensor is packed by one symmetry at most";
                        return Err(Error::invalid(why));
                    }
                };
                self.check_len(values, stored)
            }
            Storage::Sparse {
                address, values, ..
            } => self.check_sparse_parts(address, values),
            Storage::Train { ranks, cores } => self.check_train(ranks, cores),
            Storage::Opaque { .. } => Ok(()),
        }
    }

    fn check_number(&self, values: &Numbers) -> Result<()> {
        if values.number == self.dtype.number {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "values are {}, the tensor is {}",
            values.number, self.dtype
        )))
    }

    /// Checks that `values` are exactly `elements` elements.
    fn check_len(&self, values: &Numbers, elements: Option<u128>) -> Result<()> {
        let wanted = elements.and_then(|n| n.checked_mul(to_u64(self.dtype.width()).into()));
        let found = u128::from(values.bytes.len());
        if wanted == Some(found) {
            return Ok(());
        }
        let wanted = wanted.map_or_else(|| "more than 2^128".into(), |wanted| wanted.to_string());
        Err(Error::invalid(format!(
            "{found} bytes of values, the sizes need {wanted}"
        )))
    }

    fn check_sparse_parts(&self, address: &Address, values: &Numbers) -> Result<()> {
        self.check_number(values)?;
        let count = values.bytes.len() / to_u64(self.dtype.width());
        self.check_len(values, Some(count.into()))?;
        let fits = |numbers: &Numbers, wanted: u64| {
            let is_index = matches!(
                numbers.number,
                Number::U8 | Number::U16 | Number::U32 | Number::U64
            );
            is_index && numbers.len() == wanted
        };
        if !matches!(address, Address::Labels)
            && product(&self.sizes()?).is_none_or(|cells| cells > u64::MAX.into())
        {
            return Err(Error::invalid("more cells than an index can count"));
        }
        let is_right = match address {
            Address::Linear(numbers) => fits(numbers, count),
            Address::Coordinates(columns) => {
                columns.len() == self.dims.len() && columns.iter().all(|column| fits(column, count))
            }
            Address::Rows { starts, columns } => match self.sizes()?.as_slice() {
                [rows, _] => fits(starts, rows.saturating_add(1)) && fits(columns, count),
                _ => false,
            },
            Address::Labels => {
                let block = product(&self.indexed_sizes())
                    .and_then(|cells| cells.checked_mul(to_u64(self.dtype.width()).into()));
                match values.bytes.extent() {
                    Extent::Records(records) => {
                        self.n_mapped() > 0
                            && records.n_labels() == self.n_mapped()
                            && block == Some(records.width().into())
                    }
                    _ => false,
                }
            }
        };
        if is_right {
            Ok(())
        } else {
            Err(Error::invalid("addresses do not fit the values"))
        }
    }

    fn check_train(&self, ranks: &[u64], cores: &[Numbers]) -> Result<()> {
        let sizes = self.sizes()?;
        let is_framed = ranks.first() == Some(&1) && ranks.last() == Some(&1);
        if ranks.len() != sizes.len().saturating_add(1) || cores.len() != sizes.len() || !is_framed
        {
            return Err(Error::invalid(
                "a train needs a core a dimension, between ranks of 1",
            ));
        }
        let links = ranks.iter().zip(ranks.iter().skip(1));
        for ((core, size), (rank, next)) in cores.iter().zip(&sizes).zip(links) {
            self.check_number(core)?;
            self.check_len(core, product(&[*rank, *size, *next]))?;
        }
        Ok(())
    }
}
