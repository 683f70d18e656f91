//! Statistics of all values of a tensor.

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

/// The quantiles that [`Stats`] has, in percent.
pub const QUANTILES: [u64; 7] = [1, 5, 25, 50, 75, 95, 99];

/// What can be said about all values of a tensor together.
///
/// Everything but the counts is said of the finite values; of elements of several numbers, such as
/// complex ones, it is said of their moduli.
#[derive(Debug, Clone, PartialEq)]
pub struct Stats {
    /// How many cells there are, those included that a sparse tensor leaves out. Of a tensor with
    /// labels only the cells of the blocks that are there count.
    pub cells: u64,
    /// How many of them are explicit.
    pub explicit: u64,
    /// How many are not a number; of several numbers, at least one is not.
    pub nan: u64,
    /// How many are positive and infinite.
    pub positive_infinite: u64,
    /// How many are negative and infinite.
    pub negative_infinite: u64,
    /// How many are zero.
    pub zeros: u64,
    /// How many are finite and negative.
    pub negative: u64,
    /// Whether all but the counts is about moduli.
    pub of_moduli: bool,
    /// What only makes sense if any value is finite.
    pub finite: Option<Finite>,
}

/// What can be said about finite values.
#[derive(Debug, Clone, PartialEq)]
pub struct Finite {
    /// The smallest, exactly.
    pub min: Scalar,
    /// The largest, exactly.
    pub max: Scalar,
    /// The mean.
    pub mean: f64,
    /// The standard deviation, of the values as a whole, not of a sample.
    pub std: f64,
    /// The square root of the sum of squares.
    pub norm: f64,
    /// The quantiles at [`QUANTILES`]: exact, interpolated between two values where they lie
    /// between.
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

    /// The nearest double; a number beyond the largest becomes that.
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        let near = self.number.to_f64(&self.bytes);
        near.clamp(f64::MIN, f64::MAX)
    }
}

/// What is worth knowing about the values of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Finding {
    /// Some are not a number.
    Nan,
    /// Some are infinite.
    Inf,
    /// All are zero.
    Zero,
    /// All are one number that is not zero.
    Constant,
}

impl Finding {
    /// All of them, the gravest first.
    pub const ALL: &'static [Finding] =
        &[Finding::Nan, Finding::Inf, Finding::Zero, Finding::Constant];

    /// Whether it is a fault, not a remark: a layer norm of ones is as it should be.
    #[must_use]
    pub fn is_fault(self) -> bool {
        match self {
            Finding::Nan | Finding::Inf => true,
            Finding::Zero | Finding::Constant => false,
        }
    }

    /// The word for it on the command line.
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
    /// What is worth knowing: faults, then remarks. A single cell is neither all zero nor constant.
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

    /// How many are infinite.
    #[must_use]
    pub fn infinite(&self) -> u64 {
        self.positive_infinite
            .saturating_add(self.negative_infinite)
    }

    /// The share of the cells that are not zero; 0 if there are none.
    #[must_use]
    pub fn density(&self) -> f64 {
        let others = self.cells.saturating_sub(self.zeros);
        float(others) / float(self.cells.max(1))
    }
}

/// All values of a tensor, as statistics need them: in any order, and by position.
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
    /// How many zeros there are besides.
    implied: u64,
}

/// Evaluates an expression with the lens that fits a type.
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
    /// Makes the values of a tensor ready: stored ones stay where they are, packed ones and those
    /// of a train are worked out, zeros that a sparse tensor leaves out are only counted.
    ///
    /// # Errors
    /// [`Error::Malformed`] if a checksum is wrong, [`Error::Limit`] if working out would give
    /// more than `limits` allow, [`Error::Invalid`] for a layout that is not understood.
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
            // Which fails for a layout that is not understood.
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

    /// Works the statistics out, in bounded memory and the same on any number of cores.
    ///
    /// # Errors
    /// What reading the values gives.
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

    /// How many finite values lie in each of `n_bins` equal intervals from the smallest to the
    /// largest, which belongs to the last.
    ///
    /// # Errors
    /// What reading the values gives.
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

/// How many cells a sparse tensor leaves out.
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

/// What there is to say about `last` + 1 finite values.
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

/// Where a percentile of `last` + 1 sorted values lies: after this one, by this part of the way to
/// the next.
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
