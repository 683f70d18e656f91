//! Tiles that a permutation maps to tiles.

use crate::tensor::dim::product;
use crate::tensor::index::slice::{Slice, unravel_in};
use crate::tensor::storage::Order;

/// The tiles of a tensor and a permutation that maps tiles to tiles.
pub(crate) struct Tiles {
    sizes: Vec<u64>,
    sides: Vec<u64>,
    permutation: Vec<usize>,
}

impl Tiles {
    /// Tiles of at most `most` cells: as long as possible along the fastest dimension and along
    /// those that the permutation puts in its place, so that both a tile and its image are read in
    /// long runs.
    pub(crate) fn new(
        sizes: &[u64],
        permutation: &[usize],
        slowest_first: &[usize],
        most: u64,
    ) -> Tiles {
        let mut tiles = Tiles {
            sizes: sizes.to_vec(),
            sides: sizes.iter().map(|size| (*size).max(1)).collect(),
            permutation: permutation.to_vec(),
        };
        let favoured = slowest_first.last().map(|dim| tiles.cycle(*dim));
        let favoured = favoured.unwrap_or_default();
        let others = slowest_first.iter().filter(|dim| !favoured.contains(dim));
        for dim in others.chain(slowest_first.last()) {
            tiles.shorten(*dim, most);
        }
        tiles
    }

    /// Halves the sides that are exchanged with `dim` until a tile is small enough: they must stay
    /// equal for the image of a tile to be a tile.
    fn shorten(&mut self, dim: usize, most: u64) {
        let cycle = self.cycle(dim);
        let is_long = |sides: &[u64]| cycle.iter().any(|dim| sides.get(*dim) > Some(&1));
        while product(&self.sides).is_none_or(|cells| cells > most.into()) && is_long(&self.sides) {
            for dim in &cycle {
                if let Some(side) = self.sides.get_mut(*dim) {
                    *side = side.div_ceil(2);
                }
            }
        }
    }

    /// The cycle of a dimension under the permutation; its dimensions have one size.
    fn cycle(&self, dim: usize) -> Vec<usize> {
        let next = |dim: &usize| self.permutation.get(*dim).copied();
        let others = std::iter::successors(next(&dim), next);
        let others = others.take_while(|other| *other != dim);
        std::iter::once(dim).chain(others).collect()
    }

    /// All tiles, in row-major order.
    pub(crate) fn all(&self) -> impl Iterator<Item = Vec<Slice>> + use<> {
        boxes(&self.sizes, &self.sides)
    }

    /// The tile of the images of the cells of a tile.
    pub(crate) fn image(&self, tile: &[Slice]) -> Vec<Slice> {
        let dims = self.permutation.iter();
        dims.filter_map(|dim| tile.get(*dim).copied()).collect()
    }

    /// The order of an image tile's dimensions in which its cells line up with those of the tile,
    /// whose dimensions are in the order `dims`.
    pub(crate) fn image_dims(&self, dims: &[usize]) -> Vec<usize> {
        let place = |dim: &usize| self.permutation.iter().position(|from| from == dim);
        dims.iter().filter_map(place).collect()
    }

    /// Whether the permutation is its own inverse.
    pub(crate) fn is_mutual(&self) -> bool {
        let mut places = self.permutation.iter().enumerate();
        places.all(|(place, from)| self.permutation.get(*from) == Some(&place))
    }

    /// Whether a tile must be compared with its image: of two that are images of each other, only
    /// one.
    pub(crate) fn is_first(&self, tile: &[Slice]) -> bool {
        let starts = tile.iter().map(|slice| slice.start);
        !self.is_mutual() || starts.le(self.image(tile).iter().map(|slice| slice.start))
    }
}

/// A partition into boxes with these sides, or shorter ones at the ends; in row-major order.
pub(crate) fn boxes(sizes: &[u64], sides: &[u64]) -> impl Iterator<Item = Vec<Slice>> + use<> {
    let (sizes, sides) = (sizes.to_vec(), sides.to_vec());
    let counts: Vec<u64> = (sizes.iter().zip(&sides))
        .map(|(size, side)| size.div_ceil((*side).max(1)))
        .collect();
    let mut place = vec![0_u64; sizes.len()];
    (0_u64..).map_while(move |number| {
        if !unravel_in(number, &counts, Order::Row, &mut place) {
            return None;
        }
        let slices = place.iter().zip(&sides).zip(&sizes);
        let slices = slices.map(|((place, side), size)| {
            let start = place.saturating_mul(*side);
            Slice::range(start..start.saturating_add(*side).min(*size))
        });
        Some(slices.collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_image_of_a_tile_is_a_tile() {
        let cases: [(&[u64], &[usize]); 5] = [
            (&[7, 7], &[1, 0]),
            (&[5, 3, 5, 3], &[2, 3, 0, 1]),
            (&[5, 5, 5], &[1, 2, 0]),
            (&[4, 9, 4], &[2, 1, 0]),
            (&[3, 0, 3], &[2, 1, 0]),
        ];
        for (sizes, permutation) in cases {
            let forward: Vec<usize> = (0..sizes.len()).collect();
            let backward: Vec<usize> = forward.iter().rev().copied().collect();
            for dims in [forward, backward] {
                for most in [1, 4, 20, 1000] {
                    let tiles = Tiles::new(sizes, permutation, &dims, most);
                    let all: Vec<Vec<Slice>> = tiles.all().collect();
                    let cells =
                        |tile: &[Slice]| -> u64 { tile.iter().map(|slice| slice.count).product() };
                    assert!(all.iter().all(|tile| cells(tile) <= most));
                    let sum: u64 = all.iter().map(|tile| cells(tile)).sum();
                    assert_eq!(sum, sizes.iter().product::<u64>());
                    for tile in &all {
                        let image = tiles.image(tile);
                        assert!(all.contains(&image));
                        assert!(tiles.is_first(tile) || tiles.is_first(&image));
                    }
                }
            }
        }
    }

    #[test]
    fn the_fastest_dimension_and_what_takes_its_place_stay_long() {
        let tiles = Tiles::new(&[8; 4], &[2, 3, 0, 1], &[3, 2, 1, 0], 100);
        assert_eq!(tiles.sides, [8, 1, 8, 1]);
    }
}
