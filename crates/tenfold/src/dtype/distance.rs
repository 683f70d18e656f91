//! The exact difference of two numbers of any types.

use rustc_apfloat::ieee::Quad;
use rustc_apfloat::{Float, Status};

use super::cast::scalar::{Rounding, Whole, as_quad};
use super::{F128, Kind, Number, is_exact};

/// A number type and the little-endian bytes of a number.
pub(crate) type Spelled<'a> = (Number, &'a [u8]);

/// The difference of two numbers, computed exactly and then rounded to a double: zero only if they
/// are equal, NaN if one is NaN or both are infinities of opposite sign.
pub(crate) fn difference(a: Spelled, b: Spelled) -> f64 {
    if a.0.kind() != Kind::Float && b.0.kind() != Kind::Float {
        return between(&Whole::of(a.0, a.1), &Whole::of(b.0, b.1));
    }
    if is_exact(a.0, Number::F64) && is_exact(b.0, Number::F64) {
        let (a, b) = (a.0.to_f64(a.1), b.0.to_f64(b.1));
        return if a == b { 0.0 } else { a - b };
    }
    let ((x, is_x_exact), (y, is_y_exact)) = (quad(a), quad(b));
    let is_exact = is_x_exact && is_y_exact;
    if is_exact && x == y {
        return 0.0;
    }
    // An integer that a binary128 cannot represent equals none, but may round to one.
    if !is_exact && x == y {
        return match (whole(a), whole(b)) {
            (Some(a), Some(b)) => between(&a, &b),
            // The float is 2^128, of either sign.
            (Some(a), None) => signed(!a.is_negative, size(a.magnitude.wrapping_neg())),
            (None, Some(b)) => signed(b.is_negative, size(b.magnitude.wrapping_neg())),
            (None, None) => 0.0,
        };
    }
    let apart = (x - y).value;
    match F128::from_bits(apart.to_bits()).to_f64() {
        0.0 if apart.is_negative() => -f64::from_bits(1),
        0.0 => f64::from_bits(1),
        near => near,
    }
}

/// A number as a binary128, and whether that is exact.
fn quad((number, bytes): Spelled) -> (Quad, bool) {
    if number.kind() == Kind::Float {
        return (as_quad(number, bytes), true);
    }
    let whole = Whole::of(number, bytes);
    let size = Quad::from_u128(whole.magnitude);
    let is_exact = size.status == Status::OK;
    let value = if whole.is_negative {
        -size.value
    } else {
        size.value
    };
    (value, is_exact)
}

fn whole((number, bytes): Spelled) -> Option<Whole> {
    match number.kind() {
        Kind::Float => Whole::of_float(number, Rounding::NearestEven, bytes),
        _ => Some(Whole::of(number, bytes)),
    }
}

fn size(magnitude: u128) -> f64 {
    Number::U128.to_f64(&magnitude.to_le_bytes())
}

fn signed(is_negative: bool, size: f64) -> f64 {
    if is_negative { -size } else { size }
}

fn between(a: &Whole, b: &Whole) -> f64 {
    if a.is_negative == b.is_negative {
        let is_less = a.magnitude < b.magnitude;
        let apart = size(a.magnitude.abs_diff(b.magnitude));
        return signed(apart != 0.0 && is_less != a.is_negative, apart);
    }
    let apart = match a.magnitude.checked_add(b.magnitude) {
        Some(sum) => size(sum),
        None => size(a.magnitude) + size(b.magnitude),
    };
    signed(a.is_negative && apart != 0.0, apart)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::Element;

    fn apart<A: Element, B: Element>(a: A, b: B) -> f64 {
        let (mut x, mut y) = (Vec::new(), Vec::new());
        a.to_le(&mut x);
        b.to_le(&mut y);
        difference((A::DTYPE.number, &x), (B::DTYPE.number, &y))
    }

    /// An exact power of two.
    fn two(power: u64) -> f64 {
        f64::from_bits((1023 + power) << 52)
    }

    #[test]
    fn whole_numbers_are_told_apart_where_doubles_are_not() {
        assert_eq!(apart(u64::MAX, u64::MAX - 1), 1.0);
        assert_eq!(apart(i64::MIN, i64::MIN + 1), -1.0);
        assert_eq!(apart(i64::MAX, u64::MAX), -two(63));
        assert_eq!(apart(i128::MIN, u128::MAX), -3.0 * two(127));
        assert_eq!(apart(-3_i8, -3_i128), 0.0);
        assert_eq!(apart(true, 1_u8), 0.0);
    }

    #[test]
    fn whole_numbers_and_floats_are_told_apart() {
        // 2^63 is a double, and more than any i64.
        assert_eq!(apart(i64::MAX, two(63)), -1.0);
        assert_eq!(apart(two(63), i64::MAX), 1.0);
        assert_eq!(apart(u64::MAX, two(64)), -1.0);
        // 2^127 - 1 also rounds to 2^127 as a binary128.
        assert_eq!(apart(u128::MAX, two(128)), -1.0);
        assert_eq!(apart(u128::MAX >> 1, two(127)), -1.0);
        assert_eq!(apart(7_u64, 7.5_f32), -0.5);
        assert!(apart(u128::MAX, f64::NAN).is_nan());
        assert_eq!(apart(u64::MAX, f64::INFINITY), f64::NEG_INFINITY);
    }

    #[test]
    fn binary128_numbers_beyond_a_double_still_differ() {
        let quad = |text: &str| text.parse::<F128>().unwrap();
        assert_eq!(apart(quad("0.1"), quad("0.1")), 0.0);
        assert_eq!(apart(quad("1e-4000"), quad("2e-4000")), -f64::from_bits(1));
        assert_eq!(apart(quad("-0.0"), 0_u64), 0.0);
        // Python: Fraction(0.1) - Fraction(1, 10) is 5.55e-18.
        let off = apart(0.1_f64, quad("0.1"));
        assert!(
            (off / 5.551_115_123_125_783e-18 - 1.0).abs() < 1e-12,
            "{off:e}"
        );
    }
}
