//! Parts of complex numbers: real, imaginary, absolute value and argument, computed lazily.

use std::str::FromStr;

use super::cast::map::{Work, worked};
use super::cast::scalar::{Rounding, convert_rounded};
use super::{Arity, DType, Number, Numbers};
use crate::bytes::{Endian, swap};
use crate::error::{Error, Result};
use crate::limits::Limits;

/// A real-valued part of a complex number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ComplexPart {
    /// The real part, also of quaternions and octonions.
    Re,
    /// The imaginary part.
    Im,
    /// The absolute value, also of quaternions and octonions.
    Abs,
    /// The argument in radians, from -π to π.
    Arg,
}

impl ComplexPart {
    /// All parts.
    pub const ALL: &'static [ComplexPart] = &[
        ComplexPart::Re,
        ComplexPart::Im,
        ComplexPart::Abs,
        ComplexPart::Arg,
    ];

    /// The name of the part.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            ComplexPart::Re => "re",
            ComplexPart::Im => "im",
            ComplexPart::Abs => "abs",
            ComplexPart::Arg => "arg",
        }
    }

    /// The number type of this part of elements.
    ///
    /// # Errors
    /// [`Error::Invalid`] if they have no such part, or it cannot be computed.
    pub(crate) fn number(self, of: DType) -> Result<Number> {
        let is_complex = of.arity == Arity::Complex;
        match (self, of.number) {
            (ComplexPart::Im | ComplexPart::Arg, _) if !is_complex => Err(Error::invalid(format!(
                "elements of {of} have no part {}, re and abs are defined",
                self.as_str()
            ))),
            (ComplexPart::Re | ComplexPart::Im, number) => Ok(number),
            (_, Number::F16 | Number::Bf16 | Number::F32 | Number::F64) => Ok(of.number),
            (_, number) if super::is_exact(number, Number::F64) => Ok(Number::F64),
            (_, number) => Err(Error::invalid(format!(
                "the part {} of {number} numbers is not computed, re and im are exact",
                self.as_str()
            ))),
        }
    }
}

impl FromStr for ComplexPart {
    type Err = Error;

    fn from_str(word: &str) -> Result<ComplexPart> {
        let mut all = ComplexPart::ALL.iter().copied();
        all.find(|part| part.as_str() == word)
            .ok_or_else(|| Error::invalid(format!("{word:?} is not re, im, abs or arg")))
    }
}

impl Numbers {
    /// A part of every element, for elements of several numbers.
    ///
    /// # Errors
    /// As [`ComplexPart::number`].
    pub(crate) fn part(&self, arity: Arity, part: ComplexPart, limits: &Limits) -> Result<Numbers> {
        let of = DType {
            number: self.number,
            arity,
        };
        let to = part.number(of)?;
        let work = OnePart {
            part,
            of,
            to,
            must_swap: self.must_swap(Endian::Little),
        };
        Ok(Numbers {
            number: to,
            endian: Endian::Little,
            bytes: worked(&self.bytes, work, limits),
        })
    }
}

/// The map from elements to one of their parts.
struct OnePart {
    part: ComplexPart,
    of: DType,
    to: Number,
    must_swap: bool,
}

impl Work for OnePart {
    fn stored(&self) -> usize {
        self.of.width()
    }

    fn made(&self) -> usize {
        self.to.width()
    }

    fn work(&self, stored: &[u8], made: &mut [u8]) -> Result<()> {
        let width = self.of.number.width();
        let mut element = vec![0; self.stored()];
        let mut out = Vec::with_capacity(self.made());
        let rooms = made.chunks_exact_mut(self.made());
        for (bytes, room) in stored.chunks_exact(self.stored()).zip(rooms) {
            element.copy_from_slice(bytes);
            if self.must_swap {
                swap(&mut element, width);
            }
            let component = match self.part {
                ComplexPart::Re => Some(0),
                ComplexPart::Im => Some(width),
                ComplexPart::Abs | ComplexPart::Arg => None,
            };
            if let Some(part) = component.and_then(|at| element.get(at..)?.get(..width)) {
                room.copy_from_slice(part);
                continue;
            }
            let value = self.computed(&element).to_le_bytes();
            out.clear();
            convert_rounded(
                Number::F64,
                self.to,
                Rounding::NearestEven,
                &value,
                &mut out,
            );
            room.copy_from_slice(&out);
        }
        Ok(())
    }
}

impl OnePart {
    /// The absolute value or the argument of an element, in double precision.
    fn computed(&self, element: &[u8]) -> f64 {
        let number = self.of.number;
        let mut numbers = element
            .chunks_exact(number.width())
            .map(|bytes| number.to_f64(bytes));
        let re = numbers.next().unwrap_or_default();
        if self.part == ComplexPart::Arg {
            return numbers.next().unwrap_or_default().atan2(re);
        }
        numbers.fold(re.abs(), f64::hypot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(values: &[f64], arity: Arity, part: ComplexPart) -> Vec<f64> {
        let numbers = Numbers::from_vec(values);
        let part = numbers.part(arity, part, &Limits::default()).unwrap();
        part.to_vec().unwrap()
    }

    #[test]
    fn the_parts_of_complex_numbers_are_what_their_names_say() {
        let values = [3.0, -4.0, -0.0, 0.0, f64::INFINITY, f64::NAN];
        let bits = |part| -> Vec<u64> {
            let found = parts(&values, Arity::Complex, part).into_iter();
            found.map(f64::to_bits).collect()
        };
        let of = |wanted: [f64; 3]| wanted.map(f64::to_bits).to_vec();
        assert_eq!(bits(ComplexPart::Re), of([3.0, -0.0, f64::INFINITY]));
        assert_eq!(bits(ComplexPart::Im), of([-4.0, 0.0, f64::NAN]));
        assert_eq!(bits(ComplexPart::Abs), of([5.0, 0.0, f64::INFINITY]));
        let arg = parts(&values, Arity::Complex, ComplexPart::Arg);
        assert_eq!(arg[..2], [(-4.0_f64).atan2(3.0), std::f64::consts::PI]);
        assert!(arg[2].is_nan());
    }

    #[test]
    fn quaternions_have_a_real_part_and_an_absolute_value() {
        let values = [1.0, 2.0, 2.0, 4.0];
        assert_eq!(parts(&values, Arity::Quaternion, ComplexPart::Abs), [5.0]);
        assert_eq!(parts(&values, Arity::Quaternion, ComplexPart::Re), [1.0]);
        let numbers = Numbers::from_vec(&values);
        let error = numbers.part(Arity::Quaternion, ComplexPart::Im, &Limits::default());
        assert!(error.is_err());
    }

    #[test]
    fn large_values_do_not_overflow_on_the_way() {
        let found = parts(&[1e300, 1e300], Arity::Complex, ComplexPart::Abs);
        assert_eq!(found, [1e300_f64.hypot(1e300)]);
        assert!(found[0].is_finite());
    }
}
