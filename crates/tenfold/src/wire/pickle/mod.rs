//! Python's pickles as data: the objects that a pickle would build are recorded, and nothing is
//! ever run.
//!
//! The specification is `pickletools` of Python's library. A pickle is a program for a machine with
//! a stack and a memo. Here its opcodes create [`Item`]s: numbers, texts, lists, and for every call
//! of a class or a function an [`Object`] with its name and its arguments. No name is looked up;
//! the meaning of an object is up to a reader that knows the name.
//!
//! Items are in one list and refer to each other by index. So sharing and cycles cost nothing,
//! nothing is nested in memory, and an item takes a bounded number of bytes for every byte of the
//! pickle; all of them together take no more than `--max-structure` allows.

mod machine;
mod opcode;

use std::ops::Range;

use crate::bytes::{Scan, to_usize};
use crate::error::Result;
use crate::io::Source;
use crate::limits::Limits;
use crate::memory;

/// The index of an item in its pickle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Id(u32);

/// An item of a pickle.
#[derive(Debug)]
pub(crate) enum Item {
    None,
    Bool(bool),
    Int(i64),
    /// An integer of more than 64 bits: little-endian, two's complement.
    Long(Box<[u8]>),
    Float(f64),
    Text(Box<str>),
    /// Bytes, by their range in the source.
    Bytes(Range<u64>),
    Tuple(Box<[Id]>),
    List(Vec<Id>),
    Set(Vec<Id>),
    /// Keys and values, alternating.
    Dict(Vec<Id>),
    /// A class or a function, by its module and its name.
    Global(Box<(String, String)>),
    /// The result of a call that is not made.
    Object(Box<Object>),
    /// A persistent object stored elsewhere, by its identifier.
    Persistent(Id),
}

/// The recorded call of a class or a function.
#[derive(Debug)]
pub(crate) struct Object {
    /// The callable.
    pub(crate) class: Id,
    /// The arguments.
    pub(crate) args: Id,
    /// The state that would be set.
    pub(crate) state: Option<Id>,
    /// Whether an opcode of Python 2 creates it: `OBJ` or `INST`.
    pub(crate) is_old: bool,
    /// The items that would be appended.
    pub(crate) items: Vec<Id>,
    /// The items that would be set: keys and values, alternating.
    pub(crate) pairs: Vec<Id>,
}

/// An item, and the offset of its opcode.
#[derive(Debug)]
struct Node {
    at: u64,
    item: Item,
}

/// The content of a pickle.
#[derive(Debug)]
pub(crate) struct Pickle {
    nodes: Vec<Node>,
    /// The result of the program.
    pub(crate) root: Id,
    /// Length of the pickle in bytes.
    pub(crate) len: u64,
}

impl Pickle {
    /// Reads the pickle at the next byte of `scan`, up to its last opcode.
    pub(crate) fn read(scan: &mut Scan, limits: &Limits) -> Result<Pickle> {
        machine::run(scan, limits)
    }

    /// The item at an index.
    pub(crate) fn item(&self, id: Id) -> &Item {
        self.node(id).map_or(&Item::None, |node| &node.item)
    }

    /// The offset at which it was created.
    pub(crate) fn at(&self, id: Id) -> Option<u64> {
        self.node(id).map(|node| node.at)
    }

    fn node(&self, id: Id) -> Option<&Node> {
        self.nodes.get(usize::try_from(id.0).ok()?)
    }

    /// All indices, in the order in which their items were created.
    pub(crate) fn ids(&self) -> impl Iterator<Item = Id> {
        let count = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        (0..count).map(Id)
    }

    /// The number of items.
    pub(crate) fn n_items(&self) -> usize {
        self.nodes.len()
    }

    /// The text, if the item is one.
    pub(crate) fn text(&self, id: Id) -> Option<&str> {
        match self.item(id) {
            Item::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The number, if the item is a non-negative integer.
    pub(crate) fn count(&self, id: Id) -> Option<u64> {
        match self.item(id) {
            Item::Int(number) => u64::try_from(*number).ok(),
            _ => None,
        }
    }

    /// The items of a tuple or a list.
    pub(crate) fn sequence(&self, id: Id) -> Option<&[Id]> {
        match self.item(id) {
            Item::Tuple(items) => Some(items),
            Item::List(items) => Some(items),
            _ => None,
        }
    }

    /// The module and the name of a class or a function.
    pub(crate) fn global(&self, id: Id) -> Option<(&str, &str)> {
        match self.item(id) {
            Item::Global(names) => Some((&names.0, &names.1)),
            _ => None,
        }
    }

    /// A call: the module and name of the callable, and the arguments.
    pub(crate) fn call(&self, id: Id) -> Option<(&str, &str, &[Id])> {
        let Item::Object(object) = self.item(id) else {
            return None;
        };
        let (module, name) = self.global(object.class)?;
        Some((module, name, self.sequence(object.args)?))
    }

    /// The bytes of an item, if it has any; `source` is the source of the pickle.
    pub(crate) fn bytes(&self, id: Id, source: &Source) -> Result<Option<Vec<u8>>> {
        let Item::Bytes(range) = self.item(id) else {
            return Ok(None);
        };
        let mut bytes = memory::zeros(to_usize(range.end.saturating_sub(range.start))?)?;
        source.read_at(range.start, &mut bytes)?;
        Ok(Some(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Pickle> {
        let source = Source::memory(bytes.to_vec());
        Pickle::read(&mut Scan::new(&source, "test"), &Limits::default())
    }

    #[test]
    fn a_call_is_written_down_and_not_made() {
        let pickle = read(b"\x80\x02cos\nsystem\nX\x02\0\0\0ls\x85R.").unwrap();
        let (module, name, args) = pickle.call(pickle.root).unwrap();
        assert_eq!((module, name), ("os", "system"));
        assert_eq!(pickle.text(args[0]), Some("ls"));
        assert_eq!(pickle.at(pickle.root), Some(21));
        assert_eq!(pickle.len, 23);
    }

    #[test]
    fn a_list_may_hold_itself() {
        let pickle = read(b"\x80\x02]q\x00h\x00a.").unwrap();
        assert_eq!(pickle.sequence(pickle.root), Some(&[pickle.root][..]));
    }

    #[test]
    fn a_refusal_names_the_opcode_and_its_byte() {
        let cases: [(&[u8], &str); 8] = [
            (b"\x80\x02\x82\x01.", "opcode EXT1 is not read (byte 2)"),
            (b"\x80\x02\xfe.", "fe is no opcode of pickles (byte 2)"),
            (b"\x80\x02R.", "opcode REDUCE: the stack is empty (byte 2)"),
            (
                b"\x80\x02h\x07.",
                "opcode BINGET: nothing was put at 7 (byte 2)",
            ),
            (b"\x80\x02t.", "opcode TUPLE: there is no mark (byte 2)"),
            (
                b"\x80\x02NNs.",
                "opcode SETITEM: the stack is empty (byte 4)",
            ),
            (b"\x80\x02NNNs.", "opcode SETITEM: it is no dict (byte 5)"),
            (
                b"\x80\x06N.",
                "protocol 6, 5 is the last that is known (byte 0)",
            ),
        ];
        for (bytes, expected) in cases {
            let error = read(bytes).unwrap_err().to_string();
            assert_eq!(error, format!("not a valid test file: {expected}"));
        }
    }

    #[test]
    fn lengths_beyond_the_end_allocate_nothing() {
        for bytes in [
            &b"\x80\x02X\xff\xff\xff\x7f."[..],
            b"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\x7f.",
            b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\xff.",
            b"\x80\x02\x8b\xff\xff\xff\x7f.",
        ] {
            let error = read(bytes).unwrap_err().to_string();
            assert!(error.contains("more bytes expected"), "{error}");
        }
    }

    #[test]
    fn what_takes_more_memory_than_its_structure_may_is_refused() {
        let limits = Limits {
            structure: 10_000,
            ..Limits::default()
        }
        .for_file(0);
        let bytes = [b"\x80\x02".as_slice(), &[b']'; 1000], b"."].concat();
        let source = Source::memory(bytes);
        let error = Pickle::read(&mut Scan::new(&source, "test"), &limits).unwrap_err();
        assert!(error.to_string().contains("--max-structure"), "{error}");
    }
}
