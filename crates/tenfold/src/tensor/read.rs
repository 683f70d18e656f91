//! Reading the values of a tensor: all, a box, or cell by cell.

use super::dense::transpose::{Stored, View};
use super::index::slice::box_len;
use super::storage::{Address, Order, Storage};
use super::symmetry::unpack::Packed;
use super::train::{Train, read_train_box};
use super::{Slice, Tensor, not_understood, product};
use crate::bytes::{Bytes, Endian, Extent, PIECE, to_u64};
use crate::dtype::{Element, Number, Numbers};
use crate::error::{Error, Result};
use crate::io::{Source, Threads};
use crate::limits::Limits;
use crate::memory;

/// One explicit cell of a sparse tensor, or one labelled block.
#[derive(Debug)]
pub enum Cell<'a> {
    /// A cell at a position.
    At {
        /// Its index in each dimension.
        index: &'a [u64],
        /// Its value, little-endian.
        value: &'a [u8],
    },
    /// A block under labels.
    Labelled {
        /// One label per mapped dimension.
        labels: &'a [String],
        /// The values of the block, row-major.
        values: Numbers,
    },
}

impl Tensor {
    /// All logical values in row-major order, read as `T`: unpacked, with zeros for the absent
    /// cells of a sparse tensor.
    ///
    /// # Errors
    /// [`Error::Invalid`] if `T` is another element type or a dimension is mapped, [`Error::Limit`]
    /// if unpacking would exceed the default limit.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        self.expect::<T>()?;
        let mut values = Vec::new();
        self.for_each(PIECE, &Limits::default(), &mut |piece| {
            values.extend(piece.chunks_exact(T::DTYPE.width()).map(T::from_le));
            Ok(())
        })?;
        Ok(values)
    }

    fn expect<T: Element>(&self) -> Result<()> {
        if self.dtype() == T::DTYPE {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "a tensor of {} cannot be read as {}",
            self.dtype(),
            T::DTYPE
        )))
    }

    /// Hands out all logical values in row-major order as little-endian bytes, in pieces of at most
    /// about `budget` bytes that hold whole elements.
    ///
    /// # Errors
    /// [`Error::Limit`] if the values would exceed `limits`, and errors of reading.
    pub fn for_each(
        &self,
        budget: usize,
        limits: &Limits,
        each: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let values = self.dense(Order::Row, limits)?;
        values.for_each(Endian::Little, self.dtype().width(), budget, each)
    }

    /// Fills `out` with all logical values in `order`, as little-endian bytes, on all cores.
    ///
    /// ```
    /// use tenfold::{Dim, Limits, Numbers, Order, Storage, Tensor};
    ///
    /// let values = Numbers::from_vec(&[1_u8, 2, 3, 4, 5, 6]);
    /// let storage = Storage::Dense { order: Order::Column, values };
    /// let dims = vec![Dim::indexed(2), Dim::indexed(3)];
    /// let tensor = Tensor::new(dims, "u8".parse()?, vec![], storage)?;
    /// let mut out = [0; 6];
    /// tensor.read_into(Order::Row, &Limits::default(), &mut out)?;
    /// assert_eq!(out, [1, 3, 5, 2, 4, 6]);
    /// # Ok::<(), tenfold::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Tensor::dense`], and [`Error::Invalid`] if `out` has another length.
    pub fn read_into(&self, order: Order, limits: &Limits, out: &mut [u8]) -> Result<()> {
        self.dense(order, limits)?.read_into(out)
    }

    /// All logical values as a lazy array in `order`: the stored ones, if they are in that order
    /// already.
    ///
    /// # Errors
    /// [`Error::Invalid`] for labelled and opaque tensors, [`Error::Limit`] if the values would
    /// exceed `limits`.
    pub fn dense(&self, order: Order, limits: &Limits) -> Result<Numbers> {
        let sizes = self.sizes()?;
        let (values, is_packed) = match self.storage() {
            Storage::Dense { values, order: own } => {
                let is_line = sizes.iter().filter(|size| **size != 1).count() < 2;
                if !self.is_packed() && (*own == order || is_line || values.is_empty()) {
                    return Ok(values.clone());
                }
                (values, self.is_packed())
            }
            Storage::Sparse { values, .. } => (values, true),
            Storage::Train { cores, .. } => match cores.first() {
                Some(core) => (core, true),
                None => return Err(Error::invalid("a train without cores")),
            },
            Storage::Opaque { layout, .. } => {
                return Err(Error::invalid(not_understood(layout)));
            }
        };
        let len = product(&sizes)
            .and_then(|cells| cells.checked_mul(to_u64(self.dtype().width()).into()))
            .unwrap_or(u128::MAX);
        if is_packed {
            limits.check_decoded("a tensor would be expanded to all its cells", len)?;
        }
        let len =
            u64::try_from(len).map_err(|_| Error::invalid("more cells than can be counted"))?;
        let mut axes: Vec<usize> = (0..sizes.len()).collect();
        if order == Order::Column {
            axes.reverse();
        }
        self.view(values.number, axes, len, limits)
    }

    /// All logical values with the dimensions in another order, the last varying fastest.
    pub(crate) fn permuted(&self, axes: &[usize], limits: &Limits) -> Result<Numbers> {
        let values = self.dense(Order::Row, limits)?;
        self.view(values.number, axes.to_vec(), values.bytes.len(), limits)
    }

    /// The values of a box as a lazy array, row-major and little-endian; the slices must be in
    /// bounds.
    pub(super) fn boxed(&self, slices: &[Slice], limits: &Limits) -> Result<Numbers> {
        let len = to_u64(box_len(slices, self.dtype().width())?);
        limits.check_decoded("a slice would be expanded to all its cells", len)?;
        let axes = (0..slices.len()).collect();
        self.view_of(slices.to_vec(), self.dtype().number, axes, len, limits)
    }

    fn view(&self, number: Number, axes: Vec<usize>, len: u64, limits: &Limits) -> Result<Numbers> {
        let whole = self.sizes()?.into_iter().map(Slice::all).collect();
        self.view_of(whole, number, axes, len, limits)
    }

    fn view_of(
        &self,
        window: Vec<Slice>,
        number: Number,
        axes: Vec<usize>,
        len: u64,
        limits: &Limits,
    ) -> Result<Numbers> {
        let view = View::new(self, window, axes, len, limits, Threads::Cores)?;
        Ok(Numbers {
            number,
            endian: Endian::Little,
            bytes: Bytes::whole(Source::computed(view)),
        })
    }

    /// The same tensor with random access to all its values, so that reading several boxes
    /// decompresses them once.
    ///
    /// # Errors
    /// As [`Bytes::settled`].
    pub fn settled(&self, limits: &Limits) -> Result<Tensor> {
        self.with_parts(|bytes| bytes.settled(limits))
    }

    /// The same tensor for reading a few boxes: of compressed values only the frames around a read
    /// are decoded, if they can be found, and a checksum over all of them is not verified.
    ///
    /// # Errors
    /// As [`Bytes::settled`].
    pub fn at_hand(&self, limits: &Limits) -> Result<Tensor> {
        self.with_parts(|bytes| bytes.at_hand(limits))
    }

    fn with_parts(&self, change: impl Fn(&Bytes) -> Result<Bytes>) -> Result<Tensor> {
        let mut tensor = self.clone();
        let parts = match &mut tensor.storage {
            Storage::Dense { values, .. } => std::slice::from_mut(values),
            Storage::Train { cores, .. } => cores.as_mut_slice(),
            Storage::Sparse { .. } | Storage::Opaque { .. } => &mut [],
        };
        for part in parts {
            part.bytes = change(&part.bytes)?;
        }
        Ok(tensor)
    }

    /// The values of a box in row-major order, read as `T`. Only that part of the file is read, and
    /// no checksum is verified, as it would need the rest.
    ///
    /// # Errors
    /// [`Error::Invalid`] if `T` is another element type, or the slices do not fit.
    pub fn read_box<T: Element>(&self, slices: &[Slice], limits: &Limits) -> Result<Vec<T>> {
        self.expect::<T>()?;
        let bytes = self.read_box_bytes(slices, limits)?;
        Ok(bytes
            .chunks_exact(T::DTYPE.width())
            .map(T::from_le)
            .collect())
    }

    /// The values of a box in row-major order, as little-endian bytes.
    ///
    /// # Errors
    /// As [`Tensor::read_box`].
    pub fn read_box_bytes(&self, slices: &[Slice], limits: &Limits) -> Result<Vec<u8>> {
        let sizes = self.sizes()?;
        if slices.len() != sizes.len() {
            let why = format!("{} slices for {} dimensions", slices.len(), sizes.len());
            return Err(Error::invalid(why));
        }
        for (slice, size) in slices.iter().zip(&sizes) {
            slice.check(*size)?;
        }
        let len = box_len(slices, self.dtype().width())?;
        limits.check_decoded("the slice would be read into memory", to_u64(len))?;
        let mut out = memory::zeros(len)?;
        self.at_hand(limits)?
            .fill_box(&sizes, slices, limits, &mut out)?;
        Ok(out)
    }

    /// One cell of the tensor: for a train, without expanding it.
    ///
    /// # Errors
    /// As [`Tensor::read_box`].
    pub fn cell<T: Element>(&self, index: &[u64], limits: &Limits) -> Result<T> {
        let slices: Vec<Slice> = index.iter().map(|place| Slice::one(*place)).collect();
        let cell = self.read_box::<T>(&slices, limits)?;
        cell.first()
            .copied()
            .ok_or_else(|| Error::invalid("no such cell"))
    }

    /// Fills `out` with a box of a packed dense tensor, its dimensions in the order `axes`; false
    /// if the tensor is of another kind, or there is no fast path.
    pub(super) fn fill_packed(
        &self,
        slices: &[Slice],
        axes: &[usize],
        limits: &Limits,
        out: &mut [u8],
    ) -> Result<bool> {
        let is_filled = self.with_packed(limits, |packed| packed.read_seen(slices, axes, out))?;
        Ok(is_filled.unwrap_or(false))
    }

    /// Calls a closure with the values of a packed dense tensor; `None` for any other tensor.
    fn with_packed<T>(
        &self,
        limits: &Limits,
        work: impl FnOnce(&Packed) -> Result<T>,
    ) -> Result<Option<T>> {
        match self.storage() {
            Storage::Dense { values, .. } if self.is_packed() => work(&Packed {
                sizes: &self.sizes()?,
                dtype: self.dtype(),
                group: &self.packed_group(limits)?,
                values,
                spare: limits.memory / 2,
            })
            .map(Some),
            _ => Ok(None),
        }
    }

    /// Fills `out` with a box; the slices must be in bounds.
    pub(super) fn fill_box(
        &self,
        sizes: &[u64],
        slices: &[Slice],
        limits: &Limits,
        out: &mut [u8],
    ) -> Result<()> {
        let dtype = self.dtype();
        match self.storage() {
            Storage::Dense { .. } if self.is_packed() => {
                self.with_packed(limits, |packed| packed.read_box(slices, out))?;
                Ok(())
            }
            Storage::Dense { order, values } => {
                let axes: Vec<usize> = (0..sizes.len()).collect();
                Stored::new(values, dtype, sizes, *order, &axes).read_box(
                    slices,
                    limits.memory / 2,
                    Threads::Cores,
                    out,
                )
            }
            Storage::Sparse { .. } => match self.sparse(sizes, limits)? {
                Some(sparse) => sparse.read_box(&self.packed_group(limits)?, slices, out),
                None => Ok(()),
            },
            Storage::Train { ranks, cores } => read_train_box(
                &Train {
                    sizes,
                    ranks,
                    cores,
                    limits,
                },
                dtype,
                slices,
                out,
            ),
            Storage::Opaque { layout, .. } => Err(Error::invalid(format!(
                "the layout {layout} is not understood"
            ))),
        }
    }

    /// Calls `each` with every explicit cell of a sparse tensor, or every labelled block, in file
    /// order. With packed symmetries, the images of a stored cell follow it, in ascending order.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the tensor is not sparse, and errors of reading.
    pub fn for_each_cell(
        &self,
        limits: &Limits,
        each: &mut dyn FnMut(Cell) -> Result<()>,
    ) -> Result<()> {
        if let Storage::Sparse {
            address: Address::Labels,
            values,
            ..
        } = self.storage()
        {
            return self.for_each_block(values, each);
        }
        let sizes = self.sizes()?;
        let sparse = self
            .sparse(&sizes, limits)?
            .ok_or_else(|| Error::invalid("the tensor is not sparse"))?;
        let group = self.packed_group(limits)?;
        sparse.for_each_image(&group, &mut |index, value| each(Cell::At { index, value }))
    }

    fn for_each_block(
        &self,
        values: &Numbers,
        each: &mut dyn FnMut(Cell) -> Result<()>,
    ) -> Result<()> {
        /// Blocks up to this size are read along with their labels; larger ones stay in the file.
        const SMALL: u64 = 1 << 20;
        let Extent::Records(records) = values.bytes.extent() else {
            return Err(Error::invalid("labelled values without labels"));
        };
        let source = values.bytes.source();
        records.for_each(source, &mut |_, labels, scan| {
            let bytes = if records.width() <= SMALL {
                Bytes::memory(scan.take(records.width())?)
            } else {
                Bytes::run(source, scan.at()..scan.at().saturating_add(records.width()))?
            };
            let values = Numbers {
                bytes,
                ..values.clone()
            };
            each(Cell::Labelled { labels, values })
        })
    }
}
