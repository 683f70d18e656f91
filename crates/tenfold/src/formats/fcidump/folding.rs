//! Folding: which images of an integral a list has, and which follow from them.
//!
//! Usually one of all images that are equal by symmetry is listed. Programs that store pairs of pairs list
//! (ij|kl) and (kl|ij), which rounding may tell apart, and drop one of the two near a cut-off. Such a list is
//! read with fewer symmetries packed: every listed value stays at its own place, and an image that is not
//! listed follows from one that is.
#![deny(clippy::arithmetic_side_effects)]

use crate::bytes::{Bytes, Endian, to_u64, to_usize};
use crate::dtype::{DType, Number, Numbers};
use crate::error::Result;
use crate::io::Spool;
use crate::limits::Limits;
use crate::memory;
use crate::tensor::{
    Address, Deviation, Dim, Duplicates, Group, Order, SYMMETRY_TOLERANCE, Storage, Symmetry,
    Tensor, unravel_in,
};
use crate::units::measure_text;

/// Cells in line order, with a position and a value each.
#[derive(Clone)]
pub(super) struct List<'a> {
    pub(super) places: Bytes,
    pub(super) values: Bytes,
    pub(super) dtype: DType,
    /// A walk over the cells in the text, if they were only counted and not spooled.
    pub(super) text: Option<&'a Walk<'a>>,
}

/// Callback for the number, the position and the value of a cell.
pub(super) type Each<'a> = dyn FnMut(u64, u64, &[u8]) -> Result<()> + 'a;
/// Calls a callback with every cell.
pub(super) type Walk<'a> = dyn Fn(&mut Each) -> Result<()> + 'a;

/// Cells read at a time.
const BATCH: u64 = 4096;

impl List<'_> {
    pub(super) fn count(&self) -> u64 {
        self.places.len() / 8
    }

    /// Calls `each` with the number of every cell, its position and its little-endian value.
    pub(super) fn for_each(&self, each: &mut Each) -> Result<()> {
        if let Some(walk) = self.text {
            return walk(each);
        }
        let width = self.dtype.width();
        let (mut places, mut values) = (Vec::new(), Vec::new());
        let mut cell = 0_u64;
        while cell < self.count() {
            let batch = BATCH.min(self.count().saturating_sub(cell));
            memory::resize(&mut places, to_usize(batch)?.saturating_mul(8))?;
            memory::resize(&mut values, to_usize(batch)?.saturating_mul(width))?;
            self.places.read_at(cell.saturating_mul(8), &mut places)?;
            self.values
                .read_at(cell.saturating_mul(to_u64(width)), &mut values)?;
            let cells = places.as_chunks::<8>().0.iter();
            for (place, value) in cells.zip(values.chunks_exact(width)) {
                each(cell, u64::from_le_bytes(*place), value)?;
                cell = cell.saturating_add(1);
            }
        }
        Ok(())
    }

    pub(super) fn places(&self) -> Numbers {
        little(Number::U64, &self.places)
    }

    pub(super) fn values(&self) -> Numbers {
        little(self.dtype.number, &self.values)
    }
}

/// A list to which cells are added.
struct Growing {
    places: Spool,
    values: Spool,
    /// The number of cells added.
    added: u64,
}

impl Growing {
    fn from(list: &List, limits: &Limits) -> Result<Growing> {
        let (places, values) = (Spool::of_text(limits), Spool::of_text(limits));
        let mut growing = Growing {
            places,
            values,
            added: 0,
        };
        list.for_each(&mut |_, place, value| growing.push(place, value))?;
        growing.added = 0;
        Ok(growing)
    }

    fn push(&mut self, place: u64, value: &[u8]) -> Result<()> {
        self.added = self.added.saturating_add(1);
        self.places.write(&place.to_le_bytes())?;
        self.values.write(value)
    }

    fn finish<'a>(self, dtype: DType) -> Result<List<'a>> {
        Ok(List {
            places: Bytes::whole(self.places.finish_apart()?),
            values: Bytes::whole(self.values.finish_apart()?),
            dtype,
            text: None,
        })
    }
}

fn little(number: Number, bytes: &Bytes) -> Numbers {
    Numbers {
        number,
        endian: Endian::Little,
        bytes: bytes.clone(),
    }
}

/// A list, the symmetries of its tensor, and the packed ones among them.
pub(super) struct Folded<'a> {
    pub(super) list: List<'a>,
    pub(super) symmetries: Vec<Symmetry>,
    /// A remark, if more cells are listed than necessary.
    pub(super) remark: Option<String>,
}

/// Two contradictory lines.
#[derive(Debug)]
pub(super) struct Clash {
    /// The numbers of their cells, in order.
    pub(super) cells: (u64, u64),
    /// The difference of their values, if both may be listed.
    pub(super) apart: Option<f64>,
    /// Whether both have the same position, rather than positions related by symmetry.
    pub(super) is_repeated: bool,
    /// The largest magnitude of all values.
    pub(super) largest: f64,
}

/// The result of finding symmetries: folded cells, or contradictory lines.
pub(super) type Outcome<'a> = std::result::Result<Folded<'a>, Clash>;

/// Determines which images of a tensor's integrals are listed.
#[derive(Clone)]
pub(super) struct Folding<'a> {
    pub(super) list: List<'a>,
    /// The symmetries of integrals of this kind, each packed.
    pub(super) symmetries: Vec<Symmetry>,
    /// Whether they were requested: then nothing else is tried.
    pub(super) is_asked: bool,
    pub(super) sizes: Vec<u64>,
    /// The largest magnitude of all values.
    pub(super) largest: f64,
    pub(super) limits: &'a Limits,
}

/// A listed cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    /// The smallest position in its orbit.
    orbit: u64,
    cell: u64,
    place: u64,
    value: [u8; 16],
}

/// Memory of one pass over the cells.
const PASS: std::ops::RangeInclusive<u64> = (1 << 20)..=(128 << 20);

impl<'a> Folding<'a> {
    pub(super) fn find(self) -> Result<Outcome<'a>> {
        let packings = if self.is_asked {
            vec![self.symmetries.clone()]
        } else {
            packings(&self.symmetries)
        };
        let groups: Vec<Group> = packings
            .iter()
            .map(|packing| self.group(packing))
            .collect::<Result<_>>()?;
        let Some(full) = groups.first() else {
            return Ok(Ok(self.folded(Vec::new(), None)));
        };
        if self.has_one_of_each(full)? {
            return Ok(Ok(
                self.folded(packings.into_iter().next().unwrap_or_default(), None)
            ));
        }
        let mut found = Found::new(groups.len());
        self.for_each_orbit(full, &mut |orbit| {
            self.look_at(orbit, full, &groups, &mut found)
        })?;
        if let Some(clash) = found.clash(self.largest, self.is_asked) {
            return Ok(Err(clash));
        }
        let chosen = found.fits.iter().position(|fits| *fits).unwrap_or(0);
        let packing = packings.into_iter().nth(chosen).unwrap_or_default();
        match groups.get(chosen) {
            Some(group) if chosen > 0 => self.completed(full, group, packing, &found).map(Ok),
            _ => Ok(Ok(self.folded(packing, None))),
        }
    }

    /// The same, with integrals listed more than once resolved by a rule, where images under
    /// `symmetries` count as the same; also returns the number of cells removed.
    pub(super) fn resolved(
        mut self,
        rule: Duplicates,
        symmetries: Vec<Symmetry>,
    ) -> Result<(Self, u64)> {
        let storage = Storage::Sparse {
            order: Order::Column,
            address: Address::Linear(self.list.places()),
            values: self.list.values(),
        };
        let dims = self.sizes.iter().copied().map(Dim::indexed).collect();
        let tensor = Tensor::within(dims, self.list.dtype, symmetries, storage, self.limits)?;
        let (tensor, merged) = tensor.resolve_duplicates(rule, self.limits)?;
        if let Storage::Sparse {
            address: Address::Linear(places),
            values,
            ..
        } = tensor.storage()
            && merged > 0
        {
            self.list.places = places.bytes.clone();
            self.list.values = values.bytes.clone();
            self.list.text = None;
        }
        Ok((self, merged))
    }

    fn group(&self, packing: &[Symmetry]) -> Result<Group> {
        let dtype = self.list.dtype;
        Group::generate(&self.sizes, dtype, packing, |one| one.packed, self.limits)
    }

    fn folded(self, symmetries: Vec<Symmetry>, remark: Option<String>) -> Folded<'a> {
        Folded {
            list: self.list,
            symmetries,
            remark,
        }
    }

    fn index(&self, place: u64) -> Vec<u64> {
        let mut index = vec![0; self.sizes.len()];
        unravel_in(place, &self.sizes, Order::Column, &mut index);
        index
    }

    /// Whether every cell is the largest of its orbit, in ascending order, as most programs write
    /// them: then no orbit is listed twice.
    fn has_one_of_each(&self, full: &Group) -> Result<bool> {
        let mut is_so = true;
        let mut last: Option<Vec<u64>> = None;
        let mut index = vec![0; self.sizes.len()];
        self.list.for_each(&mut |_, place, _| {
            if !is_so {
                return Ok(());
            }
            unravel_in(place, &self.sizes, Order::Column, &mut index);
            let is_largest = full.elements().iter().all(|(permutation, _)| {
                let image = permutation.iter().filter_map(|from| index.get(*from));
                image.le(index.iter())
            });
            is_so = is_largest && last.as_ref().is_none_or(|last| *last < index);
            last.get_or_insert_default().clone_from(&index);
            Ok(())
        })?;
        Ok(is_so)
    }

    /// Calls `each` with the listed cells of every orbit, in line order.
    fn for_each_orbit(
        &self,
        full: &Group,
        each: &mut dyn FnMut(&[Entry]) -> Result<()>,
    ) -> Result<()> {
        let room = (self.limits.memory / 4).clamp(*PASS.start(), *PASS.end());
        let len = self.list.count().saturating_mul(to_u64(size_of::<Entry>()));
        let n_passes = len.div_ceil(room).max(1);
        for pass in 0..n_passes {
            let mut entries = Vec::new();
            self.list.for_each(&mut |cell, place, element| {
                let orbit = full.origin(&self.index(place)).index;
                if n_passes > 1 && spread(orbit).checked_rem(n_passes) != Some(pass) {
                    return Ok(());
                }
                let mut value = [0; 16];
                for (to, from) in value.iter_mut().zip(element) {
                    *to = *from;
                }
                entries.push(Entry {
                    orbit,
                    cell,
                    place,
                    value,
                });
                Ok(())
            })?;
            entries.sort_unstable();
            entries
                .chunk_by(|one, other| one.orbit == other.orbit)
                .try_for_each(&mut *each)?;
        }
        Ok(())
    }

    /// Compares the cells of an orbit with each other.
    fn look_at(
        &self,
        orbit: &[Entry],
        full: &Group,
        groups: &[Group],
        found: &mut Found,
    ) -> Result<()> {
        // Of one cell more than an orbit has, two are the same.
        let most = to_usize(full.order())?.saturating_add(1);
        let some = orbit.get(..most).unwrap_or(orbit);
        for (number, later) in some.iter().enumerate() {
            for earlier in some.iter().take(number) {
                let cells = (earlier.cell, later.cell);
                if earlier.place == later.place {
                    found.repeat(cells);
                    return Ok(());
                }
                found.is_pair(cells);
                let (left, right) = (self.index(earlier.place), self.index(later.place));
                for (fits, group) in found.fits.iter_mut().zip(groups) {
                    *fits &= group.origin(&left).index != group.origin(&right).index;
                }
                let image = self.turned(earlier, later.place, full)?;
                let mut deviation = Deviation::default();
                let own = self.value(later);
                deviation.compare(self.list.dtype, &right, own, &image);
                if deviation.apart > found.apart {
                    (found.apart, found.worst) = (deviation.apart, Some(cells));
                }
            }
        }
        Ok(())
    }

    fn value<'b>(&self, entry: &'b Entry) -> &'b [u8] {
        entry
            .value
            .get(..self.list.dtype.width())
            .unwrap_or_default()
    }

    /// The value that a cell implies at the position of another.
    fn turned(&self, entry: &Entry, place: u64, full: &Group) -> Result<Vec<u8>> {
        let mut value = self.value(entry).to_vec();
        let images = full.images(&self.index(entry.place));
        if let Some((_, operation)) = images.iter().find(|(image, _)| *image == place) {
            operation.apply(self.list.dtype, &mut value)?;
        }
        Ok(value)
    }

    /// Adds the images that are not listed and do not follow from listed ones by the packed
    /// symmetries.
    fn completed(
        self,
        full: &Group,
        group: &Group,
        symmetries: Vec<Symmetry>,
        found: &Found,
    ) -> Result<Folded<'a>> {
        let mut list = Growing::from(&self.list, self.limits)?;
        let exchange: &[usize] = match self.sizes.len() {
            4 => &[2, 3, 0, 1],
            _ => &[1, 0],
        };
        self.for_each_orbit(full, &mut |orbit| {
            let Some(first) = orbit.first() else {
                return Ok(());
            };
            let own = |place: u64| group.origin(&self.index(place)).index;
            let mut there: Vec<u64> = orbit.iter().map(|entry| own(entry.place)).collect();
            for (place, _) in full.images(&self.index(first.place)) {
                if there.contains(&own(place)) {
                    continue;
                }
                there.push(own(place));
                let mirror = full.image(&self.index(place), exchange);
                let from = orbit.iter().find(|entry| entry.place == mirror);
                let value = self.turned(from.unwrap_or(first), place, full)?;
                list.push(place, &value)?;
            }
            Ok(())
        })?;
        let remark = remark(group.order(), found.apart, list.added);
        let list = list.finish(self.list.dtype)?;
        Ok(Folded {
            list,
            symmetries,
            remark: Some(remark),
        })
    }
}

/// The packings of a tensor, from all its symmetries to none: for any set of listed images, one of
/// them fits.
fn packings(symmetries: &[Symmetry]) -> Vec<Vec<Symmetry>> {
    let flags: &[&[bool]] = match symmetries.len() {
        0 => &[&[]],
        1 => &[&[true], &[false]],
        // Complex: (kl|ij) and the conjugate of (ji|lk).
        2 => &[&[true; 2], &[false, true], &[true, false], &[false; 2]],
        // If the exchange of the pairs is packed, (ji|kl) and (ij|lk) are one symmetry: neither is
        // dropped alone.
        _ => &[&[true; 3], &[true, true, false], &[false; 3]],
    };
    let with = |flags: &&[bool]| {
        let all = symmetries.iter().zip(*flags);
        let all = all.map(|(symmetry, packed)| Symmetry {
            packed: *packed,
            ..symmetry.clone()
        });
        all.collect()
    };
    flags.iter().map(with).collect()
}

/// The result of comparing the cells of all orbits.
struct Found {
    /// Which packings leave every listed cell at its own position.
    fits: Vec<bool>,
    /// The largest difference of images, and their cells.
    apart: f64,
    worst: Option<(u64, u64)>,
    /// The first duplicate cell, and the first with an image listed besides it.
    repeated: Option<(u64, u64)>,
    paired: Option<(u64, u64)>,
}

impl Found {
    fn new(count: usize) -> Found {
        Found {
            fits: vec![true; count],
            apart: 0.0,
            worst: None,
            repeated: None,
            paired: None,
        }
    }

    fn repeat(&mut self, cells: (u64, u64)) {
        sooner(&mut self.repeated, cells);
    }

    fn is_pair(&mut self, cells: (u64, u64)) {
        sooner(&mut self.paired, cells);
    }

    /// The contradictory lines, if there are any.
    fn clash(&self, largest: f64, is_asked: bool) -> Option<Clash> {
        let of = |cells, apart| Clash {
            cells,
            apart,
            is_repeated: false,
            largest,
        };
        let repeated = self.repeated.map(|cells| Clash {
            is_repeated: true,
            ..of(cells, None)
        });
        let paired = self
            .paired
            .filter(|_| is_asked)
            .map(|cells| of(cells, None));
        let worst = self
            .worst
            .filter(|_| self.apart > SYMMETRY_TOLERANCE * largest);
        let worst = worst.map(|cells| of(cells, Some(self.apart)));
        repeated.or(paired).or(worst)
    }
}

/// Keeps the pair whose later line comes first.
fn sooner(kept: &mut Option<(u64, u64)>, cells: (u64, u64)) {
    let is_sooner = kept.is_none_or(|(first, second)| (cells.1, cells.0) < (second, first));
    if is_sooner {
        *kept = Some(cells);
    }
}

/// A remark on a list that omits so few images.
fn remark(order: u64, apart: f64, absent: u64) -> String {
    let fold = match order {
        4 => "four-fold",
        2 => "two-fold",
        _ => "not folded",
    };
    let apart = match apart {
        0.0 => "mirror images are equal".to_owned(),
        apart => {
            let apart = measure_text(apart, 2);
            format!("mirror images differ by up to {apart}")
        }
    };
    match absent {
        0 => format!("{fold}; {apart}"),
        1 => format!("{fold}; {apart}; 1 is not listed and takes the value of its own"),
        _ => format!("{fold}; {apart}; {absent} are not listed and take the value of theirs"),
    }
}

/// Hashes a number, as SplitMix does.
fn spread(number: u64) -> u64 {
    let mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
