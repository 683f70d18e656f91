//! The sparse layouts that the programs have and the specification lacks.
#![deny(clippy::arithmetic_side_effects)]

use super::super::hint;
use super::{COORDINATES, PART, ROWS};
use crate::bytes::{Bytes, Column, Endian, to_u64};
use crate::dtype::{Element, Number, Numbers};
use crate::error::{Error, Result, sound};
use crate::io::{Sink, Source};
use crate::limits::Limits;
use crate::tensor::{Address, Cell, Order, Storage, Tensor};

/// Splits a sparse blob, or keeps it opaque if its length does not fit its layout, or if
/// compression or a checksum covers it as a whole.
pub(super) fn read(
    source: &Source,
    blob: Bytes,
    layout: &str,
    is_raw: bool,
    sizes: &[u64],
    number: Number,
    endian: Endian,
) -> Result<Storage> {
    let blob_part = Blob {
        source,
        at: blob.at(),
        len: blob.stored_len(),
        number,
        endian,
    };
    let is_plain = is_raw && blob.digest().is_none() && blob.unknown_digest().is_none();
    let found = match layout {
        _ if !is_plain => None,
        COORDINATES => blob_part.coordinates(sizes)?,
        _ => blob_part.rows(sizes)?,
    };
    if let Some(storage) = found {
        return Ok(storage);
    }
    let values = Numbers {
        number: Number::U8,
        endian: Endian::Little,
        bytes: blob,
    };
    Ok(Storage::Opaque {
        layout: layout.into(),
        parts: vec![(PART.into(), values)],
    })
}

struct Blob<'a> {
    source: &'a Source,
    at: u64,
    len: u64,
    number: Number,
    endian: Endian,
}

impl Blob<'_> {
    fn width(&self) -> u64 {
        to_u64(self.number.width())
    }

    /// Records of one coordinate per dimension, and the value.
    fn coordinates(&self, sizes: &[u64]) -> Result<Option<Storage>> {
        let ndim = to_u64(sizes.len());
        let stride = ndim.saturating_mul(8).saturating_add(self.width());
        if ndim == 0 || !self.len.is_multiple_of(stride) {
            return Ok(None);
        }
        let count = self.len.checked_div(stride).unwrap_or(0);
        let column = |field: u64, width: u64| {
            let first = self.at.saturating_add(field.saturating_mul(8));
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
        let mut columns = Vec::new();
        for field in 0..ndim {
            columns.push(indices(column(field, 8)?));
        }
        let values = Numbers {
            number: self.number,
            endian: self.endian,
            bytes: column(ndim, self.width())?,
        };
        let address = Address::Coordinates(columns);
        Ok(Some(Storage::Sparse {
            order: Order::Row,
            address,
            values,
        }))
    }

    /// The start of each row, the column of each cell, the values.
    fn rows(&self, sizes: &[u64]) -> Result<Option<Storage>> {
        let [rows, _] = sizes else { return Ok(None) };
        let starts_len = rows.checked_add(1).and_then(|count| count.checked_mul(8));
        let Some(starts_len) = starts_len.filter(|len| *len <= self.len) else {
            return Ok(None);
        };
        let columns_at = self.at.saturating_add(starts_len);
        let mut last = [0; 8];
        self.source
            .read_at(columns_at.saturating_sub(8), &mut last)?;
        let count = u64::from_le_bytes(last);
        let columns_len = count.checked_mul(8);
        let values_len = count.checked_mul(self.width());
        let (Some(columns_len), Some(values_len)) = (columns_len, values_len) else {
            return Ok(None);
        };
        let total = starts_len
            .checked_add(columns_len)
            .and_then(|len| len.checked_add(values_len));
        if total != Some(self.len) {
            return Ok(None);
        }
        let values_at = columns_at.saturating_add(columns_len);
        let values_end = values_at.saturating_add(values_len);
        let address = Address::Rows {
            starts: indices(Bytes::run(self.source, self.at..columns_at)?),
            columns: indices(Bytes::run(self.source, columns_at..values_at)?),
        };
        let bytes = Bytes::run(self.source, values_at..values_end)?;
        let values = Numbers {
            number: self.number,
            endian: self.endian,
            bytes,
        };
        Ok(Some(Storage::Sparse {
            order: Order::Row,
            address,
            values,
        }))
    }
}

fn indices(bytes: Bytes) -> Numbers {
    Numbers {
        number: Number::U64,
        endian: Endian::Little,
        bytes,
    }
}

/// Whether a sparse tensor is still one blob of a file of this generation, as split by [`read`].
pub(super) fn is_blob(tensor: &Tensor) -> Result<bool> {
    let Storage::Sparse { values, .. } = tensor.storage() else {
        return Ok(false);
    };
    let parts = tensor.storage().parts();
    let (Some(first), Some(layout)) = (parts.first(), tensor.hints.text(hint::LAYOUT)) else {
        return Ok(false);
    };
    let (source, start) = (first.bytes.source(), first.bytes.at());
    let lens = parts.iter().map(|part| part.bytes.stored_len());
    let end = lens.fold(start, u64::saturating_add);
    let sizes = tensor.indexed_sizes();
    let again = Bytes::run(source, start..end).and_then(|blob| {
        read(
            source,
            blob,
            layout,
            true,
            &sizes,
            values.number,
            values.endian,
        )
    });
    let Some(again) = sound(again)? else {
        return Ok(false);
    };
    let again = again.parts();
    let is_same = |(own, again): (&&Numbers, &&Numbers)| {
        own.number == again.number
            && own.endian == again.endian
            && own.bytes.is_same_stretch(&again.bytes)
    };
    Ok(parts.len() == again.len() && parts.iter().zip(&again).all(is_same))
}

/// Writes a sparse blob in the byte order `endian`; returns the name of its layout.
pub(super) fn write(
    tensor: &Tensor,
    out: &mut Sink,
    endian: Endian,
    limits: &Limits,
) -> Result<&'static str> {
    let Storage::Sparse {
        address, values, ..
    } = tensor.storage()
    else {
        return Err(Error::invalid("the tensor is not sparse"));
    };
    if let Address::Rows { starts, columns } = address {
        write_indices(starts, out)?;
        write_indices(columns, out)?;
        values.write(out, endian)?;
        return Ok(ROWS);
    }
    let mut value_bytes = Vec::new();
    tensor.for_each_cell(limits, &mut |cell| {
        let Cell::At { index, value } = cell else {
            return Err(Error::invalid("labels have no coordinates"));
        };
        index
            .iter()
            .try_for_each(|place| out.write(&place.to_le_bytes()))?;
        value_bytes.clear();
        value_bytes.extend_from_slice(value);
        if endian == Endian::Big {
            crate::bytes::swap(&mut value_bytes, values.number.width());
        }
        out.write(&value_bytes)
    })?;
    Ok(COORDINATES)
}

/// Writes indices of any width as u64.
fn write_indices(numbers: &Numbers, out: &mut Sink) -> Result<()> {
    if numbers.number == Number::U64 {
        return numbers.write(out, Endian::Little);
    }
    let width = numbers.number.width();
    numbers.for_each(Endian::Little, width, crate::bytes::PIECE, &mut |piece| {
        for index in piece.chunks_exact(width) {
            let mut wide = [0; 8];
            wide.iter_mut()
                .zip(index)
                .for_each(|(to, from)| *to = *from);
            out.write(&<u64 as Element>::from_le(&wide).to_le_bytes())?;
        }
        Ok(())
    })
}
