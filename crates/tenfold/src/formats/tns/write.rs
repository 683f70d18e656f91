//! Writes FROSTT's files.

use std::fmt::Write as _;

use super::header::is_extended;
use super::{COMMENTS, HEADER};
use crate::bundle::Bundle;
use crate::bytes::TEXT_LEN;
use crate::dtype::Element;
use crate::error::Result;
use crate::format::WriteOptions;
use crate::io::Sink;
use crate::meta::{Meta, Value};
use crate::tensor::{Cell, Order, SortedCells, Tensor, strides, unravel_in};
use crate::wire::text::{comment_text, write_comments, write_float};

pub(super) fn write(bundle: &Bundle, out: &mut Sink, how: &WriteOptions) -> Result<()> {
    let tensor = bundle.only()?;
    let sizes = tensor.sizes()?;
    let sorted = SortedCells::every(tensor, strides(&sizes, Order::Row), &how.limits)?;
    let choices = [("none", false), ("extended", true)];
    let asked = how.options.choose("header", &choices)?;
    let has_header = asked.unwrap_or_else(|| had_header(bundle));
    let mut meta = bundle.meta.clone();
    if !has_header {
        drop_claim(&mut meta);
    }
    write_comments(COMMENTS, &meta, &bundle.hints, out)?;
    let shape: String = sizes.iter().map(|size| format!(" {size}")).collect();
    let shape = shape.trim_start();
    if has_header {
        let (rank, count) = (sizes.len(), tensor.stored());
        out.write(format!("{rank} {count}\n{shape}\n").as_bytes())?;
    } else if tensor.stored() == 0 || largest(tensor, how)? != sizes {
        out.write(format!("# tenfold: shape {shape}\n").as_bytes())?;
    }
    let mut text = String::new();
    let mut index = vec![0; sizes.len()];
    sorted.for_each(&mut |cell, value| {
        unravel_in(cell, &sizes, Order::Row, &mut index);
        for place in &index {
            // Writing to a string cannot fail.
            let _ = write!(text, "{} ", place.saturating_add(1));
        }
        write_float(f64::from_le(value), &mut text);
        text.push('\n');
        if text.len() >= TEXT_LEN {
            out.write(text.as_bytes())?;
            text.clear();
        }
        Ok(())
    })?;
    out.write(text.as_bytes())
}

/// Whether a bundle was read with a header, or has a comment that declares one.
fn had_header(bundle: &Bundle) -> bool {
    let comments = bundle.meta.get(COMMENTS.name).and_then(comment_text);
    let mut lines = comments.unwrap_or_default().split(|byte| *byte == b'\n');
    bundle.hints.text(HEADER).is_some() || lines.any(is_extended)
}

/// Removes the comment that declares a header.
fn drop_claim(meta: &mut Meta) {
    let Some(text) = meta.get(COMMENTS.name).and_then(comment_text) else {
        return;
    };
    let lines = text.split(|byte| *byte == b'\n');
    if !lines.clone().any(is_extended) {
        return;
    }
    let kept: Vec<&[u8]> = lines.filter(|line| !is_extended(line)).collect();
    if kept.is_empty() {
        meta.remove(COMMENTS.name);
    } else {
        meta.set(COMMENTS.name, Value::Bytes(kept.join(&b'\n')))
    }
}

/// One more than the largest index in each dimension, which a reader takes for the sizes.
fn largest(tensor: &Tensor, how: &WriteOptions) -> Result<Vec<u64>> {
    let mut largest = vec![0; tensor.dims().len()];
    tensor.for_each_cell(&how.limits, &mut |cell| {
        if let Cell::At { index, .. } = cell {
            for (most, place) in largest.iter_mut().zip(index) {
                *most = place.saturating_add(1).max(*most);
            }
        }
        Ok(())
    })?;
    Ok(largest)
}
