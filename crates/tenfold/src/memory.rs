//! Memory whose size a file or a user decides: a lack of it is an error, where `Vec` would abort the process.
//!
//! Buffers of a fixed size below [`SMALL`] may be made in the usual way.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::Hash;

use zerocopy::FromZeros;

use crate::error::{Error, Result};

/// Bytes below which a buffer of a fixed size need not be made here.
pub const SMALL: usize = 64 << 10;

/// `count` zeros, which the system hands out as they are touched where they are many.
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

/// A list of the same items.
///
/// # Errors
/// As [`zeros`].
pub fn copied<T: Clone>(items: &[T]) -> Result<Vec<T>> {
    let mut list = with_room(items.len())?;
    list.extend_from_slice(items);
    Ok(list)
}

/// A list of items of which it is not known how many will come.
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

/// Makes room for `more` items; a list that grows little by little does so rarely.
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

/// Makes a list `count` items long; what is new is zero.
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

/// Puts an item into a map; gives what was there for the key.
///
/// # Errors
/// As [`zeros`].
pub fn put<K: Eq + Hash, V>(map: &mut HashMap<K, V>, key: K, value: V) -> Result<Option<V>> {
    map.try_reserve(1).map_err(|_| lack::<(K, V)>(map.len()))?;
    Ok(map.insert(key, value))
}

/// Fails if `bytes` of memory are not to be had: before code that has no way to say so takes them. Nothing
/// is touched, so it takes no time; another thread may still take them first.
///
/// # Errors
/// As [`zeros`].
pub fn probe(bytes: usize) -> Result<()> {
    with_room::<u8>(bytes).map(drop)
}

/// Puts an item into a set; says whether it was not there yet.
///
/// # Errors
/// As [`zeros`].
pub fn insert<T: Eq + Hash>(set: &mut HashSet<T>, item: T) -> Result<bool> {
    set.try_reserve(1).map_err(|_| lack::<T>(set.len()))?;
    Ok(set.insert(item))
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
    }
}
