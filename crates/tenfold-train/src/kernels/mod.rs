//! Inner loops over all cells, for any width of vector registers.

mod prefetch;
mod project;
mod row_sums;
mod sum_squares;
#[cfg(test)]
mod test_isa;
mod thin_product;

pub(crate) use prefetch::LINE;
pub(crate) use project::{Energies, KeyColumns, Tile, pack, project};
pub(crate) use row_sums::{Combination, combine, pad};
pub(crate) use sum_squares::{energy, run_energy};
pub(crate) use thin_product::{FEW, NEAR, Product, multiply_out};
