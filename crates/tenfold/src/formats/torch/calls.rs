//! The calls that construct tensors, by the names of their functions.
#![deny(clippy::arithmetic_side_effects)]

use std::ops::Range;

use super::NAME;
use super::storages::{Named, Storages, Stored};
use super::types::{Kind, Type};
use crate::bytes::to_u64;
use crate::dtype::{DType, Number, Numbers};
use crate::error::{Error, Result};
use crate::io::Source;
use crate::limits::Limits;
use crate::tensor::{Dim, Order, Signs, Storage, Strides, Tensor};
use crate::wire::pickle::{Id, Item, Pickle};

/// The part of an opaque tensor with its bytes.
const PART: &str = "data";
/// Most wrappers around a tensor: a parameter of a custom class is wrapped twice.
const MOST_WRAPPERS: usize = 8;

/// The pickle and the storages from which tensors are constructed.
pub(super) struct Calls<'a> {
    pub(super) pickle: &'a Pickle,
    /// The source of the pickle.
    pub(super) source: &'a Source,
    pub(super) storages: &'a Storages,
    pub(super) limits: &'a Limits,
}

/// A tensor, and the ranges of storages it consists of.
pub(super) struct Found<'a> {
    pub(super) tensor: Tensor,
    pub(super) uses: Vec<(&'a str, Range<u64>)>,
    /// Its declared class, which is ignored.
    pub(super) class: Option<String>,
    /// The number of values that were added to others of the same cell.
    pub(super) n_added: u64,
}

/// The arguments of a call that constructs a dense tensor.
struct Parts<'p> {
    storage: Id,
    first: Id,
    sizes: Id,
    strides: Id,
    /// The type, if the storage does not declare it.
    kind: Option<Id>,
    metadata: Option<&'p Id>,
}

impl<'a> Calls<'a> {
    pub(super) fn fail<T>(&self, id: Id, why: impl Into<String>) -> Result<T> {
        Err(Error::malformed(self.pickle.at(id), why).of(NAME))
    }

    pub(super) fn unsupported<T>(&self, what: impl Into<String>) -> Result<T> {
        let what = what.into();
        Err(Error::Unsupported { format: NAME, what })
    }

    /// The tensor that an item represents, if it does; one that cannot be read is
    /// [`Error::Unsupported`].
    pub(super) fn tensor(&self, id: Id) -> Result<Option<Found<'a>>> {
        if let Item::Persistent(_) = self.pickle.item(id) {
            return self.bare(id).map(Some);
        }
        let Some(mut call) = self.pickle.call(id) else {
            return Ok(None);
        };
        let mut class = None;
        for _ in 0..MOST_WRAPPERS {
            match call {
                ("torch._utils", "_rebuild_parameter" | "_rebuild_parameter_with_state", args) => {
                    let data = args.first().and_then(|data| self.pickle.call(*data));
                    match data {
                        Some(data) => call = data,
                        None => return self.fail(id, "a parameter without a tensor"),
                    }
                }
                ("torch._tensor", "_rebuild_from_type_v2", [function, kind, args, ..]) => {
                    let (function, args) =
                        (self.pickle.global(*function), self.pickle.sequence(*args));
                    let (Some((module, name)), Some(args)) = (function, args) else {
                        return self.fail(id, "a tensor of a class without a function");
                    };
                    let kind = self.pickle.global(*kind);
                    class = kind.map(|(module, name)| format!("{module}.{name}"));
                    call = (module, name, args);
                }
                _ => break,
            }
        }
        let found = self.unwrapped(id, call)?;
        Ok(found.map(|found| Found { class, ..found }))
    }

    fn unwrapped(&self, id: Id, call: (&str, &str, &'a [Id])) -> Result<Option<Found<'a>>> {
        let (module, name, args) = call;
        match (module, name) {
            ("torch._utils", "_rebuild_tensor" | "_rebuild_tensor_v2" | "_rebuild_tensor_v3") => {
                self.dense_call(id, name, args).map(Some)
            }
            ("torch._utils", "_rebuild_sparse_tensor") => self.sparse(id, args).map(Some),
            ("numpy.core.multiarray" | "numpy._core.multiarray", "_reconstruct") => {
                self.array(id).map(Some)
            }
            ("torch._utils" | "torch._tensor", _) if name.starts_with("_rebuild") => {
                self.unsupported(format!("{module}.{name}"))
            }
            ("torch.storage", "_load_from_bytes") => {
                self.unsupported(format!("{module}.{name}, a file inside of the pickle,"))
            }
            _ => Ok(None),
        }
    }

    /// A dense tensor, by the function that constructs it.
    pub(super) fn dense_call(&self, id: Id, name: &str, args: &'a [Id]) -> Result<Found<'a>> {
        let (kind, metadata) = match (name, args) {
            ("_rebuild_tensor_v3", [_, _, _, _, _, _, kind, rest @ ..]) => {
                (Some(*kind), rest.first())
            }
            ("_rebuild_tensor_v3", _) => return self.fail(id, "a tensor without a type"),
            (_, [_, _, _, _, _, _, metadata, ..]) => (None, Some(metadata)),
            _ => (None, None),
        };
        let [storage, first, sizes, strides, ..] = args else {
            return self.fail(id, "a tensor needs a storage, an offset, sizes and strides");
        };
        let parts = Parts {
            storage: *storage,
            first: *first,
            sizes: *sizes,
            strides: *strides,
            kind,
            metadata,
        };
        self.dense(id, &parts)
    }

    /// A tensor that must be dense.
    pub(super) fn plain(&self, id: Id) -> Result<Found<'a>> {
        match self.pickle.call(id) {
            Some(("torch._utils", name, args))
                if matches!(
                    name,
                    "_rebuild_tensor" | "_rebuild_tensor_v2" | "_rebuild_tensor_v3"
                ) =>
            {
                self.dense_call(id, name, args)
            }
            _ => self.fail(id, "the part of a sparse tensor is no tensor"),
        }
    }

    /// Sizes or strides.
    pub(super) fn numbers(&self, id: Id) -> Result<Vec<u64>> {
        let inner = match self.pickle.call(id) {
            Some(("torch", "Size", [inner])) => *inner,
            _ => id,
        };
        let Some(items) = self.pickle.sequence(inner) else {
            return self.fail(id, "sizes and strides are tuples");
        };
        self.limits.check_ndim(to_u64(items.len()))?;
        let numbers: Option<Vec<u64>> = items.iter().map(|n| self.pickle.count(*n)).collect();
        match numbers {
            Some(numbers) => Ok(numbers),
            None => self.fail(id, "a size or a stride is no number, or negative"),
        }
    }

    fn stored(&self, id: Id, named: &Named) -> Result<&'a Stored> {
        let Some(stored) = self.storages.by_key.get(named.key) else {
            return self.fail(id, format!("there is no storage {:?}", named.key));
        };
        let width = named.kind.kind.width();
        if named.count.checked_mul(width) != Some(stored.len) {
            let why = format!(
                "the storage {:?} has {} bytes, not {} elements of {}",
                named.key, stored.len, named.count, named.kind.name
            );
            return self.fail(id, why);
        }
        Ok(stored)
    }

    /// A storage without a tensor.
    fn bare(&self, id: Id) -> Result<Found<'a>> {
        let named = Named::of(self.pickle, id)?;
        let place = Strides {
            sizes: vec![named.view.1],
            strides: vec![1],
            first: 0,
        };
        let kind = match named.kind.kind {
            Kind::Foreign(1) if *named.kind == super::types::BYTES => &Type::UINT8,
            _ => named.kind,
        };
        self.placed(id, id, named, kind, place)
    }

    fn dense(&self, id: Id, parts: &Parts) -> Result<Found<'a>> {
        let named = Named::of(self.pickle, parts.storage)?;
        let kind = match parts.kind {
            None => named.kind,
            Some(kind) => match self.pickle.global(kind) {
                Some((module, name)) => match Type::named(module, name) {
                    Some(kind) => kind,
                    None => return self.unsupported(format!("the type {module}.{name}")),
                },
                None => return self.fail(id, "the type of a tensor is no name"),
            },
        };
        let Some(first) = self.pickle.count(parts.first) else {
            return self.fail(id, "the offset of a tensor is no number, or negative");
        };
        let place = Strides {
            sizes: self.numbers(parts.sizes)?,
            strides: self.numbers(parts.strides)?,
            first,
        };
        if place.sizes.len() != place.strides.len() {
            return self.fail(id, "there are as many strides as sizes");
        }
        let mut found = self.placed(id, parts.storage, named, kind, place)?;
        let has = |name: &str| parts.metadata.is_some_and(|id| self.is_set(*id, name));
        if has("conj") {
            found.tensor = self.flipped(id, &found.tensor, Signs::Imaginary)?;
        }
        if has("neg") {
            found.tensor = self.flipped(id, &found.tensor, Signs::All)?;
        }
        Ok(found)
    }

    /// Whether a dict has a true value for a key.
    fn is_set(&self, dict: Id, name: &str) -> bool {
        let Item::Dict(pairs) = self.pickle.item(dict) else {
            return false;
        };
        pairs.chunks(2).any(|pair| match pair {
            [key, value] => {
                self.pickle.text(*key) == Some(name)
                    && matches!(self.pickle.item(*value), Item::Bool(true))
            }
            _ => false,
        })
    }

    fn flipped(&self, id: Id, tensor: &Tensor, signs: Signs) -> Result<Tensor> {
        let Storage::Dense { order, values } = tensor.storage() else {
            return self.fail(id, "signs are flipped of numbers alone");
        };
        if values.bytes.is_compressed() {
            return self.unsupported("a deflated storage whose signs are flipped");
        }
        let is_complex = tensor.dtype().arity == crate::dtype::Arity::Complex;
        if signs == Signs::Imaginary && !is_complex {
            return self.fail(id, "the conjugate of real numbers");
        }
        let Ok(values) = values.with_signs_flipped(signs) else {
            return self.fail(id, "signs are flipped of floating point numbers alone");
        };
        let storage = Storage::Dense {
            order: *order,
            values,
        };
        Tensor::new(tensor.dims().to_vec(), tensor.dtype(), vec![], storage)
    }

    /// Constructs a tensor from elements of a storage.
    fn placed(
        &self,
        id: Id,
        storage: Id,
        named: Named<'a>,
        kind: &Type,
        mut place: Strides,
    ) -> Result<Found<'a>> {
        let stored = self.stored(storage, &named)?;
        let dtype = match &kind.kind {
            Kind::Known(dtype) => *dtype,
            Kind::Opaque(..) => DType::real(Number::U8),
            Kind::Foreign(_) => return self.unsupported(format!("the type torch.{}", kind.name)),
        };
        let (width, own) = (kind.kind.width(), named.kind.kind.width());
        if own != width && named.view != (0, named.count) {
            return self.fail(id, "a view of a storage of another type");
        }
        let wrong = || {
            let why = format!("a tensor that reaches beyond its storage {:?}", named.key);
            self.fail(id, why)
        };
        let most = named.view.1.saturating_mul(own);
        let Some(end) = place.span().and_then(|span| span.end.checked_mul(width)) else {
            return wrong();
        };
        if end > most {
            return wrong();
        }
        place.first = place.first.saturating_add(named.view.0);
        let span = place.span().unwrap_or(0..0);
        let range = span.start.saturating_mul(width)..span.end.saturating_mul(width);
        let tensor = self.tensor_of(stored, dtype, &place, range.clone())?;
        let tensor = match kind.kind {
            Kind::Opaque(layout, cells) => self.opaque(&tensor, layout, cells)?,
            _ => tensor,
        };
        Ok(Found {
            tensor,
            uses: vec![(named.key, range)],
            class: None,
            n_added: 0,
        })
    }

    fn tensor_of(
        &self,
        stored: &Stored,
        dtype: DType,
        place: &Strides,
        range: Range<u64>,
    ) -> Result<Tensor> {
        let numbers = |bytes| Numbers {
            number: dtype.number,
            endian: self.storages.endian,
            bytes,
        };
        match place.order() {
            Some(order) if !range.is_empty() => {
                let values = numbers(stored.part(range.start, range.end)?);
                let dims = place.sizes.iter().copied().map(Dim::indexed).collect();
                Tensor::new(dims, dtype, vec![], Storage::Dense { order, values })
            }
            _ => Tensor::strided(&numbers(stored.whole()?), dtype, place, self.limits),
        }
    }

    /// Bytes for which the model has no number type.
    fn opaque(&self, tensor: &Tensor, layout: &str, cells: u64) -> Result<Tensor> {
        let values = tensor.dense(Order::Row, self.limits)?;
        let mut dims = tensor.dims().to_vec();
        if let (Some(last), true) = (dims.last_mut(), cells != 1) {
            let size = last.indexed_size().unwrap_or(0);
            *last = Dim::indexed(size.saturating_mul(cells));
        }
        let storage = Storage::Opaque {
            layout: layout.into(),
            parts: vec![(PART.into(), values)],
        };
        Tensor::new(dims, tensor.dtype(), vec![], storage)
    }
}
