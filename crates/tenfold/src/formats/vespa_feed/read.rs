//! Reads a tensor field of all documents, one after the other.
#![deny(clippy::arithmetic_side_effects)]

use super::super::vespa::spec::Spec;
use super::super::vespa_text::document::{self, find_type, parse_type};
use super::super::vespa_text::read::{agreed, given_type};
use super::super::vespa_text::target::{self, Target};
use super::super::vespa_text::values::Spelling;
use super::{ID, NAME};
use crate::bundle::Bundle;
use crate::bytes::{Endian, Extent, PIECE, RecordsBuilder, Scan, Source, wide};
use crate::error::{Error, Result};
use crate::format::ReadOptions;
use crate::note::{Note, NoteKind};
use crate::number::{DType, Numbers};
use crate::tensor::{Address, Dim, Order, Storage, Tensor};
use crate::wire::json::{First, Json, Kind};

pub(super) fn read(source: &Source, how: &ReadOptions) -> Result<Bundle> {
    let lengths = [("short", false), ("full", true)];
    let chosen = how.options.choose("ids", &lengths)?;
    let mut start = Start {
        is_full: chosen.unwrap_or(false),
        must_be_short: chosen == Some(false),
        twice: None,
    };
    // Once more where ids turn out to be of several schemas, and to find the second of two
    // documents.
    for _ in 0..3 {
        match attempt(source, how, &start).map_err(|error| in_line(source, error))? {
            Made::Bundle(bundle) => return Ok(bundle),
            Made::Mixed => start.is_full = true,
            Made::Twice(id) => start.twice = Some(id),
        }
    }
    Err(Error::malformed(None, "two documents have one id"))
}

/// What is known before the first document.
struct Start {
    is_full: bool,
    must_be_short: bool,
    /// An id that two documents have.
    twice: Option<String>,
}

/// What has come of reading all documents.
enum Made {
    Bundle(Bundle),
    /// Ids do not begin alike.
    Mixed,
    /// Two documents have this id.
    Twice(String),
}

/// Says in which line something is wrong.
fn in_line(source: &Source, error: Error) -> Error {
    let Error::Malformed { at: Some(at), .. } = &error else {
        return error;
    };
    let mut lines = 1_u64;
    let counted = Scan::part(source, "", 0..*at).pieces(*at, PIECE, &mut |piece| {
        let breaks = piece.iter().filter(|byte| **byte == b'\n').count();
        lines = lines.saturating_add(wide(breaks));
        Ok(())
    });
    match counted {
        Ok(()) => error.in_part(&format!("line {lines}")),
        Err(_) => error,
    }
}

/// Reads all documents.
fn attempt(source: &Source, how: &ReadOptions, start: &Start) -> Result<Made> {
    let mut feed = Feed {
        json: Json::new(source, NAME, &how.limits),
        how,
        start,
        field: how.options.get("field").map(str::to_owned),
        prefix: None,
        is_mixed: false,
        spec: given_type(&how.options)?.map(|spec| spec.sorted()),
        rows: None,
        times: 0,
    };
    feed.walk()?;
    feed.finish()
}

/// What is known while documents are read.
struct Feed<'a> {
    json: Json<'a>,
    how: &'a ReadOptions,
    field: Option<String>,
    start: &'a Start,
    /// What all ids begin with.
    prefix: Option<String>,
    /// Whether one begins otherwise.
    is_mixed: bool,
    spec: Option<Spec>,
    rows: Option<Rows>,
    times: u64,
}

/// What the fields of all documents hold.
struct Rows {
    /// The dimensions of the field.
    dims: Vec<Dim>,
    /// Where the id stands among the labels of a block, which are sorted by their dimensions.
    id_place: usize,
    blocks: RecordsBuilder,
    /// The ids, where a document has more or less than one block.
    ids: RecordsBuilder,
    /// Documents without a block.
    n_empty: u64,
}

impl Rows {
    /// For fields like this one.
    fn like(field: &Tensor) -> Rows {
        let dims = field.dims().to_vec();
        let mapped = dims.iter().filter(|dim| dim.indexed_size().is_none());
        let before = mapped.filter(|dim| dim.name.as_deref() < Some(ID));
        let width = match field.storage() {
            Storage::Sparse { values, .. } => match values.bytes.extent() {
                Extent::Records(records) => records.width(),
                _ => 0,
            },
            Storage::Dense { values, .. } => values.bytes.len(),
            Storage::Train { .. } | Storage::Opaque { .. } => 0,
        };
        Rows {
            id_place: before.count(),
            blocks: RecordsBuilder::of_width(field.n_mapped().saturating_add(1), width),
            ids: RecordsBuilder::of_width(1, 0),
            dims,
            n_empty: 0,
        }
    }

    /// Adds the field of a document.
    fn push(&mut self, label: &str, field: &Tensor) -> Result<()> {
        let (Storage::Dense { values, .. } | Storage::Sparse { values, .. }) = field.storage()
        else {
            return Ok(());
        };
        let Extent::Records(records) = values.bytes.extent() else {
            self.blocks.begin(&[label])?;
            let blocks = &mut self.blocks;
            return values
                .bytes
                .for_each(PIECE, &mut |piece| blocks.cells(piece));
        };
        self.ids.begin(&[label])?;
        if records.count() == 0 {
            self.n_empty = self.n_empty.saturating_add(1);
        }
        records.for_each(values.bytes.source(), &mut |_, labels, scan| {
            let (before, after) = labels.split_at_checked(self.id_place).unwrap_or_default();
            let all = before.iter().map(String::as_str).chain([label]);
            let all: Vec<&str> = all.chain(after.iter().map(String::as_str)).collect();
            self.blocks.begin(&all)?;
            let blocks = &mut self.blocks;
            scan.pieces(records.width(), PIECE, &mut |piece| blocks.cells(piece))
        })
    }
}

/// What a document says of itself.
#[derive(Default)]
struct Document {
    id: Option<(u64, String)>,
    fields_at: Option<u64>,
    documents_at: Option<u64>,
}

impl Feed<'_> {
    fn walk(&mut self) -> Result<()> {
        if self.json.kind()? == Kind::Array {
            self.walk_list()?;
            return self.json.end();
        }
        while !self.is_mixed && self.json.kind()? != Kind::End {
            if self.json.kind()? != Kind::Object {
                return self.json.unexpected("a document");
            }
            self.document()?;
        }
        Ok(())
    }

    fn walk_list(&mut self) -> Result<()> {
        self.json.need(b'[')?;
        let mut first = First::new();
        while self.json.next(&mut first, b']')? {
            self.document()?;
        }
        Ok(())
    }

    fn document(&mut self) -> Result<()> {
        self.json.peek()?;
        let start = self.json.at();
        let found = self.members()?;
        let end = self.json.at();
        if let (Some(at), None) = (found.documents_at, &found.id) {
            self.json.scan.seek(at)?;
            self.walk_list()?;
            return self.json.scan.seek(end);
        }
        let Some((id_at, id)) = found.id else {
            return self.json.scan.fail_at(start, "a document without an id");
        };
        let Some(fields_at) = found.fields_at else {
            let why = format!("the document {id:?} has no fields");
            return self.json.scan.fail_at(start, why);
        };
        self.json.scan.seek(fields_at)?;
        let Some(value_at) = self.find_field()? else {
            let field = self.field.as_deref().unwrap_or_default();
            let why = format!("the document {id:?} has no field {field}");
            return self.json.scan.fail_at(start, why);
        };
        self.json.scan.seek(value_at)?;
        self.row(id_at, &id)?;
        self.json.scan.seek(end)
    }

    fn members(&mut self) -> Result<Document> {
        let json = &mut self.json;
        json.need(b'{')?;
        let (mut first, mut name) = (First::new(), String::new());
        let mut found = Document::default();
        while json.member(&mut first, &mut name)? {
            let kind = json.kind()?;
            let at = json.at();
            let is_new = match (name.as_str(), kind) {
                ("put" | "id", Kind::Text) => {
                    let mut id = String::new();
                    json.text(&mut id)?;
                    found.id.replace((at, id)).is_none()
                }
                ("update" | "remove", Kind::Text) => {
                    let why = format!("this is a document to {name}, only those to put are read");
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
                    true
                }
            };
            if !is_new {
                return json.scan.fail_at(at, format!("{name} stands twice"));
            }
        }
        Ok(found)
    }

    /// Where the value of the field stands, if it is there.
    fn find_field(&mut self) -> Result<Option<u64>> {
        let json = &mut self.json;
        json.need(b'{')?;
        let (mut first, mut name) = (First::new(), String::new());
        let mut found: Vec<(String, u64)> = Vec::new();
        while json.member(&mut first, &mut name)? {
            json.peek()?;
            let at = json.at();
            match &self.field {
                Some(field) if *field == name => return Ok(Some(at)),
                Some(_) => {}
                None if found.is_empty() => found.push((name.clone(), at)),
                None => {
                    let why = "there are several fields: choose one with --opt field=NAME";
                    return Err(Error::invalid(why));
                }
            }
            json.skip()?;
        }
        let Some((name, at)) = found.pop() else {
            return Ok(None);
        };
        self.field = Some(name);
        Ok(Some(at))
    }

    /// Reads the value of the field of one document.
    fn row(&mut self, id_at: u64, id: &str) -> Result<()> {
        let json = &mut self.json;
        let own = match find_type(json)? {
            Some((at, text)) => Some((at, parse_type(json, at, &text)?.sorted())),
            None => None,
        };
        let spec = agreed(json, own, self.spec.take())?;
        if spec.dims.iter().any(|(name, _)| name == ID) {
            let what = format!("a field of type {spec}: none of its dimensions is {ID}");
            return Err(Error::Unsupported { format: NAME, what });
        }
        let at = json.at();
        let mut twice = None;
        // Once more to find the second of two blocks.
        for _ in 0..2 {
            json.scan.seek(at)?;
            let mut target = Target::new(&spec, Spelling::Json, twice.take(), self.how)?;
            document::read(json, &mut target)?;
            match target.finish(json)? {
                target::Made::Tensor(tensor) => {
                    self.spec = Some(spec);
                    return self.push(id_at, id, at, &tensor);
                }
                target::Made::Twice(labels) => twice = Some(labels),
            }
        }
        json.scan.fail_at(at, "two blocks have the same labels")
    }

    fn push(&mut self, id_at: u64, id: &str, at: u64, tensor: &Tensor) -> Result<()> {
        let label = self.label(id_at, id)?;
        if self.start.twice.as_ref() == Some(&label) {
            self.times = self.times.saturating_add(1);
            if self.times > 1 {
                let why = "a document has the id of an earlier one";
                return self.json.scan.fail_at(id_at, why);
            }
        }
        let rows = self.rows.get_or_insert_with(|| Rows::like(tensor));
        if rows.dims != tensor.dims() {
            let why = "the value has another shape than those before";
            return self.json.scan.fail_at(at, why);
        }
        rows.push(&label, tensor)?;
        self.how.limits.check_labels(rows.blocks.count())?;
        self.how.limits.check_labels(rows.ids.count())
    }

    /// The label that an id becomes.
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
                return self.json.scan.fail_at(at, why);
            }
        }
        Ok(id.get(own.len()..).unwrap_or_default().to_owned())
    }

    fn finish(self) -> Result<Made> {
        if self.is_mixed {
            return Ok(Made::Mixed);
        }
        let Some(rows) = self.rows else {
            return Err(Error::malformed(0, "there is no document"));
        };
        let Some(spec) = self.spec else {
            return Err(Error::malformed(0, "there is no document"));
        };
        if let Err(id) = rows.ids.finish_unless_twice()? {
            return Ok(Made::Twice(id.concat()));
        }
        let bytes = match rows.blocks.finish_unless_twice()? {
            Ok(bytes) => bytes,
            Err(labels) => return Ok(Made::Twice(labels.concat())),
        };
        let storage = Storage::Sparse {
            order: Order::Row,
            address: Address::Labels,
            values: Numbers {
                number: spec.number,
                endian: Endian::Big,
                bytes,
            },
        };
        let mut dims = rows.dims;
        dims.insert(rows.id_place, Dim::mapped(ID));
        let dtype = DType::real(spec.number);
        let tensor = Tensor::within(dims, dtype, vec![], storage, &self.how.limits)?;
        let mut bundle = Bundle::of(tensor);
        if rows.n_empty > 0 {
            let text = format!(
                "documents whose field has no cell are left out: {}",
                rows.n_empty
            );
            bundle.note(Note::new(NoteKind::Skipped, text));
        }
        let mut parts = self
            .prefix
            .as_deref()
            .unwrap_or_default()
            .split(':')
            .skip(1);
        for (name, value) in [
            ("namespace", parts.next()),
            ("schema", parts.next()),
            ("field", self.field.as_deref()),
        ] {
            if let Some(value) = value {
                bundle.hints.set(format!("{NAME}:{name}"), value);
            }
        }
        Ok(Made::Bundle(bundle))
    }
}

/// What of an id is not the user's own: `id:NAMESPACE:SCHEMA:KEYS:`; nothing, if it is no such id.
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
pub(super) fn is_likely(source: &Source) -> bool {
    let limits = crate::limits::Limits::default();
    let mut json = Json::new(source, NAME, &limits);
    let likely = |json: &mut Json| -> Result<bool> {
        if json.kind()? == Kind::Array {
            json.need(b'[')?;
        }
        json.need(b'{')?;
        let mut name = String::new();
        let is_there = json.member(&mut First::new(), &mut name)?;
        let names = ["put", "id", "pathId", "documents", "fields"];
        Ok(is_there && names.contains(&name.as_str()))
    };
    likely(&mut json).unwrap_or(false)
}
