//! The same bits, again and on any number of threads.

use tenfold_train::{Cells, Complex64, Method, Options, Scalar, compress};

use crate::support::{Dice, low_rank, real};

fn same_bits<T: Scalar>(shape: &[usize], cells: &[T]) {
    let source = Cells::new(shape, cells).unwrap();
    for eps in [1e-2, 1e-8] {
        for route in [Method::TwoSided, Method::Sampled, Method::VerifiedPass] {
            let run = |threads| {
                let options = Options::relative(eps).by(route).on_threads(threads);
                compress(&source, &options).unwrap()
            };
            let one = run(1);
            for threads in [1, 2, 3] {
                let other = run(threads);
                assert!(
                    one.train == other.train,
                    "{route:?} {eps:e} on {threads} threads"
                );
                assert_eq!(one.report.error.to_bits(), other.report.error.to_bits());
                assert_eq!(one.report.bonds, other.report.bonds);
            }
        }
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let mut dice = Dice::new(21);
    let shape = [32, 16, 32, 16];
    let mut cells: Vec<f64> = low_rank(&shape, 5, &mut dice);
    for (place, cell) in cells.iter_mut().enumerate() {
        *cell *= 1.0 + 1e-3 * (real(place) * 0.001).sin();
    }
    same_bits(&shape, &cells);
    let shape = [16, 16, 16, 16];
    let cells: Vec<Complex64> = low_rank(&shape, 5, &mut dice);
    same_bits(&shape, &cells);
}
