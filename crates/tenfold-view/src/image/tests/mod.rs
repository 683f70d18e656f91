//! Tests of images of every kind of tensor against plain loops over all cells.

#[cfg(test)]
pub(super) mod samples;

use tenfold::Limits;

use crate::image::*;
use samples::{Sample, all};

/// The regions of a sample: every pair of axes in both orders, in whole and in part, and lines.
fn regions(sample: &Sample) -> Vec<Region> {
    let ndim = sample.sizes.len();
    let at: Vec<u64> = sample.sizes.iter().map(|size| size / 2).collect();
    let mut found = Vec::new();
    for rows in 0..ndim {
        for columns in (0..ndim).filter(|columns| *columns != rows) {
            let (down, right) = (sample.sizes[rows], sample.sizes[columns]);
            for (down, right) in [(0..down, 0..right), (1..down - 1, 2..right)] {
                found.push(Region {
                    rows: Some(rows),
                    columns: Some(columns),
                    at: at.clone(),
                    down,
                    right,
                });
            }
        }
        found.push(Region {
            rows: Some(rows),
            columns: None,
            at: at.clone(),
            down: 0..sample.sizes[rows],
            right: 0..1,
        });
    }
    found.push(Region {
        rows: None,
        columns: None,
        at,
        down: 0..1,
        right: 0..1,
    });
    found
}

fn index(region: &Region, row: u64, column: u64) -> Vec<u64> {
    let mut index = region.at.clone();
    if let Some(rows) = region.rows {
        index[rows] = row;
    }
    if let Some(columns) = region.columns {
        index[columns] = column;
    }
    index
}

/// The component of an element, by its definition.
fn part(part: Part, element: &[f64]) -> f64 {
    match part {
        Part::Component(place) => element[place],
        Part::Magnitude => element[0].hypot(element[1]),
        Part::Phase => element[1].atan2(element[0]),
    }
}

fn parts(sample: &Sample) -> Vec<Part> {
    match sample.tensor.dtype().arity.count() {
        1 => vec![Part::Component(0)],
        _ => vec![
            Part::Component(0),
            Part::Component(1),
            Part::Magnitude,
            Part::Phase,
        ],
    }
}

fn subject(sample: &Sample, part: Part) -> TensorView {
    TensorView::new(&sample.tensor, part, &Limits::default()).unwrap()
}

#[test]
fn every_pixel_says_what_its_cells_have_in_common() {
    for sample in all() {
        for region in regions(&sample) {
            for which in parts(&sample) {
                for wanted in [(3, 4), (100, 100), (1, 2)] {
                    let made = subject(&sample, which);
                    let tile = tile(&made, &region, wanted, true, &CancelToken::default()).unwrap();
                    compare(&sample, &region, which, wanted, &tile);
                }
            }
        }
    }
}

/// Compares a tile with loops over the cells of each pixel.
fn compare(sample: &Sample, region: &Region, which: Part, wanted: (u64, u64), tile: &Tile) {
    let (rows, columns) = region.size();
    let (height, width) = (wanted.0.min(rows), wanted.1.min(columns));
    let about = format!("{} {region:?} {which:?} {wanted:?}", sample.name);
    assert_eq!(
        (wide(tile.height), wide(tile.width)),
        (height, width),
        "{about}"
    );
    assert!(tile.is_exact, "{about}");
    let (mut lowest, mut highest) = (f64::INFINITY, f64::NEG_INFINITY);
    for y in 0..height {
        for x in 0..width {
            let (mut finite, mut flags) = (Vec::new(), 0_u8);
            for row in y * rows / height..(y + 1) * rows / height {
                for column in x * columns / width..(x + 1) * columns / width {
                    let index = index(region, region.down.start + row, region.right.start + column);
                    let number = part(which, sample.at(&index));
                    flags |= match number {
                        n if n.is_nan() => 1,
                        n if n == f64::INFINITY => 2,
                        n if n == f64::NEG_INFINITY => 4,
                        n => {
                            finite.push(n);
                            0
                        }
                    };
                    flags |= match sample.stored[sample.place(&index)] {
                        Some(true) => 16,
                        Some(false) => 8,
                        None => 0,
                    };
                }
            }
            if finite.is_empty() {
                flags |= 32;
            }
            let at = usize::try_from(y * width + x).unwrap();
            assert_eq!(tile.flags[at], flags, "flags of {x} {y} of {about}");
            let near = |found: f32, expected: f64| {
                (f64::from(found) - expected).abs() <= 1e-6 * expected.abs().max(1.0)
            };
            let min = finite.iter().copied().fold(f64::INFINITY, f64::min);
            let max = finite.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            (lowest, highest) = (lowest.min(min), highest.max(max));
            if finite.is_empty() {
                assert!(tile.min[at].is_nan() && tile.mean[at].is_nan(), "{about}");
                continue;
            }
            let mean = finite.iter().sum::<f64>() / float(wide(finite.len()));
            assert!(
                near(tile.min[at], min) && near(tile.max[at], max),
                "{x} {y} of {about}"
            );
            assert!(near(tile.mean[at], mean), "{x} {y} of {about}");
        }
    }
    let ends = (
        tile.lowest.unwrap_or(f64::INFINITY),
        tile.highest.unwrap_or(f64::NEG_INFINITY),
    );
    let near = |a: f64, b: f64| a == b || (a - b).abs() < 1e-5;
    assert!(near(ends.0, lowest) && near(ends.1, highest), "{about}");
}

#[test]
fn statistics_and_bins_count_every_cell() {
    for sample in all() {
        for which in parts(&sample) {
            let parts = sample.tensor.dtype().arity.count();
            let numbers: Vec<f64> = sample.cells.chunks(parts).map(|e| part(which, e)).collect();
            let found = histogram(
                &subject(&sample, which),
                None,
                None,
                7,
                &CancelToken::default(),
            )
            .unwrap();
            let finite: Vec<f64> = numbers.iter().copied().filter(|n| n.is_finite()).collect();
            let count = |of: &dyn Fn(&f64) -> bool| wide(numbers.iter().filter(|n| of(n)).count());
            let of = &found.statistics;
            assert_eq!(of.count, wide(numbers.len()), "{}", sample.name);
            assert_eq!(of.nan, count(&|n| n.is_nan()));
            assert_eq!(of.infinite, count(&|n| n.is_infinite()));
            assert_eq!(of.zeros, count(&|n| *n == 0.0));
            assert!(found.is_exact && found.read == of.count);
            let (low, high) = (found.low.unwrap(), found.high.unwrap());
            let width = (high - low) / 7.0;
            let mut counts = vec![0_u64; 7];
            for number in &finite {
                let bin = (0..7_u32)
                    .rev()
                    .find(|bin| *number >= low + f64::from(*bin) * width);
                counts[usize::try_from(bin.unwrap_or(0)).unwrap()] += 1;
            }
            assert_eq!(found.counts.iter().sum::<u64>(), wide(finite.len()));
            // A number on an edge may be rounded into the adjacent bin.
            for (found, expected) in found.counts.iter().zip(&counts) {
                assert!(found.abs_diff(*expected) <= 1, "{} {counts:?}", sample.name);
            }
        }
    }
}

#[test]
fn lines_have_the_cells_of_their_row() {
    for sample in all() {
        let which = parts(&sample)[0];
        let made = subject(&sample, which);
        let at: Vec<u64> = sample.sizes.iter().map(|size| size - 1).collect();
        for axis in 0..sample.sizes.len() {
            let range = 1..sample.sizes[axis];
            let found = lines(
                &made,
                axis,
                &range,
                &[at.clone(), vec![0; at.len()]],
                2,
                &CancelToken::default(),
            );
            let found = found.unwrap();
            assert!(found.is_exact && found.lines.len() == 2);
            let size = range.end - range.start;
            let edges = [1, 1 + size / 2, 1 + size];
            assert_eq!(found.first, edges[..2], "{}", sample.name);
            for bucket in 0..2 {
                let mut index = at.clone();
                let mut cells = Vec::new();
                for place in edges[bucket]..edges[bucket + 1] {
                    index[axis] = place;
                    cells.push(part(which, sample.at(&index)));
                }
                let finite = cells.iter().copied().filter(|n| n.is_finite());
                assert_eq!(found.lines[0].min[bucket], finite.clone().reduce(f64::min));
                assert_eq!(found.lines[0].max[bucket], finite.reduce(f64::max));
                let nan = cells.iter().filter(|n| n.is_nan()).count();
                assert_eq!(found.lines[0].nan[bucket], wide(nan));
            }
        }
    }
}

#[test]
fn percentiles_are_those_of_the_sorted_cells() {
    for sample in all() {
        let which = parts(&sample)[0];
        for region in regions(&sample) {
            let mut cells = Vec::new();
            for row in region.down.clone() {
                for column in region.right.clone() {
                    let number = part(which, sample.at(&index(&region, row, column)));
                    cells.extend(number.is_finite().then_some(number));
                }
            }
            cells.sort_by(f64::total_cmp);
            let wanted = [0.0, 50.0, 100.0];
            let found = percentiles(
                &subject(&sample, which),
                &region,
                &wanted,
                &CancelToken::default(),
            );
            let (found, is_exact) = found.unwrap();
            assert!(is_exact);
            let Some(last) = cells.len().checked_sub(1) else {
                assert_eq!(found, None);
                continue;
            };
            let middle = cells[last.div_ceil(2)];
            assert_eq!(
                found.unwrap(),
                [cells[0], middle, cells[last]],
                "{}",
                sample.name
            );
        }
    }
}

#[test]
fn the_difference_of_a_tensor_and_another_is_drawn_and_its_worst_cells_found() {
    let samples = all();
    let (row, column) = (&samples[0], &samples[1]);
    let made = subject(row, Part::Component(0))
        .minus(&column.tensor)
        .unwrap();
    let region = Region::first_of(&row.sizes);
    let zero = tile(&made, &region, (9, 9), false, &CancelToken::default()).unwrap();
    assert_eq!((zero.lowest, zero.highest), (Some(0.0), Some(0.0)));
    let same = worst(&made, 5, &CancelToken::default()).unwrap();
    assert_eq!(
        (same.compared, same.different, same.is_exact),
        (210, 0, true)
    );

    let mut others = row.cells.clone();
    for (cell, add) in [(10, 2.0), (77, -9.5), (150, 0.25)] {
        others[cell] += add;
    }
    others[20] = f64::NAN;
    let values = tenfold::Numbers::from_vec(&others);
    let order = tenfold::Order::Row;
    let storage = tenfold::Storage::Dense { order, values };
    let dims = row.tensor.dims().to_vec();
    let other = tenfold::Tensor::new(dims, "f64".parse().unwrap(), vec![], storage).unwrap();
    let made = subject(column, Part::Component(0)).minus(&other).unwrap();
    let found = worst(&made, 3, &CancelToken::default()).unwrap();
    assert_eq!((found.different, found.largest), (4, Some(9.5)));
    let places: Vec<usize> = found.cells.iter().map(|cell| row.place(&cell.at)).collect();
    assert_eq!(places, [20, 77, 10]);
    assert_eq!(found.cells[1].difference, 9.5);
    assert_eq!(found.cells[0].second, "NaN");

    let wrong = subject(row, Part::Component(0)).minus(&samples[3].tensor);
    let error = wrong.err().unwrap().to_string();
    assert_eq!(error, "the shapes differ: [5, 7, 6] and [9, 9]");
}

#[test]
fn whole_numbers_that_are_the_same_as_doubles_are_told_apart() {
    let of = |numbers: &[u64]| {
        let values = tenfold::Numbers::from_vec(numbers);
        let order = tenfold::Order::Row;
        let storage = tenfold::Storage::Dense { order, values };
        let dims = vec![tenfold::Dim::indexed(3)];
        tenfold::Tensor::new(dims, "u64".parse().unwrap(), vec![], storage).unwrap()
    };
    let first = of(&[u64::MAX, 5, 1 << 60]);
    let second = of(&[u64::MAX - 3, 5, (1 << 60) + 1]);
    let made = TensorView::new(&first, Part::Component(0), &Limits::default()).unwrap();
    let found = worst(&made.minus(&second).unwrap(), 9, &CancelToken::default()).unwrap();
    assert_eq!((found.different, found.largest), (2, Some(3.0)));
    assert_eq!(
        (found.cells[0].first.as_str(), &found.cells[0].at[..]),
        ("18446744073709551615", &[0][..])
    );
}

#[test]
fn trains_of_singles_are_worked_out_too() {
    let train = all().pop().unwrap();
    let (limits, over) = (Limits::default(), tenfold::Overflow::Saturates);
    let singles = train
        .tensor
        .cast(tenfold::Number::F32, over, &limits)
        .unwrap();
    let made = TensorView::new(&singles, Part::Component(0), &limits).unwrap();
    let region = Region::first_of(&train.sizes);
    let found = tile(&made, &region, (9, 9), false, &CancelToken::default()).unwrap();
    let expected = tile(
        &subject(&train, Part::Component(0)),
        &region,
        (9, 9),
        false,
        &CancelToken::default(),
    );
    assert_eq!(found, expected.unwrap());
}

#[test]
fn a_large_region_is_sampled_in_every_pixel() {
    let size = 3000_u64;
    let numbers: Vec<f32> = (0..size * size)
        .map(|n| f32::from(u16::try_from(n / size).unwrap()))
        .collect();
    let values = tenfold::Numbers::from_vec(&numbers);
    let dims = || vec![tenfold::Dim::indexed(size), tenfold::Dim::indexed(size)];
    for order in [tenfold::Order::Row, tenfold::Order::Column] {
        let values = values.clone();
        let storage = tenfold::Storage::Dense { order, values };
        let tensor = tenfold::Tensor::new(dims(), "f32".parse().unwrap(), vec![], storage).unwrap();
        let made = TensorView::new(&tensor, Part::Component(0), &Limits::default()).unwrap();
        let tile = tile(
            &made,
            &Region::first_of(&[size, size]),
            (300, 300),
            false,
            &CancelToken::default(),
        );
        let tile = tile.unwrap();
        assert!(!tile.is_exact);
        for y in 0..300_u16 {
            for x in 0..300_u16 {
                let at = usize::from(y) * 300 + usize::from(x);
                // The value of a cell is its row, or its column if the first index varies fastest.
                let line = if order == tenfold::Order::Row { y } else { x };
                let (low, high) = (f32::from(line) * 10.0, f32::from(line) * 10.0 + 9.0);
                assert!(
                    tile.min[at] >= low && tile.max[at] <= high,
                    "{order:?} {x} {y}"
                );
            }
        }
    }
}

#[test]
fn regions_and_parts_that_do_not_exist_are_said_so() {
    let sample = &all()[0];
    let whole = Region::first_of(&sample.sizes);
    let made = subject(sample, Part::Component(0));
    let mut wrong = Vec::new();
    for change in 0..5 {
        let mut region = whole.clone();
        match change {
            0 => region.at.push(0),
            1 => region.rows = Some(9),
            2 => region.right.end = 99,
            3 => region.columns = region.rows,
            _ => region.at[0] = 5,
        }
        wrong.push(
            tile(&made, &region, (9, 9), false, &CancelToken::default())
                .unwrap_err()
                .to_string(),
        );
    }
    assert_eq!(
        wrong,
        [
            "4 places for 3 dimensions",
            "there is no axis 9",
            "0 to 99 of an axis of size 6",
            "rows and columns are two different axes",
            "place 5 of an axis of size 5",
        ]
    );
    let none = TensorView::new(&sample.tensor, Part::Phase, &Limits::default());
    assert_eq!(
        none.err().unwrap().to_string(),
        "elements of f64 have no such part"
    );
}

#[test]
fn cores_of_a_train_are_tensors_of_three_dimensions() {
    let train = all().pop().unwrap();
    let core = core_of(&train.tensor, 1).unwrap();
    assert_eq!(core.sizes().unwrap(), [2, 5, 3]);
    let error = core_of(&train.tensor, 3).unwrap_err().to_string();
    assert_eq!(error, "there is no core 3");
    assert!(core_of(&core, 0).is_err());
}

#[test]
fn the_difference_of_any_two_tensors_is_that_of_their_cells() {
    let samples = all();
    let mut seen = 0;
    for first in &samples {
        for second in samples.iter().filter(|second| {
            let arities = [first, second].map(|sample| sample.tensor.dtype().arity);
            second.sizes == first.sizes && arities[0] == arities[1]
        }) {
            let limits = Limits::default();
            let made = difference(&first.tensor, &second.tensor, &limits).unwrap();
            let mut bytes = Vec::new();
            made.for_each(100, &limits, &mut |piece| {
                bytes.extend_from_slice(piece);
                Ok(())
            })
            .unwrap();
            let cells = first.cells.iter().zip(&second.cells);
            let wanted: Vec<f64> = cells.map(|(a, b)| a - b).collect();
            let found = bytes
                .chunks(8)
                .map(|word| f64::from_le_bytes(word.try_into().unwrap()));
            let found: Vec<f64> = found.collect();
            let names = (first.name, second.name);
            assert_eq!(found.len(), wanted.len(), "{names:?}");
            let is_same =
                |(a, b): (&f64, &f64)| (a - b).abs() < 1e-9 || a == b || a.is_nan() && b.is_nan();
            assert!(found.iter().zip(&wanted).all(is_same), "{names:?}");
            // Also with chunk boundaries inside of numbers.
            let tenfold::Storage::Dense { values, .. } = made.storage() else {
                panic!("not dense");
            };
            let mut part = [0; 13];
            values.bytes.read_at(3, &mut part).unwrap();
            assert_eq!(part, bytes[3..16], "{names:?}");
            seen += 1;
        }
    }
    assert!(seen > samples.len(), "{seen} pairs");
}
