//! Pairing of the tensors of two files.

use std::collections::{HashMap, VecDeque};

use crate::bundle::Bundle;
use crate::error::Result;
use crate::key::Key;
use crate::memory;

/// The pairing of the tensors of two bundles, by their indices.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pairing {
    /// Indices in A and in B, in the order of A.
    pub pairs: Vec<(usize, usize)>,
    /// Indices in A of tensors without a partner.
    pub only_a: Vec<usize>,
    /// Indices in B of tensors without a partner.
    pub only_b: Vec<usize>,
}

/// Pairs the tensors of two bundles: first those whose names `map` pairs (an A name and its B
/// name), then those with equal keys, then those whose names have the same text. A file with a
/// single unnamed tensor pairs with the only tensor of the other.
///
/// Of several tensors with one name, the first of A goes with the first of B.
///
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub fn pair(a: &Bundle, b: &Bundle, map: &[(String, String)]) -> Result<Pairing> {
    let lone = |bundle: &Bundle| bundle.entries().len() == 1;
    let is_root = |bundle: &Bundle| {
        let entries = bundle.entries().iter();
        entries.take(1).any(|(key, _)| key.is_empty())
    };
    if lone(a) && lone(b) && (is_root(a) || is_root(b)) {
        return Ok(Pairing {
            pairs: vec![(0, 0)],
            ..Pairing::default()
        });
    }
    let mapped: HashMap<&str, &str> = map.iter().map(|(a, b)| (&**a, &**b)).collect();
    let mut partners = memory::filled(None, a.entries().len())?;
    let mut is_taken = memory::filled(false, b.entries().len())?;
    match_by(a, b, &mut partners, &mut is_taken, |key, is_a| {
        let name = name(key);
        if is_a {
            mapped.get(&*name).map(|other| (*other).to_owned())
        } else {
            Some(name)
        }
    })?;
    // A tensor that `map` pairs is not paired by name.
    let is_mapped = |key: &Key| mapped.contains_key(&*name(key));
    match_by(a, b, &mut partners, &mut is_taken, |key, is_a| {
        (!is_a || !is_mapped(key)).then(|| key.clone())
    })?;
    match_by(a, b, &mut partners, &mut is_taken, |key, is_a| {
        (!is_a || !is_mapped(key)).then(|| name(key))
    })?;
    let mut pairing = Pairing::default();
    for (place, partner) in partners.into_iter().enumerate() {
        match partner {
            Some(other) => memory::push(&mut pairing.pairs, (place, other))?,
            None => memory::push(&mut pairing.only_a, place)?,
        }
    }
    let left = is_taken.iter().zip(0..).filter(|(is_taken, _)| !**is_taken);
    pairing.only_b = memory::collected(left.map(|(_, place)| place))?;
    Ok(pairing)
}

/// Pairs tensors without a partner for which `word` is the same; the flag says whether a key is
/// A's.
fn match_by<W: std::hash::Hash + Eq>(
    a: &Bundle,
    b: &Bundle,
    partners: &mut [Option<usize>],
    is_taken: &mut [bool],
    word: impl Fn(&Key, bool) -> Option<W>,
) -> Result<()> {
    let mut waiting: HashMap<W, VecDeque<usize>> = HashMap::new();
    for (((key, _), place), is_taken) in b.entries().iter().zip(0..).zip(&*is_taken) {
        if let Some(word) = word(key, false).filter(|_| !is_taken) {
            memory::reserve_map(&mut waiting, 1)?;
            waiting.entry(word).or_default().push_back(place);
        }
    }
    for ((key, _), partner) in a.entries().iter().zip(partners) {
        if partner.is_some() {
            continue;
        }
        let found = word(key, true).and_then(|word| waiting.get_mut(&word)?.pop_front());
        if let Some(taken) = found.and_then(|place| is_taken.get_mut(place)) {
            *taken = true;
            *partner = found;
        }
    }
    Ok(())
}

/// A flat name as it is, a path as [`Key`] displays it.
fn name(key: &Key) -> String {
    match key.flat_name() {
        Some(name) => name.into(),
        None => key.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::{DType, Number, Numbers};
    use crate::tensor::{Dim, Order, Storage, Tensor};

    fn bundle(keys: &[Key]) -> Bundle {
        let mut bundle = Bundle::new();
        for key in keys {
            let values = Numbers::from_vec(&[0_u8]);
            let storage = Storage::Dense {
                order: Order::Row,
                values,
            };
            let dtype = DType::real(Number::U8);
            let tensor = Tensor::new(vec![Dim::indexed(1)], dtype, vec![], storage);
            bundle.push(key.clone(), tensor.unwrap());
        }
        bundle
    }

    fn flat(names: &[&str]) -> Bundle {
        bundle(
            &names
                .iter()
                .map(|name| Key::flat(*name))
                .collect::<Vec<_>>(),
        )
    }

    #[test]
    fn equal_names_are_paired_in_any_order_and_repeated_ones_in_turn() {
        let found = pair(
            &flat(&["a", "b", "c", "b"]),
            &flat(&["b", "d", "b", "a"]),
            &[],
        )
        .unwrap();
        assert_eq!(found.pairs, [(0, 3), (1, 0), (3, 2)]);
        assert_eq!((found.only_a, found.only_b), (vec![2], vec![1]));
    }

    #[test]
    fn a_path_is_paired_with_the_flat_name_that_reads_alike() {
        let tree = bundle(&[Key::tree(vec!["enc".into(), "w".into()])]);
        assert_eq!(
            pair(&tree, &flat(&["enc/w", "x"]), &[]).unwrap().pairs,
            [(0, 0)]
        );
    }

    #[test]
    fn a_lone_tensor_is_paired_with_a_file_that_is_its_tensor() {
        let root = bundle(&[Key::root()]);
        assert_eq!(pair(&root, &flat(&["x"]), &[]).unwrap().pairs, [(0, 0)]);
        assert_eq!(pair(&flat(&["x"]), &root, &[]).unwrap().pairs, [(0, 0)]);
        assert_eq!(pair(&flat(&["x"]), &flat(&["y"]), &[]).unwrap().pairs, []);
        assert_eq!(pair(&root, &flat(&["x", "y"]), &[]).unwrap().pairs, []);
    }

    #[test]
    fn what_is_mapped_goes_nowhere_else() {
        let map = [("a".into(), "b".into()), ("b".into(), "gone".into())];
        let found = pair(&flat(&["a", "b"]), &flat(&["a", "b"]), &map).unwrap();
        assert_eq!(found.pairs, [(0, 1)]);
        assert_eq!((found.only_a, found.only_b), (vec![1], vec![0]));
    }
}
