//! Writes files of integrals.

use std::fmt::Write as _;

use super::PREFIX;
use super::adapt::is_packed;
use super::integrals::{Role, is_written};
use super::namelist::is_key;
use crate::bundle::Bundle;
use crate::bytes::{Bytes, Endian, TEXT_LEN};
use crate::dtype::{Arity, Element, Number, Numbers};
use crate::error::{Error, Result};
use crate::format::WriteOptions;
use crate::io::{Sink, Spool};
use crate::meta::{Meta, Value};
use crate::tensor::{Address, Cell, Order, SortedCells, Storage, Tensor, strides, unravel_in};
use crate::wire::text::write_float;

pub(super) fn write(bundle: &Bundle, out: &mut Sink, how: &WriteOptions) -> Result<()> {
    let find = |role: Role| bundle.get(role.name());
    let roles = Role::ALL.into_iter().filter_map(find);
    let norb = roles.filter_map(|tensor| tensor.indexed_sizes().first().copied());
    let norb = norb.max().unwrap_or(0);
    out.write(namelist(norb, &bundle.meta)?.as_bytes())?;
    for role in Role::ALL {
        match (role, find(role)) {
            (_, None) => {}
            (Role::Core, Some(core)) => {
                // As every piece, in little-endian byte order.
                core.for_each(1, &how.limits, &mut |value| {
                    let mut text = String::new();
                    write_line(value, &[], &mut text);
                    out.write(text.as_bytes())
                })?;
            }
            (_, Some(tensor)) if !is_packed(tensor)? => {
                let why = format!("{} are not packed by all their symmetries", role.name());
                return Err(Error::invalid(why));
            }
            (_, Some(tensor)) => write_integrals(tensor, out, how)?,
        }
    }
    Ok(())
}

/// The settings, short ones on one line.
fn namelist(norb: u64, meta: &Meta) -> Result<String> {
    let mut text = format!(" &FCI NORB={norb},");
    for (name, value) in meta.iter() {
        let Some(key) = name.strip_prefix(PREFIX) else {
            continue;
        };
        if !is_key(key) || key == "NORB" {
            return Err(Error::invalid(format!(
                "{name} is no setting of a namelist"
            )));
        }
        let is_list = matches!(value, Value::List(_));
        let value = setting(name, value)?;
        let is_after_list = text.ends_with('\n');
        if is_list && !is_after_list {
            text.push('\n');
        }
        if is_list || is_after_list {
            text.push_str("  ");
        }
        text.push_str(&format!("{key}={value},"));
        if is_list {
            text.push('\n');
        }
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(" &END\n");
    Ok(text)
}

/// The value of a setting.
fn setting(name: &str, value: &Value) -> Result<String> {
    let wrong = || Error::invalid(format!("{name} is no value of a namelist"));
    Ok(match value {
        Value::Null => String::new(),
        Value::Int(number) => number.to_string(),
        Value::Bool(true) => ".TRUE.".into(),
        Value::Bool(false) => ".FALSE.".into(),
        Value::Text(text) if is_word(text) => text.clone(),
        Value::List(items) => {
            let items: Option<Vec<String>> = { items.iter() }
                .map(|item| match item {
                    Value::Int(number) => Some(number.to_string()),
                    _ => None,
                })
                .collect();
            items.ok_or_else(wrong)?.join(",")
        }
        _ => return Err(wrong()),
    })
}

/// Whether a text can be written in a namelist: in quotes, or without special characters.
fn is_word(text: &str) -> bool {
    let inside = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    let is_quoted = |quote: char| inside(quote).is_some_and(|inside| !inside.contains(quote));
    let has_end = text.contains(['\n', '\r']);
    let is_plain = !text.contains(['/', '&', '$', '=', '!', '"', '\'']);
    !has_end && (is_plain || is_quoted('"') || is_quoted('\''))
}

/// Writes the largest cell of every orbit, in the order of orbitals.
fn write_integrals(tensor: &Tensor, out: &mut Sink, how: &WriteOptions) -> Result<()> {
    let written = largest(tensor, how)?;
    let sizes = written.sizes()?;
    let sorted = SortedCells::every(&written, strides(&sizes, Order::Row), &how.limits)?;
    let mut text = String::new();
    let mut index = vec![0; sizes.len()];
    sorted.for_each(&mut |cell, value| {
        unravel_in(cell, &sizes, Order::Row, &mut index);
        write_line(value, &index, &mut text);
        if text.len() >= TEXT_LEN {
            out.write(text.as_bytes())?;
            text.clear();
        }
        Ok(())
    })?;
    out.write(text.as_bytes())
}

/// The same cells without a symmetry, restricted to those of every orbit that are written.
fn largest(tensor: &Tensor, how: &WriteOptions) -> Result<Tensor> {
    let is_complex = tensor.dtype().arity == Arity::Complex;
    let sizes = tensor.sizes()?;
    let strides = strides(&sizes, Order::Row);
    let mut places = Spool::within(&how.limits);
    let mut values = Spool::within(&how.limits);
    tensor.for_each_cell(&how.limits, &mut |cell| match cell {
        Cell::At { index, value } if is_written(index, is_complex) => {
            let place = index
                .iter()
                .zip(&strides)
                .fold(0_u64, |sum, (place, stride)| {
                    sum.saturating_add(place.saturating_mul(*stride))
                });
            places.write(&place.to_le_bytes())?;
            values.write(value)
        }
        _ => Ok(()),
    })?;
    let numbers = |number, spool: Spool| -> Result<Numbers> {
        Ok(Numbers {
            number,
            endian: Endian::Little,
            bytes: Bytes::whole(spool.finish()?),
        })
    };
    let storage = Storage::Sparse {
        order: Order::Row,
        address: Address::Linear(numbers(Number::U64, places)?),
        values: numbers(Number::F64, values)?,
    };
    let dims = tensor.dims().to_vec();
    Tensor::within(dims, tensor.dtype(), vec![], storage, &how.limits)
}

/// Appends a value and its orbitals, of which there are four.
fn write_line(value: &[u8], index: &[u64], text: &mut String) {
    match value.split_at_checked(8) {
        Some((real, [])) => write_float(f64::from_le(real), text),
        Some((real, imaginary)) => {
            text.push('(');
            write_float(f64::from_le(real), text);
            text.push(',');
            write_float(f64::from_le(imaginary), text);
            text.push(')');
        }
        None => {}
    }
    for place in 0..4 {
        let orbital = index.get(place).map_or(0, |place| place.saturating_add(1));
        // Writing to a string cannot fail.
        let _ = write!(text, " {orbital}");
    }
    text.push('\n');
}
