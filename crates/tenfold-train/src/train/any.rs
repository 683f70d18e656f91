//! Trains of either scalar type.

use tenfold::{Limits, Number, Order, Overflow, Tensor};

use super::{Core, Distance, Train};
use crate::compress::Watcher;
use crate::error::{Error, Result};
use crate::scalar::Complex64;
use crate::source::AnySource;

/// A train of either scalar type.
#[derive(Debug, Clone, PartialEq)]
pub enum AnyTrain {
    /// Real cores.
    Real(Train<f64>),
    /// Complex cores.
    Complex(Train<Complex64>),
}

impl AnyTrain {
    /// Reads the cores of a tensor that is stored as a train; other number types are
    /// widened.
    ///
    /// # Errors
    /// As [`Train::from_tensor`].
    pub fn from_tensor(tensor: &Tensor) -> Result<AnyTrain> {
        if tensor.dtype().number != Number::F64 && tensor.dtype().number.is_exact_in(Number::F64) {
            let wide = tensor.cast(Number::F64, Overflow::Fails, &Limits::default())?;
            return AnyTrain::from_tensor(&wide);
        }
        if tensor.dtype() == <Complex64 as tenfold::Element>::DTYPE {
            Ok(AnyTrain::Complex(Train::from_tensor(tensor)?))
        } else {
            Ok(AnyTrain::Real(Train::from_tensor(tensor)?))
        }
    }

    /// As [`Train::to_tensor`].
    ///
    /// # Errors
    /// None for a train built by this library.
    pub fn to_tensor(&self) -> Result<Tensor> {
        match self {
            AnyTrain::Real(train) => train.to_tensor(),
            AnyTrain::Complex(train) => train.to_tensor(),
        }
    }

    /// The sizes of the modes.
    #[must_use]
    pub fn shape(&self) -> Vec<usize> {
        match self {
            AnyTrain::Real(train) => train.shape(),
            AnyTrain::Complex(train) => train.shape(),
        }
    }

    /// The sizes of the bonds.
    #[must_use]
    pub fn ranks(&self) -> Vec<usize> {
        match self {
            AnyTrain::Real(train) => train.ranks(),
            AnyTrain::Complex(train) => train.ranks(),
        }
    }

    /// The total number of elements in the cores.
    #[must_use]
    pub fn count(&self) -> usize {
        match self {
            AnyTrain::Real(train) => train.len(),
            AnyTrain::Complex(train) => train.len(),
        }
    }

    /// As [`Train::norm`].
    ///
    /// # Errors
    /// As [`Train::norm`].
    pub fn norm(&self) -> Result<f64> {
        match self {
            AnyTrain::Real(train) => train.norm(),
            AnyTrain::Complex(train) => train.norm(),
        }
    }

    /// As [`Train::spectra`].
    ///
    /// # Errors
    /// As [`Train::spectra`].
    pub fn spectra(&self) -> Result<Vec<Vec<f64>>> {
        match self {
            AnyTrain::Real(train) => train.spectra(),
            AnyTrain::Complex(train) => train.spectra(),
        }
    }

    /// As [`Train::round`]: a train, and a bound on the norm of the difference.
    ///
    /// # Errors
    /// As [`Train::round`].
    pub fn round(&self, eps: f64, max_rank: Option<usize>) -> Result<(AnyTrain, f64)> {
        match self {
            AnyTrain::Real(train) => {
                let rounded = train.round(eps, max_rank)?;
                Ok((AnyTrain::Real(rounded.train), rounded.error))
            }
            AnyTrain::Complex(train) => {
                let rounded = train.round(eps, max_rank)?;
                Ok((AnyTrain::Complex(rounded.train), rounded.error))
            }
        }
    }

    /// As [`Train::dot`]; a real train is converted if the other is complex.
    ///
    /// # Errors
    /// As [`Train::dot`].
    pub fn dot(&self, other: &AnyTrain) -> Result<Complex64> {
        match (self, other) {
            (AnyTrain::Real(one), AnyTrain::Real(other)) => Ok(one.dot(other)?.into()),
            (one, other) => one.to_complex().dot(&other.to_complex()),
        }
    }

    /// As [`Train::add`].
    ///
    /// # Errors
    /// As [`Train::add`].
    pub fn add(&self, other: &AnyTrain) -> Result<AnyTrain> {
        match (self, other) {
            (AnyTrain::Real(one), AnyTrain::Real(other)) => one.add(other).map(AnyTrain::Real),
            (one, other) => { one.to_complex().add(&other.to_complex()) }.map(AnyTrain::Complex),
        }
    }

    /// As [`Train::sub`].
    ///
    /// # Errors
    /// As [`Train::sub`].
    pub fn sub(&self, other: &AnyTrain) -> Result<AnyTrain> {
        match (self, other) {
            (AnyTrain::Real(one), AnyTrain::Real(other)) => one.sub(other).map(AnyTrain::Real),
            (one, other) => { one.to_complex().sub(&other.to_complex()) }.map(AnyTrain::Complex),
        }
    }

    /// As [`Train::hadamard`].
    ///
    /// # Errors
    /// As [`Train::hadamard`].
    pub fn hadamard(&self, other: &AnyTrain) -> Result<AnyTrain> {
        match (self, other) {
            (AnyTrain::Real(one), AnyTrain::Real(other)) => one.hadamard(other).map(AnyTrain::Real),
            (one, other) => {
                let product = one.to_complex().hadamard(&other.to_complex());
                product.map(AnyTrain::Complex)
            }
        }
    }

    /// As [`Train::scale`]: a real train stays one unless the factor has an imaginary part.
    #[must_use]
    pub fn scale(&self, factor: Complex64) -> AnyTrain {
        match self {
            AnyTrain::Real(train) if factor.im == 0.0 => AnyTrain::Real(train.scale(factor.re)),
            train => AnyTrain::Complex(train.to_complex().scale(factor)),
        }
    }

    /// As [`Train::append`].
    ///
    /// # Errors
    /// As [`Train::append`].
    pub fn append(&self, other: &AnyTrain, mode: usize) -> Result<AnyTrain> {
        match (self, other) {
            (AnyTrain::Real(one), AnyTrain::Real(other)) => {
                one.append(other, mode).map(AnyTrain::Real)
            }
            (one, other) => {
                let both = one.to_complex().append(&other.to_complex(), mode);
                both.map(AnyTrain::Complex)
            }
        }
    }

    /// As [`Train::add_number`]: a real train stays one unless the number has an imaginary part.
    ///
    /// # Errors
    /// None for a train built by this library.
    pub fn add_number(&self, number: Complex64) -> Result<AnyTrain> {
        match self {
            AnyTrain::Real(train) if number.im == 0.0 => {
                train.add_number(number.re).map(AnyTrain::Real)
            }
            train => train.to_complex().add_number(number).map(AnyTrain::Complex),
        }
    }

    /// As [`Train::sum`].
    ///
    /// # Errors
    /// As [`Train::sum`].
    pub fn sum(&self, modes: &[usize]) -> Result<AnyTrain> {
        match self {
            AnyTrain::Real(train) => train.sum(modes).map(AnyTrain::Real),
            AnyTrain::Complex(train) => train.sum(modes).map(AnyTrain::Complex),
        }
    }

    /// As [`Train::mean`].
    ///
    /// # Errors
    /// As [`Train::mean`].
    pub fn mean(&self, modes: &[usize]) -> Result<AnyTrain> {
        match self {
            AnyTrain::Real(train) => train.mean(modes).map(AnyTrain::Real),
            AnyTrain::Complex(train) => train.mean(modes).map(AnyTrain::Complex),
        }
    }

    /// As [`Train::mean_all`].
    ///
    /// # Errors
    /// As [`Train::mean_all`].
    pub fn mean_all(&self) -> Result<Complex64> {
        match self {
            AnyTrain::Real(train) => Ok(train.mean_all()?.into()),
            AnyTrain::Complex(train) => train.mean_all(),
        }
    }

    /// As [`Train::permute`].
    ///
    /// # Errors
    /// As [`Train::permute`].
    pub fn permute(&self, axes: &[usize], eps: f64) -> Result<AnyTrain> {
        match self {
            AnyTrain::Real(train) => train.permute(axes, eps).map(AnyTrain::Real),
            AnyTrain::Complex(train) => train.permute(axes, eps).map(AnyTrain::Complex),
        }
    }

    /// As [`Train::reshape`].
    ///
    /// # Errors
    /// As [`Train::reshape`].
    pub fn reshape(&self, shape: &[usize]) -> Result<AnyTrain> {
        match self {
            AnyTrain::Real(train) => train.reshape(shape).map(AnyTrain::Real),
            AnyTrain::Complex(train) => train.reshape(shape).map(AnyTrain::Complex),
        }
    }

    /// As [`Train::quantise`].
    ///
    /// # Errors
    /// As [`Train::quantise`].
    pub fn quantise(&self) -> Result<AnyTrain> {
        match self {
            AnyTrain::Real(train) => train.quantise().map(AnyTrain::Real),
            AnyTrain::Complex(train) => train.quantise().map(AnyTrain::Complex),
        }
    }

    /// As [`Train::sum_all`].
    ///
    /// # Errors
    /// As [`Train::sum_all`].
    pub fn sum_all(&self) -> Result<Complex64> {
        match self {
            AnyTrain::Real(train) => Ok(train.sum_all()?.into()),
            AnyTrain::Complex(train) => train.sum_all(),
        }
    }

    fn to_complex(&self) -> Train<Complex64> {
        let complex = |core: &Core<f64>| Core {
            left: core.left,
            size: core.size,
            right: core.right,
            values: core.values.iter().copied().map(Complex64::from).collect(),
        };
        match self {
            AnyTrain::Real(train) => Train {
                cores: train.cores.iter().map(complex).collect(),
            },
            AnyTrain::Complex(train) => train.clone(),
        }
    }

    /// As [`Train::expanded`].
    ///
    /// # Errors
    /// As [`Train::expanded`].
    pub fn expanded(&self, order: Order, limits: &Limits) -> Result<Tensor> {
        match self {
            AnyTrain::Real(train) => train.expanded(order, limits),
            AnyTrain::Complex(train) => train.expanded(order, limits),
        }
    }

    /// As [`Train::distance`].
    ///
    /// # Errors
    /// As [`Train::distance`], and [`Error::Invalid`] if one is real and the other complex.
    pub fn distance(&self, source: &AnySource) -> Result<Distance> {
        self.distance_watched(source, None)
    }

    /// As [`Train::distance_watched`].
    ///
    /// # Errors
    /// As [`AnyTrain::distance`], and [`Error::Stopped`] if the watcher stops it.
    pub fn distance_watched(
        &self,
        source: &AnySource,
        watcher: Option<&Watcher>,
    ) -> Result<Distance> {
        match (self, source) {
            (AnyTrain::Real(train), AnySource::Real(source)) => {
                train.distance_watched(source, watcher)
            }
            (AnyTrain::Complex(train), AnySource::Complex(source)) => {
                train.distance_watched(source, watcher)
            }
            _ => Err(Error::invalid("one tensor is real, the other complex")),
        }
    }
}
