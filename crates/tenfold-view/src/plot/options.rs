//! Options of plots.

use std::str::FromStr;

use tenfold::{Error, Result};

use crate::image::{CancelToken, ColorMap, Part, Region, Scale, TensorView, percentiles};

/// The kind of a plot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Heat map.
    Heat,
    /// Lines, one per row.
    Line,
    /// Histogram.
    Histogram,
}

/// The ends of a range of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ends {
    /// These numbers.
    Numbers(f64, f64),
    /// These percentiles of the drawn numbers.
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

/// Options of a plot.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The kind; `None` chooses by the number of dimensions.
    pub kind: Option<Kind>,
    /// The component of elements of several numbers.
    pub part: Option<Part>,
    /// The scale of the numbers; in a histogram, of the counts.
    pub scale: Scale,
    /// The color map.
    pub colors: ColorMap,
    /// The range of the numbers; by default from the smallest to the largest.
    pub range: Option<Ends>,
    /// Width and height in pixels.
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
    /// The range for a region whose numbers span `found`.
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
            // Zero is in the middle of the colors.
            let far = low.abs().max(high.abs());
            (-far, far)
        } else {
            (low, high)
        })
    }
}
