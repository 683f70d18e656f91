//! Checksums over stored or decoded bytes.

use sha2::Digest as _;

use crate::bytes::{Bytes, Extent, PIECE, to_u64, to_usize};
use crate::error::{Error, Result};
use crate::io::{Source, Threads, join, ordered_pipeline};
use crate::memory;

/// A checksum algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// CRC-32 (of zip and gzip), four bytes.
    Crc32,
    /// CRC-32C (Castagnoli), four bytes.
    Crc32c,
    /// SHA-256, thirty-two bytes.
    Sha256,
    /// XXH3, eight bytes.
    Xxh3,
}

/// The expected checksum of bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Digest {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The expected value, most significant byte first.
    pub expected: Vec<u8>,
    /// The range of the source that it covers, if that is not the bytes themselves: the whole file,
    /// for example. It is read before the first of the bytes is handed out.
    pub over: Option<std::ops::Range<u64>>,
}

/// The running state of a checksum.
pub(crate) enum State {
    Crc32(crc32fast::Hasher),
    Crc32c(u32),
    Sha256(Box<sha2::Sha256>),
    Xxh3(Box<xxhash_rust::xxh3::Xxh3>),
}

impl State {
    pub(crate) fn new(algorithm: Algorithm) -> State {
        match algorithm {
            Algorithm::Crc32 => State::Crc32(crc32fast::Hasher::new()),
            Algorithm::Crc32c => State::Crc32c(0),
            Algorithm::Sha256 => State::Sha256(Box::default()),
            Algorithm::Xxh3 => State::Xxh3(Box::default()),
        }
    }

    pub(crate) fn update(&mut self, piece: &[u8]) {
        match self {
            State::Crc32(crc) => crc.update(piece),
            State::Crc32c(crc) => *crc = crc32c::crc32c_append(*crc, piece),
            State::Sha256(sha) => sha.update(piece),
            State::Xxh3(hash) => hash.update(piece),
        }
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        match self {
            State::Crc32(crc) => crc.finalize().to_be_bytes().to_vec(),
            State::Crc32c(crc) => crc.to_be_bytes().to_vec(),
            State::Sha256(sha) => sha.finalize().to_vec(),
            State::Xxh3(hash) => hash.digest().to_be_bytes().to_vec(),
        }
    }
}

impl Digest {
    pub(crate) fn start(&self) -> State {
        State::new(self.algorithm)
    }

    /// Verifies a checksum over another range of the source.
    pub(crate) fn compare_elsewhere(
        &self,
        source: &Source,
        over: std::ops::Range<u64>,
    ) -> Result<()> {
        let digest = Digest {
            over: None,
            ..self.clone()
        };
        let bytes = Bytes::run(source, over)?.with_digest(Some(digest));
        bytes.for_each(PIECE, &mut |_| Ok(()))
    }

    pub(crate) fn compare(&self, state: State, at: u64) -> Result<()> {
        let found = state.finish();
        if found == self.expected {
            return Ok(());
        }
        let why = format!(
            "checksum is {}, the data's is {}",
            hexadecimal(&self.expected),
            hexadecimal(&found)
        );
        Err(Error::malformed(at, why))
    }
}

/// Hands out the output of `decode`, and verifies its checksum at the end.
pub(crate) fn compare_decoded(
    bytes: &Bytes,
    each: &mut dyn FnMut(&[u8]) -> Result<()>,
    decode: impl FnOnce(&mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>,
) -> Result<()> {
    let Some(digest) = bytes.content_digest() else {
        return decode(each);
    };
    let mut state = digest.start();
    decode(&mut |piece| {
        state.update(piece);
        each(piece)
    })?;
    digest.compare(state, bytes.at())
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Verifies the checksum of a run in a file, with two reading threads if the algorithm allows it.
///
/// CRC-32C of two halves combines into that of the whole; SHA-256 does not.
pub(crate) fn compare_in_parallel(bytes: &Bytes) -> Result<()> {
    /// Below this a second thread costs more than it saves.
    const WORTH_A_THREAD: usize = 8 << 20;
    let (Some(digest), Extent::Run(run)) = (bytes.digest(), bytes.extent()) else {
        return bytes.for_each(PIECE, &mut |_| Ok(()));
    };
    let len = run.end.saturating_sub(run.start);
    if digest.over.is_some() {
        return bytes.for_each(PIECE, &mut |_| Ok(()));
    }
    let length = usize::try_from(len).unwrap_or(usize::MAX);
    if length < WORTH_A_THREAD || Threads::Cores.for_len(length) < 2 {
        let state = state_of_run(bytes, digest, run.clone())?;
        return digest.compare(state, run.start);
    }
    if digest.algorithm != Algorithm::Crc32c {
        return compare_while_reading(bytes, run.clone(), digest);
    }
    let middle = run.start.saturating_add(len / 2);
    let half = |run| match state_of_run(bytes, digest, run)? {
        State::Crc32c(crc) => Ok(crc),
        _ => Err(Error::invalid("a checksum of another kind")),
    };
    let (first, second) = join(2, || half(run.start..middle), || half(middle..run.end))?;
    let second_len = to_usize(run.end.saturating_sub(middle))?;
    let crc = crc32c::crc32c_combine(first, second, second_len);
    digest.compare(State::Crc32c(crc), run.start)
}

/// Verifies a checksum that cannot be combined: one thread computes it while others read ahead.
fn compare_while_reading(bytes: &Bytes, run: std::ops::Range<u64>, digest: &Digest) -> Result<()> {
    let mut state = digest.start();
    let mut at = run.start;
    let next = |(range, _): &mut (std::ops::Range<u64>, Vec<u8>)| {
        *range = at..run.end.min(at.saturating_add(to_u64(PIECE)));
        at = range.end;
        Ok(!range.is_empty())
    };
    let read = |(range, buffer): &mut (std::ops::Range<u64>, Vec<u8>)| {
        memory::resize(buffer, to_usize(range.end.saturating_sub(range.start))?)?;
        bytes.source().read_at(range.start, buffer)
    };
    let len = usize::try_from(bytes.stored_len()).unwrap_or(usize::MAX);
    let readers = Threads::Cores.for_len(len).min(2);
    ordered_pipeline(readers, next, read, |(_, piece)| {
        state.update(piece);
        Ok(())
    })?;
    digest.compare(state, bytes.at())
}

/// A piece of a run, with its CRC-32C.
#[derive(Default)]
struct Piece {
    bytes: Vec<u8>,
    crc: u32,
}

/// Hands out the bytes of a run in a file, in pieces of at most `budget`, and verifies their
/// checksum, which other threads compute meanwhile.
pub(crate) fn compare_on_the_way(
    bytes: &Bytes,
    run: std::ops::Range<u64>,
    digest: &Digest,
    budget: usize,
    each: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut state = digest.start();
    let mut whole = 0;
    let mut at = run.start;
    let is_crc = digest.algorithm == Algorithm::Crc32c;
    let fill = |piece: &mut Piece| {
        let len = run.end.saturating_sub(at).min(to_u64(budget.max(1)));
        memory::resize(&mut piece.bytes, to_usize(len)?)?;
        bytes.source().read_at(at, &mut piece.bytes)?;
        at = at.saturating_add(len);
        // A checksum that cannot be combined is computed here, where the pieces pass in order.
        if !is_crc {
            state.update(&piece.bytes);
        }
        Ok(len > 0)
    };
    let work = |piece: &mut Piece| {
        if is_crc {
            piece.crc = crc32c::crc32c(&piece.bytes);
        }
        Ok(())
    };
    let len = usize::try_from(bytes.stored_len()).unwrap_or(usize::MAX);
    ordered_pipeline(Threads::Cores.for_len(len), fill, work, |piece| {
        if is_crc {
            whole = crc32c::crc32c_combine(whole, piece.crc, piece.bytes.len());
        }
        each(&piece.bytes)
    })?;
    let state = if is_crc { State::Crc32c(whole) } else { state };
    digest.compare(state, bytes.at())
}

/// The checksum of a run, computed by this thread.
fn state_of_run(bytes: &Bytes, digest: &Digest, run: std::ops::Range<u64>) -> Result<State> {
    let mut state = digest.start();
    let mut buffer = Vec::new();
    let mut at = run.start;
    while at < run.end {
        let len = to_u64(PIECE).min(run.end.saturating_sub(at));
        memory::resize(&mut buffer, to_usize(len)?)?;
        bytes.source().read_at(at, &mut buffer)?;
        state.update(&buffer);
        at = at.saturating_add(len);
    }
    Ok(state)
}
