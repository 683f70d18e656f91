//! The classical algorithm, from left to right by singular value decompositions, as the yardstick
//! for ranks. Its decomposition is a one-sided Jacobi iteration: slow, simple, and not the
//! library's.

use tenfold_train::{Complex64, Options, Route, Scalar};

use crate::support::{Dice, check_bound, complex, low_rank, norm, real, squeeze, tensor};

/// The columns of a matrix made orthogonal by rotations, largest first.
fn jacobi<T: Scalar>(mut columns: Vec<Vec<T>>) -> Vec<Vec<T>> {
    for _ in 0..30 {
        let mut worst = 0.0_f64;
        for one in 0..columns.len() {
            for two in one + 1..columns.len() {
                let (before, after) = columns.split_at_mut(two);
                let (a, b) = (&mut before[one], &mut after[0]);
                let pairs = a.iter().zip(b.iter());
                let inner: T = pairs.map(|(x, y)| x.conjugate() * *y).sum();
                let (alpha, beta) = (norm(a).powi(2), norm(b).powi(2));
                let size = inner.energy().sqrt();
                if size <= 1e-17 * (alpha * beta).sqrt() || size == 0.0 {
                    continue;
                }
                worst = worst.max(size / (alpha * beta).sqrt());
                let phase = inner.times(1.0 / size);
                let zeta = (beta - alpha) / (2.0 * size);
                let t = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
                let t = if zeta == 0.0 { 1.0 } else { t };
                let cos = 1.0 / (1.0 + t * t).sqrt();
                let sin = cos * t;
                for (x, y) in a.iter_mut().zip(b.iter_mut()) {
                    let turned = *y * phase.conjugate();
                    (*x, *y) = (
                        x.times(cos) - turned.times(sin),
                        x.times(sin) + turned.times(cos),
                    );
                }
            }
        }
        if worst < 1e-15 {
            break;
        }
    }
    columns.sort_by(|one, two| norm(two).total_cmp(&norm(one)));
    columns
}

/// The ranks of the classical algorithm at a tolerance, and the numbers its cores would hold.
pub(crate) fn classical<T: Scalar>(shape: &[usize], cells: &[T], eps: f64) -> (Vec<usize>, usize) {
    let bonds = real(shape.len() - 1);
    let budget = (eps * norm(cells)).powi(2) / bonds;
    let mut rest = cells.to_vec();
    let (mut ranks, mut len) = (vec![1], 0);
    for size in &shape[..shape.len() - 1] {
        let n_rows = ranks.last().unwrap() * size;
        let n_columns = rest.len() / n_rows;
        // Rotating rows among themselves keeps what stands right of them: rank rows remain.
        let rows: Vec<Vec<T>> = rest.chunks(n_columns).map(<[T]>::to_vec).collect();
        let rows = jacobi(rows);
        let mut rank = rows.len();
        let mut left_out = 0.0;
        while rank > 1 && left_out + norm(&rows[rank - 1]).powi(2) <= budget {
            rank -= 1;
            left_out += norm(&rows[rank]).powi(2);
        }
        len += n_rows * rank;
        ranks.push(rank);
        rest = rows[..rank].concat();
    }
    len += ranks.last().unwrap() * shape.last().unwrap();
    ranks.push(1);
    (ranks, len)
}

fn no_larger_than_classical<T: Scalar>(shape: &[usize], cells: &[T], eps: f64, what: &str) {
    let (ranks, len) = classical(shape, cells, eps);
    for route in [Route::TwoSided, Route::Sampled, Route::VerifiedPass] {
        let found = squeeze(shape, cells, &Options::relative(eps).by(route));
        check_bound(&found, cells, eps, what);
        let own = found.train.len();
        assert!(
            real(own) <= 1.1 * real(len),
            "{what} at {eps:e} by {route:?}: {own} {:?}, classical {len} {ranks:?}",
            found.train.ranks()
        );
    }
}

#[test]
fn trains_are_no_larger_than_those_of_the_classical_algorithm() {
    let mut dice = Dice::new(3);
    let shape = [8, 8, 8, 8];
    let hilbert = tensor(&shape, |index| 1.0 / real(index.iter().sum::<usize>() + 1));
    let noisy: Vec<f64> = low_rank::<f64>(&shape, 3, &mut dice)
        .iter()
        .map(|cell| cell + 1e-5 / 64.0 * dice.normal())
        .collect();
    let smooth = tensor(&shape, |i| {
        let x: f64 = i.iter().map(|place| real(*place)).sum();
        (0.3 * x).sin() + 0.1 * (real(i[0]) * real(i[3])).sqrt()
    });
    let waves = tensor(&shape, |i| {
        let x = real(i[0] + 2 * i[1]) - real(i[2] * i[3]) / 8.0;
        complex(x.cos(), (0.7 * x).sin())
    });
    for eps in [1e-1, 1e-3, 1e-4, 1e-6, 1e-9] {
        no_larger_than_classical(&shape, &hilbert, eps, "Hilbert");
        no_larger_than_classical(&shape, &noisy, eps, "noisy");
        no_larger_than_classical(&shape, &smooth, eps, "smooth");
        no_larger_than_classical::<Complex64>(&shape, &waves, eps, "waves");
    }
    let binary = [2; 13];
    let digits = tensor(&binary, |index| {
        let x = index.iter().fold(0.0, |x, bit| 2.0 * x + real(*bit)) / 8192.0;
        (20.0 * x * x).sin() + x.sqrt()
    });
    for eps in [1e-2, 1e-6, 1e-10] {
        no_larger_than_classical(&binary, &digits, eps, "digits");
    }
}
