//! The kinds of integrals, their names and their symmetries.
#![deny(clippy::arithmetic_side_effects)]

use crate::error::{Error, Result};
use crate::number::{Arity, DType, Number};
use crate::tensor::Symmetry;

/// What a line gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Two,
    One,
    Energies,
    Core,
}

impl Role {
    /// All of them, in the order of a file.
    pub(super) const ALL: [Role; 4] = [Role::Two, Role::One, Role::Energies, Role::Core];

    /// What the tensor is called.
    pub(super) fn name(self) -> &'static str {
        match self {
            Role::Two => "two",
            Role::One => "one",
            Role::Energies => "energies",
            Role::Core => "core",
        }
    }

    /// How many dimensions it has.
    pub(super) fn ndim(self) -> usize {
        match self {
            Role::Two => 4,
            Role::One => 2,
            Role::Energies => 1,
            Role::Core => 0,
        }
    }

    /// The one that has as many dimensions.
    pub(super) fn of_ndim(ndim: usize) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.ndim() == ndim)
    }
}

/// Which integrals stand for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fold {
    Eight,
    Four,
    None,
}

impl Fold {
    /// What integrals of this type have unless something else is said.
    pub(super) fn usual(dtype: DType) -> Fold {
        match dtype.arity {
            Arity::Complex => Fold::Four,
            _ => Fold::Eight,
        }
    }

    /// The generators of the symmetries of a tensor.
    pub(super) fn symmetries(self, role: Role, dtype: DType) -> Result<Vec<Symmetry>> {
        let packed = |permutation: &[usize], operation: &str| Symmetry {
            permutation: permutation.to_vec(),
            operation: operation.into(),
            packed: true,
        };
        let is_complex = dtype.arity == Arity::Complex;
        let exchanged = packed(&[2, 3, 0, 1], "x");
        let (left, right) = (packed(&[1, 0, 2, 3], "x"), packed(&[0, 1, 3, 2], "x"));
        Ok(match (role, self) {
            (Role::Energies | Role::Core, _) | (_, Fold::None) => vec![],
            (_, Fold::Eight) if is_complex => {
                let why = "complex integrals have four-fold symmetry: --opt symmetry=4";
                return Err(Error::invalid(why));
            }
            (Role::One, _) if is_complex => vec![packed(&[1, 0], "x*")],
            (Role::One, _) => vec![packed(&[1, 0], "x")],
            (Role::Two, Fold::Eight) => vec![left, right, exchanged],
            (Role::Two, Fold::Four) if is_complex => {
                vec![exchanged, packed(&[1, 0, 3, 2], "x*")]
            }
            (Role::Two, Fold::Four) => vec![left, right],
        })
    }
}

/// Which symmetries the list of integrals of one tensor has: whether (kl|ij) is there wherever (ij|kl) is.
///
/// A sum over all cells tells, without sorting them: each counts the hash of the smaller of itself and its
/// image, with a sign that says which of the two it is.
#[derive(Debug)]
pub(super) struct Closure {
    norb: u64,
    /// For every generator how many cells it moves, and their sum.
    sums: Vec<(Symmetry, u64, u64)>,
}

impl Closure {
    pub(super) fn new(norb: u64, generators: Vec<Symmetry>) -> Closure {
        let sums = generators.into_iter().map(|generator| (generator, 0, 0));
        Closure {
            norb,
            sums: sums.collect(),
        }
    }

    /// Takes a cell into account.
    pub(super) fn add(&mut self, place: u64) {
        if self.sums.is_empty() {
            return;
        }
        let mut index = [0; 4];
        let mut rest = place;
        for digit in &mut index {
            *digit = rest.checked_rem(self.norb).unwrap_or(0);
            rest = rest.checked_div(self.norb).unwrap_or(0);
        }
        for (generator, count, sum) in &mut self.sums {
            let moved = generator.permutation.iter().rev();
            let image = moved.fold(0_u64, |sum, from| {
                let digit = index.get(*from).copied().unwrap_or(0);
                sum.saturating_mul(self.norb).saturating_add(digit)
            });
            if image != place {
                *count = count.saturating_add(1);
                let hash = spread(place.min(image));
                *sum = match place < image {
                    true => sum.wrapping_add(hash),
                    false => sum.wrapping_sub(hash),
                };
            }
        }
    }

    /// The symmetries, where those that the list has itself are declared alone; gives whether there
    /// are any such.
    pub(super) fn finish(self) -> (Vec<Symmetry>, bool) {
        let exchanges = |generator: &Symmetry| generator.permutation == [2, 3, 0, 1];
        let is_closed = |count: u64, sum: u64| count > 0 && sum == 0;
        let mut sums = self.sums.iter();
        // While packing exchanges the pairs, (ji|kl) and (ij|lk) are one symmetry: neither goes alone.
        let is_tied = sums.any(|(generator, count, sum)| {
            exchanges(generator) && generator.operation == "x" && !is_closed(*count, *sum)
        }) && self.sums.len() == 3;
        let mut has_any = false;
        let all = self.sums.into_iter().map(|(generator, count, sum)| {
            let packed = is_tied || !is_closed(count, sum);
            has_any |= !packed;
            Symmetry {
                packed,
                ..generator
            }
        });
        let all = all.collect();
        (all, has_any)
    }
}

/// Spreads a number over all bits, as SplitMix does.
fn spread(number: u64) -> u64 {
    let mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// The type of all elements of a file.
pub(super) fn dtype(is_complex: bool) -> DType {
    match is_complex {
        true => DType::complex(Number::F64),
        false => DType::real(Number::F64),
    }
}

/// Whether a cell is the one of its orbit that is written: of equal ones the largest.
pub(super) fn is_written(index: &[u64], is_complex: bool) -> bool {
    match index {
        [i, j] => i >= j,
        [i, j, k, l] if is_complex => {
            let equal = [[k, l, i, j], [j, i, l, k], [l, k, j, i]];
            equal.iter().all(|other| [i, j, k, l] >= *other)
        }
        [i, j, k, l] => i >= j && k >= l && [i, j] >= [k, l],
        _ => true,
    }
}

/// Cells of all tensors of a file, each with one number: those of `two` first.
#[derive(Debug, Clone, Copy)]
pub(super) struct Places {
    /// How many orbitals there are: so few that all cells together have numbers.
    pub(super) norb: u64,
}

impl Places {
    /// How many cells a tensor has.
    fn cells(self, role: Role) -> u64 {
        let ndim = u32::try_from(role.ndim()).unwrap_or(0);
        self.norb.saturating_pow(ndim)
    }

    /// The number of a cell; `index` counts from 0, the first running fastest.
    pub(super) fn number(self, role: Role, index: &[u64]) -> u64 {
        let before = Role::ALL.iter().take_while(|other| **other != role);
        let start = before.fold(0_u64, |sum, other| sum.saturating_add(self.cells(*other)));
        let place = index.iter().rev().fold(0_u64, |sum, place| {
            sum.saturating_mul(self.norb).saturating_add(*place)
        });
        start.saturating_add(place)
    }

    /// The tensor that a number belongs to, and the place of the cell in it.
    pub(super) fn find(self, number: u64) -> (Role, u64) {
        let mut place = number;
        for role in [Role::Two, Role::One, Role::Energies] {
            match place.checked_sub(self.cells(role)) {
                None => return (role, place),
                Some(rest) => place = rest,
            }
        }
        (Role::Core, place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_has_a_number_of_its_own_also_with_the_most_orbitals() {
        for norb in [0, 1, 2, super::super::MOST_ORBITALS] {
            let places = Places { norb };
            let last = norb.saturating_sub(1);
            for role in Role::ALL {
                if norb == 0 && role != Role::Core {
                    continue;
                }
                let index = vec![last; role.ndim()];
                let number = places.number(role, &index);
                let cells = places.cells(role);
                assert_eq!(places.find(number), (role, cells - 1), "{norb}");
            }
        }
    }

    #[test]
    fn a_list_that_has_a_symmetry_itself_is_not_packed_by_it() {
        let packed = |cells: &[[u64; 4]]| -> Vec<bool> {
            let dtype = dtype(false);
            let generators = Fold::Eight.symmetries(Role::Two, dtype).unwrap();
            let mut closure = Closure::new(3, generators);
            let places = Places { norb: 3 };
            for index in cells {
                closure.add(places.number(Role::Two, index));
            }
            let (symmetries, has_any) = closure.finish();
            let packed: Vec<bool> = symmetries.iter().map(|one| one.packed).collect();
            assert_eq!(has_any, packed.contains(&false));
            packed
        };
        let one = [2, 1, 1, 0];
        let all = [
            one,
            [1, 2, 1, 0],
            [2, 1, 0, 1],
            [1, 2, 0, 1],
            [1, 0, 2, 1],
            [1, 0, 1, 2],
            [0, 1, 2, 1],
            [0, 1, 1, 2],
        ];
        assert_eq!(packed(&[one, [0, 0, 0, 0]]), [true, true, true]);
        assert_eq!(packed(&[one, [1, 0, 2, 1]]), [true, true, false]);
        // One more that is given once: all are taken to be, and the others found to be given twice.
        let more = [one, [1, 0, 2, 1], [2, 2, 0, 0]];
        assert_eq!(packed(&more), [true, true, true]);
        assert_eq!(packed(&all), [false, false, false]);
        assert_eq!(packed(&all[..2]), [true, true, true]);
        assert_eq!(packed(&[]), [true, true, true]);
    }

    #[test]
    fn one_cell_of_every_orbit_is_written() {
        let all = || (0..81_u64).map(|n| [n / 27, n / 9 % 3, n / 3 % 3, n % 3]);
        // N(N+1)/2 pairs are 6, and 6·7/2 pairs of these are 21.
        assert_eq!(all().filter(|index| is_written(index, false)).count(), 21);
        // Burnside: the identity leaves 81 as they are, klij 9, jilk 9, lkji 9.
        let complex = all().filter(|index| is_written(index, true)).count();
        assert_eq!(complex, (81 + 9 + 9 + 9) / 4);
    }
}
