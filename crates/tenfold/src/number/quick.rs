//! The usual casts, many numbers at once.
//!
//! Each works on a block and gives up, to be redone number by number, if there is a NaN in it (whose
//! payload the machine would not keep) or a number that the other type has no room for.

use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};

use super::Number;

/// How many numbers a block has.
pub(super) const BLOCK: usize = 64;

/// Casts little-endian numbers into room for as many; false if it gave up.
pub(super) type Quick = fn(&[u8], &mut [u8]) -> bool;

/// The quick way from one type to another, if there is one.
pub(super) fn quick(from: Number, to: Number) -> Option<Quick> {
    use Number::{Bf16, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
    Some(match (from, to) {
        (F32, F64) => |a, b| {
            cast(a, b, |x| {
                f64_of(f32::from_le_bytes(x)).map(f64::to_le_bytes)
            })
        },
        (F64, F32) => |a, b| {
            cast(a, b, |x| {
                f32_of(f64::from_le_bytes(x)).map(f32::to_le_bytes)
            })
        },
        (Bf16, F32) => |a, b| cast(a, b, |x| wide_brain(x).map(f32::to_le_bytes)),
        (Bf16, F64) => |a, b| {
            cast(a, b, |x| {
                wide_brain(x).and_then(f64_of).map(f64::to_le_bytes)
            })
        },
        (F32, Bf16) => |a, b| cast(a, b, |x| brain(f32::from_le_bytes(x))),
        (F64, Bf16) => |a, b| cast(a, b, |x| brain(to_odd(f64::from_le_bytes(x)))),
        (F16, F32) => |a, b| widen_halves(a, b, |x| x.to_le_bytes()),
        (F16, F64) => |a, b| widen_halves(a, b, |x| f64::from(x).to_le_bytes()),
        (F32, F16) => |a, b| halves(a, b, f32::from_le_bytes),
        (F64, F16) => |a, b| halves(a, b, |x| to_odd(f64::from_le_bytes(x))),

        (U8, U16 | I16) => |a, b| {
            cast(a, b, |x| {
                Some(u16::from(u8::from_le_bytes(x)).to_le_bytes())
            })
        },
        (U8, U32 | I32) => |a, b| {
            cast(a, b, |x| {
                Some(u32::from(u8::from_le_bytes(x)).to_le_bytes())
            })
        },
        (U8, U64 | I64) => |a, b| {
            cast(a, b, |x| {
                Some(u64::from(u8::from_le_bytes(x)).to_le_bytes())
            })
        },
        (U16, U32 | I32) => |a, b| {
            cast(a, b, |x| {
                Some(u32::from(u16::from_le_bytes(x)).to_le_bytes())
            })
        },
        (U16, U64 | I64) => |a, b| {
            cast(a, b, |x| {
                Some(u64::from(u16::from_le_bytes(x)).to_le_bytes())
            })
        },
        (U32, U64 | I64) => |a, b| {
            cast(a, b, |x| {
                Some(u64::from(u32::from_le_bytes(x)).to_le_bytes())
            })
        },
        (I8, I16) => |a, b| {
            cast(a, b, |x| {
                Some(i16::from(i8::from_le_bytes(x)).to_le_bytes())
            })
        },
        (I8, I32) => |a, b| {
            cast(a, b, |x| {
                Some(i32::from(i8::from_le_bytes(x)).to_le_bytes())
            })
        },
        (I8, I64) => |a, b| {
            cast(a, b, |x| {
                Some(i64::from(i8::from_le_bytes(x)).to_le_bytes())
            })
        },
        (I16, I32) => |a, b| {
            cast(a, b, |x| {
                Some(i32::from(i16::from_le_bytes(x)).to_le_bytes())
            })
        },
        (I16, I64) => |a, b| {
            cast(a, b, |x| {
                Some(i64::from(i16::from_le_bytes(x)).to_le_bytes())
            })
        },
        (I32, I64) => |a, b| {
            cast(a, b, |x| {
                Some(i64::from(i32::from_le_bytes(x)).to_le_bytes())
            })
        },
        (U8, F32) => |a, b| {
            cast(a, b, |x| {
                Some(f32::from(u8::from_le_bytes(x)).to_le_bytes())
            })
        },
        (U8, F64) => |a, b| {
            cast(a, b, |x| {
                Some(f64::from(u8::from_le_bytes(x)).to_le_bytes())
            })
        },
        (I8, F32) => |a, b| {
            cast(a, b, |x| {
                Some(f32::from(i8::from_le_bytes(x)).to_le_bytes())
            })
        },
        (I8, F64) => |a, b| {
            cast(a, b, |x| {
                Some(f64::from(i8::from_le_bytes(x)).to_le_bytes())
            })
        },
        (U16, F32) => |a, b| {
            cast(a, b, |x| {
                Some(f32::from(u16::from_le_bytes(x)).to_le_bytes())
            })
        },
        (U16, F64) => |a, b| {
            cast(a, b, |x| {
                Some(f64::from(u16::from_le_bytes(x)).to_le_bytes())
            })
        },
        (I16, F32) => |a, b| {
            cast(a, b, |x| {
                Some(f32::from(i16::from_le_bytes(x)).to_le_bytes())
            })
        },
        (I16, F64) => |a, b| {
            cast(a, b, |x| {
                Some(f64::from(i16::from_le_bytes(x)).to_le_bytes())
            })
        },
        (U32, F64) => |a, b| {
            cast(a, b, |x| {
                Some(f64::from(u32::from_le_bytes(x)).to_le_bytes())
            })
        },
        (I32, F64) => |a, b| {
            cast(a, b, |x| {
                Some(f64::from(i32::from_le_bytes(x)).to_le_bytes())
            })
        },
        _ => return None,
    })
}

/// Casts a block; false if `one` had nothing for one of its numbers.
fn cast<const FROM: usize, const TO: usize>(
    stored: &[u8],
    out: &mut [u8],
    one: impl Fn([u8; FROM]) -> Option<[u8; TO]>,
) -> bool {
    let (stored, _) = stored.as_chunks::<FROM>();
    let (out, _) = out.as_chunks_mut::<TO>();
    let mut is_fine = true;
    for (from, to) in stored.iter().zip(out) {
        let cast = one(*from);
        is_fine &= cast.is_some();
        *to = cast.unwrap_or([0; TO]);
    }
    is_fine
}

fn f64_of(number: f32) -> Option<f64> {
    (!number.is_nan()).then_some(f64::from(number))
}

fn f32_of(number: f64) -> Option<f32> {
    #[expect(clippy::as_conversions, reason = "rounds to the nearest, ties to even")]
    let rounded = number as f32;
    // Neither NaN nor an infinity that was none; a true infinity is rare enough.
    rounded.is_finite().then_some(rounded)
}

fn wide_brain(bytes: [u8; 2]) -> Option<f32> {
    let wide = f32::from_bits(u32::from(u16::from_le_bytes(bytes)) << 16);
    (!wide.is_nan()).then_some(wide)
}

/// The nearest bfloat16, ties to even.
fn brain(number: f32) -> Option<[u8; 2]> {
    let bits = number.to_bits();
    let [_, _, low, high] = bits.wrapping_add(0x7fff + (bits >> 16 & 1)).to_le_bytes();
    let rounded = [low, high];
    let is_fine = number.is_finite() && bf16::from_le_bytes(rounded).is_finite();
    is_fine.then_some(rounded)
}

/// A double as the single next to it towards zero, its last bit set if anything was lost: rounding
/// that to fewer bits gives what rounding the double at once would.
fn to_odd(number: f64) -> f32 {
    #[expect(
        clippy::as_conversions,
        reason = "the nearest, which is put right below"
    )]
    let nearest = number as f32;
    let back = f64::from(nearest);
    let is_above = back.abs() > number.abs();
    let is_exact = back == number;
    let towards_zero = nearest.to_bits().wrapping_sub(u32::from(is_above));
    match number.is_nan() {
        true => nearest,
        false => f32::from_bits(towards_zero | u32::from(!is_exact)),
    }
}

/// Rounds to binary16, as the machine does it.
fn halves<const FROM: usize>(
    stored: &[u8],
    out: &mut [u8],
    single: impl Fn([u8; FROM]) -> f32,
) -> bool {
    let (stored, _) = stored.as_chunks::<FROM>();
    let (out, _) = out.as_chunks_mut::<2>();
    let mut singles = [0.0; BLOCK];
    let mut rounded = [f16::ZERO; BLOCK];
    for (room, number) in singles.iter_mut().zip(stored) {
        *room = single(*number);
    }
    rounded.convert_from_f32_slice(&singles);
    let mut is_fine = stored.len() <= BLOCK;
    for (to, half) in out.iter_mut().zip(rounded) {
        is_fine &= half.is_finite();
        *to = half.to_le_bytes();
    }
    is_fine
}

/// Widens binary16, as the machine does it.
fn widen_halves<const TO: usize>(
    stored: &[u8],
    out: &mut [u8],
    wide: impl Fn(f32) -> [u8; TO],
) -> bool {
    let (stored, _) = stored.as_chunks::<2>();
    let (out, _) = out.as_chunks_mut::<TO>();
    let mut halves = [f16::ZERO; BLOCK];
    let mut singles = [0.0; BLOCK];
    for (room, bytes) in halves.iter_mut().zip(stored) {
        *room = f16::from_le_bytes(*bytes);
    }
    halves.convert_to_f32_slice(&mut singles);
    let mut is_fine = stored.len() <= BLOCK;
    for (to, single) in out.iter_mut().zip(singles) {
        is_fine &= !single.is_nan();
        *to = wide(single);
    }
    is_fine
}

#[cfg(test)]
mod tests {
    use super::super::cast::convert;
    use super::*;

    /// Compares the quick way with the one number by number, one number a block.
    fn check(from: Number, to: Number, number: &[u8]) {
        let mut quickly = vec![0; to.width()];
        if !quick(from, to).unwrap()(number, &mut quickly) {
            return;
        }
        let mut slowly = Vec::new();
        assert!(convert(from, to, number, &mut slowly), "{from} {number:?}");
        assert_eq!(quickly, slowly, "{from} {number:?} as {to}");
    }

    #[test]
    fn every_number_of_up_to_16_bits_is_as_one_by_one() {
        for from in Number::ALL.iter().filter(|number| number.width() <= 2) {
            let tos = Number::ALL.iter().filter(|to| quick(*from, **to).is_some());
            for to in tos {
                for bits in 0..=u16::MAX {
                    check(*from, *to, &bits.to_le_bytes()[..from.width()]);
                }
            }
        }
    }

    #[test]
    fn numbers_around_every_tie_are_as_one_by_one() {
        // Halfway between neighbours of 16 bits, and next to that on either side.
        for bits in (0..=u16::MAX).step_by(7) {
            let brain = u32::from(bits) << 16 | 0x8000;
            let half = f16::from_bits(bits).to_f32().to_bits() | 0x1000;
            for single in [brain - 1, brain, brain + 1, half - 1, half, half + 1] {
                let number = f32::from_bits(single);
                for to in [Number::F64, Number::F16, Number::Bf16] {
                    check(Number::F32, to, &number.to_le_bytes());
                }
                let double = f64::from(number).to_bits();
                for double in [double.wrapping_sub(1), double, double + 1] {
                    for to in [Number::F32, Number::F16, Number::Bf16] {
                        check(Number::F64, to, &double.to_le_bytes());
                    }
                }
            }
        }
    }

    #[test]
    fn any_numbers_are_as_one_by_one() {
        let mut random = 0x2545_f491_4f6c_dd1d_u64;
        for _ in 0..20_000 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            for from in Number::ALL {
                for to in Number::ALL.iter().filter(|to| quick(*from, **to).is_some()) {
                    check(*from, *to, &random.to_le_bytes()[..from.width()]);
                }
            }
        }
    }

    #[test]
    fn a_block_with_a_number_that_has_no_room_or_is_none_is_given_up() {
        let gives_up = |number: f64| {
            !quick(Number::F64, Number::F16).unwrap()(&number.to_le_bytes(), &mut [0; 2])
        };
        assert!(gives_up(65520.0) && gives_up(f64::NAN) && gives_up(1e300));
        assert!(!gives_up(65519.0));
    }
}
