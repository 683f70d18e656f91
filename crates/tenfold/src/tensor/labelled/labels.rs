//! Compact lists of labels.

use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::bytes::to_u64;
use crate::error::{Error, Result};

/// An ordered list of labels, stored as one text.
///
/// ```
/// let labels: tenfold::Labels = ["red", "blue"].into_iter().collect();
/// assert_eq!(labels.get(1), Some("blue"));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Labels {
    text: String,
    /// The end of each label.
    ends: Vec<usize>,
}

impl Labels {
    /// An empty list.
    #[must_use]
    pub fn new() -> Labels {
        Labels::default()
    }

    /// Adds a label.
    pub fn push(&mut self, label: &str) {
        self.text.push_str(label);
        self.ends.push(self.text.len());
    }

    /// The label at a position.
    #[must_use]
    pub fn get(&self, position: usize) -> Option<&str> {
        let end = *self.ends.get(position)?;
        let before = position.checked_sub(1);
        let start = before.map_or(Some(0), |before| self.ends.get(before).copied())?;
        self.text.get(start..end)
    }

    /// The number of labels.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All labels, in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).filter_map(|position| self.get(position))
    }

    /// Total length of all labels, in bytes.
    #[must_use]
    pub fn text_len(&self) -> usize {
        self.text.len()
    }

    /// Fails if a label occurs twice.
    ///
    /// # Errors
    /// [`Error::Invalid`] with the label.
    pub(crate) fn check_unique(&self) -> Result<()> {
        let mut places = Places::default();
        for label in self.iter() {
            let next = places.labels.len();
            if places.of(label) != next {
                let why = format!("the label {label:?} is there twice");
                return Err(Error::invalid(why));
            }
        }
        Ok(())
    }
}

impl<T: AsRef<str>> FromIterator<T> for Labels {
    fn from_iter<I: IntoIterator<Item = T>>(labels: I) -> Labels {
        let mut list = Labels::new();
        labels
            .into_iter()
            .for_each(|label| list.push(label.as_ref()));
        list
    }
}

/// Distinct labels with their positions.
#[derive(Default)]
pub(crate) struct Places {
    pub(crate) labels: Labels,
    /// Positions, by hash of their labels.
    positions: HashTable<usize>,
    state: RandomState,
}

impl Places {
    /// The position of a label, if it has one.
    pub(crate) fn find(&self, label: &str) -> Option<usize> {
        let is_meant = |position: &usize| self.labels.get(*position) == Some(label);
        let hash = self.state.hash_one(label);
        self.positions.find(hash, is_meant).copied()
    }

    /// The position of a label: the next one, if it is new.
    pub(crate) fn of(&mut self, label: &str) -> usize {
        let (labels, state) = (&self.labels, &self.state);
        let is_meant = |position: &usize| labels.get(*position) == Some(label);
        let rehash = |position: &usize| state.hash_one(labels.get(*position).unwrap_or_default());
        let hash = state.hash_one(label);
        match self.positions.entry(hash, is_meant, rehash) {
            Entry::Occupied(found) => *found.get(),
            Entry::Vacant(free) => {
                let next = labels.len();
                free.insert(next);
                self.labels.push(label);
                next
            }
        }
    }

    /// Approximate memory use in bytes.
    pub(crate) fn held(&self) -> u64 {
        // A slot is a position and a byte; the table doubles when it is full.
        let slots = to_u64(self.positions.capacity()).saturating_mul(10);
        let ends = to_u64(self.labels.ends.capacity()).saturating_mul(8);
        to_u64(self.labels.text.capacity())
            .saturating_add(ends)
            .saturating_add(slots)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::{Endian, RecordsBuilder};
    use crate::dtype::{DType, Number, Numbers};
    use crate::tensor::{Address, Dim, Order, Storage, Tensor};

    #[test]
    fn a_list_gives_back_what_it_was_given() {
        let given = ["", "red", "", "\u{fc}ber", "red"];
        let labels: Labels = given.into_iter().collect();
        assert_eq!(labels.iter().collect::<Vec<_>>(), given);
        assert_eq!(labels.get(5), None);
        let twice = labels.check_unique().unwrap_err();
        assert_eq!(twice.to_string(), "the label \"\" is there twice");
    }

    #[test]
    fn places_are_those_of_a_plain_search() {
        let mut places = Places::default();
        let mut plain: Vec<String> = Vec::new();
        for n in (0..3000_u64).map(|n| n * n % 1009) {
            let label = format!("label {n}");
            let expected = plain.iter().position(|known| *known == label);
            assert_eq!(places.find(&label), expected);
            assert_eq!(places.of(&label), expected.unwrap_or(plain.len()));
            if expected.is_none() {
                plain.push(label);
            }
        }
        assert_eq!(places.labels, plain.iter().collect());
    }

    #[test]
    fn blocks_have_as_many_labels_as_there_are_mapped_dimensions() {
        let mut records = RecordsBuilder::new(2, 1);
        records.push(&["a", "b"], &[7]).unwrap();
        let storage = Storage::Sparse {
            order: Order::Row,
            address: Address::Labels,
            values: Numbers {
                number: Number::I8,
                endian: Endian::Little,
                bytes: records.finish().unwrap(),
            },
        };
        let tensor = |dims| Tensor::new(dims, DType::real(Number::I8), vec![], storage.clone());
        assert!(tensor(vec![Dim::mapped("x")]).is_err());
        assert!(tensor(vec![Dim::mapped("x"), Dim::mapped("y")]).is_ok());
    }
}
