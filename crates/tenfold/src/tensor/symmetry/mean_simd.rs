//! Vectorized means of pairs of floats.
//!
//! Equal to `mean` of two terms, block by block. A block with a sum that is not finite is given up
//! and redone number by number: there the order of terms, the payload of a NaN or an overflow
//! matter. Any other sum of two floats is the same in either order, and half of the sum of two
//! equal floats is that float.

use pulp::Arch;

use crate::dtype::{Number, f32_of};

/// The period of the signs: the largest number of components of an element.
const LANES: usize = 8;

/// The relation between the two floats of a pair.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pairing {
    /// Factors for the second of two before it is added to the first.
    signs: [f64; LANES],
}

impl Pairing {
    /// Elements of so many components, some of which change sign.
    pub(crate) fn new(n_components: usize, flips: impl Fn(usize) -> bool) -> Pairing {
        let mut signs = [1.0; LANES];
        for (lane, sign) in signs.iter_mut().enumerate() {
            if flips(lane % n_components.max(1)) {
                *sign = -1.0;
            }
        }
        Pairing { signs }
    }

    /// Fills `out` with the means of the numbers `own` and their images, little-endian, and returns
    /// the largest change; `None` if it gave up.
    ///
    /// The mean is that of the first of two numbers and the second with its sign. If `own` are the
    /// second ones, they become the mean with the sign applied again.
    pub(crate) fn means(
        &self,
        number: Number,
        is_second: bool,
        (own, images): (&[u8], &[u8]),
        out: &mut [u8],
    ) -> Option<f64> {
        match (number, is_second) {
            (Number::F64, false) => self.of::<8, false>((own, images), out, double, bytes),
            (Number::F64, true) => self.of::<8, true>((own, images), out, double, bytes),
            (Number::F32, false) => self.of::<4, false>((own, images), out, widened, rounded),
            (Number::F32, true) => self.of::<4, true>((own, images), out, widened, rounded),
            _ => None,
        }
    }

    #[inline(always)]
    fn of<const WIDTH: usize, const IS_SECOND: bool>(
        &self,
        (own, images): (&[u8], &[u8]),
        out: &mut [u8],
        read: impl Fn([u8; WIDTH]) -> f64,
        write: impl Fn(f64) -> [u8; WIDTH],
    ) -> Option<f64> {
        let own = own.as_chunks::<WIDTH>().0.as_chunks::<LANES>();
        let images = images.as_chunks::<WIDTH>().0.as_chunks::<LANES>();
        let out = out.as_chunks_mut::<WIDTH>().0.as_chunks_mut::<LANES>();
        Arch::new().dispatch(
            #[inline(always)]
            || {
                let mut state = State::default();
                let mut lanes = |own: &[[u8; WIDTH]], images: &[[u8; WIDTH]], out: &mut [_]| {
                    state.add::<WIDTH, IS_SECOND>(self, (own, images), out, (&read, &write));
                };
                for ((own, images), out) in own.0.iter().zip(images.0).zip(out.0) {
                    lanes(own, images, out);
                }
                lanes(own.1, images.1, out.1);
                let is_finite = state.finite.iter().all(|lane| *lane == 0.0);
                is_finite.then(|| state.most.into_iter().fold(0.0, f64::max))
            },
        )
    }
}

/// The state after some pairs.
#[derive(Default)]
struct State {
    /// Zero, or NaN once a sum was not finite.
    finite: [f64; LANES],
    /// The largest change of a number.
    most: [f64; LANES],
}

impl State {
    /// At most as many pairs as there are signs.
    #[inline(always)]
    fn add<const WIDTH: usize, const IS_SECOND: bool>(
        &mut self,
        pairing: &Pairing,
        (own, images): (&[[u8; WIDTH]], &[[u8; WIDTH]]),
        out: &mut [[u8; WIDTH]],
        (read, write): (&impl Fn([u8; WIDTH]) -> f64, &impl Fn(f64) -> [u8; WIDTH]),
    ) {
        let pairs = own.iter().zip(images).zip(&pairing.signs).zip(out);
        let state = self.finite.iter_mut().zip(&mut self.most);
        for ((((own, image), sign), out), (finite, most)) in pairs.zip(state) {
            let (own, image) = (read(*own), read(*image));
            let sum = if IS_SECOND {
                image + own * sign
            } else {
                own + image * sign
            };
            *finite += sum * 0.0;
            let made = if IS_SECOND {
                sum * 0.5 * sign
            } else {
                sum * 0.5
            };
            *out = write(made);
            let change = (own - read(*out)).abs();
            *most = if change > *most { change } else { *most };
        }
    }
}

#[inline(always)]
fn double(number: [u8; 8]) -> f64 {
    f64::from_le_bytes(number)
}

#[inline(always)]
fn bytes(number: f64) -> [u8; 8] {
    number.to_le_bytes()
}

#[inline(always)]
fn widened(number: [u8; 4]) -> f64 {
    f32::from_le_bytes(number).into()
}

#[inline(always)]
fn rounded(number: f64) -> [u8; 4] {
    f32_of(number).0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::mean;

    /// Doubles of every kind, and singles derived from them.
    fn numbers() -> Vec<f64> {
        let mut numbers = vec![0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, 1e-310, 3.0, f64::MAX];
        numbers.extend([f64::MIN, f64::MIN_POSITIVE, 1e-45, 0.1, -0.3, f64::EPSILON]);
        numbers.extend([f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -f64::NAN]);
        let mut bits = 1_u64;
        for _ in 0..60 {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            numbers.push(f64::from_bits(bits));
        }
        numbers
    }

    #[test]
    fn a_mean_is_that_of_two_terms_or_given_up() {
        let all = numbers();
        let single = |number: &f64| rounded(*number).to_vec();
        let doubles: Vec<Vec<u8>> = all.iter().map(|x| bytes(*x).to_vec()).collect();
        let singles: Vec<Vec<u8>> = all.iter().map(single).collect();
        for (number, all) in [(Number::F64, doubles), (Number::F32, singles)] {
            let mut n_quick = 0;
            let pairs = all
                .iter()
                .flat_map(|own| all.iter().map(move |other| (own, other)));
            for (own, image) in pairs.step_by(if cfg!(miri) { 41 } else { 1 }) {
                for (flips, is_second) in
                    [(false, false), (false, true), (true, false), (true, true)]
                {
                    let pairing = Pairing::new(1, |_| flips);
                    let mut out = vec![0; own.len()];
                    let Some(most) = pairing.means(number, is_second, (own, image), &mut out)
                    else {
                        continue;
                    };
                    n_quick += 1;
                    let (first, second) = if is_second {
                        (image, own)
                    } else {
                        (own, image)
                    };
                    let mut wanted = Vec::new();
                    assert!(mean(
                        number,
                        &[(first, false), (second, flips)],
                        &mut wanted
                    ));
                    if is_second && flips {
                        *wanted.last_mut().unwrap() ^= 0x80;
                    }
                    assert_eq!(
                        out, wanted,
                        "{number} {own:?} {image:?} {flips} {is_second}"
                    );
                    let apart = (number.to_f64(own) - number.to_f64(&out)).abs();
                    assert_eq!(most.to_bits(), apart.to_bits());
                }
            }
            assert!(
                n_quick > if cfg!(miri) { 20 } else { 1600 },
                "{number} {n_quick}"
            );
        }
    }

    #[test]
    fn every_component_has_its_sign_wherever_a_block_ends() {
        let own: Vec<u8> = (0..22_u8)
            .flat_map(|n| f64::from(n).to_le_bytes())
            .collect();
        let images: Vec<u8> = (0..22_u8)
            .flat_map(|n| f64::from(3 * n).to_le_bytes())
            .collect();
        let mut out = vec![0; own.len()];
        let pairing = Pairing::new(2, |component| component > 0);
        let most = pairing.means(Number::F64, false, (&own, &images), &mut out);
        assert_eq!(most, Some(42.0));
        for (place, made) in out.as_chunks::<8>().0.iter().enumerate() {
            let place = f64::from(u8::try_from(place).unwrap());
            let wanted = if place % 2.0 == 0.0 {
                2.0 * place
            } else {
                -place
            };
            assert_eq!(f64::from_le_bytes(*made).to_bits(), wanted.to_bits());
        }
    }
}
