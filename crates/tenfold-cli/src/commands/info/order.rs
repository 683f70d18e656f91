//! Sort order of tensor lists.

use std::cmp::{Ordering, Reverse};

use tenfold::{Bundle, Key, Result, Tensor, memory};

use crate::commands::Sort;

/// The tensors of a file, in order.
pub(super) fn sorted(bundle: &Bundle, sort: Sort) -> Result<Vec<&(Key, Tensor)>> {
    let mut entries = memory::collected(bundle.entries())?;
    match sort {
        Sort::File => {}
        Sort::Name => memory::sort_by(&mut entries, |(a, _), (b, _)| by_name(a, b))?,
        Sort::Size => memory::sort_by_key(&mut entries, |(_, tensor)| {
            Reverse(tensor.storage().stored_len())
        })?,
    }
    Ok(entries)
}

/// Segment by segment; a statistic follows its owner.
fn by_name(a: &Key, b: &Key) -> Ordering {
    let segments = a.path().iter().zip(b.path());
    let different = segments.map(|(a, b)| natural(a, b)).find(|by| by.is_ne());
    different
        .unwrap_or_else(|| a.path().len().cmp(&b.path().len()))
        .then_with(|| a.state.cmp(&b.state))
}

/// Natural order, numbers by value: `layer.2` precedes `layer.10`.
pub(super) fn natural(a: &str, b: &str) -> Ordering {
    // UTF-8 bytes sort as code points do.
    let (mut left, mut right) = (a.as_bytes(), b.as_bytes());
    loop {
        (left, right) = without_common_start(left, right);
        let (Some(x), Some(y)) = (left.first(), right.first()) else {
            break;
        };
        if !x.is_ascii_digit() || !y.is_ascii_digit() {
            return x.cmp(y);
        }
        let ((m, more), (n, rest)) = (number(left), number(right));
        let by = m.len().cmp(&n.len()).then_with(|| m.cmp(n));
        if by.is_ne() {
            return by;
        }
        (left, right) = (more, rest);
    }
    left.len().cmp(&right.len()).then_with(|| a.cmp(b))
}

/// The rest after the common prefix; a number with a common prefix stays whole.
fn without_common_start<'a>(left: &'a [u8], right: &'a [u8]) -> (&'a [u8], &'a [u8]) {
    let same = left.iter().zip(right).take_while(|(x, y)| x == y);
    let same = same.count();
    let (start, _) = left.split_at(same);
    let digits = start.iter().rev().take_while(|byte| byte.is_ascii_digit());
    let start = same.saturating_sub(digits.count());
    (left.split_at(start).1, right.split_at(start).1)
}

/// The leading digits of a text without leading zeros, and the rest.
fn number(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|byte| !byte.is_ascii_digit());
    let (digits, rest) = text.split_at(end.unwrap_or(text.len()));
    let zeros = digits.iter().take_while(|byte| **byte == b'0').count();
    (digits.split_at(zeros).1, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_count_by_their_value() {
        let sorted = [
            "",
            "a",
            "a0",
            "a01",
            "a1",
            "a1b",
            "a2",
            "a10",
            "a99999999999999999999998",
            "a99999999999999999999999",
            "a99999999999999999999999b1",
            "a99999999999999999999999b02",
            "ab",
            "b",
            "é",
        ];
        for (place, name) in sorted.iter().enumerate() {
            for (other, later) in sorted.iter().enumerate() {
                let by = place.cmp(&other);
                assert_eq!(natural(name, later), by, "{name} {later}");
            }
        }
    }

    #[test]
    fn a_statistic_follows_its_owner() {
        let owner = Key::tree(vec!["w".into()]);
        let next = Key::tree(vec!["w2".into()]);
        let statistic = owner.statistic("m");
        assert_eq!(by_name(&owner, &statistic), Ordering::Less);
        assert_eq!(by_name(&statistic, &next), Ordering::Less);
    }
}
