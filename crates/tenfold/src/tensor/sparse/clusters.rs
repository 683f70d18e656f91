//! Clusters of cells that count as one: those at one position, or the members of one orbit.

#![expect(
    clippy::indexing_slicing,
    reason = "computing code, where a slip is to be loud"
)]

use super::Sparse;
use super::builder::CooBuilder;
use super::duplicates::{Distinct, room_of_pass};
use crate::bytes::{Endian, swap, to_u64};
use crate::dtype::{Kind, add_to};
use crate::error::{Error, Result};
use crate::hint::Hint;
use crate::io::Pages;
use crate::limits::Limits;
use crate::tensor::index::slice::{ravel_in, unravel_in};
use crate::tensor::storage::{Order, Storage};
use crate::tensor::symmetry::deviation::{Deviation, spread};
use crate::tensor::symmetry::group::Group;
use crate::tensor::verify::SYMMETRY_TOLERANCE;
use crate::units::measure_text;

/// The rule that resolves a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// The first member of an orbit wins.
    First,
    /// The last member of an orbit wins.
    Last,
    /// Values at one position are added.
    Sum { wraps: bool },
}

/// A stored cell, sorted by the key of its cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Member {
    key: u64,
    cell: u64,
    place: u64,
}

impl Sparse<'_> {
    /// Checks packed cells: forced zeros, and members of one orbit.
    pub(super) fn check_orbits(&self, group: &Group, limits: &Limits) -> Result<Distinct> {
        group.charge(self.count().into())?;
        let (mut last, mut is_ascending, mut largest) = (None, true, 0.0_f64);
        self.for_each(&mut |cell, index, value| {
            let origin = group.origin(index);
            if origin.zero && !self.dtype.is_zero(value) {
                let width = to_u64(self.dtype.width());
                let at = self.values.bytes.offset_of(cell.saturating_mul(width));
                let why = format!("the symmetry forces cell {index:?} to be zero, and it is not");
                return Err(Error::malformed(at, why));
            }
            is_ascending &= last.is_none_or(|last| last < origin.index);
            last = Some(origin.index);
            for number in value.chunks_exact(self.dtype.number.width()) {
                let size = self.dtype.number.to_f64(number).abs();
                if size.is_finite() {
                    largest = largest.max(size);
                }
            }
            Ok(())
        })?;
        if is_ascending {
            return Ok(Distinct::AsStored);
        }
        group.charge(self.count().into())?;
        let mut reader = CellReader::new(self, limits)?;
        let mut has_images = false;
        let mut worst: Option<(Deviation, Member, Member)> = None;
        self.for_each_cluster(limits, &|index| group.origin(index).index, &mut |orbit| {
            has_images |= orbit.len() > 1;
            if let Some(member) = first_repeated(orbit) {
                return Err(self.given_twice(member.cell, &self.index_of(member.place)));
            }
            for pair in orbit.windows(2) {
                let [earlier, later] = [pair[0], pair[1]];
                let (own, other) = (self.index_of(later.place), self.index_of(earlier.place));
                let mut values = [reader.value(later.cell)?, reader.value(earlier.cell)?];
                for (value, index) in values.iter_mut().zip([&own, &other]) {
                    group.origin(index).operation.apply(self.dtype, value)?;
                }
                let mut deviation = Deviation::default();
                deviation.compare(self.dtype, &own, &values[0], &values[1]);
                let is_worse =
                    |(worst, ..): &(Deviation, Member, Member)| deviation.apart > worst.apart;
                if deviation.apart > 0.0 && worst.as_ref().is_none_or(is_worse) {
                    worst = Some((deviation, earlier, later));
                }
            }
            Ok(())
        })?;
        let allowed = match self.dtype.number.kind() {
            Kind::Float => largest * SYMMETRY_TOLERANCE,
            Kind::Bool | Kind::Unsigned | Kind::Signed => 0.0,
        };
        if let Some((deviation, earlier, later)) = worst
            && deviation.apart > allowed
        {
            let why = format!(
                "the cell {:?} and its image {:?} are both given and differ by {}, the largest is {}",
                self.index_of(later.place),
                self.index_of(earlier.place),
                measure_text(deviation.apart, 2),
                measure_text(largest, 2),
            );
            let error = self.fault(later.cell, why);
            return Err(error.with_hint(Hint::Duplicates { sum: false }));
        }
        if !has_images {
            return Ok(Distinct::AsStored);
        }
        let (storage, _) = self.merge(group, Rule::First, limits)?;
        Ok(Distinct::Merged(storage))
    }

    /// The index of a column-major position.
    fn index_of(&self, place: u64) -> Vec<u64> {
        let mut index = vec![0; self.sizes.len()];
        unravel_in(place, self.sizes, Order::Column, &mut index);
        index
    }

    /// Calls `each` with the cells of every key, in the order in which they are stored, in as many
    /// passes as memory requires.
    fn for_each_cluster(
        &self,
        limits: &Limits,
        key: &dyn Fn(&[u64]) -> u64,
        each: &mut dyn FnMut(&[Member]) -> Result<()>,
    ) -> Result<()> {
        let len = u128::from(self.count()) * u128::from(to_u64(size_of::<Member>()));
        let room = room_of_pass(len, limits);
        let n_passes = u64::try_from(len.div_ceil(room.into())).unwrap_or(u64::MAX);
        let n_passes = n_passes.max(1);
        for pass in 0..n_passes {
            let mut members: Vec<Member> = Vec::new();
            self.for_each(&mut |cell, index, _| {
                let key = key(index);
                if n_passes == 1 || spread(key) % n_passes == pass {
                    let place = ravel_in(index, self.sizes, Order::Column);
                    members.push(Member { key, cell, place });
                }
                Ok(())
            })?;
            members.sort_unstable();
            members
                .chunk_by(|one, other| one.key == other.key)
                .try_for_each(&mut *each)?;
        }
        Ok(())
    }

    /// Merges cells by a rule; also returns the number of cells removed.
    pub(super) fn merge(
        &self,
        group: &Group,
        rule: Rule,
        limits: &Limits,
    ) -> Result<(Storage, u64)> {
        let mut reader = CellReader::new(self, limits)?;
        let mut listed = CooBuilder::new(self.dtype.number, self.order);
        let mut kept = 0_u64;
        let by_place = |index: &[u64]| ravel_in(index, self.sizes, self.order);
        let by_orbit = |index: &[u64]| group.origin(index).index;
        let is_single = group.is_trivial() || matches!(rule, Rule::Sum { .. });
        let key: &dyn Fn(&[u64]) -> u64 = if is_single { &by_place } else { &by_orbit };
        self.for_each_cluster(limits, key, &mut |cluster| {
            let (first, last) = (cluster[0], cluster[cluster.len() - 1]);
            let chosen = if rule == Rule::Last { last } else { first };
            let mut value = reader.value(chosen.cell)?;
            let index = self.index_of(chosen.place);
            if let Rule::Sum { wraps } = rule {
                for other in &cluster[1..] {
                    let fits = add_to(self.dtype.number, &mut value, &reader.value(other.cell)?);
                    if !fits && !wraps {
                        let number = self.dtype.number;
                        let why = format!(
                            "the values of the cell {index:?} add up to more than {number} holds"
                        );
                        let error = self.fault(other.cell, why);
                        return Err(error.with_hint(Hint::Duplicates { sum: false }));
                    }
                }
            }
            kept += 1;
            listed.push(ravel_in(&index, self.sizes, self.order), &value)
        })?;
        Ok((listed.finish()?, self.count() - kept))
    }
}

/// The first member at a position that an earlier one has.
fn first_repeated(orbit: &[Member]) -> Option<Member> {
    let mut by_place: Vec<Member> = orbit.to_vec();
    by_place.sort_unstable_by_key(|member| (member.place, member.cell));
    let pairs = by_place.windows(2);
    let repeated = pairs.filter(|pair| pair[0].place == pair[1].place);
    repeated
        .map(|pair| pair[1])
        .min_by_key(|member| member.cell)
}

/// Single values of sparse cells, by number.
struct CellReader<'a> {
    sparse: &'a Sparse<'a>,
    pages: Pages,
}

impl<'a> CellReader<'a> {
    fn new(sparse: &'a Sparse<'a>, limits: &Limits) -> Result<CellReader<'a>> {
        let pages = Pages::new(sparse.values.bytes.settled(limits)?);
        Ok(CellReader { sparse, pages })
    }

    /// The little-endian value of a stored cell.
    fn value(&mut self, cell: u64) -> Result<Vec<u8>> {
        let dtype = self.sparse.dtype;
        let mut value = vec![0; dtype.width()];
        let at = cell.saturating_mul(to_u64(dtype.width()));
        self.pages.read_at(at, &mut value)?;
        if self.sparse.values.must_swap(Endian::Little) {
            swap(&mut value, dtype.number.width());
        }
        Ok(value)
    }
}
