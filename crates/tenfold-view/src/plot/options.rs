//! What can be chosen about a picture.

use std::str::FromStr;

use tenfold::{Error, Result};

use crate::image::{CancelToken, ColorMap, Part, Region, Scale, TensorView, percentiles};

/// What sort of picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Numbers as colors.
    Heat,
    /// Rows as lines.
    Line,
    /// How often numbers are how large.
    Histogram,
}

/// The ends of a range of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ends {
    /// These numbers.
    Numbers(f64, f64),
    /// These percentiles of the numbers that are drawn.
    Percentiles(f64, f64),
}

impl FromStr for Ends {
    type Err = Error;

    fn from_str(text: &str) -> Result<Ends> {
        let wrong = || Error::Invalid("a range is LOW:HIGH, or in percentiles as 1%:99%".into());
        let (low, high) = text.split_once(':').ok_or_else(wrong)?;
        let (low, high) = (low.trim(), high.trim());
        let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
        let found = match (low.strip_suffix('%'), high.strip_suffix('%')) {
            (Some(low), Some(high)) => {
                let percent = |text| number(text).filter(|n| (0.0..=100.0).contains(n));
                percent(low)
                    .zip(percent(high))
                    .map(|(low, high)| Ends::Percentiles(low, high))
            }
            _ => number(low)
                .zip(number(high))
                .map(|(low, high)| Ends::Numbers(low, high)),
        };
        match found.ok_or_else(wrong)? {
            Ends::Numbers(low, high) | Ends::Percentiles(low, high) if low >= high => Err(
                Error::Invalid("the low end of a range lies below the high one".into()),
            ),
            ends => Ok(ends),
        }
    }
}

/// How a picture is drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// What sort of picture; what suits the tensor if nothing is said.
    pub kind: Option<Kind>,
    /// Which part of elements of several numbers.
    pub part: Option<Part>,
    /// How numbers are spread; in a histogram, the counts.
    pub scale: Scale,
    /// The colors.
    pub colors: ColorMap,
    /// The ends of the numbers; those that are there if nothing is said.
    pub range: Option<Ends>,
    /// Pixels to the right and down.
    pub size: (u32, u32),
}

impl Default for Options {
    fn default() -> Options {
        Options {
            kind: None,
            part: None,
            scale: Scale::Linear,
            colors: ColorMap::Viridis,
            range: None,
            size: (800, 600),
        }
    }
}

impl Options {
    /// The ends of the numbers of a region, of which `found` are there.
    pub(super) fn ends(
        &self,
        subject: &TensorView,
        region: &Region,
        found: (f64, f64),
    ) -> Result<(f64, f64)> {
        let (low, high) = match self.range {
            Some(Ends::Numbers(low, high)) => return Ok((low, high)),
            Some(Ends::Percentiles(low, high)) => {
                let (ends, _) =
                    percentiles(subject, region, &[low, high], &CancelToken::default())?;
                match ends.as_deref() {
                    Some([low, high]) => (*low, *high),
                    _ => found,
                }
            }
            None => found,
        };
        Ok(if self.colors.is_diverging() && self.scale != Scale::Log {
            // The middle of the colors is zero.
            let far = low.abs().max(high.abs());
            (-far, far)
        } else {
            (low, high)
        })
    }
}
