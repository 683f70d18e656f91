//! Differences of two tensors or two files.
//!
//! Cells are *the same* if they are equal as numbers, have the same bits, or differ within the
//! [`DiffTolerance`]. Both tensors are read side by side, a piece at a time, in the stored order of
//! one of them; sums are accumulated in a fixed order, so that they do not depend on the number of
//! cores.

mod blocks;
mod cells;
mod compare_block;
#[cfg(test)]
mod layouts;
mod metrics;
mod pair;
mod scaled_sum;
mod sparse;
mod tally;
#[cfg(test)]
mod tests;
mod tolerance;
mod zip_read;

pub use blocks::Blocks;
pub use metrics::{Measures, Worst};
pub use pair::{Pairing, pair};
pub use tolerance::DiffTolerance;

use crate::bytes::Endian;
use crate::dtype::{DType, Numbers};
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::tensor::{Order, Storage, Tensor, unravel_in};
use blocks::{BlocksFound, compare_blocks};
use cells::{Sums, are_identical, compare_cells, tally};
use tally::Tally;
use zip_read::Side;

/// Options of a comparison.
#[derive(Debug, Clone, Default)]
pub struct DiffOptions {
    /// The tolerance within which two cells are the same.
    pub tolerance: DiffTolerance,
    /// Whether tensors of different element types may be the same.
    pub ignore_dtype: bool,
    /// Limits on the expansion of values.
    pub limits: Limits,
}

/// The verdict on two tensors, the most similar first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// All values are the same bit for bit.
    Identical,
    /// All values are equal as numbers.
    Equal,
    /// All values are within the tolerance.
    Near,
    /// Some values differ.
    Changed,
}

/// The basis of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// All cells.
    Cells,
    /// The labelled blocks that both have.
    Blocks,
    /// The cores of two trains of the same ranks that are too large to be expanded.
    Cores,
    /// The bytes of opaque tensors.
    Bytes,
    /// Nothing: the shapes do not match.
    Nothing,
}

/// The differences of two tensors.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Comparison {
    /// The verdict.
    pub verdict: Verdict,
    /// The basis of the comparison.
    pub basis: Basis,
    /// Whether the element types differ.
    pub dtype_differs: bool,
    /// Whether the dimensions differ, matched by name where both have the same names.
    pub shape_differs: bool,
    /// The dimension of B for each of A's, if they are matched by name and their order differs.
    pub axes: Option<Vec<usize>>,
    /// Measures of the differences, unless there are none or nothing was compared.
    pub measures: Option<Measures>,
    /// The labelled blocks that only one of the two has.
    pub blocks: Option<Blocks>,
}

/// Compares two tensors.
///
/// ```
/// use tenfold::{DiffOptions, Dim, Numbers, Order, Storage, Tensor, Verdict, compare};
///
/// let of = |values: &[f32]| {
///     let values = Numbers::from_vec(values);
///     let storage = Storage::Dense { order: Order::Row, values };
///     Tensor::new(vec![Dim::indexed(3)], "f32".parse()?, vec![], storage)
/// };
/// let found = compare(&of(&[1.0, 2.0, 2.0])?, &of(&[1.0, 2.0, 5.0])?, &DiffOptions::default())?;
/// assert_eq!(found.verdict, Verdict::Changed);
/// let measures = found.measures.unwrap();
/// assert_eq!((measures.changed, measures.largest, measures.relative_norm), (1, 3.0, 1.0));
/// assert_eq!(measures.worst.unwrap().index, [2]);
/// # Ok::<(), tenfold::Error>(())
/// ```
///
/// # Errors
/// [`Error::Malformed`] if values are invalid or fail their checksum, [`Error::Limit`] if a tensor
/// would have to be expanded beyond the limits.
pub fn compare(a: &Tensor, b: &Tensor, how: &DiffOptions) -> Result<Comparison> {
    for tensor in [a, b] {
        check_sums(tensor)?;
    }
    let axes = axes_of(a, b);
    let sizes = axes.iter().map(|axis| b.dims().get(*axis));
    let shape_differs = a.dims().len() != b.dims().len()
        || !sizes
            .zip(a.dims())
            .all(|(other, own)| other.is_some_and(|other| other.size == own.size));
    let mut found = Comparison {
        verdict: Verdict::Identical,
        basis: Basis::Nothing,
        dtype_differs: a.dtype() != b.dtype(),
        shape_differs,
        axes: (!axes.is_sorted()).then(|| axes.clone()),
        measures: None,
        blocks: None,
    };
    if shape_differs || a.dtype().arity != b.dtype().arity {
        found.verdict = Verdict::Changed;
        return Ok(found);
    }
    found.fill(a, b, &axes, how)?;
    if found.dtype_differs {
        let least = if how.ignore_dtype {
            Verdict::Equal
        } else {
            Verdict::Changed
        };
        found.verdict = found.verdict.max(least);
    }
    Ok(found)
}

impl Comparison {
    /// Compares the values of tensors of one shape.
    fn fill(&mut self, a: &Tensor, b: &Tensor, axes: &[usize], how: &DiffOptions) -> Result<()> {
        match (a.storage(), b.storage()) {
            (Storage::Opaque { .. }, Storage::Opaque { .. }) => self.fill_opaque(a, b, how),
            (Storage::Opaque { .. }, _) | (_, Storage::Opaque { .. }) => {
                self.verdict = Verdict::Changed;
                Ok(())
            }
            _ if a.n_mapped() > 0 => {
                self.basis = Basis::Blocks;
                let found = compare_blocks(a, b, axes, how)?;
                let BlocksFound {
                    tally,
                    blocks,
                    worst,
                } = found;
                let cells = a.cells().unwrap_or(u128::MAX);
                let cells = cells.saturating_mul(blocks.shared.into());
                let is_lacking = blocks.only_a > 0 || blocks.only_b > 0;
                self.blocks = Some(blocks);
                self.take(tally, cells, worst);
                if is_lacking {
                    self.verdict = Verdict::Changed;
                }
                Ok(())
            }
            _ => self.fill_positions(a, b, axes, how),
        }
    }

    fn fill_positions(
        &mut self,
        a: &Tensor,
        b: &Tensor,
        axes: &[usize],
        how: &DiffOptions,
    ) -> Result<()> {
        self.basis = Basis::Cells;
        if self.axes.is_none() && are_stored_alike(a, b)? {
            return Ok(());
        }
        let cells = a.cells().unwrap_or(u128::MAX);
        match compare_cells(a, b, axes, how, Sums::OfDifferent) {
            Ok((tally, place)) => self.take(tally, cells, place.map(|index| (Vec::new(), index))),
            Err(error @ Error::Limit { .. }) if self.axes.is_none() => {
                let Some(cores) = matching_cores(a, b) else {
                    return Err(error);
                };
                self.fill_cores(a, b, &cores, how)?;
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Compares trains core by core; an index is then the core and the position in it.
    fn fill_cores(
        &mut self,
        a: &Tensor,
        b: &Tensor,
        cores: &[(&Numbers, &Numbers)],
        how: &DiffOptions,
    ) -> Result<()> {
        self.basis = Basis::Cores;
        let (mut all, mut worst, mut cells) = (Tally::default(), None, 0_u128);
        let ranks = match a.storage() {
            Storage::Train { ranks, .. } => ranks.as_slice(),
            _ => &[],
        };
        let shapes = ranks.iter().zip(a.sizes()?).zip(ranks.iter().skip(1));
        for (((left, right), core), ((rank, size), next)) in cores.iter().zip(0..).zip(shapes) {
            let count = left.len() / a.dtype().arity.count().try_into().unwrap_or(1);
            let side =
                |numbers: &Numbers, dtype| Side::numbers(numbers.clone(), dtype, Endian::Little);
            let sides = (side(left, a.dtype()), side(right, b.dtype()));
            let found = tally(sides.0, sides.1, count, a.dtype(), b.dtype(), how)?;
            if let Some(farthest) = found.farthest.as_ref().filter(|f| all.is_farthest(f.size)) {
                let mut place = vec![0; 3];
                unravel_in(farthest.cell, &[*rank, size, *next], Order::Row, &mut place);
                place.insert(0, core);
                worst = Some((Vec::new(), place));
            }
            all.merge(found);
            cells = cells.saturating_add(count.into());
        }
        self.take(all, cells, worst);
        Ok(())
    }

    fn fill_opaque(&mut self, a: &Tensor, b: &Tensor, how: &DiffOptions) -> Result<()> {
        self.basis = Basis::Bytes;
        let (
            Storage::Opaque { layout, parts },
            Storage::Opaque {
                layout: other,
                parts: others,
            },
        ) = (a.storage(), b.storage())
        else {
            return Ok(());
        };
        let mut is_same = layout == other && parts.len() == others.len();
        for ((name, part), (other_name, other)) in parts.iter().zip(others) {
            if !is_same || name != other_name || part.number != other.number {
                is_same = false;
                break;
            }
            let (part, other) = (part.settled(&how.limits)?, other.settled(&how.limits)?);
            is_same = are_identical(&part, &other, DType::real(part.number))?;
        }
        if !is_same {
            self.verdict = Verdict::Changed;
        }
        Ok(())
    }

    /// Takes over the result of a comparison.
    fn take(&mut self, tally: Tally, cells: u128, worst: Option<(Vec<String>, Vec<u64>)>) {
        self.verdict = if tally.changed > 0 {
            Verdict::Changed
        } else if tally.unequal > 0 {
            Verdict::Near
        } else if tally.other_bits {
            Verdict::Equal
        } else {
            Verdict::Identical
        };
        if tally.unequal > 0 {
            self.measures = Some(Measures::of(tally, cells, worst));
        }
    }
}

/// Verifies the checksums of values that will be read by position.
fn check_sums(tensor: &Tensor) -> Result<()> {
    let parts = tensor.storage().parts();
    let has_sum = |part: &&&Numbers| part.bytes.digest().is_some() && !part.bytes.is_compressed();
    parts
        .iter()
        .filter(has_sum)
        .try_for_each(|part| part.bytes.check())
}

/// The dimension of B for each of A's: by name if both have the same names, else by position.
fn axes_of(a: &Tensor, b: &Tensor) -> Vec<usize> {
    let straight = || (0..b.dims().len()).collect();
    let find = |name: &Option<String>| {
        name.as_ref()?;
        let mut alike = b
            .dims()
            .iter()
            .zip(0..)
            .filter(|(dim, _)| dim.name == *name);
        alike
            .next()
            .map(|(_, place)| place)
            .filter(|_| alike.next().is_none())
    };
    if a.dims().len() != b.dims().len() {
        return straight();
    }
    let axes: Option<Vec<usize>> = a.dims().iter().map(|dim| find(&dim.name)).collect();
    match axes {
        Some(axes) if is_permutation(&axes) => axes,
        _ => straight(),
    }
}

fn is_permutation(axes: &[usize]) -> bool {
    let mut sorted = axes.to_vec();
    sorted.sort_unstable();
    sorted.iter().copied().eq(0..axes.len())
}

/// Whether packed values, or the cores of trains, are the same bit for bit, so that nothing must be
/// expanded.
fn are_stored_alike(a: &Tensor, b: &Tensor) -> Result<bool> {
    if a.dtype() != b.dtype() {
        return Ok(false);
    }
    let packed = |tensor: &Tensor| -> Vec<_> {
        let packed = tensor
            .symmetries()
            .iter()
            .filter(|symmetry| symmetry.packed);
        packed.cloned().collect()
    };
    let pairs = match (a.storage(), b.storage()) {
        (
            Storage::Dense { order, values },
            Storage::Dense {
                order: other,
                values: others,
            },
        ) if order == other && a.is_packed() && packed(a) == packed(b) => {
            vec![(values, others)]
        }
        _ => match matching_cores(a, b) {
            Some(cores) => cores,
            None => return Ok(false),
        },
    };
    for (left, right) in pairs {
        let is_plain = !left.bytes.is_compressed() && !right.bytes.is_compressed();
        if !is_plain || !are_identical(left, right, a.dtype())? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The cores of two trains of the same ranks.
fn matching_cores<'a>(a: &'a Tensor, b: &'a Tensor) -> Option<Vec<(&'a Numbers, &'a Numbers)>> {
    match (a.storage(), b.storage()) {
        (
            Storage::Train { ranks, cores },
            Storage::Train {
                ranks: other,
                cores: others,
            },
        ) if ranks == other => Some(cores.iter().zip(others).collect()),
        _ => None,
    }
}
