//! Statistics of all values, exact and in bounded memory.

mod first_nonfinite;
mod histogram;
mod moments;
mod passes;
mod quantiles;
mod sort_key;
mod summary;

use crate::bytes::{Bytes, Endian, to_u64};
use crate::dtype::{Arity, DType, Number, Numbers};
use crate::error::{Error, Result, amount};
use crate::io::Spool;
use crate::limits::Limits;
use crate::memory;
use crate::tensor::{Address, Cell, Order, Storage, Tensor};
pub use first_nonfinite::{NotFinite, Place};
use histogram::Bins;
use moments::float;
use passes::Chunks;
use quantiles::{Quantiles, add};
use sort_key::{Double, ElementOps, Modulus, Short, Single, Whole32, Whole64, Wide};
use summary::Summary;

/// The quantiles in [`Stats`], in percent.
pub const QUANTILES: [u64; 7] = [1, 5, 25, 50, 75, 95, 99];

/// Statistics of all values of a tensor.
///
/// All but the counts are over the finite values; for elements of several numbers, such as complex
/// ones, over their moduli.
#[derive(Debug, Clone, PartialEq)]
pub struct Stats {
    /// The number of cells, including those that a sparse tensor leaves out. For a labelled tensor,
    /// only the cells of blocks that exist.
    pub cells: u64,
    /// The number of explicit cells.
    pub explicit: u64,
    /// The number of NaNs; of several numbers, at least one is NaN.
    pub nan: u64,
    /// The number of positive infinities.
    pub positive_infinite: u64,
    /// The number of negative infinities.
    pub negative_infinite: u64,
    /// The number of zeros.
    pub zeros: u64,
    /// The number of finite negative values.
    pub negative: u64,
    /// Whether the statistics are of moduli, except for the counts.
    pub of_moduli: bool,
    /// Statistics that exist only if any value is finite.
    pub finite: Option<Finite>,
}

/// Statistics of finite values.
#[derive(Debug, Clone, PartialEq)]
pub struct Finite {
    /// The smallest, exactly.
    pub min: Scalar,
    /// The largest, exactly.
    pub max: Scalar,
    /// The mean.
    pub mean: f64,
    /// The population standard deviation.
    pub std: f64,
    /// The square root of the sum of squares.
    pub norm: f64,
    /// The quantiles at [`QUANTILES`]: exact, with interpolation between adjacent values.
    pub quantiles: [f64; 7],
}

/// One number, exactly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scalar {
    /// Its type.
    pub number: Number,
    /// Its bytes, little-endian.
    pub bytes: Vec<u8>,
}

impl Scalar {
    /// The number of this type with these bits.
    fn of_bits(number: Number, bits: u128) -> Scalar {
        let bytes = bits.to_le_bytes().into_iter().take(number.width());
        Scalar {
            number,
            bytes: bytes.collect(),
        }
    }

    /// The nearest double; numbers beyond the range saturate.
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        let near = self.number.to_f64(&self.bytes);
        near.clamp(f64::MIN, f64::MAX)
    }
}

/// A notable property of the values of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Finding {
    /// Some are NaN.
    Nan,
    /// Some are infinite.
    Inf,
    /// All are zero.
    Zero,
    /// All are one nonzero number.
    Constant,
}

impl Finding {
    /// All findings, the most serious first.
    pub const ALL: &'static [Finding] =
        &[Finding::Nan, Finding::Inf, Finding::Zero, Finding::Constant];

    /// Whether it is a fault, not a remark: a layer norm of ones is normal.
    #[must_use]
    pub fn is_fault(self) -> bool {
        match self {
            Finding::Nan | Finding::Inf => true,
            Finding::Zero | Finding::Constant => false,
        }
    }

    /// Its name on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Finding::Nan => "nan",
            Finding::Inf => "inf",
            Finding::Zero => "zero",
            Finding::Constant => "constant",
        }
    }
}

impl Stats {
    /// The notable properties: faults, then remarks. A single cell is neither all zero nor
    /// constant.
    #[must_use]
    pub fn findings(&self) -> Vec<Finding> {
        let is_one = |finite: &Finite| finite.min == finite.max && !self.of_moduli;
        let is_constant = self.cells > 1
            && self.infinite() == 0
            && self.nan == 0
            && self.finite.as_ref().is_some_and(is_one);
        let all_zero = self.cells > 1 && self.zeros == self.cells;
        let has = |finding: &Finding| match finding {
            Finding::Nan => self.nan > 0,
            Finding::Inf => self.infinite() > 0,
            Finding::Zero => all_zero,
            Finding::Constant => is_constant && !all_zero,
        };
        Finding::ALL.iter().copied().filter(has).collect()
    }

    /// The number of infinities.
    #[must_use]
    pub fn infinite(&self) -> u64 {
        self.positive_infinite
            .saturating_add(self.negative_infinite)
    }

    /// The share of nonzero cells; 0 if there are no cells.
    #[must_use]
    pub fn density(&self) -> f64 {
        let others = self.cells.saturating_sub(self.zeros);
        float(others) / float(self.cells.max(1))
    }
}

/// All values of a tensor, prepared for statistics: in any order, and by position.
///
/// ```
/// use tenfold::{Dim, Limits, Numbers, Order, Samples, Storage, Tensor};
///
/// let values = Numbers::from_vec(&[1.0_f32, 2.0, f32::NAN, 3.0]);
/// let storage = Storage::Dense { order: Order::Row, values };
/// let tensor = Tensor::new(vec![Dim::indexed(4)], "f32".parse()?, vec![], storage)?;
/// let stats = Samples::of(&tensor, &Limits::default())?.stats()?;
/// assert_eq!((stats.nan, stats.finite.unwrap().mean), (1, 2.0));
/// # Ok::<(), tenfold::Error>(())
/// ```
pub struct Samples {
    dtype: DType,
    values: Numbers,
    /// The number of implicit zeros.
    implied: u64,
}

/// Evaluates an expression with the `ElementOps` of a type.
macro_rules! through {
    ($dtype:expr, $lens:ident => $body:expr) => {{
        let number = $dtype.number;
        match (&$dtype.arity, number) {
            (Arity::Complex | Arity::Quaternion | Arity::Octonion, _) => {
                let $lens = &Modulus($dtype);
                $body
            }
            (Arity::Real, Number::F32) => {
                let $lens = &Single;
                $body
            }
            (Arity::Real, Number::F64) => {
                let $lens = &Double;
                $body
            }
            (Arity::Real, Number::U32 | Number::I32) => {
                let $lens = &Whole32(number);
                $body
            }
            (Arity::Real, Number::U64 | Number::I64) => {
                let $lens = &Whole64(number);
                $body
            }
            (Arity::Real, Number::U128 | Number::I128 | Number::F128) => {
                let $lens = &Wide(number);
                $body
            }
            (
                Arity::Real,
                Number::Bool
                | Number::U8
                | Number::I8
                | Number::U16
                | Number::I16
                | Number::F16
                | Number::Bf16,
            ) => {
                let $lens = &Short(number);
                $body
            }
        }
    }};
}

impl Samples {
    /// Prepares the values of a tensor: stored ones stay in the file, packed ones and those of a
    /// train are computed, zeros that a sparse tensor leaves out are only counted.
    ///
    /// # Errors
    /// [`Error::Malformed`] if a checksum is wrong, [`Error::Limit`] if the computed values would
    /// exceed `limits`, [`Error::Invalid`] for an unknown layout.
    pub fn of(tensor: &Tensor, limits: &Limits) -> Result<Samples> {
        tensor.compare_checksums()?;
        let tensor = &tensor.distinct(limits)?;
        let dtype = tensor.dtype();
        let values = match tensor.storage() {
            Storage::Dense { .. } if tensor.is_packed() => {
                tensor.dense(Order::Column, limits)?.spooled(limits)?
            }
            Storage::Dense { values, .. } => values.settled(limits)?,
            Storage::Sparse { values, .. } if tensor.is_packed() => images(tensor, values, limits)?,
            Storage::Sparse { values, .. } => values.settled(limits)?,
            // This fails for an unknown layout.
            Storage::Train { .. } | Storage::Opaque { .. } => {
                tensor.dense(Order::Row, limits)?.spooled(limits)?
            }
        };
        let stored = values.bytes.len() / to_u64(dtype.width());
        let implied = match tensor.storage() {
            Storage::Sparse {
                address: Address::Labels,
                ..
            } => 0,
            Storage::Sparse { .. } => implied(tensor, stored)?,
            Storage::Dense { .. } | Storage::Train { .. } | Storage::Opaque { .. } => 0,
        };
        Ok(Samples {
            dtype,
            values,
            implied,
        })
    }

    /// Computes the statistics, in bounded memory and with the same result on any number of cores.
    ///
    /// # Errors
    /// Errors of reading the values.
    pub fn stats(&self) -> Result<Stats> {
        through!(self.dtype, lens => self.stats_through(lens))
    }

    fn stats_through<L: ElementOps>(&self, lens: &L) -> Result<Stats> {
        let chunks = Chunks::new(&self.values, lens.width());
        let mut survey = Summary::of(lens, &chunks)?;
        let (stored, digits) = (survey.finite, survey.digits.take());
        let survey = survey.merge(Summary::repeated(0.0, self.implied));
        let ranks = Quantiles {
            chunks: &chunks,
            lens,
            stored,
            implied: self.implied,
        };
        let finite = match survey.finite.checked_sub(1) {
            None => None,
            Some(last) => Some(finite(lens, &ranks, &survey, last, digits)?),
        };
        Ok(Stats {
            cells: chunks.count().saturating_add(self.implied),
            explicit: chunks.count(),
            nan: survey.nan,
            positive_infinite: survey.positive_infinite,
            negative_infinite: survey.negative_infinite,
            zeros: survey.signs.zeros,
            negative: survey.signs.negative,
            of_moduli: self.dtype.arity != Arity::Real,
            finite,
        })
    }

    /// Histogram of the finite values: their number in each of `n_bins` equal intervals from the
    /// smallest to the largest, which belongs to the last.
    ///
    /// # Errors
    /// Errors of reading the values.
    pub fn histogram(&self, finite: &Finite, n_bins: usize) -> Result<Vec<u64>> {
        through!(self.dtype, lens => self.histogram_through(lens, finite, n_bins))
    }

    fn histogram_through<L: ElementOps>(
        &self,
        lens: &L,
        finite: &Finite,
        n_bins: usize,
    ) -> Result<Vec<u64>> {
        let make = || {
            Ok(Bins {
                lens,
                low: finite.min.to_f64(),
                high: finite.max.to_f64(),
                counts: memory::zeros(n_bins.max(1))?,
            })
        };
        let (bins, _) = Chunks::new(&self.values, lens.width()).pass(make)?;
        let mut implied = make()?;
        if self.implied > 0 {
            implied.add(0.0, self.implied);
        }
        let all = bins.into_iter().map(|bins| bins.counts);
        Ok(all.fold(implied.counts, add))
    }
}

/// The number of cells that a sparse tensor leaves out.
fn implied(tensor: &Tensor, stored: u64) -> Result<u64> {
    let cells = tensor.cells().unwrap_or(u128::MAX);
    let implied = cells.checked_sub(stored.into());
    let implied = implied.and_then(|implied| u64::try_from(implied).ok());
    implied.ok_or_else(|| {
        Error::malformed(
            None,
            format!("{stored} cells are given of {} there are", amount(cells)),
        )
    })
}

/// The explicit cells of a packed sparse tensor, unpacked.
fn images(tensor: &Tensor, values: &Numbers, limits: &Limits) -> Result<Numbers> {
    let mut spool = Spool::new();
    let mut len = 0_u64;
    tensor.for_each_cell(limits, &mut |cell| match cell {
        Cell::At { value, .. } => {
            len = len.saturating_add(to_u64(value.len()));
            limits.check_decoded("the cells of a tensor would be unpacked", len)?;
            spool.write(value)
        }
        Cell::Labelled { .. } => Ok(()),
    })?;
    Ok(Numbers {
        number: values.number,
        endian: Endian::Little,
        bytes: Bytes::whole(spool.finish()?),
    })
}

/// The statistics of `last` + 1 finite values.
fn finite<L: ElementOps>(
    lens: &L,
    ranks: &Quantiles<L>,
    survey: &Summary,
    last: u64,
    digits: Option<Vec<u64>>,
) -> Result<Finite> {
    let places = QUANTILES.map(|percent| place(last, percent));
    let mut wanted = vec![0, last];
    wanted.extend(
        places
            .iter()
            .flat_map(|(rank, part)| [*rank, rank.saturating_add(u64::from(*part > 0.0))]),
    );
    let keys = ranks.find(&wanted, digits)?;
    let numbers: Vec<Scalar> = keys.iter().map(|key| lens.number(*key)).collect();
    let value = |number: &Scalar| number.to_f64();
    let [min, max, between @ ..] = numbers.as_slice() else {
        return Err(Error::invalid("no value was found"));
    };
    let mut quantiles = [0.0; QUANTILES.len()];
    for ((quantile, pair), (_, part)) in quantiles
        .iter_mut()
        .zip(between.chunks_exact(2))
        .zip(places)
    {
        if let [low, high] = pair {
            *quantile = blend(value(low), value(high), part);
        }
    }
    let is_constant = min == max;
    Ok(Finite {
        mean: survey.moments.mean().clamp(value(min), value(max)),
        std: if is_constant {
            0.0
        } else {
            survey.moments.deviation()
        },
        norm: survey.moments.norm(),
        quantiles,
        min: min.clone(),
        max: max.clone(),
    })
}

/// The position of a percentile among `last` + 1 sorted values: the index below it, and the
/// fraction of the way to the next.
fn place(last: u64, percent: u64) -> (u64, f64) {
    let hundredths = u128::from(last) * u128::from(percent);
    let rank = u64::try_from(hundredths / 100).unwrap_or(last);
    let part = u64::try_from(hundredths % 100).unwrap_or(0);
    (rank, float(part) / 100.0)
}

fn blend(low: f64, high: f64, part: f64) -> f64 {
    if low == high || part == 0.0 {
        return low;
    }
    match high - low {
        apart if apart.is_finite() => low + apart * part,
        _ => low * (1.0 - part) + high * part,
    }
}
