//! Verification of a tensor's values against its header.
//!
//! Opening a file checks its structure; verification reads everything: every byte decodes and
//! matches its checksum, no cell is duplicate, packed cells are valid, and declared symmetries
//! hold. Memory stays bounded: comparisons with data elsewhere in the file take as many passes as
//! necessary.

use super::Tensor;
use super::storage::{Address, Storage};
use super::symmetry::deviation::Claim;
use super::symmetry::group::{Group, Origin};
use super::symmetry::{Operation, Symmetry};
use crate::bytes::{Bytes, Endian, Extent, LabelSet, PIECE, swap, to_u64};
use crate::dtype::{Kind, Numbers};
use crate::error::{Error, Result};
use crate::hint::Hint;
use crate::io::Pages;
use crate::limits::Limits;
use crate::note::{Note, NoteKind};
use crate::units::measure_text;

/// Tolerance of declared symmetries of floating point numbers, relative to the largest value.
pub(crate) const SYMMETRY_TOLERANCE: f64 = 1e-12;

impl Tensor {
    /// Reads and checks all values.
    ///
    /// Returns notes on violations that only a lenient reader accepts: values that break their
    /// symmetry.
    ///
    /// # Errors
    /// [`Error::Malformed`] at the first fault.
    pub fn check(&self, limits: &Limits) -> Result<Vec<Note>> {
        self.check_unless(limits, &|_| false)
    }

    /// [`Tensor::check`] without those of its bytes that are known to be valid.
    pub(crate) fn check_unless(
        &self,
        limits: &Limits,
        is_known: &dyn Fn(&Bytes) -> bool,
    ) -> Result<Vec<Note>> {
        for part in self.storage().parts() {
            if is_known(&part.bytes) {
                continue;
            }
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

    /// Reads everything that has a checksum, and verifies it.
    ///
    /// # Errors
    /// [`Error::Malformed`] if one does not match.
    pub fn compare_checksums(&self) -> Result<()> {
        let parts = self.storage().parts().into_iter();
        let mut with_digest = parts.filter(|part| part.bytes.digest().is_some());
        with_digest.try_for_each(|part| part.bytes.check())
    }

    /// The bytes of all parts of the storage.
    pub(crate) fn part_bytes(&self) -> Vec<&Bytes> {
        let parts = self.storage().parts().into_iter();
        parts.map(|part| &part.bytes).collect()
    }

    /// Checks the stored cells of a packed dense tensor.
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
                        .map_err(|error| error.or_at(values.bytes.offset_of(position)))?;
                    position = position.saturating_add(to_u64(width));
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
            position = position.saturating_add(to_u64(width));
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

    /// Describes the fault of a cell that must equal plus or minus its own conjugate.
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

    /// Checks that sparse cells are in bounds, unique, and valid for their packing.
    fn check_sparse(&self, limits: &Limits, notes: &mut Vec<Note>) -> Result<()> {
        let sizes = self.sizes()?;
        let Some(sparse) = self.sparse(&sizes, limits)? else {
            return Ok(());
        };
        let group = self.packed_group(limits)?;
        if sparse.count() < self.stored() {
            let why =
                "two members of one orbit are given, which agree, where one is to stand for all";
            return Err(Error::malformed(None, why).with_hint(Hint::Duplicates { sum: false }));
        }
        group.charge(sparse.count().into())?;
        let width = to_u64(self.dtype().width());
        sparse.for_each(&mut |cell, index, value| {
            let origin = group.origin(index);
            let at = sparse.values.bytes.offset_of(cell.saturating_mul(width));
            self.check_images(&group, value)
                .map_err(|error| error.or_at(at))?;
            if let Some(why) = self.breaks_own_conjugate(&origin, value) {
                notes.push(Note::new(NoteKind::Lenient, why).at(at));
            }
            Ok(())
        })
    }

    /// Checks a symmetry that is declared but not used for packing.
    fn check_claim(&self, claim: &Symmetry, limits: &Limits, notes: &mut Vec<Note>) -> Result<()> {
        let worst = Claim::new(self, claim, limits)?.deviation(limits)?;
        let allowed = match self.dtype().number.kind() {
            Kind::Float => worst.largest * SYMMETRY_TOLERANCE,
            Kind::Bool | Kind::Unsigned | Kind::Signed => 0.0,
        };
        // Written so that a NaN deviation fails.
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

fn check_labels(values: &Numbers) -> Result<()> {
    let Extent::Records(records) = values.bytes.extent() else {
        return Err(Error::invalid("labelled values without labels"));
    };
    let source = values.bytes.source();
    let mut set = LabelSet::default();
    records.for_each(source, &mut |_, labels, _| set.push(labels))?;
    match set.duplicate(records, source)? {
        None => Ok(()),
        Some(at) => Err(Error::malformed(
            at,
            "a block has the labels of an earlier one",
        )),
    }
}
