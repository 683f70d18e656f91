//! Checksums as the generations spell them.
#![deny(clippy::arithmetic_side_effects)]

use super::{hint, zstd_level};
use crate::bytes::{Algorithm, Bytes, Digest, Endian};
use crate::error::{Aspect, Result, Tier};
use crate::format::{Adapted, Options};
use crate::number::Numbers;
use crate::tensor::Tensor;

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

/// The checksum of a kind that is not known of numbers that are written as they are stored.
pub(super) fn kept(numbers: &Numbers, level: Option<i32>) -> Option<&str> {
    let is_copied =
        level.is_none() && !numbers.must_swap(Endian::Little) && !numbers.bytes.is_compressed();
    numbers.bytes.unknown_digest().filter(|_| is_copied)
}

/// Whether a tensor of several parts keeps its checksum of a kind that is not known.
pub(super) fn is_kept(tensor: &Tensor, options: &Options) -> Result<bool> {
    let was = tensor.hints.text(hint::ENCODING) == Some("zstd");
    let level = zstd_level(options, was)?;
    let parts = tensor.storage().parts();
    Ok(parts.iter().any(|part| kept(part, level).is_some()))
}

/// Drops a checksum of a kind that is not known, and says so, where it is not written again: it is
/// that of other bytes then.
pub(super) fn adapt(
    tensor: &Tensor,
    options: &Options,
    keeps: fn(&Tensor, &Options) -> Result<bool>,
) -> Result<Option<Adapted>> {
    let had = tensor.hints.text(hint::CHECKSUM);
    let unknown = had.filter(|had| *had != "none" && named(had).is_none());
    let Some(unknown) = unknown.filter(|_| options.get("checksum").is_none()) else {
        return Ok(None);
    };
    if keeps(tensor, options)? {
        return Ok(None);
    }
    let detail = format!(
        "the checksum {unknown:?} is of an unknown kind and of other bytes than are written: dropped"
    );
    let mut adapted = tensor.clone();
    adapted.hints.remove(hint::CHECKSUM);
    let change = (Tier::Said, Aspect::Metadata, detail);
    Ok(Some((adapted, vec![change])))
}

/// Bytes with a checksum of the generations before 2 over them: `crc32c:0x…` or `sha256:…`, with
/// digits of either case; one of another kind is kept as it is. An error says what is wrong with it.
pub(super) fn over(blob: Bytes, text: &str) -> std::result::Result<Bytes, String> {
    let (algorithm, digits) = if let Some(digits) = text.strip_prefix("crc32c:0x") {
        (Algorithm::Crc32c, digits)
    } else if let Some(digits) = text.strip_prefix("sha256:") {
        (Algorithm::Sha256, digits)
    } else {
        return Ok(blob.with_unknown_digest(text));
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

/// A checksum whose digits are all there.
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
