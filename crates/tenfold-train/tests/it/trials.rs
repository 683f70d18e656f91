//! Random trials: a tensor, a way to hand it over, a tolerance and a route, from one number.

use half::{bf16, f16};
use num_complex::Complex;
use tenfold_train::{Cells, Complex64, Method, Options, Promote, Scalar, compress};

use crate::support::{Dice, brute_fast, difference, low_rank, norm, real, unravel};

/// A random shape of at most `most` cells, and not far fewer.
fn shape(dice: &mut Dice, most: usize) -> Vec<usize> {
    loop {
        let ndim = 2 + dice.below(8);
        let largest = [2, 3, 6, 20, 70, 300][dice.below(6)];
        let shape: Vec<usize> = (0..ndim).map(|_| 1 + dice.below(largest)).collect();
        let cells = shape
            .iter()
            .try_fold(1_usize, |all, size| all.checked_mul(*size));
        if cells.is_some_and(|cells| cells <= most && cells > most / 50) {
            return shape;
        }
    }
}

/// A random tensor of norm about 1: of low rank, alone or with something that does not fit in.
fn cells<T: Scalar>(shape: &[usize], eps: f64, dice: &mut Dice) -> (&'static str, Vec<T>) {
    let rank = 1 + dice.below(8);
    let mut cells: Vec<T> = low_rank(shape, rank, dice);
    let count = cells.len();
    let length = 1.0 / real(count).sqrt();
    let noise = 10.0_f64.powi(-i32::try_from(dice.below(14)).unwrap());
    if dice.below(2) == 0 {
        for cell in &mut cells {
            *cell += T::of_parts(dice.normal(), dice.normal()).times(noise * length);
        }
    }
    let last = *shape.last().unwrap();
    let zero = T::of_real(0.0);
    let at = dice.below(count);
    let kind = match dice.below(22) {
        0 => {
            cells[at] += T::of_real(noise);
            "a spike"
        }
        1 => {
            let other: Vec<T> = low_rank(shape, 2, dice);
            cells[at..].copy_from_slice(&other[at..]);
            "a step"
        }
        2 => {
            for (place, cell) in cells.iter_mut().enumerate() {
                *cell = cell.times(10.0_f64.powf(6.0 * real(place) / real(count)));
            }
            "decades"
        }
        3 => {
            cells = vec![zero; count];
            "zeros"
        }
        4 => {
            cells.iter_mut().for_each(|cell| *cell = cell.times(0.0));
            (0..1 + dice.below(20)).for_each(|_| {
                cells[dice.below(count)] = T::of_parts(dice.normal(), dice.normal());
            });
            "sparse"
        }
        5 => {
            let signs = cells.iter_mut().skip(at % 2).step_by(2);
            signs.for_each(|cell| *cell = -*cell);
            "alternating signs"
        }
        6 => {
            cells[..count - last].fill(zero);
            "only the last row"
        }
        7 => {
            cells.fill(zero);
            cells[at] = T::of_real(1.0);
            "only one cell"
        }
        8 => {
            for (place, cell) in cells.iter_mut().enumerate() {
                let is_near = place * 4 / count == place % last * 4 / last;
                *cell = if is_near { *cell } else { zero };
            }
            "block diagonal"
        }
        9 => {
            cells.sort_by(|one, other| one.real().total_cmp(&other.real()));
            "sorted"
        }
        10 => {
            let row = cells[..last].to_vec();
            let other = at / last;
            for (place, target) in cells.chunks_exact_mut(last).enumerate() {
                if place != other {
                    target.copy_from_slice(&row);
                }
            }
            "all rows equal but one"
        }
        11 => {
            // What a drift of sums would hide: noise as large as the tolerance on equal cells.
            for cell in &mut cells {
                let more = T::of_parts(dice.normal(), dice.normal());
                *cell = T::of_real(0.1) + more.times(0.09 * eps);
            }
            "nearly constant"
        }
        12 => {
            for (place, cell) in cells.iter_mut().enumerate() {
                let sum: usize = unravel(place, shape).iter().sum();
                *cell = T::of_real(1.0 / real(sum + 1));
            }
            "Hilbert"
        }
        13 => {
            for (place, cell) in cells.iter_mut().enumerate() {
                let far: f64 = unravel(place, shape).iter().map(|x| real(*x).powi(2)).sum();
                *cell = T::of_real((0.3 * far).sqrt().sin());
            }
            "slowly falling"
        }
        14 => {
            for cell in &mut cells {
                *cell = T::of_parts(dice.normal(), dice.normal());
            }
            "noise alone"
        }
        15 => {
            cells[at] = T::of_real(1e9);
            "a mountain"
        }
        _ => "low rank",
    };
    (kind, cells)
}

/// How one trial went.
pub(crate) struct Outcome {
    /// The part of the allowance for rounding that was used.
    pub(crate) used: f64,
    /// The error as a part of the bound.
    pub(crate) share: f64,
}

/// Does one trial, the same for the same number.
pub(crate) fn trial(number: u64, most: usize) -> Outcome {
    let mut dice = Dice::new(number);
    let shape = shape(&mut dice, most);
    let power = i32::try_from(dice.below(15)).unwrap();
    let eps = if power == 14 {
        0.0
    } else {
        10.0_f64.powi(-power) * (0.3 + dice.uniform())
    };
    let mut trial = Trial {
        about: format!("trial {number} of {shape:?} eps {eps:e}"),
        shape,
        eps,
        dice,
    };
    match trial.dice.below(12) {
        0..4 => trial.scaled::<f64>(),
        4..7 => trial.scaled::<Complex64>(),
        7 => trial.narrowed(narrow),
        8 => trial.narrowed(|cell| f16::from_f64(cell.clamp(-6e4, 6e4))),
        9 => trial.narrowed(bf16::from_f64),
        10 => {
            let (_, wide) = cells::<Complex64>(&trial.shape, eps, &mut trial.dice);
            let cells = wide
                .iter()
                .map(|x| Complex::new(narrow(x.re), narrow(x.im)));
            trial.run::<Complex64, _>(&cells.collect::<Vec<_>>())
        }
        _ => trial.whole(),
    }
}

struct Trial {
    about: String,
    shape: Vec<usize>,
    eps: f64,
    dice: Dice,
}

impl Trial {
    /// Doubles, of any magnitude.
    fn scaled<T: Scalar>(mut self) -> Outcome {
        let (kind, mut cells) = cells::<T>(&self.shape, self.eps, &mut self.dice);
        let scales = [1.0, 1e-290, 1e290, 1e-80, 1e80, 3.7, 1e-150, 1e150];
        let scale = scales[self.dice.below(scales.len())];
        cells.iter_mut().for_each(|cell| *cell = cell.times(scale));
        if self.dice.below(20) == 0 {
            // Parts that have nothing to do with each other.
            let end = self.dice.below(cells.len());
            cells[..end]
                .iter_mut()
                .for_each(|cell| *cell = cell.times(1e-270));
        }
        self.about += &format!(" {kind} times {scale:e}");
        self.run::<T, T>(&cells)
    }

    /// Numbers with fewer digits.
    fn narrowed<E: Promote<f64>>(mut self, narrow: impl Fn(f64) -> E) -> Outcome {
        let (kind, cells) = cells::<f64>(&self.shape, self.eps, &mut self.dice);
        self.about += &format!(" {kind} of {}", std::any::type_name::<E>());
        self.run::<f64, E>(&cells.iter().map(|cell| narrow(*cell)).collect::<Vec<_>>())
    }

    /// Whole numbers.
    fn whole(mut self) -> Outcome {
        let factors: Vec<usize> = self.shape.iter().map(|_| self.dice.below(9)).collect();
        let places = self.shape.iter().product::<usize>();
        let cell = |place: usize| {
            let index = unravel(place, &self.shape);
            let sum: usize = index.iter().zip(&factors).map(|(x, y)| x * y).sum();
            u8::try_from(sum % 251).unwrap()
        };
        let cells: Vec<u8> = (0..places).map(cell).collect();
        match self.dice.below(4) {
            0 => self.run::<f64, u8>(&cells),
            1 => {
                let cells = cells.iter().map(|cell| i32::from(*cell) * 4_000_000 - 7);
                self.run::<f64, i32>(&cells.collect::<Vec<_>>())
            }
            2 => {
                let cells = cells.iter().map(|cell| i64::from(*cell) << 40);
                self.run::<f64, i64>(&cells.collect::<Vec<_>>())
            }
            _ => self.run::<f64, bool>(&cells.iter().map(|cell| *cell > 40).collect::<Vec<_>>()),
        }
    }

    /// Compresses row-major cells, given in either order, and compares.
    fn run<T: Scalar, E: Promote<T>>(mut self, cells: &[E]) -> Outcome {
        let wide: Vec<T> = cells.iter().map(|cell| cell.widen()).collect();
        let (options, is_capped) = self.options();
        let is_turned = self.dice.below(3) == 0;
        let turned: Vec<E>;
        let source = if is_turned {
            turned = column_major(&self.shape, cells);
            Cells::column_major(&self.shape, &turned).unwrap()
        } else {
            Cells::new(&self.shape, cells).unwrap()
        };
        let found = compress::<T>(&source, &options);
        let found = found.unwrap_or_else(|error| panic!("{}: {error}", self.about));
        // Where there is a train, nothing proves that every one is larger.
        let demanding = options.smaller_than(found.report.train_len + 1);
        let again = compress::<T>(&source, &demanding);
        let again = again.unwrap_or_else(|error| panic!("{}: {error}", self.about));
        assert!(again.train == found.train, "{}", self.about);
        // Squares of cells near the ends of doubles would not be doubles.
        let parts = wide.iter().map(|cell| {
            let im = (*cell + cell.conjugate().times(-1.0)) * T::of_parts(0.0, -0.5);
            cell.real().abs().max(im.real().abs())
        });
        let most = parts.fold(0.0, f64::max);
        let most = if most > 0.0 { most } else { 1.0 };
        let near_one = |values: &[T]| -> Vec<T> {
            let tame = |value: &T| value.times(1.0 / most);
            values.iter().map(tame).collect()
        };
        let error = difference(&near_one(&brute_fast(&found.train)), &near_one(&wide));
        let report = &found.report;
        let bound = report.error / most;
        let about = format!(
            "{} {:?} ranks {:?} error {error:e} bound {bound:e}",
            self.about,
            report.route,
            found.train.ranks()
        );
        assert!(error <= bound * (1.0 + 1e-9), "{about}");
        if self.eps >= 1e-12 && !is_capped {
            assert!(report.relative_error() <= self.eps, "not proven: {about}");
            let allowed = self.eps * norm(&near_one(&wide));
            assert!(error <= allowed * (1.0 + 1e-9), "{about}");
        }
        let rounding = report.rounding / most;
        Outcome {
            used: if rounding > 0.0 {
                (error - (bound - rounding)) / rounding
            } else {
                0.0
            },
            share: if bound > 0.0 { error / bound } else { 0.0 },
        }
    }

    /// A route or none, a cap or none.
    fn options(&mut self) -> (Options<'static>, bool) {
        let routes = [
            None,
            Some(Method::TwoSided),
            Some(Method::Sampled),
            Some(Method::VerifiedPass),
        ];
        let mut options = Options::relative(self.eps);
        if let Some(route) = routes[self.dice.below(4)] {
            options = options.by(route);
            self.about += &format!(" by {route:?}");
        }
        let is_capped = self.dice.below(8) == 0;
        if is_capped {
            options = options.with_max_rank(1 + self.dice.below(6)).best_effort();
        }
        (options, is_capped)
    }
}

/// Row-major cells in column-major order.
fn column_major<E: Copy>(shape: &[usize], cells: &[E]) -> Vec<E> {
    let reversed: Vec<usize> = shape.iter().rev().copied().collect();
    let from = |place: usize| {
        let index = unravel(place, &reversed);
        let index = index.iter().rev().zip(shape);
        index.fold(0, |at, (place, size)| at * size + place)
    };
    (0..cells.len()).map(|place| cells[from(place)]).collect()
}

/// A double with its last digits cut off; 0 beyond what is left.
fn narrow(value: f64) -> f32 {
    let bits = value.to_bits();
    let exponent = (bits >> 52) & 0x7FF;
    if !(897..1151).contains(&exponent) {
        return 0.0;
    }
    let parts = (bits >> 63 << 31) | ((exponent - 896) << 23) | ((bits >> 29) & 0x7F_FFFF);
    f32::from_bits(u32::try_from(parts).unwrap())
}
