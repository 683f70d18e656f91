//! Orthogonal cores (their rows, or columns, are orthonormal): the norm, and the spectra of the
//! bonds.

use std::borrow::Cow;

use faer::Mat;

use super::{Core, Train};
use crate::error::Result;
use crate::matrix::{self, Factors};
use crate::number::real;
use crate::scalar::{Power, Scalar, is_tame, tame};

impl<T: Scalar> Train<T> {
    /// The Frobenius norm, to nearly full precision even where large parts cancel.
    ///
    /// # Errors
    /// None for a train built by this library.
    pub fn norm(&self) -> Result<f64> {
        let (cores, back) = tamed(&self.cores);
        let (before, after) = halves(&cores);
        let (left, right) = rayon::join(|| left_half(before), || right_half(after));
        let between = matrix::times(left.rest.as_ref(), right.rest.as_ref());
        Ok(back.apply(matrix::norm(between.as_ref())))
    }

    /// The same tensor with the cores left of `center` orthonormal by columns and those right of
    /// it orthonormal by rows; the norm sits in `center`.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) if there is no such core.
    pub fn orthogonalise(&self, center: usize) -> Result<Train<T>> {
        self.core(center)?;
        let (cores, back) = tamed(&self.cores);
        let mut cores = centered(&cores, center);
        if let Some(core) = cores.get_mut(center) {
            back.apply_all(&mut core.values);
        }
        Ok(Train { cores })
    }

    /// The singular values of the tensor at every bond, largest first.
    ///
    /// # Errors
    /// [`Error::Numeric`](crate::Error::Numeric) if a decomposition does not converge.
    pub fn spectra(&self) -> Result<Vec<Vec<f64>>> {
        let (cores, back) = tamed(&self.cores);
        let mut spectra = Vec::new();
        let mut weights = vec![T::of_real(1.0)];
        let mut cores = centered(&cores, 0);
        cores.pop();
        for core in cores {
            let n_rows = weights.len() / core.left;
            let core = core.after(matrix::rows(&weights, n_rows, core.left));
            let found = matrix::svd(core.tall())?;
            let roots: Vec<f64> = found.squares.iter().map(|square| square.sqrt()).collect();
            weights = matrix::scaled_adjoint(found.v.as_ref(), &roots);
            spectra.push(roots.iter().map(|root| back.apply(*root)).collect());
        }
        Ok(spectra)
    }
}

/// The cores, or others near 1, so that no square of theirs overflows or vanishes, and what takes
/// their product back.
pub(super) fn tamed<T: Scalar>(cores: &[Core<T>]) -> (Cow<'_, [Core<T>]>, Power) {
    if cores.iter().all(|core| is_tame(core.values.energy())) {
        return (Cow::Borrowed(cores), Power::ONE);
    }
    let mut cores = cores.to_vec();
    let powers = cores.iter_mut().map(|core| tame(&mut core.values));
    let back = powers.fold(Power::ONE, Power::and);
    (Cow::Owned(cores), back)
}

/// Two halves that take about as long to make orthogonal. The first is empty for a single core.
pub(super) fn halves<T>(cores: &[Core<T>]) -> (&[Core<T>], &[Core<T>]) {
    let cost = |core: &Core<T>| real(core.values.len()) * real(core.left.max(core.right));
    let total: f64 = cores.iter().map(cost).sum();
    let mut sum = 0.0;
    let is_before = |core: &&Core<T>| {
        sum += cost(core);
        2.0 * sum <= total
    };
    let before = cores.iter().take_while(is_before).count();
    let before = before.max(1).min(cores.len().saturating_sub(1));
    cores.split_at_checked(before).unwrap_or((&[], cores))
}

/// Orthogonal cores on one side of a bond, and what is left between them and the bond.
pub(super) struct Half<T> {
    /// From the bond outwards.
    pub(super) cores: Vec<Core<T>>,
    /// What is multiplied with them to give those before.
    pub(super) rest: Mat<T>,
}

/// Makes the columns of all cores orthonormal.
pub(super) fn left_half<T: Scalar>(cores: &[Core<T>]) -> Half<T> {
    let mut half = Half::empty(cores.len());
    for core in cores {
        let (values, left) = match half.cores.last() {
            Some(_) => (core.after(half.rest.as_ref()).values, half.rest.nrows()),
            None => (core.values.clone(), core.left),
        };
        let found = matrix::qr(&values, left * core.size);
        half.push(found, |right| (left, core.size, right));
    }
    half.cores.reverse();
    half
}

/// Makes the rows of all cores orthonormal.
pub(super) fn right_half<T: Scalar>(cores: &[Core<T>]) -> Half<T> {
    let mut half = Half::empty(cores.len());
    for core in cores.iter().rev() {
        let (values, right) = match half.cores.last() {
            Some(_) => (core.before(half.rest.as_ref()).values, half.rest.ncols()),
            None => (core.values.clone(), core.right),
        };
        let found = matrix::lq(&values, core.left);
        half.push(found, |left| (left, core.size, right));
    }
    half.cores.reverse();
    half
}

impl<T: Scalar> Half<T> {
    fn empty(n_cores: usize) -> Half<T> {
        Half {
            cores: Vec::with_capacity(n_cores),
            rest: Mat::identity(1, 1),
        }
    }

    fn push(&mut self, found: Factors<T>, sizes: impl FnOnce(usize) -> (usize, usize, usize)) {
        let (left, size, right) = sizes(found.rank);
        self.rest = found.small;
        self.cores.push(Core {
            left,
            size,
            right,
            values: found.long.into(),
        });
    }
}

/// The same train with orthogonal cores on both sides of one.
pub(crate) fn centered<T: Scalar>(cores: &[Core<T>], center: usize) -> Vec<Core<T>> {
    let (before, rest) = cores.split_at_checked(center).unwrap_or((cores, &[]));
    let Some((core, after)) = rest.split_first() else {
        return cores.to_vec();
    };
    let (left, right) = rayon::join(|| left_half(before), || right_half(after));
    let mut core = core.clone();
    if !before.is_empty() {
        core = core.after(left.rest.as_ref());
    }
    if !after.is_empty() {
        core = core.before(right.rest.as_ref());
    }
    let mut cores = left.cores;
    cores.reverse();
    cores.push(core);
    cores.extend(right.cores);
    cores
}
