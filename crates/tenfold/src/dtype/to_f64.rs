//! Fast conversion of many numbers to doubles.

use half::f16;
use half::slice::HalfFloatSliceExt;

use super::Number;

/// Halves converted at once.
const HALVES: usize = 64;

impl Number {
    /// Replaces `out` by the nearest doubles to numbers given by their little-endian bytes.
    pub fn to_doubles(self, bytes: &[u8], out: &mut Vec<f64>) {
        out.clear();
        match self {
            Number::F64 => put(bytes, out, f64::from_le_bytes),
            Number::F32 => put(bytes, out, |four| f32::from_le_bytes(four).into()),
            Number::Bf16 => put(bytes, out, |two| {
                // A bfloat16 is the upper half of a single.
                f32::from_bits(u32::from(u16::from_le_bytes(two)) << 16).into()
            }),
            Number::F16 => halves(bytes, out),
            Number::U8 => put(bytes, out, |[byte]| byte.into()),
            Number::I32 => put(bytes, out, |four| i32::from_le_bytes(four).into()),
            _ => {
                let numbers = bytes.chunks_exact(self.width());
                out.extend(numbers.map(|number| self.to_f64(number)));
            }
        }
    }
}

fn put<const N: usize>(bytes: &[u8], out: &mut Vec<f64>, each: impl Fn([u8; N]) -> f64) {
    out.extend(bytes.as_chunks().0.iter().map(|number| each(*number)));
}

fn halves(bytes: &[u8], out: &mut Vec<f64>) {
    let mut narrow = [f16::ZERO; HALVES];
    let mut single = [0.0_f32; HALVES];
    for piece in bytes.as_chunks::<2>().0.chunks(HALVES) {
        for (half, two) in narrow.iter_mut().zip(piece) {
            *half = f16::from_le_bytes(*two);
        }
        narrow.convert_to_f32_slice(&mut single);
        out.extend(single.iter().take(piece.len()).map(|x| f64::from(*x)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "takes an hour there")]
    fn the_quick_way_gives_what_the_slow_way_does() {
        let bytes: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
        let mut quick = Vec::new();
        for number in Number::ALL {
            number.to_doubles(&bytes, &mut quick);
            let slow = bytes.chunks_exact(number.width());
            assert_eq!(quick.len(), slow.len());
            for (quick, bytes) in quick.iter().zip(slow) {
                let slow = number.to_f64(bytes);
                let is_same = quick.to_bits() == slow.to_bits() || quick.is_nan() && slow.is_nan();
                assert!(is_same, "{number} {bytes:?}: {quick} {slow}");
            }
        }
    }
}
