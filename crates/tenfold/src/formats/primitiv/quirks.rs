//! What primitiv files cannot hold besides what [`Holds`](crate::Holds) says.

use super::write::{Sizes, choose, float_configs, parameters, shape, split, uint_configs};
use super::{DataType, MAX_DIMS, META_BATCH, META_DIMS, META_FLOATS, META_UINTS, NAME};
use crate::bundle::Bundle;
use crate::bytes::wide;
use crate::error::{Aspect, Loss};
use crate::key::Key;

/// The most bytes that a `bin` can have.
const MAX_DATA: u128 = 0xffff_ffff;

pub(super) fn quirks(bundle: &Bundle) -> Vec<Loss> {
    quirks_of(bundle, choose(bundle))
}

/// What a file of type `data_type` cannot hold.
pub(super) fn quirks_of(bundle: &Bundle, data_type: DataType) -> Vec<Loss> {
    let mut losses = for_meta(bundle, data_type);
    let parameters = parameters(bundle);
    for (key, tensor) in bundle.entries() {
        let mut add = |aspect, detail: String| losses.push(Loss::impossible(key, aspect, detail));
        let sizes = split(tensor);
        for_sizes(&sizes, &mut add);
        let is_value = key.state.is_none();
        if is_value && data_type != DataType::Tensor && sizes.batch.is_some() {
            let detail = "the dimension name batch, a parameter has no batch";
            add(Aspect::DimNames, detail.into());
        }
        if is_value && data_type == DataType::Model && key.path().is_empty() {
            add(Aspect::Keys, "a parameter of a model needs a name".into());
        }
        if !is_value && !parameters.contains_key(key.path()) {
            add(Aspect::State, "a statistic of no parameter".into());
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
    let lost = names
        .filter(|name| name.starts_with(&own) && !written.contains(name))
        .map(|name| format!("{name}, a {} has no place for it", data_type.word()));
    let faults = faults.into_iter().flatten().map(|error| error.to_string());
    lost.chain(faults)
        .map(|detail| Loss::impossible(None, Aspect::Metadata, detail))
        .collect()
}

fn for_sizes(sizes: &Sizes, add: &mut dyn FnMut(Aspect, String)) {
    let n_dims = wide(sizes.dims.len());
    if n_dims > MAX_DIMS {
        let detail = format!("{n_dims} dimensions besides a batch, at most {MAX_DIMS} fit");
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

/// In a model a name is a parameter or a submodel. `paths` are sorted.
fn for_conflicts<'a>(paths: impl Iterator<Item = &'a [String]>) -> Vec<Loss> {
    let mut losses = Vec::new();
    let mut above: &[String] = &[];
    for path in paths {
        if above.is_empty() || !path.starts_with(above) {
            above = path;
            continue;
        }
        let above = Key::tree(above.to_vec());
        let detail = format!("it cannot be in one model with {above}");
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
    use super::*;
    use crate::meta::Value;
    use crate::number::Numbers;
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
        quirks(bundle).into_iter().map(name).collect()
    }

    #[test]
    fn a_last_size_of_1_is_lost_and_others_are_not() {
        let of = |sizes: &[u64]| {
            let dims = sizes.iter().map(|size| Dim::indexed(*size)).collect();
            lost(&Bundle::of(tensor(dims, 3)))
        };
        assert_eq!(of(&[1, 3]), []);
        assert_eq!(of(&[3, 1]), [(Aspect::Shape, String::new())]);
        assert_eq!(of(&[3, 1, 1, 1, 1, 1, 1, 1, 1]).len(), 2);
    }

    #[test]
    fn a_batch_fits_a_tensor_and_a_statistic_but_no_parameter() {
        let batch = |size, n_values| tensor(vec![Dim::indexed(size).named("batch")], n_values);
        assert_eq!(lost(&Bundle::of(batch(2, 2))), []);
        assert_eq!(
            lost(&Bundle::of(batch(1, 1))),
            [(Aspect::Shape, String::new())]
        );
        let statistic = path("w").statistic("m");
        let model = bundle(vec![(path("w"), scalar()), (statistic, batch(2, 2))]);
        assert_eq!(lost(&model), []);
        let model = bundle(vec![(path("w"), batch(2, 2))]);
        assert_eq!(lost(&model), [(Aspect::DimNames, "w".into())]);
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
        let details: Vec<String> = quirks(&bundle)
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
