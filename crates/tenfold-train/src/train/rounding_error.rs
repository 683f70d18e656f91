//! A bound on the rounding error of orthogonalizing the halves of a train.
//!
//! A core is multiplied with the factor of those before it, and decomposed. Both are accurate to
//! some units in the last place of every entry, and the effect on the tensor depends on the cores
//! on the other side: on the norms of their rows at that bond. Where large parts cancel, these
//! norms exceed the norm of the tensor, and so does the error.

use faer::Mat;

use super::Core;
use super::balance::{Powers, both, inverse, without_largest};
use super::contract::{gram_from_left, gram_from_right};
use super::orthogonal::{Half, weighted};
use crate::linalg;
use crate::num::{UNIT, real};
use crate::scalar::Scalar;

/// A bound on the norm of the rounding error when halves of some cores are orthogonalized and
/// truncated, in units of the power that [`super::orthogonal::between`] returns.
///
/// The factors are those of a compression: twice the largest seen in ten thousand random trials.
pub(super) fn rounding<T: Scalar>(
    before: &[Core<T>],
    after: &[Core<T>],
    halves: (&Half<T>, &Half<T>),
    norm: f64,
) -> f64 {
    let (left, right) = halves;
    let (powers, _) = without_largest(both(&left.at_bond(), &right.at_bond()));
    let (one, two) = rayon::join(
        || {
            let outside = linalg::adjoint(right.rest().as_ref());
            before_bond(before, left, &weighted(outside, &powers), norm)
        },
        || after_bond(after, right, &weighted(left.rest(), &powers), norm),
    );
    2.0 * UNIT * (one + two)
}

/// The units of error per mode, where entries of such a norm in the tensor are rounded.
fn units(size: usize, length: f64, norm: f64) -> f64 {
    (16.0 + 2.0 * real(size).sqrt()) * length.max(norm)
}

/// The sum over the cores of a left half; `outside` has a column for each index of the bond.
fn before_bond<T: Scalar>(cores: &[Core<T>], half: &Half<T>, outside: &Mat<T>, norm: f64) -> f64 {
    let mut gram = gram_of_columns(outside);
    let mut sum = 0.0;
    for (place, core) in cores.iter().enumerate().rev() {
        let powers = |bond: usize| half.powers.get(bond).cloned().unwrap_or_default();
        let core = core.rescaled(&powers(place), &inverse(&powers(place + 1)));
        let inside = inside(half, place);
        sum += units(core.size, length(&core, &inside, &diagonal(&gram)), norm);
        gram = gram_from_right(gram, &core, &core);
    }
    sum
}

/// The sum over the cores of a right half.
fn after_bond<T: Scalar>(cores: &[Core<T>], half: &Half<T>, outside: &Mat<T>, norm: f64) -> f64 {
    let mut gram = gram_of_columns(outside);
    let mut sum = 0.0;
    for (core, place) in cores.iter().zip((0..cores.len()).rev()) {
        let powers = |bond: usize| -> Powers { half.powers.get(bond).cloned().unwrap_or_default() };
        let core = core.rescaled(&inverse(&powers(place + 1)), &powers(place));
        let inside = inside(half, place);
        sum += units(core.size, length(&core, &diagonal(&gram), &inside), norm);
        gram = gram_from_left(gram, &core, &core);
    }
    sum
}

/// The energies of the partial product of a half, from its outer end, at every index there.
fn inside<T: Scalar>(half: &Half<T>, n_cores: usize) -> Vec<f64> {
    let Some(rest) = n_cores.checked_sub(1).and_then(|last| half.rests.get(last)) else {
        return vec![1.0];
    };
    let energy = |values: &mut dyn Iterator<Item = &T>| values.map(|value| value.energy()).sum();
    if half.is_left {
        let columns = rest.as_ref().col_iter();
        return columns.map(|column| energy(&mut column.iter())).collect();
    }
    let rows = rest.as_ref().row_iter();
    rows.map(|row| energy(&mut row.iter())).collect()
}

/// The norm of the tensor if nothing in the sums of its cores cancelled.
fn length<T: Scalar>(core: &Core<T>, left: &[f64], right: &[f64]) -> f64 {
    let mut sum = 0.0;
    for block in core.blocks() {
        let len = (core.size * block.right).max(1);
        let matrices = block.values.chunks_exact(len);
        for (matrix, left) in matrices.zip(left.iter().skip(block.left_at)) {
            let rows = matrix.chunks_exact(block.right.max(1));
            let weighted = rows.map(|row| {
                let pairs = row.iter().zip(right.iter().skip(block.right_at));
                pairs
                    .map(|(value, right)| value.energy() * right)
                    .sum::<f64>()
            });
            sum += left * weighted.sum::<f64>();
        }
    }
    sum.sqrt()
}

/// The inner products of the columns of a matrix.
fn gram_of_columns<T: Scalar>(matrix: &Mat<T>) -> Mat<T> {
    let mut gram = Mat::zeros(matrix.ncols(), matrix.ncols());
    linalg::multiply_adjoint(gram.as_mut(), matrix.as_ref(), matrix.as_ref());
    gram
}

/// The diagonal of a Gram matrix: energies.
fn diagonal<T: Scalar>(gram: &Mat<T>) -> Vec<f64> {
    let places = 0..gram.nrows();
    places
        .map(|place| gram[(place, place)].real().max(0.0))
        .collect()
}
