//! Random trains, reproducible by seed on every machine.

use super::{Core, Train};
use crate::error::{Error, Result};
use crate::num::real;
use crate::rng::Random;
use crate::scalar::Scalar;

impl<T: Scalar> Train<T> {
    /// A train of normally distributed numbers, its bonds as near to `rank` as the shape allows,
    /// scaled so that cells have a variance of about 1.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no mode, one of size 0, or the rank is 0.
    pub fn random(shape: &[usize], rank: usize, seed: u64) -> Result<Train<T>> {
        if rank == 0 {
            return Err(Error::invalid("a rank is at least 1"));
        }
        let mut random = Random::new(seed);
        let bonds = |sizes: &mut dyn Iterator<Item = &usize>| -> Vec<usize> {
            let products = sizes.scan(1_usize, |all, size| {
                *all = all.saturating_mul(*size);
                Some(*all)
            });
            std::iter::once(1).chain(products).collect()
        };
        let before = bonds(&mut shape.iter());
        let mut after = bonds(&mut shape.iter().rev());
        after.reverse();
        let ranks: Vec<usize> = before
            .iter()
            .zip(&after)
            .map(|(before, after)| rank.min(*before).min(*after))
            .collect();
        let links = ranks.iter().zip(ranks.iter().skip(1));
        let cores = shape.iter().zip(links).map(|(size, (left, right))| {
            let factor = 1.0 / real(*left).sqrt();
            let count = left.saturating_mul(*size).saturating_mul(*right);
            let numbers = (0..count).map(|_| T::of_parts(random.normal(), random.normal()));
            let numbers = numbers.map(|number| number.times(factor)).collect();
            Core::new(*left, *size, *right, numbers)
        });
        Train::new(cores.collect::<Result<_>>()?)
    }
}
