//! Checksums in the notation of each generation.
#![deny(clippy::arithmetic_side_effects)]

use super::{hint, zstd_level};
use crate::bytes::{Algorithm, Bytes, Digest, Endian};
use crate::dtype::Numbers;
use crate::error::Result;
use crate::format::Options;
use crate::tensor::Tensor;

/// The algorithms and their names.
const NAMES: &[(&str, Algorithm)] = &[
    ("crc32c", Algorithm::Crc32c),
    ("sha256", Algorithm::Sha256),
    ("xxh3", Algorithm::Xxh3),
];

/// The name of an algorithm.
pub(super) fn name(algorithm: Algorithm) -> &'static str {
    let mut names = NAMES.iter();
    let found = names.find(|(_, known)| *known == algorithm);
    found.map_or("", |(name, _)| name)
}

/// The algorithm of a name.
pub(super) fn named(name: &str) -> Option<Algorithm> {
    let mut names = NAMES.iter();
    names
        .find(|(known, _)| *known == name)
        .map(|(_, known)| *known)
}

/// The dialect of checksums before generation 2, which are over the stored bytes.
pub(super) const BEFORE_2: &str = "ztensor before 2";
/// The dialect of checksums in generation 2 over decoded bytes.
pub(super) const SECOND: &str = "ztensor 2";

/// The checksum of an unknown kind over numbers that are written unchanged, into a file of the same
/// dialect.
pub(super) fn kept<'a>(
    numbers: &'a Numbers,
    level: Option<i32>,
    dialect: &'static str,
) -> Option<&'a str> {
    let is_copied =
        level.is_none() && !numbers.must_swap(Endian::Little) && !numbers.bytes.is_compressed();
    spelled(&numbers.bytes, dialect).filter(|_| is_copied)
}

/// The checksum of an unknown kind, if it has this dialect.
pub(super) fn spelled<'a>(bytes: &'a Bytes, dialect: &'static str) -> Option<&'a str> {
    let (own, text) = bytes.unknown_digest()?;
    (own == dialect).then_some(text)
}

/// Whether a tensor of several parts keeps its checksum of an unknown kind, rather than getting a
/// requested one.
pub(super) fn is_kept(tensor: &Tensor, options: &Options, dialect: &'static str) -> Result<bool> {
    let was = tensor.hints.text(hint::ENCODING) == Some("zstd");
    let level = zstd_level(options, was)?;
    let parts = tensor.storage().parts();
    let mut parts = parts.iter();
    Ok(options.get("checksum").is_some() || parts.any(|part| kept(part, level, dialect).is_some()))
}

/// Bytes with a checksum in the dialect before generation 2: `crc32c:0x…` or `sha256:…`, with
/// digits of either case; one of an unknown kind is kept. The error is a description of the fault.
pub(super) fn over(blob: Bytes, text: &str) -> std::result::Result<Bytes, String> {
    let (algorithm, digits) = if let Some(digits) = text.strip_prefix("crc32c:0x") {
        (Algorithm::Crc32c, digits)
    } else if let Some(digits) = text.strip_prefix("sha256:") {
        (Algorithm::Sha256, digits)
    } else {
        return Ok(blob.with_unknown_digest(BEFORE_2, text));
    };
    match of_digits(algorithm, digits) {
        Some(digest) => Ok(blob.with_digest(Some(digest))),
        None => Err(format!(
            "the checksum {text:?}, {} hexadecimal digits of {} were expected",
            n_digits(algorithm),
            name(algorithm)
        )),
    }
}

fn n_digits(algorithm: Algorithm) -> usize {
    match algorithm {
        Algorithm::Crc32 | Algorithm::Crc32c => 8,
        Algorithm::Xxh3 => 16,
        Algorithm::Sha256 => 64,
    }
}

/// A checksum with the full number of digits.
pub(super) fn of_digits(algorithm: Algorithm, digits: &str) -> Option<Digest> {
    if digits.len() != n_digits(algorithm) {
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

/// A checksum as text.
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
