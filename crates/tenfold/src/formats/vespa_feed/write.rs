//! Writes a line for every row.

use super::super::vespa;
use super::super::vespa::spec::{Spec, is_word};
use super::super::vespa_text::cell::put_json;
use super::super::vespa_text::read::given_type;
use super::super::vespa_text::write::{
    Block, Nested, for_each_block, has_odd_nan, numbers, put_hex,
};
use super::read::prefix;
use super::{ID, NAME};
use crate::bundle::Bundle;
use crate::bytes::{PIECE, Sink, wide};
use crate::error::{Aspect, Error, Loss, Result, Tier};
use crate::format::{Adapted, WriteOptions};
use crate::number::{Number, Overflow, is_exact};
use crate::tensor::{Dim, Labels, Storage, Tensor};
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
    if tensor.dims().is_empty() || tensor.n_mapped() > 1 || tensor.n_mapped() == 0 && !is_dense {
        return Ok(None);
    }
    let named = renamed(tensor, given.as_ref(), how, &mut said)?;
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
    if cast.n_mapped() == 1 {
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
    let ids = ids(how, tensor.stored())?;
    let is_hex = how
        .options
        .choose("hex", &[("true", true), ("false", false)])?;
    let dims = tensor.dims().get(tensor.n_mapped()..).unwrap_or_default();
    let number = tensor.dtype().number;
    let spec = match how.options.get("type") {
        Some(_) => None,
        None => Spec::of(number, dims).map(|spec| spec.to_string()),
    };
    let mut lines = Lines {
        text: String::new(),
        out,
        before: format!("id:{namespace}:{schema}::"),
        field: given("field").unwrap_or_else(|| "tensor".into()),
        spec,
        number,
        sizes: tensor.indexed_sizes(),
        // Digits keep every bit.
        is_hex: is_hex.unwrap_or(false) || has_odd_nan(values)?,
    };
    let mut row = 0;
    for_each_block(values, &mut |labels, block| {
        let label = labels.first().map(String::as_str).unwrap_or_default();
        let id = ids.as_ref().and_then(|ids| ids.get(row)).unwrap_or(label);
        row = row.saturating_add(1);
        lines.line(id, block)
    })?;
    lines.flush()
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
    text: String,
    out: &'a mut Sink,
    /// What ids begin with.
    before: String,
    field: String,
    /// The type, before it was written.
    spec: Option<String>,
    number: Number,
    sizes: Vec<u64>,
    is_hex: bool,
}

impl Lines<'_> {
    fn line(&mut self, id: &str, block: &mut Block) -> Result<()> {
        self.text.push_str("{\"put\":");
        match prefix(id).is_empty() {
            true => put_text(&format!("{}{id}", self.before), &mut self.text),
            false => put_text(id, &mut self.text),
        }
        self.text.push_str(",\"fields\":{");
        put_text(&self.field, &mut self.text);
        self.text.push_str(":{");
        if let Some(spec) = self.spec.take() {
            self.text.push_str("\"type\":");
            put_text(&spec, &mut self.text);
            self.text.push(',');
        }
        self.text.push_str("\"values\":");
        self.values(block)?;
        self.text.push_str("}}}\n");
        self.flush_if_long()
    }

    fn values(&mut self, block: &mut Block) -> Result<()> {
        let (number, width) = (self.number, self.number.width());
        if self.is_hex {
            self.text.push('"');
            block(&mut |piece| {
                put_hex(piece, width, &mut self.text);
                self.flush_if_long()
            })?;
            self.text.push('"');
            return Ok(());
        }
        let sizes = match self.sizes.is_empty() {
            true => vec![1],
            false => self.sizes.clone(),
        };
        let mut nested = Nested::new(sizes);
        block(&mut |piece| {
            for cell in piece.chunks_exact(width) {
                nested.before(false, &mut self.text);
                put_json(number, cell, &mut self.text);
                nested.after(&mut self.text);
            }
            self.flush_if_long()
        })
    }

    fn flush_if_long(&mut self) -> Result<()> {
        match self.text.len() >= PIECE {
            true => self.flush(),
            false => Ok(()),
        }
    }

    fn flush(&mut self) -> Result<()> {
        self.out.write(self.text.as_bytes())?;
        self.text.clear();
        Ok(())
    }
}

/// What a feed cannot hold of a bundle, beyond what the binary form cannot.
pub(super) fn quirks(bundle: &Bundle) -> Vec<Loss> {
    let mut losses = vespa::write::quirks(bundle);
    for (key, tensor) in bundle.entries() {
        let mut add = |aspect, detail: String| losses.push(Loss::impossible(key, aspect, detail));
        if tensor.n_mapped() > 1 || tensor.dims().is_empty() {
            add(Aspect::Shape, "a document has one label and a row".into());
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
    }
    losses
}
