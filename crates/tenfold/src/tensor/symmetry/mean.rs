//! The mean of a few numbers of one type.

use rustc_apfloat::{Float, ieee};

use crate::dtype::{Kind, Number, Whole, as_quad, convert};

/// A number by its little-endian bytes, and whether it is negated.
pub(crate) type Term<'a> = (&'a [u8], bool);

/// Appends the mean of `terms`, added in the given order; false if it is no integer of an integer
/// type.
///
/// Floats are added in double precision, those of 128 bits in their own, and rounded to nearest,
/// ties to even. Integers are added exactly. If all terms are the same float, it stays bit for bit;
/// any other NaN result is the canonical NaN.
pub(crate) fn mean(number: Number, terms: &[Term], out: &mut Vec<u8>) -> bool {
    let Some((first, is_negated)) = terms.first() else {
        return false;
    };
    let is_float = number.kind() == Kind::Float;
    let is_alike = |(bytes, other): &Term| {
        if is_float {
            is_same_float(first, bytes, is_negated != other)
        } else {
            !is_negated && !other && first == bytes
        }
    };
    if terms.iter().all(is_alike) {
        let start = out.len();
        out.extend_from_slice(first);
        if let Some(last) = out.get_mut(start..).and_then(<[u8]>::last_mut) {
            *last ^= u8::from(*is_negated) << 7;
        }
        return true;
    }
    match number {
        Number::F128 => out.extend(quad_mean(terms).to_bits().to_le_bytes()),
        _ if is_float => {
            let mean = double_mean(number, terms).to_le_bytes();
            convert(Number::F64, number, &mean, out);
        }
        _ => return whole_mean(number, terms).is_some_and(|whole| whole.put(number, out)),
    }
    true
}

/// Whether two floats have the same bits, with the sign of one negated if `flips`.
fn is_same_float(first: &[u8], second: &[u8], flips: bool) -> bool {
    match (first.split_last(), second.split_last()) {
        (Some((own, rest)), Some((other, others))) => {
            rest == others && own ^ (u8::from(flips) << 7) == *other
        }
        _ => false,
    }
}

fn double_mean(number: Number, terms: &[Term]) -> f64 {
    let count = f64::from(u32::try_from(terms.len()).unwrap_or(u32::MAX));
    let doubles = terms.iter().map(|(bytes, is_negated)| {
        let double = number.to_f64(bytes);
        if *is_negated { -double } else { double }
    });
    let sum: f64 = doubles.clone().fold(0.0, |sum, double| sum + double);
    let is_over = sum.is_infinite() && doubles.clone().all(f64::is_finite);
    let mean = if is_over {
        doubles.fold(0.0, |sum, double| sum + double / count)
    } else {
        sum / count
    };
    // The sign and payload of a NaN from the hardware are unspecified.
    if mean.is_nan() { f64::NAN } else { mean }
}

fn quad_mean(terms: &[Term]) -> ieee::Quad {
    let count = ieee::Quad::from_u128(u128::try_from(terms.len()).unwrap_or(u128::MAX)).value;
    let quads = terms.iter().map(|(bytes, is_negated)| {
        let quad = as_quad(Number::F128, bytes);
        if *is_negated { -quad } else { quad }
    });
    let sum = |quads: &mut dyn Iterator<Item = ieee::Quad>| {
        quads.fold(ieee::Quad::ZERO, |sum, quad| (sum + quad).value)
    };
    let all = sum(&mut quads.clone());
    let is_over = all.is_infinite() && quads.clone().all(Float::is_finite);
    let mean = if is_over {
        sum(&mut quads.map(|quad| (quad / count).value))
    } else {
        (all / count).value
    };
    if mean.is_nan() { ieee::Quad::NAN } else { mean }
}

/// Adds quotients and remainders separately, so that no sum exceeds the largest term.
fn whole_mean(number: Number, terms: &[Term]) -> Option<Whole> {
    let count = u128::try_from(terms.len()).ok()?;
    let (mut above, mut below) = ((0_u128, 0_u128), (0_u128, 0_u128));
    for (bytes, is_negated) in terms {
        let whole = Whole::of(number, bytes);
        let is_negative = whole.is_negative != *is_negated;
        let (quotient, rest) = if is_negative { &mut below } else { &mut above };
        *quotient = quotient.checked_add(whole.magnitude.checked_div(count)?)?;
        *rest = rest.checked_add(whole.magnitude.checked_rem(count)?)?;
    }
    let rest = above.1.abs_diff(below.1);
    if rest.checked_rem(count)? != 0 {
        return None;
    }
    let larger = if above.1 > below.1 {
        &mut above.0
    } else {
        &mut below.0
    };
    *larger = larger.checked_add(rest.checked_div(count)?)?;
    let whole = Whole {
        is_negative: below.0 > above.0,
        magnitude: above.0.abs_diff(below.0),
    };
    let is_spelled = number.kind() == Kind::Signed || !whole.is_negative;
    is_spelled.then_some(whole)
}

#[cfg(test)]
mod tests {
    use half::f16;

    use super::*;
    use crate::dtype::{Element, F128};

    fn of<T: Element>(terms: &[(T, bool)]) -> Option<T> {
        let spelled: Vec<(Vec<u8>, bool)> = terms
            .iter()
            .map(|(term, is_negated)| {
                let mut bytes = Vec::new();
                term.to_le(&mut bytes);
                (bytes, *is_negated)
            })
            .collect();
        let terms: Vec<Term> = spelled.iter().map(|(term, no)| (&**term, *no)).collect();
        let mut out = Vec::new();
        mean(T::DTYPE.number, &terms, &mut out).then(|| T::from_le(&out))
    }

    fn bits(terms: &[(f64, bool)]) -> u64 {
        of(terms).unwrap().to_bits()
    }

    #[test]
    fn floats_are_rounded_to_the_nearest_even() {
        assert_eq!(bits(&[(3.0, false), (3.5, false)]), 3.25_f64.to_bits());
        assert_eq!(bits(&[(3.0, false), (3.5, true)]), (-0.25_f64).to_bits());
        let next = 1.0 + f64::EPSILON;
        assert_eq!(bits(&[(1.0, false), (next, false)]), 1.0_f64.to_bits());
        let huge = [(f64::MAX, false), (f64::MAX, false), (-f64::MAX, true)];
        assert_eq!(bits(&huge), f64::MAX.to_bits());
        let large = f64::MAX / 1.5;
        assert_eq!(
            bits(&[(f64::MAX, false), (large, false)]),
            (f64::MAX / 2.0 + large / 2.0).to_bits()
        );
        let odd = [
            (f16::from_f64(2048.0), false),
            (f16::from_f64(2050.0), false),
        ];
        // 2049 is between two halves.
        assert_eq!(of(&odd), Some(f16::from_f64(2048.0)));
        let quads = [(F128::from(1.0), false), (F128::from(2.0), false)];
        assert_eq!(of(&quads), Some(F128::from(1.5)));
    }

    #[test]
    fn the_same_float_stays_bit_for_bit_and_others_give_one_nan() {
        let nan = f64::from_bits(0x7ff8_0000_0000_0123);
        assert_eq!(bits(&[(nan, false), (nan, false)]), nan.to_bits());
        assert_eq!(bits(&[(-0.0, false), (0.0, true)]), (-0.0_f64).to_bits());
        assert_eq!(bits(&[(0.0, false), (0.0, true)]), 0);
        assert_eq!(bits(&[(nan, false), (1.0, false)]), f64::NAN.to_bits());
        let infinite = [(f64::INFINITY, false), (f64::INFINITY, true)];
        assert_eq!(bits(&infinite), f64::NAN.to_bits());
    }

    #[test]
    fn whole_numbers_have_a_mean_only_if_it_is_whole() {
        assert_eq!(of(&[(3_u8, false), (255, false)]), Some(129));
        assert_eq!(of(&[(3_u8, false), (254, false)]), None);
        assert_eq!(of(&[(3_u8, true), (1, false)]), None);
        assert_eq!(of(&[(i8::MIN, true), (-2, false)]), Some(63));
        assert_eq!(of(&[(-7_i64, false), (2, false), (-1, false)]), Some(-2));
        assert_eq!(
            of(&[(u128::MAX, false), (u128::MAX - 2, false)]),
            Some(u128::MAX - 1)
        );
        assert_eq!(of(&[(true, false), (true, false)]), Some(true));
        assert_eq!(of(&[(true, false), (false, false)]), None);
        assert_eq!(of(&[(true, true), (true, true)]), None);
        assert_eq!(of(&[(true, true), (true, false)]), Some(false));
    }
}
