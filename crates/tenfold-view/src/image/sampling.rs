//! Sampling of cells from large regions.

use tenfold::{Order, Result, Slice, Storage, Tensor};

use super::input::order_of;
use super::{Region, narrow};

/// Approximate bytes of a file read for one image, as long as every pixel gets a cell.
const TOUCHED: u64 = 128 << 20;

/// A read of a single cell reads the page around it.
const PAGE: u64 = 16 << 10;

/// Bytes of pages that are always read, even if no two cells are contiguous.
const SCATTERED: u64 = 512 << 20;

/// Evenly spaced positions of a range of `size` from `start` on, `step` apart, each in the middle
/// of its interval.
pub(crate) fn spaced(start: u64, size: u64, step: u64) -> Slice {
    let step = step.clamp(1, size.max(1));
    let first = step / 2;
    Slice {
        start: start.saturating_add(first),
        count: size.saturating_sub(first).div_ceil(step),
        step: i64::try_from(step).unwrap_or(i64::MAX),
    }
}

/// The rows and columns of a region that are read for `pixels` (down, right): all if there are at
/// most `most` cells, otherwise at least one per pixel.
pub(crate) fn of_region(
    region: &Region,
    pixels: (u64, u64),
    most: u64,
    tensors: &[&Tensor],
) -> (Slice, Slice) {
    let (rows, columns) = region.size();
    let cells = rows.saturating_mul(columns);
    let wanted = pixels.0.saturating_mul(pixels.1);
    let most = most.min(affordable(region, tensors, cells).max(wanted));
    if cells <= most {
        let (down, right) = (region.down.clone(), region.right.clone());
        return (Slice::range(down), Slice::range(right));
    }
    let (height, width) = (rows / pixels.0.max(1), columns / pixels.1.max(1));
    let a_pixel = (most / wanted.max(1)).max(1);
    let (slow, fast) = match runs(region, tensors) {
        // Contiguous cells are cheapest: as many of these as possible, fewer of the others.
        Some(Runs { axis, len }) => {
            let is_right = axis == region.columns;
            let (across, along) = if is_right {
                ((pixels.0, height), (pixels.1, width))
            } else {
                ((pixels.1, width), (pixels.0, height))
            };
            let fast = a_pixel.min(along.1.max(1));
            let touched = len
                .min(along.0.saturating_mul(fast).saturating_mul(PAGE))
                .max(1);
            let affordable = TOUCHED / touched / across.0.max(1);
            let slow = (a_pixel / fast).max(1);
            let slow = slow
                .max(affordable.min(a_pixel / 4))
                .clamp(1, across.1.max(1));
            let fast = (a_pixel / slow).clamp(1, fast);
            if is_right { (slow, fast) } else { (fast, slow) }
        }
        None => (1, 1),
    };
    (
        spaced(region.down.start, rows, height / slow),
        spaced(region.right.start, columns, width / fast),
    )
}

/// Number of cells of a region that may be read if each lies in a page of its own.
pub(crate) fn affordable(region: &Region, tensors: &[&Tensor], cells: u64) -> u64 {
    let len = |tensor: &&Tensor| match tensor.storage() {
        Storage::Dense { values, .. } => values.bytes.len(),
        Storage::Sparse { .. } | Storage::Train { .. } | Storage::Opaque { .. } => 0,
    };
    let len = tensors.iter().map(len).max().unwrap_or(0);
    let touched = cells.saturating_mul(PAGE).min(len);
    if touched <= SCATTERED || runs(region, tensors).is_some() {
        u64::MAX
    } else {
        SCATTERED / PAGE
    }
}

/// The contiguous axis, and the number of bytes in one row of it.
struct Runs {
    axis: Option<usize>,
    len: u64,
}

/// The axis of a region along which the cells of a file are contiguous, if there is one.
fn runs(region: &Region, tensors: &[&Tensor]) -> Option<Runs> {
    let tensor = tensors.first()?;
    let Storage::Dense { .. } = tensor.storage() else {
        return Some(Runs {
            axis: region.columns,
            len: 0,
        });
    };
    let sizes = tensor.sizes().ok()?;
    let fastest = fastest(tensor, &sizes);
    let is_seen = fastest == region.rows || fastest == region.columns;
    let width = u64::try_from(tensor.dtype().width()).ok()?;
    let len = sizes.get(fastest?)?.saturating_mul(width);
    is_seen.then_some(Runs { axis: fastest, len })
}

/// The axis along which adjacent cells are adjacent in the file.
fn fastest(tensor: &Tensor, sizes: &[u64]) -> Option<usize> {
    let mut axes = (0..sizes.len()).filter(|axis| sizes.get(*axis).is_some_and(|n| *n > 1));
    match order_of(tensor) {
        Order::Row => axes.next_back(),
        Order::Column => axes.next(),
    }
}

/// Positions of all dimensions of a tensor: all if there are at most `most` cells, otherwise an
/// even sample, sparser in long dimensions and densest in the contiguous one.
pub(crate) fn of_tensor(tensor: &Tensor, most: u64) -> Result<Vec<Slice>> {
    let sizes = tensor.sizes()?;
    let fastest = fastest(tensor, &sizes);
    Ok(of_sizes(&sizes, fastest, most))
}

fn of_sizes(sizes: &[u64], fastest: Option<usize>, most: u64) -> Vec<Slice> {
    /// Aspect ratio of a sample: its rows are this much longer than its columns.
    const LONG: u64 = 64;
    let mut counts = sizes.to_vec();
    loop {
        let cells = counts
            .iter()
            .fold(1_u128, |n, count| n.saturating_mul((*count).into()));
        let dear = |(axis, count): &(usize, &mut u64)| {
            if Some(*axis) == fastest {
                **count / LONG
            } else {
                **count
            }
        };
        let all = counts.iter_mut().enumerate();
        let longest = all.filter(|(_, count)| **count > 1).max_by_key(dear);
        match longest {
            Some((_, longest)) if cells > most.into() => *longest = longest.div_ceil(2),
            _ => break,
        }
    }
    let places = sizes.iter().zip(counts);
    { places }
        .map(|(size, count)| spaced(0, *size, size.div_ceil(count.max(1))))
        .collect()
}

/// The number of cells of a box.
pub(crate) fn cells(slices: &[Slice]) -> u64 {
    slices
        .iter()
        .fold(1, |n: u64, slice| n.saturating_mul(slice.count))
}

/// The pixel, of `pixels`, for the cell at `offset` of `size`: pixel y has the cells from
/// y·size/pixels on.
pub(crate) fn pixel(offset: u64, size: u64, pixels: u64) -> usize {
    let end = u128::from(offset)
        .saturating_add(1)
        .saturating_mul(pixels.into());
    let pixel = end.saturating_sub(1) / u128::from(size.max(1));
    narrow(u64::try_from(pixel).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaced_places_hit_every_pixel() {
        for size in 1..40 {
            for pixels in 1..=size {
                let places = spaced(3, size, size / pixels);
                let mut hit = vec![false; narrow(pixels)];
                for item in 0..places.count {
                    let offset = places.start - 3 + item * u64::try_from(places.step).unwrap();
                    assert!(offset < size);
                    hit[pixel(offset, size, pixels)] = true;
                }
                assert!(hit.iter().all(|hit| *hit), "{size} {pixels}");
            }
        }
    }

    #[test]
    fn pixels_begin_where_the_contract_says() {
        for (size, pixels) in [(7, 3), (10, 10), (1000, 17), (5, 1)] {
            for offset in 0..size {
                let y = u64::try_from(pixel(offset, size, pixels)).unwrap();
                assert!(y * size / pixels <= offset && offset < (y + 1) * size / pixels);
            }
        }
    }

    #[test]
    fn a_sample_of_many_cells_is_small_and_lies_inside() {
        for sizes in [
            vec![1 << 40],
            vec![1000, 1000, 1000],
            vec![3, 1 << 30],
            vec![2; 60],
        ] {
            let slices = of_sizes(&sizes, Some(0), 1000);
            assert!(cells(&slices) <= 1000 && cells(&slices) > 100, "{slices:?}");
            for (slice, size) in slices.iter().zip(sizes) {
                let last = slice.start + (slice.count - 1) * slice.step.unsigned_abs();
                assert!(last < size);
            }
        }
        assert_eq!(of_sizes(&[3, 4], None, 12), [Slice::all(3), Slice::all(4)]);
    }
}
