//! Trains whose cores are scaled against each other: they stand for the same tensors, and nothing
//! that is said of these may change.

use tenfold_train::{Complex64, Core, Scalar, Train};

use crate::support::{Dice, brute, difference, norm, real};

fn power(exponent: i32) -> f64 {
    2.0_f64.powi(exponent)
}

/// A core times a number.
fn scaled<T: Scalar>(train: &Train<T>, mode: usize, factor: f64) -> Train<T> {
    let cores = train.cores().iter().enumerate().map(|(place, core)| {
        let factor = if place == mode { factor } else { 1.0 };
        let values = core.values().iter().map(|value| value.times(factor));
        let (left, size, right) = (core.left(), core.size(), core.right());
        Core::new(left, size, right, values.collect()).unwrap()
    });
    Train::new(cores.collect()).unwrap()
}

fn sum<T: Scalar>(one: &[T], other: &[T]) -> Vec<T> {
    one.iter().zip(other).map(|(x, y)| *x + *y).collect()
}

#[test]
fn rounding_a_sum_of_trains_with_uneven_cores_keeps_what_it_says() {
    let one = Train::<f64>::random(&[4, 5, 6], 2, 1).unwrap();
    let two = Train::<f64>::random(&[4, 5, 6], 3, 2).unwrap();
    let (one, two) = (scaled(&one, 1, 1e-16), scaled(&two, 0, 1e-16));
    let cells = sum(&brute(&one), &brute(&two));
    let both = one.add(&two).unwrap();
    let size = norm(&cells);
    assert!((both.norm().unwrap() / size - 1.0).abs() < 1e-13);
    let rounded = both.round(1e-6, None).unwrap();
    let error = difference(&brute(&rounded.train), &cells);
    assert!(error <= rounded.error, "{error:e} of {:e}", rounded.error);
    assert!(rounded.error <= 1e-6 * size);
    assert!(rounded.error >= rounded.rounding && rounded.rounding > 0.0);
}

/// How far the places of bonds are scaled against each other, at most, as powers of two.
const BETWEEN: usize = 600;

/// A train and its cells.
struct Term<T> {
    train: Train<T>,
    cells: Vec<T>,
}

impl<T: Scalar> Term<T> {
    /// A random train of a shape, times a power of two, its cores scaled against each other: exactly
    /// the same tensor. Cells are those without that power.
    fn random(shape: &[usize], scale: i32, dice: &mut Dice) -> Term<T> {
        let rank = 1 + dice.below(4);
        let plain = Train::<T>::random(shape, rank, dice.bits()).unwrap();
        let weight = [1.0, 1.0, -3.0, 1e-3, 1e-8, 1e-16][dice.below(6)];
        let plain = scaled(&plain, 0, weight);
        let cells = brute(&plain);
        let n_cores = i32::try_from(shape.len()).unwrap();
        let is_each = dice.below(2) == 0;
        let mut powers = |size: usize, is_outer: bool| -> Vec<i32> {
            let mut any = || i32::try_from(dice.below(BETWEEN + 1)).unwrap() - 300;
            let common = if is_outer { 0 } else { any() };
            let own = |_| if is_each && !is_outer { any() } else { common };
            (0..size).map(own).collect()
        };
        let mut left = powers(1, true);
        let mut cores = Vec::new();
        for (place, core) in plain.cores().iter().enumerate() {
            let right = powers(core.right(), place + 1 == shape.len());
            let rest = if place == 0 { scale % n_cores } else { 0 };
            let mut values = Vec::new();
            for (at, value) in core.values().iter().enumerate() {
                let before = left[at / (core.size() * core.right())];
                let exponent = right[at % core.right()] - before + scale / n_cores + rest;
                values.push(
                    value
                        .times(power(exponent / 2))
                        .times(power(exponent - exponent / 2)),
                );
            }
            cores.push(Core::new(core.left(), core.size(), core.right(), values).unwrap());
            left = right;
        }
        let train = Train::new(cores).unwrap();
        Term { train, cells }
    }

    /// Another term behind this one along the first mode, or added to it.
    fn and(self, other: &Term<T>, is_behind: bool) -> Term<T> {
        if is_behind {
            let mut cells = self.cells;
            cells.extend_from_slice(&other.cells);
            let train = self.train.append(&other.train, 0).unwrap();
            return Term { train, cells };
        }
        Term {
            train: self.train.add(&other.train).unwrap(),
            cells: sum(&self.cells, &other.cells),
        }
    }
}

/// How much of the allowance for rounding was used.
fn trial<T: Scalar>(number: u64) -> f64 {
    let mut dice = Dice::new(number);
    let n_modes = 2 + dice.below(5);
    let shape: Vec<usize> = (0..n_modes).map(|_| 1 + dice.below(4)).collect();
    let scale = [0, 0, 800, -800, 400, -400][dice.below(6)];
    let mut term = Term::<T>::random(&shape, scale, &mut dice);
    // What the terms would be if nothing cancelled.
    let mut size = norm(&term.cells);
    for _ in 0..dice.below(4) {
        let mut shape = term.train.shape();
        let is_behind = dice.below(3) == 0;
        if is_behind {
            shape[0] = 1 + dice.below(3);
        }
        let is_opposite = !is_behind && dice.below(4) == 0;
        let other = if is_opposite {
            let factor = [-1.0, -1.0 + 1e-9][dice.below(2)];
            Term {
                train: term.train.scale(T::of_real(factor)),
                cells: term.cells.iter().map(|cell| cell.times(factor)).collect(),
            }
        } else {
            Term::random(&shape, scale, &mut dice)
        };
        size += norm(&other.cells);
        term = term.and(&other, is_behind);
    }
    let Term { train, cells } = term;
    let near = |values: &[T]| -> Vec<T> {
        let half = power(-scale / 2);
        let values = values.iter();
        values.map(|value| value.times(half).times(half)).collect()
    };
    let what = format!(
        "trial {number}: {:?}, ranks {:?}",
        train.shape(),
        train.ranks()
    );
    let slack = 1e-15 * size * real(n_modes);
    let length = norm(&cells);
    let found = train.norm().unwrap() * power(-scale / 2) * power(-scale / 2);
    assert!(
        (found - length).abs() <= 20.0 * slack,
        "{what}: {found:e} of {length:e}"
    );
    let full = near(&train.full().unwrap());
    assert!(difference(&full, &cells) <= 20.0 * slack, "{what}");
    let last: Vec<usize> = train.shape().iter().map(|size| size - 1).collect();
    let cell = near(&[train.element(&last).unwrap()]);
    assert!(
        difference(&cell, &cells[cells.len() - 1..]) <= 20.0 * slack,
        "{what}"
    );
    if scale.abs() <= 400 {
        let back = power(-scale);
        let dot = train.dot(&train).unwrap().times(back).times(back);
        let wanted = T::of_real(length * length);
        assert!(
            difference(&[dot], &[wanted]) <= 20.0 * slack * size,
            "{what}"
        );
    } else if length > 1e-3 {
        let why = train.dot(&train).unwrap_err().to_string();
        assert!(why.contains("no double holds it"), "{what}: {why}");
    }
    if dice.below(4) == 0 {
        let quantised = train.quantise().unwrap();
        assert!(
            difference(&near(&quantised.full().unwrap()), &cells) <= 50.0 * slack,
            "{what}"
        );
        let spectra = train.spectra().unwrap();
        for spectrum in spectra {
            let found = norm(
                &spectrum
                    .iter()
                    .map(|x| x * power(-scale))
                    .collect::<Vec<f64>>(),
            );
            assert!(
                (found - length).abs() <= 20.0 * slack,
                "{what}: {found:e} of {length:e}"
            );
        }
    }
    let eps = [0.0, 1e-10, 1e-6, 1e-2, 0.3][dice.below(5)];
    let rounded = train.round(eps, None).unwrap();
    let error = difference(&near(&rounded.train.full().unwrap()), &cells);
    let back = |error: f64| error * power(-scale / 2) * power(-scale / 2);
    let (bound, rounding) = (back(rounded.error), back(rounded.rounding));
    // Where nothing cancels, rounding takes no part of the tolerance that is worth mentioning.
    let allowed = eps * length + 300.0 * slack;
    assert!(bound <= allowed, "{what}, eps {eps:e}: {bound:e}");
    if rounding > 0.0 {
        (error - (bound - rounding)) / rounding
    } else {
        0.0
    }
}

#[test]
fn the_bound_holds_for_ten_thousand_trains_with_uneven_cores() {
    let worst = (0..10_000).fold(0.0, |worst: f64, number| {
        worst.max(match number % 3 {
            0 => trial::<Complex64>(number),
            _ => trial::<f64>(number),
        })
    });
    println!("the largest part of the allowance for rounding: {worst:.3}");
}

#[test]
fn what_leaves_the_range_is_an_error_and_never_infinite_or_nothing() {
    let plain = Train::<f64>::random(&[4, 5, 6, 3, 2], 3, 3).unwrap();
    for factor in [1e200, 1e-200] {
        let train = (0..5).fold(plain.clone(), |train, mode| scaled(&train, mode, factor));
        let why = train.norm().unwrap_err().to_string();
        let exponent = if factor > 1.0 {
            "times 2^33"
        } else {
            "times 2^-33"
        };
        assert!(
            why.starts_with("the norm of the train is ") && why.contains(exponent),
            "{why}"
        );
        assert!(train.round(1e-6, None).is_err() && train.dot(&train).is_err());
        assert!(train.dot(&plain).is_err() && train.spectra().is_err());
        assert!(train.orthogonalise(2).is_err());
        if factor > 1.0 {
            let source = brute(&plain);
            let source = tenfold_train::Cells::new(&plain.shape(), &source).unwrap();
            assert!(train.sum_all().is_err() && train.distance(&source).is_err());
        }
        assert!((train.fidelity(&plain).unwrap() - 1.0).abs() < 1e-13);
        // The other way it is as it was, whatever products on the way would be.
        let modes = [1, 1, 3, 3, 2].into_iter();
        let back = modes.fold(train, |train, mode| scaled(&train, mode, 1.0 / factor));
        assert!((back.norm().unwrap() / plain.norm().unwrap() - 1.0).abs() < 1e-12);
        let squares = back.hadamard(&back).unwrap().sum_all().unwrap();
        assert!((squares / plain.norm().unwrap().powi(2) - 1.0).abs() < 1e-12);
        let merged = back.merge(0, 3).unwrap().full().unwrap();
        assert!(difference(&merged, &brute(&plain)) < 1e-12);
        let sums = back.sum(&[0, 1, 4]).unwrap().full().unwrap();
        let wanted = plain.sum(&[0, 1, 4]).unwrap().full().unwrap();
        assert!(difference(&sums, &wanted) < 1e-12);
        let doubled = back.scale(factor).scale(2.0 / factor);
        assert!(difference(&doubled.full().unwrap(), &brute(&plain.scale(2.0))) < 1e-12);
    }
    let zero = plain.scale(0.0);
    assert_eq!(zero.norm().unwrap(), 0.0);
    assert_eq!(zero.dot(&plain).unwrap(), 0.0);
    let rounded = zero.round(1e-6, None).unwrap();
    assert_eq!((rounded.error, rounded.train.max_rank()), (0.0, 1));
}
