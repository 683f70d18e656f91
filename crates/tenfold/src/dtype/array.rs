//! Lazy arrays of numbers: bytes with a number type and a byte order.

use super::{Element, Number};
use crate::bytes::{Bytes, Endian, PIECE, swap, swap_into, to_u64, to_usize};
use crate::error::{Error, Result};
use crate::io::{Sink, Threads, ordered_pipeline, par_for_each};
use crate::limits::Limits;
use crate::memory;

/// A lazy array of numbers: bytes that know their type and byte order.
#[derive(Debug, Clone)]
pub struct Numbers {
    /// The number type.
    pub number: Number,
    /// The byte order.
    pub endian: Endian,
    /// The bytes.
    pub bytes: Bytes,
}

/// Booleans as 0 and 1, where any byte but 0 stands for true.
pub(crate) fn bools(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|byte| u8::from(*byte != 0)).collect()
}

impl Numbers {
    /// An array of numbers in memory.
    #[must_use]
    pub fn from_vec<T: Element>(values: &[T]) -> Numbers {
        let mut bytes = Vec::with_capacity(values.len().saturating_mul(T::DTYPE.width()));
        for value in values {
            value.to_le(&mut bytes);
        }
        Numbers {
            number: T::DTYPE.number,
            endian: Endian::Little,
            bytes: Bytes::memory(bytes),
        }
    }

    /// The number of numbers.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.bytes.len() / to_u64(self.number.width())
    }

    /// Whether the array is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the bytes must be swapped for the byte order `endian`.
    pub(crate) fn must_swap(&self, endian: Endian) -> bool {
        self.endian != endian && self.number.width() > 1
    }

    /// Hands out the bytes of all numbers in the byte order `endian`, in pieces of at most about
    /// `budget` bytes that hold whole elements of `width` bytes.
    ///
    /// # Errors
    /// As [`Bytes::for_each`].
    pub fn for_each(
        &self,
        endian: Endian,
        width: usize,
        budget: usize,
        each: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let width = width.max(1);
        let budget = (budget / width).max(1).saturating_mul(width);
        let must_swap = self.must_swap(endian);
        if must_swap && self.bytes.is_plain() {
            return self.for_each_swapped(budget, each);
        }
        let mut carry: Vec<u8> = Vec::new();
        self.bytes.for_each(budget, &mut |piece| {
            if carry.is_empty() && piece.len().is_multiple_of(width) && !must_swap {
                return each(piece);
            }
            carry.extend_from_slice(piece);
            let whole = carry.len() - carry.len() % width;
            let (now, later) = carry.split_at_mut(whole);
            if must_swap {
                swap(now, self.number.width());
            }
            if !now.is_empty() {
                each(now)?;
            }
            carry = later.to_vec();
            Ok(())
        })
    }

    /// Hands out the bytes of all numbers in the other byte order, swapped by several threads.
    fn for_each_swapped(
        &self,
        budget: usize,
        each: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        self.bytes.compare_checksum()?;
        let len = usize::try_from(self.bytes.len()).unwrap_or(usize::MAX);
        let mut at = 0_u64;
        let fill = |piece: &mut Vec<u8>| {
            let left = self.bytes.len().saturating_sub(at);
            memory::resize(piece, to_usize(left.min(to_u64(budget)))?)?;
            self.bytes.read_at(at, piece)?;
            at = at.saturating_add(to_u64(piece.len()));
            Ok(!piece.is_empty())
        };
        let work = |piece: &mut Vec<u8>| {
            swap(piece, self.number.width());
            Ok(())
        };
        ordered_pipeline(Threads::Cores.for_len(len), fill, work, |piece| each(piece))
    }

    /// Fills `out` with all numbers, little-endian, on several threads if possible.
    pub(crate) fn read_into(&self, out: &mut [u8]) -> Result<()> {
        const SHARE: usize = 1 << 20;
        if to_u64(out.len()) != self.bytes.len() {
            let why = format!("{} bytes of room for {}", out.len(), self.bytes.len());
            return Err(Error::invalid(why));
        }
        let must_swap = self.must_swap(Endian::Little);
        if self.bytes.is_plain() {
            let threads = Threads::Cores.for_len(out.len());
            // Values computed in slabs use threads of their own.
            let (threads, share) = match self.bytes.source().depth() {
                0 => (threads, SHARE),
                _ => (1, out.len().max(1)),
            };
            return par_for_each(
                threads,
                out.chunks_mut(share).enumerate(),
                |(number, out)| {
                    let at = number.saturating_mul(share);
                    let stored = self.bytes.as_slice().and_then(|all| all.get(at..));
                    if let (Some(stored), true) = (stored, must_swap) {
                        swap_into(stored, self.number.width(), out);
                        return Ok(());
                    }
                    self.bytes.read_at(to_u64(at), out)?;
                    if must_swap {
                        swap(out, self.number.width());
                    }
                    Ok(())
                },
            );
        }
        self.bytes.read_all(out)?;
        if must_swap {
            swap(out, self.number.width());
        }
        Ok(())
    }

    /// Writes all numbers in the byte order `endian`: copied unchanged if possible.
    pub(crate) fn write(&self, out: &mut Sink, endian: Endian) -> Result<()> {
        if !self.must_swap(endian) {
            return out.copy(&self.bytes);
        }
        self.for_each(endian, self.number.width(), PIECE, &mut |piece| {
            out.write(piece)
        })
    }

    /// All numbers, read as `T`.
    ///
    /// # Errors
    /// [`Error::Invalid`] if `T` is another number type, and errors of reading.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        let width = T::DTYPE.width();
        if T::DTYPE.number != self.number {
            return Err(Error::invalid(format!(
                "{} cannot be read as {}",
                self.number,
                T::DTYPE
            )));
        }
        let mut values = Vec::new();
        self.for_each(Endian::Little, width, PIECE, &mut |piece| {
            values.extend(piece.chunks_exact(width).map(T::from_le));
            Ok(())
        })?;
        Ok(values)
    }

    /// The same numbers with random access: decompressed if necessary.
    pub(crate) fn settled(&self, limits: &Limits) -> Result<Numbers> {
        Ok(Numbers {
            bytes: self.bytes.settled(limits)?,
            ..self.clone()
        })
    }

    /// The same numbers for a few reads, as [`Bytes::at_hand`].
    pub(crate) fn at_hand(&self, limits: &Limits) -> Result<Numbers> {
        Ok(Numbers {
            bytes: self.bytes.at_hand(limits)?,
            ..self.clone()
        })
    }

    /// The same numbers with fast random access, whether they are compressed or computed.
    pub(crate) fn spooled(&self, limits: &Limits) -> Result<Numbers> {
        Ok(Numbers {
            bytes: self.bytes.spooled(limits)?,
            ..self.clone()
        })
    }
}
