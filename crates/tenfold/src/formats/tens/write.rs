//! Writes TENS, versions 1.0 and 0.9.

use super::{
    CARRIED, CHUNK_HEADER, DENSDATA, FLAG_IX, FLAG_PK, FLAG_SP, MAGIC, NAME, SYMMETRY, VERSION_0_9,
    VERSION_1_0, align8, default_name, is_printable, name, old_name,
};
use crate::bundle::Bundle;
use crate::bytes::{Endian, swap, to_u64, to_usize};
use crate::dtype::{Kind, Numbers};
use crate::error::{Error, Result};
use crate::format::WriteOptions;
use crate::io::Sink;
use crate::loss::{Aspect, Loss, Tier};
use crate::meta::Value;
use crate::tensor::{SortedCells, Storage, Symmetry, Tensor};

/// Writes version 1.0.
pub(super) fn write_1_0(bundle: &Bundle, out: &mut Sink, how: &WriteOptions) -> Result<()> {
    Writer::of(bundle, how)?.write_1_0(out)
}

/// Writes version 0.9, which has dense floats only.
pub(super) fn write_0_9(bundle: &Bundle, out: &mut Sink, how: &WriteOptions) -> Result<()> {
    Writer::of(bundle, how)?.write_0_9(out)
}

struct Writer<'a> {
    tensor: &'a Tensor,
    chunks: &'a [Value],
    /// Metadata without a field, as text.
    carried: Option<&'a str>,
    how: &'a WriteOptions,
}

impl<'a> Writer<'a> {
    fn of(bundle: &'a Bundle, how: &'a WriteOptions) -> Result<Writer<'a>> {
        let chunks = bundle.meta.get(name::CHUNKS).and_then(Value::as_list);
        Ok(Writer {
            tensor: bundle.only()?,
            chunks: chunks.unwrap_or_default(),
            carried: bundle.meta.text(name::CARRIED),
            how,
        })
    }

    fn write_0_9(&self, out: &mut Sink) -> Result<()> {
        self.header(out, VERSION_0_9, old_name)?;
        self.values()?.write(out, Endian::Little)
    }

    fn write_1_0(&self, out: &mut Sink) -> Result<()> {
        let names = self.header(out, VERSION_1_0, default_name)?;
        for symmetry in self.tensor.symmetries() {
            write_symmetry(symmetry, &names, out)?;
        }
        self.write_carried(out)?;
        self.write_chunks(false, out)?;
        if let Storage::Sparse { .. } = self.tensor.storage() {
            return self.write_pairs(out);
        }
        let values = self.values()?;
        let total = align8(u128::from(values.bytes.len()).saturating_add(CHUNK_HEADER.into()));
        out.write(DENSDATA)?;
        out.write(&u64::try_from(total).unwrap_or(u64::MAX).to_le_bytes())?;
        values.write(out, self.endian(values))?;
        out.pad_to(8)?;
        self.write_chunks(true, out)
    }

    fn values(&self) -> Result<&Numbers> {
        match self.tensor.storage() {
            Storage::Dense { values, .. } | Storage::Sparse { values, .. } => Ok(values),
            Storage::Train { .. } | Storage::Opaque { .. } => Err(Error::invalid(
                "tens holds dense and index-value tensors only",
            )),
        }
    }

    /// The byte order to be written: integers keep theirs, floats are little-endian.
    fn endian(&self, values: &Numbers) -> Endian {
        match self.tensor.dtype().number.kind() {
            Kind::Float => Endian::Little,
            Kind::Bool | Kind::Unsigned | Kind::Signed => values.endian,
        }
    }

    /// Writes the fixed fields and the dimensions; returns the names of the dimensions.
    fn header(&self, out: &mut Sink, version: u32, default: fn(usize) -> u8) -> Result<Vec<u8>> {
        let dtype = self.tensor.dtype();
        let code: &[u8; 4] = match (dtype.number.kind(), self.endian(self.values()?)) {
            (Kind::Float, _) => b"IEEE",
            (Kind::Signed, Endian::Little) => b"sint",
            (Kind::Signed, Endian::Big) => b"SINT",
            (Kind::Bool | Kind::Unsigned, Endian::Little) => b"uint",
            (Kind::Bool | Kind::Unsigned, Endian::Big) => b"UINT",
        };
        let has_pairs = matches!(self.tensor.storage(), Storage::Sparse { .. });
        let sizes = self.tensor.sizes()?;
        out.write(MAGIC)?;
        out.write(&version.to_le_bytes())?;
        out.write(code)?;
        for field in [dtype.number.width(), dtype.arity.count(), sizes.len()] {
            out.write(&u32::try_from(field).unwrap_or(u32::MAX).to_le_bytes())?;
        }
        out.write(&if has_pairs { FLAG_IX } else { 0 }.to_le_bytes())?;
        out.write(&[0; 4])?;
        let names = self.names(default);
        let sparse = self.sparse_dims(has_pairs && version == VERSION_1_0);
        for ((size, name), sparse) in sizes.iter().zip(&names).zip(sparse) {
            let length = u32::try_from(*size).map_err(|_| {
                Error::invalid(format!("a length of {size} needs more than 32 bits"))
            })?;
            out.write(&length.to_le_bytes())?;
            out.write(&[*name, if sparse { FLAG_SP } else { 0 }, 0, 0])?;
        }
        Ok(names)
    }

    fn names(&self, default: fn(usize) -> u8) -> Vec<u8> {
        let is_nul = self.tensor.hints.get(name::NUL_NAMES) == Some(&Value::Bool(true))
            && self.tensor.symmetries().is_empty();
        let letter = |text: &str| {
            text.chars()
                .next()
                .and_then(|letter| u8::try_from(letter).ok())
        };
        let dims = self.tensor.dims().iter().enumerate();
        dims.map(|(place, dim)| match dim.name.as_deref().and_then(letter) {
            Some(letter) => letter,
            None if is_nul => 0,
            None => default(place),
        })
        .collect()
    }

    fn sparse_dims(&self, default: bool) -> Vec<bool> {
        let ndim = self.tensor.dims().len();
        match self
            .tensor
            .hints
            .get(name::SPARSE_DIMS)
            .and_then(Value::as_list)
        {
            Some(flags) if flags.len() == ndim => flags
                .iter()
                .map(|flag| *flag == Value::Bool(true))
                .collect(),
            _ => vec![default; ndim],
        }
    }

    fn write_carried(&self, out: &mut Sink) -> Result<()> {
        let Some(text) = self.carried else {
            return Ok(());
        };
        let total = align8(u128::from(to_u64(text.len())).saturating_add(CHUNK_HEADER.into()));
        out.write(CARRIED)?;
        out.write(&u64::try_from(total).unwrap_or(u64::MAX).to_le_bytes())?;
        out.write(text.as_bytes())?;
        out.pad_to(8)
    }

    /// Writes the kept chunks from before or after the data.
    fn write_chunks(&self, after: bool, out: &mut Sink) -> Result<()> {
        for chunk in self.chunks {
            // There are no chunks after pairs: those from other files go before them.
            let is_pairs = matches!(self.tensor.storage(), Storage::Sparse { .. });
            let stands_after = !is_pairs && chunk.get("after") == Some(&Value::Bool(true));
            let magic = chunk
                .get("magic")
                .and_then(Value::as_text)
                .map(str::as_bytes);
            let (Some(magic), Some(Value::Bytes(data))) = (magic, chunk.get("data")) else {
                return Err(Error::invalid(
                    "tens:chunks are maps of magic, after and data",
                ));
            };
            if magic.len() != 8 || !magic.iter().all(is_printable) || data.len() % 8 != 0 {
                let why = "a chunk has a magic of 8 printable characters and a multiple of 8 bytes";
                return Err(Error::invalid(why));
            }
            if stands_after == after {
                out.write(magic)?;
                out.write(
                    &to_u64(data.len())
                        .saturating_add(CHUNK_HEADER)
                        .to_le_bytes(),
                )?;
                out.write(data)?;
            }
        }
        Ok(())
    }

    /// Writes one pair for every orbit that has a stored cell, in ascending order.
    fn write_pairs(&self, out: &mut Sink) -> Result<()> {
        let keep = [("drop", false), ("keep", true)];
        let keeps_zeros = self.how.options.choose("zeros", &keep)?.unwrap_or(false);
        let sorted = SortedCells::new(self.tensor, &self.how.limits)?;
        let dropped = if keeps_zeros { 0 } else { sorted.n_zeros() };
        if dropped > 0 {
            let stored = self.tensor.stored();
            out.report(Loss {
                key: None,
                aspect: Aspect::Sparsity,
                detail: format!(
                    "{dropped} of {stored} explicit cells are zero and left out; --opt zeros=keep \
                     writes them"
                ),
                tier: Tier::Said,
            });
        }
        out.write(&self.tensor.stored().saturating_sub(dropped).to_le_bytes())?;
        let is_big = self.endian(self.values()?) == Endian::Big;
        let width = self.tensor.dtype().number.width();
        let mut pair = Vec::with_capacity(to_usize(CHUNK_HEADER)?);
        sorted.for_each(&mut |index, value| {
            if !keeps_zeros && sorted.says_nothing(index, value)? {
                return Ok(());
            }
            pair.clear();
            pair.extend_from_slice(value);
            if is_big {
                swap(&mut pair, width);
            }
            out.write(&index.to_le_bytes())?;
            out.write(&pair)
        })
    }
}

fn write_symmetry(symmetry: &Symmetry, names: &[u8], out: &mut Sink) -> Result<()> {
    let code = symmetry.operation.as_bytes();
    let n =
        u8::try_from(code.len()).map_err(|_| Error::invalid(format!("{NAME}: code too long")))?;
    let total = align8(
        to_u64(names.len())
            .saturating_add(n.into())
            .saturating_add(18)
            .into(),
    );
    out.write(SYMMETRY)?;
    out.write(&u64::try_from(total).unwrap_or(u64::MAX).to_le_bytes())?;
    out.write(&[if symmetry.packed { FLAG_PK } else { 0 }, n])?;
    out.write(code)?;
    for place in &symmetry.permutation {
        out.write(
            names
                .get(*place..)
                .and_then(|names| names.get(..1))
                .unwrap_or_default(),
        )?;
    }
    out.pad_to(8)
}
