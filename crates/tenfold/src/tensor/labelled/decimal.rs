//! Sparse cells as blocks with decimal positions for labels, and back, in memory for the stored
//! cells alone.

use super::labels::Places;
use crate::bytes::{Bytes, Endian, Extent, PIECE, Records, RecordsBuilder, to_u64};
use crate::dtype::{Number, Numbers};
use crate::error::{Error, Result};
use crate::io::Spool;
use crate::limits::Limits;
use crate::tensor::Tensor;
use crate::tensor::dim::{Dim, Size};
use crate::tensor::index::slice::unravel_in;
use crate::tensor::storage::{Address, Order, Storage};

/// The numbering of labels: the position that a label corresponds to.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Numbering<'a> {
    /// Labels are numbered along each dimension in the order of first appearance.
    FirstSeen,
    /// A label is its position in decimal digits. The sizes of all dimensions are given; if not,
    /// the mapped ones extend to their greatest label.
    Decimal(Option<&'a [u64]>),
}

/// The hint that tells the sizes of which labels are positions.
const SIZES: &str = "sizes of positions";

impl Tensor {
    /// The sizes that a tensor had before positions became labels, such as `4x5`.
    pub(crate) fn label_sizes(&self) -> Option<&str> {
        self.hints.text(SIZES)
    }

    /// The same tensor with these sizes of another, whose dimensions `axes` are its own.
    pub(crate) fn with_label_sizes_of(mut self, other: &Tensor, axes: &[usize]) -> Tensor {
        if let Some(sizes) = other.label_sizes() {
            let sizes: Vec<&str> = sizes.split('x').collect();
            let sizes: Vec<&str> = { axes.iter() }
                .filter_map(|axis| sizes.get(*axis).copied())
                .collect();
            self.hints.set(SIZES, sizes.join("x").as_str());
        }
        self
    }

    /// A sparse tensor as labelled blocks of one cell each, with the positions in decimal digits as
    /// labels. Cells that a packed symmetry leaves out are included; symmetries are dropped.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the cells have no positions, or duplicate ones; [`Error::Limit`] if
    /// there are too many.
    pub(crate) fn positions_to_labels(&self, limits: &Limits) -> Result<Tensor> {
        let sizes = self.sizes()?;
        let sparse = self.sparse(&sizes, limits)?;
        let sparse = sparse.ok_or_else(|| Error::invalid("the tensor is not sparse"))?;
        let mut made = RecordsBuilder::new(sizes.len(), self.dtype().width());
        sparse.for_each_image(&self.packed_group(limits)?, &mut |index, value| {
            let labels: Vec<String> = index.iter().map(u64::to_string).collect();
            made.begin(&labels)?;
            limits.check_labels(made.count())?;
            made.cells(value)
        })?;
        let storage = Storage::Sparse {
            order: Order::Row,
            address: Address::Labels,
            values: Numbers {
                number: self.dtype().number,
                endian: Endian::Little,
                bytes: made.finish()?,
            },
        };
        let mut dims = self.dims().to_vec();
        for dim in &mut dims {
            dim.size = Size::Mapped;
        }
        let labelled = Tensor::within(dims, self.dtype(), vec![], storage, limits)?;
        let mut labelled = labelled.with_meta_of(self);
        let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
        labelled.hints.set(SIZES, sizes.join("x").as_str());
        Ok(labelled)
    }

    /// A labelled tensor as a sparse one with the cells of all blocks.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the tensor has no labels, or a label is no position; [`Error::Limit`]
    /// if labels take too much memory.
    pub(crate) fn labels_to_positions(
        &self,
        numbering: Numbering,
        limits: &Limits,
    ) -> Result<Tensor> {
        let (order, values, records) = self.labelled_records()?;
        let mut axes = self.axes_for(numbering)?;
        let inner = self.indexed_sizes();
        let mut cells = Listing::new(self.dims(), inner, order, limits);
        let mut done = 0_u64;
        records.for_each(values.bytes.source(), &mut |_, labels, scan| {
            let block = positions(&mut axes, labels, &mut done, limits)?;
            cells.addresses(&block, records.width() / to_u64(self.dtype().width()))?;
            scan.pieces(records.width(), PIECE, &mut |piece| {
                cells.values.write(piece)
            })
        })?;
        let mut sizes = axes.iter().map(Axis::size);
        let mut dims = self.dims().to_vec();
        for dim in dims.iter_mut().filter(|dim| dim.size == Size::Mapped) {
            dim.size = Size::Indexed(sizes.next().unwrap_or(0));
        }
        let storage = cells.finish(values)?;
        let sparse = Tensor::within(dims, self.dtype(), vec![], storage, limits)?;
        Ok(sparse.with_meta_of(self))
    }

    /// The number of distinct labels of each mapped dimension.
    ///
    /// # Errors
    /// As [`Tensor::labels_to_positions`].
    pub(crate) fn label_counts(&self, limits: &Limits) -> Result<Vec<u64>> {
        let (_, values, records) = self.labelled_records()?;
        let mut axes = self.axes_for(Numbering::FirstSeen)?;
        let mut done = 0_u64;
        records.for_each(values.bytes.source(), &mut |_, labels, _| {
            positions(&mut axes, labels, &mut done, limits).map(drop)
        })?;
        Ok(axes.iter().map(Axis::size).collect())
    }

    fn labelled_records(&self) -> Result<(Order, &Numbers, &Records)> {
        let labelled = self.labelled();
        let (order, values) = labelled.ok_or_else(|| Error::invalid("the tensor has no labels"))?;
        match values.bytes.extent() {
            Extent::Records(records) => Ok((order, values, records)),
            Extent::Run(_) | Extent::Strided(_) => {
                Err(Error::invalid("labelled values without labels"))
            }
        }
    }

    /// The mapped dimensions, before any label was seen.
    fn axes_for(&self, numbering: Numbering) -> Result<Vec<Axis>> {
        let ndim = self.dims().len();
        if let Numbering::Decimal(Some(sizes)) = numbering {
            let own = self.dims().iter().map(Dim::indexed_size);
            let mut both = own.zip(sizes);
            if sizes.len() != ndim || both.any(|(own, size)| own.is_some_and(|own| own != *size)) {
                let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
                let shape = sizes.join("x");
                return Err(Error::invalid(format!(
                    "the shape {shape} does not fit the {ndim} dimensions, of which {} have labels",
                    self.n_mapped()
                )));
            }
        }
        let axis = |(place, dim): (usize, &Dim)| Axis {
            name: dim.name.clone().unwrap_or_else(|| place.to_string()),
            places: matches!(numbering, Numbering::FirstSeen).then(Places::default),
            given: match numbering {
                Numbering::Decimal(Some(sizes)) => sizes.get(place).copied(),
                Numbering::Decimal(None) | Numbering::FirstSeen => None,
            },
            reach: 0,
        };
        let dims = self.dims().iter().enumerate();
        let mapped = dims.filter(|(_, dim)| dim.size == Size::Mapped);
        Ok(mapped.map(axis).collect())
    }
}

/// Number of blocks between checks of the memory that labels take.
const OFTEN: u64 = 4096;

/// The positions of a block, after `done` others.
fn positions(
    axes: &mut [Axis],
    labels: &[String],
    done: &mut u64,
    limits: &Limits,
) -> Result<Vec<u64>> {
    if done.is_multiple_of(OFTEN) {
        let held = axes.iter().filter_map(|axis| axis.places.as_ref());
        let held = held.fold(0, |sum: u64, places| sum.saturating_add(places.held()));
        let why = "the labels of all blocks are held in memory to give them positions";
        limits.check_memory(why, held)?;
    }
    *done = done.saturating_add(1);
    let both = axes.iter_mut().zip(labels);
    both.map(|(axis, label)| axis.position(label)).collect()
}

/// A mapped dimension whose labels become positions.
struct Axis {
    name: String,
    /// The labels seen so far, if they are numbered.
    places: Option<Places>,
    given: Option<u64>,
    /// One more than the greatest position.
    reach: u64,
}

impl Axis {
    fn position(&mut self, label: &str) -> Result<u64> {
        let position = match &mut self.places {
            Some(places) => to_u64(places.of(label)),
            None => decimal(label).ok_or_else(|| {
                let name = &self.name;
                let why = format!("the label {label:?} of {name} is no position in decimal digits");
                Error::invalid(why)
            })?,
        };
        if let Some(size) = self.given.filter(|size| position >= *size) {
            let name = &self.name;
            let why = format!("the label {label:?} of {name} is no position below {size}");
            return Err(Error::invalid(why));
        }
        self.reach = self.reach.max(position.saturating_add(1));
        Ok(position)
    }

    fn size(&self) -> u64 {
        self.given.unwrap_or(self.reach)
    }
}

/// The value of a decimal number; `None` if it is not in canonical form.
fn decimal(label: &str) -> Option<u64> {
    let position: u64 = label.parse().ok()?;
    (position < u64::MAX && position.to_string() == label).then_some(position)
}

/// The cells of blocks in order: a column of coordinates for each dimension, and the values.
struct Listing {
    /// Whether each dimension is mapped.
    is_mapped: Vec<bool>,
    /// The sizes of the others, and the order of a block's cells.
    inner: Vec<u64>,
    order: Order,
    columns: Vec<Spool>,
    values: Spool,
}

impl Listing {
    fn new(dims: &[Dim], inner: Vec<u64>, order: Order, limits: &Limits) -> Listing {
        Listing {
            is_mapped: dims.iter().map(|dim| dim.size == Size::Mapped).collect(),
            inner,
            order,
            columns: dims.iter().map(|_| Spool::within(limits)).collect(),
            values: Spool::within(limits),
        }
    }

    /// Adds the coordinates of all cells of a block at these positions.
    fn addresses(&mut self, block: &[u64], n_cells: u64) -> Result<()> {
        let mut index = vec![0; self.inner.len()];
        for cell in 0..n_cells {
            unravel_in(cell, &self.inner, self.order, &mut index);
            let (mut outer, mut inner) = (block.iter(), index.iter());
            for (column, is_mapped) in self.columns.iter_mut().zip(&self.is_mapped) {
                let next = if *is_mapped {
                    outer.next()
                } else {
                    inner.next()
                };
                column.write(&next.copied().unwrap_or(0).to_le_bytes())?;
            }
        }
        Ok(())
    }

    fn finish(self, stored: &Numbers) -> Result<Storage> {
        let column = |spool: Spool| -> Result<Numbers> {
            Ok(Numbers {
                number: Number::U64,
                endian: Endian::Little,
                bytes: Bytes::whole(spool.finish()?),
            })
        };
        let columns: Result<Vec<Numbers>> = self.columns.into_iter().map(column).collect();
        Ok(Storage::Sparse {
            order: Order::Row,
            address: Address::Coordinates(columns?),
            values: Numbers {
                bytes: Bytes::whole(self.values.finish()?),
                ..stored.clone()
            },
        })
    }
}
