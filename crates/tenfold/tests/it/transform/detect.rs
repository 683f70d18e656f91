//! The symmetries that are found in values, against plain loops over all cells.

use num_complex::Complex;
use tenfold::{Dim, Element, Limits, Numbers, Order, Storage, Symmetry, Tensor, Tolerance};

use super::samples::{self, dense, indices, symmetry};

fn found(tensor: &Tensor) -> Vec<String> {
    found_within(tensor, Tolerance::Exact)
}

fn found_within(tensor: &Tensor, tolerance: Tolerance) -> Vec<String> {
    let limits = Limits::default();
    let found = tensor.detect_symmetries(tolerance, &limits).unwrap();
    for symmetry in &found {
        let text = tensor.symmetry_text(symmetry);
        assert_eq!(&tensor.symmetry(&text).unwrap(), symmetry);
    }
    let declared = tensor.with_declared_symmetries(&found).unwrap();
    assert_eq!(samples::bytes(&declared), samples::bytes(tensor));
    if tolerance == Tolerance::Exact {
        assert!(declared.check(&limits).unwrap().is_empty());
    }
    found.iter().map(|own| tensor.symmetry_text(own)).collect()
}

/// A tensor of the values that a function makes of the indices.
fn made<T: Element>(sizes: &[u64], value: impl Fn(&[u64]) -> T) -> Tensor {
    let values: Vec<T> = indices(sizes).iter().map(|index| value(index)).collect();
    dense::<T>(sizes, Order::Row, Numbers::from_vec(&values))
}

fn number(index: u64) -> f64 {
    f64::from(u32::try_from(index).unwrap())
}

/// Differs for every pair.
fn pair(first: u64, second: u64) -> f64 {
    number(100 * first + second + 1)
}

#[test]
fn matrices_of_every_sort_are_told_apart() {
    let symmetric = made(&[4, 4], |at| pair(at[0].min(at[1]), at[0].max(at[1])));
    assert_eq!(found(&symmetric), ["ba"]);
    let antisymmetric = made(&[4, 4], |at| match at[0].cmp(&at[1]) {
        std::cmp::Ordering::Less => pair(at[0], at[1]),
        std::cmp::Ordering::Equal => 0.0,
        std::cmp::Ordering::Greater => -pair(at[1], at[0]),
    });
    assert_eq!(found(&antisymmetric), ["-ba"]);
    let complex = |sign: f64| {
        move |at: &[u64]| {
            let one = Complex::new(pair(at[0], at[1]), pair(at[1], at[0]));
            let other = Complex::new(pair(at[1], at[0]), -pair(at[0], at[1]));
            one + other * sign
        }
    };
    assert_eq!(found(&made(&[3, 3], complex(1.0))), ["ba*"]);
    assert_eq!(found(&made(&[3, 3], complex(-1.0))), ["-ba*"]);
    let integers = made(&[3, 3], |at| u8::try_from(at[0] * at[1]).unwrap());
    assert_eq!(found(&integers), ["ba"]);
    let signed = made(&[2, 2], |at| {
        i16::try_from(at[0]).unwrap() - i16::try_from(at[1]).unwrap()
    });
    assert_eq!(found(&signed), ["-ba"]);
}

#[test]
fn nothing_is_found_where_nothing_is() {
    assert!(found(&made(&[4, 4], |at| pair(at[0], at[1]))).is_empty());
    assert!(found(&made(&[1, 1], |at| pair(at[0], at[1]))).is_empty());
    assert!(found(&made(&[0, 0], |at| pair(at[0], at[1]))).is_empty());
    assert!(found(&made(&[2, 3], |_| 1.0)).is_empty());
    assert!(found(&made(&[], |_| 1.0)).is_empty());
    let seven = made(&[1; 7], |_| 1.0);
    let error = seven.detect_symmetries(Tolerance::Exact, &Limits::default());
    let text = "symmetries are found among 6 dimensions at most, not 7";
    assert_eq!(error.unwrap_err().to_string(), text);
}

#[test]
fn eight_combinations_follow_from_two() {
    let sorted = |first: u64, second: u64| pair(first.min(second), first.max(second));
    let value = |at: &[u64]| {
        let (left, right) = (sorted(at[0], at[1]), sorted(at[2], at[3]));
        left * right + left.min(right) / 8.0
    };
    let integrals = made(&[3, 3, 3, 3], value);
    assert_eq!(found(&integrals), ["bacd", "cdab"]);
    let halves = made(&[3, 3, 3, 3], |at| {
        sorted(at[0], at[1]) * pair(at[2], at[3])
    });
    assert_eq!(found(&halves), ["bacd"]);
    let pairs = made(&[2, 3, 2, 3], |at| pair(at[0], at[1]) * pair(at[2], at[3]));
    assert_eq!(found(&pairs), ["cdab"]);
    let six = made(&[2; 6], |at| pair(at[0], at[5]) + pair(at[3], at[1]) / 7.0);
    // The third and the fifth index do not matter, so that they may be exchanged.
    assert_eq!(found(&six), ["abedcf"]);
}

#[test]
fn a_cycle_and_a_group_of_all_orders_are_found() {
    let cyclic = made(&[4, 4, 4], |at| {
        pair(at[0], at[1]) * pair(at[1], at[2]) * pair(at[2], at[0])
    });
    assert_eq!(found(&cyclic), ["bca"]);
    let full = made(&[3, 3, 3], |at| number(at[0] + at[1] + at[2]));
    assert_eq!(found(&full), ["bac", "cba"]);
    let signs = made(&[3, 3, 3], |at| {
        let [a, b, c] = [at[0], at[1], at[2]].map(number);
        let product = (a - b) * (b - c) * (c - a);
        // No zero with a sign on the diagonals.
        product + 0.0
    });
    // Whatever is tried on such zeros is exact only up to their signs.
    assert_eq!(
        found_within(&signs, Tolerance::Within(0.0)),
        ["-bac", "-cba"]
    );
}

#[test]
fn a_tolerance_forgives_what_it_says() {
    let near = |at: &[u64]| {
        if at == [0, 1] {
            4.0
        } else {
            number(at[0] + at[1]) + 2.0
        }
    };
    let near = made(&[3, 3], near);
    assert!(found(&near).is_empty());
    // The largest is 6, and one cell is off by 1.
    assert!(found_within(&near, Tolerance::Within(0.16)).is_empty());
    assert_eq!(found_within(&near, Tolerance::Within(0.17)), ["ba"]);
}

#[test]
fn every_kind_of_storage_is_searched_and_names_are_used() {
    assert_eq!(found(&samples::packed()), ["-bac"]);
    let full = made(&[3, 3], |at| number(at[0] * at[1]));
    assert_eq!(found(&full.to_sparse(&Limits::default()).unwrap()), ["ba"]);
    let named = |names: [Option<&str>; 2]| {
        let dims = names.map(|name| match name {
            Some(name) => Dim::indexed(3).named(name),
            None => Dim::indexed(3),
        });
        let values = full.dense(Order::Column, &Limits::default()).unwrap();
        let order = Order::Column;
        let storage = Storage::Dense { order, values };
        Tensor::new(dims.to_vec(), full.dtype(), vec![], storage).unwrap()
    };
    assert_eq!(found(&named([Some("x"), Some("y")])), ["y,x"]);
    assert_eq!(found(&named([Some("x"), None])), ["1,0"]);
    assert!(
        samples::labelled()
            .detect_symmetries(Tolerance::Exact, &Limits::default())
            .is_err()
    );
}

#[test]
fn a_symmetry_that_is_declared_twice_is_kept_once() {
    let full = made(&[3, 3], |at| number(at[0] * at[1]));
    let given: [Symmetry; 2] = [symmetry(&[1, 0], "x", true), symmetry(&[1, 0], "x", false)];
    let declared = full.with_declared_symmetries(&given).unwrap();
    assert_eq!(declared.symmetries(), [symmetry(&[1, 0], "x", false)]);
    assert!(
        full.with_declared_symmetries(&[symmetry(&[0], "x", false)])
            .is_err()
    );
}
