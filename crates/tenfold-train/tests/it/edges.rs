//! The edges of the table in the design: what is refused, rescaled, dropped and capped.

use std::ops::ControlFlow;

use tenfold_train::{Cells, Complex64, Error, Method, Options, compress};

use crate::support::{Dice, brute, check_bound, difference, low_rank, norm, squeeze};

fn why<T: tenfold_train::Scalar>(shape: &[usize], cells: &[T], options: &Options) -> String {
    let source = Cells::new(shape, cells).unwrap();
    compress(&source, options).unwrap_err().to_string()
}

#[test]
fn a_cell_that_is_not_finite_is_named() {
    let mut dice = Dice::new(1);
    let shape = [8, 9, 10, 11];
    for eps in [1e-2, 1e-8, 0.0] {
        let mut cells: Vec<f64> = low_rank(&shape, 3, &mut dice);
        cells[((3 * 9 + 4) * 10 + 5) * 11 + 6] = f64::NAN;
        cells[((7 * 9 + 4) * 10 + 5) * 11 + 6] = f64::INFINITY;
        assert_eq!(
            why(&shape, &cells, &Options::relative(eps)),
            "cell [3, 4, 5, 6] is NaN: only finite values can be compressed"
        );
        let mut cells: Vec<Complex64> = low_rank(&shape, 3, &mut dice);
        cells[0].im = f64::NEG_INFINITY;
        let why = why(&shape, &cells, &Options::relative(eps));
        assert!(why.starts_with("cell [0, 0, 0, 0] is "), "{why}");
        let cells = [1.0, 2.0, 3.0, f64::NAN, 5.0, 6.0];
        let source = Cells::column_major(&[2, 3], &cells).unwrap();
        let error = compress(&source, &Options::relative(eps)).unwrap_err();
        assert!(
            error.to_string().starts_with("cell [1, 1] is NaN"),
            "{error}"
        );
    }
}

#[test]
fn extreme_magnitudes_are_compressed_like_any_other() {
    let mut dice = Dice::new(2);
    let shape = [8, 9, 10, 11];
    let plain: Vec<f64> = low_rank(&shape, 3, &mut dice);
    for factor in [1e-300, 1e-290, 1e-160, 1e160, 1e290, 1e300] {
        for eps in [1e-2, 1e-8] {
            let cells: Vec<f64> = plain.iter().map(|cell| cell * factor).collect();
            let found = squeeze(&shape, &cells, &Options::relative(eps));
            assert!(found.train.max_rank() <= 3);
            assert!(found.report.relative_error() <= eps);
            let back: Vec<f64> = brute(&found.train).iter().map(|x| x / factor).collect();
            assert!(difference(&back, &plain) <= eps * norm(&plain));
            assert!((found.report.norm / factor - 1.0).abs() < 1e-10);
            let source = Cells::new(&shape, &cells).unwrap();
            let distance = found.train.distance(&source).unwrap();
            assert!(distance.relative() <= eps, "{distance:?}");
        }
        let cells: Vec<f64> = plain.iter().map(|cell| cell * factor).collect();
        let found = squeeze(&shape, &cells, &Options::absolute(1e-3 * factor));
        assert!(found.report.error <= 1e-3 * factor && found.train.len() < 1000);
    }
}

#[test]
fn cells_at_the_very_ends_of_doubles_lose_no_digits_to_the_cores() {
    let shape = [8, 9, 10, 11];
    let ones = vec![1.0; 7920];
    // The first core alone would hold 89 times the cells.
    for factor in [
        f64::MAX / 128.0,
        f64::MIN_POSITIVE,
        f64::MIN_POSITIVE / 1024.0,
    ] {
        let cells: Vec<f64> = ones.iter().map(|cell| cell * factor).collect();
        let found = squeeze(&shape, &cells, &Options::relative(1e-6));
        assert_eq!(found.train.ranks(), [1, 1, 1, 1, 1]);
        assert!(found.report.relative_error() <= 1e-6, "{factor:e}");
        for cell in brute(&found.train) {
            assert!((cell / factor - 1.0).abs() < 1e-12, "{cell:e} {factor:e}");
        }
        let bonds = found.report.bonds.iter();
        assert!(bonds.map(|bond| bond.left_out).all(|out| !out.is_nan()));
    }
    assert_eq!(
        why(&shape, &[f64::MAX; 7920], &Options::relative(1e-6)),
        "the norm of the tensor is no double"
    );
}

#[test]
fn zeros_have_ranks_of_one_and_no_error() {
    for options in [
        Options::relative(1e-6),
        Options::relative(0.0),
        Options::absolute(1.0),
    ] {
        let found = squeeze(&[4, 5, 6], &[0.0; 120], &options);
        assert_eq!(found.train.ranks(), [1, 1, 1, 1]);
        assert_eq!(
            (found.report.error, found.report.relative_error()),
            (0.0, 0.0)
        );
        assert_eq!(found.train.full().unwrap(), [0.0; 120]);
        assert_eq!(norm(found.train.cores()[1].values()), 1.0);
    }
}

#[test]
fn modes_of_size_one_come_back() {
    let mut dice = Dice::new(3);
    let shape = [1, 6, 1, 1, 7, 8, 1];
    let cells: Vec<f64> = low_rank(&shape, 2, &mut dice);
    let found = squeeze(&shape, &cells, &Options::relative(1e-9));
    assert_eq!(found.train.shape(), shape);
    assert_eq!(found.train.ranks(), [1, 1, 2, 2, 2, 2, 1, 1]);
    let ranks: Vec<usize> = found.report.bonds.iter().map(|bond| bond.rank).collect();
    assert_eq!(ranks, [1, 2, 2, 2, 2, 1]);
    check_bound(&found, &cells, 1e-9, "ones");
    let cells = [1.0, -2.0, 3.0];
    let found = squeeze(&[1, 3, 1], &cells, &Options::relative(1e-9));
    assert_eq!(found.train.full().unwrap(), cells);
    assert_eq!(found.report.route, Method::Trivial);
    let found = squeeze(&[1, 1], &[-7.5], &Options::relative(1e-9));
    assert_eq!(found.train.full().unwrap(), [-7.5]);
}

#[test]
fn shapes_and_tolerances_that_make_no_sense_are_refused() {
    let options = Options::relative(1e-6);
    assert_eq!(
        why(&[6], &[1.0; 6], &options),
        "a train needs 2 dimensions, the tensor has 1: give it more with --reshape"
    );
    assert_eq!(
        why(&[], &[1.0], &options).split(',').next(),
        Some("a train needs 2 dimensions")
    );
    assert_eq!(
        why::<f64>(&[3, 0], &[], &options),
        "a tensor without cells has no train"
    );
    let many = [1; 256];
    assert_eq!(
        why(&many, &[1.0], &options),
        "a train has at most 255 dimensions, not 256"
    );
    assert_eq!(
        why(&[2, 2], &[1.0; 4], &Options::relative(f64::NAN)),
        "NaN is no tolerance"
    );
    assert_eq!(
        why(&[2, 2], &[1.0; 4], &Options::relative(-1.0)),
        "-1 is no tolerance"
    );
    assert_eq!(
        why(&[2, 2], &[1.0; 4], &Options::ranked(0)),
        "a rank is at least 1"
    );
    let ranks = options.with_max_ranks(vec![1, 2]);
    assert!(why(&[2, 2], &[1.0; 4], &ranks).starts_with("2 ranks for the 1 bonds"));
    assert!(Cells::new(&[usize::MAX, 2], &[1.0]).is_err());
}

#[test]
fn a_rank_limit_that_excludes_the_tolerance_is_an_error_with_the_best_bound() {
    let mut dice = Dice::new(4);
    let shape = [8, 8, 8, 8];
    let cells: Vec<f64> = low_rank(&shape, 6, &mut dice);
    for route in [Method::TwoSided, Method::Sampled, Method::VerifiedPass] {
        let options = Options::relative(1e-7).with_max_rank(3).by(route);
        let source = Cells::new(&shape, &cells).unwrap();
        let error = compress(&source, &options).unwrap_err();
        let Error::RankLimit(limit) = &error else {
            panic!("{error}");
        };
        assert_eq!(
            (limit.bond, limit.needed, limit.allowed),
            (1, 6, 3),
            "{error}"
        );
        assert_eq!(limit.wanted, 1e-7);
        let words = error.to_string();
        assert!(words.starts_with("an error of 1e-7 needs rank 6 at bond 1, 3 is allowed"));
        let found = compress(&source, &options.best_effort()).unwrap();
        assert!(found.train.max_rank() <= 3);
        assert_eq!(found.report.relative_error(), limit.reached);
        assert_eq!(found.report.notes.len(), 1);
        check_bound(&found, &cells, 0.0, "capped");
        let true_error = difference(&found.train.full().unwrap(), &cells) / norm(&cells);
        assert!(
            (true_error - limit.reached).abs() < 1e-6,
            "{true_error} {}",
            limit.reached
        );
    }
}

#[test]
fn a_rank_limit_that_the_tolerance_just_allows_is_met() {
    let mut dice = Dice::new(41);
    let shape = [8, 8, 8, 8, 8];
    let mut cells: Vec<f64> = low_rank(&shape, 5, &mut dice);
    for cell in &mut cells {
        *cell += 0.9e-8 / 181.0 * dice.normal();
    }
    // A pass keeps a part of the tolerance to itself: what is left is too little for rank 5.
    for route in [None, Some(Method::VerifiedPass), Some(Method::TwoSided)] {
        let mut options = Options::relative(1e-8).with_max_rank(5);
        if let Some(route) = route {
            options = options.by(route);
        }
        let found = squeeze(&shape, &cells, &options);
        assert_eq!(found.train.max_rank(), 5);
        check_bound(&found, &cells, 1e-8, "just allowed");
    }
}

#[test]
fn ranks_are_capped_bond_by_bond() {
    let mut dice = Dice::new(5);
    let shape = [6, 1, 6, 6, 6];
    let cells: Vec<f64> = low_rank(&shape, 5, &mut dice);
    for route in [Method::TwoSided, Method::VerifiedPass] {
        let caps = vec![4, 3, 5, 2];
        let options = Options::relative(1e-7)
            .with_max_ranks(caps)
            .best_effort()
            .by(route);
        let found = squeeze(&shape, &cells, &options);
        assert_eq!(found.train.ranks(), [1, 3, 3, 5, 2, 1], "{route:?}");
        check_bound(&found, &cells, 0.0, "capped by bond");
        let source = Cells::column_major(&shape, &cells).unwrap();
        let found = compress(&source, &options).unwrap();
        assert_eq!(found.train.ranks(), [1, 3, 3, 5, 2, 1], "{route:?}");
    }
    let ranked = squeeze(&shape, &cells, &Options::ranked(2));
    assert_eq!(ranked.train.max_rank(), 2);
    check_bound(&ranked, &cells, 0.0, "ranked");
}

#[test]
fn a_tolerance_below_rounding_is_taken_as_none_and_said() {
    let mut dice = Dice::new(6);
    let shape = [8, 9, 10];
    let cells: Vec<f64> = low_rank(&shape, 3, &mut dice);
    let found = squeeze(&shape, &cells, &Options::relative(1e-17));
    assert_eq!(
        found.report.notes,
        ["a tolerance of 1e-17 is below rounding: it was taken as 0"]
    );
    assert_eq!(found.train.max_rank(), 3);
    check_bound(&found, &cells, 0.0, "tiny");
    let random: Vec<f64> = (0..720).map(|_| dice.normal()).collect();
    let found = squeeze(&shape, &random, &Options::relative(0.0));
    assert_eq!(found.train.ranks(), [1, 8, 10, 1]);
    check_bound(&found, &random, 0.0, "random");
}

#[test]
fn a_watcher_sees_progress_and_can_stop() {
    let mut dice = Dice::new(7);
    let shape = [16, 16, 16, 16];
    let cells: Vec<f64> = low_rank(&shape, 3, &mut dice);
    let source = Cells::new(&shape, &cells).unwrap();
    for eps in [1e-2, 1e-8] {
        let stop = |_| ControlFlow::Break(());
        let error = compress(&source, &Options::relative(eps).watched_by(&stop)).unwrap_err();
        assert!(matches!(error, Error::Stopped));
        let seen = std::sync::Mutex::new(Vec::new());
        let look = |progress| {
            seen.lock().unwrap().push(progress);
            ControlFlow::Continue(())
        };
        let found = compress(&source, &Options::relative(eps).watched_by(&look)).unwrap();
        let seen = seen.lock().unwrap();
        assert!(seen.iter().all(|progress| progress.cells == 65_536));
        let most = seen.iter().map(|progress| progress.read).max();
        assert_eq!(most, Some(found.report.read));
        assert!(found.report.read >= 65_536);
    }
}
