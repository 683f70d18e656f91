//! IEEE binary128, which has no native type.

use std::fmt;
use std::str::FromStr;

use rustc_apfloat::Float;
use rustc_apfloat::ieee::{Double, Quad};

use crate::error::{Error, Result};

/// A quadruple-precision number, stored as its bits.
///
/// ```
/// let third: tenfold::F128 = "0.1".parse()?;
/// assert_eq!(third.to_string(), "0.1");
/// # Ok::<(), tenfold::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct F128(u128);

impl F128 {
    /// The number with these bits.
    #[must_use]
    pub const fn from_bits(bits: u128) -> F128 {
        F128(bits)
    }

    /// Its bits: sign, 15 of exponent, 112 of fraction.
    #[must_use]
    pub const fn to_bits(self) -> u128 {
        self.0
    }

    /// The nearest double.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        let narrowed: Double =
            rustc_apfloat::FloatConvert::convert(Quad::from_bits(self.0), &mut false).value;
        // A double has 64 bits.
        f64::from_bits(u64::try_from(narrowed.to_bits()).unwrap_or(0))
    }
}

impl From<f64> for F128 {
    fn from(number: f64) -> F128 {
        let double = Double::from_bits(number.to_bits().into());
        let widened: Quad = rustc_apfloat::FloatConvert::convert(double, &mut false).value;
        F128(widened.to_bits())
    }
}

/// Writes the shortest decimal that reads back to the same bits.
impl fmt::Display for F128 {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Every binary128 is recovered from this many digits.
        const ENOUGH: usize = 36;
        let number = Quad::from_bits(self.0);
        if number.is_nan() {
            return out.write_str("NaN");
        }
        if number.is_infinite() {
            return out.write_str(if number.is_negative() {
                "-Infinity"
            } else {
                "Infinity"
            });
        }
        // Digits are dropped as long as the number is recovered.
        let (mut least, mut most) = (1, ENOUGH);
        while least < most {
            let digits = (least + most) / 2;
            if round_trips(number, digits) {
                most = digits;
            } else {
                least = digits + 1;
            }
        }
        let text = format!("{number:.most$}").to_lowercase();
        out.write_str(&text.replace("e+", "e").replace(".0e", "e"))
    }
}

fn round_trips(number: Quad, digits: usize) -> bool {
    format!("{number:.digits$}")
        .parse::<Quad>()
        .is_ok_and(|back| back.to_bits() == number.to_bits())
}

impl FromStr for F128 {
    type Err = Error;

    fn from_str(text: &str) -> Result<F128> {
        let quad = text.parse::<Quad>();
        quad.map(|quad| F128(quad.to_bits()))
            .map_err(|_| Error::invalid(format!("{text} is not a number")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_short_and_read_back_to_the_same_bits() {
        let third = F128(0x3ffd_5555_5555_5555_5555_5555_5555_5555);
        assert_eq!(third.to_string(), "0.3333333333333333333333333333333333");
        let cases = [
            "0.1",
            "1.0",
            "-2.0",
            "1e-4000",
            "6.5e-4966",
            "1e4900",
            "0.0",
            "-0.0",
        ];
        for text in cases.iter().take(if cfg!(miri) { 3 } else { 8 }) {
            let number: F128 = text.parse().unwrap();
            let shown = number.to_string();
            assert_eq!(
                shown.parse::<F128>().unwrap(),
                number,
                "{text} shown as {shown}"
            );
            assert!(shown.len() <= text.len() + 3, "{text} shown as {shown}");
        }
    }

    #[test]
    fn widening_a_double_is_exact() {
        for number in [0.1, -0.0, f64::MIN_POSITIVE / 4.0, f64::MAX, f64::INFINITY] {
            assert_eq!(F128::from(number).to_f64().to_bits(), number.to_bits());
        }
    }
}
