//! Checksums as the generations spell them.
#![deny(clippy::arithmetic_side_effects)]

use crate::bytes::{Algorithm, Digest};

/// The algorithms and the words for them.
const NAMES: &[(&str, Algorithm)] = &[
    ("crc32c", Algorithm::Crc32c),
    ("sha256", Algorithm::Sha256),
    ("xxh3", Algorithm::Xxh3),
];

/// The word for an algorithm.
pub(super) fn name(algorithm: Algorithm) -> &'static str {
    let mut names = NAMES.iter();
    let found = names.find(|(_, known)| *known == algorithm);
    found.map_or("", |(name, _)| name)
}

/// The algorithm that a word stands for.
pub(super) fn named(name: &str) -> Option<Algorithm> {
    let mut names = NAMES.iter();
    names
        .find(|(known, _)| *known == name)
        .map(|(_, known)| *known)
}

/// A checksum of the generations before 2: `crc32c:0x…` or `sha256:…`, with digits of either case.
pub(super) fn parse(text: &str) -> Option<Digest> {
    match text.strip_prefix("crc32c:0x") {
        Some(digits) => of_digits(Algorithm::Crc32c, digits),
        None => of_digits(Algorithm::Sha256, text.strip_prefix("sha256:")?),
    }
}

/// A checksum whose digits are all there.
pub(super) fn of_digits(algorithm: Algorithm, digits: &str) -> Option<Digest> {
    let count = match algorithm {
        Algorithm::Crc32 | Algorithm::Crc32c => 8,
        Algorithm::Xxh3 => 16,
        Algorithm::Sha256 => 64,
    };
    if digits.len() != count {
        return None;
    }
    let value = |digit: &u8| {
        char::from(*digit)
            .to_digit(16)
            .and_then(|n| u8::try_from(n).ok())
    };
    let pairs = digits.as_bytes().chunks_exact(2);
    let expected: Option<Vec<u8>> = pairs
        .map(|pair| match pair {
            [high, low] => Some(value(high)? << 4 | value(low)?),
            _ => None,
        })
        .collect();
    Some(Digest {
        algorithm,
        expected: expected?,
        over: None,
    })
}

/// What is said of a checksum of another kind.
pub(super) fn unknown(text: &str) -> String {
    format!("the checksum {text:?} is of an unknown kind and was not compared")
}

/// A checksum as it is written.
pub(super) fn text(algorithm: Algorithm, digest: &[u8]) -> String {
    let name = name(algorithm);
    match algorithm {
        Algorithm::Crc32c => {
            let digits: String = digest.iter().map(|byte| format!("{byte:02X}")).collect();
            format!("{name}:0x{digits}")
        }
        Algorithm::Crc32 | Algorithm::Sha256 | Algorithm::Xxh3 => {
            let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{name}:{digits}")
        }
    }
}
