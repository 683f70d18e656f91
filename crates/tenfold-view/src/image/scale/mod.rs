//! Linear and logarithmic scales.

pub(super) mod colormap;
pub(super) mod ticks;

use std::str::FromStr;

use tenfold::{Error, Result};

/// The mapping of numbers to the range from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Linear.
    Linear,
    /// Logarithmic; numbers that are not positive map to the lower end.
    Log,
    /// Symmetric logarithm: logarithmic in the distance from zero, linear near it.
    Symlog,
}

/// The linear range near zero, as a fraction of the largest number.
const NEAR: f64 = 1e-3;

impl Scale {
    /// All of them.
    pub const ALL: &'static [Scale] = &[Scale::Linear, Scale::Log, Scale::Symlog];

    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Scale::Linear => "linear",
            Scale::Log => "log",
            Scale::Symlog => "symlog",
        }
    }

    /// The position of a finite number between `low` (0) and `high` (1), clamped.
    #[must_use]
    pub fn place(self, number: f64, (low, high): (f64, f64)) -> f64 {
        // Halved, as the difference of two large numbers may be infinite.
        let between = |number: f64, low: f64, high: f64| {
            let (from, whole) = (number / 2.0 - low / 2.0, high / 2.0 - low / 2.0);
            if whole > 0.0 {
                (from / whole).clamp(0.0, 1.0)
            } else {
                // A range of a single number maps to the middle.
                0.5
            }
        };
        match self {
            Scale::Linear => between(number, low, high),
            Scale::Log if number <= 0.0 => 0.0,
            Scale::Log => {
                let low = lowest_for_log(low, high);
                between(number.log10(), low.log10(), high.max(low).log10())
            }
            Scale::Symlog => {
                let near = near(low, high);
                let bent = |number: f64| bent(number, near);
                between(bent(number), bent(low), bent(high))
            }
        }
    }

    /// The number at a position between 0 and 1: the inverse of [`Scale::place`].
    #[must_use]
    pub fn number(self, place: f64, (low, high): (f64, f64)) -> f64 {
        let between = |low: f64, high: f64| low * (1.0 - place) + high * place;
        match self {
            Scale::Linear => between(low, high),
            Scale::Log => {
                let low = lowest_for_log(low, high);
                10_f64.powf(between(low.log10(), high.max(low).log10()))
            }
            Scale::Symlog => {
                let near = near(low, high);
                let place = between(bent(low, near), bent(high, near));
                (10_f64.powf(place.abs()) - 1.0) * near * place.signum()
            }
        }
    }
}

/// sign(x)·log10(1 + |x|/c).
fn bent(number: f64, near: f64) -> f64 {
    (number.abs() / near).ln_1p() / std::f64::consts::LN_10 * number.signum()
}

fn near(low: f64, high: f64) -> f64 {
    match low.abs().max(high.abs()) * NEAR {
        near if near > 0.0 => near,
        _ => NEAR,
    }
}

/// A logarithm needs a positive end: six decades, if there is none.
pub(crate) fn lowest_for_log(low: f64, high: f64) -> f64 {
    match (low > 0.0, high > 0.0) {
        (true, _) => low,
        (false, true) => (high * 1e-6).max(f64::MIN_POSITIVE),
        (false, false) => 1.0,
    }
}

impl FromStr for Scale {
    type Err = Error;

    fn from_str(name: &str) -> Result<Scale> {
        let mut all = Scale::ALL.iter().copied();
        all.find(|scale| scale.as_str() == name)
            .ok_or_else(|| Error::Invalid("a scale is linear, log or symlog".into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_where_the_definition_says() {
        let linear = Scale::Linear.place(2.0, (1.0, 5.0));
        assert!((linear - 0.25).abs() < 1e-15);
        let log = Scale::Log.place(10.0, (1.0, 1000.0));
        assert!((log - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(Scale::Log.place(-3.0, (1.0, 1000.0)), 0.0);
        // c = 1e-3 · 100: log10(1 + 9.9 / 0.1) = 2 of log10(1001).
        let symlog = Scale::Symlog.place(9.9, (-100.0, 100.0));
        assert!((symlog - (0.5 + 1.0 / 1001_f64.log10())).abs() < 1e-12);
        assert_eq!(Scale::Symlog.place(0.0, (-100.0, 100.0)), 0.5);
    }

    #[test]
    fn the_way_back_leads_back() {
        for scale in Scale::ALL {
            for range in [(1.0, 1e6), (0.5, 0.75)] {
                for step in 0..=20 {
                    let place = f64::from(step) / 20.0;
                    let back = scale.place(scale.number(place, range), range);
                    assert!((back - place).abs() < 1e-9, "{scale:?} {range:?} {place}");
                }
            }
        }
    }

    #[test]
    fn the_largest_numbers_and_a_range_without_width_are_no_trouble() {
        let all = (f64::MIN, f64::MAX);
        assert_eq!(Scale::Linear.place(0.0, all), 0.5);
        assert_eq!(Scale::Linear.place(7.0, (7.0, 7.0)), 0.5);
        assert_eq!(Scale::Linear.place(8.0, (1.0, 5.0)), 1.0);
        assert!(Scale::Symlog.place(1.0, (0.0, 0.0)).is_finite());
        assert!(Scale::Log.place(1.0, (-5.0, -1.0)).is_finite());
    }
}
