//! The kinds of integrals, their names and their symmetries.
#![deny(clippy::arithmetic_side_effects)]

use crate::dtype::{Arity, DType, Number};
use crate::error::{Error, Result};
use crate::tensor::Symmetry;

/// The kind of integral of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Two,
    One,
    Energies,
    Core,
}

impl Role {
    /// All kinds, in file order.
    pub(super) const ALL: [Role; 4] = [Role::Two, Role::One, Role::Energies, Role::Core];

    /// The name of the tensor.
    pub(super) fn name(self) -> &'static str {
        match self {
            Role::Two => "two",
            Role::One => "one",
            Role::Energies => "energies",
            Role::Core => "core",
        }
    }

    /// Its number of dimensions.
    pub(super) fn ndim(self) -> usize {
        match self {
            Role::Two => 4,
            Role::One => 2,
            Role::Energies => 1,
            Role::Core => 0,
        }
    }

    /// The kind with this number of dimensions.
    pub(super) fn of_ndim(ndim: usize) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.ndim() == ndim)
    }
}

/// The symmetries by which integrals stand for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fold {
    Eight,
    Four,
    None,
}

impl Fold {
    /// The default symmetries for an element type.
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

/// The element type of a file.
pub(super) fn dtype(is_complex: bool) -> DType {
    if is_complex {
        DType::complex(Number::F64)
    } else {
        DType::real(Number::F64)
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

/// A numbering of the cells of all tensors in a file: those of `two` first.
#[derive(Debug, Clone, Copy)]
pub(super) struct Places {
    /// The number of orbitals: small enough to number all cells.
    pub(super) norb: u64,
}

impl Places {
    /// The number of cells of a tensor.
    fn cells(self, role: Role) -> u64 {
        let ndim = u32::try_from(role.ndim()).unwrap_or(0);
        self.norb.saturating_pow(ndim)
    }

    /// The number of a cell; `index` counts from 0, the first varies fastest.
    pub(super) fn number(self, role: Role, index: &[u64]) -> u64 {
        let before = Role::ALL.iter().take_while(|other| **other != role);
        let start = before.fold(0_u64, |sum, other| sum.saturating_add(self.cells(*other)));
        let place = index.iter().rev().fold(0_u64, |sum, place| {
            sum.saturating_mul(self.norb).saturating_add(*place)
        });
        start.saturating_add(place)
    }

    /// The tensor of a number, and the position of the cell in it.
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
    fn one_cell_of_every_orbit_is_written() {
        let all = || (0..81_u64).map(|n| [n / 27, n / 9 % 3, n / 3 % 3, n % 3]);
        // N(N+1)/2 pairs are 6, and 6·7/2 pairs of these are 21.
        assert_eq!(all().filter(|index| is_written(index, false)).count(), 21);
        // Burnside: the identity fixes 81 cells, klij 9, jilk 9, lkji 9.
        let complex = all().filter(|index| is_written(index, true)).count();
        assert_eq!(complex, (81 + 9 + 9 + 9) / 4);
    }
}
