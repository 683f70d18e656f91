//! Tensor literals: a type, a colon and values, as `tensor(x{},y[2]):{a:[1,2]}`.
#![deny(clippy::arithmetic_side_effects)]

use super::super::vespa::spec::{Extent, Spec};
use super::builder::Target;
use super::document::read_literal_cell;
use super::values::is_within_word;
use crate::dtype::Number;
use crate::error::Result;
use crate::wire::json::{First, Json};

/// The type before the values and its colon, if there is one.
pub(super) fn read_type(json: &mut Json) -> Result<Option<Spec>> {
    let is_typed = matches!(json.peek()?, Some(b't' | b'd'));
    if !is_typed {
        return Ok(None);
    }
    let at = json.at();
    let mut text = String::new();
    json.token(|byte| byte != b':', &mut text)?;
    match Spec::parse(&text) {
        Ok(spec) => {
            json.need(b':')?;
            Ok(Some(spec))
        }
        Err(wrong) => {
            let place = u64::try_from(wrong.at).unwrap_or(0);
            json.scan.fail_at(at.saturating_add(place), wrong.why)
        }
    }
}

/// The type of a literal without one: doubles, with the dimensions of the first address.
pub(super) fn guess_type(json: &mut Json) -> Result<Spec> {
    json.peek()?;
    let start = json.at();
    let mut spec = Spec {
        number: Number::F64,
        dims: Vec::new(),
    };
    if json.take(b'{')? && json.take(b'{')? {
        let mut first = First::new();
        let mut text = String::new();
        while json.next(&mut first, b'}')? {
            word(json, &mut text)?;
            spec.dims.push((text.clone(), Extent::Mapped));
            json.need(b':')?;
            word(json, &mut text)?;
        }
    }
    json.scan.seek(start)?;
    Ok(spec)
}

/// Reads the values.
pub(super) fn read(json: &mut Json, target: &mut Target) -> Result<()> {
    if json.peek()? != Some(b'{') {
        return target.read_dense(json);
    }
    let start = json.at();
    json.need(b'{')?;
    match json.peek()? {
        Some(b'{') => {
            json.scan.seek(start)?;
            read_cells(json, target)
        }
        Some(b'}') => {
            json.need(b'}')?;
            if target.mapped.is_empty() {
                // Without any values, everything is zero.
                let nothing = target.gather();
                target.take_gathered(json, nothing)
            } else {
                Ok(())
            }
        }
        _ if target.mapped.is_empty() && target.indexed.is_empty() => {
            target.read_dense(json)?;
            json.need(b'}')
        }
        _ => {
            json.scan.seek(start)?;
            read_nested(json, target)
        }
    }
}

/// Reads cells, each with its address.
fn read_cells(json: &mut Json, target: &mut Target) -> Result<()> {
    json.need(b'{')?;
    let mut first = First::new();
    let mut gather = target.gather();
    while json.next(&mut first, b'}')? {
        read_literal_cell(json, target, &mut gather, &mut word)?;
    }
    if target.indexed.is_empty() && !target.mapped.is_empty() {
        Ok(())
    } else {
        target.take_gathered(json, gather)
    }
}

/// Reads labels, one level per mapped dimension, and their values.
fn read_nested(json: &mut Json, target: &mut Target) -> Result<()> {
    if target.mapped.is_empty() {
        return json.unexpected("a list of values");
    }
    json.need(b'{')?;
    let mut open = vec![First::new()];
    let mut labels: Vec<String> = Vec::new();
    let mut at = json.at();
    while let Some(first) = open.last_mut() {
        if !json.next(first, b'}')? {
            open.pop();
            labels.pop();
            continue;
        }
        json.peek()?;
        if open.len() == 1 {
            at = json.at();
        }
        let mut label = String::new();
        word(json, &mut label)?;
        json.need(b':')?;
        labels.push(label);
        json.peek()?;
        if labels.len() < target.mapped.len() {
            json.need(b'{')?;
            open.push(First::new());
            continue;
        }
        if !target.indexed.is_empty() {
            target.read_block(json, at, &labels)?
        } else {
            let mut cell = Vec::new();
            target.values.cell(json, &mut String::new(), &mut cell)?;
            target.push_cell(json, at, &labels, &cell)?;
        }
        labels.pop();
    }
    Ok(())
}

/// Reads a label or a name: quoted, without escapes, or up to the next delimiter.
fn word(json: &mut Json, out: &mut String) -> Result<()> {
    let first = json.peek()?;
    let at = json.at();
    let quote = match first {
        Some(quote @ (b'\'' | b'"')) => quote,
        _ => {
            let mut bytes = Vec::new();
            take_all(json, is_within_word, &mut bytes)?;
            return match String::from_utf8(bytes) {
                Ok(text) if !text.is_empty() => {
                    *out = text;
                    Ok(())
                }
                Ok(_) => json.unexpected("a label"),
                Err(_) => json.scan.fail_at(at, "a label is not UTF-8"),
            };
        }
    };
    json.scan.skip(1)?;
    let mut bytes = Vec::new();
    take_all(json, |byte| byte != quote, &mut bytes)?;
    if json.scan.left() == 0 {
        return json.scan.fail_at(at, "a label has no end");
    }
    json.scan.skip(1)?;
    match String::from_utf8(bytes) {
        Ok(text) => *out = text,
        Err(_) => return json.scan.fail_at(at, "a label is not UTF-8"),
    }
    Ok(())
}

/// Consumes bytes while `accept` holds, up to the longest text allowed.
fn take_all(json: &mut Json, accept: impl Fn(u8) -> bool, out: &mut Vec<u8>) -> Result<()> {
    loop {
        let before = out.len();
        json.scan.run(&accept, out)?;
        json.check_text(out.len())?;
        if out.len() == before {
            return Ok(());
        }
    }
}
