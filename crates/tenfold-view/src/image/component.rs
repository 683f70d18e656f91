//! The displayed component of an element.

use std::str::FromStr;

use tenfold::{Arity, DType, Error, Result};

/// One real number derived from an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The component at this index: 0 is the value or the real part, 1 the imaginary part.
    Component(usize),
    /// The magnitude: the absolute value of real and complex numbers.
    Magnitude,
    /// The angle of a complex number, in radians.
    Phase,
}

impl FromStr for Part {
    type Err = Error;

    fn from_str(word: &str) -> Result<Part> {
        match word {
            "value" | "real" => Ok(Part::Component(0)),
            "imaginary" => Ok(Part::Component(1)),
            "magnitude" => Ok(Part::Magnitude),
            "phase" => Ok(Part::Phase),
            digit => match digit.parse() {
                Ok(place) if place < 8 => Ok(Part::Component(place)),
                _ => {
                    let why = "a part is value, real, imaginary, magnitude, phase or 0 to 7";
                    Err(Error::Invalid(why.into()))
                }
            },
        }
    }
}

impl Part {
    /// The default component: the value of real elements, otherwise the magnitude.
    #[must_use]
    pub fn usual(dtype: DType) -> Part {
        match dtype.arity {
            Arity::Real => Part::Component(0),
            Arity::Complex | Arity::Quaternion | Arity::Octonion => Part::Magnitude,
        }
    }

    /// Fails if elements of this type have no such component.
    ///
    /// # Errors
    /// [`Error::Invalid`].
    pub fn check(self, dtype: DType) -> Result<()> {
        let is_there = match self {
            Part::Component(place) => place < dtype.arity.count(),
            Part::Magnitude => true,
            Part::Phase => dtype.arity == Arity::Complex,
        };
        if is_there {
            Ok(())
        } else {
            Err(Error::Invalid(format!(
                "elements of {dtype} have no such part"
            )))
        }
    }

    /// The component of consecutive elements; replaces `numbers`.
    pub(crate) fn reduce(self, arity: Arity, numbers: &mut Vec<f64>) {
        if arity == Arity::Real && self == Part::Component(0) {
            return;
        }
        let count = arity.count();
        let made: Vec<f64> = numbers
            .chunks_exact(count)
            .map(|one| self.of(one))
            .collect();
        *numbers = made;
    }

    fn of(self, element: &[f64]) -> f64 {
        match (self, element) {
            (Part::Component(place), _) => element.get(place).copied().unwrap_or(f64::NAN),
            (Part::Magnitude, [real]) => real.abs(),
            (Part::Magnitude, [real, imaginary]) => real.hypot(*imaginary),
            (Part::Magnitude, _) => element
                .iter()
                .fold(0.0, |so_far: f64, one| so_far.hypot(*one)),
            (Part::Phase, [real, imaginary]) => imaginary.atan2(*real),
            (Part::Phase, _) => f64::NAN,
        }
    }
}
