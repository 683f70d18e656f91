//! Reads a tensor from JSON or a literal.
#![deny(clippy::arithmetic_side_effects)]

use super::super::vespa::spec::{Spec, is_word};
use super::builder::{Made, Target};
use super::values::Spelling;
use super::{NAME, document, literal};
use crate::bundle::Bundle;
use crate::error::{Error, Result};
use crate::format::{Options, ReadOptions};
use crate::io::{Head, Source};
use crate::note::{Note, NoteKind};
use crate::wire::json::{Json, Kind};

pub(super) fn read(source: &Source, how: &ReadOptions) -> Result<Bundle> {
    match attempt(source, how, None)? {
        Attempt::Bundle(bundle) => Ok(bundle),
        // Another attempt, to find the second of them.
        Attempt::Twice(labels) => match attempt(source, how, Some(labels))? {
            Attempt::Bundle(bundle) => Ok(bundle),
            Attempt::Twice(labels) => {
                let why = format!("two blocks are labelled {labels:?}");
                Err(Error::malformed(None, why))
            }
        },
    }
}

enum Attempt {
    Bundle(Bundle),
    Twice(Vec<String>),
}

fn attempt(source: &Source, how: &ReadOptions, twice: Option<Vec<String>>) -> Result<Attempt> {
    let mut json = Json::new(source, NAME, &how.limits);
    let given = given_type(&how.options)?;
    let spelling = spelling(&mut json, given.is_some())?;
    let spec = match spelling {
        Spelling::Json => document_type(&mut json, given)?,
        Spelling::Literal => literal_type(&mut json, given)?,
    };
    let mut target = Target::new(&spec, spelling, twice, how)?;
    match spelling {
        Spelling::Json => document::read(&mut json, &mut target)?,
        Spelling::Literal => literal::read(&mut json, &mut target)?,
    }
    json.end()?;
    let empty_at = target.empty_at;
    let tensor = match target.finish(&json)? {
        Made::Tensor(tensor) => *tensor,
        Made::Twice(labels) => return Ok(Attempt::Twice(labels)),
    };
    let mut bundle = Bundle::of(tensor);
    if let Some(at) = empty_at {
        let text = "other programs refuse empty labels in a tensor without indexed dimensions";
        bundle.note(Note::new(NoteKind::EmptyLabel, text).at(at));
    }
    Ok(Attempt::Bundle(bundle))
}

/// The type given by the option.
pub(in crate::formats) fn given_type(options: &Options) -> Result<Option<Spec>> {
    let Some(text) = options.get("type") else {
        return Ok(None);
    };
    match Spec::parse(text) {
        Ok(spec) => Ok(Some(spec)),
        Err(wrong) => {
            let why = format!("the type {text:?}: {} (byte {})", wrong.why, wrong.at);
            Err(Error::invalid(why))
        }
    }
}

/// The language of a text.
fn spelling(json: &mut Json, has_type: bool) -> Result<Spelling> {
    let kind = json.kind()?;
    let start = json.at();
    let is_literal = match kind {
        Kind::Object => {
            json.need(b'{')?;
            match json.peek()? {
                Some(b'"') => false,
                Some(b'}') => !has_type,
                _ => true,
            }
        }
        Kind::Array | Kind::Text | Kind::End => false,
        Kind::Number => !has_type,
        Kind::Word | Kind::Other => true,
    };
    json.scan.seek(start)?;
    Ok(if is_literal {
        Spelling::Literal
    } else {
        Spelling::Json
    })
}

fn document_type(json: &mut Json, given: Option<Spec>) -> Result<Spec> {
    let own = match document::find_type(json)? {
        Some((at, text)) => Some((at, document::parse_type(json, at, &text)?)),
        None => None,
    };
    // Values are in the order of the names, whatever the order in the type.
    let own = own.map(|(at, spec)| (at, spec.sorted()));
    agreed(json, own, given.map(|given| given.sorted()))
}

fn literal_type(json: &mut Json, given: Option<Spec>) -> Result<Spec> {
    json.peek()?;
    let at = json.at();
    let own = literal::read_type(json)?;
    match (own, given) {
        (None, None) => {
            let spec = literal::guess_type(json)?;
            match spec.dims.iter().find(|(name, _)| !is_word(name)) {
                Some((name, _)) => json
                    .scan
                    .fail_at(at, format!("{name:?} is no name of a dimension")),
                None => Ok(spec),
            }
        }
        (own, given) => agreed(
            json,
            own.map(|own| (at, own)),
            given.map(|given| given.sorted()),
        ),
    }
}

/// The type in the file, else the given one; if there are both, they must be equal.
pub(in crate::formats) fn agreed(
    json: &Json,
    own: Option<(u64, Spec)>,
    given: Option<Spec>,
) -> Result<Spec> {
    match (own, given) {
        (Some((at, own)), Some(given)) if own.sorted() != given.sorted() => {
            let why = format!("the type is {own}, and {given} was given");
            json.scan.fail_at(at, why)
        }
        (Some((_, own)), _) => Ok(own),
        (None, Some(given)) => Ok(given),
        (None, None) => {
            let why = "nothing says the type: give it, as with --opt 'type=tensor<float>(x[3])'";
            Err(Error::invalid(why))
        }
    }
}

/// Whether a file begins as one with its type does.
pub(super) fn is_likely(head: &Head) -> Result<bool> {
    says_type(head, 1)
}

/// Whether a file has a type among its first members, so that other JSON is not taken for a tensor.
pub(super) fn is_tensor(head: &Head) -> Result<bool> {
    const MOST_MEMBERS: usize = 16;
    says_type(head, MOST_MEMBERS)
}

/// Whether the text of a literal, or one of the first members of an object, is a tensor type.
fn says_type(head: &Head, n_members: usize) -> Result<bool> {
    let limits = crate::limits::Limits::default();
    let likely = |json: &mut Json| -> Result<bool> {
        if json.kind()? != Kind::Object {
            return Ok(literal::read_type(json)?.is_some());
        }
        json.need(b'{')?;
        let (mut first, mut name) = (crate::wire::json::First::new(), String::new());
        for _ in 0..n_members {
            if !json.member(&mut first, &mut name)? {
                break;
            }
            if name != "type" {
                json.skip()?;
                continue;
            }
            let mut text = String::new();
            json.text(&mut text)?;
            return Ok(Spec::parse(&text).is_ok());
        }
        Ok(false)
    };
    head.ask(|source| likely(&mut Json::new(source, NAME, &limits)))
}
