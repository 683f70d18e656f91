//! Doors for the fuzzer to what reads untrusted bytes below the formats; in no other build.

use crate::bytes::Scan;
use crate::io::Source;
use crate::limits::Limits;
use crate::wire::cbor::deterministic;
use crate::wire::{cbor, msgpack, pickle, yaml, zip};

/// What these bytes are said to come from in errors.
const FORMAT: &str = "fuzz";
/// Levels of nesting that are read.
const LEVELS: u64 = 64;

/// Reads items of CBOR one after the other, as values, and checks whether they are deterministic.
pub fn cbor(bytes: &[u8]) {
    let limits = Limits::default();
    let mut items = cbor::Items::new(bytes, 0, FORMAT, &limits);
    while !items.is_done() && items.value().is_ok() {}
    let _ = deterministic::check(bytes, 0, FORMAT, LEVELS);
}

/// Reads the heads of MessagePack objects one after the other.
pub fn msgpack(bytes: Vec<u8>) {
    let source = Source::memory(bytes);
    let mut scan = Scan::new(&source, FORMAT);
    while let Ok(head) = msgpack::head(&mut scan) {
        let _ = head.form();
    }
}

/// Runs a pickle on the machine that looks nothing up, and asks every value what it is.
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

/// Reads a YAML document and what its values are.
pub fn yaml(text: &str) {
    if let Ok(node) = yaml::parse(text, &Limits::default()) {
        let _ = node.value();
    }
}
