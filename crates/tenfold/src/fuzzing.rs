//! Entry points of the fuzzer to parsers of untrusted bytes below the formats; not in other builds.

use crate::bytes::Scan;
use crate::io::Source;
use crate::limits::Limits;
use crate::wire::cbor::deterministic;
use crate::wire::{cbor, msgpack, pickle, yaml, zip};

/// The name of the format in errors.
const FORMAT: &str = "fuzz";
/// Deepest nesting that is read.
const LEVELS: u64 = 64;

/// Reads consecutive CBOR items as values, and checks whether they are deterministic.
pub fn cbor(bytes: &[u8]) {
    let limits = Limits::default();
    let mut items = cbor::Items::new(bytes, 0, FORMAT, &limits);
    while !items.is_done() && items.value().is_ok() {}
    let _ = deterministic::check(bytes, 0, FORMAT, LEVELS);
}

/// Reads the heads of consecutive MessagePack objects.
pub fn msgpack(bytes: Vec<u8>) {
    let source = Source::memory(bytes);
    let mut scan = Scan::new(&source, FORMAT);
    while let Ok(head) = msgpack::head(&mut scan) {
        let _ = head.form();
    }
}

/// Reads a pickle as data, and inspects every item.
pub fn pickle(bytes: Vec<u8>) {
    let source = Source::memory(bytes);
    let mut scan = Scan::new(&source, FORMAT);
    let Ok(pickle) = pickle::Pickle::read(&mut scan, &Limits::default()) else {
        return;
    };
    for id in pickle.ids() {
        let _ = (pickle.item(id), pickle.at(id), pickle.text(id));
        let _ = (pickle.count(id), pickle.sequence(id), pickle.global(id));
    }
}

/// Reads the members of a zip archive.
pub fn zip(bytes: Vec<u8>) {
    let _ = zip::read(&Source::memory(bytes), FORMAT, &Limits::default());
}

/// Reads a YAML document and its values.
pub fn yaml(text: &str) {
    if let Ok(node) = yaml::parse(text, &Limits::default()) {
        let _ = node.value();
    }
}
