//! Writes a feed, one line per row.

use super::super::vespa_text::write::{
    Form, Writer, for_each_block, hand_out, has_odd_nan, numbers,
};
use super::adapt::{field_dims, id_place};
use super::others::Known;
use super::read::prefix;
use super::{NAME, OPERATION, Operation};
use crate::bundle::Bundle;
use crate::bytes::{Extent, Records, Scan, to_u64};
use crate::dtype::Numbers;
use crate::error::{Error, Result};
use crate::format::WriteOptions;
use crate::io::Sink;
use crate::tensor::{Labels, Places, Tensor};
use crate::wire::json::put_text;

/// The operation of the documents, if it is given or known from a file.
pub(super) fn operation(tensor: &Tensor, how: &WriteOptions) -> Result<Option<Operation>> {
    let choices = Operation::ALL.map(|operation| (operation.word(), operation));
    let given = how.options.choose(OPERATION, &choices)?;
    let hint = tensor.hints.text(&format!("{NAME}:{OPERATION}"));
    let known = choices.iter().find(|(word, _)| Some(*word) == hint);
    Ok(given.or(known.map(|(_, operation)| *operation)))
}

pub(super) fn write(bundle: &Bundle, out: &mut Sink, how: &WriteOptions) -> Result<()> {
    let tensor = bundle.only()?;
    let values = numbers(tensor)?;
    let given = |name: &str| -> Option<String> {
        let own = format!("{NAME}:{name}");
        // Other formats keep the hints of a feed as metadata.
        let hint = || bundle.hints.text(&own).or_else(|| bundle.meta.text(&own));
        let given = how.options.get(name).or_else(hint);
        given.filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let schema = given("schema").unwrap_or_else(|| "doc".into());
    let namespace = match how.options.get("schema") {
        // Another schema implies another namespace.
        Some(schema) => how.options.get("namespace").unwrap_or(schema).to_owned(),
        None => given("namespace").unwrap_or_else(|| schema.clone()),
    };
    let is_hex = how
        .options
        .choose("hex", &[("true", true), ("false", false)])?;
    // Hexadecimal digits preserve every bit.
    let form = if is_hex.unwrap_or(false) || has_odd_nan(values)? {
        Form::Hex
    } else {
        Form::Short
    };
    let dims = field_dims(tensor);
    let mut lines = Lines {
        writer: Writer::new(&dims, tensor.dtype().number, form, out)?,
        before: format!("id:{namespace}:{schema}::"),
        field: given("field").unwrap_or_else(|| "tensor".into()),
        has_type: how.options.get("type").is_none(),
        operation: operation(tensor, how)?.unwrap_or(Operation::Put),
        others: Known::of(&bundle.meta),
        are_whole: None,
    };
    match (tensor.n_mapped(), values.bytes.extent()) {
        (2.., Extent::Records(records)) => {
            let id_place = id_place(tensor).unwrap_or(0);
            lines.documents(values, records, id_place, how)?;
        }
        _ => {
            let ids = ids(how, tensor.stored())?;
            let mut row = 0;
            for_each_block(values, &mut |labels, block| {
                let label = labels.first().map(String::as_str).unwrap_or_default();
                let id = ids.as_ref().and_then(|ids| ids.get(row)).unwrap_or(label);
                row = row.saturating_add(1);
                lines.begin(id, label)?;
                lines.writer.block(&[], block)?;
                lines.end()
            })?;
        }
    }
    lines.writer.flush()
}

/// The given ids, one per row.
fn ids(how: &WriteOptions, rows: u64) -> Result<Option<Labels>> {
    let Some(text) = how.options.get("ids") else {
        return Ok(None);
    };
    let ids: Labels = text.lines().collect();
    if to_u64(ids.len()) != rows {
        let why = format!("{rows} rows need as many ids, {} are given", ids.len());
        return Err(Error::Mismatch(why));
    }
    ids.check_unique()?;
    Ok(Some(ids))
}

/// Appends a member whose value is JSON already.
fn put_member(name: &str, json: &str, out: &mut String) {
    put_text(name, out);
    out.push(':');
    out.push_str(json);
}

/// A writer of lines.
struct Lines<'a> {
    writer: Writer<'a>,
    /// The prefix of ids.
    before: String,
    field: String,
    /// Whether the type has yet to be written.
    has_type: bool,
    operation: Operation,
    /// The other members of documents.
    others: Known<'a>,
    /// Whether labels are full ids including the prefix, known from the first one on.
    are_whole: Option<bool>,
}

impl Lines<'_> {
    /// Begins the document with an id, for the row with a label.
    fn begin(&mut self, id: &str, label: &str) -> Result<()> {
        let is_whole = !prefix(id).is_empty();
        // A reader could not tell which of them were full ids.
        if *self.are_whole.get_or_insert(is_whole) != is_whole {
            let why = format!(
                "only some of the labels are whole ids of documents, {id:?} is not like those before; give all with --opt ids="
            );
            return Err(Error::Mismatch(why));
        }
        let text = &mut self.writer.text;
        text.push('{');
        put_text(self.operation.word(), text);
        text.push(':');
        if is_whole {
            put_text(id, text)
        } else {
            put_text(&format!("{}{id}", self.before), text)
        }
        for (name, json) in self.others.members(label) {
            text.push(',');
            put_member(name, json, text);
        }
        text.push_str(",\"fields\":{");
        self.put_others(label)?;
        let text = &mut self.writer.text;
        put_text(&self.field, text);
        text.push(':');
        text.push_str(self.operation.before());
        self.writer.open(std::mem::take(&mut self.has_type));
        Ok(())
    }

    /// Writes the other fields of a document, each followed by a comma.
    fn put_others(&mut self, label: &str) -> Result<()> {
        let text = &mut self.writer.text;
        let is_other = |(name, _): &(&str, &str)| *name != self.field;
        let (before, after) = (self.operation.before(), self.operation.after());
        for (name, json) in self.others.fields(label).filter(is_other) {
            put_member(name, &format!("{before}{json}{after},"), text);
        }
        for (name, json) in self.others.updates(label).filter(is_other) {
            if self.operation == Operation::Put {
                let why = format!(
                    "the document {label:?} has an update of {name} that a put cannot have: --opt operation=update \
                     keeps it, --opt others=drop leaves it out"
                );
                return Err(Error::Mismatch(why));
            }
            put_member(name, &format!("{json},"), text);
        }
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        self.writer.close();
        self.writer.text.push_str(self.operation.after());
        self.writer.text.push_str("}}\n");
        self.writer.flush_if_long()
    }

    /// Writes a line for every document, in the order of first appearance; their blocks need not be
    /// adjacent.
    fn documents(
        &mut self,
        values: &Numbers,
        records: &Records,
        id_place: usize,
        how: &WriteOptions,
    ) -> Result<()> {
        let source = values.bytes.source();
        let mut known = Places::default();
        let mut blocks: Vec<(usize, u64)> = Vec::new();
        records.for_each(source, &mut |at, labels, _| {
            let id = labels.get(id_place).map(String::as_str).unwrap_or_default();
            blocks.push((known.of(id), at));
            let held = to_u64(blocks.capacity()).saturating_mul(16);
            let why = "the blocks of a document are looked for by its id";
            how.limits
                .check_memory(why, held.saturating_add(known.held()))
        })?;
        let ids = ids(how, to_u64(known.labels.len()))?;
        let ids = ids.as_ref().unwrap_or(&known.labels);
        blocks.sort_unstable();
        for document in blocks.chunk_by(|one, next| one.0 == next.0) {
            let place = document.first().map(|(place, _)| *place);
            let of = |labels: &Labels| labels.get(place?).map(str::to_owned);
            let (id, label) = (of(ids), of(&known.labels));
            self.begin(&id.unwrap_or_default(), &label.unwrap_or_default())?;
            for (_, at) in document {
                let (mut labels, cells_at) = records.record_at(source, *at)?;
                if id_place < labels.len() {
                    labels.remove(id_place);
                }
                let end = cells_at.saturating_add(records.width());
                self.writer.block(&labels, &mut |take| {
                    let mut scan = Scan::part(source, NAME, cells_at..end);
                    hand_out(values, records.width(), &mut scan, take)
                })?;
            }
            self.end()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::format::{ReadOptions, WriteOptions};
    use crate::io::{Sink, Source};

    /// The feed of two documents with these ids.
    fn written(ids: [&str; 2]) -> crate::error::Result<String> {
        let [one, two] = ids;
        let feed = format!(
            "{{\"put\":\"{one}\",\"fields\":{{\"t\":{{\"type\":\"tensor<float>(x[2])\",\"values\":[1,2]}}}}}}\n\
             {{\"put\":\"{two}\",\"fields\":{{\"t\":{{\"values\":[3,4]}}}}}}\n"
        );
        let format = crate::by_name(crate::formats::vespa_feed::NAME).unwrap();
        let source = Source::memory(feed.into_bytes());
        let opened = crate::read(&source, format, &ReadOptions::default())?;
        let mut out = Sink::memory();
        crate::write_to(&opened.bundle, &mut out, format, &WriteOptions::default())?;
        Ok(String::from_utf8(out.finish()?.into_memory()?).unwrap())
    }

    #[test]
    fn labels_of_which_only_some_are_ids_are_refused() {
        let both = written(["id:ns:doc::a", "id:ns:doc::b"]).unwrap();
        assert!(both.contains("\"id:ns:doc::a\"") && both.contains("\"id:ns:doc::b\""));
        let error = written(["id:ns:doc::a", "iAd:ns:doc::b"]).unwrap_err();
        assert!(error.to_string().contains("iAd:ns:doc::b"), "{error}");
    }
}
