//! Addition of elements in their own number type.

use half::{bf16, f16};
use rustc_apfloat::Float;
use rustc_apfloat::ieee::Quad;

use super::{Element, F128, Number};

/// Adds little-endian numbers to others of the same type, component by component: floats round after every
/// addition, bools are joined by `or`. False if an integer sum has wrapped around.
pub(crate) fn add_to(number: Number, sums: &mut [u8], values: &[u8]) -> bool {
    let width = number.width();
    let pairs = sums.chunks_exact_mut(width).zip(values.chunks_exact(width));
    pairs.fold(true, |fits, (sum, value)| {
        fits & add_one(number, sum, value)
    })
}

fn add_one(number: Number, sum: &mut [u8], value: &[u8]) -> bool {
    match number {
        Number::Bool => put(sum, value, |one: bool, other| (one | other, false)),
        Number::U8 => put(sum, value, u8::overflowing_add),
        Number::U16 => put(sum, value, u16::overflowing_add),
        Number::U32 => put(sum, value, u32::overflowing_add),
        Number::U64 => put(sum, value, u64::overflowing_add),
        Number::U128 => put(sum, value, u128::overflowing_add),
        Number::I8 => put(sum, value, i8::overflowing_add),
        Number::I16 => put(sum, value, i16::overflowing_add),
        Number::I32 => put(sum, value, i32::overflowing_add),
        Number::I64 => put(sum, value, i64::overflowing_add),
        Number::I128 => put(sum, value, i128::overflowing_add),
        Number::F16 => put(sum, value, |one: f16, other| {
            (f16::from_f32(one.to_f32() + other.to_f32()), false)
        }),
        Number::Bf16 => put(sum, value, |one: bf16, other| {
            (bf16::from_f32(one.to_f32() + other.to_f32()), false)
        }),
        Number::F32 => put(sum, value, |one: f32, other| (one + other, false)),
        Number::F64 => put(sum, value, |one: f64, other| (one + other, false)),
        Number::F128 => put(sum, value, |one: F128, other| {
            let [one, other] = [one, other].map(|number| Quad::from_bits(number.to_bits()));
            (F128::from_bits((one + other).value.to_bits()), false)
        }),
    }
}

/// Replaces `sum` by the result of `add`; false if that wrapped around.
fn put<T: Element>(sum: &mut [u8], value: &[u8], add: impl Fn(T, T) -> (T, bool)) -> bool {
    let (added, has_wrapped) = add(T::from_le(sum), T::from_le(value));
    let mut bytes = Vec::with_capacity(sum.len());
    added.to_le(&mut bytes);
    sum.copy_from_slice(&bytes);
    !has_wrapped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added<T: Element>(one: T, other: T) -> (T, bool) {
        let [mut sum, mut value] = [Vec::new(), Vec::new()];
        one.to_le(&mut sum);
        other.to_le(&mut value);
        let fits = add_to(T::DTYPE.number, &mut sum, &value);
        (T::from_le(&sum), fits)
    }

    #[test]
    fn integers_carry_and_say_when_they_wrap() {
        assert_eq!(added(255_i32, 1), (256, true));
        assert_eq!(added(-1_i32, 1), (0, true));
        assert_eq!(added(i32::MAX, 1), (i32::MIN, false));
        assert_eq!(added(100_u8, 156), (0, false));
        assert_eq!(added(u128::MAX - 1, 1), (u128::MAX, true));
    }

    #[test]
    fn floats_round_in_their_own_type() {
        assert_eq!(added(1e8_f32, 1.0), (1e8, true));
        assert_eq!(
            added(f16::from_f32(2048.0), f16::ONE).0,
            f16::from_f32(2048.0)
        );
        assert_eq!(
            added(bf16::from_f32(256.0), bf16::ONE).0,
            bf16::from_f32(256.0)
        );
        assert_eq!(added(0.1_f64, 0.2), (0.300_000_000_000_000_04, true));
        let [third, sixth] = [1.5_f64, 0.25].map(F128::from);
        assert_eq!(added(third, sixth).0.to_bits(), F128::from(1.75).to_bits());
    }

    #[test]
    fn components_are_added_apart_and_bools_joined() {
        let mut sum = [1.0_f32.to_le_bytes(), 2.0_f32.to_le_bytes()].concat();
        let value = [0.5_f32.to_le_bytes(), (-2.0_f32).to_le_bytes()].concat();
        assert!(add_to(Number::F32, &mut sum, &value));
        assert_eq!(sum, [1.5_f32.to_le_bytes(), 0.0_f32.to_le_bytes()].concat());
        assert_eq!(added(true, true), (true, true));
    }
}
