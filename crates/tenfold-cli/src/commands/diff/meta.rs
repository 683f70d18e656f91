//! Differences in metadata, dimension names and declared symmetries.

use tenfold::{Dim, Meta, Symmetry, Tensor, Value};

/// A metadata value that differs between two files or tensors.
pub(super) struct MetaChange {
    pub(super) name: String,
    pub(super) a: Option<Value>,
    pub(super) b: Option<Value>,
}

/// The differences of two sets of metadata.
pub(super) fn changes(a: &Meta, b: &Meta) -> Vec<MetaChange> {
    let added = b.iter().filter(|(name, _)| a.get(name).is_none());
    let names = a.iter().chain(added).map(|(name, _)| name);
    let changes = names.map(|name| MetaChange {
        name: name.into(),
        a: a.get(name).cloned(),
        b: b.get(name).cloned(),
    });
    changes.filter(|change| change.a != change.b).collect()
}

/// The differences of two tensors in metadata, dimension names and declared symmetries.
pub(super) fn tensor_changes(a: &Tensor, b: &Tensor) -> Vec<MetaChange> {
    let mut own = Meta::new();
    let mut others = Meta::new();
    for (meta, tensor) in [(&mut own, a), (&mut others, b)] {
        let names: Vec<Value> = tensor.dims().iter().map(dim_name).collect();
        if names.iter().any(|name| *name != Value::Null) {
            meta.set("dimension names", Value::List(names));
        }
        let symmetries: Vec<Value> = tensor.symmetries().iter().map(symmetry).collect();
        if !symmetries.is_empty() {
            meta.set("symmetries", Value::List(symmetries));
        }
    }
    let mut all = changes(&own, &others);
    all.extend(changes(&a.meta, &b.meta));
    all
}

fn dim_name(dim: &Dim) -> Value {
    dim.name.as_deref().map_or(Value::Null, Value::from)
}

/// Packing is a matter of storage.
fn symmetry(symmetry: &Symmetry) -> Value {
    let places = symmetry.permutation.iter();
    Value::List(vec![
        Value::from(symmetry.operation.as_str()),
        Value::List(
            places
                .filter_map(|place| u64::try_from(*place).ok())
                .map(Value::from)
                .collect(),
        ),
    ])
}
