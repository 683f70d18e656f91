//! What the tests share: numbers from nowhere, tensors from formulas, products by brute force.

use tenfold_train::{Cells, Complex64, Compressed, Options, Scalar, Train, compress};

/// A xorshift generator, not the library's own.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x2545_F491_4F6C_DD1D) | 1)
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.bits() >> 33).unwrap() % end
    }

    pub(crate) fn uniform(&mut self) -> f64 {
        real(usize::try_from(self.bits() >> 32).unwrap()) / 4_294_967_296.0
    }

    pub(crate) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

pub(crate) fn real(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap())
}

/// The tensor whose cells a function of the index gives.
pub(crate) fn tensor<T>(shape: &[usize], cell: impl Fn(&[usize]) -> T) -> Vec<T> {
    let cells: usize = shape.iter().product();
    (0..cells).map(|at| cell(&unravel(at, shape))).collect()
}

pub(crate) fn unravel(at: usize, shape: &[usize]) -> Vec<usize> {
    let mut rest = at;
    let mut index: Vec<usize> = shape
        .iter()
        .rev()
        .map(|size| {
            let place = rest % size;
            rest /= size;
            place
        })
        .collect();
    index.reverse();
    index
}

/// All cells of a train, multiplied out matrix by matrix.
pub(crate) fn brute<T: Scalar>(train: &Train<T>) -> Vec<T> {
    tensor(&train.shape(), |index| {
        let mut row = vec![T::of_real(1.0)];
        for (core, place) in train.cores().iter().zip(index) {
            let at =
                |a: usize, b: usize| core.values()[(a * core.size() + place) * core.right() + b];
            row = (0..core.right())
                .map(|b| row.iter().enumerate().map(|(a, x)| *x * at(a, b)).sum())
                .collect();
        }
        row[0]
    })
}

pub(crate) fn norm<T: Scalar>(values: &[T]) -> f64 {
    values
        .iter()
        .map(|value| value.energy())
        .sum::<f64>()
        .sqrt()
}

pub(crate) fn difference<T: Scalar>(one: &[T], other: &[T]) -> f64 {
    assert_eq!(one.len(), other.len());
    let cells = one.iter().zip(other).map(|(one, other)| *one - *other);
    norm(&cells.collect::<Vec<T>>())
}

/// Compresses row-major cells.
pub(crate) fn squeeze<T: Scalar>(shape: &[usize], cells: &[T], options: &Options) -> Compressed<T> {
    compress(&Cells::new(shape, cells).unwrap(), options).unwrap()
}

/// Checks that a train is as near as promised and as wanted, by multiplying it out.
pub(crate) fn check_bound<T: Scalar>(found: &Compressed<T>, cells: &[T], eps: f64, what: &str) {
    let error = difference(&found.train.full().unwrap(), cells);
    let length = norm(cells);
    let report = &found.report;
    assert!(
        error <= report.error * (1.0 + 1e-9),
        "{what}: error {error:e}, bound {:e}, norm {length:e}",
        report.error
    );
    if eps >= 1e-12 {
        let proven = report.relative_error();
        assert!(proven <= eps, "{what}: proven {proven:e}, wanted {eps:e}");
        assert!(error <= eps * length * (1.0 + 1e-9), "{what}: {error:e}");
    }
}

/// A tensor of a low rank, normalised.
pub(crate) fn low_rank<T: Scalar>(shape: &[usize], rank: usize, dice: &mut Dice) -> Vec<T> {
    let train = Train::<T>::random(shape, rank, dice.bits()).unwrap();
    let mut cells = brute_fast(&train);
    let length = norm(&cells);
    cells
        .iter_mut()
        .for_each(|cell| *cell = cell.times(1.0 / length));
    cells
}

/// As [`brute`], one core at a time.
pub(crate) fn brute_fast<T: Scalar>(train: &Train<T>) -> Vec<T> {
    let mut rows = vec![T::of_real(1.0)];
    for core in train.cores() {
        let step = core.size() * core.right();
        let mut next = vec![T::of_real(0.0); rows.len() / core.left() * step];
        for (row, out) in rows.chunks(core.left()).zip(next.chunks_mut(step)) {
            for (factor, values) in row.iter().zip(core.values().chunks(step)) {
                for (sum, value) in out.iter_mut().zip(values) {
                    *sum += *factor * *value;
                }
            }
        }
        rows = next;
    }
    rows
}

pub(crate) fn complex(re: f64, im: f64) -> Complex64 {
    Complex64::new(re, im)
}
