//! The cells with the largest differences.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tenfold::{DType, Error, Kind, Result, Slice, write_element};

use super::chunks::{each_band, each_index};
use super::input::{countable, order_of, piece_of};
use super::sampling::of_tensor;
use super::{CancelToken, TensorView, wide};

/// The differences of two tensors.
#[derive(Debug, Clone, PartialEq)]
pub struct Differences {
    /// Number of cells compared.
    pub compared: u64,
    /// Number of cells that are unequal as numbers; two NaNs are equal.
    pub different: u64,
    /// The cells with the largest differences, in descending order.
    pub cells: Vec<Difference>,
    /// The largest finite absolute difference.
    pub largest: Option<f64>,
    /// Whether all cells were compared.
    pub is_exact: bool,
}

/// A cell in which two tensors differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Its index.
    pub at: Vec<u64>,
    /// Its value in the first tensor.
    pub first: String,
    /// Its value in the second.
    pub second: String,
    /// The absolute value of the difference; NaN if it is not a number.
    pub difference: f64,
}

/// The `most` cells in which the two tensors of a view differ most. NaN counts as larger than any
/// other difference.
///
/// # Errors
/// [`Error::Invalid`] if there are not two tensors, and those of reading.
pub fn worst(subject: &TensorView, most: usize, stop: &CancelToken) -> Result<Differences> {
    let Some(other) = subject.other() else {
        return Err(Error::Invalid("two tensors are compared".into()));
    };
    let tensor = subject.tensor();
    let all = countable(subject.cells());
    let most_cells = match subject.most_whole() {
        whole if all <= whole => whole,
        _ => subject.most_cells(1),
    };
    let slices = of_tensor(tensor, most_cells)?;
    let mut found = Differences {
        compared: 0,
        different: 0,
        cells: Vec::new(),
        largest: None,
        is_exact: false,
    };
    let mut heap = Worst {
        most,
        heap: BinaryHeap::new(),
    };
    let piece = piece_of(tensor).min(piece_of(other));
    each_band(&slices, order_of(tensor), piece, stop, &mut |band| {
        let sides = Sides {
            first: tensor.read_box_bytes(band, subject.limits())?,
            second: other.read_box_bytes(band, subject.limits())?,
            dtypes: (tensor.dtype(), other.dtype()),
        };
        sides.compare(band, &mut found, &mut heap);
        Ok(())
    })?;
    found.is_exact = found.compared == all;
    found.cells = heap.sorted();
    Ok(found)
}

/// The same cells of two tensors.
struct Sides {
    first: Vec<u8>,
    second: Vec<u8>,
    dtypes: (DType, DType),
}

impl Sides {
    fn compare(&self, band: &[Slice], found: &mut Differences, heap: &mut Worst) {
        let apart = self.apart();
        let (left, right) = self.dtypes;
        let mut elements = self
            .first
            .chunks_exact(left.width())
            .zip(self.second.chunks_exact(right.width()));
        each_index(band, &apart, &mut |index, difference| {
            let Some((first, second)) = elements.next() else {
                return;
            };
            found.compared = found.compared.saturating_add(1);
            if difference == 0.0 {
                return;
            }
            found.different = found.different.saturating_add(1);
            if !difference.is_nan() {
                found.largest = Some(
                    found
                        .largest
                        .map_or(difference, |so_far| so_far.max(difference)),
                );
            }
            heap.offer(difference, || Difference {
                at: index.to_vec(),
                first: text(left, first),
                second: text(right, second),
                difference,
            });
        });
    }

    /// The distance of two elements: zero if they are equal, or both are NaN.
    fn apart(&self) -> Vec<f64> {
        let (left, right) = self.dtypes;
        let (mut first, mut second) = (Vec::new(), Vec::new());
        left.number.to_doubles(&self.first, &mut first);
        right.number.to_doubles(&self.second, &mut second);
        let count = left.arity.count();
        let pairs = first.chunks_exact(count).zip(second.chunks_exact(count));
        let apart = |a: &f64, b: &f64| {
            if a == b || a.is_nan() && b.is_nan() {
                0.0
            } else {
                (a - b).abs()
            }
        };
        let length = |so_far: f64, (a, b): (&f64, &f64)| match (so_far, apart(a, b)) {
            (so_far, apart) if so_far.is_nan() || apart.is_nan() => f64::NAN,
            (so_far, apart) => so_far.hypot(apart),
        };
        let mut apart: Vec<f64> = pairs
            .map(|(a, b)| a.iter().zip(b).fold(0.0, length))
            .collect();
        self.part_neighbours(&mut apart);
        apart
    }

    /// Distinguishes different integers of the same type that are equal as doubles.
    fn part_neighbours(&self, apart: &mut [f64]) {
        let (left, right) = self.dtypes;
        let is_whole = matches!(left.number.kind(), Kind::Signed | Kind::Unsigned);
        if left != right || !is_whole || left.number.width() < 8 {
            return;
        }
        let elements = self.first.chunks_exact(left.width());
        let pairs = elements.zip(self.second.chunks_exact(left.width()));
        for (apart, (first, second)) in apart.iter_mut().zip(pairs) {
            if *apart == 0.0 && first != second {
                let numbers = first.chunks_exact(left.number.width());
                let numbers = numbers.zip(second.chunks_exact(left.number.width()));
                let steps = numbers.map(|(a, b)| steps(a, b));
                *apart = steps.fold(0.0, f64::hypot);
            }
        }
    }
}

/// The distance of two nearly equal integers.
fn steps(first: &[u8], second: &[u8]) -> f64 {
    // The low bits suffice, in either direction.
    let low = |bytes: &[u8]| {
        bytes
            .first_chunk()
            .map_or(0, |low| u64::from_le_bytes(*low))
    };
    let (first, second) = (low(first), low(second));
    super::float(first.wrapping_sub(second).min(second.wrapping_sub(first)))
}

fn text(dtype: DType, element: &[u8]) -> String {
    let mut text = String::new();
    write_element(dtype, element, &mut text);
    text
}

/// The largest so far as a heap, the smallest of them on top.
struct Worst {
    most: usize,
    heap: BinaryHeap<Reverse<Ranked>>,
}

impl Worst {
    fn offer(&mut self, difference: f64, make: impl FnOnce() -> Difference) {
        let is_full = wide(self.heap.len()) >= wide(self.most);
        let least = self.heap.peek().map(|Reverse(ranked)| ranked.0.difference);
        // Of equal differences the first ones stay. A NaN counts as larger than any number.
        if is_full && least.is_none_or(|least| difference.total_cmp(&least).is_le()) {
            return;
        }
        if is_full {
            self.heap.pop();
        }
        self.heap.push(Reverse(Ranked(make())));
    }

    fn sorted(self) -> Vec<Difference> {
        let mut cells: Vec<Ranked> = self.heap.into_iter().map(|Reverse(cell)| cell).collect();
        cells.sort_by(|a, b| b.cmp(a));
        cells.into_iter().map(|Ranked(cell)| cell).collect()
    }
}

/// A difference ordered by size; of equal ones the first is the largest.
struct Ranked(Difference);

impl Ord for Ranked {
    fn cmp(&self, other: &Ranked) -> std::cmp::Ordering {
        let by_size = self.0.difference.total_cmp(&other.0.difference);
        by_size.then_with(|| other.0.at.cmp(&self.0.at))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Ranked) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Ranked) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ranked {}
