//! Normalized shapes for the engine: no modes of size 1, the last mode fastest; and the way back.

use super::options::Caps;
use super::report::Bond;
use crate::error::{Error, Result};
use crate::scalar::Scalar;
use crate::train::{Core, Train, count_cells};

/// A validated shape, with and without its modes of size 1.
pub(crate) struct Shape {
    /// All modes, in the order of the cells.
    all: Vec<usize>,
    /// Modes of size above 1.
    pub(crate) kept: Vec<usize>,
    pub(crate) cells: usize,
    is_reversed: bool,
}

/// Largest number of modes, as in a `.blz` file.
const MAX_NDIM: usize = 255;

impl Shape {
    /// Validates the shape of a source.
    pub(crate) fn new(all: &[usize], is_reversed: bool) -> Result<Shape> {
        if all.len() < 2 {
            return Err(Error::invalid(format!(
                "a train needs 2 dimensions, the tensor has {}: give it more with --reshape",
                all.len()
            )));
        }
        if all.len() > MAX_NDIM {
            let why = format!(
                "a train has at most {MAX_NDIM} dimensions, not {}",
                all.len()
            );
            return Err(Error::invalid(why));
        }
        if all.contains(&0) {
            return Err(Error::invalid("a tensor without cells has no train"));
        }
        Ok(Shape {
            all: all.to_vec(),
            kept: all.iter().copied().filter(|size| *size > 1).collect(),
            cells: count_cells(all)?,
            is_reversed,
        })
    }

    /// Caps for the bonds between the kept modes, in the order of the cells.
    pub(crate) fn caps(&self, caps: &Caps) -> Result<Caps> {
        let ranks = match caps {
            Caps::None => return Ok(Caps::None),
            Caps::All(0) => return Err(Error::invalid("a rank is at least 1")),
            Caps::All(rank) => return Ok(Caps::All(*rank)),
            Caps::Each(ranks) => ranks,
        };
        if ranks.len() + 1 != self.all.len() || ranks.contains(&0) {
            return Err(Error::invalid(format!(
                "{} ranks for the {} bonds of the tensor, each at least 1",
                ranks.len(),
                self.all.len() - 1
            )));
        }
        let mut ranks = ranks.clone();
        if self.is_reversed {
            ranks.reverse();
        }
        // A bond between kept modes passes through the modes of size 1 between them.
        let mut found: Vec<usize> = Vec::new();
        let mut open = None;
        for (place, size) in self.all.iter().enumerate() {
            if *size > 1 {
                found.extend(open);
                open = Some(usize::MAX);
            }
            let after = ranks.get(place).copied().unwrap_or(usize::MAX);
            open = open.map(|cap: usize| cap.min(after));
        }
        Ok(Caps::Each(found))
    }

    /// The train of the original tensor, from the cores of the kept modes.
    pub(crate) fn restore<T: Scalar>(&self, cores: Vec<Core<T>>) -> Result<Train<T>> {
        let mut cores = cores.into_iter();
        let mut all = Vec::with_capacity(self.all.len());
        let mut bond = 1;
        for size in &self.all {
            // A single cell is held by the first mode, whatever its size.
            let is_own = *size > 1 || self.kept.is_empty();
            let core = if is_own { cores.next() } else { None };
            let core = core.unwrap_or_else(|| Core {
                size: 1,
                ..Core::identity(bond, 1, bond)
            });
            bond = core.right;
            all.push(core);
        }
        let train = Train::new(all)?;
        Ok(if self.is_reversed {
            train.reversed()
        } else {
            train
        })
    }

    /// The bonds of the original tensor, from those between the kept modes.
    pub(crate) fn restore_bonds(&self, kept: &[Bond], ranks: &[usize]) -> Vec<Bond> {
        let mut kept = kept.iter();
        let mut bonds = Vec::new();
        let mut has_begun = false;
        for size in &self.all {
            let entry = if *size > 1 && has_begun {
                kept.next()
            } else {
                None
            };
            has_begun |= *size > 1;
            bonds.push(entry.copied());
        }
        // The entry of a bond precedes the mode after it; ranks are exact in any case.
        let mut bonds: Vec<Option<Bond>> = bonds.into_iter().skip(1).collect();
        if self.is_reversed {
            bonds.reverse();
        }
        let inner = ranks.iter().skip(1);
        let bonds = bonds.into_iter().zip(inner).map(|(bond, rank)| Bond {
            rank: *rank,
            needed: bond.map_or(*rank, |bond| bond.needed),
            left_out: bond.map_or(0.0, |bond| bond.left_out),
        });
        bonds.collect()
    }

    /// The index of a cell, in the tensor's own order of modes.
    pub(crate) fn index_of(&self, cell: usize) -> Vec<usize> {
        let mut rest = cell;
        let mut index: Vec<usize> = self
            .all
            .iter()
            .rev()
            .map(|size| {
                let place = rest % size;
                rest /= size;
                place
            })
            .collect();
        if !self.is_reversed {
            index.reverse();
        }
        index
    }
}
