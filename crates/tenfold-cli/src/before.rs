//! What a tensor was before it was compressed, remembered where the format keeps metadata.

use tenfold::{DType, Dim, Limits, Meta, Overflow, Result, Tensor, Value};

/// The number type and the dimensions of a tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Before {
    pub(crate) dtype: DType,
    pub(crate) dims: Vec<Dim>,
}

impl Before {
    pub(crate) fn of(tensor: &Tensor) -> Before {
        Before {
            dtype: tensor.dtype(),
            dims: tensor.dims().to_vec(),
        }
    }

    /// Notes it in the metadata of the train, with the error that was proven.
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
        let fields = vec![
            (text("dtype"), text(&self.dtype.to_string())),
            (text("shape"), Value::List(sizes.collect())),
            (text("dims"), Value::List(names.collect())),
            (text("error"), error),
        ];
        train.meta.set(Meta::COMPRESSED, Value::Map(fields));
    }

    /// What is noted, if it makes sense; it is no part of the tensor itself.
    pub(crate) fn recall(train: &mut Tensor) -> Option<Before> {
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
        (dtype.arity == train.dtype().arity).then_some(Before { dtype, dims })
    }

    /// Whether it has the same sizes as a tensor.
    pub(crate) fn is_shaped_like(&self, tensor: &Tensor) -> bool {
        let sizes = self.dims.iter().map(Dim::indexed_size);
        sizes.eq(tensor.dims().iter().map(Dim::indexed_size))
    }

    /// A tensor of cells as it was: its shape, the names of its dimensions, its number type. What
    /// has no room in that becomes the nearest that has: what was there before had room.
    pub(crate) fn restore(&self, cells: &Tensor, limits: &Limits) -> Result<Tensor> {
        let sizes: Vec<Option<u64>> = self.dims.iter().map(Dim::indexed_size).collect();
        let names: Vec<Option<String>> = self.dims.iter().map(|dim| dim.name.clone()).collect();
        let shaped = cells.reshape(&sizes, limits)?.with_dim_names(&names)?;
        shaped.cast(self.dtype.number, Overflow::Saturates, limits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn what_is_noted_is_recalled_and_gone() {
        let before = Before::of(&samples::dense().1);
        let (_, mut train) = samples::dense();
        let known = train.meta.clone();
        before.note(&mut train, 0.5);
        assert_eq!(Before::recall(&mut train), Some(before));
        assert_eq!(train.meta, known);
        assert_eq!(Before::recall(&mut train), None);
    }

    #[test]
    fn a_note_that_makes_no_sense_counts_for_nothing() {
        let (_, mut train) = samples::dense();
        train.meta.set(Meta::COMPRESSED, "f32");
        assert_eq!(Before::recall(&mut train), None);
    }
}
