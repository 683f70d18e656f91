//! Content hashes: the same for the same tensors in any format, order, byte order or compression.
//!
//! `docs/hash.md` is the specification.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

use sha2::{Digest as _, Sha256};

use crate::bundle::Bundle;
use crate::bytes::{Endian, PIECE, to_u64};
use crate::dtype::{Number, Numbers, bools};
use crate::error::{Error, Result};
use crate::io::spawn;
use crate::limits::Limits;
use crate::memory;
use crate::tensor::{Address, Cell, Order, SortedCells, Storage, Tensor, strides};

/// Domain separator at the beginning of every hash.
const DOMAIN: &str = "tenfold.hash/1";

/// The size of a mapped dimension in the hash.
const MAPPED: u64 = u64::MAX;

/// The hash of a tensor or of a file: SHA-256 over its meaning. Displayed in hexadecimal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash(pub [u8; 32]);

impl fmt::Display for ContentHash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

/// How a sparse tensor is hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SparseHashing {
    /// As its explicit cells.
    #[default]
    Cells,
    /// As the dense tensor with the same values.
    Dense,
}

/// The hashes of all tensors of a bundle, in order, computed on all cores.
///
/// # Errors
/// [`Error::Malformed`] if a checksum is wrong or a cell is duplicate, [`Error::Limit`] if
/// unpacking would exceed `limits`.
pub fn tensor_hashes(
    bundle: &Bundle,
    sparse: SparseHashing,
    limits: &Limits,
) -> Result<Vec<ContentHash>> {
    let entries = bundle.entries();
    let next = AtomicUsize::new(0);
    let work = || -> Result<Vec<(usize, Result<ContentHash>)>> {
        let mut found = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some((_, tensor)) = entries.get(place) else {
                return Ok(found);
            };
            memory::push(&mut found, (place, tensor_hash(tensor, sparse, limits)))?;
        }
    };
    let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut found = std::thread::scope(|scope| {
        let others = 1..n_cores.min(entries.len());
        let others: Vec<_> = others.map_while(|_| spawn(scope, work)).collect();
        others.into_iter().fold(work(), |found, other| {
            let stopped = |_| Err(Error::invalid("a thread stopped halfway"));
            let other = other.join().unwrap_or_else(stopped);
            let (mut found, mut other) = (found?, other?);
            memory::reserve(&mut found, other.len())?;
            found.append(&mut other);
            Ok(found)
        })
    })?;
    found.sort_unstable_by_key(|(place, _)| *place);
    memory::gathered(found.into_iter().map(|(_, hash)| hash))
}

/// The hash of a file with these named tensors: for a single tensor its own hash, whatever its
/// name.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn file_hash<T: AsRef<str>>(tensors: &[(T, ContentHash)]) -> Result<ContentHash> {
    if let [(_, only)] = tensors {
        return Ok(*only);
    }
    let tensors = tensors.iter();
    let mut sorted = memory::collected(tensors.map(|(name, hash)| (name.as_ref(), *hash)))?;
    sorted.sort_unstable();
    let mut state = State::new("file");
    state.number(to_u64(sorted.len()));
    for (name, hash) in sorted {
        state.text(name);
        state.bytes(&hash.0);
    }
    Ok(state.finish())
}

fn tensor_hash(tensor: &Tensor, sparse: SparseHashing, limits: &Limits) -> Result<ContentHash> {
    tensor.compare_checksums()?;
    match tensor.storage() {
        Storage::Dense { .. } => dense(tensor, limits),
        Storage::Sparse {
            address: Address::Labels,
            ..
        } => labelled(tensor, limits),
        Storage::Sparse { .. } if sparse == SparseHashing::Dense => dense(tensor, limits),
        Storage::Sparse { .. } => cells(tensor, limits),
        Storage::Train { ranks, cores } => train(tensor, ranks, cores),
        Storage::Opaque { layout, parts } => opaque(tensor, layout, parts),
    }
}

fn dense(tensor: &Tensor, limits: &Limits) -> Result<ContentHash> {
    let mut state = State::of(tensor, "dense");
    tensor.for_each(PIECE, limits, &mut |piece| {
        state.values(tensor.dtype().number, piece);
        Ok(())
    })?;
    Ok(state.finish())
}

/// Hashes the cells of a sparse tensor, without those whose bytes are all zero.
fn cells(tensor: &Tensor, limits: &Limits) -> Result<ContentHash> {
    let mut state = State::of(tensor, "sparse");
    SortedCells::every(tensor, strides(&tensor.sizes()?, Order::Row), limits)?.for_each(
        &mut |number, value| {
            if value.iter().any(|byte| *byte != 0) {
                state.number(number);
                state.values(tensor.dtype().number, value);
            }
            Ok(())
        },
    )?;
    Ok(state.finish())
}

/// Hashes blocks in the order of their own hashes, which takes little memory however long the
/// labels.
fn labelled(tensor: &Tensor, limits: &Limits) -> Result<ContentHash> {
    let mut state = State::of(tensor, "labelled");
    for dim in tensor.dims() {
        state.text(dim.name.as_deref().unwrap_or_default());
    }
    let mut blocks: Vec<[u8; 32]> = Vec::new();
    tensor.for_each_cell(limits, &mut |cell| {
        if let Cell::Labelled { labels, values } = cell {
            let mut block = State::new("block");
            labels.iter().for_each(|label| block.text(label));
            block.numbers(&values)?;
            memory::push(&mut blocks, block.finish().0)?;
        }
        Ok(())
    })?;
    blocks.sort_unstable();
    blocks.iter().for_each(|block| state.bytes(block));
    Ok(state.finish())
}

fn train(tensor: &Tensor, ranks: &[u64], cores: &[Numbers]) -> Result<ContentHash> {
    let mut state = State::of(tensor, "train");
    ranks.iter().for_each(|rank| state.number(*rank));
    for core in cores {
        state.numbers(core)?;
    }
    Ok(state.finish())
}

fn opaque(tensor: &Tensor, layout: &str, parts: &[(String, Numbers)]) -> Result<ContentHash> {
    let mut state = State::of(tensor, "opaque");
    state.text(layout);
    state.number(to_u64(parts.len()));
    for (name, numbers) in parts {
        state.text(name);
        state.text(numbers.number.as_str());
        state.number(numbers.bytes.len());
        state.numbers(numbers)?;
    }
    Ok(state.finish())
}

/// A hash in progress.
struct State(Sha256);

impl State {
    fn new(kind: &str) -> State {
        let mut state = State(Sha256::new());
        state.text(DOMAIN);
        state.text(kind);
        state
    }

    /// Starts with the fields that all tensors have.
    fn of(tensor: &Tensor, kind: &str) -> State {
        let mut state = State::new(kind);
        state.text(&tensor.dtype().to_string());
        state.number(to_u64(tensor.dims().len()));
        for dim in tensor.dims() {
            state.number(dim.indexed_size().unwrap_or(MAPPED));
        }
        state
    }

    fn number(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(to_u64(text.len()));
        self.bytes(text.as_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Hashes values of one number type: booleans as 0 or 1, whatever byte stands for true in the
    /// file.
    fn values(&mut self, number: Number, bytes: &[u8]) {
        match number {
            Number::Bool => self.bytes(&bools(bytes)),
            _ => self.bytes(bytes),
        }
    }

    fn numbers(&mut self, numbers: &Numbers) -> Result<()> {
        let width = numbers.number.width();
        numbers.for_each(Endian::Little, width, PIECE, &mut |piece| {
            self.bytes(piece);
            Ok(())
        })
    }

    fn finish(self) -> ContentHash {
        ContentHash(self.0.finalize().into())
    }
}
