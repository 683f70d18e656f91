//! A long CBOR array split into parts, which are read in order or by several threads.
#![deny(clippy::arithmetic_side_effects)]

use std::mem::replace;
use std::ops::Range;

use super::{BREAK, Items, Left};
use crate::bytes::{to_u64, to_usize};
use crate::error::Result;
use crate::io::Source;
use crate::limits::Limits;
use crate::memory;

/// Length of a part, if the array has whole items of that length.
const PART: u64 = 256 << 10;

/// Some items of an array.
#[derive(Debug, Default)]
pub(crate) struct Part {
    at: u64,
    bytes: Vec<u8>,
    left: Left,
}

impl Part {
    /// The items, and their number.
    pub(crate) fn items<'a>(
        &'a self,
        format: &'static str,
        limits: &'a Limits,
    ) -> (Items<'a>, Left) {
        let items = Items::new(&self.bytes, self.at, format, limits);
        (items, self.left.clone())
    }
}

/// Splits an array into parts.
#[derive(Debug)]
pub(crate) struct Parts<'a> {
    source: &'a Source,
    /// The rest of the array, and the bytes after it.
    range: Range<u64>,
    left: Left,
    part: u64,
    is_over: bool,
}

impl<'a> Parts<'a> {
    /// The parts of an array with `left` items left, in a range of `source`.
    pub(crate) fn new(source: &'a Source, range: Range<u64>, left: Left) -> Parts<'a> {
        Parts {
            source,
            range,
            left,
            part: PART,
            is_over: false,
        }
    }

    /// Reads the next part; false if there is none. Malformed bytes, and those after the array, are
    /// in the last part, for its reader to find.
    pub(crate) fn next(&mut self, part: &mut Part, limits: &Limits) -> Result<bool> {
        if self.is_over {
            return Ok(false);
        }
        let Range { start, end } = self.range;
        let all = end.saturating_sub(start);
        let mut len = self.part.min(all);
        loop {
            memory::resize(&mut part.bytes, to_usize(len)?)?;
            self.source.read_at(start, &mut part.bytes)?;
            let (count, whole) = whole_items(&part.bytes, &self.left);
            self.is_over = len == all;
            part.at = start;
            if self.is_over {
                part.left = self.left.clone();
                return Ok(true);
            }
            if count > 0 {
                part.bytes.truncate(whole);
                part.left = Left(Some(count));
                self.left.pass(count);
                self.range.start = start.saturating_add(to_u64(whole));
                return Ok(true);
            }
            len = len.saturating_mul(2).min(all);
            // One item that is as long as many.
            limits.charge(len)?;
        }
    }
}

/// The number of whole items of an array that `bytes` begin with, and their end.
fn whole_items(bytes: &[u8], left: &Left) -> (u64, usize) {
    let most = left.0.unwrap_or(u64::MAX);
    let (mut count, mut at, mut outer) = (0_u64, 0, Vec::new());
    while count < most
        && let Some(end) = end_of_item(bytes, at, &mut outer)
    {
        count = count.saturating_add(1);
        at = end;
    }
    (count, at)
}

/// The end of the item that begins at `at`, if it is complete. Nothing else is checked: this must
/// be many times faster than reading. The items left in the enclosing containers are in `outer`.
fn end_of_item(input: &[u8], mut at: usize, outer: &mut Vec<Left>) -> Option<usize> {
    outer.clear();
    let mut left = Left(Some(1));
    loop {
        while left.0 == Some(0) {
            match outer.pop() {
                Some(around) => left = around,
                None => return (at <= input.len()).then_some(at),
            }
        }
        let first = *input.get(at)?;
        at = at.checked_add(1)?;
        if first == BREAK {
            left = match left.0 {
                None => Left(Some(0)),
                Some(_) => return None,
            };
            continue;
        }
        left.pass(1);
        let argument = match first & 0x1f {
            info @ 0..=23 => Some(u64::from(info)),
            info @ 24..=27 => {
                let end = at.checked_add(1_usize << (info & 3))?;
                let bytes = input.get(at..end)?.iter();
                at = end;
                Some(bytes.fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
            }
            31 => None,
            _ => return None,
        };
        match (first >> 5, argument) {
            (2 | 3, Some(len)) => at = at.checked_add(usize::try_from(len).ok()?)?,
            (4, Some(count)) => outer.push(replace(&mut left, Left(Some(count)))),
            (5, Some(count)) => {
                let count = count.checked_mul(2)?;
                outer.push(replace(&mut left, Left(Some(count))));
            }
            (2..=5, None) => outer.push(replace(&mut left, Left(None))),
            // A tag precedes an item.
            (6, Some(_)) => outer.push(replace(&mut left, Left(Some(1)))),
            (_, None) => return None,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything that is read from an array in parts of about `part` bytes, or the offset of the
    /// error.
    fn in_parts(bytes: &[u8], part: u64) -> Result<Vec<u64>, u64> {
        let limits = Limits::default();
        let mut items = Items::new(bytes, 0, "cbor", &limits);
        let left = items.array("an array").unwrap();
        let source = Source::memory(bytes.to_vec());
        let mut parts = Parts {
            part,
            ..Parts::new(&source, items.at()..source.len(), left)
        };
        let (mut one, mut numbers, mut is_done) = (Part::default(), Vec::new(), false);
        let mut at = 0;
        while parts.next(&mut one, &Limits::default()).unwrap() {
            let (mut items, mut left) = one.items("cbor", &limits);
            while items.more(&mut left).map_err(|_| items.at())? {
                let at = items.at();
                numbers.push(items.u64("a number").map_err(|_| at)?);
            }
            (is_done, at) = (items.is_done(), items.at());
        }
        is_done.then_some(numbers).ok_or(at)
    }

    #[test]
    fn parts_together_are_the_array() {
        let bytes = [0x85, 1, 0x18, 200, 0x19, 1, 0, 3, 4];
        for part in 1..9 {
            assert_eq!(in_parts(&bytes, part), Ok(vec![1, 200, 256, 3, 4]));
        }
        let endless = [0x9f, 1, 2, 0xff];
        for part in 1..5 {
            assert_eq!(in_parts(&endless, part), Ok(vec![1, 2]));
        }
    }

    #[test]
    fn faults_are_found_where_they_are() {
        for part in 1..6 {
            assert_eq!(in_parts(&[0x83, 1, 0x61, b'a', 2], part), Err(2));
            assert_eq!(in_parts(&[0x83, 1, 2], part), Err(3));
            assert_eq!(in_parts(&[0x82, 1, 2, 7], part), Err(3));
        }
    }

    #[test]
    fn an_item_ends_after_all_that_is_in_it() {
        // {"a": [1, 2.0], 3: h'0102'}, and a tag.
        let map = [
            0xa2, 0x61, b'a', 0x82, 1, 0xf9, 0x40, 0, 3, 0x42, 1, 2, 0xc1, 0,
        ];
        let end = |bytes: &[u8], at| end_of_item(bytes, at, &mut Vec::new());
        assert_eq!(end(&map, 0), Some(12));
        assert_eq!(end(&map, 12), Some(14));
        assert_eq!(end(&[0x78, 24], 0), None);
        let text = [&[0x78, 24][..], &[b'x'; 24]].concat();
        assert_eq!(end(&text, 0), Some(26));
        let many = [0x9b, 255, 255, 255, 255, 255, 255, 255, 255];
        assert_eq!(end(&many, 0), None);
        // {_ "a": [1, 2], "b": (_ "c", "d")}, and a break outside of any container.
        let endless = [
            0xbf, 0x61, b'a', 0x82, 1, 2, 0x61, b'b', 0x7f, 0x61, b'c', 0x61, b'd', 0xff, 0xff, 0,
        ];
        assert_eq!(end(&endless, 0), Some(15));
        assert_eq!(end(&[0x81, 0xff], 0), None);
        assert_eq!(end(&[0xbf, 0x61, b'a'], 0), None);
    }
}
