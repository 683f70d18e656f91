//! Writes a line for every row.

use super::super::vespa;
use super::super::vespa::spec::{Spec, is_word};
use super::super::vespa_text::read::given_type;
use super::super::vespa_text::write::{
    Form, Writer, for_each_block, hand_out, has_odd_nan, numbers, plain_nans,
};
use super::read::prefix;
use super::{ID, NAME};
use crate::bundle::Bundle;
use crate::bytes::{Extent, Records, Scan, Sink, wide};
use crate::error::{Aspect, Error, Loss, Result, Tier};
use crate::format::{Adapted, WriteOptions};
use crate::number::{Number, Numbers, Overflow, is_exact};
use crate::tensor::{Dim, Labels, Places, Storage, Tensor};
use crate::wire::json::put_text;

/// Makes rows labelled, calls their dimension `id`, and takes the type that was given.
pub(super) fn adapt(tensor: &Tensor, how: &WriteOptions) -> Result<Option<Adapted>> {
    let given = given_type(&how.options)?;
    let mut said = Vec::new();
    let is_dense = matches!(tensor.storage(), Storage::Dense { .. });
    // What has no cells has no rows either.
    if tensor.indexed_sizes().contains(&0) {
        return Ok(None);
    }
    if tensor.dims().is_empty() || tensor.n_mapped() == 0 && !is_dense {
        return Ok(None);
    }
    let named = match tensor.n_mapped() {
        0 | 1 => renamed(tensor, given.as_ref(), how, &mut said)?,
        // Which of several is that of the documents has to be said by its name.
        _ if id_place(tensor).is_none() => return Ok(None),
        _ => {
            check_type(tensor, given.as_ref())?;
            tensor.clone()
        }
    };
    let cast = match given.map(|spec| spec.number) {
        Some(number) if number != named.dtype().number => {
            let own = named.dtype().number;
            let (aspect, verb) = match is_exact(own, number) {
                true => (Aspect::Number, "becomes"),
                false => (Aspect::Precision, "is rounded to"),
            };
            said.push((Tier::Said, aspect, format!("{own} {verb} {number}")));
            named.cast(number, Overflow::Fails, &how.limits)?
        }
        _ => named,
    };
    if cast.n_mapped() > 0 {
        return Ok(Some((cast, said)));
    }
    let count = cast.sizes()?.first().copied().unwrap_or(0);
    how.limits.check_labels(count)?;
    let numbers: Labels = (0..count).map(|row| row.to_string()).collect();
    let what = match how.options.get("ids") {
        Some(_) => "the ids that are given",
        None => "their numbers",
    };
    let detail = format!("{count} rows are labelled with {what}");
    said.push((Tier::Said, Aspect::Labels, detail));
    let labelled = cast.with_labels(&[(0, &numbers)], &how.limits)?;
    Ok(Some((labelled, said)))
}

/// Which of the mapped dimensions is that of the documents.
fn id_place(tensor: &Tensor) -> Option<usize> {
    let is_id = |dim: &Dim| dim.indexed_size().is_none() && dim.name.as_deref() == Some(ID);
    match tensor.n_mapped() {
        1 => tensor
            .dims()
            .iter()
            .position(|dim| dim.indexed_size().is_none()),
        _ => tensor.dims().iter().position(is_id),
    }
}

/// The dimensions of the field: all but that of the documents.
fn field_dims(tensor: &Tensor) -> Vec<Dim> {
    let id = id_place(tensor);
    let dims = tensor.dims().iter().enumerate();
    dims.filter(|(place, _)| Some(*place) != id)
        .map(|(_, dim)| dim.clone())
        .collect()
}

/// Fails if fields with mapped dimensions are not of the type that is given.
fn check_type(tensor: &Tensor, given: Option<&Spec>) -> Result<()> {
    let Some(given) = given else {
        return Ok(());
    };
    let dims = field_dims(tensor);
    let own = Spec::of(given.number, &dims).map(|own| own.sorted());
    let given = given.sorted();
    let fits = |own: &Spec| {
        let mut both = own.dims.iter().zip(&given.dims);
        own.dims.len() == given.dims.len()
            && both.all(|(own, given)| own.0 == given.0 && given.1.takes(own.1))
    };
    match own {
        Some(own) if fits(&own) => Ok(()),
        Some(own) => Err(Error::invalid(format!(
            "the field of every document is {own}, and not of type {given}"
        ))),
        // What has no word is found by the quirks.
        None => Ok(()),
    }
}

/// Gives the first dimension the name `id`, and the others those of the type, if they need any.
fn renamed(
    tensor: &Tensor,
    given: Option<&Spec>,
    how: &WriteOptions,
    said: &mut Vec<(Tier, Aspect, String)>,
) -> Result<Tensor> {
    let mut dims: Vec<Dim> = tensor.dims().to_vec();
    let is_nameless = dims.iter().all(|dim| dim.name.is_none());
    let sizes: Vec<Option<u64>> = dims.iter().skip(1).map(Dim::indexed_size).collect();
    if let Some(spec) = given {
        let wanted = spec.indexed();
        let fits = |(own, (_, size)): (&Option<u64>, &(String, Option<u64>))| {
            size.is_none() || *own == *size
        };
        let is_right = spec.mapped().is_empty()
            && wanted.len() == sizes.len()
            && sizes.iter().zip(&wanted).all(fits);
        if !is_right {
            let sizes: Vec<String> = sizes.iter().flatten().map(u64::to_string).collect();
            let why = format!("rows of {} are not of type {spec}", sizes.join(" × "));
            return Err(Error::invalid(why));
        }
        for (dim, (name, _)) in dims.iter_mut().skip(1).zip(wanted) {
            dim.name = Some(name);
        }
    } else if is_nameless {
        let letters = ('a'..='z').map(String::from);
        for (dim, letter) in dims.iter_mut().skip(1).zip(letters) {
            dim.name = Some(letter);
        }
    }
    if let Some(first) = dims.first_mut() {
        first.name = Some(ID.to_owned());
    }
    if dims == tensor.dims() {
        return Ok(tensor.clone());
    }
    let names: Vec<&str> = dims.iter().filter_map(|dim| dim.name.as_deref()).collect();
    let aspect = if is_nameless {
        Aspect::Invented
    } else {
        Aspect::DimNames
    };
    let detail = format!("dimensions are called {}", names.join(", "));
    said.push((Tier::Said, aspect, detail));
    let storage = tensor.storage().clone();
    let dtype = tensor.dtype();
    let renamed = Tensor::within(dims, dtype, vec![], storage, &how.limits)?;
    Ok(renamed.described_like(tensor))
}

pub(super) fn write(bundle: &Bundle, out: &mut Sink, how: &WriteOptions) -> Result<()> {
    let tensor = bundle.only()?;
    let values = numbers(tensor)?;
    let given = |name: &str| -> Option<String> {
        let hint = || bundle.hints.text(&format!("{NAME}:{name}"));
        let given = how.options.get(name).or_else(hint);
        given.filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let schema = given("schema").unwrap_or_else(|| "doc".into());
    let namespace = match how.options.get("schema") {
        // Of another schema the namespace is another too.
        Some(schema) => how.options.get("namespace").unwrap_or(schema).to_owned(),
        None => given("namespace").unwrap_or_else(|| schema.clone()),
    };
    let is_hex = how
        .options
        .choose("hex", &[("true", true), ("false", false)])?;
    // Digits keep every bit.
    let form = match is_hex.unwrap_or(false) || has_odd_nan(values)? {
        true => Form::Hex,
        false => Form::Short,
    };
    let dims = field_dims(tensor);
    let mut lines = Lines {
        writer: Writer::new(&dims, tensor.dtype().number, form, out)?,
        before: format!("id:{namespace}:{schema}::"),
        field: given("field").unwrap_or_else(|| "tensor".into()),
        has_type: how.options.get("type").is_none(),
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
                lines.begin(id)?;
                lines.writer.block(&[], block)?;
                lines.end()
            })?;
        }
    }
    lines.writer.flush()
}

/// The ids that are given, one for every row.
fn ids(how: &WriteOptions, rows: u64) -> Result<Option<Labels>> {
    let Some(text) = how.options.get("ids") else {
        return Ok(None);
    };
    let ids: Labels = text.lines().collect();
    if wide(ids.len()) != rows {
        let why = format!("{rows} rows need as many ids, {} are given", ids.len());
        return Err(Error::invalid(why));
    }
    ids.check_unique()?;
    Ok(Some(ids))
}

/// Lines on their way.
struct Lines<'a> {
    writer: Writer<'a>,
    /// What ids begin with.
    before: String,
    field: String,
    /// Whether the type has still to be written.
    has_type: bool,
    /// Whether labels are ids with all that these begin with, once there is one.
    are_whole: Option<bool>,
}

impl Lines<'_> {
    fn begin(&mut self, id: &str) -> Result<()> {
        let is_whole = !prefix(id).is_empty();
        // Whoever reads them again could not tell which were whole.
        if *self.are_whole.get_or_insert(is_whole) != is_whole {
            let why = format!(
                "only some of the labels are whole ids of documents, {id:?} is not like those before; give all with --opt ids="
            );
            return Err(Error::invalid(why));
        }
        let text = &mut self.writer.text;
        text.push_str("{\"put\":");
        match is_whole {
            true => put_text(id, text),
            false => put_text(&format!("{}{id}", self.before), text),
        }
        text.push_str(",\"fields\":{");
        put_text(&self.field, text);
        text.push(':');
        self.writer.open(std::mem::take(&mut self.has_type));
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        self.writer.close();
        self.writer.text.push_str("}}\n");
        self.writer.flush_if_long()
    }

    /// Writes a line for every document, in the order in which they first come; their blocks need
    /// not stand together.
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
            let held = wide(blocks.capacity()).saturating_mul(16);
            let why = "the blocks of a document are looked for by its id";
            how.limits
                .check_memory(why, held.saturating_add(known.held()))
        })?;
        let ids = ids(how, wide(known.labels.len()))?;
        let ids = ids.as_ref().unwrap_or(&known.labels);
        blocks.sort_unstable();
        for document in blocks.chunk_by(|one, next| one.0 == next.0) {
            let place = document.first().map(|(place, _)| *place);
            self.begin(place.and_then(|place| ids.get(place)).unwrap_or_default())?;
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

/// What a feed cannot hold of a bundle, beyond what the binary form cannot.
pub(super) fn quirks(bundle: &Bundle) -> Vec<Loss> {
    let mut losses = vespa::write::quirks(bundle);
    for (key, tensor) in bundle.entries() {
        let mut add = |aspect, detail: String| losses.push(Loss::impossible(key, aspect, detail));
        if tensor.dims().is_empty() {
            add(Aspect::Shape, "a document has a label and a field".into());
        } else if tensor.n_mapped() > 1 && id_place(tensor).is_none() {
            let detail = "no mapped dimension is called id, for the documents: --dims names them";
            add(Aspect::DimNames, detail.into());
        } else if tensor.stored() == 0 {
            add(Aspect::Shape, "a feed without documents has no type".into());
        }
        let is_scalar = tensor.n_mapped() == 1 && tensor.indexed_sizes().is_empty();
        if is_scalar && tensor.dtype().number != Number::F64 {
            let detail = "rows without dimensions are f64".to_owned();
            add(Aspect::Number, detail);
        }
        let names = tensor.dims().iter().filter_map(|dim| dim.name.as_deref());
        for name in names.filter(|name| vespa::is_usual_name(name) && !is_word(name)) {
            let detail = format!("a type has no word for a dimension called {name:?}");
            add(Aspect::DimNames, detail);
        }
        // Cells under labels alone are no list that digits could stand for.
        let is_sparse = tensor.n_mapped() > 1 && tensor.indexed_sizes().is_empty();
        if is_sparse && numbers(tensor).and_then(has_odd_nan).unwrap_or(false) {
            losses.push(plain_nans(key));
        }
    }
    losses
}

#[cfg(test)]
mod tests {
    use crate::bytes::{Sink, Source};
    use crate::format::{ReadOptions, WriteOptions};

    /// What is written of a feed of two documents with these ids.
    fn written(ids: [&str; 2]) -> crate::error::Result<String> {
        let [one, two] = ids;
        let feed = format!(
            "{{\"put\":\"{one}\",\"fields\":{{\"t\":{{\"type\":\"tensor<float>(x[2])\",\"values\":[1,2]}}}}}}\n\
             {{\"put\":\"{two}\",\"fields\":{{\"t\":{{\"values\":[3,4]}}}}}}\n"
        );
        let format = crate::by_name(super::NAME).unwrap();
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
