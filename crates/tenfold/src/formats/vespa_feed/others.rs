//! Other members of documents than the field being read: kept as JSON, and written again.

use std::collections::HashMap;

use super::NAME;
use super::adapt::id_place;
use crate::bundle::Bundle;
use crate::bytes::{Extent, Scan, to_u64};
use crate::error::{Error, Result};
use crate::io::Source;
use crate::limits::Limits;
use crate::loss::{Aspect, Loss, Tier};
use crate::memory;
use crate::meta::{Meta, Value};

/// Their metadata: a map from labels to members, of which `fields` and `updates` are maps of names
/// to JSON.
const DOCUMENTS: &str = "vespa-feed:documents";
const FIELDS: &str = "fields";
/// Fields with updates other than plain assignment.
const UPDATES: &str = "updates";

/// The reason why a memory limit concerns other fields.
pub(super) const HELD: &str =
    "the other fields of documents are held in memory; --opt others=drop leaves them out";

/// Members of a document that control how it is fed.
pub(super) const CONDITIONS: [&str; 2] = ["create", "condition"];

/// The other members of one document.
#[derive(Debug, Default)]
pub(super) struct Other {
    members: Vec<(Value, Value)>,
    fields: Vec<(Value, Value)>,
    updates: Vec<(Value, Value)>,
}

impl Other {
    pub(super) fn member(&mut self, name: &str, json: String) {
        self.members.push((text(name), Value::Text(json)));
    }

    /// An update other than plain assignment.
    pub(super) fn update(&mut self, name: &str, json: String) {
        self.updates.push((text(name), Value::Text(json)));
    }

    pub(super) fn field(&mut self, name: &str, json: String) {
        self.fields.push((text(name), Value::Text(json)));
    }
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

/// The JSON between two offsets, on one line.
pub(super) fn json_at(source: &Source, from: u64, to: u64) -> Result<String> {
    let mut scan = Scan::part(source, NAME, from..to);
    let mut bytes = Vec::new();
    scan.take_into(to.saturating_sub(from), &mut bytes)?;
    // JSON strings contain no line breaks: all of them are between values.
    for byte in &mut bytes {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    String::from_utf8(bytes).map_err(|_| Error::malformed(from, "a text is not UTF-8"))
}

/// The other members of all documents, while they are read.
#[derive(Debug, Default)]
pub(super) struct Others {
    documents: Vec<(Value, Value)>,
}

impl Others {
    pub(super) fn push(&mut self, label: &str, other: Other, limits: &Limits) -> Result<()> {
        let mut members = other.members;
        for (name, fields) in [(FIELDS, other.fields), (UPDATES, other.updates)] {
            if !fields.is_empty() {
                members.push((text(name), Value::Map(fields)));
            }
        }
        if members.is_empty() {
            return Ok(());
        }
        let document = (text(label), Value::Map(members));
        limits.charge_for(HELD, held(&document))?;
        memory::push(&mut self.documents, document)
    }

    pub(super) fn keep(self, meta: &mut Meta) {
        if !self.documents.is_empty() {
            meta.set(DOCUMENTS, Value::Map(self.documents));
        }
    }
}

/// The loss of members whose documents are no longer rows.
pub(super) fn left_out(bundle: &Bundle) -> Option<Loss> {
    let (key, tensor) = bundle.entries().first()?;
    let mut known = Known::of(&bundle.meta).0;
    let (place, (_, values)) = (id_place(tensor)?, tensor.labelled()?);
    let Extent::Records(records) = values.bytes.extent() else {
        return None;
    };
    if known.is_empty() {
        return None;
    }
    let walked = records.for_each(values.bytes.source(), &mut |_, labels, _| {
        if let Some(label) = labels.get(place) {
            known.remove(label.as_str());
        }
        Ok(())
    });
    // Unreadable metadata is not written either.
    walked.ok().filter(|()| !known.is_empty())?;
    Some(Loss {
        key: Some(key.clone()),
        aspect: Aspect::Metadata,
        detail: format!(
            "other fields of documents that are not written are left out: {}",
            known.len()
        ),
        tier: Tier::Said,
    })
}

/// Approximate memory of a pair; the JSON of members and fields was counted on reading.
fn held((name, value): &(Value, Value)) -> u64 {
    /// Smallest allocation of a list of pairs.
    const LEAST: usize = 4;
    let pair = to_u64(size_of::<(Value, Value)>());
    let name = name.as_text().map_or(0, |name| to_u64(name.len()));
    let own = pair.saturating_mul(2).saturating_add(name);
    let Some(pairs) = value.as_map() else {
        return own;
    };
    let least = pair.saturating_mul(to_u64(LEAST.saturating_sub(pairs.len())));
    let below = pairs.iter().map(held).fold(least, u64::saturating_add);
    own.saturating_add(below)
}

/// The other members for writing, by label.
pub(super) struct Known<'a>(HashMap<&'a str, &'a [(Value, Value)]>);

impl<'a> Known<'a> {
    pub(super) fn of(meta: &'a Meta) -> Known<'a> {
        let documents = meta.get(DOCUMENTS).and_then(Value::as_map);
        let pairs = documents.unwrap_or_default().iter();
        Known(
            pairs
                .filter_map(|(label, members)| Some((label.as_text()?, members.as_map()?)))
                .collect(),
        )
    }

    /// The names and the JSON of the members of a document.
    pub(super) fn members(&self, label: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let members = self.0.get(label).copied().unwrap_or_default().iter();
        members.filter_map(|(name, json)| Some((name.as_text()?, json.as_text()?)))
    }

    /// The names and the JSON of the other fields.
    pub(super) fn fields(&self, label: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.named(label, FIELDS)
    }

    /// The names and the JSON of fields with updates other than plain assignment.
    pub(super) fn updates(&self, label: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.named(label, UPDATES)
    }

    fn named(&self, label: &str, name: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let fields = self.find(label, name).and_then(Value::as_map);
        let fields = fields.unwrap_or_default().iter();
        fields.filter_map(|(name, json)| Some((name.as_text()?, json.as_text()?)))
    }

    fn find(&self, label: &str, name: &str) -> Option<&'a Value> {
        let members = self.0.get(label)?;
        let mut found = members
            .iter()
            .filter(|(own, _)| own.as_text() == Some(name));
        found.next().map(|(_, value)| value)
    }
}
