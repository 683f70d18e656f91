//! The JSON forms: long, short, blocks, hexadecimal, and values alone.
#![deny(clippy::arithmetic_side_effects)]

use super::super::vespa::spec::Spec;
use super::builder::Target;
use super::gather::Gather;
use crate::error::Result;
use crate::wire::json::{First, Json, Kind};

/// The value of the member `type`, if there is one; the cursor is not moved.
pub(in crate::formats) fn find_type(json: &mut Json) -> Result<Option<(u64, String)>> {
    let start = json.at();
    let mut found = None;
    if json.kind()? == Kind::Object {
        json.need(b'{')?;
        let (mut first, mut name) = (First::new(), String::new());
        while json.member(&mut first, &mut name)? {
            if name == "type" && json.kind()? == Kind::Text {
                let at = json.at();
                let mut text = String::new();
                json.text(&mut text)?;
                if is_type(&text) {
                    found = Some((at, text));
                    break;
                }
                continue;
            }
            json.skip()?;
        }
    }
    json.scan.seek(start)?;
    Ok(found)
}

/// Whether a text is meant as a type: `type` can also be a label, with hexadecimal digits as value.
fn is_type(text: &str) -> bool {
    let text = text.trim_ascii_start();
    text.starts_with("tensor") || text.starts_with("double")
}

/// Reads a value in any of the forms, with or without its type.
pub(in crate::formats) fn read(json: &mut Json, target: &mut Target) -> Result<()> {
    let is_dense = target.mapped.is_empty();
    match json.kind()? {
        Kind::Object => read_object(json, target),
        Kind::Array if is_list_of_objects(json, !is_dense)? => read_list(json, target),
        Kind::Array | Kind::Text | Kind::Number | Kind::Word if is_dense => target.read_dense(json),
        _ => json.unexpected("a tensor"),
    }
}

/// Whether a list contains objects, or is empty where that is allowed.
fn is_list_of_objects(json: &mut Json, may_be_empty: bool) -> Result<bool> {
    let start = json.at();
    json.need(b'[')?;
    let next = json.peek()?;
    let is_one = next == Some(b'{') || may_be_empty && next == Some(b']');
    json.scan.seek(start)?;
    Ok(is_one)
}

fn read_object(json: &mut Json, target: &mut Target) -> Result<()> {
    json.need(b'{')?;
    let (mut first, mut name) = (First::new(), String::new());
    let mut n_labels = 0_u64;
    let mut wrapped: Option<String> = None;
    loop {
        json.peek()?;
        let is_next = json.member(&mut first, &mut name)?;
        if !is_next {
            break;
        }
        let kind = json.kind()?;
        let at = json.at();
        let is_list = kind == Kind::Array && is_list_of_objects(json, true)?;
        let is_member = match name.as_str() {
            "type" if kind == Kind::Text => {
                let mut text = String::new();
                let is_type = !target.indexed.is_empty() && !target.mapped.is_empty();
                json.text(&mut text)?;
                if !is_type || self::is_type(&text) {
                    continue;
                }
                json.scan.seek(at)?;
                false
            }
            "cells" | "blocks" => kind == Kind::Object || is_list,
            "values" => target.mapped.is_empty(),
            _ => false,
        };
        if is_member {
            if let Some(other) = wrapped.replace(name.clone()) {
                let why = format!("{name} beside {other}");
                return json.scan.fail_at(at, why);
            }
            match name.as_str() {
                "values" => target.read_dense(json)?,
                _ if kind == Kind::Object => read_labelled(json, target)?,
                _ => read_list(json, target)?,
            }
            continue;
        }
        n_labels = n_labels.saturating_add(1);
        read_one(json, at, &name, target)?;
    }
    match wrapped {
        Some(name) if n_labels > 0 => json.scan.fail(format!("labels beside {name}")),
        None if n_labels == 0 && target.mapped.len() != 1 => {
            json.scan.fail("neither values nor cells nor blocks")
        }
        _ => Ok(()),
    }
}

/// Reads an object whose names are labels.
fn read_labelled(json: &mut Json, target: &mut Target) -> Result<()> {
    if target.mapped.len() != 1 {
        return json.unexpected("a list of addresses, as there is not one mapped dimension,");
    }
    json.need(b'{')?;
    let (mut first, mut name) = (First::new(), String::new());
    while json.member(&mut first, &mut name)? {
        json.peek()?;
        read_one(json, json.at(), &name, target)?;
    }
    Ok(())
}

/// Reads the value of one label.
fn read_one(json: &mut Json, at: u64, label: &str, target: &mut Target) -> Result<()> {
    if target.mapped.len() != 1 {
        let why = format!("{label:?} is no member that a tensor has");
        return json.scan.fail_at(at, why);
    }
    let labels = [label.to_owned()];
    if !target.indexed.is_empty() {
        target.read_block(json, at, &labels)
    } else {
        let mut cell = Vec::new();
        target.values.cell(json, &mut String::new(), &mut cell)?;
        target.push_cell(json, at, &labels, &cell)
    }
}

/// Reads a list of objects with addresses: cells, or blocks.
fn read_list(json: &mut Json, target: &mut Target) -> Result<()> {
    json.need(b'[')?;
    let mut first = First::new();
    let mut gather = target.gather();
    let mut is_gathered = false;
    let mut has_blocks = false;
    while json.next(&mut first, b']')? {
        match read_item(json, target, &mut gather)? {
            Item::Block => has_blocks = true,
            Item::Cell => is_gathered = true,
        }
    }
    if is_gathered && has_blocks {
        return json.scan.fail("values of blocks beside single cells");
    }
    // An empty list means that all cells are zero.
    let is_dense = target.mapped.is_empty();
    if !has_blocks && (is_dense || is_gathered && !target.indexed.is_empty()) {
        target.take_gathered(json, gather)
    } else {
        Ok(())
    }
}

/// The kind of an object with an address.
enum Item {
    Block,
    Cell,
}

/// An address: labels and positions, in the order of the dimensions.
struct Address {
    at: u64,
    labels: Vec<String>,
    positions: Vec<u64>,
    n_positions: usize,
}

fn read_item(json: &mut Json, target: &mut Target, gather: &mut Gather) -> Result<Item> {
    json.peek()?;
    let start = json.at();
    json.need(b'{')?;
    let (mut first, mut name) = (First::new(), String::new());
    let (mut address, mut value_at): (Option<Address>, Option<(bool, u64)>) = (None, None);
    while json.member(&mut first, &mut name)? {
        json.peek()?;
        let at = json.at();
        let is_new = match name.as_str() {
            "address" => address.replace(read_address(json, target)?).is_none(),
            "value" | "values" => {
                json.skip()?;
                value_at.replace((name == "values", at)).is_none()
            }
            _ => {
                let why = format!("{name:?} is no member of a cell or a block");
                return json.scan.fail_at(at, why);
            }
        };
        if !is_new {
            return json.scan.fail_at(at, format!("{name} stands twice"));
        }
    }
    let end = json.at();
    let Some(address) = address else {
        return json
            .scan
            .fail_at(start, "a cell or block without an address");
    };
    let Some((is_block, value_at)) = value_at else {
        return json.scan.fail_at(start, "a cell or block without a value");
    };
    json.scan.seek(value_at)?;
    let item = read_at(json, is_block, address, target, gather)?;
    json.scan.seek(end)?;
    Ok(item)
}

/// Reads the value for an address.
fn read_at(
    json: &mut Json,
    is_block: bool,
    address: Address,
    target: &mut Target,
    gather: &mut Gather,
) -> Result<Item> {
    let at = address.at;
    let is_whole = address.n_positions == target.indexed.len();
    if is_block {
        if address.n_positions > 0 || target.mapped.is_empty() {
            return json
                .scan
                .fail_at(at, "the address of a block has labels alone");
        }
        target.read_block(json, at, &address.labels)?;
        return Ok(Item::Block);
    }
    if !is_whole {
        return json.scan.fail_at(at, "an address lacks a dimension");
    }
    let mut cell = Vec::new();
    target.values.cell(json, &mut String::new(), &mut cell)?;
    if target.indexed.is_empty() && !target.mapped.is_empty() {
        target.push_cell(json, at, &address.labels, &cell)?;
    } else {
        let offset = target.offset(&address.positions);
        gather.push(at, &address.labels, offset, &cell);
        target.check_gathered(gather)?;
    }
    Ok(Item::Cell)
}

fn read_address(json: &mut Json, target: &Target) -> Result<Address> {
    json.peek()?;
    let at = json.at();
    json.need(b'{')?;
    let mut labels: Vec<Option<String>> = vec![None; target.mapped.len()];
    let mut positions: Vec<Option<u64>> = vec![None; target.indexed.len()];
    let (mut first, mut name, mut label) = (First::new(), String::new(), String::new());
    while json.member(&mut first, &mut name)? {
        let kind = json.kind()?;
        let label_at = json.at();
        match kind {
            Kind::Number => json.number(&mut label)?,
            _ => json.text(&mut label)?,
        }
        put_label(
            json,
            label_at,
            &name,
            &label,
            target,
            &mut labels,
            &mut positions,
        )?;
    }
    finish_address(json, at, labels, positions)
}

/// Stores a label at the position of its dimension.
fn put_label(
    json: &Json,
    at: u64,
    name: &str,
    label: &str,
    target: &Target,
    labels: &mut [Option<String>],
    positions: &mut [Option<u64>],
) -> Result<()> {
    let mapped = target.mapped.iter().position(|known| known == name);
    let indexed = target.indexed.iter().position(|(known, _)| known == name);
    let is_new = if let Some(slot) = mapped.and_then(|place| labels.get_mut(place)) {
        slot.replace(label.to_owned()).is_none()
    } else if let Some(place) = indexed
        && let Some(slot) = positions.get_mut(place)
    {
        let position = target.position(json, at, place, label)?;
        slot.replace(position).is_none()
    } else {
        let why = format!("no dimension is called {name:?}");
        return json.scan.fail_at(at, why);
    };
    if is_new {
        Ok(())
    } else {
        json.scan
            .fail_at(at, format!("the dimension {name:?} stands twice"))
    }
}

fn finish_address(
    json: &Json,
    at: u64,
    labels: Vec<Option<String>>,
    positions: Vec<Option<u64>>,
) -> Result<Address> {
    let Some(labels) = labels.into_iter().collect::<Option<Vec<String>>>() else {
        return json.scan.fail_at(at, "an address lacks a dimension");
    };
    let positions: Vec<u64> = positions.into_iter().flatten().collect();
    Ok(Address {
        at,
        labels,
        n_positions: positions.len(),
        positions,
    })
}

/// Reads a cell of a literal: its address, a colon and its value.
pub(super) fn read_literal_cell(
    json: &mut Json,
    target: &mut Target,
    gather: &mut Gather,
    word: &mut dyn FnMut(&mut Json, &mut String) -> Result<()>,
) -> Result<()> {
    json.peek()?;
    let at = json.at();
    json.need(b'{')?;
    let mut labels: Vec<Option<String>> = vec![None; target.mapped.len()];
    let mut positions: Vec<Option<u64>> = vec![None; target.indexed.len()];
    let (mut first, mut name, mut label) = (First::new(), String::new(), String::new());
    while json.next(&mut first, b'}')? {
        word(json, &mut name)?;
        json.need(b':')?;
        json.peek()?;
        let label_at = json.at();
        word(json, &mut label)?;
        put_label(
            json,
            label_at,
            &name,
            &label,
            target,
            &mut labels,
            &mut positions,
        )?;
    }
    let address = finish_address(json, at, labels, positions)?;
    json.need(b':')?;
    read_at(json, false, address, target, gather)?;
    Ok(())
}

/// Parses a type in the file.
pub(in crate::formats) fn parse_type(json: &Json, at: u64, text: &str) -> Result<Spec> {
    match Spec::parse(text) {
        Ok(spec) => Ok(spec),
        Err(wrong) => {
            // The offset is after the opening quote.
            let place = u64::try_from(wrong.at).unwrap_or(0).saturating_add(1);
            json.scan.fail_at(at.saturating_add(place), wrong.why)
        }
    }
}
