//! What tensors mean, so that two can be compared.

use std::collections::BTreeMap;

use tenfold::{Bundle, Cell, DType, Endian, Key, Limits, Numbers, Storage, Symmetry, Tensor};

/// What a tensor means, blind to byte order, cell order and whereabouts.
#[derive(Debug, PartialEq)]
pub(crate) struct Meaning {
    dims: Vec<(Option<String>, Option<u64>)>,
    dtype: DType,
    symmetries: Vec<Symmetry>,
    pub(crate) content: Content,
    meta: tenfold::Meta,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Content {
    Dense(Vec<u8>),
    Sparse(BTreeMap<Vec<u64>, Vec<u8>>),
    Labelled(BTreeMap<Vec<String>, Vec<u8>>),
    Train(Vec<u64>, Vec<Vec<u8>>),
    Opaque(String, Vec<Vec<u8>>),
}

pub(crate) fn meaning(tensor: &Tensor) -> Meaning {
    let limits = Limits::default();
    let content = match tensor.storage() {
        Storage::Dense { .. } => {
            let mut all = Vec::new();
            tensor
                .for_each(7, &limits, &mut |piece| {
                    all.extend_from_slice(piece);
                    Ok(())
                })
                .unwrap();
            Content::Dense(all)
        }
        Storage::Sparse { .. } => {
            let (mut cells, mut blocks) = (BTreeMap::new(), BTreeMap::new());
            tensor
                .for_each_cell(&limits, &mut |cell| {
                    match cell {
                        // An explicit zero means what an absent cell does.
                        Cell::At { value, .. } if value.iter().all(|byte| *byte == 0) => {}
                        Cell::At { index, value } => {
                            assert!(cells.insert(index.to_vec(), value.to_vec()).is_none());
                        }
                        Cell::Labelled { labels, values } => {
                            let values = little_endian(&values);
                            assert!(blocks.insert(labels.to_vec(), values).is_none());
                        }
                    }
                    Ok(())
                })
                .unwrap();
            if tensor.n_mapped() > 0 {
                Content::Labelled(blocks)
            } else {
                Content::Sparse(cells)
            }
        }
        Storage::Train { ranks, cores } => {
            Content::Train(ranks.clone(), cores.iter().map(little_endian).collect())
        }
        Storage::Opaque { layout, parts } => {
            let parts = parts.iter().map(|(_, part)| little_endian(part)).collect();
            Content::Opaque(layout.clone(), parts)
        }
    };
    Meaning {
        dims: tensor
            .dims()
            .iter()
            .map(|dim| (dim.name.clone(), dim.indexed_size()))
            .collect(),
        dtype: tensor.dtype(),
        symmetries: tensor.symmetries().to_vec(),
        content,
        meta: tensor.meta.clone(),
    }
}

pub(crate) fn little_endian(numbers: &Numbers) -> Vec<u8> {
    let mut bytes = numbers.bytes.to_vec().unwrap();
    if numbers.endian == Endian::Big {
        bytes
            .chunks_mut(numbers.number.width())
            .for_each(<[u8]>::reverse);
    }
    bytes
}

/// The tensors of a bundle by name: the order of a file is not part of its meaning.
pub(crate) fn meanings(bundle: &Bundle) -> BTreeMap<Key, Meaning> {
    bundle
        .entries()
        .iter()
        .map(|(key, tensor)| (key.clone(), meaning(tensor)))
        .collect()
}
