//! A transposed view: all values of a tensor in some order of its dimensions, as lazy bytes.

use std::sync::{Mutex, MutexGuard};

use super::gather::{Axis, Gather};
use super::grid::Grid;
use super::stored::Stored;
use super::two_pass::Passes;
use crate::bytes::{Bytes, to_u64, to_usize};
use crate::error::{Error, Result};
use crate::io::{Compute, Threads};
use crate::limits::Limits;
use crate::memory;
use crate::tensor::Tensor;
use crate::tensor::dense::read_box;
use crate::tensor::index::slice::{Slice, box_len, boxes, within};
use crate::tensor::storage::{Order, Storage};
use crate::tensor::train::Train;

/// The logical values of a tensor, or of a box of it, in some order of its dimensions, computed on
/// reading.
///
/// Neighboring values may come from all over the file, so they are computed a slab at a time, and
/// the last slab is kept until the end has been read: sequential reads then compute every slab
/// once.
pub(crate) struct View {
    tensor: Tensor,
    /// The window: the indices viewed along each dimension of the tensor.
    window: Vec<Slice>,
    /// The tensor dimension of each dimension of the view; the last varies fastest.
    axes: Vec<usize>,
    slabs: Grid,
    len: u64,
    /// Memory budget in bytes.
    share: u64,
    limits: Limits,
    threads: Threads,
    held: Mutex<Held>,
}

/// State kept between two reads.
#[derive(Default)]
struct Held {
    way: Option<Way>,
    /// Offset of the slab.
    at: u64,
    slab: Vec<u8>,
    scratch: Vec<u8>,
}

/// How slabs are computed.
enum Way {
    /// Directly from stored values.
    Straight(Stored),
    /// From stored values that were sorted by slab first.
    SortedCells(Passes),
    /// From boxes of a tensor that is packed, sparse or a train.
    Boxes(Tensor),
}

impl View {
    /// The values of `tensor` in `window`, `len` bytes, with its dimensions in the order `axes`.
    pub(crate) fn new(
        tensor: &Tensor,
        window: Vec<Slice>,
        axes: Vec<usize>,
        len: u64,
        limits: &Limits,
        threads: Threads,
    ) -> Result<View> {
        let sizes = tensor.sizes()?;
        let seen: Vec<u64> = axes
            .iter()
            .map(|axis| window.get(*axis).map_or(1, |slice| slice.count))
            .collect();
        // Views of views get smaller and smaller budgets, so that all together stay within the
        // limit.
        let depth = tensor
            .storage()
            .parts()
            .iter()
            .map(|part| part.bytes.source().depth())
            .max();
        let share = limits.memory >> depth.unwrap_or(0).saturating_add(1).min(63);
        let slabs = slabs(tensor, &sizes, &seen, &axes, share, limits);
        Ok(View {
            tensor: tensor.clone(),
            window,
            axes,
            slabs,
            len,
            share,
            limits: limits.clone(),
            threads,
            held: Mutex::default(),
        })
    }

    fn lock(&self) -> Result<MutexGuard<'_, Held>> {
        self.held
            .lock()
            .map_err(|_| Error::invalid("another reader of the tensor stopped halfway"))
    }

    /// Takes the state, so that other readers are not blocked in between.
    fn take(&self) -> Result<Held> {
        Ok(std::mem::take(&mut *self.lock()?))
    }

    /// Keeps the state, if it is useful for reading on from `at`.
    fn keep(&self, held: Held, at: u64) -> Result<()> {
        if at < self.len {
            *self.lock()? = held;
        }
        Ok(())
    }

    /// Whether the window is all of the tensor.
    fn is_whole(&self) -> Result<bool> {
        let sizes = self.tensor.sizes()?;
        Ok(self
            .window
            .iter()
            .copied()
            .eq(sizes.into_iter().map(Slice::all)))
    }

    /// Chooses how slabs are computed, by estimated cost.
    fn way(&self) -> Result<Way> {
        let tensor = self.tensor.settled(&self.limits)?;
        let Storage::Dense { order, values } = tensor.storage() else {
            return Ok(Way::Boxes(tensor));
        };
        if tensor.is_packed() || !self.is_whole()? {
            return Ok(Way::Boxes(tensor));
        }
        let stored = Stored::new(values, tensor.dtype(), &tensor.sizes()?, *order, &self.axes);
        let straight = stored
            .price(&self.slabs.ranges(0))
            .saturating_mul(self.slabs.count().into());
        // Read, write and read again, where writing costs half as much again as reading.
        let sorted = u128::from(self.len).saturating_mul(7) / 2;
        if stored.bytes.as_slice().is_some() || straight <= sorted {
            return Ok(Way::Straight(stored));
        }
        let passes = Passes::new(stored, &self.slabs, self.share, self.threads, &self.limits)?;
        Ok(Way::SortedCells(passes))
    }

    /// Fills `out` with a slab.
    fn fill(&self, way: &Way, number: u64, scratch: &mut Vec<u8>, out: &mut [u8]) -> Result<()> {
        let ranges = self.slabs.ranges(number).into_iter();
        let slices: Vec<Slice> = ranges.map(Slice::range).collect();
        match way {
            Way::Straight(stored) => stored.read_box(&slices, self.share / 2, self.threads, out),
            Way::SortedCells(passes) => passes.read(number, scratch, self.threads, out),
            Way::Boxes(tensor) => self.fill_box(tensor, &slices, scratch, out),
        }
    }

    /// Slices in view order as slices of the tensor.
    fn own_slices(&self, slices: &[Slice]) -> Result<Vec<Slice>> {
        let mut own = vec![Slice::one(0); slices.len()];
        for (axis, slice) in self.axes.iter().zip(slices) {
            if let Some(place) = own.get_mut(*axis) {
                *place = *slice;
            }
        }
        within(&self.window, &own)
    }

    /// Fills `out` with a box whose slices are in view order.
    fn fill_box(
        &self,
        tensor: &Tensor,
        slices: &[Slice],
        scratch: &mut Vec<u8>,
        out: &mut [u8],
    ) -> Result<()> {
        let sizes = tensor.sizes()?;
        if self.axes.is_sorted() {
            let own = within(&self.window, slices)?;
            return tensor.fill_box(&sizes, &own, &self.limits, out);
        }
        let own = self.own_slices(slices)?;
        if tensor.fill_packed(&own, &self.axes, &self.limits, out)? {
            return Ok(());
        }
        memory::resize(scratch, out.len())?;
        tensor.fill_box(&sizes, &own, &self.limits, scratch)?;
        let counts: Vec<u64> = own.iter().map(|slice| slice.count).collect();
        let width = tensor.dtype().width();
        let apart = read_box::strides(&counts, Order::Row);
        let axes = self.axes.iter().map(|axis| {
            let count = counts.get(*axis).copied().unwrap_or(1);
            let stride = apart.get(*axis).copied().unwrap_or(1);
            Ok(Axis {
                count: to_usize(count)?,
                step: to_usize(stride)?.saturating_mul(width),
            })
        });
        Gather::new(scratch, 0, width, 1, axes.collect::<Result<_>>()?)?.fill(out, self.threads)
    }

    /// The offset and length of a slab.
    fn slab(&self, number: u64) -> (u64, u64) {
        let width = to_u64(self.tensor.dtype().width());
        let cells = self.slabs.cells(number);
        let at = cells.start.saturating_mul(width);
        (at, cells.end.saturating_mul(width).saturating_sub(at))
    }

    fn holding(&self, at: u64) -> u64 {
        self.slabs.holding(at / to_u64(self.tensor.dtype().width()))
    }

    /// Ensures that the slab with byte `at` is computed, and returns its bytes from `at` on.
    fn slab_at<'a>(&self, held: &'a mut Held, at: u64) -> Result<&'a [u8]> {
        let end = held.at.saturating_add(to_u64(held.slab.len()));
        if at < held.at || at >= end {
            let number = self.holding(at);
            let (start, len) = self.slab(number);
            // Before the slab is computed: choosing the way may need its memory.
            let way = match held.way.take() {
                Some(way) => way,
                None => self.way()?,
            };
            let mut slab = std::mem::take(&mut held.slab);
            memory::resize(&mut slab, to_usize(len)?)?;
            self.fill(&way, number, &mut held.scratch, &mut slab)?;
            held.way = Some(way);
            (held.at, held.slab) = (start, slab);
        }
        let found = held.slab.get(to_usize(at - held.at)?..).unwrap_or_default();
        if found.is_empty() {
            Err(Error::invalid("a view ends before its length"))
        } else {
            Ok(found)
        }
    }

    /// Values with fast random access need no slabs: fills `buffer` with whole cells directly.
    fn read_long(&self, at: u64, buffer: &mut [u8]) -> Result<bool> {
        let width = self.tensor.dtype().width();
        let Storage::Dense { order, values } = self.tensor.storage() else {
            return Ok(false);
        };
        let is_packed = self.tensor.is_packed();
        let is_at_hand = if is_packed {
            // Looking up how the values are stored pays off only for reads of at least a slab.
            let is_positioned = values.bytes.is_plain() && !values.bytes.source().is_computed();
            is_positioned && to_u64(buffer.len()) >= self.slab(0).1
        } else {
            values.bytes.as_slice().is_some()
        };
        let is_whole = at.is_multiple_of(to_u64(width)) && buffer.len().is_multiple_of(width);
        if !is_at_hand || !is_whole || !self.is_whole()? {
            return Ok(false);
        }
        let sizes = self.tensor.sizes()?;
        let stored = Stored::new(values, self.tensor.dtype(), &sizes, *order, &self.axes);
        let first = at / to_u64(width);
        let last = first.saturating_add(to_u64(buffer.len() / width));
        let mut rest = buffer;
        for slices in boxes(&stored.seen_sizes(), first, last) {
            let len = box_len(&slices, width)?;
            let (now, later) = rest
                .split_at_mut_checked(len)
                .ok_or_else(|| Error::invalid("a box is longer than its buffer"))?;
            if !is_packed {
                stored.read_box(&slices, 0, self.threads, now)?;
            } else if !self.tensor.fill_packed(
                &self.own_slices(&slices)?,
                &self.axes,
                &self.limits,
                now,
            )? {
                return Ok(false);
            }
            rest = later;
        }
        Ok(true)
    }
}

/// Cuts the view, of sizes `seen`, so that computing a slab takes at most `share` bytes.
fn slabs(
    tensor: &Tensor,
    sizes: &[u64],
    seen: &[u64],
    axes: &[usize],
    share: u64,
    limits: &Limits,
) -> Grid {
    let share = share / to_u64(tensor.dtype().width());
    // A slab, and as much again for its input.
    let mut most = share / 2;
    let mut slabs = Grid::new(seen, most);
    if let Storage::Train { ranks, cores } = tensor.storage() {
        let train = Train {
            sizes,
            ranks,
            cores,
            limits,
        };
        let held = |slabs: &Grid| {
            let mut counts = vec![1; sizes.len()];
            for (axis, range) in axes.iter().zip(slabs.ranges(0)) {
                if let Some(count) = counts.get_mut(*axis) {
                    *count = range.end.saturating_sub(range.start);
                }
            }
            train.held(&counts)
        };
        while most > 1 && held(&slabs) > share.into() {
            most /= 2;
            slabs = Grid::new(seen, most);
        }
    }
    slabs
}

impl Compute for View {
    fn len(&self) -> u64 {
        self.len
    }

    fn inputs(&self) -> Vec<&Bytes> {
        // A part of a tensor does not need the rest.
        match self.is_whole() {
            Ok(true) => self.tensor.part_bytes(),
            _ => Vec::new(),
        }
    }

    fn depth(&self) -> u32 {
        let parts = self.tensor.storage().parts();
        let below = parts.iter().map(|part| part.bytes.source().depth()).max();
        below.unwrap_or(0).saturating_add(1)
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<()> {
        /// Reads of at least this length are worth tiles of their own.
        const LONG: usize = 1 << 20;
        if buffer.len() >= LONG && self.read_long(at, buffer)? {
            return Ok(());
        }
        let mut held = self.take()?;
        let mut at = at;
        let mut rest = buffer;
        while !rest.is_empty() {
            let found = self.slab_at(&mut held, at)?;
            let part = found.len().min(rest.len());
            let (now, later) = rest.split_at_mut(part);
            now.copy_from_slice(found.get(..part).unwrap_or_default());
            rest = later;
            at = at.saturating_add(to_u64(part));
        }
        self.keep(held, at)
    }

    fn for_each(
        &self,
        range: std::ops::Range<u64>,
        budget: usize,
        each: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let mut held = self.take()?;
        let mut at = range.start;
        while at < range.end {
            let found = self.slab_at(&mut held, at)?;
            let part = found.len().min(to_usize(range.end - at)?);
            let found = found.get(..part).unwrap_or_default();
            found.chunks(budget.max(1)).try_for_each(&mut *each)?;
            at = at.saturating_add(to_u64(part));
        }
        self.keep(held, at)
    }
}
