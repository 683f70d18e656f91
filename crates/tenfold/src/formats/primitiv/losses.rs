//! Losses of primitiv files beyond [`Capabilities`](crate::Capabilities).

use super::write::{Sizes, float_configs, parameters, shape, split, uint_configs};
use super::{BATCH, DataType, MAX_DIMS, META_BATCH, META_DIMS, META_FLOATS, META_UINTS, NAME};
use crate::bundle::Bundle;
use crate::bytes::to_u64;
use crate::error::Result;
use crate::format::Adapted;
use crate::key::Key;
use crate::loss::{Aspect, Loss, Tier};
use crate::tensor::{Dim, Tensor};

/// Longest `bin` in bytes.
const MAX_DATA: u128 = 0xffff_ffff;

/// Brings a tensor into primitiv's shape: without trailing sizes of 1, and for a parameter's value
/// without a batch.
pub(super) fn adapt(key: &Key, tensor: &Tensor, data_type: DataType) -> Result<Option<Adapted>> {
    let mut dims = tensor.dims().to_vec();
    let mut said = Vec::new();
    let has_batch = dims
        .last()
        .is_some_and(|dim| dim.name.as_deref() == Some(BATCH));
    let keeps_batch = key.state.is_some() || data_type == DataType::Tensor;
    if has_batch
        && !keeps_batch
        && let Some(last) = dims.last_mut()
    {
        last.name = None;
        let detail = format!("the dimension name {BATCH} is dropped, a parameter has no batch");
        said.push((Tier::Said, Aspect::DimNames, detail));
    }
    let batch = dims.pop_if(|dim| dim.name.as_deref() == Some(BATCH));
    let is_one = |dim: &Dim| dim.indexed_size() == Some(1);
    let before = tensor.dims().len();
    while dims.pop_if(|dim| is_one(dim)).is_some() {}
    dims.extend(batch.filter(|batch| !is_one(batch)));
    let dropped = before.saturating_sub(dims.len());
    if dropped > 0 {
        let detail = format!("sizes of 1 at the end are dropped: {dropped}");
        said.push((Tier::Said, Aspect::Shape, detail));
    }
    if said.is_empty() {
        return Ok(None);
    }
    let storage = tensor.storage().clone();
    let symmetries = tensor.symmetries().to_vec();
    let adapted = Tensor::new(dims, tensor.dtype(), symmetries, storage)?;
    Ok(Some((adapted.with_meta_of(tensor), said)))
}

/// The losses of a file of type `data_type`.
pub(super) fn format_losses(bundle: &Bundle, data_type: DataType) -> Vec<Loss> {
    if let (DataType::Shape | DataType::Optimizer, [_, ..]) = (data_type, bundle.entries()) {
        let (word, count) = (data_type.word(), bundle.entries().len());
        let detail = format!(
            "{count} tensors, a file of type {word} has none: --opt type=model writes a model under any name"
        );
        return vec![Loss::impossible(None, Aspect::Count, detail)];
    }
    let mut losses = for_meta(bundle, data_type);
    let parameters = parameters(bundle);
    for (key, tensor) in bundle.entries() {
        let mut add = |aspect, detail: String| losses.push(Loss::impossible(key, aspect, detail));
        let sizes = split(tensor);
        for_sizes(&sizes, &mut add);
        let keeps_batch = key.state.is_some() || data_type == DataType::Tensor;
        if sizes.batch.is_some() && !keeps_batch {
            let detail = "the dimension name batch, a parameter has no batch";
            add(Aspect::DimNames, detail.into());
        }
        if data_type == DataType::Model && key.path().is_empty() {
            add(Aspect::Keys, "a parameter of a model needs a name".into());
        }
        if key.state.is_some() && !parameters.contains_key(key.path()) {
            let detail = "a statistic of no parameter; --no-state leaves it out";
            add(Aspect::State, detail.into());
        }
    }
    losses.extend(for_conflicts(parameters.into_keys()));
    losses
}

fn for_meta(bundle: &Bundle, data_type: DataType) -> Vec<Loss> {
    let (written, faults) = match data_type {
        DataType::Shape => (
            [META_DIMS, META_BATCH].as_slice(),
            vec![shape(bundle).err()],
        ),
        DataType::Optimizer => (
            [META_UINTS, META_FLOATS].as_slice(),
            vec![uint_configs(bundle).err(), float_configs(bundle).err()],
        ),
        DataType::Tensor | DataType::Parameter | DataType::Model => ([].as_slice(), vec![]),
    };
    let own = format!("{NAME}:");
    let names = bundle.meta.iter().map(|(name, _)| name);
    let lost = names.filter(|name| name.starts_with(&own) && !written.contains(name));
    let lost = lost.map(|name| {
        let way = match name {
            // Files of those types have no tensors.
            _ if !bundle.entries().is_empty() => "",
            META_UINTS | META_FLOATS => "; --opt type=optimizer writes it",
            META_DIMS | META_BATCH => "; --opt type=shape writes it",
            _ => "",
        };
        Loss {
            key: None,
            aspect: Aspect::Metadata,
            detail: format!(
                "{name} has no place in a file of type {}{way}",
                data_type.word()
            ),
            tier: Tier::Refused,
        }
    });
    let faults = faults.into_iter().flatten();
    let faults = faults.map(|error| Loss::impossible(None, Aspect::Metadata, error.to_string()));
    lost.chain(faults).collect()
}

fn for_sizes(sizes: &Sizes, add: &mut dyn FnMut(Aspect, String)) {
    let n_dims = to_u64(sizes.dims.len());
    if n_dims > MAX_DIMS {
        let detail = format!(
            "{n_dims} dimensions besides a batch, at most {MAX_DIMS} fit; --reshape gives others"
        );
        add(Aspect::Shape, detail);
    }
    if sizes.dims.last() == Some(&1) {
        add(Aspect::Shape, "a last size of 1 is not kept".into());
    }
    if sizes.batch == Some(1) {
        add(Aspect::Shape, "a batch of 1 is not kept".into());
    }
    let len = sizes.cells().map(|cells| cells.saturating_mul(4));
    if len.is_none_or(|len| len > MAX_DATA) {
        let len = len.map_or_else(|| "more than 2^128".into(), |len| len.to_string());
        let detail = format!("{len} bytes of values, at most {MAX_DATA} fit");
        add(Aspect::Shape, detail);
    }
}

/// In a model a name is either a parameter or a submodel. `paths` are sorted.
fn for_conflicts<'a>(paths: impl Iterator<Item = &'a [String]>) -> Vec<Loss> {
    let mut losses = Vec::new();
    let mut above: &[String] = &[];
    for path in paths {
        if above.is_empty() || !path.starts_with(above) {
            above = path;
            continue;
        }
        let above = Key::tree(above.to_vec());
        let detail = format!(
            "it cannot be in one model with {above}: --sep splits names elsewhere, --rename changes them"
        );
        losses.push(Loss::impossible(
            &Key::tree(path.to_vec()),
            Aspect::Keys,
            detail,
        ));
    }
    losses
}

#[cfg(test)]
mod tests {
    use super::super::write::choose;
    use super::*;
    use crate::dtype::Numbers;
    use crate::meta::Value;
    use crate::tensor::{Dim, Order, Storage, Tensor};

    fn tensor(dims: Vec<Dim>, n_values: usize) -> Tensor {
        let storage = Storage::Dense {
            order: Order::Column,
            values: Numbers::from_vec(&vec![0_f32; n_values]),
        };
        Tensor::new(dims, "f32".parse().unwrap(), vec![], storage).unwrap()
    }

    fn scalar() -> Tensor {
        tensor(vec![], 1)
    }

    fn path(text: &str) -> Key {
        Key::tree(text.split('/').map(Into::into).collect())
    }

    fn bundle(entries: Vec<(Key, Tensor)>) -> Bundle {
        let mut bundle = Bundle::new();
        for (key, tensor) in entries {
            bundle.push(key, tensor);
        }
        bundle
    }

    /// The aspects that would be lost, and of which tensors.
    fn lost(bundle: &Bundle) -> Vec<(Aspect, String)> {
        let name = |loss: Loss| {
            let key = loss.key.map_or_else(String::new, |key| key.to_string());
            (loss.aspect, key)
        };
        let losses = format_losses(bundle, choose(bundle));
        losses.into_iter().map(name).collect()
    }

    /// The sizes and names of a tensor as written, and the losses.
    fn adapted(key: &Key, tensor: &Tensor, data_type: DataType) -> (Vec<Dim>, Vec<Aspect>) {
        match adapt(key, tensor, data_type).unwrap() {
            None => (tensor.dims().to_vec(), vec![]),
            Some((adapted, said)) => {
                let aspects = said.into_iter().map(|(_, aspect, _)| aspect);
                (adapted.dims().to_vec(), aspects.collect())
            }
        }
    }

    #[test]
    fn sizes_of_1_at_the_end_are_dropped_and_others_are_not() {
        let of = |sizes: &[u64]| {
            let dims = sizes.iter().map(|size| Dim::indexed(*size)).collect();
            let (dims, said) = adapted(&Key::root(), &tensor(dims, 3), DataType::Parameter);
            let sizes = dims.iter().filter_map(Dim::indexed_size);
            (sizes.collect::<Vec<_>>(), said)
        };
        assert_eq!(of(&[1, 3]), (vec![1, 3], vec![]));
        assert_eq!(of(&[3, 1]), (vec![3], vec![Aspect::Shape]));
        assert_eq!(
            of(&[3, 1, 1, 1, 1, 1, 1, 1, 1]),
            (vec![3], vec![Aspect::Shape])
        );
        let too_many = tensor(
            [1; 8]
                .map(Dim::indexed)
                .into_iter()
                .chain([Dim::indexed(3)])
                .collect(),
            3,
        );
        assert_eq!(
            lost(&Bundle::of(too_many)),
            [(Aspect::Shape, String::new())]
        );
    }

    #[test]
    fn a_batch_fits_a_tensor_and_a_statistic_but_no_parameter() {
        let batch = |size: u64| vec![Dim::indexed(size).named("batch")];
        let (two, one) = (tensor(batch(2), 2), tensor(batch(1), 1));
        let (root, statistic) = (Key::root(), path("w").statistic("m"));
        assert_eq!(adapted(&root, &two, DataType::Tensor), (batch(2), vec![]));
        assert_eq!(
            adapted(&statistic, &two, DataType::Model),
            (batch(2), vec![])
        );
        assert_eq!(
            adapted(&root, &one, DataType::Tensor),
            (vec![], vec![Aspect::Shape])
        );
        assert_eq!(
            adapted(&path("w"), &two, DataType::Model),
            (vec![Dim::indexed(2)], vec![Aspect::DimNames])
        );
    }

    #[test]
    fn four_gib_of_values_are_too_many() {
        let sizes = |size| Sizes {
            dims: vec![size],
            batch: None,
        };
        let mut details = Vec::new();
        for_sizes(&sizes((1 << 30) - 1), &mut |_, detail| details.push(detail));
        assert!(details.is_empty());
        for_sizes(&sizes(1 << 30), &mut |_, detail| details.push(detail));
        assert_eq!(
            details,
            ["4294967296 bytes of values, at most 4294967295 fit"]
        );
    }

    #[test]
    fn keys_that_cannot_be_in_one_model_are_lost() {
        let model = bundle(vec![
            (path("a/c"), scalar()),
            (path("ab"), scalar()),
            (path("a/b"), scalar()),
            (path("a"), scalar()),
            (Key::root(), scalar()),
        ]);
        let keys = ["", "a/b", "a/c"].map(|name| (Aspect::Keys, name.into()));
        assert_eq!(lost(&model), keys);
    }

    #[test]
    fn a_statistic_needs_its_owner() {
        let model = bundle(vec![
            (path("a"), scalar()),
            (path("b").statistic("m"), scalar()),
        ]);
        assert_eq!(lost(&model), [(Aspect::State, "b@m".into())]);
    }

    #[test]
    fn metadata_of_an_optimizer_fits_an_optimizer_alone() {
        let mut bundle = Bundle::new();
        let pair = |value| Value::Map(vec![("a".into(), value)]);
        bundle.meta.set(META_UINTS, pair(Value::Int(0xffff_ffff)));
        bundle.meta.set(META_FLOATS, pair(Value::f32(0.5)));
        assert_eq!(lost(&bundle), []);
        let mut beside = bundle.clone();
        beside.push(path("w"), scalar());
        assert_eq!(lost(&beside).len(), 2);
        bundle.meta.set(META_UINTS, pair(Value::Int(1 << 32)));
        bundle.meta.set(META_FLOATS, pair(Value::Int(1)));
        let details: Vec<String> = format_losses(&bundle, DataType::Optimizer)
            .into_iter()
            .map(|loss| loss.detail)
            .collect();
        assert_eq!(
            details,
            [
                "primitiv:uint_configs is no map of names, each once, to u32",
                "primitiv:float_configs is no map of names, each once, to f32",
            ]
        );
    }

    #[test]
    fn metadata_of_a_shape_is_checked() {
        let mut bundle = Bundle::new();
        bundle.meta.set(META_BATCH, 2_u64);
        let mut of = |sizes: &[u64]| {
            let dims = sizes.iter().map(|size| Value::from(*size)).collect();
            bundle.meta.set(META_DIMS, Value::List(dims));
            lost(&bundle).len()
        };
        assert_eq!(of(&[2, 3]), 0);
        assert_eq!(of(&[3, 1]), 1);
        assert_eq!(of(&[0]), 1);
        assert_eq!(of(&[1 << 31]), 1);
    }
}
