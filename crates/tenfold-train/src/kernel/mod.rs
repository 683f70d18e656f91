//! The loops that every cell goes through, for whatever vector registers there are.

mod energy;
mod tile;

pub(crate) use energy::{energy, run_energy};
pub(crate) use tile::{Energies, LEADING, Lead, Tile, pack, project};
