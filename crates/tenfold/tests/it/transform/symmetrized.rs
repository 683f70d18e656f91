//! Tensors that are made to have symmetries, against plain loops over the cells of their orbits.

use half::f16;
use num_complex::Complex;
use tenfold::{Element, F128, Limits, Numbers, Order, Symmetry, Tensor, Tolerance};

use super::samples::{self, dense, indices, place, symmetry};

fn made(tensor: &Tensor, symmetries: &[Symmetry]) -> (Tensor, f64) {
    let (made, most) = tensor.symmetrized(symmetries, &Limits::default()).unwrap();
    assert!(!made.is_packed());
    assert!(made.check(&Limits::default()).unwrap().is_empty());
    (made, most)
}

fn matrix<T: Element>(n: u64, values: &[T]) -> Tensor {
    dense::<T>(&[n, n], Order::Row, Numbers::from_vec(values))
}

/// Numbers without a pattern, of 24 bits at most.
fn mixed(count: u64) -> Vec<f64> {
    let numbers = (1..=count).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 42);
    numbers
        .map(|n| (f64::from(u32::try_from(n).unwrap()) - 2_097_152.0) / 1024.0)
        .collect()
}

fn apply(permutation: &[usize], index: &[u64]) -> Vec<u64> {
    permutation.iter().map(|place| index[*place]).collect()
}

/// Adds up T, gT, ggT, … until everything is back in its place; `count` is the order of g.
fn cyclic(
    sizes: &[u64],
    values: &[Complex<f64>],
    given: &Symmetry,
    count: u8,
) -> Vec<Complex<f64>> {
    let turned = |value: Complex<f64>| match given.operation.as_str() {
        "x" => value,
        "-x" => -value,
        "x*" => value.conj(),
        _ => -value.conj(),
    };
    let cell = |index: &Vec<u64>| {
        let mut sum = Complex::new(0.0, 0.0);
        for power in 0..count {
            let mut at = index.clone();
            (0..power).for_each(|_| at = apply(&given.permutation, &at));
            let value = values[place(sizes, &at)];
            sum += (0..power).fold(value, |value, _| turned(value));
        }
        sum / f64::from(count)
    };
    indices(sizes).iter().map(cell).collect()
}

#[test]
fn every_cell_becomes_the_mean_over_the_powers_of_a_generator() {
    let cases: [(&[u64], &[usize], u8); 5] = [
        (&[4, 4], &[1, 0], 2),
        (&[3, 2, 3, 2], &[2, 3, 0, 1], 2),
        (&[3, 2, 3, 2], &[2, 1, 0, 3], 2),
        (&[3, 3, 3], &[1, 2, 0], 6),
        (&[2, 2, 2, 2], &[1, 2, 3, 0], 4),
    ];
    for (sizes, permutation, count) in cases {
        let numbers = mixed(sizes.iter().product::<u64>() * 2);
        let values: Vec<_> = numbers
            .chunks(2)
            .map(|pair| Complex::new(pair[0], pair[1]))
            .collect();
        for operation in ["x", "-x", "x*", "-x*"] {
            let given = symmetry(permutation, operation, false);
            let expected = cyclic(sizes, &values, &given, count);
            let stored = Numbers::from_vec(&values);
            let tensor = dense::<Complex<f64>>(sizes, Order::Row, stored);
            let (result, most) = made(&tensor, std::slice::from_ref(&given));
            assert_eq!(result.symmetries(), std::slice::from_ref(&given));
            let found = result.to_vec::<Complex<f64>>().unwrap();
            let mut changes = 0.0_f64;
            for ((found, expected), before) in found.iter().zip(&expected).zip(&values) {
                let words = format!("{given} of {sizes:?}");
                assert!(
                    (found - expected).norm() < 1e-9,
                    "{words}: {found} {expected}"
                );
                let change = found - before;
                changes = changes.max(change.re.abs()).max(change.im.abs());
            }
            assert_eq!(most.to_bits(), changes.to_bits());
            // Once it has the symmetry nothing changes any more, and it can be packed.
            let (again, most) = made(&result, std::slice::from_ref(&given));
            assert_eq!(most.to_bits(), 0);
            assert_eq!(samples::bytes(&again), samples::bytes(&result), "{given}");
            if count != 6 {
                let limits = Limits::default();
                let packed = result.pack(&[given], Tolerance::Exact, &limits).unwrap();
                assert_eq!(samples::bytes(&packed.tensor), samples::bytes(&result));
            }
        }
    }
}

#[test]
fn several_symmetries_make_one_group_of_eight() {
    let sizes = &[3, 3, 3, 3];
    let values = mixed(81);
    let given = [
        symmetry(&[1, 0, 2, 3], "x", false),
        symmetry(&[2, 3, 0, 1], "x", false),
    ];
    let eight = [
        [0, 1, 2, 3],
        [1, 0, 2, 3],
        [0, 1, 3, 2],
        [1, 0, 3, 2],
        [2, 3, 0, 1],
        [3, 2, 0, 1],
        [2, 3, 1, 0],
        [3, 2, 1, 0],
    ];
    let expected = indices(sizes).into_iter().map(|index| {
        let images = eight.iter().map(|permutation| apply(permutation, &index));
        images
            .map(|image| values[place(sizes, &image)])
            .sum::<f64>()
            / 8.0
    });
    let expected: Vec<f64> = expected.collect();
    for order in [Order::Row, Order::Column] {
        let row = dense::<f64>(sizes, Order::Row, Numbers::from_vec(&values));
        let stored = row.dense(order, &Limits::default()).unwrap();
        let tensor = dense::<f64>(sizes, order, stored);
        let (result, _) = made(&tensor, &given);
        // Sums of eight numbers of 24 bits are exact.
        assert_eq!(result.to_vec::<f64>().unwrap(), expected);
    }
}

#[test]
fn a_mean_of_a_narrow_type_is_rounded_to_the_nearest_even() {
    let given = [symmetry(&[1, 0], "x", false)];
    let halves = [1.0, 2048.0, 2050.0, 3.0].map(f16::from_f64);
    let (result, most) = made(&matrix(2, &halves), &given);
    let expected = [1.0, 2048.0, 2048.0, 3.0].map(f16::from_f64);
    assert_eq!(result.to_vec::<f16>().unwrap(), expected);
    assert_eq!(most.to_bits(), 2.0_f64.to_bits());
    let quads = [1.0, 2.0, 5.0, -0.0].map(F128::from);
    let (result, _) = made(&matrix(2, &quads), &given);
    assert_eq!(
        result.to_vec::<F128>().unwrap(),
        [1.0, 3.5, 3.5, -0.0].map(F128::from)
    );
}

#[test]
fn integers_are_never_rounded() {
    let limits = Limits::default();
    let given = [symmetry(&[1, 0], "x", false)];
    let (result, _) = made(&matrix(2, &[1_i32, 2, 4, 3].map(|n| n * 2)), &given);
    assert_eq!(result.to_vec::<i32>().unwrap(), [2, 6, 6, 6]);
    let error = matrix(2, &[1_i32, 2, 5, 3])
        .symmetrized(&given, &limits)
        .unwrap_err();
    let text = "the mean of cell [0, 1] and its images is no i32; convert with --cast f64 first";
    assert_eq!(error.to_string(), text);
    let minus = [symmetry(&[1, 0], "-x", false)];
    let (result, _) = made(&matrix(2, &[7_i8, 2, 4, 3]), &minus);
    assert_eq!(result.to_vec::<i8>().unwrap(), [0, -1, 1, 0]);
    let error = matrix(2, &[0_u8, 2, 4, 0])
        .symmetrized(&minus, &limits)
        .unwrap_err();
    assert!(error.to_string().contains("cell [0, 1]"), "{error}");
}

#[test]
fn a_sparse_tensor_stays_sparse_and_a_packed_one_is_unpacked() {
    let minus = [symmetry(&[1, 0], "-x", false)];
    let mut values = vec![0.0_f64; 16];
    values[1] = 4.0;
    let sparse = matrix(4, &values).to_sparse(&Limits::default()).unwrap();
    let (result, _) = made(&sparse, &minus);
    assert_eq!((result.storage().as_str(), result.stored()), ("sparse", 2));
    (values[1], values[4]) = (2.0, -2.0);
    assert_eq!(result.to_vec::<f64>().unwrap(), values);

    let packed = samples::packed();
    let (result, most) = made(&packed, &[symmetry(&[1, 0, 2], "-x", false)]);
    assert_eq!(samples::bytes(&result), samples::bytes(&packed));
    assert_eq!((most.to_bits(), result.symmetries().len()), (0, 1));
    // What was declared is declared no more where it need not hold.
    let (result, _) = made(&packed, &[symmetry(&[1, 0, 2], "x", false)]);
    assert_eq!(result.symmetries(), [symmetry(&[1, 0, 2], "x", false)]);
    assert!(
        result
            .to_vec::<f32>()
            .unwrap()
            .iter()
            .all(|value| *value == 0.0)
    );
}

#[test]
fn what_is_no_symmetry_of_the_sizes_is_refused() {
    let limits = Limits::default();
    let tensor = dense::<f64>(&[2, 3], Order::Row, Numbers::from_vec(&mixed(6)));
    for given in [symmetry(&[1, 0], "x", false), symmetry(&[0], "x", false)] {
        assert!(tensor.symmetrized(&[given], &limits).is_err());
    }
    let unknown = [symmetry(&[0, 1], "1/x", false)];
    assert!(tensor.symmetrized(&unknown, &limits).is_err());
    let empty = dense::<f64>(&[0, 0], Order::Row, Numbers::from_vec::<f64>(&[]));
    let (result, _) = made(&empty, &[symmetry(&[1, 0], "x", false)]);
    assert_eq!(result.cells(), Some(0));
}

#[test]
fn a_tensor_larger_than_a_slab_is_symmetrized_across_slabs() {
    let n = 40;
    let values = mixed(n * n);
    let given = [symmetry(&[1, 0], "x", false)];
    // Room for one cell, for a part of a row, for a few rows, and for all.
    for memory in [0, 700, 12_000, 1 << 20] {
        let mut limits = Limits::default();
        limits.memory = memory;
        let (result, _) = matrix(n, &values).symmetrized(&given, &limits).unwrap();
        let found = result.to_vec::<f64>().unwrap();
        for index in indices(&[n, n]) {
            let there = values[place(&[n, n], &[index[1], index[0]])];
            let here = place(&[n, n], &index);
            let mean = (values[here] + there) / 2.0;
            assert_eq!(found[here].to_bits(), mean.to_bits());
        }
    }
}
