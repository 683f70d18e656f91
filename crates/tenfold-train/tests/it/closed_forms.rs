//! Tensors whose ranks are known.

use tenfold_train::{Method, Options};

use crate::support::{Dice, check_bound, complex, norm, real, squeeze, tensor};

const ROUTES: [Method; 3] = [Method::TwoSided, Method::Sampled, Method::VerifiedPass];

#[test]
fn a_product_of_functions_has_rank_one() {
    let shape = [7, 9, 11, 13];
    let cells = tensor(&shape, |index| {
        index
            .iter()
            .map(|place| 1.0 / (real(*place) + 1.5))
            .product::<f64>()
    });
    for route in ROUTES {
        let found = squeeze(&shape, &cells, &Options::relative(1e-10).by(route));
        assert_eq!(found.train.ranks(), [1, 1, 1, 1, 1], "{route:?}");
        check_bound(&found, &cells, 1e-10, "rank one");
    }
}

#[test]
fn a_sum_of_exponentials_has_as_many_ranks_as_terms() {
    let shape = [2; 16];
    // Binary digits of x in [0, 1): exp(a x) is a product over the digits.
    let cells = tensor(&shape, |index| {
        let x = index.iter().fold(0.0, |x, bit| 2.0 * x + real(*bit)) / 65536.0;
        (-x).exp() + 2.0 * (-5.0 * x).exp() + 0.5 * (2.0 * x).exp()
    });
    for route in ROUTES {
        let found = squeeze(&shape, &cells, &Options::relative(1e-9).by(route));
        assert_eq!(found.train.max_rank(), 3, "{route:?}");
        check_bound(&found, &cells, 1e-9, "exponentials");
    }
}

#[test]
fn a_polynomial_of_degree_three_has_rank_four() {
    let shape = [2; 14];
    let cells = tensor(&shape, |index| {
        let x = index.iter().fold(0.0, |x, bit| 2.0 * x + real(*bit)) / 16384.0;
        1.0 - 3.0 * x + x * x * x
    });
    for route in ROUTES {
        let found = squeeze(&shape, &cells, &Options::relative(1e-10).by(route));
        assert!(
            found.train.max_rank() <= 4,
            "{route:?} {:?}",
            found.train.ranks()
        );
        check_bound(&found, &cells, 1e-10, "polynomial");
    }
}

#[test]
fn a_complex_wave_has_rank_one_and_its_real_part_two() {
    let shape = [4, 4, 4, 4, 4, 4];
    let phase = |index: &[usize]| index.iter().fold(0.0, |x, digit| 4.0 * x + real(*digit)) * 0.37;
    let wave = tensor(&shape, |index| {
        complex(phase(index).cos(), phase(index).sin())
    });
    let part = tensor(&shape, |index| phase(index).cos());
    for route in ROUTES {
        let options = Options::relative(1e-10).by(route);
        assert_eq!(
            squeeze(&shape, &wave, &options).train.max_rank(),
            1,
            "{route:?}"
        );
        assert_eq!(
            squeeze(&shape, &part, &options).train.max_rank(),
            2,
            "{route:?}"
        );
        check_bound(&squeeze(&shape, &wave, &options), &wave, 1e-10, "wave");
    }
}

#[test]
fn the_hilbert_tensor_shrinks_at_every_tolerance() {
    let shape = [16; 4];
    let cells = tensor(&shape, |index| 1.0 / real(index.iter().sum::<usize>() + 1));
    let mut before = 0;
    for eps in [1e-1, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12] {
        for route in ROUTES {
            let found = squeeze(&shape, &cells, &Options::relative(eps).by(route));
            check_bound(&found, &cells, eps, "Hilbert");
            if route == Method::TwoSided {
                assert!(found.train.len() >= before, "{eps:e}");
                before = found.train.len();
            }
        }
    }
    assert!(before < cells.len() / 4);
}

#[test]
fn the_report_adds_up() {
    let shape = [12, 10, 8, 6];
    let cells = tensor(&shape, |index| 1.0 / real(index.iter().sum::<usize>() + 1));
    let found = squeeze(
        &shape,
        &cells,
        &Options::relative(1e-3).by(Method::TwoSided),
    );
    let report = &found.report;
    assert!((report.norm - norm(&cells)).abs() < 1e-12 * report.norm);
    let ranks: Vec<usize> = report.bonds.iter().map(|bond| bond.rank).collect();
    assert_eq!(ranks, found.train.ranks()[1..4]);
    let left_out: f64 = report.bonds.iter().map(|bond| bond.left_out).sum();
    assert!((left_out.sqrt() + report.rounding - report.error).abs() < 1e-12 * report.norm);
    assert_eq!(report.dense_len, 12 * 10 * 8 * 6 * 8);
    assert!(report.ratio() > 1.0 && report.notes.is_empty());
}

#[test]
fn a_rank_that_is_nearly_full_is_not_taken_for_full() {
    // Square and tall at the bond in question, wide enough for every test of full rank.
    for (shape, n_rows, full) in [(vec![18; 4], 324, 324), (vec![260, 600], 260, 260)] {
        for missing in [0, 1, 40] {
            let rank = full - missing;
            let n_columns = shape.iter().product::<usize>() / n_rows;
            let mut dice = Dice::new(5);
            let left: Vec<f64> = (0..n_rows * rank).map(|_| dice.normal()).collect();
            let right: Vec<f64> = (0..n_columns * rank).map(|_| dice.normal()).collect();
            let rows = left.chunks_exact(rank).flat_map(|row| {
                let columns = right.chunks_exact(rank);
                columns.map(|column| row.iter().zip(column).map(|(x, y)| x * y).sum::<f64>())
            });
            let cells: Vec<f64> = rows.collect();
            let found = squeeze(&shape, &cells, &Options::relative(0.0));
            assert_eq!(found.train.max_rank(), rank, "{shape:?}");
            check_bound(&found, &cells, 1e-12, "nearly full");
        }
    }
}
