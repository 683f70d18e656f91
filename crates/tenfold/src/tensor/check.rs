//! Whether the values of a tensor keep what its header promises.
//!
//! Opening a file checks its structure; this reads everything: every byte decodes and has its
//! checksum, no cell is given twice, packed cells are those that packing allows, and declared
//! symmetries hold. Memory stays bounded: what has to be compared with what lies elsewhere is done
//! in as many passes as it takes.

use super::Tensor;
use super::claim::{Claim, spread};
use super::group::{Group, Origin};
use super::slice::unravel_in;
use super::sparse::Sparse;
use super::storage::{Address, Order, Storage};
use super::symmetry::{Operation, Symmetry};
use crate::bytes::{Endian, Extent, LabelSet, PIECE, Pages, measure_text, narrow, swap, wide};
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::note::{Note, NoteKind};
use crate::number::{Kind, Numbers};

/// How far declared symmetries of floating point numbers may be off, relative to the largest.
pub(crate) const SYMMETRY_TOLERANCE: f64 = 1e-12;

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
            if let (Extent::Strided(_), None) = (part.bytes.extent(), part.bytes.digest()) {
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
        self.check_demands(limits)?;
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
        let worst = Claim::new(self, claim, limits)?.deviation(limits)?;
        let allowed = match self.dtype().number.kind() {
            Kind::Float => worst.largest * SYMMETRY_TOLERANCE,
            Kind::Bool | Kind::Unsigned | Kind::Signed => 0.0,
        };
        // Written so that a deviation that is not a number is one.
        if worst.apart.is_nan() || worst.apart > allowed {
            let why = format!(
                "the symmetry {:?} under {:?} is broken: cell {:?} is off by {}, the largest value is {}",
                claim.operation,
                claim.permutation,
                worst.index,
                measure_text(worst.apart, 3),
                measure_text(worst.largest, 3)
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
                let which = match at {
                    Some(_) => String::new(),
                    None => {
                        let mut index = vec![0; sparse.sizes.len()];
                        unravel_in(*first, sparse.sizes, Order::Column, &mut index);
                        format!(": {index:?}, counted from 0")
                    }
                };
                let why = format!("{what} is given twice{which}");
                return Err(Error::malformed(at, why));
            }
        }
    }
    Ok(())
}
