//! Whether the values of a tensor keep what its header promises.
//!
//! Opening a file checks its structure; this reads everything: every byte decodes and has its
//! checksum, no cell is given twice, packed cells are those that packing allows, and declared
//! symmetries hold. Memory stays bounded: what has to be compared with what lies elsewhere is done
//! in as many passes as it takes.

use super::Tensor;
use super::group::{Group, Origin};
use super::labels::LabelSet;
use super::slice::{ravel_in, unravel_in};
use super::sparse::Sparse;
use super::storage::{Address, Order, Storage};
use super::symmetry::{Operation, Symmetry};
use crate::bytes::{Endian, Extent, PIECE, Pages, narrow, swap, wide};
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::note::{Note, NoteKind};
use crate::number::{Kind, Numbers};

/// How far declared symmetries of floating point numbers may be off, relative to the largest.
const TOLERANCE: f64 = 1e-12;

/// How much one pass may hold.
const PASS: u64 = 32 << 20;

impl Tensor {
    /// Reads and checks all values.
    ///
    /// Gives notes on what only a lenient reader forgives: values that break their symmetry.
    ///
    /// # Errors
    /// [`Error::Malformed`] at the first fault.
    pub fn check(&self, limits: &Limits) -> Result<Vec<Note>> {
        for part in self.storage().parts() {
            if let (Extent::Strided { .. }, None) = (part.bytes.extent(), part.bytes.digest()) {
                continue; // read below, cell by cell
            }
            part.bytes.check()?;
        }
        let mut notes = Vec::new();
        match self.storage() {
            Storage::Dense { values, .. } => self.check_packed(values, limits, &mut notes)?,
            Storage::Sparse {
                address: Address::Labels,
                values,
                ..
            } => check_labels(values)?,
            Storage::Sparse { .. } => self.check_sparse(limits, &mut notes)?,
            Storage::Train { .. } | Storage::Opaque { .. } => {}
        }
        for symmetry in self.symmetries() {
            if !symmetry.packed && Operation::of_code(&symmetry.operation).is_some() {
                self.check_claim(symmetry, limits, &mut notes)?;
            }
        }
        Ok(notes)
    }

    /// Reads what has a checksum, and compares it.
    ///
    /// # Errors
    /// [`Error::Malformed`] if one is wrong.
    pub fn compare_checksums(&self) -> Result<()> {
        let parts = self.storage().parts().into_iter();
        let mut with_digest = parts.filter(|part| part.bytes.digest().is_some());
        with_digest.try_for_each(|part| part.bytes.check())
    }

    /// Checks the stored cells of a dense tensor that is packed.
    fn check_packed(&self, values: &Numbers, limits: &Limits, notes: &mut Vec<Note>) -> Result<()> {
        let group = self.packed_group(limits)?;
        let changes = group.changes_values();
        if group.is_trivial() || !changes {
            return Ok(());
        }
        let width = self.dtype().width();
        if self.dtype().number.kind() != Kind::Float {
            let mut position = 0_u64;
            values.for_each(Endian::Little, width, PIECE, &mut |piece| {
                for element in piece.chunks_exact(width) {
                    self.check_images(&group, element)
                        .map_err(|error| at_value(error, values, position))?;
                    position = position.saturating_add(wide(width));
                }
                Ok(())
            })?;
        }
        if !group.conjugates() {
            return Ok(());
        }
        let mut pages = Pages::new(values.bytes.settled(limits)?);
        let mut element = vec![0; width];
        let mut position = 0_u64;
        group.walk(&mut |_, origin| {
            if origin.is_real || origin.is_imaginary {
                pages.read_at(position, &mut element)?;
                if values.must_swap(Endian::Little) {
                    swap(&mut element, self.dtype().number.width());
                }
                if let Some(why) = self.breaks_own_conjugate(origin, &element) {
                    let at = values.bytes.offset_of(position);
                    notes.push(Note::new(NoteKind::Lenient, why).at(at));
                }
            }
            position = position.saturating_add(wide(width));
            Ok(())
        })
    }

    /// Checks that every image of an element can be represented.
    fn check_images(&self, group: &Group, element: &[u8]) -> Result<()> {
        for operation in group.operations() {
            operation.apply(self.dtype(), &mut element.to_vec())?;
        }
        Ok(())
    }

    /// What is wrong with a cell that has to equal plus or minus its own conjugate.
    fn breaks_own_conjugate(&self, origin: &Origin, element: &[u8]) -> Option<String> {
        let mut numbers = element
            .chunks_exact(self.dtype().number.width())
            .map(|number| self.dtype().number.is_zero(number));
        let first = numbers.next().unwrap_or(true);
        let others = numbers.all(|is_zero| is_zero);
        if origin.is_real && !others {
            Some("a cell that equals its own conjugate has an imaginary part".into())
        } else if origin.is_imaginary && !first {
            Some("a cell that equals minus its own conjugate has a real part".into())
        } else {
            None
        }
    }

    /// Checks that sparse cells lie inside, are given once, and are such as packing allows.
    fn check_sparse(&self, limits: &Limits, notes: &mut Vec<Note>) -> Result<()> {
        let sizes = self.sizes()?;
        let Some(sparse) = self.sparse(&sizes) else {
            return Ok(());
        };
        let group = self.packed_group(limits)?;
        let width = wide(self.dtype().width());
        let mut last = None;
        let mut ascending = true;
        sparse.for_each(&mut |cell, index, value| {
            let origin = group.origin(index);
            let at = sparse.values.bytes.offset_of(cell.saturating_mul(width));
            let is_zero = self.dtype().is_zero(value);
            if origin.zero && !is_zero {
                let why = format!("the symmetry forces cell {index:?} to be zero, and it is not");
                return Err(Error::malformed(at, why));
            }
            self.check_images(&group, value)
                .map_err(|error| at_value(error, sparse.values, cell.saturating_mul(width)))?;
            if let Some(why) = self.breaks_own_conjugate(&origin, value) {
                notes.push(Note::new(NoteKind::Lenient, why).at(at));
            }
            ascending &= last.is_none_or(|last| last < origin.index);
            last = Some(origin.index);
            Ok(())
        })?;
        if ascending {
            return Ok(());
        }
        check_unique(&sparse, &group)
    }

    /// Checks a symmetry that is declared but not used for packing.
    fn check_claim(&self, claim: &Symmetry, limits: &Limits, notes: &mut Vec<Note>) -> Result<()> {
        let sizes = self.sizes()?;
        let only = |symmetry: &Symmetry| symmetry == claim;
        let group = Group::generate(&sizes, self.dtype(), self.symmetries(), only, limits)?;
        let mut worst = Worst::default();
        let claimed = Claim {
            tensor: self,
            claim,
            sizes: &sizes,
            group: &group,
        };
        match self.storage() {
            Storage::Dense { .. } => claimed.check_dense(limits, &mut worst)?,
            Storage::Sparse { .. } => claimed.check_sparse(limits, &mut worst)?,
            Storage::Train { .. } | Storage::Opaque { .. } => {}
        }
        let allowed = match self.dtype().number.kind() {
            Kind::Float => worst.largest * TOLERANCE,
            Kind::Bool | Kind::Unsigned | Kind::Signed => 0.0,
        };
        // Written so that a deviation that is not a number is one.
        if worst.deviation.is_nan() || worst.deviation > allowed {
            let why = format!(
                "the symmetry {:?} under {:?} is broken: cell {:?} is off by {:e}, the largest value is {:e}",
                claim.operation, claim.permutation, worst.index, worst.deviation, worst.largest
            );
            notes.push(Note::new(NoteKind::Lenient, why));
        }
        Ok(())
    }
}

fn at_value(error: Error, values: &Numbers, position: u64) -> Error {
    match error {
        Error::Malformed {
            format,
            at: None,
            why,
        } => Error::Malformed {
            format,
            at: values.bytes.offset_of(position),
            why,
        },
        other => other,
    }
}

fn check_labels(values: &Numbers) -> Result<()> {
    let Extent::Records(records) = values.bytes.extent() else {
        return Err(Error::invalid("labelled values without labels"));
    };
    let source = values.bytes.source();
    let mut set = LabelSet::default();
    records.for_each(source, &mut |_, labels, _| {
        set.push(labels);
        Ok(())
    })?;
    match set.duplicate(records, source)? {
        None => Ok(()),
        Some(at) => Err(Error::malformed(
            at,
            "a block has the labels of an earlier one",
        )),
    }
}

/// Finds a cell that is given twice, or two cells of one orbit: passes over the addresses, each
/// sorting the share of them that fits into memory.
fn check_unique(sparse: &Sparse, group: &Group) -> Result<()> {
    let pairs = PASS / 16;
    let n_passes = sparse.count().div_ceil(pairs).max(1);
    for pass in 0..n_passes {
        // Shares are about equal; a little room spares a copy of the list when one is not.
        let room = pairs.saturating_add(pairs / 16).min(sparse.count());
        let mut seen: Vec<(u64, u64)> = Vec::with_capacity(narrow(room)?);
        sparse.for_each(&mut |cell, index, _| {
            let orbit = group.origin(index).index;
            if spread(orbit) % n_passes == pass {
                seen.push((orbit, cell));
            }
            Ok(())
        })?;
        seen.sort_unstable();
        for pair in seen.windows(2) {
            if let [(first, _), (second, cell)] = pair
                && first == second
            {
                let width = wide(sparse.dtype.width());
                let at = match sparse.address {
                    Address::Linear(numbers) => numbers
                        .bytes
                        .offset_of(cell.saturating_mul(wide(numbers.number.width()))),
                    _ => sparse.values.bytes.offset_of(cell.saturating_mul(width)),
                };
                let what = if group.is_trivial() {
                    "a cell"
                } else {
                    "a cell or an image of it"
                };
                return Err(Error::malformed(at, format!("{what} is given twice")));
            }
        }
    }
    Ok(())
}

/// Mixes an index so that its remainders are spread evenly.
fn spread(index: u64) -> u64 {
    xxhash_rust::xxh3::xxh3_64(&index.to_le_bytes())
}

/// The largest deviation from a symmetry so far.
#[derive(Default)]
struct Worst {
    deviation: f64,
    largest: f64,
    index: Vec<u64>,
}

struct Claim<'a> {
    tensor: &'a Tensor,
    claim: &'a Symmetry,
    sizes: &'a [u64],
    group: &'a Group,
}

impl Claim<'_> {
    fn image(&self, index: &[u64]) -> Vec<u64> {
        let places = self.claim.permutation.iter();
        places
            .map(|place| index.get(*place).copied().unwrap_or(0))
            .collect()
    }

    /// Compares an element with the one that `operation` makes of its image.
    fn compare(
        &self,
        index: &[u64],
        element: &[u8],
        operation: Operation,
        image: &mut [u8],
        worst: &mut Worst,
    ) -> Result<()> {
        let dtype = self.tensor.dtype();
        operation.apply(dtype, image)?;
        let width = dtype.number.width();
        for (own, other) in element.chunks_exact(width).zip(image.chunks_exact(width)) {
            let (left, right) = (dtype.number.to_f64(own), dtype.number.to_f64(other));
            if left.is_finite() && left.abs() > worst.largest {
                worst.largest = left.abs();
            }
            let is_same = own == other || left == right && dtype.number.kind() == Kind::Float;
            if is_same || left.is_nan() && right.is_nan() {
                continue;
            }
            // Large integers may differ and be the same double.
            let apart = (left - right).abs();
            let apart = if apart == 0.0 {
                f64::MIN_POSITIVE
            } else {
                apart
            };
            if apart.is_nan() || apart > worst.deviation {
                worst.deviation = apart;
                worst.index = index.to_vec();
            }
        }
        Ok(())
    }

    fn check_dense(&self, limits: &Limits, worst: &mut Worst) -> Result<()> {
        let Storage::Dense { values, order } = self.tensor.storage() else {
            return Ok(());
        };
        if values.is_empty() {
            return Ok(()); // all cells are forced to be zero, which every symmetry allows
        }
        let (all, order) = if self.tensor.is_packed() {
            (
                self.tensor.dense(Order::Row, limits)?.spooled(limits)?,
                Order::Row,
            )
        } else {
            (values.settled(limits)?, *order)
        };
        let width = self.tensor.dtype().width();
        let mut pages = Pages::new(all.bytes.clone());
        let mut image = vec![0; width];
        let mut index = vec![0; self.sizes.len()];
        let mut cell = 0_u64;
        let operation = Operation::of_code(&self.claim.operation).unwrap_or_default();
        all.for_each(Endian::Little, width, PIECE, &mut |piece| {
            for element in piece.chunks_exact(width) {
                unravel_in(cell, self.sizes, order, &mut index);
                let other = ravel_in(&self.image(&index), self.sizes, order);
                pages.read_at(other.saturating_mul(wide(width)), &mut image)?;
                if all.must_swap(Endian::Little) {
                    swap(&mut image, self.tensor.dtype().number.width());
                }
                self.compare(&index, element, operation, &mut image, worst)?;
                cell = cell.saturating_add(1);
            }
            Ok(())
        })
    }

    /// Passes over the cells, each holding whole orbits of the claimed and packed symmetries.
    fn check_sparse(&self, limits: &Limits, worst: &mut Worst) -> Result<()> {
        let Some(sparse) = self.tensor.sparse(self.sizes) else {
            return Ok(());
        };
        let packed = self.tensor.packed_group(limits)?;
        let both = Group::generate(
            self.sizes,
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
            self.compare_all(&cells, worst)?;
        }
        Ok(())
    }

    fn compare_all(&self, cells: &[(u64, Vec<u8>)], worst: &mut Worst) -> Result<()> {
        let zero = vec![0; self.tensor.dtype().width()];
        let mut index = vec![0; self.sizes.len()];
        for (global, value) in cells {
            unravel_in(*global, self.sizes, Order::Column, &mut index);
            // Both the cell that this one is the image of and its own image, as either may be
            // absent: the powers of the permutation come round to both.
            for (other, operation) in self.group.images(&index) {
                let found = cells.binary_search_by_key(&other, |(global, _)| *global);
                let found = found.ok().and_then(|place| cells.get(place));
                let mut image = found.map_or_else(|| zero.clone(), |(_, value)| value.clone());
                self.compare(&index, value, operation, &mut image, worst)?;
            }
        }
        Ok(())
    }
}
