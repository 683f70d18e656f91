//! Reads a tensor field of all documents, in order.
#![deny(clippy::arithmetic_side_effects)]

use super::super::vespa::spec::Spec;
use super::super::vespa_text::document;
use super::super::vespa_text::document::{find_type, parse_type};
use super::super::vespa_text::read::{agreed, given_type};
use super::super::vespa_text::values::Spelling;
use super::documents::{Document, Documents, guess_type};
use super::others::Others;
use super::rows::Rows;
use super::{ID, NAME, OPERATION, Operation};
use crate::bundle::Bundle;
use crate::bytes::{PIECE, Scan, to_u64};
use crate::error::{Error, Result};
use crate::format::ReadOptions;
use crate::formats::vespa_text::builder;
use crate::formats::vespa_text::builder::Target;
use crate::io::{Head, Source};
use crate::note::{Note, NoteKind};
use crate::tensor::Tensor;
use crate::wire::json::{First, Json, Kind};

pub(super) fn read(source: &Source, how: &ReadOptions) -> Result<Bundle> {
    let lengths = [("short", false), ("full", true)];
    let chosen = how.options.choose("ids", &lengths)?;
    let mut start = Start {
        is_full: chosen.unwrap_or(false),
        must_be_short: chosen == Some(false),
        twice: None,
    };
    // Another attempt if ids turn out to belong to several schemas, and one to find the second of
    // two duplicate documents.
    for _ in 0..3 {
        match attempt(source, how, &start).map_err(|error| in_line(source, error))? {
            Made::Bundle(bundle) => return Ok(bundle),
            Made::Mixed => start.is_full = true,
            Made::Twice(id) => start.twice = Some(id),
        }
    }
    Err(Error::malformed(None, "two documents have one id"))
}

/// The initial state of an attempt.
struct Start {
    is_full: bool,
    must_be_short: bool,
    /// An id that two documents have.
    twice: Option<String>,
}

/// The result of an attempt.
enum Made {
    Bundle(Bundle),
    /// Ids do not have a common prefix.
    Mixed,
    /// Two documents have this id.
    Twice(String),
}

/// Adds the line number to an error.
fn in_line(source: &Source, error: Error) -> Error {
    let Error::Malformed { at: Some(at), .. } = &error else {
        return error;
    };
    let mut lines = 1_u64;
    let counted = Scan::part(source, "", 0..*at).pieces(*at, PIECE, &mut |piece| {
        let breaks = piece.iter().filter(|byte| **byte == b'\n').count();
        lines = lines.saturating_add(to_u64(breaks));
        Ok(())
    });
    match counted {
        Ok(()) => error.in_part(&format!("line {lines}")),
        Err(_) => error,
    }
}

/// Reads all documents.
fn attempt(source: &Source, how: &ReadOptions, start: &Start) -> Result<Made> {
    let others = [("keep", true), ("drop", false)];
    let mut feed = Feed {
        documents: Documents {
            source,
            json: Json::new(source, NAME, &how.limits),
            field: how.options.get("field").map(str::to_owned),
            id: how.options.get(ID).map(str::to_owned),
            keeps_others: how.options.choose("others", &others)?.unwrap_or(true),
            limits: &how.limits,
        },
        how,
        start,
        prefix: None,
        is_mixed: false,
        spec: given_type(&how.options)?.map(|spec| spec.sorted()),
        rows: None,
        operations: Vec::new(),
        others: Others::default(),
        times: 0,
    };
    feed.walk()?;
    feed.finish()
}

/// The state while documents are read.
struct Feed<'a> {
    documents: Documents<'a>,
    how: &'a ReadOptions,
    start: &'a Start,
    /// The common prefix of all ids.
    prefix: Option<String>,
    /// Whether an id has another prefix.
    is_mixed: bool,
    spec: Option<Spec>,
    rows: Option<Rows>,
    /// The operations of the documents, each once; `None` for documents without one.
    operations: Vec<Option<Operation>>,
    others: Others,
    times: u64,
}

impl Feed<'_> {
    fn walk(&mut self) -> Result<()> {
        if self.documents.json.kind()? == Kind::Array {
            self.walk_list()?;
            return self.documents.json.end();
        }
        while !self.is_mixed && self.documents.json.kind()? != Kind::End {
            if self.documents.json.kind()? != Kind::Object {
                return self.documents.json.unexpected("a document");
            }
            self.document()?;
        }
        Ok(())
    }

    fn walk_list(&mut self) -> Result<()> {
        self.documents.json.need(b'[')?;
        let mut first = First::new();
        while self.documents.json.next(&mut first, b']')? {
            self.document()?;
        }
        Ok(())
    }

    fn document(&mut self) -> Result<()> {
        let found = self.documents.members()?;
        let json = &mut self.documents.json;
        let end = json.at();
        if let (Some(at), None) = (found.documents_at, &found.id) {
            json.scan.seek(at)?;
            self.walk_list()?;
            return self.documents.json.scan.seek(end);
        }
        let found = self.documents.fields(found)?;
        if !self.operations.contains(&found.operation) {
            self.operations.push(found.operation);
        }
        self.row(found)?;
        self.documents.json.scan.seek(end)
    }

    /// Reads the field's value in one document.
    fn row(&mut self, found: Document) -> Result<()> {
        let json = &mut self.documents.json;
        json.scan.seek(found.value_at)?;
        let own = match find_type(json)? {
            Some((at, text)) => Some((at, parse_type(json, at, &text)?.sorted())),
            None if self.spec.is_none() && self.documents.id.is_some() => {
                Some((found.value_at, guess_type(json)?))
            }
            None => None,
        };
        let spec = agreed(json, own, self.spec.take())?;
        if spec.dims.iter().any(|(name, _)| name == ID) {
            let what = format!("a field of type {spec}: none of its dimensions is {ID}");
            return Err(Error::Unsupported { format: NAME, what });
        }
        let at = json.at();
        let mut twice = None;
        // Another attempt to find the second of two duplicate blocks.
        for _ in 0..2 {
            json.scan.seek(at)?;
            let mut target = Target::new(&spec, Spelling::Json, twice.take(), self.how)?;
            document::read(json, &mut target)?;
            match target.finish(json)? {
                builder::Made::Tensor(tensor) => {
                    self.spec = Some(spec);
                    return self.push(found, at, &tensor);
                }
                builder::Made::Twice(labels) => twice = Some(labels),
            }
        }
        json.scan.fail_at(at, "two blocks have the same labels")
    }

    fn push(&mut self, found: Document, at: u64, tensor: &Tensor) -> Result<()> {
        let (id_at, id) = found.id;
        let label = self.label(id_at, &id)?;
        let json = &self.documents.json;
        if self.start.twice.as_ref() == Some(&label) {
            self.times = self.times.saturating_add(1);
            if self.times > 1 {
                let why = "a document has the id of an earlier one";
                return json.scan.fail_at(id_at, why);
            }
        }
        let rows = self
            .rows
            .get_or_insert_with(|| Rows::like(tensor, &self.how.limits));
        if rows.dims != tensor.dims() {
            let why = "the value has another shape than those before";
            return json.scan.fail_at(at, why);
        }
        rows.push(&label, tensor)?;
        self.how.limits.check_labels(rows.blocks.count())?;
        self.how.limits.check_labels(rows.ids.count())?;
        self.others.push(&label, found.other, &self.how.limits)
    }

    /// The label for an id.
    fn label(&mut self, at: u64, id: &str) -> Result<String> {
        if self.start.is_full {
            return Ok(id.to_owned());
        }
        let own = prefix(id);
        match &self.prefix {
            None => self.prefix = Some(own.to_owned()),
            Some(known) if known == own => {}
            Some(_) if !self.start.must_be_short => self.is_mixed = true,
            Some(known) => {
                let why = format!(
                    "the id {id:?} does not begin with {known:?} as the first does: \
                     --opt ids=full keeps whole ids"
                );
                return self.documents.json.scan.fail_at(at, why);
            }
        }
        Ok(id.get(own.len()..).unwrap_or_default().to_owned())
    }

    fn finish(self) -> Result<Made> {
        if self.is_mixed {
            return Ok(Made::Mixed);
        }
        let (Some(rows), Some(spec)) = (self.rows, self.spec) else {
            return Err(Error::malformed(0, "there is no document"));
        };
        let n_empty = rows.n_empty;
        let mut tensor = match rows.finish(spec.number, &self.how.limits)? {
            Ok(tensor) => tensor,
            Err(labels) => return Ok(Made::Twice(labels)),
        };
        if let [Some(operation)] = self.operations.as_slice() {
            let hint = format!("{NAME}:{OPERATION}");
            tensor.hints.set(hint, operation.word());
        }
        let mut bundle = Bundle::of(tensor);
        if self.operations.len() > 1 {
            let text = "documents are put and updated; one operation is written for all of them";
            bundle.note(Note::new(NoteKind::DifferingMetadata, text));
        }
        self.others.keep(&mut bundle.meta);
        if n_empty > 0 {
            let text = format!("documents whose field has no cell are left out: {n_empty}");
            bundle.note(Note::new(NoteKind::Skipped, text));
        }
        let prefix = self.prefix.unwrap_or_default();
        let mut parts = prefix.split(':').skip(1);
        for (name, value) in [
            ("namespace", parts.next()),
            ("schema", parts.next()),
            ("field", self.documents.field.as_deref()),
        ] {
            if let Some(value) = value {
                bundle.hints.set(format!("{NAME}:{name}"), value);
            }
        }
        Ok(Made::Bundle(bundle))
    }
}

/// The prefix of an id before the user's own part: `id:NAMESPACE:SCHEMA:KEYS:`; empty, if it is no
/// such id.
pub(super) fn prefix(id: &str) -> &str {
    let colons: Vec<usize> = id.match_indices(':').map(|(at, _)| at).take(4).collect();
    match colons.as_slice() {
        [_, _, _, last] if id.starts_with("id:") => {
            id.get(..last.saturating_add(1)).unwrap_or_default()
        }
        _ => "",
    }
}

/// Whether a file begins as a feed does.
pub(super) fn is_likely(head: &Head) -> Result<bool> {
    let limits = crate::limits::Limits::default();
    let likely = |json: &mut Json| -> Result<bool> {
        if json.kind()? == Kind::Array {
            json.need(b'[')?;
        }
        json.need(b'{')?;
        let mut name = String::new();
        let is_there = json.member(&mut First::new(), &mut name)?;
        let names = ["put", "update", "id", "pathId", "documents", "fields"];
        Ok(is_there && names.contains(&name.as_str()))
    };
    head.ask(|source| likely(&mut Json::new(source, NAME, &limits)))
}
