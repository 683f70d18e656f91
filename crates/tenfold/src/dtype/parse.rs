//! Parsing of elements from text.

use super::cast::scalar::convert;
use super::{DType, F128, Kind, Number};
use crate::error::{Error, Result};

impl DType {
    /// Parses a text such as `1.5`, `-3` or `nan` to the little-endian bytes of an element; in an
    /// element of several numbers it is the first, and the others are zero.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the text is no number, or out of range.
    pub fn parse_element(self, text: &str) -> Result<Vec<u8>> {
        let mut element = self.number.parse_number(text)?;
        element.resize(self.width(), 0);
        Ok(element)
    }
}

impl Number {
    fn parse_number(self, text: &str) -> Result<Vec<u8>> {
        let (from, bytes) = match self.kind() {
            Kind::Float => (Number::F128, parse_float(text)?.to_bits().to_le_bytes()),
            _ => match (text.parse::<u128>(), text.parse::<i128>(), text) {
                (Ok(whole), ..) => (Number::U128, whole.to_le_bytes()),
                (_, Ok(whole), _) => (Number::I128, whole.to_le_bytes()),
                (.., "true") if self == Number::Bool => (Number::U128, 1_u128.to_le_bytes()),
                (.., "false") if self == Number::Bool => (Number::U128, [0; 16]),
                _ => return Err(Error::invalid(format!("{text:?} is no {self}"))),
            },
        };
        let mut out = Vec::new();
        if from == self {
            out.extend_from_slice(&bytes);
        } else if !convert(from, self, &bytes, &mut out) {
            return Err(Error::invalid(format!("{text} does not fit {self}")));
        }
        Ok(out)
    }
}

fn parse_float(text: &str) -> Result<F128> {
    // Words for infinities and NaN are those of a double.
    match text.parse::<f64>() {
        Ok(special) if !special.is_finite() && !text.contains(|c: char| c.is_ascii_digit()) => {
            Ok(F128::from(special))
        }
        _ => text.parse(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::Element;

    fn parsed<T: Element>(text: &str) -> Result<T> {
        Ok(T::from_le(&T::DTYPE.parse_element(text)?))
    }

    #[test]
    fn numbers_are_read_as_their_type_has_them() {
        assert_eq!(parsed::<f64>("0.1").unwrap().to_bits(), 0.1_f64.to_bits());
        assert_eq!(
            parsed::<f32>("-2.5e-3").unwrap().to_bits(),
            (-2.5e-3_f32).to_bits()
        );
        assert!(parsed::<f32>("nan").unwrap().is_nan());
        assert_eq!(
            parsed::<f64>("-inf").unwrap().to_bits(),
            f64::NEG_INFINITY.to_bits()
        );
        assert_eq!(parsed::<i8>("-128").unwrap(), -128);
        assert_eq!(parsed::<u128>(&u128::MAX.to_string()).unwrap(), u128::MAX);
        assert!(parsed::<bool>("true").unwrap());
        let pair: num_complex::Complex<f32> = parsed("7").unwrap();
        assert_eq!((pair.re.to_bits(), pair.im.to_bits()), (7_f32.to_bits(), 0));
    }

    #[test]
    fn what_is_no_number_or_has_no_room_is_refused() {
        let why = |text: &str, number| {
            let dtype = DType::real(number);
            dtype.parse_element(text).unwrap_err().to_string()
        };
        assert_eq!(why("300", Number::U8), "300 does not fit u8");
        assert_eq!(why("-1", Number::U8), "-1 does not fit u8");
        assert_eq!(why("1e300", Number::F32), "1e300 does not fit f32");
        assert_eq!(why("nan", Number::I8), "\"nan\" is no i8");
    }
}
