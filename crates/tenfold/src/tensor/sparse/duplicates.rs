//! Duplicate cells: found when values are first read, and refused unless a rule resolves them.
//!
//! The check is one pass over the positions, made once: its outcome is kept with the tensor and its
//! clones. Two members of an orbit of packed symmetries are one cell. They are accepted if they
//! agree within the tolerance of declared symmetries, and the first of them is used.

#![expect(
    clippy::indexing_slicing,
    reason = "computing code, where a slip is to be loud"
)]

use std::ops::ControlFlow;
use std::str::FromStr;
use std::sync::OnceLock;

use super::clusters::Rule;
use super::{CoordinateReader, Sparse, read_many};
use crate::bytes::{to_u64, to_usize};
use crate::error::{Error, Result};
use crate::hint::Hint;
use crate::limits::Limits;
use crate::memory;
use crate::tensor::index::slice::{ravel_in, unravel_in};
use crate::tensor::storage::{Address, Storage};
use crate::tensor::symmetry::deviation::spread;
use crate::tensor::symmetry::group::Group;
use crate::tensor::{Tensor, product};

/// The rule for duplicate cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Duplicates {
    /// The values at one position are added in their own type, as in the assembly of matrices. Two
    /// members of an orbit are never added.
    Sum,
    /// The last value is used, also within an orbit.
    Last,
}

impl FromStr for Duplicates {
    type Err = Error;

    fn from_str(word: &str) -> Result<Duplicates> {
        match word {
            "sum" => Ok(Duplicates::Sum),
            "last" => Ok(Duplicates::Last),
            other => Err(Error::invalid(format!(
                "duplicates are resolved by sum or last, not by {other:?}"
            ))),
        }
    }
}

/// The outcome of the check for duplicates.
#[derive(Debug)]
pub(crate) enum Distinct {
    /// Every cell is stored once.
    AsStored,
    /// Members of one orbit were stored and agree; here one of each is left.
    Merged(Storage),
}

/// Cells per step of a pass.
const BATCH: u64 = 4096;

/// Memory of one pass: a quarter of everything, but at least a moderate amount, within the limits.
pub(super) fn room_of_pass(all: u128, limits: &Limits) -> u64 {
    let wanted = u64::try_from(all / 4).unwrap_or(u64::MAX);
    wanted.max(32 << 20).min(limits.memory / 4).max(BATCH)
}

impl Tensor {
    /// The sparse cells without duplicates.
    ///
    /// # Errors
    /// [`Error::Malformed`] if a cell is duplicate, out of bounds, or not zero where its symmetry
    /// forces it to be.
    pub(in crate::tensor) fn sparse<'a>(
        &'a self,
        sizes: &'a [u64],
        limits: &Limits,
    ) -> Result<Option<Sparse<'a>>> {
        let storage = match self.check_cells(limits)? {
            Some(Distinct::Merged(storage)) => storage,
            _ => self.storage(),
        };
        Ok(Sparse::of(storage, sizes, self.dtype()))
    }

    /// The tensor with every sparse cell stored once; other tensors unchanged.
    ///
    /// # Errors
    /// [`Error::Malformed`] if a cell is duplicate, out of bounds, or not zero where its symmetry
    /// forces it to be.
    pub fn distinct(&self, limits: &Limits) -> Result<Tensor> {
        let mut tensor = self.clone();
        if let Some(Distinct::Merged(storage)) = self.check_cells(limits)? {
            tensor.storage = storage.clone();
            tensor.distinct = Some(OnceLock::from(Distinct::AsStored).into());
        }
        Ok(tensor)
    }

    /// Checks the cells on first use.
    fn check_cells(&self, limits: &Limits) -> Result<Option<&Distinct>> {
        let Some(outcome) = &self.distinct else {
            return Ok(None);
        };
        if let Some(known) = outcome.get() {
            return Ok(Some(known));
        }
        let sizes = self.sizes()?;
        let found = match Sparse::of(self.storage(), &sizes, self.dtype()) {
            Some(sparse) => sparse.check_distinct(&self.packed_group(limits)?, limits)?,
            None => Distinct::AsStored,
        };
        Ok(Some(outcome.get_or_init(|| found)))
    }

    /// The tensor with duplicate cells resolved by `rule`, and the number of values that were added
    /// to others or replaced by them.
    ///
    /// # Errors
    /// [`Error::Malformed`] if a sum does not fit the number type, and errors of reading.
    pub fn resolve_duplicates(&self, rule: Duplicates, limits: &Limits) -> Result<(Tensor, u64)> {
        let rule = match rule {
            Duplicates::Sum => Rule::Sum { wraps: false },
            Duplicates::Last => Rule::Last,
        };
        self.merge_cells(rule, limits)
    }

    /// The tensor with the values at each position added, where integers wrap around.
    pub(crate) fn coalesced(&self, limits: &Limits) -> Result<(Tensor, u64)> {
        self.merge_cells(Rule::Sum { wraps: true }, limits)
    }

    fn merge_cells(&self, rule: Rule, limits: &Limits) -> Result<(Tensor, u64)> {
        if self.distinct.is_none() {
            return Ok((self.clone(), 0));
        }
        let sizes = self.sizes()?;
        let Some(sparse) = Sparse::of(self.storage(), &sizes, self.dtype()) else {
            return Ok((self.clone(), 0));
        };
        let group = self.packed_group(limits)?;
        if group.is_trivial() && sparse.repeated(limits)?.is_none() {
            return Ok((self.clone(), 0));
        }
        let (storage, merged) = sparse.merge(&group, rule, limits)?;
        if merged == 0 {
            return Ok((self.clone(), 0));
        }
        let (dims, symmetries) = (self.dims().to_vec(), self.symmetries().to_vec());
        let tensor = Tensor::within(dims, self.dtype(), symmetries, storage, limits)?;
        Ok((tensor.with_meta_of(self), merged))
    }
}

/// A cell at a position that an earlier cell has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Repeated {
    cell: u64,
    position: u64,
}

impl Sparse<'_> {
    fn check_distinct(&self, group: &Group, limits: &Limits) -> Result<Distinct> {
        if !group.is_trivial() {
            return self.check_orbits(group, limits);
        }
        match self.repeated(limits)? {
            None => Ok(Distinct::AsStored),
            Some(Repeated { cell, position }) => {
                let mut index = vec![0; self.sizes.len()];
                unravel_in(position, self.sizes, self.order, &mut index);
                Err(self.given_twice(cell, &index))
            }
        }
    }

    pub(super) fn given_twice(&self, cell: u64, index: &[u64]) -> Error {
        let why = format!("the cell {index:?}, counted from 0, is given twice");
        self.fault(cell, why)
            .with_hint(Hint::Duplicates { sum: true })
    }

    /// An error at a stored cell.
    pub(super) fn fault(&self, cell: u64, why: String) -> Error {
        let width = to_u64(self.dtype.width());
        let at = match self.address {
            Address::Linear(numbers) => {
                let width = to_u64(numbers.number.width());
                numbers.bytes.offset_of(cell.saturating_mul(width))
            }
            _ => self.values.bytes.offset_of(cell.saturating_mul(width)),
        };
        Error::malformed(at, why)
    }

    /// Calls `each` with the number of every stored cell and its positions in the order of the
    /// storage and in the other one, until it breaks.
    fn for_each_position(
        &self,
        each: &mut dyn FnMut(u64, [u64; 2]) -> ControlFlow<()>,
    ) -> Result<()> {
        let mut index = vec![0; self.sizes.len()];
        let total = product(self.sizes).and_then(|total| u64::try_from(total).ok());
        let mut finder = CoordinateReader::new(self)?;
        let mut first = 0;
        while first < self.count() {
            let count = BATCH.min(self.count() - first);
            let linear = match self.address {
                Address::Linear(numbers) => Some(read_many(numbers, first, count)?),
                _ => {
                    finder.load(first, count)?;
                    None
                }
            };
            for item in 0..to_usize(count)? {
                let cell = first + to_u64(item);
                let positions = if let Some(linear) = &linear {
                    let position = linear[item];
                    if total.is_none_or(|total| position >= total) {
                        let why = format!("index {position} lies outside the tensor");
                        return Err(self.fault(cell, why));
                    }
                    [position; 2]
                } else {
                    finder.index(item, &mut index)?;
                    [self.order, self.order.other()]
                        .map(|order| ravel_in(&index, self.sizes, order))
                };
                if each(cell, positions).is_break() {
                    return Ok(());
                }
            }
            first += count;
        }
        Ok(())
    }

    /// The first cell at a position that an earlier one has, ignoring symmetries.
    fn repeated(&self, limits: &Limits) -> Result<Option<Repeated>> {
        let (mut last, mut ascending) = (None, [true; 2]);
        self.for_each_position(&mut |_, positions| {
            if let Some(last) = last {
                for (ascending, (last, now)) in
                    ascending
                        .iter_mut()
                        .zip(std::iter::zip::<[u64; 2], _>(last, positions))
                {
                    *ascending &= last < now;
                }
            }
            last = Some(positions);
            if ascending.contains(&true) {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        })?;
        if ascending.contains(&true) {
            return Ok(None);
        }
        let bits = product(self.sizes).map_or(u128::MAX, |cells| cells.div_ceil(8));
        let list = u128::from(self.count()) * u128::from(to_u64(size_of::<u64>()));
        let room = room_of_pass(list, limits);
        if bits <= list.min(room.into()) {
            return self.repeated_by_bits(to_usize(u64::try_from(bits).unwrap_or(room))?);
        }
        let n_passes = u64::try_from(list.div_ceil(room.into())).unwrap_or(u64::MAX);
        let mut repeated: Vec<u64> = Vec::new();
        for pass in 0..n_passes.max(1) {
            // Shares are about equal; a small reserve avoids a copy of the list when one is not.
            let share = self.count() / n_passes.max(1);
            let mut seen: Vec<u64> = memory::with_room(to_usize(share + share / 16)?)?;
            let mut lack = None;
            self.for_each_position(&mut |_, [position, _]| {
                if n_passes <= 1 || spread(position) % n_passes == pass {
                    lack = memory::push(&mut seen, position).err();
                }
                match lack {
                    Some(_) => ControlFlow::Break(()),
                    None => ControlFlow::Continue(()),
                }
            })?;
            if let Some(error) = lack {
                return Err(error);
            }
            seen.sort_unstable();
            let pairs = seen.windows(2).filter(|pair| pair[0] == pair[1]);
            for pair in pairs {
                memory::push(&mut repeated, pair[0])?;
            }
        }
        if repeated.is_empty() {
            return Ok(None);
        }
        self.first_of(repeated)
    }

    /// The first cell with one of these positions that an earlier cell has.
    fn first_of(&self, mut repeated: Vec<u64>) -> Result<Option<Repeated>> {
        repeated.sort_unstable();
        repeated.dedup();
        let (mut was_met, mut found) = (memory::zeros(repeated.len())?, None);
        self.for_each_position(&mut |cell, [position, _]| {
            if let Ok(item) = repeated.binary_search(&position) {
                if was_met[item] {
                    found = Some(Repeated { cell, position });
                    return ControlFlow::Break(());
                }
                was_met[item] = true;
            }
            ControlFlow::Continue(())
        })?;
        Ok(found)
    }

    /// The first duplicate cell, found with one bit for every cell of the tensor.
    fn repeated_by_bits(&self, n_bytes: usize) -> Result<Option<Repeated>> {
        let mut seen: Vec<u8> = memory::zeros(n_bytes)?;
        let mut found = None;
        self.for_each_position(&mut |cell, [position, _]| {
            let place = usize::try_from(position / 8).unwrap_or(usize::MAX);
            let bit = 1_u8 << (position % 8);
            // Positions are in bounds, so that each has its byte.
            if seen[place] & bit != 0 {
                found = Some(Repeated { cell, position });
                return ControlFlow::Break(());
            }
            seen[place] |= bit;
            ControlFlow::Continue(())
        })?;
        Ok(found)
    }
}
