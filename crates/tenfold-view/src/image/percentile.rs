//! Percentiles of a region.

use tenfold::Result;

use super::sampling::of_region;
use super::sparse::{each_stored, within};
use super::{CancelToken, Region, TensorView, narrow};

/// Most numbers sorted.
const MOST: u64 = 1 << 20;

/// The percentiles `wanted` of the finite numbers of a region, and whether all of them were read;
/// `None` if there are none. The nearest rank is used, without interpolation.
///
/// # Errors
/// As [`super::tile`].
pub fn percentiles(
    subject: &TensorView,
    region: &Region,
    wanted: &[f64],
    stop: &CancelToken,
) -> Result<(Option<Vec<f64>>, bool)> {
    region.check(&subject.sizes()?)?;
    let (rows, columns) = region.size();
    let cells = rows.saturating_mul(columns);
    let mut numbers = Vec::new();
    let (mut zeros, mut is_exact) = (0, true);
    if subject.is_scattered() {
        let (mut seen, mut every) = (0_u64, 1_u64);
        each_stored(subject, stop, &mut |index, number, _| {
            if within(region, index).is_none() {
                return;
            }
            if seen.is_multiple_of(every) && number.is_finite() {
                numbers.push(number);
            }
            seen = seen.saturating_add(1);
            if numbers.len() >= narrow(MOST) {
                // Half of them are kept, and the sampling rate is halved from here on.
                let mut place = 0_u64;
                numbers.retain(|_| {
                    place = place.saturating_add(1);
                    !place.is_multiple_of(2)
                });
                every = every.saturating_mul(2);
            }
        })?;
        is_exact = every == 1;
        zeros = cells.saturating_sub(seen) / every;
    } else {
        /// Size of the image that the sampling aims at.
        const SIDE: u64 = 128;
        let pixels = (rows.min(SIDE), columns.min(SIDE));
        let most = subject
            .most_cells(pixels.0.saturating_mul(pixels.1))
            .min(MOST);
        let (down, right) = of_region(region, pixels, most, &subject.tensors());
        is_exact &= down.count.saturating_mul(right.count) == cells;
        let slices = region.slices(down, right);
        subject.each_piece(&slices, stop, &mut |_, found| {
            numbers.extend(found.iter().filter(|number| number.is_finite()));
            Ok(())
        })?;
    }
    numbers.sort_unstable_by(f64::total_cmp);
    let found = { wanted.iter() }.map(|percent| ranked(&numbers, zeros, *percent));
    Ok((found.collect(), is_exact))
}

/// The number at a percentile of sorted numbers and a count of zeros among them.
fn ranked(numbers: &[f64], zeros: u64, percent: f64) -> Option<f64> {
    let below = numbers.partition_point(|number| *number < 0.0);
    let below = super::wide(below);
    let last = super::wide(numbers.len())
        .saturating_add(zeros)
        .checked_sub(1)?;
    let rank = (percent.clamp(0.0, 100.0) / 100.0 * super::float(last)).round();
    #[expect(clippy::as_conversions, reason = "lies between 0 and the last rank")]
    let rank = (rank as u64).min(last);
    if rank >= below && rank < below.saturating_add(zeros) {
        return Some(0.0);
    }
    let place = if rank < below {
        rank
    } else {
        rank.saturating_sub(zeros)
    };
    numbers.get(narrow(place)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_that_are_not_there_count() {
        let numbers = [-2.0, -1.0, 3.0, 4.0];
        let all = [-2.0, -1.0, 0.0, 0.0, 0.0, 3.0, 4.0];
        for (place, number) in all.iter().enumerate() {
            let percent = 100.0 * super::super::float(super::super::wide(place)) / 6.0;
            assert_eq!(ranked(&numbers, 3, percent), Some(*number));
        }
        assert_eq!(ranked(&[], 0, 50.0), None);
        assert_eq!(ranked(&[], 2, 50.0), Some(0.0));
    }
}
