//! Tests: tensors with known differences.

use half::bf16;
use num_complex::Complex;

use crate::compare::diff::*;
use crate::dtype::{DType, Element, F128};
use crate::tensor::Dim;

pub(super) fn dense<T: Element>(sizes: &[u64], order: Order, values: &[T]) -> Tensor {
    let values = Numbers::from_vec(values);
    let dims = sizes.iter().map(|size| Dim::indexed(*size)).collect();
    Tensor::new(dims, T::DTYPE, vec![], Storage::Dense { order, values }).unwrap()
}

fn line<T: Element>(values: &[T]) -> Tensor {
    dense(&[values.len().try_into().unwrap()], Order::Row, values)
}

fn exactly() -> DiffOptions {
    DiffOptions::default()
}

fn within(relative: f64, absolute: f64) -> DiffOptions {
    let tolerance = DiffTolerance {
        relative,
        absolute,
        ..DiffTolerance::default()
    };
    DiffOptions {
        tolerance,
        ..DiffOptions::default()
    }
}

pub(super) fn found<A: Element, B: Element>(a: &[A], b: &[B], how: &DiffOptions) -> Comparison {
    compare(&line(a), &line(b), how).unwrap()
}

fn measured<A: Element, B: Element>(a: &[A], b: &[B]) -> Measures {
    found(a, b, &exactly()).measures.unwrap()
}

fn is_close(found: f64, wanted: f64) -> bool {
    (found - wanted).abs() <= 1e-14 * wanted.abs()
}

#[test]
fn the_numbers_are_those_of_pencil_and_paper() {
    // ‖A‖ = 5, ‖A − B‖ = 1, ⟨A, B⟩ = 9 + 20, ‖B‖² = 9 + 25.
    let measures = measured(&[3.0_f32, 0.0, 4.0], &[3.0_f32, 0.0, 5.0]);
    assert_eq!(
        (measures.cells, measures.unequal, measures.changed),
        (3, 1, 1)
    );
    assert_eq!((measures.largest, measures.norm_a), (1.0, 5.0));
    assert!(is_close(measures.relative_norm, 0.2));
    assert!(is_close(measures.cosine, 29.0 / (5.0 * 34.0_f64.sqrt())));
    let worst = measures.worst.unwrap();
    assert_eq!((worst.index, worst.apart), (vec![2], 1.0));
    assert_eq!((f32::from_le(&worst.a), f32::from_le(&worst.b)), (4.0, 5.0));
}

#[test]
fn neither_huge_nor_tiny_numbers_spoil_the_sums() {
    let tiny = f64::from_bits(1);
    for unit in [1.0, 1e300, 1e-300, tiny] {
        let measures = measured(&[3.0 * unit, 4.0 * unit], &[3.0 * unit, 5.0 * unit]);
        assert!(
            (measures.relative_norm - 0.2).abs() < 1e-13,
            "{unit:e} {measures:?}"
        );
        let cosine = 29.0 / (5.0 * 34.0_f64.sqrt());
        assert!(
            (measures.cosine - cosine).abs() < 1e-13,
            "{unit:e} {measures:?}"
        );
        assert!(is_close(measures.largest, unit), "{unit:e}");
    }
    // The two sides need not be of similar size.
    let measures = measured(&[1e300, 1e300], &[1e-300, 1e-300]);
    assert_eq!((measures.relative_norm, measures.cosine), (1.0, 1.0));
    // The difference is larger than any double.
    let measures = measured(&[1.5e308], &[-1.5e308]);
    assert_eq!((measures.relative_norm, measures.cosine), (2.0, -1.0));
    assert_eq!((measures.largest, measures.infinite), (f64::INFINITY, 0));
}

#[test]
fn zero_tensors_have_a_norm_and_a_cosine() {
    let measures = measured(&[0.0_f64, 0.0], &[0.0, 2.0]);
    assert_eq!(
        (measures.relative_norm, measures.cosine),
        (f64::INFINITY, 0.0)
    );
    let measures = measured(&[0.0_f64, 2.0], &[0.0, 0.0]);
    assert_eq!((measures.relative_norm, measures.cosine), (1.0, 0.0));
}

#[test]
fn a_cosine_close_to_one_keeps_its_digits() {
    // A right angle of 1 and 1e-9: Python's decimal gives 1 - cos = 5e-19 / (1 + 1e-18)…, for
    // 1e-6 it is 4.99999999999625e-13.
    let measures = measured(&[1.0_f64, 0.0], &[1.0, 1e-6]);
    let lack = 1.0 - measures.cosine;
    assert!(
        (lack / 4.999_999_999_996_25e-13 - 1.0).abs() < 1e-3,
        "{lack:e}"
    );
}

#[test]
fn signs_of_zero_differ_in_bits_only_and_nan_is_nothing_but_itself() {
    let nan = f32::from_bits(0x7fc0_0001);
    let other = f32::from_bits(0x7fc0_0002);
    let verdict = |a: &[f32], b: &[f32], how: &DiffOptions| found(a, b, how).verdict;
    assert_eq!(
        verdict(&[0.0, 1.0], &[-0.0, 1.0], &exactly()),
        Verdict::Equal
    );
    assert_eq!(
        verdict(&[nan, 1.0], &[nan, 1.0], &exactly()),
        Verdict::Identical
    );
    assert_eq!(
        verdict(&[nan, 0.0], &[nan, -0.0], &exactly()),
        Verdict::Equal
    );
    let different = found(&[nan, 1.0], &[other, 1.0], &exactly());
    assert_eq!(different.verdict, Verdict::Changed);
    assert_eq!(different.measures.unwrap().nan_both, 1);
    let mut lax = exactly();
    lax.tolerance.equal_nan = true;
    assert_eq!(verdict(&[nan, 1.0], &[other, 1.0], &lax), Verdict::Equal);
    let infinite = [f32::INFINITY, 1.0];
    assert_eq!(
        verdict(&infinite, &[f32::INFINITY, -1.0], &exactly()),
        Verdict::Changed
    );
    assert_eq!(
        verdict(&infinite, &[f32::INFINITY, 1.0], &exactly()),
        Verdict::Identical
    );
}

#[test]
fn what_is_not_finite_is_counted_and_left_out_of_the_norms() {
    let (nan, infinity) = (f64::NAN, f64::INFINITY);
    let a = [3.0, nan, 7.0, 7.0, infinity, 4.0];
    let b = [3.0, 1.0, nan, infinity, infinity, 5.0];
    let measures = measured(&a, &b);
    let counts = (measures.nan_a, measures.nan_b, measures.infinite);
    assert_eq!((counts, measures.changed), ((1, 1, 1), 4));
    assert!(measures.largest.is_nan());
    assert_eq!(measures.worst.unwrap().index, [1]);
    assert!(is_close(measures.relative_norm, 0.2));
    // An infinity is outside any tolerance.
    let found = found(&[1.0, 2.0], &[1.0, infinity], &within(0.5, 1e9));
    assert_eq!(found.verdict, Verdict::Changed);
}

#[test]
fn a_tolerance_is_relative_to_the_larger_and_right_near_zero() {
    let verdict = |a: f64, b: f64, how: &DiffOptions| found(&[a], &[b], how).verdict;
    assert_eq!(verdict(100.0, 101.0, &within(0.01, 0.0)), Verdict::Near);
    assert_eq!(verdict(101.0, 100.0, &within(0.01, 0.0)), Verdict::Near);
    assert_eq!(verdict(100.0, 102.0, &within(0.01, 0.0)), Verdict::Changed);
    assert_eq!(verdict(1e-12, 0.0, &within(0.5, 0.0)), Verdict::Changed);
    assert_eq!(verdict(1e-12, 0.0, &within(0.0, 1e-12)), Verdict::Near);
    assert_eq!(verdict(5e-324, 0.0, &within(0.1, 0.0)), Verdict::Changed);
    // The worst cell is one outside the tolerance, though another has a larger difference.
    let found = found(&[1000.0, 1e-3], &[1001.0, 2e-3], &within(0.01, 0.0));
    let measures = found.measures.unwrap();
    assert_eq!(
        (measures.unequal, measures.changed, measures.largest),
        (2, 1, 1.0)
    );
    assert_eq!(measures.worst.unwrap().index, [1]);
}

#[test]
fn elements_of_several_numbers_differ_by_their_modulus() {
    let measures = measured(&[Complex::new(1.0, 1.0)], &[Complex::new(4.0, 5.0)]);
    assert_eq!((measures.changed, measures.largest), (1, 5.0));
    let quaternions = |parts: &[i8]| {
        let values = Numbers::from_vec(parts);
        let storage = Storage::Dense {
            order: Order::Row,
            values,
        };
        let dtype: DType = "quaternion<i8>".parse().unwrap();
        Tensor::new(vec![Dim::indexed(2)], dtype, vec![], storage).unwrap()
    };
    let a = quaternions(&[1, 2, 3, 4, 0, 0, 0, 0]);
    let b = quaternions(&[1, 2, 3, 4, 1, -1, 1, 1]);
    let measures = compare(&a, &b, &exactly()).unwrap().measures.unwrap();
    assert_eq!(
        (measures.cells, measures.changed, measures.largest),
        (2, 1, 2.0)
    );
    assert_eq!(measures.worst.unwrap().index, [1]);
}

#[test]
fn wide_numbers_differ_where_doubles_do_not() {
    let measures = measured(&[u64::MAX, 5], &[u64::MAX - 1, 5]);
    assert_eq!((measures.changed, measures.largest), (1, 1.0));
    let measures = measured(&[i128::MIN], &[i128::MIN + 1]);
    assert_eq!((measures.changed, measures.largest), (1, 1.0));
    let quad = |text: &str| text.parse::<F128>().unwrap();
    let near = quad("1.0000000000000000000000000001");
    let measures = measured(&[quad("1.0"), quad("0.0")], &[near, quad("-0.0")]);
    assert_eq!((measures.unequal, measures.changed), (1, 1));
    assert!(
        (measures.largest / 1e-28 - 1.0).abs() < 1e-5,
        "{}",
        measures.largest
    );
    let mut how = exactly();
    how.ignore_dtype = true;
    assert_eq!(
        found(&[1_u64 << 63], &[2.0_f64.powi(63)], &how).verdict,
        Verdict::Equal
    );
    assert_eq!(
        found(&[i64::MAX], &[2.0_f64.powi(63)], &how).verdict,
        Verdict::Changed
    );
}

#[test]
fn another_number_type_is_a_change_unless_it_is_to_be_ignored() {
    let single = [0.1_f32, 2.0, -3.5];
    let brain = single.map(bf16::from_f32);
    let double = single.map(f64::from);
    let changed = found(&single, &double, &exactly());
    assert_eq!(
        (changed.verdict, changed.measures),
        (Verdict::Changed, None)
    );
    let mut how = exactly();
    how.ignore_dtype = true;
    assert_eq!(found(&single, &double, &how).verdict, Verdict::Equal);
    assert_eq!(found(&single, &brain, &how).verdict, Verdict::Changed);
    how.tolerance.ulp = Some(0);
    assert_eq!(found(&single, &brain, &how).verdict, Verdict::Near);
    let nan = [f32::from_bits(0xff80_0001)];
    let wide = [f64::from_bits(0xfff0_0000_2000_0000)];
    assert_eq!(found(&nan, &wide, &how).verdict, Verdict::Equal);
}

#[test]
fn tensors_that_do_not_fit_over_each_other_are_not_measured() {
    let a = dense(&[2, 3], Order::Row, &[0_u8; 6]);
    let b = dense(&[3, 2], Order::Row, &[0_u8; 6]);
    let found = compare(&a, &b, &exactly()).unwrap();
    assert!(found.shape_differs && found.measures.is_none());
    let complex = dense(&[2], Order::Row, &[Complex::new(0.0_f32, 0.0); 2]);
    let real = dense(&[2], Order::Row, &[0.0_f32; 2]);
    let found = compare(&complex, &real, &exactly()).unwrap();
    assert!(found.dtype_differs && found.verdict == Verdict::Changed);
}
