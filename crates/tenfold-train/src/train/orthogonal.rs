//! Orthogonal cores (with orthonormal rows or columns): the norm, and the spectra of the bonds.

use faer::Mat;

use super::balance::{Powers, Wide, both, inverse, ones, without_largest};
use super::{Core, Train};
use crate::error::Result;
use crate::linalg;
use crate::linalg::Factors;
use crate::num::real;
use crate::scalar::{Power, Scalar};

impl<T: Scalar> Train<T> {
    /// The Frobenius norm, to nearly full precision even where large parts cancel.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) if it leaves the range of doubles; the error contains it.
    pub fn norm(&self) -> Result<f64> {
        self.check_finite()?;
        let (before, after) = halves(&self.cores);
        let (left, right) = rayon::join(|| left_half(before, 1), || right_half(after, 1));
        let (between, back) = between(&left, &right);
        let norm = linalg::norm(between.as_ref());
        as_double(norm, back, "the norm of the train")
    }

    /// The same tensor with the cores left of `center` orthonormal by columns and those right of
    /// it orthonormal by rows; the norm sits in `center`.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) if there is no such core, or the norm leaves the range of doubles.
    pub fn orthogonalise(&self, center: usize) -> Result<Train<T>> {
        self.core(center)?;
        let (mut cores, back) = centered(&self.cores, center);
        if let Some(core) = cores.get_mut(center) {
            let norm = crate::scalar::norm(&core.values);
            as_double(norm, back, "the norm of the train")?;
            back.apply_all(&mut core.values);
        }
        Ok(Train { cores })
    }

    /// The singular values of the tensor at every bond, largest first.
    ///
    /// # Errors
    /// [`Error::Numeric`](crate::Error::Numeric) if a decomposition does not converge,
    /// [`Error::Invalid`](crate::Error::Invalid) if the largest leaves the range of doubles.
    pub fn spectra(&self) -> Result<Vec<Vec<f64>>> {
        self.check_finite()?;
        let mut spectra = Vec::new();
        let mut weights = vec![T::of_real(1.0)];
        let (mut cores, back) = centered(&self.cores, 0);
        cores.pop();
        for core in cores {
            let n_rows = weights.len() / core.left;
            let core = core.after(linalg::rows(&weights, n_rows, core.left));
            let found = linalg::svd(core.tall())?;
            let roots: Vec<f64> = found.squares.iter().map(|square| square.sqrt()).collect();
            weights = linalg::scaled_adjoint(found.v.as_ref(), &roots);
            if let Some(largest) = roots.first() {
                as_double(*largest, back, "a singular value")?;
            }
            spectra.push(roots.iter().map(|root| back.apply(*root)).collect());
        }
        Ok(spectra)
    }
}

/// A number with its power of two, if it is a double.
pub(super) fn as_double(value: f64, power: Power, what: &str) -> Result<f64> {
    Wide { value, power }.narrow(what)
}

/// Two halves that take about as long to orthogonalize. The first is empty for a single core.
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

/// Orthogonal cores on one side of a bond, and the factor between them and the bond.
pub(super) struct Half<T> {
    /// From the bond outwards.
    pub(super) cores: Vec<Core<T>>,
    /// For every core, the matrix that restores the original one when multiplied towards the bond.
    pub(super) rests: Vec<Mat<T>>,
    /// The remaining scale of every index of a bond, the outer bond first: orthogonalized cores
    /// were scaled to near 1 there, so that nothing in them is taken for rounding that later cores
    /// amplify.
    pub(super) powers: Vec<Powers>,
    /// Whether it lies left of the bond.
    pub(super) is_left: bool,
}

/// Orthonormalizes the columns of all cores, the first of which has an outer bond of that size.
pub(super) fn left_half<T: Scalar>(cores: &[Core<T>], outer: usize) -> Half<T> {
    let mut half = Half::empty(cores.len(), outer, true);
    for core in cores {
        let before = half.at_bond();
        let reach = core.reach_right(&before);
        let mut tall = core.rescaled(&before, &inverse(&reach));
        if let Some(rest) = half.rests.last() {
            tall = tall.after(rest.as_ref());
        }
        let more = tall.reach_right(&ones(tall.left));
        let tall = tall.rescaled(&ones(tall.left), &inverse(&more));
        let found = linalg::qr(&tall.values, tall.left * tall.size);
        half.push(found, both(&reach, &more), |right| Core { right, ..tall });
    }
    half.cores.reverse();
    half
}

/// Orthonormalizes the rows of all cores, the last of which has an outer bond of that size.
pub(super) fn right_half<T: Scalar>(cores: &[Core<T>], outer: usize) -> Half<T> {
    let mut half = Half::empty(cores.len(), outer, false);
    for core in cores.iter().rev() {
        let before = half.at_bond();
        let reach = core.reach_left(&before);
        let mut wide = core.rescaled(&inverse(&reach), &before);
        if let Some(rest) = half.rests.last() {
            wide = wide.before(rest.as_ref());
        }
        let more = wide.reach_left(&ones(wide.right));
        let wide = wide.rescaled(&inverse(&more), &ones(wide.right));
        let found = linalg::lq(&wide.values, wide.left);
        half.push(found, both(&reach, &more), |left| Core { left, ..wide });
    }
    half.cores.reverse();
    half
}

impl<T: Scalar> Half<T> {
    fn empty(n_cores: usize, outer: usize, is_left: bool) -> Half<T> {
        Half {
            cores: Vec::with_capacity(n_cores),
            rests: Vec::with_capacity(n_cores),
            powers: vec![ones(outer)],
            is_left,
        }
    }

    /// The remaining scale of the indices of the current bond.
    pub(super) fn at_bond(&self) -> Powers {
        self.powers.last().cloned().unwrap_or_default()
    }

    /// The factor between the cores and the bond.
    pub(super) fn rest(&self) -> Mat<T> {
        self.rests
            .last()
            .cloned()
            .unwrap_or_else(|| Mat::identity(1, 1))
    }

    /// Adds an orthogonalized core; `shaped` gives it a bond of that size.
    fn push(&mut self, found: Factors<T>, powers: Powers, shaped: impl FnOnce(usize) -> Core<T>) {
        let core = shaped(found.rank);
        self.rests.push(found.small);
        self.powers.push(powers);
        self.cores.push(Core {
            values: found.long.into(),
            ..core
        });
    }
}

/// The factor of two halves at the bond between them, near 1, and its remaining power.
pub(super) fn between<T: Scalar>(left: &Half<T>, right: &Half<T>) -> (Mat<T>, Power) {
    let (powers, back) = without_largest(both(&left.at_bond(), &right.at_bond()));
    let weighted = weighted(left.rest(), &powers);
    (
        linalg::times(weighted.as_ref(), right.rest().as_ref()),
        back,
    )
}

/// The columns of a matrix, each with its power.
pub(super) fn weighted<T: Scalar>(mut matrix: Mat<T>, powers: &Powers) -> Mat<T> {
    for (column, power) in matrix.col_iter_mut().zip(powers) {
        for value in column.iter_mut() {
            *value = power.map_or(T::default(), |power| power.apply(*value));
        }
    }
    matrix
}

/// The same train with orthogonal cores on both sides of one, and the remaining power of two of
/// that one.
pub(crate) fn centered<T: Scalar>(cores: &[Core<T>], center: usize) -> (Vec<Core<T>>, Power) {
    let (before, rest) = cores.split_at_checked(center).unwrap_or((cores, &[]));
    let Some((core, after)) = rest.split_first() else {
        return (cores.to_vec(), Power::ONE);
    };
    let outer = after.last().unwrap_or(core).right;
    let (left, right) = rayon::join(|| left_half(before, 1), || right_half(after, outer));
    let sizes = both(&left.at_bond(), &core.reach_left(&right.at_bond()));
    let (_, back) = without_largest(sizes);
    let inside: Powers = left.at_bond();
    let inside = inside
        .into_iter()
        .map(|power| Some(power?.and(back.inverse())));
    let mut core = core.rescaled(&inside.collect::<Powers>(), &right.at_bond());
    if !before.is_empty() {
        core = core.after(left.rest().as_ref());
    }
    if !after.is_empty() {
        core = core.before(right.rest().as_ref());
    }
    let mut cores = left.cores;
    cores.reverse();
    cores.push(core);
    cores.extend(right.cores);
    (cores, back)
}
