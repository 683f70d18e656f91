//! Boxes split into chunks that are contiguous in a file.

use tenfold::{Order, Result, Slice};

use super::sampling::cells;
use super::{CancelToken, narrow};

/// Calls `each` with boxes of at most about `most` cells that together cover `slices`.
///
/// # Errors
/// Those of `each`, and [`tenfold::Error::Stopped`].
pub(crate) fn each_band(
    slices: &[Slice],
    order: Order,
    most: u64,
    stop: &CancelToken,
    each: &mut dyn FnMut(&[Slice]) -> Result<()>,
) -> Result<()> {
    if cells(slices) == 0 {
        return Ok(());
    }
    let mut axes: Vec<usize> = (0..slices.len()).collect();
    if order == Order::Column {
        axes.reverse();
    }
    cut(&mut slices.to_vec(), &axes, most.max(1), stop, each)
}

fn cut(
    slices: &mut Vec<Slice>,
    axes: &[usize],
    most: u64,
    stop: &CancelToken,
    each: &mut dyn FnMut(&[Slice]) -> Result<()>,
) -> Result<()> {
    let fits = cells(slices) <= most;
    let Some((axis, faster)) = axes.split_first().filter(|_| !fits) else {
        stop.check()?;
        return each(slices);
    };
    let Some(whole) = slices.get(*axis).copied() else {
        return Ok(());
    };
    let a_place = cells(slices) / whole.count.max(1);
    let count = (most / a_place.max(1)).max(1);
    let mut done = 0;
    while done < whole.count {
        if let Some(slice) = slices.get_mut(*axis) {
            *slice = Slice {
                start: place(whole, done),
                count: count.min(whole.count.saturating_sub(done)),
                step: whole.step,
            };
        }
        cut(slices, faster, most, stop, each)?;
        done = done.saturating_add(count);
    }
    if let Some(slice) = slices.get_mut(*axis) {
        *slice = whole;
    }
    Ok(())
}

/// The position of item `item` of a slice with a positive step.
pub(crate) fn place(slice: Slice, item: u64) -> u64 {
    let moved = item.saturating_mul(slice.step.unsigned_abs());
    slice.start.saturating_add(moved)
}

/// Calls `each` with the index of every cell of a box, row-major, and its value.
pub(crate) fn each_index(slices: &[Slice], values: &[f64], each: &mut dyn FnMut(&[u64], f64)) {
    let mut items = vec![0_u64; slices.len()];
    let mut index: Vec<u64> = slices.iter().map(|slice| slice.start).collect();
    for value in values.iter().take(narrow(cells(slices))) {
        each(&index, *value);
        let places = items.iter_mut().zip(&mut index).zip(slices).rev();
        for ((item, at), slice) in places {
            *item = item.saturating_add(1);
            if *item < slice.count {
                *at = place(*slice, *item);
                break;
            }
            *item = 0;
            *at = slice.start;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_have_every_cell_once_and_no_more_than_asked_for() {
        let slices = [Slice::range(1..4), spaced(), Slice::all(4)];
        for order in [Order::Row, Order::Column] {
            for most in [1, 2, 5, 7, 16, 100] {
                let mut seen = Vec::new();
                each_band(&slices, order, most, &CancelToken::default(), &mut |band| {
                    assert!(cells(band) <= most);
                    let values = vec![0.0; narrow(cells(band))];
                    each_index(band, &values, &mut |index, _| seen.push(index.to_vec()));
                    Ok(())
                })
                .unwrap();
                seen.sort();
                let mut all = Vec::new();
                for i in 1..4 {
                    for j in [2, 5, 8] {
                        all.extend((0..4).map(|k| vec![i, j, k]));
                    }
                }
                assert_eq!(seen, all, "{order:?} {most}");
            }
        }
    }

    fn spaced() -> Slice {
        Slice {
            start: 2,
            count: 3,
            step: 3,
        }
    }

    #[test]
    fn work_ends_when_nobody_wants_it() {
        let stop = CancelToken::default();
        let mut n_bands = 0;
        let outcome = each_band(&[Slice::all(10)], Order::Row, 1, &stop, &mut |_| {
            n_bands += 1;
            stop.raise();
            Ok(())
        });
        assert!(matches!(outcome, Err(tenfold::Error::Stopped)));
        assert_eq!(n_bands, 1);
    }
}
