//! Selection: a part of a tensor, as a tensor.

use super::expr::{IndexExpr, Resolved, taken};
use super::slice::{Slice, box_len, boxes, ravel_in, within};
use crate::bytes::{Bytes, Endian, RecordsBuilder, to_u64, to_usize};
use crate::dtype::{Number, Numbers};
use crate::error::{Error, Result};
use crate::io::{Compute, Source, Spool};
use crate::limits::Limits;
use crate::memory;
use crate::tensor::dense::read_box;
use crate::tensor::dim::Dim;
use crate::tensor::read::Cell;
use crate::tensor::storage::{Address, Order, Storage};
use crate::tensor::train::select::{Link, contracted};
use crate::tensor::{Tensor, not_understood, product};

impl Tensor {
    /// Selects cells by index expressions, as a lazy tensor.
    ///
    /// Dense values stay in the file, and contiguous ones stay one run of it. A train stays a
    /// train: where an index drops a dimension, its core is multiplied into another, and the cells
    /// are computed only if fewer than two dimensions are left. Sparse cells are read once.
    /// Symmetries are dropped, unless everything is selected; so are checksums, which cover the
    /// whole.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the expressions do not fit the dimensions.
    pub fn sliced(&self, picks: &[IndexExpr], limits: &Limits) -> Result<Tensor> {
        let taken = taken(picks, self.dims())?;
        let by_dim = || taken.iter().zip(self.dims());
        if by_dim().all(|(taken, dim)| taken.is_all(dim)) {
            return Ok(self.clone());
        }
        let dims: Vec<Dim> = by_dim()
            .filter(|(taken, _)| taken.stays())
            .map(|(taken, dim)| match taken.slice() {
                Some(slice) => Dim {
                    name: dim.name.clone(),
                    ..Dim::indexed(slice.count)
                },
                None => dim.clone(),
            })
            .collect();
        let storage = self.sliced_storage(&taken, &dims, limits)?;
        let mut sliced = Tensor::within(dims, self.dtype(), vec![], storage, limits)?;
        sliced.meta.clone_from(&self.meta);
        Ok(sliced)
    }

    fn sliced_storage(&self, taken: &[Resolved], dims: &[Dim], limits: &Limits) -> Result<Storage> {
        let slices: Vec<Slice> = taken.iter().filter_map(Resolved::slice).collect();
        let width = self.dtype().width();
        match self.storage() {
            Storage::Dense { order, values } if !self.is_packed() => Ok(Storage::Dense {
                order: *order,
                values: cut(values, width, &self.sizes()?, *order, &slices, limits)?,
            }),
            // A line or a single cell of a train is small: it is computed on reading.
            Storage::Train { ranks, cores }
                if dims.len() > 1 || taken.iter().all(Resolved::stays) =>
            {
                self.sliced_train(ranks, cores, taken, &slices, limits)
            }
            Storage::Sparse {
                order,
                address: Address::Labels,
                values,
            } => self.sliced_blocks(*order, values, taken, &slices, limits),
            Storage::Sparse { order, values, .. } if !dims.is_empty() => {
                self.sliced_cells(*order, values.number, taken, &slices, limits)
            }
            Storage::Dense { .. } | Storage::Sparse { .. } | Storage::Train { .. } => {
                Ok(Storage::Dense {
                    order: Order::Row,
                    values: self.boxed(&slices, limits)?,
                })
            }
            Storage::Opaque { layout, .. } => Err(Error::invalid(not_understood(layout))),
        }
    }

    /// The selected slices of every core; cores of dropped dimensions are multiplied into others.
    fn sliced_train(
        &self,
        ranks: &[u64],
        cores: &[Numbers],
        taken: &[Resolved],
        slices: &[Slice],
        limits: &Limits,
    ) -> Result<Storage> {
        let (sizes, width) = (self.sizes()?, self.dtype().width());
        let bonds = ranks.iter().zip(ranks.iter().skip(1));
        let parts = cores.iter().zip(&sizes).zip(slices).zip(taken).zip(bonds);
        let links = parts.map(|((((core, size), slice), taken), (rank, next))| {
            let slices = [Slice::all(*rank), *slice, Slice::all(*next)];
            let sizes = [*rank, *size, *next];
            Ok(Link {
                core: cut(core, width, &sizes, Order::Row, &slices, limits)?,
                shape: [*rank, slice.count, *next],
                stays: taken.stays(),
            })
        });
        let links: Vec<Link> = links.collect::<Result<_>>()?;
        if links.iter().all(|link| link.stays) {
            return Ok(Storage::Train {
                ranks: ranks.to_vec(),
                cores: links.into_iter().map(|link| link.core).collect(),
            });
        }
        contracted(&links, self.dtype(), limits)
    }

    /// The explicit cells inside a box, stored with their new positions.
    fn sliced_cells(
        &self,
        order: Order,
        number: Number,
        taken: &[Resolved],
        slices: &[Slice],
        limits: &Limits,
    ) -> Result<Storage> {
        let stays: Vec<bool> = taken.iter().map(Resolved::stays).collect();
        let kept = |items: &[u64]| -> Vec<u64> {
            let pairs = items.iter().zip(&stays);
            pairs
                .filter(|(_, stays)| **stays)
                .map(|(item, _)| *item)
                .collect()
        };
        let counts: Vec<u64> = slices.iter().map(|slice| slice.count).collect();
        let sizes = kept(&counts);
        let (mut places, mut values) = (Spool::new(), Spool::new());
        self.for_each_cell(limits, &mut |cell| {
            let Cell::At { index, value } = cell else {
                return Ok(());
            };
            let items = slices
                .iter()
                .zip(index)
                .map(|(slice, place)| slice.item(*place));
            let Some(items) = items.collect::<Option<Vec<u64>>>() else {
                return Ok(());
            };
            places.write(&ravel_in(&kept(&items), &sizes, order).to_le_bytes())?;
            values.write(value)
        })?;
        let numbers = |number, spool: Spool| {
            Ok::<_, Error>(Numbers {
                number,
                endian: Endian::Little,
                bytes: Bytes::whole(spool.finish()?),
            })
        };
        Ok(Storage::Sparse {
            order,
            address: Address::Linear(numbers(Number::U64, places)?),
            values: numbers(number, values)?,
        })
    }

    /// The blocks under the selected labels, and of each the selected cells: one block if no mapped
    /// dimension is left.
    fn sliced_blocks(
        &self,
        order: Order,
        values: &Numbers,
        taken: &[Resolved],
        slices: &[Slice],
        limits: &Limits,
    ) -> Result<Storage> {
        let mapped: Vec<&Resolved> = taken
            .iter()
            .filter(|taken| taken.slice().is_none())
            .collect();
        let n_left = mapped.iter().filter(|taken| taken.stays()).count();
        let (sizes, width) = (self.indexed_sizes(), self.dtype().width());
        let mut records = RecordsBuilder::new(n_left, box_len(slices, width)?);
        let mut only: Option<Numbers> = None;
        let mut is_found = false;
        self.for_each_cell(limits, &mut |cell| {
            let Cell::Labelled { labels, values } = cell else {
                return Ok(());
            };
            let pairs = || labels.iter().zip(&mapped);
            let is_meant = |(label, taken): (&String, &&Resolved)| match taken {
                Resolved::Label(wanted) => wanted == label,
                _ => true,
            };
            if !pairs().all(is_meant) {
                return Ok(());
            }
            is_found = true;
            let block = cut(&values, width, &sizes, order, slices, limits)?;
            if n_left == 0 {
                only = Some(block);
                return Ok(());
            }
            let left = pairs().filter(|(_, taken)| taken.stays());
            let left: Vec<&str> = left.map(|(label, _)| label.as_str()).collect();
            records.push(&left, &block.bytes.to_vec()?)
        })?;
        if !is_found && n_left < mapped.len() {
            return Err(Error::invalid("no block has these labels"));
        }
        Ok(match only {
            Some(values) => Storage::Dense { order, values },
            None => Storage::Sparse {
                order,
                address: Address::Labels,
                values: Numbers {
                    bytes: records.finish()?,
                    ..values.clone()
                },
            },
        })
    }
}

/// The numbers of a box of dense values, in stored order: in place if they are contiguous, else
/// gathered on reading. The slices must be in bounds.
fn cut(
    values: &Numbers,
    width: usize,
    sizes: &[u64],
    order: Order,
    slices: &[Slice],
    limits: &Limits,
) -> Result<Numbers> {
    let (mut sizes, mut slices) = (sizes.to_vec(), slices.to_vec());
    // Column-major order is row-major order with the dimensions reversed.
    if order == Order::Column {
        sizes.reverse();
        slices.reverse();
    }
    let counts: Vec<u64> = slices.iter().map(|slice| slice.count).collect();
    let cells = product(&counts).and_then(|cells| u64::try_from(cells).ok());
    let len = cells
        .and_then(|cells| cells.checked_mul(to_u64(width)))
        .ok_or_else(|| Error::invalid("more cells than can be counted"))?;
    let settled = values.at_hand(limits)?;
    let run = run(&sizes, &slices, len / to_u64(width));
    let run = run.and_then(|start| {
        let start = start.checked_mul(to_u64(width))?;
        settled.bytes.run_within(start..start.checked_add(len)?)
    });
    let bytes = run.unwrap_or_else(|| {
        Bytes::whole(Source::computed(Cut {
            bytes: settled.bytes.clone(),
            width,
            sizes,
            slices,
            counts,
            len,
        }))
    });
    Ok(Numbers { bytes, ..settled })
}

/// The first cell of a box, if its `count` cells are contiguous in the whole.
fn run(sizes: &[u64], slices: &[Slice], count: u64) -> Option<u64> {
    if count == 0 {
        return Some(0);
    }
    let (mut first, mut last) = (0_u64, 0_u64);
    for (slice, stride) in slices.iter().zip(read_box::strides(sizes, Order::Row)) {
        if slice.step < 1 && slice.count > 1 {
            return None;
        }
        let end = slice.place(slice.count.checked_sub(1)?)?;
        first = first.checked_add(slice.start.checked_mul(stride)?)?;
        last = last.checked_add(end.checked_mul(stride)?)?;
    }
    // All steps are forward: if the number of cells equals the distance between the ends, there is
    // no gap.
    (last.checked_sub(first)?.checked_add(1)? == count).then_some(first)
}

/// A box of dense values, the last dimension varying fastest in both.
struct Cut {
    bytes: Bytes,
    width: usize,
    sizes: Vec<u64>,
    slices: Vec<Slice>,
    counts: Vec<u64>,
    len: u64,
}

impl Compute for Cut {
    fn len(&self) -> u64 {
        self.len
    }

    fn depth(&self) -> u32 {
        self.bytes.source().depth()
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<()> {
        let width = to_u64(self.width);
        let (from, skip) = (at / width, at % width);
        let to = at.saturating_add(to_u64(buffer.len())).div_ceil(width);
        if skip == 0 && buffer.len().is_multiple_of(self.width) {
            return self.read_cells(from, to, buffer);
        }
        let mut cells = memory::zeros(to_usize(to.saturating_sub(from).saturating_mul(width))?)?;
        self.read_cells(from, to, &mut cells)?;
        let wanted = cells
            .get(to_usize(skip)?..)
            .and_then(|rest| rest.get(..buffer.len()));
        buffer.copy_from_slice(wanted.ok_or_else(|| Error::invalid("a slice ends too early"))?);
        Ok(())
    }
}

impl Cut {
    /// Fills `out` with whole cells of the box.
    fn read_cells(&self, from: u64, to: u64, out: &mut [u8]) -> Result<()> {
        let mut rest = out;
        for part in boxes(&self.counts, from, to) {
            let (now, later) = rest
                .split_at_mut_checked(box_len(&part, self.width)?)
                .ok_or_else(|| Error::invalid("a box is longer than its buffer"))?;
            let slices = within(&self.slices, &part)?;
            read_box::read_stored(&self.bytes, self.width, &self.sizes, &slices, now)?;
            rest = later;
        }
        Ok(())
    }
}
