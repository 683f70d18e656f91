//! Labelled blocks at positions: every label gets one, in the order of first appearance.

use std::collections::HashMap;

use super::Tensor;
use super::dim::{Dim, product};
use super::storage::{Address, Order, Storage};
use crate::bytes::{Bytes, Compute, Endian, Extent, Source, narrow, swap, wide};
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::number::Numbers;

/// A labelled tensor made dense, and what that leaves behind.
#[derive(Debug, Clone)]
pub struct Placed {
    /// The same values, with positions for labels and a fill value for absent blocks.
    pub tensor: Tensor,
    /// How many places along each mapped dimension its labels take.
    pub sizes: Vec<u64>,
    /// How many blocks are absent.
    pub absent: u128,
    /// The labels along each mapped dimension, in the order of their positions.
    pub labels: Vec<Vec<String>>,
    /// The numbers of the blocks that are there, ascending, in row-major order.
    pub blocks: Vec<u64>,
}

impl Tensor {
    /// Gives every label of a mapped dimension a position, in the order of first appearance.
    ///
    /// # Errors
    /// [`Error::Limit`] if all blocks together would take more than `limits` allow.
    pub(crate) fn placed(&self, limits: &Limits) -> Result<Placed> {
        self.placed_among(&[], &[], limits)
    }

    /// Gives every label of a mapped dimension a position: in the order of first appearance, or
    /// where `given` lists the labels of a dimension, by its place, in that order. Absent blocks
    /// get the element `fill`, little-endian, everywhere; zeros if it is empty.
    ///
    /// # Errors
    /// [`Error::Invalid`] if a given list lacks a label or has one twice, [`Error::Limit`] if all
    /// blocks together would take more than `limits` allow.
    pub fn placed_among(
        &self,
        given: &[(usize, Vec<String>)],
        fill: &[u8],
        limits: &Limits,
    ) -> Result<Placed> {
        let Storage::Sparse {
            order,
            address: Address::Labels,
            values,
        } = self.storage()
        else {
            return Err(Error::invalid("the tensor has no labels"));
        };
        let Extent::Records(records) = values.bytes.extent() else {
            return Err(Error::invalid("labelled values without labels"));
        };
        let mut places: Vec<HashMap<String, u64>> = vec![HashMap::new(); self.n_mapped()];
        let mut is_closed = vec![false; self.n_mapped()];
        for (axis, labels) in given {
            let mapped = self.mapped_place(*axis)?;
            let (places, is_closed) = (places.get_mut(mapped), is_closed.get_mut(mapped));
            if let (Some(places), Some(is_closed)) = (places, is_closed) {
                *is_closed = true;
                super::labelling::check_unique(labels)?;
                *places = (labels.iter().cloned()).zip(0..).collect();
            }
        }
        let mut found: Vec<(Vec<u64>, u64)> = Vec::new();
        records.for_each(values.bytes.source(), &mut |_, labels, scan| {
            let index = labels.iter().zip(&mut places).zip(&is_closed);
            let index = index.map(|((label, places), is_closed)| {
                let next = wide(places.len());
                if *is_closed && !places.contains_key(label) {
                    let why = format!("the label {label:?} is not among those given");
                    return Err(Error::invalid(why));
                }
                Ok(*places.entry(label.clone()).or_insert(next))
            });
            found.push((index.collect::<Result<_>>()?, scan.at()));
            Ok(())
        })?;
        let sizes: Vec<u64> = places.iter().map(|places| wide(places.len())).collect();
        let blocks = product(&sizes).unwrap_or(u128::MAX);
        let len = blocks.saturating_mul(records.width().into());
        limits.check_decoded("labelled blocks would be expanded to all positions", len)?;
        let len = u64::try_from(len).map_err(|_| Error::invalid("too many blocks"))?;
        let absent = blocks.saturating_sub(records.count().into());

        let mut table: Vec<(u64, u64)> = found
            .into_iter()
            .map(|(index, at)| (super::slice::ravel_in(&index, &sizes, Order::Row), at))
            .collect();
        table.sort_unstable();
        let blocks = table.iter().map(|(block, _)| *block).collect();
        let labels = places.into_iter().map(in_order).collect();
        let mut fill = fill.to_vec();
        if values.must_swap(Endian::Little) {
            swap(&mut fill, values.number.width());
        }
        let grid = Grid {
            fill,
            source: values.bytes.source().clone(),
            table,
            width: records.width(),
            len,
        };
        let bytes = Bytes::whole(Source::computed(grid));
        let values = Numbers {
            bytes,
            ..values.clone()
        };
        let mut positions = sizes.iter();
        let dims = self.dims().iter().map(|dim| match dim.indexed_size() {
            Some(_) => dim.clone(),
            None => {
                let size = positions.next().copied().unwrap_or(0);
                Dim {
                    size: super::Size::Indexed(size),
                    ..dim.clone()
                }
            }
        });
        let storage = Storage::Dense {
            order: *order,
            values,
        };
        let tensor =
            Tensor::new(dims.collect(), self.dtype(), vec![], storage)?.described_like(self);
        Ok(Placed {
            tensor,
            sizes,
            absent,
            labels,
            blocks,
        })
    }

    /// Which of the mapped dimensions a dimension is.
    fn mapped_place(&self, axis: usize) -> Result<usize> {
        let dims = self.dims();
        let is_mapped = |dim: &&Dim| dim.size == super::Size::Mapped;
        match dims.get(axis).filter(is_mapped) {
            Some(_) => Ok(dims.iter().take(axis).filter(is_mapped).count()),
            None => Err(Error::invalid("only a mapped dimension has labels")),
        }
    }
}

/// Labels in the order of their positions.
fn in_order(places: HashMap<String, u64>) -> Vec<String> {
    let mut labels: Vec<(String, u64)> = places.into_iter().collect();
    labels.sort_unstable_by_key(|(_, place)| *place);
    labels.into_iter().map(|(label, _)| label).collect()
}

/// All blocks in order; those that are absent are filled.
struct Grid {
    /// The element in absent blocks, as bytes are stored; zeros if it is empty.
    fill: Vec<u8>,
    source: Source,
    /// The number of each block that is there, and where its cells begin; sorted.
    table: Vec<(u64, u64)>,
    width: u64,
    len: u64,
}

impl Compute for Grid {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<()> {
        let width = self.width.max(1);
        let mut at = at;
        let mut rest = buffer;
        while !rest.is_empty() {
            let within = at % width;
            let part = narrow(width.saturating_sub(within).min(wide(rest.len())))?;
            let (now, later) = rest.split_at_mut(part);
            match self
                .table
                .binary_search_by_key(&(at / width), |(block, _)| *block)
            {
                Ok(place) => {
                    let cells = self.table.get(place).map_or(0, |(_, cells)| *cells);
                    self.source.read_at(cells.saturating_add(within), now)?;
                }
                Err(_) if self.fill.is_empty() => now.fill(0),
                Err(_) => {
                    // A block is a whole number of elements.
                    let skip = narrow(within)? % self.fill.len();
                    let bytes = self.fill.iter().cycle().skip(skip);
                    now.iter_mut().zip(bytes).for_each(|(to, byte)| *to = *byte);
                }
            }
            rest = later;
            at = at.saturating_add(wide(part));
        }
        Ok(())
    }

    fn depth(&self) -> u32 {
        self.source.depth()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::RecordsBuilder;
    use crate::number::{DType, Number};

    #[test]
    fn labels_get_positions_in_the_order_of_first_appearance() {
        let mut records = RecordsBuilder::new(2, 2);
        for (labels, cells) in [
            (["b", "x"], [1, 2]),
            (["a", "x"], [3, 4]),
            (["b", "y"], [5, 6]),
        ] {
            records.push(&labels, &cells).unwrap();
        }
        let values = Numbers {
            number: Number::I8,
            endian: Endian::Little,
            bytes: records.finish().unwrap(),
        };
        let storage = Storage::Sparse {
            order: Order::Row,
            address: Address::Labels,
            values,
        };
        let dims = vec![
            Dim::mapped("k"),
            Dim::mapped("l"),
            Dim::indexed(2).named("n"),
        ];
        let tensor = Tensor::new(dims, DType::real(Number::I8), vec![], storage).unwrap();
        let placed = tensor.placed(&Limits::default()).unwrap();
        assert_eq!((placed.sizes, placed.absent), (vec![2, 2], 1));
        assert_eq!(placed.tensor.sizes().unwrap(), [2, 2, 2]);
        assert_eq!(
            placed.tensor.to_vec::<i8>().unwrap(),
            [1, 2, 5, 6, 3, 4, 0, 0]
        );
    }
}
