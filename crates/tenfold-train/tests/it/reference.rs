//! The classical algorithm, from left to right by singular value decompositions, as the yardstick
//! for ranks. Its decomposition is a one-sided Jacobi iteration: slow, simple, and not the
//! library's.

use tenfold_train::{Complex64, Method, Options, Scalar};

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

/// As few rows as there are columns with the same products among columns, by Gram and Schmidt:
/// rotations among more rows than that would take very long to settle.
fn triangle<T: Scalar>(rows: &[Vec<T>]) -> Vec<Vec<T>> {
    let n_columns = rows[0].len();
    let zero = T::of_real(0.0);
    let mut found = vec![vec![zero; n_columns]; n_columns];
    let mut done: Vec<Vec<T>> = Vec::new();
    for at in 0..n_columns {
        let mut column: Vec<T> = rows.iter().map(|row| row[at]).collect();
        for (place, unit) in done.iter().enumerate() {
            let pairs = unit.iter().zip(&column);
            let inner: T = pairs.map(|(x, y)| x.conjugate() * *y).sum();
            found[place][at] = inner;
            for (value, unit) in column.iter_mut().zip(unit) {
                *value += -(inner * *unit);
            }
        }
        let length = norm(&column);
        found[at][at] = T::of_real(length);
        let factor = if length > 0.0 { 1.0 / length } else { 0.0 };
        done.push(column.iter().map(|value| value.times(factor)).collect());
    }
    found
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
        let mut rows: Vec<Vec<T>> = rest.chunks(n_columns).map(<[T]>::to_vec).collect();
        if n_rows > n_columns {
            rows = triangle(&rows);
        }
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
    for route in [
        None,
        Some(Method::TwoSided),
        Some(Method::Sampled),
        Some(Method::VerifiedPass),
    ] {
        let options = Options::relative(eps);
        let options = route.map_or(options.clone(), |route| options.by(route));
        let found = squeeze(shape, cells, &options);
        check_bound(&found, cells, eps, what);
        let own = found.train.len();
        // A route that is forced may need one rank more at one bond, whatever part that is.
        let one_rank = if route.is_some() {
            let most = found.train.max_rank();
            shape
                .windows(2)
                .map(|pair| pair.iter().sum::<usize>() * most)
                .max()
        } else {
            None
        };
        assert!(
            real(own) <= 1.1 * real(len) || own <= len + one_rank.unwrap_or(0),
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

/// Ranks that grow with a power of the precision: a part of the tolerance given away is felt.
#[test]
fn slowly_falling_spectra_cost_no_more_than_the_classical_algorithm() {
    let shape = [24, 24, 24];
    let far = |i: &[usize], from: f64| -> f64 {
        i.iter().map(|place| (real(*place) - from).powi(2)).sum()
    };
    let ripples = tensor(&shape, |i| (far(i, 3.0) + 0.5).sqrt().sin());
    let ball = tensor(&shape, |i| if far(i, 11.0) < 70.0 { 1.0 } else { 0.0 });
    let soft = tensor(&shape, |i| 1.0 / (1.0 + (far(i, 9.0).sqrt() - 7.0).exp()));
    let corner = tensor(&shape, |i| (far(i, 0.0) + 1e-3).sqrt().ln());
    for eps in [1e-1, 3e-2, 1e-2, 1e-3, 1e-5, 1e-7] {
        no_larger_than_classical(&shape, &ripples, eps, "ripples");
        no_larger_than_classical(&shape, &ball, eps, "ball");
        no_larger_than_classical(&shape, &soft, eps, "soft ball");
        no_larger_than_classical(&shape, &corner, eps, "corner");
    }
    // Modes that are long enough for guesses from a sample.
    let long = [40, 36, 33, 3];
    let ripples = tensor(&long, |i| (far(i, 3.0) + 0.5).sqrt().sin());
    let soft = tensor(&long, |i| 1.0 / (1.0 + (far(i, 14.0).sqrt() - 9.0).exp()));
    let corner = tensor(&long, |i| (far(i, 0.0) + 1e-3).sqrt().ln());
    for eps in [1e-1, 3e-2, 1e-2, 1e-3, 1e-5] {
        no_larger_than_classical(&long, &ripples, eps, "long ripples");
        no_larger_than_classical(&long, &soft, eps, "long soft ball");
        no_larger_than_classical(&long, &corner, eps, "long corner");
    }
    let mut dice = Dice::new(31);
    let random = tensor(&[14, 14, 14], |_| ());
    let random: Vec<f64> = random.iter().map(|()| dice.normal()).collect();
    for eps in [0.5, 0.2, 0.05, 1e-3, 1e-8] {
        no_larger_than_classical(&[14, 14, 14], &random, eps, "random");
    }
}
