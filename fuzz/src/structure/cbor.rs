//! CBOR, as trees: counts and lengths follow what they contain.

use super::{Random, sequence};

/// Deeper than any reader goes; what is nested further stays as bytes.
const DEEPEST: usize = 80;

#[derive(Clone, Debug, PartialEq)]
enum Item {
    /// A number, negative ones and simple values included: the major type and its argument.
    Number(u8, u64),
    /// A float, with the bytes of its width.
    Float(Vec<u8>),
    /// Bytes or text.
    String(u8, Vec<u8>),
    /// An array, or a map with its keys and values in turn.
    List(u8, Vec<Item>),
    Tag(u64, Box<Item>),
}

const BYTES: u8 = 2;
const TEXT: u8 = 3;
const ARRAY: u8 = 4;
const MAP: u8 = 5;
const TAG: u8 = 6;
const SIMPLE: u8 = 7;

impl Item {
    fn read(data: &mut &[u8], depth: usize) -> Option<Item> {
        let (first, rest) = data.split_first()?;
        let (major, low) = (first >> 5, first & 31);
        let width = match low {
            0..24 => 0,
            24..28 => 1 << (low - 24),
            // What has no length beforehand is refused by all that is tried here.
            _ => return None,
        };
        let (bytes, rest) = rest.split_at_checked(width)?;
        *data = rest;
        let argument = match width {
            0 => low.into(),
            _ => bytes
                .iter()
                .fold(0, |number, byte| number << 8 | u64::from(*byte)),
        };
        let count = usize::try_from(argument).ok();
        Some(match major {
            SIMPLE if width > 1 => Item::Float(bytes.to_vec()),
            0 | 1 | SIMPLE => Item::Number(major, argument),
            BYTES | TEXT => {
                let (content, rest) = data.split_at_checked(count?)?;
                *data = rest;
                Item::String(major, content.to_vec())
            }
            _ if depth == DEEPEST => return None,
            TAG => Item::Tag(argument, Box::new(Item::read(data, depth + 1)?)),
            _ => {
                let count = if major == MAP {
                    count?.checked_mul(2)?
                } else {
                    count?
                };
                let items = (0..count).map(|_| Item::read(data, depth + 1));
                Item::List(major, items.collect::<Option<_>>()?)
            }
        })
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Item::Number(major, value) => head(*major, *value, out),
            Item::Float(bytes) => {
                out.push(SIMPLE << 5 | 24 + bytes.len().ilog2() as u8);
                out.extend(bytes);
            }
            Item::String(major, content) => {
                head(*major, content.len() as u64, out);
                out.extend(content);
            }
            Item::List(major, items) => {
                let each = if *major == MAP { 2 } else { 1 };
                head(*major, (items.len() / each) as u64, out);
                // A map whose last key lost its value goes without it.
                let whole = items.len() / each * each;
                items[..whole].iter().for_each(|item| item.write(out));
            }
            Item::Tag(number, item) => {
                head(TAG, *number, out);
                item.write(out);
            }
        }
    }

    /// This item and all within.
    fn count(&self) -> usize {
        1 + match self {
            Item::List(_, items) => items.iter().map(Item::count).sum(),
            Item::Tag(_, item) => item.count(),
            _ => 0,
        }
    }

    /// The item at a place in the order of the file.
    fn at(&mut self, mut place: usize) -> Option<&mut Item> {
        if place == 0 {
            return Some(self);
        }
        place -= 1;
        match self {
            Item::List(_, items) => items.iter_mut().find_map(|item| {
                let count = item.count();
                if place < count {
                    item.at(place)
                } else {
                    place -= count;
                    None
                }
            }),
            Item::Tag(_, item) => item.at(place),
            _ => None,
        }
    }

    fn change(&mut self, random: &mut Random) {
        if random.one_in(8) {
            *self = fresh(random);
            return;
        }
        match self {
            Item::Number(_, value) => *value = random.number(),
            Item::Float(bytes) => *bytes = random.number().to_be_bytes()[..bytes.len()].to_vec(),
            Item::String(_, content) => *content = random.bytes(content),
            Item::List(ARRAY, items) => sequence::change(items, random, fresh),
            Item::List(_, items) => {
                let mut pairs: Vec<Vec<Item>> = items.chunks(2).map(<[Item]>::to_vec).collect();
                sequence::change(&mut pairs, random, |random| {
                    vec![fresh(random), fresh(random)]
                });
                *items = pairs.concat();
            }
            Item::Tag(number, _) => *number = random.number(),
        }
    }
}

/// The shortest head, as deterministic CBOR asks for.
fn head(major: u8, value: u64, out: &mut Vec<u8>) {
    let major = major << 5;
    let bytes = value.to_be_bytes();
    match value {
        0..24 => out.push(major | value as u8),
        24..0x100 => out.extend([major | 24, value as u8]),
        0x100..0x1_0000 => out.extend([&[major | 25], &bytes[6..]].concat()),
        0x1_0000..0x1_0000_0000 => out.extend([&[major | 26], &bytes[4..]].concat()),
        _ => out.extend([&[major | 27], &bytes[..]].concat()),
    }
}

fn fresh(random: &mut Random) -> Item {
    // The words of the manifests of zTensor.
    const WORDS: &[&str] = &[
        "a",
        "name",
        "shape",
        "dtype",
        "objects",
        "components",
        "offset",
        "length",
        "size",
        "format",
        "layout",
        "dense",
        "sparse_csr",
        "sparse_coo",
        "data",
        "values",
        "coords",
        "indices",
        "indptr",
        "encoding",
        "raw",
        "zstd",
        "digest",
        "checksum",
        "attributes",
        "version",
        "f32",
        "i64",
        "bool",
        "float32",
        "type",
        "uncompressed_length",
    ];
    let number = random.number();
    match random.below(8) {
        0 => Item::Number(1, number),
        1 => Item::Number(SIMPLE, 20 + number % 4),
        2 => Item::Float(number.to_be_bytes().to_vec()),
        3 => Item::String(BYTES, number.to_le_bytes().to_vec()),
        4 => Item::List(*random.pick(&[ARRAY, MAP]).unwrap_or(&ARRAY), vec![]),
        5 | 6 => Item::String(TEXT, random.pick(WORDS).unwrap_or(&"").as_bytes().to_vec()),
        _ => Item::Number(0, number),
    }
}

/// Changes one or two items; all that follows the first item of the sequence stays.
pub fn mutate(data: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let mut rest = data;
    let mut root = Item::read(&mut rest, 0)?;
    for _ in 0..=random.below(2) {
        let place = random.below(root.count());
        root.at(place)?.change(random);
    }
    let mut out = Vec::new();
    root.write(&mut out);
    out.extend(rest);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_written_as_it_was_read() {
        // RFC 8949, appendix A.
        let examples: &[&[u8]] = &[
            b"\x00",
            b"\x18\x18",
            b"\x1b\x00\x00\x00\xe8\xd4\xa5\x10\x00",
            b"\x39\x03\xe7",
            b"\xf9\x7e\x00",
            b"\xfa\x47\xc3\x50\x00",
            b"\xfb\xc0\x10\x66\x66\x66\x66\x66\x66",
            b"\xf5",
            b"\xc0\x74\x32\x30\x31\x33\x2d\x30\x33\x2d\x32\x31\x54\x32\x30\x3a\x30\x34\x3a\x30\x30\x5a",
            b"\x83\x01\x82\x02\x03\x82\x04\x05",
            b"\xa2\x61\x61\x01\x61\x62\x82\x02\x03",
        ];
        for example in examples {
            let mut rest = *example;
            let item = Item::read(&mut rest, 0).unwrap();
            let mut out = Vec::new();
            item.write(&mut out);
            assert_eq!((out.as_slice(), rest.len()), (*example, 0));
        }
    }

    #[test]
    fn every_place_of_a_tree_has_its_item() {
        let mut data = &b"\xa2\x61\x61\x01\x61\x62\x82\x02\x03"[..];
        let mut root = Item::read(&mut data, 0).unwrap();
        assert_eq!(root.count(), 7);
        assert_eq!(root.at(6).cloned(), Some(Item::Number(0, 3)));
        assert!(root.at(7).is_none());
    }
}
