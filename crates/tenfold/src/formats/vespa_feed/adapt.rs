//! Fits rows to documents: their ids, names and labels, and the type of their field.

use super::super::vespa;
use super::super::vespa::spec::{Extent, Spec, is_word};
use super::super::vespa_text::read::given_type;
use super::super::vespa_text::write::{loses_nans, plain_nans};
use super::{BINARIZE, ID, ID_DIM, others};
use crate::bundle::Bundle;
use crate::dtype::Number;
use crate::error::{Error, Result};
use crate::format::{Adapted, WriteOptions, cast_loss, overflow};
use crate::loss::{Aspect, Loss, Tier};
use crate::tensor::{Dim, Labels, Storage, Tensor};

/// The reported changes of a tensor.
type Said = Vec<(Tier, Aspect, String)>;

/// Labels the rows, names their dimension `id`, and applies the given type.
pub(super) fn adapt(tensor: &Tensor, how: &WriteOptions) -> Result<Option<Adapted>> {
    // A tensor without cells has no rows either.
    if tensor.dims().is_empty() || tensor.indexed_sizes().contains(&0) {
        return Ok(None);
    }
    if tensor.n_mapped() == 0 && !matches!(tensor.storage(), Storage::Dense { .. }) {
        return Ok(None);
    }
    let Some(id) = id_axis(tensor, how).map_err(Error::mismatch)? else {
        return Ok(None);
    };
    let mut rows = Rows {
        id,
        given: given_type(&how.options)?,
        is_packed: { how.options.choose(BINARIZE, &[("int8", ())])? }.is_some(),
        how,
        said: Vec::new(),
    };
    let named = rows.named(tensor).map_err(Error::mismatch)?;
    let labelled = rows.labelled(named)?;
    let packed = rows.packed(labelled).map_err(Error::mismatch)?;
    let cast = rows.cast(packed)?;
    Ok(Some((cast, rows.said)))
}

/// The dimension of the documents: the given one, the first of a dense tensor, or the mapped one
/// named `id`.
fn id_axis(tensor: &Tensor, how: &WriteOptions) -> Result<Option<usize>> {
    let Some(word) = how.options.get(ID_DIM) else {
        return Ok(match tensor.n_mapped() {
            0 => Some(0),
            _ => id_place(tensor),
        });
    };
    let axis = { tensor.axis(word) }.ok_or_else(|| tensor.no_dim(word))?;
    let is_indexed = { tensor.dims().get(axis) }.is_some_and(|dim| dim.indexed_size().is_some());
    if is_indexed && tensor.n_mapped() > 0 {
        let why = format!("the dimension {word} has no labels, as others have: none can be ids");
        return Err(Error::invalid(why));
    }
    Ok(Some(axis))
}

/// The index of the documents' dimension among the mapped ones.
pub(super) fn id_place(tensor: &Tensor) -> Option<usize> {
    let is_id = |dim: &Dim| dim.indexed_size().is_none() && dim.name.as_deref() == Some(ID);
    tensor.dims().iter().position(is_id)
}

/// The dimensions of the field: all but that of the documents.
pub(super) fn field_dims(tensor: &Tensor) -> Vec<Dim> {
    let id = id_place(tensor);
    let dims = tensor.dims().iter().enumerate();
    dims.filter(|(place, _)| Some(*place) != id)
        .map(|(_, dim)| dim.clone())
        .collect()
}

/// Rows being fitted.
struct Rows<'a> {
    /// The dimension of the documents.
    id: usize,
    given: Option<Spec>,
    /// Whether signs are packed into bits.
    is_packed: bool,
    how: &'a WriteOptions,
    said: Said,
}

impl Rows<'_> {
    /// Names the first dimension `id`, and the others by the type, if they need names.
    fn named(&mut self, tensor: &Tensor) -> Result<Tensor> {
        let mut dims: Vec<Dim> = tensor.dims().to_vec();
        let is_nameless = dims.iter().all(|dim| dim.name.is_none());
        let id = self.id;
        let field = { dims.iter_mut().enumerate() }.filter(|(place, _)| *place != id);
        let field: Vec<&mut Dim> = field.map(|(_, dim)| dim).collect();
        if let Some(spec) = &self.given {
            self.take_names(spec, field, tensor.n_mapped())?;
        } else if is_nameless {
            for (dim, letter) in field.into_iter().zip('a'..='z') {
                dim.name = Some(letter.into());
            }
        }
        if let Some(dim) = dims.get_mut(id) {
            dim.name = Some(ID.to_owned());
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
        self.said.push((Tier::Said, aspect, detail));
        let storage = tensor.storage().clone();
        let dtype = tensor.dtype();
        let renamed = Tensor::within(dims, dtype, vec![], storage, &self.how.limits)?;
        Ok(renamed.with_meta_of(tensor))
    }

    /// Names the dimensions of the field as in the type: unchanged if they are the type's, or else
    /// in the order of the type.
    fn take_names(&self, spec: &Spec, field: Vec<&mut Dim>, n_mapped: usize) -> Result<()> {
        let of_name = |dim: &&mut Dim| {
            let name = dim.name.as_deref();
            spec.dims
                .iter()
                .find(|(wanted, _)| Some(wanted.as_str()) == name)
        };
        let by_name: Option<Vec<_>> = field.iter().map(of_name).collect();
        let wanted: Vec<&(String, Extent)> = match by_name {
            Some(by_name) => by_name,
            None if n_mapped < 2 => spec.dims.iter().collect(),
            None => Vec::new(),
        };
        let fits = |(dim, (_, extent)): (&&mut Dim, &&(String, Extent))| match dim.indexed_size() {
            Some(_) if *extent == Extent::Mapped => n_mapped == 0,
            Some(size) => extent.takes(Extent::Bound(self.packed_size(size))),
            None => *extent == Extent::Mapped,
        };
        let is_right = field.len() == spec.dims.len()
            && wanted.len() == field.len()
            && field.iter().zip(&wanted).all(fits);
        if !is_right {
            return Err(self.wrong_type(spec, &field));
        }
        for (dim, (name, _)) in field.into_iter().zip(wanted) {
            dim.name = Some(name.clone());
        }
        Ok(())
    }

    fn wrong_type(&self, spec: &Spec, field: &[&mut Dim]) -> Error {
        let dims: Vec<Dim> = field.iter().map(|dim| (*dim).clone()).collect();
        let sizes: Vec<String> = { dims.iter().filter_map(Dim::indexed_size) }
            .map(|size| self.packed_size(size).to_string())
            .collect();
        let has_labels = sizes.len() < dims.len();
        match Spec::of(spec.number, &dims).filter(|_| has_labels) {
            Some(own) => Error::invalid(format!(
                "the field of every document is {own}, and not of type {spec}"
            )),
            None => {
                let what = if sizes.is_empty() {
                    "1 cell".into()
                } else {
                    sizes.join(" × ")
                };
                Error::invalid(format!("rows of {what} are not of type {spec}"))
            }
        }
    }

    /// The size of a dimension of the field in the file.
    fn packed_size(&self, size: u64) -> u64 {
        if self.is_packed {
            size.div_ceil(8)
        } else {
            size
        }
    }

    /// Labels the rows of a dense tensor, and the dimensions that the type declares mapped, with
    /// their numbers.
    fn labelled(&mut self, tensor: Tensor) -> Result<Tensor> {
        if tensor.n_mapped() > 0 {
            return Ok(tensor);
        }
        let limits = &self.how.limits;
        let sizes = tensor.sizes()?;
        let mapped = self.given.as_ref().map(Spec::mapped).unwrap_or_default();
        let is_mapped = |dim: &Dim| { dim.name.as_ref() }.is_some_and(|name| mapped.contains(name));
        let mut axes = vec![self.id];
        let dims = tensor.dims().iter().enumerate();
        axes.extend(dims.filter(|(_, dim)| is_mapped(dim)).map(|(axis, _)| axis));
        let mut lists: Vec<(usize, Labels)> = Vec::new();
        for axis in axes {
            let size = sizes.get(axis).copied().unwrap_or(0);
            limits.check_labels(size)?;
            lists.push((axis, (0..size).map(|row| row.to_string()).collect()));
            let name = { tensor.dims().get(axis) }.and_then(|dim| dim.name.as_deref());
            let detail = match (axis == self.id, self.how.options.get("ids")) {
                (true, Some(_)) => format!("{size} rows are labelled with the ids that are given"),
                (true, None) => format!("{size} rows are labelled with their numbers"),
                (false, _) => format!(
                    "{size} positions along {} are labelled with their numbers",
                    name.unwrap_or_default()
                ),
            };
            self.said.push((Tier::Said, Aspect::Labels, detail));
        }
        let lists: Vec<(usize, &Labels)> = { lists.iter() }
            .map(|(axis, labels)| (*axis, labels))
            .collect();
        tensor.with_labels(&lists, limits)
    }

    /// Packs signs into bits, if requested.
    fn packed(&mut self, tensor: Tensor) -> Result<Tensor> {
        if !self.is_packed {
            return Ok(tensor);
        }
        if let Some(spec) = self.given.as_ref().filter(|spec| spec.number != Number::I8) {
            let why = format!("binarize=int8 makes cells of int8, and not of type {spec}");
            return Err(Error::invalid(why));
        }
        let packed = tensor.pack_signs(&self.how.limits)?;
        let size = |tensor: &Tensor| tensor.indexed_sizes().first().copied().unwrap_or(0);
        let n_bytes = size(&packed);
        let bytes = if n_bytes == 1 { "byte" } else { "bytes" };
        let detail = format!(
            "the signs of every {} values become {n_bytes} {bytes}, a bit for each value above 0",
            size(&tensor),
        );
        self.said.push((Tier::Said, Aspect::Precision, detail));
        Ok(packed)
    }

    fn cast(&mut self, tensor: Tensor) -> Result<Tensor> {
        let own = tensor.dtype().number;
        let wanted = self.given.as_ref().map_or(own, |spec| spec.number);
        if wanted == own {
            return Ok(tensor);
        }
        self.said.push(cast_loss(own, wanted));
        tensor.cast(wanted, overflow(&self.how.allow), &self.how.limits)
    }
}

/// Losses of a feed beyond those of the binary format.
pub(super) fn format_losses(bundle: &Bundle) -> Result<Vec<Loss>> {
    let mut losses = vespa::write::format_losses(bundle);
    losses.extend(others::left_out(bundle));
    for (key, tensor) in bundle.entries() {
        let mut add = |aspect, detail: String| losses.push(Loss::impossible(key, aspect, detail));
        let is_labelled = tensor.n_mapped() > 0;
        if tensor.dims().is_empty() {
            let detail = "a document has a label and a field; --reshape 1 makes it one row";
            add(Aspect::Shape, detail.into());
        } else if is_labelled && id_place(tensor).is_none() {
            add(Aspect::DimNames, no_ids(tensor));
        } else if tensor.stored() == 0 {
            add(Aspect::Shape, "a feed without documents has no type".into());
        }
        if tensor.dims().len() == 1 && is_labelled && tensor.dtype().number != Number::F64 {
            let detail = "rows without dimensions are f64".to_owned();
            add(Aspect::Number, detail);
        }
        let names = tensor.dims().iter().filter_map(|dim| dim.name.as_deref());
        for name in names.filter(|name| vespa::is_usual_name(name) && !is_word(name)) {
            let detail = format!("a type has no word for a dimension called {name:?}");
            add(Aspect::DimNames, detail);
        }
        // Cells addressed by labels alone are no list that could be written in digits.
        let is_sparse = tensor.n_mapped() > 1 && tensor.indexed_sizes().is_empty();
        if is_sparse && loses_nans(tensor)? {
            losses.push(plain_nans(key));
        }
    }
    Ok(losses)
}

/// The error that labels become ids only on request.
fn no_ids(tensor: &Tensor) -> String {
    if tensor.axis(ID).is_some() {
        return format!(
            "the dimension {ID} has no labels, as others have; give it some, or none to any"
        );
    }
    let mapped = tensor.dims().iter().enumerate();
    let mapped = mapped.filter(|(_, dim)| dim.indexed_size().is_none());
    let names = mapped.map(|(place, dim)| dim.name.clone().unwrap_or_else(|| place.to_string()));
    let names: Vec<String> = names.collect();
    format!(
        "no labels are those of documents, as no dimension is called {ID}; \
         --opt {ID_DIM}={} makes ids of the labels",
        names.join("|")
    )
}
