//! The loops that every cell goes through, for whatever vector registers there are.

mod combine;
mod energy;
mod fetch;
mod product;
#[cfg(test)]
mod registers;
mod tile;

pub(crate) use combine::{Combination, combine, pad};
pub(crate) use energy::{energy, run_energy};
pub(crate) use fetch::LINE;
pub(crate) use product::{FEW, NEAR, Product, multiply_out};
pub(crate) use tile::{Energies, Lead, Tile, pack, project};
