//! Reads the chunks of version 1.0 after the dimensions, and the values among or after them.
#![deny(clippy::arithmetic_side_effects)]

use super::read::{Header, Reader};
use super::{CARRIED, CHUNK_HEADER, DENSDATA, FLAG_PK, NAME, SYMMETRY, align8, is_printable};
use crate::bytes::Endian::Little;
use crate::bytes::{Bytes, Column, to_u64};
use crate::dtype::{Number, Numbers};
use crate::error::{Error, Result, amount};
use crate::meta::Value;
use crate::tensor::{Address, Group, Operation, Order, Storage, Symmetry, product};

impl Reader<'_> {
    /// The chunks of version 1.0, and the values among or after them.
    pub(super) fn chunks_and_values(
        &mut self,
        header: &Header,
        symmetries: &mut Vec<Symmetry>,
    ) -> Result<Storage> {
        let mut storage = None;
        loop {
            let at = self.scan.at();
            if self.scan.left() == 0 {
                return match storage {
                    Some(storage) => Ok(storage),
                    None => self.scan.fail("the file ends before its values"),
                };
            }
            let magic: [u8; 8] = self.scan.array()?;
            if !magic.iter().all(is_printable) {
                if header.has_pairs && storage.is_none() {
                    return self.pairs(header, at, u64::from_le_bytes(magic));
                }
                return self
                    .scan
                    .fail_at(at, "a chunk was expected, and this is no magic");
            }
            let size_at = self.scan.at();
            let end = self.chunk_end(at)?;
            match &magic {
                SYMMETRY if storage.is_some() => {
                    return self.scan.fail_at(at, "a symmetry after the data");
                }
                SYMMETRY => {
                    let symmetry = self.symmetry(header, size_at, end, symmetries)?;
                    symmetries.push(symmetry);
                    self.how.limits.check_symmetries(to_u64(symmetries.len()))?;
                }
                DENSDATA if header.has_pairs => {
                    return self
                        .scan
                        .fail_at(at, "dense data where the flags promise pairs");
                }
                DENSDATA if storage.is_some() => {
                    return self.scan.fail_at(at, "a second data chunk");
                }
                DENSDATA => storage = Some(self.values(header, symmetries, size_at, end)?),
                CARRIED if self.carried.is_none() && storage.is_none() => {
                    self.carried(&magic, end)?;
                }
                _ => self.keep(&magic, end, storage.is_some())?,
            }
            self.scan.seek(end)?;
        }
    }

    /// Reads the size of the chunk at `at`; returns its end.
    fn chunk_end(&mut self, at: u64) -> Result<u64> {
        let size_at = self.scan.at();
        let size = self.scan.u64(Little)?;
        let fits = at.checked_add(size).filter(|end| *end <= self.source.len());
        match fits {
            Some(end) if size >= CHUNK_HEADER && size.is_multiple_of(8) => Ok(end),
            Some(_) => {
                let why =
                    format!("a chunk of {size} bytes, a multiple of 8 from 16 on was expected");
                self.scan.fail_at(size_at, why)
            }
            None => self.scan.fail_at(
                size_at,
                format!(
                    "truncated: a chunk of {size} bytes expected, {} found",
                    self.source.len().saturating_sub(at)
                ),
            ),
        }
    }

    fn symmetry(
        &mut self,
        header: &Header,
        size_at: u64,
        end: u64,
        known: &[Symmetry],
    ) -> Result<Symmetry> {
        let ndim = to_u64(header.sizes.len());
        let content = end.saturating_sub(self.scan.at());
        if content < 2 {
            return self
                .scan
                .fail_at(size_at, "a symmetry chunk without content");
        }
        let flags_at = self.scan.at();
        let flags = self.scan.u8()?;
        let n_at = self.scan.at();
        let n = self.scan.u8()?;
        if flags & !FLAG_PK != 0 {
            return self
                .scan
                .fail_at(flags_at, format!("symmetry flags are 0x{flags:02x}"));
        }
        let packed = flags & FLAG_PK != 0;
        if n == 0 {
            return self.scan.fail_at(n_at, "a symmetry without an operation");
        }
        let wanted = align8(
            u128::from(ndim)
                .saturating_add(u128::from(n))
                .saturating_add(18),
        );
        if u128::from(content).saturating_add(CHUNK_HEADER.into()) != wanted {
            let why = format!("a symmetry chunk of this content has {wanted} bytes");
            return self.scan.fail_at(size_at, why);
        }
        if packed && !header.has_pairs && known.iter().any(|symmetry| symmetry.packed) {
            return self
                .scan
                .fail_at(flags_at, "dense data packed by more than one symmetry");
        }
        let code_at = self.scan.at();
        let code = self.scan.take(n.into())?;
        if !code.iter().all(is_printable) {
            return self
                .scan
                .fail_at(code_at, "an operation code that is not printable");
        }
        let operation = String::from_utf8(code).unwrap_or_default();
        if packed && Operation::of_code(&operation).is_none() {
            let what = format!("packing by the operation {operation:?}");
            return Err(Error::Unsupported { format: NAME, what });
        }
        let permutation = self.map(header)?;
        self.padding(end)?;
        Ok(Symmetry {
            permutation,
            operation,
            packed,
        })
    }

    /// The names of the dimensions in another order: a permutation.
    fn map(&mut self, header: &Header) -> Result<Vec<usize>> {
        let at = self.scan.at();
        let map = self.scan.take(to_u64(header.names.len()))?;
        let mut names = header.names.clone();
        names.sort_unstable();
        names.dedup();
        if names.len() < header.names.len() || names.contains(&0) {
            return self.scan.fail_at(
                at,
                "a symmetry of dimensions whose names do not tell them apart",
            );
        }
        let mut permutation = Vec::new();
        for (letter, own) in map.iter().zip(&header.sizes) {
            let found = header.names.iter().position(|name| name == letter);
            let Some(place) = found.filter(|place| !permutation.contains(place)) else {
                let map = map.escape_ascii();
                return self
                    .scan
                    .fail_at(at, format!("\"{map}\" is no permutation of the names"));
            };
            if header.sizes.get(place) != Some(own) {
                return self
                    .scan
                    .fail_at(at, "a symmetry exchanges dimensions of different lengths");
            }
            permutation.push(place);
        }
        Ok(permutation)
    }

    /// Checks that all bytes up to `end` are zero.
    fn padding(&mut self, end: u64) -> Result<()> {
        let at = self.scan.at();
        let padding = self.scan.take(end.saturating_sub(at))?;
        match (0..).zip(&padding).find(|(_, byte)| **byte != 0) {
            None => Ok(()),
            Some((place, _)) => self.strictly(at.saturating_add(place), "padding is not zero"),
        }
    }

    fn values(
        &mut self,
        header: &Header,
        symmetries: &[Symmetry],
        size_at: u64,
        end: u64,
    ) -> Result<Storage> {
        let packed = |symmetry: &Symmetry| symmetry.packed;
        let stored = if symmetries.iter().any(packed) {
            let (sizes, dtype) = (&header.sizes, header.dtype);
            let group = Group::generate(sizes, dtype, symmetries, packed, &self.how.limits)?;
            group.stored().map(u128::from)
        } else {
            product(&header.sizes)
        };
        let len = stored.and_then(|stored| stored.checked_mul(to_u64(header.dtype.width()).into()));
        let len = len.unwrap_or(u128::MAX);
        let from = self.scan.at();
        let size = u128::from(end.saturating_sub(from)).saturating_add(CHUNK_HEADER.into());
        let wanted = align8(len.saturating_add(CHUNK_HEADER.into()));
        if size != wanted {
            let wanted = match len {
                u128::MAX => amount(len),
                _ => wanted.to_string(),
            };
            let why = format!("a data chunk of {size} bytes, the dimensions need {wanted}");
            return self.scan.fail_at(size_at, why);
        }
        // Inside the chunk, which is inside the file.
        let values_end = from.saturating_add(u64::try_from(len).unwrap_or(u64::MAX));
        self.scan.seek(values_end)?;
        self.padding(end)?;
        let bytes = Bytes::run(self.source, from..values_end)?;
        let values = Numbers {
            number: header.dtype.number,
            endian: header.endian,
            bytes,
        };
        Ok(Storage::Dense {
            order: Order::Column,
            values,
        })
    }

    /// The content of a chunk, within the limit of a header.
    fn content(&mut self, end: u64) -> Result<Vec<u8>> {
        let len = end.saturating_sub(self.scan.at());
        // Three texts and their values, at the same time.
        self.how.limits.charge_items::<[Value; 8]>(1)?;
        self.scan.keep(len, &self.how.limits)
    }

    /// Reads carried metadata; anything but text is kept as an unknown chunk.
    fn carried(&mut self, magic: &[u8; 8], end: u64) -> Result<()> {
        let data = self.content(end)?;
        let n_zeros = data.iter().rev().take_while(|byte| **byte == 0).count();
        let text = data
            .get(..data.len().saturating_sub(n_zeros))
            .unwrap_or_default();
        match std::str::from_utf8(text) {
            Ok(text) if n_zeros < 8 => self.carried = Some(text.to_owned()),
            _ => self.push_chunk(magic, false, data),
        }
        Ok(())
    }

    /// Keeps an unknown chunk.
    fn keep(&mut self, magic: &[u8; 8], end: u64, after: bool) -> Result<()> {
        let data = self.content(end)?;
        self.push_chunk(magic, after, data);
        Ok(())
    }

    fn push_chunk(&mut self, magic: &[u8; 8], after: bool, data: Vec<u8>) {
        let text = |text: &str| Value::Text(text.into());
        self.chunks.push(Value::Map(vec![
            (text("magic"), text(&String::from_utf8_lossy(magic))),
            (text("after"), Value::Bool(after)),
            (text("data"), Value::Bytes(data)),
        ]));
    }

    fn pairs(&mut self, header: &Header, at: u64, count: u64) -> Result<Storage> {
        let width = to_u64(header.dtype.width());
        let stride = width.saturating_add(8);
        let first = self.scan.at();
        let len = count
            .checked_mul(stride)
            .filter(|len| *len <= self.scan.left());
        let Some(len) = len else {
            let left = self.scan.left();
            return self.scan.fail_at(
                at,
                format!("{count} pairs of {stride} bytes, {left} are left"),
            );
        };
        self.scan.skip(len)?;
        self.scan.end()?;
        let column = |first: u64, width: u64| {
            Bytes::part(
                self.source,
                Column {
                    first,
                    width,
                    stride,
                    count,
                }
                .into(),
            )
        };
        let indices = Numbers {
            number: Number::U64,
            endian: Little,
            bytes: column(first, 8)?,
        };
        let values = Numbers {
            number: header.dtype.number,
            endian: header.endian,
            bytes: column(first.saturating_add(8), width)?,
        };
        Ok(Storage::Sparse {
            order: Order::Column,
            address: Address::Linear(indices),
            values,
        })
    }
}
