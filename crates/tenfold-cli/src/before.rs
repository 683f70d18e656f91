//! The layout of a tensor before compression, stored in metadata where the format has it.

use tenfold::{DType, Dim, Limits, Meta, Overflow, Result, Tensor, Value};

/// The number type and dimensions of a tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OriginalLayout {
    pub(crate) dtype: DType,
    pub(crate) dims: Vec<Dim>,
    /// For each position, the dimension of the tensor that stands there, if dimensions were
    /// permuted.
    order: Vec<usize>,
}

/// The same tensor with the dimension names of another; as in a file, two may share a name.
pub(crate) fn named_like(tensor: &Tensor, like: &[Dim]) -> Result<Tensor> {
    let names = like.iter().map(|dim| dim.name.clone());
    let dims = tensor.dims().iter().zip(names);
    let dims = dims.map(|(dim, name)| Dim {
        name,
        ..dim.clone()
    });
    let symmetries = tensor.symmetries().to_vec();
    let storage = tensor.storage().clone();
    let mut named = Tensor::new(dims.collect(), tensor.dtype(), symmetries, storage)?;
    named.meta = tensor.meta.clone();
    named.hints = tensor.hints.clone();
    Ok(named)
}

/// The metadata key of permuted dimensions until the layout is stored.
const PERMUTED: &str = "tenfold.permuted";

/// Marks a tensor whose dimension at position `k` was dimension `axes[k]`.
pub(crate) fn mark_permuted(tensor: &mut Tensor, axes: &[usize]) {
    let axes = axes
        .iter()
        .map(|axis| u64::try_from(*axis).unwrap_or(u64::MAX));
    let axes = axes.map(Value::from).collect();
    tensor.meta.set(PERMUTED, Value::List(axes));
}

/// Removes that mark from a tensor.
pub(crate) fn unmark(tensor: &mut Tensor) {
    tensor.meta.remove(PERMUTED);
}

/// The list as positions, if it is a permutation.
fn order_of(list: Option<&Value>) -> Option<Vec<usize>> {
    let Some(list) = list else {
        return Some(Vec::new());
    };
    let places = list.as_list()?.iter();
    let places = places.map(|place| usize::try_from(place.as_u64()?).ok());
    let places: Vec<usize> = places.collect::<Option<_>>()?;
    let mut sorted = places.clone();
    sorted.sort_unstable();
    sorted.into_iter().eq(0..places.len()).then_some(places)
}

impl OriginalLayout {
    pub(crate) fn of(tensor: &Tensor) -> OriginalLayout {
        OriginalLayout {
            dtype: tensor.dtype(),
            dims: tensor.dims().to_vec(),
            order: order_of(tensor.meta.get(PERMUTED)).unwrap_or_default(),
        }
    }

    /// The requested values, in the stored order of dimensions.
    pub(crate) fn in_order_of(self, remembered: Option<&OriginalLayout>) -> OriginalLayout {
        match remembered {
            Some(known) if !known.order.is_empty() && known.turned_sizes() == self.sizes() => {
                OriginalLayout {
                    dtype: self.dtype,
                    ..known.clone()
                }
            }
            _ => self,
        }
    }

    fn sizes(&self) -> Vec<Option<u64>> {
        self.dims.iter().map(Dim::indexed_size).collect()
    }

    /// The sizes in their original order.
    fn turned_sizes(&self) -> Vec<Option<u64>> {
        let sizes = self.sizes();
        let back = inverse(&self.order);
        let turned = back
            .iter()
            .map(|place| sizes.get(*place).copied().flatten());
        turned.collect()
    }

    /// Whether a tensor has the same sizes in another order that no other shape of it explains.
    pub(crate) fn is_permutation_of(&self, tensor: &Tensor) -> bool {
        let (mut own, mut other) = (self.sizes(), OriginalLayout::of(tensor).sizes());
        let is_same = own == other;
        own.sort_unstable();
        other.sort_unstable();
        !is_same && own == other
    }

    /// Stores it in the metadata of the train, with the proven error.
    pub(crate) fn note(&self, train: &mut Tensor, error: f64) {
        let text = |text: &str| Value::Text(text.into());
        let sizes = self.dims.iter().map(|dim| match dim.indexed_size() {
            Some(size) => Value::from(size),
            None => Value::Null,
        });
        let names = self.dims.iter().map(|dim| match &dim.name {
            Some(name) => text(name),
            None => Value::Null,
        });
        let error = Value::Float {
            bits: error.to_bits(),
            width: 64,
        };
        let mut fields = vec![
            (text("dtype"), text(&self.dtype.to_string())),
            (text("shape"), Value::List(sizes.collect())),
            (text("dims"), Value::List(names.collect())),
            (text("error"), error),
        ];
        if !self.order.is_empty() {
            let order = self
                .order
                .iter()
                .map(|place| u64::try_from(*place).unwrap_or(0));
            fields.push((text("order"), Value::List(order.map(Value::from).collect())));
        }
        train.meta.set(Meta::COMPRESSED, Value::Map(fields));
    }

    /// The stored layout, if valid; it is not part of the tensor itself.
    pub(crate) fn recall(train: &mut Tensor) -> Option<OriginalLayout> {
        let noted = train.meta.remove(Meta::COMPRESSED)?;
        let dtype: DType = noted.get("dtype")?.as_text()?.parse().ok()?;
        let sizes = noted.get("shape")?.as_list()?.iter();
        let names = noted.get("dims")?.as_list()?;
        let dims = sizes.zip(names).map(|(size, name)| {
            let name = name.as_text().map(str::to_owned);
            let dim = Dim::indexed(size.as_u64()?);
            Some(Dim { name, ..dim })
        });
        let dims: Vec<Dim> = dims.collect::<Option<_>>()?;
        let order = order_of(noted.get("order"))?;
        let is_sound = order.is_empty() || order.len() == dims.len();
        (is_sound && dtype.arity == train.dtype().arity).then_some(OriginalLayout {
            dtype,
            dims,
            order,
        })
    }

    /// Whether it has the sizes of a tensor.
    pub(crate) fn is_shaped_like(&self, tensor: &Tensor) -> bool {
        let sizes = self.dims.iter().map(Dim::indexed_size);
        sizes.eq(tensor.dims().iter().map(Dim::indexed_size))
    }

    /// A dense tensor in its original shape, with its dimension names and number type. Values out
    /// of range saturate: the original values were in range.
    pub(crate) fn restore(&self, cells: &Tensor, limits: &Limits) -> Result<Tensor> {
        let sizes: Vec<Option<u64>> = self.dims.iter().map(Dim::indexed_size).collect();
        let mut shaped = named_like(&cells.reshape(&sizes, limits)?, &self.dims)?;
        if !self.order.is_empty() {
            shaped = shaped.permute(&inverse(&self.order), limits)?;
        }
        shaped.cast(self.dtype.number, Overflow::Saturates, limits)
    }
}

/// The inverse of a permutation.
fn inverse(order: &[usize]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..order.len()).collect();
    places.sort_by_key(|place| order.get(*place));
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn what_is_noted_is_recalled_and_gone() {
        let before = OriginalLayout::of(&samples::dense().1);
        let (_, mut train) = samples::dense();
        let known = train.meta.clone();
        before.note(&mut train, 0.5);
        assert_eq!(OriginalLayout::recall(&mut train), Some(before));
        assert_eq!(train.meta, known);
        assert_eq!(OriginalLayout::recall(&mut train), None);
    }

    #[test]
    fn a_note_that_makes_no_sense_counts_for_nothing() {
        let (_, mut train) = samples::dense();
        train.meta.set(Meta::COMPRESSED, "f32");
        assert_eq!(OriginalLayout::recall(&mut train), None);
    }
}
