//! Keys that can coexist in one model.

use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Included, Unbounded};

/// The keys of a model read so far, each with the index of its parameter.
#[derive(Debug, Default)]
pub(super) struct Keys(BTreeMap<Vec<String>, usize>);

/// The reason why a key cannot join the others.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fault<'a> {
    /// It has no segment.
    Empty,
    /// It is a duplicate.
    Twice,
    /// It is below this parameter, or this one below it.
    Bars(&'a [String]),
}

impl Keys {
    /// The conflict of `path` with existing keys, if there is one.
    ///
    /// In sorted order, the keys that extend a key follow it directly. So only the neighbors of a
    /// new key can conflict with it, unless others already do: of those, not every conflict is
    /// found.
    pub(super) fn fault(&self, path: &[String]) -> Option<Fault<'_>> {
        if path.is_empty() {
            return Some(Fault::Empty);
        }
        let known = &self.0;
        let mut before = known.range::<[String], _>((Unbounded, Included(path)));
        let mut after = known.range::<[String], _>((Excluded(path), Unbounded));
        if let Some((before, _)) = before.next_back()
            && !before.is_empty()
            && path.starts_with(before)
        {
            let is_same = before.len() == path.len();
            return Some(if is_same {
                Fault::Twice
            } else {
                Fault::Bars(before)
            });
        }
        match after.next() {
            Some((after, _)) if after.starts_with(path) => Some(Fault::Bars(after)),
            _ => None,
        }
    }

    /// The index of the parameter `path`: its previous one, or else `next`.
    pub(super) fn place(&mut self, path: &[String], next: usize) -> usize {
        *self.0.entry(path.to_vec()).or_insert(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Vec<String> {
        text.split('/').map(Into::into).collect()
    }

    fn keys(names: &[&str]) -> Keys {
        let mut keys = Keys::default();
        for (place, name) in names.iter().enumerate() {
            keys.place(&path(name), place);
        }
        keys
    }

    #[test]
    fn a_key_bars_those_that_continue_it_and_those_it_continues() {
        let keys = keys(&["enc/l0/w", "enc/l1", "out"]);
        for (name, other) in [
            ("enc", "enc/l0/w"),
            ("enc/l0", "enc/l0/w"),
            ("enc/l1/w", "enc/l1"),
            ("out/b", "out"),
            ("out/b/c", "out"),
        ] {
            assert_eq!(
                keys.fault(&path(name)),
                Some(Fault::Bars(&path(other))),
                "{name}"
            );
        }
    }

    #[test]
    fn a_segment_that_begins_like_another_bars_nothing() {
        let keys = keys(&["ab", "b/c"]);
        for name in ["a", "abc", "a/b", "b/cd", "b/", "", "ab\0/c"] {
            assert_eq!(keys.fault(&path(name)), None, "{name:?}");
        }
    }

    #[test]
    fn a_key_that_comes_again_keeps_its_place() {
        let mut keys = keys(&["a", "b"]);
        assert_eq!(keys.fault(&path("b")), Some(Fault::Twice));
        assert_eq!(keys.place(&path("b"), 2), 1);
        assert_eq!(keys.fault(&[]), Some(Fault::Empty));
    }
}
