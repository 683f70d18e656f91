//! Arithmetic on trains, against the same on all cells.

use tenfold::Slice;
use tenfold_train::{Complex64, Core, Operator, Scalar, Train};

use crate::support::{brute, brute_fast, complex, difference, norm, tensor};

const SHAPE: [usize; 4] = [3, 4, 2, 5];

fn trains<T: Scalar>() -> (Train<T>, Train<T>) {
    let one = Train::random(&SHAPE, 3, 1).unwrap();
    (one, Train::random(&SHAPE, 2, 2).unwrap())
}

fn near<T: Scalar>(one: &[T], other: &[T]) {
    let error = difference(one, other);
    assert!(error <= 1e-13 * (1.0 + norm(other)), "{error:e}");
}

fn cell_by_cell<T: Scalar>(one: &Train<T>, two: &Train<T>, f: impl Fn(T, T) -> T) -> Vec<T> {
    let pairs = brute(one).into_iter().zip(brute(two));
    pairs.map(|(one, two)| f(one, two)).collect()
}

fn sums_and_products<T: Scalar>() {
    let (one, two) = trains::<T>();
    near(&one.full().unwrap(), &brute(&one));
    near(&brute_fast(&one), &brute(&one));
    near(
        &brute(&one.add(&two).unwrap()),
        &cell_by_cell(&one, &two, |x, y| x + y),
    );
    near(
        &brute(&one.sub(&two).unwrap()),
        &cell_by_cell(&one, &two, |x, y| x - y),
    );
    near(
        &brute(&one.hadamard(&two).unwrap()),
        &cell_by_cell(&one, &two, |x, y| x * y),
    );
    let factor = T::of_parts(0.5, -2.0);
    near(
        &brute(&one.scale(factor)),
        &cell_by_cell(&one, &two, |x, _| x * factor),
    );
    near(
        &brute(&one.add_number(factor).unwrap()),
        &cell_by_cell(&one, &two, |x, _| x + factor),
    );
    near(
        &brute(&one.conjugate()),
        &cell_by_cell(&one, &two, |x, _| x.conjugate()),
    );
    let dot: T = cell_by_cell(&one, &two, |x, y| x.conjugate() * y)
        .into_iter()
        .sum();
    near(&[one.dot(&two).unwrap()], &[dot]);
    assert!((one.norm().unwrap() - norm(&brute(&one))).abs() < 1e-13 * norm(&brute(&one)));
    let zero = one.sub(&one).unwrap();
    assert!(zero.norm().unwrap() < 1e-14 * one.norm().unwrap());
    assert!((one.fidelity(&one.scale(factor)).unwrap() - 1.0).abs() < 1e-13);
}

#[test]
fn sums_and_products_are_those_of_the_cells() {
    sums_and_products::<f64>();
    sums_and_products::<Complex64>();
}

/// A sum shares the cores of its terms; whatever is done with it sees all of them.
fn sums_of_sums<T: Scalar>() {
    let (one, two) = trains::<T>();
    let three = one
        .add(&two)
        .unwrap()
        .add(&one.hadamard(&two).unwrap())
        .unwrap();
    let cells = brute(&three);
    near(&cells, &cell_by_cell(&one, &two, |x, y| x + y + x * y));
    // The same, written out.
    let cores = three.cores().iter().map(|core| {
        Core::new(
            core.left(),
            core.size(),
            core.right(),
            core.values().to_vec(),
        )
        .unwrap()
    });
    let plain = Train::new(cores.collect()).unwrap();
    assert_eq!(three, plain);
    assert_eq!(three.ranks(), plain.ranks());
    assert_eq!(three.len(), plain.len());
    for other in [&three, &plain, &one] {
        near(
            &[three.dot(other).unwrap(), other.dot(&three).unwrap()],
            &[plain.dot(other).unwrap(), other.dot(&plain).unwrap()],
        );
    }
    near(
        &[three.dot(&three).unwrap()],
        &[T::of_real(norm(&cells).powi(2))],
    );
    for center in 0..4 {
        near(&brute(&three.orthogonalise(center).unwrap()), &cells);
    }
    near(&brute(&three.round(1e-13, None).unwrap().train), &cells);
    let weights = [T::of_real(1.0), T::of_real(-2.0), T::of_real(0.5)];
    for (mode, weights) in [(0, &weights[..]), (2, &weights[..2])] {
        near(
            &brute(&three.contract(mode, weights).unwrap()),
            &brute(&plain.contract(mode, weights).unwrap()),
        );
    }
    near(
        &brute(&three.append(&one, 1).unwrap().sum(&[1]).unwrap()),
        &brute(
            &plain
                .sum(&[1])
                .unwrap()
                .add(&one.sum(&[1]).unwrap())
                .unwrap(),
        ),
    );
    // Changing one of them leaves the others as they were.
    near(
        &brute(&three.scale(T::of_real(3.0)).sub(&three).unwrap()),
        &brute(&plain.scale(T::of_real(2.0))),
    );
    near(&brute(&three), &cells);
}

#[test]
fn a_sum_is_as_good_as_its_cores_written_out() {
    sums_of_sums::<f64>();
    sums_of_sums::<Complex64>();
}

fn contractions<T: Scalar>() {
    let (train, _) = trains::<T>();
    let all = brute(&train);
    let weights: Vec<T> = (0..4_u32)
        .map(|n| T::of_parts(f64::from(n) - 1.0, 0.5))
        .collect();
    let at = |a: usize, b: usize, c: usize, d: usize| all[((a * 4 + b) * 2 + c) * 5 + d];
    let expected = tensor(&[3, 2, 5], |index| {
        (0..4)
            .map(|b| at(index[0], b, index[1], index[2]) * weights[b])
            .sum::<T>()
    });
    near(&brute(&train.contract(1, &weights).unwrap()), &expected);
    let summed = tensor(&[4, 2], |index| {
        (0..15)
            .map(|n| at(n / 5, index[0], index[1], n % 5))
            .sum::<T>()
    });
    near(&brute(&train.sum(&[3, 0]).unwrap()), &summed);
    let means: Vec<T> = summed.iter().map(|sum| sum.times(1.0 / 15.0)).collect();
    near(&brute(&train.mean(&[0, 3]).unwrap()), &means);
    near(&[train.sum_all().unwrap()], &[all.iter().copied().sum()]);
    near(
        &[train.mean_all().unwrap()],
        &[all.iter().copied().sum::<T>().times(1.0 / 120.0)],
    );
    let matrix: Vec<T> = (0..8_u32)
        .map(|n| T::of_parts(f64::from(n * n), 1.0))
        .collect();
    let expected = tensor(&[3, 2, 2, 5], |i| {
        (0..4)
            .map(|b| matrix[i[1] * 4 + b] * at(i[0], b, i[2], i[3]))
            .sum::<T>()
    });
    near(&brute(&train.multiply(1, &matrix, 2).unwrap()), &expected);
    assert!(train.contract(4, &weights).is_err() && train.contract(0, &weights).is_err());
    assert!(train.sum(&[0, 1, 2, 3]).is_err() && train.sum(&[1, 1]).is_err());
}

#[test]
fn contractions_are_those_of_the_cells() {
    contractions::<f64>();
    contractions::<Complex64>();
}

fn cells_and_slices<T: Scalar>() {
    let (train, other) = trains::<T>();
    let all = brute(&train);
    near(&[train.element(&[2, 3, 1, 4]).unwrap()], &[all[119]]);
    assert!(train.element(&[2, 4, 1, 4]).is_err() && train.element(&[0, 0]).is_err());
    let slices = [
        Slice::one(1),
        Slice {
            start: 3,
            count: 2,
            step: -2,
        },
        Slice::all(2),
        Slice::range(1..4),
    ];
    let part = train.select(&slices).unwrap();
    let expected = tensor(&[1, 2, 2, 3], |i| {
        all[((4 + 3 - 2 * i[1]) * 2 + i[2]) * 5 + 1 + i[3]]
    });
    near(&part.full().unwrap(), &expected);
    let mut slabs = Vec::new();
    train
        .for_each_slab(7, &mut |slab| {
            slabs.extend_from_slice(slab);
            Ok(())
        })
        .unwrap();
    near(&slabs, &all);
    let both = train.append(&other, 1).unwrap();
    let expected = tensor(&[3, 8, 2, 5], |i| {
        let from = if i[1] < 4 { &all } else { &brute(&other) };
        from[((i[0] * 4 + i[1] % 4) * 2 + i[2]) * 5 + i[3]]
    });
    near(&both.full().unwrap(), &expected);
}

#[test]
fn cells_slices_and_slabs_are_those_of_the_whole() {
    cells_and_slices::<f64>();
    cells_and_slices::<Complex64>();
}

fn orthogonal<T: Scalar>() {
    let (one, two) = trains::<T>();
    let sum = one.add(&two).unwrap();
    for center in 0..4 {
        let moved = sum.orthogonalise(center).unwrap();
        near(&brute(&moved), &brute(&sum));
        let length = norm(moved.cores()[center].values());
        assert!((length - sum.norm().unwrap()).abs() < 1e-12 * length);
    }
    // Twice the same tensor has twice the rank, and needs only once.
    let double = sum.add(&sum).unwrap().round(1e-12, None).unwrap();
    assert_eq!(
        double.train.ranks(),
        sum.round(1e-12, None).unwrap().train.ranks()
    );
    near(&brute(&double.train), &brute(&sum.scale(T::of_real(2.0))));
    for eps in [0.5, 0.1, 0.01] {
        let rounded = sum.round(eps, None).unwrap();
        let error = difference(&brute(&rounded.train), &brute(&sum));
        let slack = 1e-13 * norm(&brute(&sum));
        assert!(rounded.error <= eps * norm(&brute(&sum)) + slack);
        // What several bonds leave out is counted as often.
        let counted = 0.7 * rounded.error - slack..=rounded.error + slack;
        assert!(
            counted.contains(&error),
            "{error:e} and {:e}",
            rounded.error
        );
    }
    let capped = sum.round(0.0, Some(2)).unwrap();
    assert_eq!(capped.train.max_rank(), 2);
    let error = difference(&brute(&capped.train), &brute(&sum));
    assert!((0.7 * capped.error..=capped.error * (1.0 + 1e-12)).contains(&error));
    for spectrum in sum.spectra().unwrap() {
        assert!((norm(&spectrum) - sum.norm().unwrap()).abs() < 1e-12 * norm(&spectrum));
        assert!(spectrum.windows(2).all(|pair| pair[0] >= pair[1]));
    }
}

#[test]
fn orthogonalising_keeps_the_tensor_and_rounding_says_what_it_changes() {
    orthogonal::<f64>();
    orthogonal::<Complex64>();
}

fn reshaped<T: Scalar>() {
    let (train, _) = trains::<T>();
    let all = brute(&train);
    let merged = train.merge(1, 2).unwrap();
    assert_eq!(merged.shape(), [3, 8, 5]);
    near(&brute(&merged), &all);
    let split = merged.split(1, &[2, 2, 2]).unwrap();
    assert_eq!(split.shape(), [3, 2, 2, 2, 5]);
    near(&brute(&split), &all);
    assert_eq!(train.quantise().unwrap().shape(), [3, 2, 2, 2, 5]);
    near(&brute(&train.quantise().unwrap()), &all);
    let other = train.reshape(&[6, 10, 2]).unwrap();
    assert_eq!(other.shape(), [6, 10, 2]);
    near(&brute(&other), &all);
    assert!(train.reshape(&[7, 10]).is_err() && train.split(0, &[2, 2]).is_err());
    let at = |i: &[usize]| all[((i[0] * 4 + i[1]) * 2 + i[2]) * 5 + i[3]];
    let swapped = train.swap(1, 0.0).unwrap();
    near(
        &brute(&swapped),
        &tensor(&[3, 2, 4, 5], |i| at(&[i[0], i[2], i[1], i[3]])),
    );
    let turned = train.permute(&[3, 1, 0, 2], 0.0).unwrap();
    near(
        &brute(&turned),
        &tensor(&[5, 4, 3, 2], |i| at(&[i[2], i[1], i[3], i[0]])),
    );
    near(
        &brute(&train.reversed()),
        &tensor(&[5, 2, 4, 3], |i| at(&[i[3], i[2], i[1], i[0]])),
    );
}

#[test]
fn modes_are_split_merged_and_exchanged_without_touching_cells() {
    reshaped::<f64>();
    reshaped::<Complex64>();
}

fn operators<T: Scalar>() {
    let shape = [3, 4, 2];
    let train = Train::<T>::random(&shape, 2, 5).unwrap();
    near(
        &brute(&Operator::identity(&shape).unwrap().apply(&train).unwrap()),
        &brute(&train),
    );
    let pairs = Train::<T>::random(&[6, 12, 2], 3, 6).unwrap();
    let operator = Operator::new(pairs.clone(), vec![2, 3, 1], vec![3, 4, 2]).unwrap();
    let (matrix, all) = (brute(&pairs), brute(&train));
    let image = |matrix: &[T]| {
        tensor(&[2, 3, 1], |i| {
            let places = (0..24).map(|at| (at / 8, at / 2 % 4, at % 2));
            let terms = places.map(|(a, b, c)| {
                let entry = matrix[((i[0] * 3 + a) * 12 + i[1] * 4 + b) * 2 + c];
                entry * all[(a * 4 + b) * 2 + c]
            });
            terms.sum::<T>()
        })
    };
    near(&brute(&operator.apply(&train).unwrap()), &image(&matrix));
    let twice: Vec<T> = matrix.iter().map(|entry| entry.times(2.0)).collect();
    near(
        &brute(&operator.add(&operator).unwrap().apply(&train).unwrap()),
        &image(&twice),
    );
    assert!(operator.apply(&pairs).is_err());
}

#[test]
fn operators_apply_as_their_matrices_do() {
    operators::<f64>();
    operators::<Complex64>();
}

#[test]
fn random_trains_are_the_same_for_the_same_seed() {
    let one = Train::<Complex64>::random(&[4, 5, 6], 3, 9).unwrap();
    assert_eq!(one, Train::random(&[4, 5, 6], 3, 9).unwrap());
    assert_ne!(one, Train::random(&[4, 5, 6], 3, 10).unwrap());
    assert_eq!(one.ranks(), [1, 3, 3, 1]);
    assert_eq!(
        Train::<f64>::random(&[2; 6], 100, 1).unwrap().ranks(),
        [1, 2, 4, 8, 4, 2, 1]
    );
}

#[test]
fn a_train_survives_being_a_tensor() {
    let train = Train::<Complex64>::random(&[4, 5, 6], 3, 9).unwrap();
    let tensor = train.to_tensor().unwrap();
    assert_eq!(Train::from_tensor(&tensor).unwrap(), train);
    let cell: Complex64 = tensor
        .cell(&[1, 2, 3], &tenfold::Limits::default())
        .unwrap();
    near(&[train.element(&[1, 2, 3]).unwrap()], &[cell]);
    let why = Train::<f64>::from_tensor(&tensor).unwrap_err().to_string();
    assert_eq!(why, "the cores are c128, not f64");
}

#[test]
fn extreme_magnitudes_survive_rounding() {
    for factor in [1e-290, 1e290] {
        let train = Train::<f64>::random(&[4, 5, 6], 3, 9).unwrap();
        let large = train.scale(factor);
        let double = large.add(&large).unwrap();
        assert!((large.norm().unwrap() / train.norm().unwrap() / factor - 1.0).abs() < 1e-12);
        let rounded = double.round(1e-10, None).unwrap();
        assert_eq!(rounded.train.ranks(), train.ranks());
        let back: Vec<f64> = brute(&rounded.train)
            .iter()
            .map(|x| x / factor / 2.0)
            .collect();
        near(&back, &brute(&train));
        near(
            &brute(&large.quantise().unwrap().scale(1.0 / factor)),
            &brute(&train),
        );
    }
    assert_eq!(complex(1.0, 2.0).conjugate(), complex(1.0, -2.0));
}
