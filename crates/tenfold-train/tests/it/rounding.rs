//! Rounding of trains as they come: the error is within what was asked for and what is said, and the
//! ranks are no larger than those of the classical algorithm.

use tenfold_train::{Complex64, Core, Scalar, Train};

use crate::support::{Dice, brute, difference, norm, real};

/// A train of random shape and ranks, some of them larger than they can be worth, whose directions
/// fade more or less quickly.
fn some_train<T: Scalar>(dice: &mut Dice) -> Train<T> {
    let n_modes = 1 + dice.below(6);
    let fading = [1.0, 0.7, 0.2, 1e-3][dice.below(4)];
    let scale = [1.0, 1e-5, 1e120, 1e-120][dice.below(4)];
    let mut left = 1;
    let mut cores = Vec::new();
    for mode in 0..n_modes {
        let size = 1 + dice.below(5);
        let right = if mode + 1 == n_modes {
            1
        } else {
            1 + dice.below(9)
        };
        let mut values = Vec::new();
        for _ in 0..left * size {
            for place in 0..right {
                let factor = fading_to(fading, place) * if mode == 0 { scale } else { 1.0 };
                values.push(T::of_parts(dice.normal(), dice.normal()).times(factor));
            }
        }
        cores.push(Core::new(left, size, right, values).unwrap());
        left = right;
    }
    Train::new(cores).unwrap()
}

fn fading_to(fading: f64, place: usize) -> f64 {
    (0..place).fold(1.0, |factor, _| factor * fading)
}

/// The smallest rank whose tail fits.
fn classical(spectrum: &[f64], allowed: f64) -> usize {
    let tails = (1..spectrum.len()).find(|rank| norm(&spectrum[*rank..]) <= allowed);
    tails.unwrap_or(spectrum.len())
}

fn trials<T: Scalar>(seed: u64) {
    let mut dice = Dice::new(seed);
    for trial in 0..600 {
        let mut train = some_train::<T>(&mut dice);
        // What the terms would be together if nothing cancelled.
        let mut terms = 1.0;
        if dice.below(3) == 0 {
            let factor = dice.normal();
            terms = (1.0 + factor.abs()) / (1.0 + factor).abs();
            train = train.add(&train.scale(T::of_real(factor))).unwrap();
        }
        let eps = [0.0, 1e-10, 1e-6, 1e-2, 0.3][dice.below(5)];
        let cap = (dice.below(4) == 0).then(|| 1 + dice.below(4));
        let cells = brute(&train);
        let size = norm(&cells);
        let rounded = train.round(eps, cap).unwrap();
        let what = format!(
            "{trial}: {:?}, ranks {:?}, {eps:e}, {cap:?}",
            train.shape(),
            train.ranks()
        );
        assert_eq!(rounded.train.shape(), train.shape(), "{what}");
        let error = difference(&brute(&rounded.train), &cells);
        let slack = 1e-13 * size * terms;
        assert!(error <= rounded.error + slack, "{what}: {error:e}");
        let ranks = rounded.train.ranks();
        if let Some(cap) = cap {
            assert!(ranks.iter().all(|rank| *rank <= cap), "{what}: {ranks:?}");
            continue;
        }
        assert!(rounded.error <= eps * size + slack, "{what}: {error:e}");
        let n_bonds = train.ndim() - 1;
        let allowed = (eps * size / real(n_bonds.max(1)).sqrt()).max(1e-15 * size);
        let spectra = train.spectra().unwrap();
        for (bond, spectrum) in spectra.iter().enumerate() {
            // Rounding may keep what the spectrum has just below its share.
            let most = classical(spectrum, allowed * (1.0 - 1e-6));
            let found = ranks[bond + 1];
            assert!(found <= most, "{what}: {found} of {spectrum:?}");
        }
    }
}

#[test]
fn any_train_is_rounded_within_its_bound_to_ranks_as_small_as_by_the_classical_way() {
    trials::<f64>(1);
    trials::<Complex64>(2);
}
