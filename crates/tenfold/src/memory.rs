//! Fallible allocation of buffers whose size a file or a user decides: exhausted memory is an
//! error, where `Vec` would abort the process.
//!
//! Buffers of a fixed size below [`SMALL`] may be allocated normally.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::Hash;

use zerocopy::FromZeros;

use crate::error::{Error, Result};

/// Length below which a buffer of a fixed size need not be allocated here.
pub const SMALL: usize = 64 << 10;

/// `count` zeros; many of them are allocated lazily by the system.
///
/// # Errors
/// [`Error::OutOfMemory`], as for all functions here.
pub fn zeros<T: FromZeros>(count: usize) -> Result<Vec<T>> {
    T::new_vec_zeroed(count).map_err(|_| lack::<T>(count))
}

/// The same value `count` times.
///
/// # Errors
/// As [`zeros`].
pub fn filled<T: Clone>(value: T, count: usize) -> Result<Vec<T>> {
    let mut list = with_room(count)?;
    list.resize(count, value);
    Ok(list)
}

/// An empty list with room for `count` items.
///
/// # Errors
/// As [`zeros`].
pub fn with_room<T>(count: usize) -> Result<Vec<T>> {
    let mut list = Vec::new();
    list.try_reserve_exact(count)
        .map_err(|_| lack::<T>(count))?;
    Ok(list)
}

/// A copy of a list.
///
/// # Errors
/// As [`zeros`].
pub fn copied<T: Clone>(items: &[T]) -> Result<Vec<T>> {
    let mut list = with_room(items.len())?;
    list.extend_from_slice(items);
    Ok(list)
}

/// Collects an unknown number of items.
///
/// # Errors
/// As [`zeros`].
pub fn collected<T>(items: impl IntoIterator<Item = T>) -> Result<Vec<T>> {
    let mut items = items.into_iter();
    let certain = items.size_hint().0;
    let mut list = with_room(certain)?;
    list.extend(items.by_ref().take(certain));
    for item in items {
        push(&mut list, item)?;
    }
    Ok(list)
}

/// Collects fallible items; the first error is returned.
///
/// # Errors
/// As [`zeros`], and the failures of the items.
pub fn gathered<T, E: From<Error>>(
    items: impl IntoIterator<Item = Result<T, E>>,
) -> Result<Vec<T>, E> {
    let items = items.into_iter();
    let mut list = with_room(items.size_hint().0)?;
    for item in items {
        push(&mut list, item?)?;
    }
    Ok(list)
}

/// Sorts a list stably, as `slice::sort_by`, which needs memory for half of the list.
///
/// # Errors
/// As [`zeros`].
pub fn sort_by<T>(list: &mut [T], mut by: impl FnMut(&T, &T) -> Ordering) -> Result<()> {
    if list.is_sorted_by(|one, next| by(one, next).is_le()) {
        return Ok(());
    }
    if size_of_val(list) <= SMALL {
        list.sort_by(by);
        return Ok(());
    }
    let mut places = collected(0..list.len())?;
    places.sort_unstable_by(|one, other| {
        let items = list.get(*one).zip(list.get(*other));
        let by = items.map_or(Ordering::Equal, |(one, other)| by(one, other));
        by.then(one.cmp(other))
    });
    // Moves each item to its place, along one cycle of the permutation after another.
    for start in 0..places.len() {
        let mut at = start;
        while let Some(place) = places.get_mut(at) {
            let from = std::mem::replace(place, at);
            if from == start {
                break;
            }
            list.swap(at, from);
            at = from;
        }
    }
    Ok(())
}

/// [`sort_by`] the keys that `key` returns.
///
/// # Errors
/// As [`zeros`].
pub fn sort_by_key<T, K: Ord>(list: &mut [T], key: impl Fn(&T) -> K) -> Result<()> {
    sort_by(list, |one, other| key(one).cmp(&key(other)))
}

/// Reserves room for `more` items; a list that grows in small steps reallocates rarely.
///
/// # Errors
/// As [`zeros`].
#[inline]
pub fn reserve<T>(list: &mut Vec<T>, more: usize) -> Result<()> {
    list.try_reserve(more)
        .map_err(|_| lack::<T>(list.len().saturating_add(more)))
}

/// Appends an item.
///
/// # Errors
/// As [`zeros`].
#[inline]
pub fn push<T>(list: &mut Vec<T>, item: T) -> Result<()> {
    reserve(list, 1)?;
    list.push(item);
    Ok(())
}

/// Appends items.
///
/// # Errors
/// As [`zeros`].
#[inline]
pub fn append<T: Clone>(list: &mut Vec<T>, items: &[T]) -> Result<()> {
    reserve(list, items.len())?;
    list.extend_from_slice(items);
    Ok(())
}

/// Appends text.
///
/// # Errors
/// As [`zeros`].
#[inline]
pub fn push_text(text: &mut String, more: &str) -> Result<()> {
    reserve_text(text, more.len())?;
    text.push_str(more);
    Ok(())
}

/// Reserves room for `more` bytes of text, as [`reserve`].
///
/// # Errors
/// As [`zeros`].
#[inline]
pub fn reserve_text(text: &mut String, more: usize) -> Result<()> {
    text.try_reserve(more)
        .map_err(|_| lack::<u8>(text.len().saturating_add(more)))
}

/// Appends items to a queue.
///
/// # Errors
/// As [`zeros`].
pub(crate) fn extend<T: Copy>(queue: &mut VecDeque<T>, items: &[T]) -> Result<()> {
    { queue.try_reserve(items.len()) }
        .map_err(|_| lack::<T>(queue.len().saturating_add(items.len())))?;
    queue.extend(items);
    Ok(())
}

/// Resizes a list to `count` items; new ones are zero.
///
/// # Errors
/// As [`zeros`].
pub fn resize<T: FromZeros + Clone>(list: &mut Vec<T>, count: usize) -> Result<()> {
    if list.capacity() == 0 {
        *list = zeros(count)?;
        return Ok(());
    }
    reserve(list, count.saturating_sub(list.len()))?;
    list.resize(count, T::new_zeroed());
    Ok(())
}

/// Inserts into a map; returns the previous value of the key.
///
/// # Errors
/// As [`zeros`].
pub fn put<K: Eq + Hash, V>(map: &mut HashMap<K, V>, key: K, value: V) -> Result<Option<V>> {
    reserve_map(map, 1)?;
    Ok(map.insert(key, value))
}

/// Reserves room for `more` keys of a map, as [`reserve`].
///
/// # Errors
/// As [`zeros`].
pub(crate) fn reserve_map<K: Eq + Hash, V>(map: &mut HashMap<K, V>, more: usize) -> Result<()> {
    map.try_reserve(more)
        .map_err(|_| lack::<(K, V)>(map.len().saturating_add(more)))
}

/// A map of pairs; for a duplicate key, the last.
///
/// # Errors
/// As [`zeros`].
pub fn mapped<K: Eq + Hash, V>(pairs: impl IntoIterator<Item = (K, V)>) -> Result<HashMap<K, V>> {
    let mut map = HashMap::new();
    for (key, value) in pairs {
        put(&mut map, key, value)?;
    }
    Ok(map)
}

/// Fails if `bytes` of memory cannot be allocated, for use before code that cannot report it.
/// Nothing is touched, so that it takes no time; another thread may still take the memory first.
///
/// # Errors
/// As [`zeros`].
pub fn probe(bytes: usize) -> Result<()> {
    with_room::<u8>(bytes).map(drop)
}

/// Inserts into a set; returns whether the item was new.
///
/// # Errors
/// As [`zeros`].
pub fn insert<T: Eq + Hash>(set: &mut HashSet<T>, item: T) -> Result<bool> {
    set.try_reserve(1).map_err(|_| lack::<T>(set.len()))?;
    Ok(set.insert(item))
}

/// Collects items into a set.
///
/// # Errors
/// As [`zeros`].
pub fn distinct<T: Eq + Hash>(items: impl IntoIterator<Item = T>) -> Result<HashSet<T>> {
    let mut set = HashSet::new();
    for item in items {
        insert(&mut set, item)?;
    }
    Ok(set)
}

/// Reserves room for `more` items of a set, as [`reserve`].
///
/// # Errors
/// As [`zeros`].
pub(crate) fn reserve_set<T: Eq + Hash>(
    set: &mut hashbrown::HashSet<T>,
    more: usize,
) -> Result<()> {
    set.try_reserve(more)
        .map_err(|_| lack::<T>(set.len().saturating_add(more)))
}

#[cold]
fn lack<T>(count: usize) -> Error {
    let bytes = count.saturating_mul(size_of::<T>());
    Error::OutOfMemory {
        bytes: u64::try_from(bytes).unwrap_or(u64::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More than any machine has; less than the largest list.
    const MUCH: usize = usize::MAX / 4;

    fn assert_lacks<T>(done: Result<T>, bytes: usize) {
        let error = done.err().map(|error| error.to_string());
        let wanted = format!("out of memory: {bytes} bytes could not be had");
        assert_eq!(error, Some(wanted));
    }

    #[test]
    fn what_no_machine_has_is_an_error() {
        assert_lacks(zeros::<u8>(MUCH), MUCH);
        assert_lacks(zeros::<u64>(MUCH), usize::MAX);
        assert_lacks(filled('a', MUCH / 4), MUCH / 4 * 4);
        assert_lacks(with_room::<u16>(MUCH / 2), MUCH / 2 * 2);
        assert_lacks(probe(MUCH), MUCH);
        for mut list in [Vec::new(), vec![7_u8; 10]] {
            let all = list.len() + MUCH;
            assert_lacks(reserve(&mut list, MUCH), all);
            assert_lacks(resize(&mut list, MUCH + 10), MUCH + 10);
        }
    }

    #[test]
    fn lists_become_what_the_standard_library_makes() {
        assert_eq!(zeros::<f64>(3).unwrap(), [0.0; 3]);
        assert_eq!(filled("a", 2).unwrap(), ["a"; 2]);
        assert_eq!(copied(&[1, 2, 3]).unwrap(), [1, 2, 3]);
        assert_eq!(
            collected((0..9).filter(|n| n % 2 == 1)).unwrap(),
            [1, 3, 5, 7]
        );
        let mut list = vec![1, 2, 3];
        push(&mut list, 4).unwrap();
        append(&mut list, &[5, 6]).unwrap();
        resize(&mut list, 8).unwrap();
        assert_eq!(list, [1, 2, 3, 4, 5, 6, 0, 0]);
        resize(&mut list, 2).unwrap();
        assert_eq!(list, [1, 2]);
        assert_eq!(gathered((0..3).map(Ok::<_, Error>)).unwrap(), [0, 1, 2]);
        let mut text = String::from("a");
        push_text(&mut text, "bc").unwrap();
        assert_eq!(text, "abc");
        assert_eq!(mapped([(1, 'a'), (1, 'b')]).unwrap().get(&1), Some(&'b'));
    }

    #[test]
    fn the_first_failure_ends_a_list() {
        let items = (0..9).map(|n| {
            if n < 4 {
                Ok(n)
            } else {
                Err(Error::invalid(n.to_string()))
            }
        });
        assert_eq!(gathered(items).unwrap_err().to_string(), "4");
    }

    #[test]
    fn items_that_are_equal_keep_their_order_however_many_they_are() {
        for (count, parts) in [
            (0, 1),
            (1, 1),
            (100, 7),
            (30_000, 1),
            (30_000, 7),
            (30_000, 29_989),
        ] {
            let items = (0..count).map(|place| (place * 7_919 % parts, place));
            let (mut list, mut wanted): (Vec<_>, Vec<_>) =
                (items.clone().collect(), items.collect());
            sort_by_key(&mut list, |(key, _)| *key).unwrap();
            wanted.sort();
            assert_eq!(list, wanted);
        }
    }
}
