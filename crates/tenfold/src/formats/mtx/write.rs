//! Writes Matrix Market files.

use std::fmt::Write as _;

use super::header::{Banner, Kinds, Layout};
use super::{COMMENTS, Word};
use crate::bundle::Bundle;
use crate::bytes::{Endian, PIECE, TEXT_LEN};
use crate::dtype::{Element, write_number};
use crate::error::{Error, Result};
use crate::format::WriteOptions;
use crate::io::Sink;
use crate::tensor::{SortedCells, Storage, Tensor};
use crate::wire::text::{write_comments, write_float};

pub(super) fn write(bundle: &Bundle, out: &mut Sink, how: &WriteOptions) -> Result<()> {
    let tensor = bundle.only()?;
    let banner = Banner::of(tensor)?;
    let words = format!(
        "%%MatrixMarket matrix {} {} {}\n",
        banner.layout.word(),
        banner.field.word(),
        banner.symmetry.word()
    );
    out.write(words.as_bytes())?;
    write_comments(COMMENTS, &bundle.meta, &bundle.hints, out)?;
    let [rows, columns] = tensor.sizes()?[..] else {
        return Err(Error::invalid("not a matrix"));
    };
    match (banner.layout, tensor.storage()) {
        (Layout::Array, Storage::Dense { values, .. }) => {
            out.write(format!("{rows} {columns}\n").as_bytes())?;
            let width = tensor.dtype().width();
            let mut text = String::new();
            values.for_each(Endian::Little, width, PIECE, &mut |piece| {
                for element in piece.chunks_exact(width) {
                    write_entry(banner.field, element, &mut text);
                    if text.len() >= TEXT_LEN {
                        out.write(text.as_bytes())?;
                        text.clear();
                    }
                }
                out.write(text.as_bytes())?;
                text.clear();
                Ok(())
            })
        }
        _ => write_entries(tensor, banner, [rows, columns], out, how),
    }
}

/// Writes the entries of a sparse matrix, column by column.
fn write_entries(
    tensor: &Tensor,
    banner: Banner,
    [rows, columns]: [u64; 2],
    out: &mut Sink,
    how: &WriteOptions,
) -> Result<()> {
    let sorted = SortedCells::new(tensor, &how.limits)?;
    let place = |index: u64| {
        let column = index.checked_div(rows).unwrap_or(0);
        (index.checked_rem(rows).unwrap_or(0), column)
    };
    // A pattern lists true entries; the diagonal of a skew-symmetric matrix is an implied zero.
    let is_listed = |index: u64, value: &[u8]| {
        let (row, column) = place(index);
        banner.symmetry.stores(row, column) && (banner.field != Kinds::Pattern || value != [0])
    };
    let mut count = 0_u64;
    sorted.for_each(&mut |index, value| {
        count = count.saturating_add(is_listed(index, value).into());
        Ok(())
    })?;
    let mut text = format!("{rows} {columns} {count}\n");
    sorted.for_each(&mut |index, value| {
        if !is_listed(index, value) {
            return Ok(());
        }
        let (row, column) = place(index);
        let (row, column) = (row.saturating_add(1), column.saturating_add(1));
        // Writing to a string cannot fail.
        let _ = write!(text, "{row} {column}");
        if banner.field != Kinds::Pattern {
            text.push(' ');
        }
        write_entry(banner.field, value, &mut text);
        if text.len() >= TEXT_LEN {
            out.write(text.as_bytes())?;
            text.clear();
        }
        Ok(())
    })?;
    out.write(text.as_bytes())
}

/// Appends a value and the end of its line.
fn write_entry(field: Kinds, element: &[u8], text: &mut String) {
    match field {
        Kinds::Real => write_float(f64::from_le(element), text),
        Kinds::Integer | Kinds::Unsigned => write_number(field.dtype().number, element, text),
        Kinds::Complex => {
            let (real, imaginary) = element.split_at(element.len() / 2);
            write_float(f64::from_le(real), text);
            text.push(' ');
            write_float(f64::from_le(imaginary), text);
        }
        Kinds::Pattern => {}
    }
    text.push('\n');
}
