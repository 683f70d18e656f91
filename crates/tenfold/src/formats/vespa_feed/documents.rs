//! The members of documents: the id, the field, and other data.
#![deny(clippy::arithmetic_side_effects)]

use super::super::vespa::spec::{Extent, Spec};
use super::super::vespa_text::document::find_type;
use super::Operation;
use super::others::{CONDITIONS, HELD, Other, json_at};
use crate::bytes::to_u64;
use crate::dtype::Number;
use crate::error::{Error, Result};
use crate::io::Source;
use crate::limits::Limits;
use crate::memory;
use crate::wire::json::{First, Json, Kind};

/// A reader of documents.
pub(super) struct Documents<'a> {
    pub(super) source: &'a Source,
    pub(super) json: Json<'a>,
    pub(super) field: Option<String>,
    /// The member with the id, if documents are plain objects.
    pub(super) id: Option<String>,
    pub(super) keeps_others: bool,
    pub(super) limits: &'a Limits,
}

/// The members of a document.
#[derive(Default)]
pub(super) struct Members {
    at: u64,
    pub(super) id: Option<(u64, String)>,
    operation: Option<Operation>,
    fields_at: Option<u64>,
    /// The offset of the list of documents, if this is the object around it.
    pub(super) documents_at: Option<u64>,
    other: Other,
}

/// A document: its id with its offset, the offset of its field's value, and its other members.
pub(super) struct Document {
    pub(super) id: (u64, String),
    pub(super) operation: Option<Operation>,
    pub(super) value_at: u64,
    pub(super) other: Other,
}

/// Memory of a field name and its offset.
fn weight(name: &str) -> u64 {
    to_u64(size_of::<[(String, u64); 3]>()).saturating_add(to_u64(name.len()))
}

impl Documents<'_> {
    /// Skips the members of the next document.
    pub(super) fn members(&mut self) -> Result<Members> {
        self.json.peek()?;
        let mut found = Members {
            at: self.json.at(),
            ..Members::default()
        };
        if self.id.is_some() {
            self.plain_members(&mut found)?;
            return Ok(found);
        }
        self.json.need(b'{')?;
        let (mut first, mut name) = (First::new(), String::new());
        while self.json.member(&mut first, &mut name)? {
            self.member(&name, &mut found)?;
        }
        Ok(found)
    }

    fn member(&mut self, name: &str, found: &mut Members) -> Result<()> {
        let json = &mut self.json;
        let kind = json.kind()?;
        let at = json.at();
        let is_new = match (name, kind) {
            ("put" | "update" | "id", Kind::Text) => {
                let mut id = String::new();
                json.text(&mut id)?;
                let known = Operation::ALL.into_iter();
                found.operation = known.into_iter().find(|known| known.word() == name);
                found.id.replace((at, id)).is_none()
            }
            ("remove", Kind::Text) => {
                let why = "this is a document to remove, only those to put or update are read";
                return json.scan.fail_at(at, why);
            }
            ("fields", Kind::Object) => {
                json.skip()?;
                found.fields_at.replace(at).is_none()
            }
            ("documents", Kind::Array) => {
                json.skip()?;
                found.documents_at.replace(at).is_none()
            }
            _ => {
                json.skip()?;
                if self.keeps_others && CONDITIONS.contains(&name) {
                    let value = self.json_from(at)?;
                    found.other.member(name, value);
                }
                true
            }
        };
        if !is_new {
            return self.json.scan.fail_at(at, format!("{name} stands twice"));
        }
        Ok(())
    }

    /// The members of a plain object: one is the id, and all others are fields.
    fn plain_members(&mut self, found: &mut Members) -> Result<()> {
        self.json.peek()?;
        found.fields_at = Some(self.json.at());
        self.json.need(b'{')?;
        let (mut first, mut name) = (First::new(), String::new());
        while self.json.member(&mut first, &mut name)? {
            let kind = self.json.kind()?;
            let at = self.json.at();
            if self.id.as_ref() != Some(&name) {
                self.json.skip()?;
                continue;
            }
            let mut id = String::new();
            match kind {
                Kind::Number => self.json.number(&mut id)?,
                _ => self.json.text(&mut id)?,
            }
            if found.id.replace((at, id)).is_some() {
                return self.json.scan.fail_at(at, format!("{name} stands twice"));
            }
        }
        Ok(())
    }

    /// Finds the value of the field, and keeps the other fields.
    pub(super) fn fields(&mut self, found: Members) -> Result<Document> {
        let scan = &self.json.scan;
        let Some(id) = found.id else {
            return scan.fail_at(found.at, "a document without an id");
        };
        let Some(fields_at) = found.fields_at else {
            let why = format!(
                "the document {:?} has no fields; --opt field=embedding,id=id reads plain objects with such members",
                id.1
            );
            return scan.fail_at(found.at, why);
        };
        let fields = self.field_places(fields_at)?;
        let chosen = self.choose(&fields, found.operation)?;
        let mut meant = fields
            .iter()
            .filter(|(name, _)| chosen.as_ref() == Some(name));
        let Some((field, at)) = meant.next() else {
            let field = self.field.as_deref().unwrap_or_default();
            let why = format!("the document {:?} has no field {field}", id.1);
            return self.json.scan.fail_at(found.at, why);
        };
        if let Some((name, twice_at)) = meant.next() {
            return self
                .json
                .scan
                .fail_at(*twice_at, format!("{name} stands twice"));
        }
        let (field, at) = (field.clone(), *at);
        let mut other = found.other;
        for (name, at) in fields.iter().filter(|(name, _)| *name != field) {
            self.keep(name, *at, found.operation, &mut other)?;
        }
        let value_at = match found.operation {
            Some(Operation::Update) => self.assigned(at)?.ok_or_else(|| {
                let why = format!("the update of {field} does not just assign to it");
                Error::malformed(at, why)
            })?,
            Some(Operation::Put) | None => at,
        };
        let weights = fields.iter().map(|(name, _)| weight(name));
        self.limits.release(weights.sum());
        self.field = Some(field);
        Ok(Document {
            id,
            operation: found.operation,
            value_at,
            other,
        })
    }

    /// The fields of a document at offset `at`, with the offsets of their values.
    fn field_places(&mut self, at: u64) -> Result<Vec<(String, u64)>> {
        self.json.scan.seek(at)?;
        self.json.need(b'{')?;
        let (mut first, mut name) = (First::new(), String::new());
        let mut found: Vec<(String, u64)> = Vec::new();
        while self.json.member(&mut first, &mut name)? {
            self.json.peek()?;
            self.limits.charge(weight(&name))?;
            if self.id.as_ref() != Some(&name) {
                memory::push(&mut found, (name.clone(), self.json.at()))?;
            }
            self.json.skip()?;
        }
        Ok(found)
    }

    /// The selected field: the given one, the only one, or the only one with a type.
    fn choose(
        &mut self,
        fields: &[(String, u64)],
        operation: Option<Operation>,
    ) -> Result<Option<String>> {
        if let (Some(field), _) | (None, [(field, _)]) = (&self.field, fields) {
            return Ok(Some(field.clone()));
        }
        let mut typed = Vec::new();
        for (name, at) in fields {
            let at = match operation {
                Some(Operation::Update) => self.assigned(*at)?,
                Some(Operation::Put) | None => Some(*at),
            };
            let Some(at) = at else { continue };
            self.json.scan.seek(at)?;
            if find_type(&mut self.json)?.is_some() {
                typed.push(name);
            }
        }
        match (typed.as_slice(), fields) {
            ([name], _) => Ok(Some((*name).clone())),
            (_, []) => Ok(None),
            _ => {
                let why = "there are several fields: choose one with --opt field=NAME";
                Err(Error::invalid(why))
            }
        }
    }

    /// Keeps another field, whose value is at offset `at`.
    fn keep(
        &mut self,
        name: &str,
        at: u64,
        operation: Option<Operation>,
        other: &mut Other,
    ) -> Result<()> {
        if !self.keeps_others {
            return Ok(());
        }
        let assigned = match operation {
            Some(Operation::Update) => self.assigned(at)?,
            Some(Operation::Put) | None => Some(at),
        };
        let from = assigned.unwrap_or(at);
        self.json.scan.seek(from)?;
        self.json.skip()?;
        let json = self.json_from(from)?;
        match assigned {
            Some(_) => other.field(name, json),
            None => other.update(name, json),
        }
        Ok(())
    }

    /// The JSON from `at` to the cursor.
    fn json_from(&self, at: u64) -> Result<String> {
        let end = self.json.at();
        self.limits.charge_for(HELD, end.saturating_sub(at))?;
        json_at(self.source, at, end)
    }

    /// The offset of the value that an update at offset `at` assigns, if assigning is all it does.
    fn assigned(&mut self, at: u64) -> Result<Option<u64>> {
        let json = &mut self.json;
        json.scan.seek(at)?;
        if json.kind()? != Kind::Object {
            return Ok(None);
        }
        json.need(b'{')?;
        let (mut first, mut name) = (First::new(), String::new());
        let mut found = None;
        while json.member(&mut first, &mut name)? {
            json.peek()?;
            if name != "assign" || found.is_some() {
                return Ok(None);
            }
            found = Some(json.at());
            json.skip()?;
        }
        Ok(found)
    }
}

/// The type of a possibly nested list of numbers without a type: doubles.
pub(super) fn guess_type(json: &mut Json) -> Result<Spec> {
    json.peek()?;
    let start = json.at();
    let mut sizes: Vec<u64> = Vec::new();
    while json.kind()? == Kind::Array {
        json.need(b'[')?;
        let (mut first, mut size, mut first_at) = (First::new(), 0_u64, None);
        while json.next(&mut first, b']')? {
            json.peek()?;
            first_at.get_or_insert(json.at());
            json.skip()?;
            size = size.saturating_add(1);
        }
        sizes.push(size);
        let Some(at) = first_at else {
            return json.scan.fail_at(start, "a list without numbers");
        };
        json.scan.seek(at)?;
    }
    json.scan.seek(start)?;
    let names = if sizes.len() > 3 {
        'a'..='z'
    } else {
        'x'..='z'
    };
    if sizes.len() > 26 {
        return json
            .scan
            .fail_at(start, "lists within lists, deeper than 26");
    }
    let dims = names.zip(sizes);
    Ok(Spec {
        number: Number::F64,
        dims: dims
            .map(|(name, size)| (name.to_string(), Extent::Bound(size)))
            .collect(),
    })
}
