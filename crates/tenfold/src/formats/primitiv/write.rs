//! Writes primitiv files, byte for byte as primitiv itself would.

use std::collections::{BTreeMap, HashSet};

use super::{
    BATCH, DataType, HINT_TYPE, MAJOR, MAX_DIMS, META_BATCH, META_DIMS, META_FLOATS, META_UINTS,
    MINOR,
};
use crate::bundle::Bundle;
use crate::bytes::{Endian, to_u64};
use crate::error::{Error, Result};
use crate::format::WriteOptions;
use crate::io::Sink;
use crate::meta::Value;
use crate::tensor::{Order, Storage, Tensor, product};
use crate::wire::msgpack::{count, put_array, put_bin, put_f32, put_map, put_str, put_u32};

pub(super) fn write(bundle: &Bundle, out: &mut Sink, data_type: DataType) -> Result<()> {
    for number in [MAJOR, MINOR, data_type.code()] {
        put_u32(out, number)?;
    }
    match data_type {
        DataType::Shape => put_shape(out, &shape(bundle)?),
        DataType::Tensor => put_tensor(out, bundle.only()?),
        DataType::Parameter => parameters(bundle)
            .values()
            .try_for_each(|parameter| put_parameter(out, parameter)),
        DataType::Model => put_model(out, bundle),
        DataType::Optimizer => put_optimizer(out, bundle),
    }
}

/// The type of the file: by the option, else by the extension, else the one that fits.
pub(super) fn data_type(bundle: &Bundle, how: &WriteOptions) -> Result<DataType> {
    let words = DataType::ALL.map(|data_type| (data_type.word(), Some(data_type)));
    let words = [&[("auto", None)], words.as_slice()].concat();
    let asked = how.options.choose("type", &words)?;
    let by_name = how.extension.as_deref().and_then(DataType::of_extension);
    let chosen = match asked {
        Some(asked) => asked,
        None => by_name,
    };
    Ok(chosen.unwrap_or_else(|| choose(bundle)))
}

/// The type of a written bundle: its original one if it still fits, else the simplest that does.
pub(super) fn choose(bundle: &Bundle) -> DataType {
    let hint = bundle.hints.text(HINT_TYPE);
    let hinted = DataType::ALL
        .into_iter()
        .find(|data_type| hint == Some(data_type.word()));
    hinted
        .into_iter()
        .chain([
            DataType::Optimizer,
            DataType::Shape,
            DataType::Tensor,
            DataType::Parameter,
        ])
        .find(|data_type| fits(bundle, *data_type))
        .unwrap_or(DataType::Model)
}

fn fits(bundle: &Bundle, data_type: DataType) -> bool {
    let keys = || bundle.entries().iter().map(|(key, _)| key);
    let is_empty = bundle.entries().is_empty();
    let has = |name| bundle.meta.get(name).is_some();
    match data_type {
        DataType::Shape => is_empty && has(META_DIMS) && has(META_BATCH),
        DataType::Optimizer => is_empty && has(META_UINTS) && has(META_FLOATS),
        DataType::Tensor => matches!(bundle.entries(), [(key, _)] if key.is_empty()),
        DataType::Parameter => match bundle.entries() {
            // A lone tensor with a batch is a tensor: a parameter has none.
            [(key, tensor)] => key.is_empty() && split(tensor).batch.is_none(),
            _ => keys().any(|key| key.is_empty()) && keys().all(|key| key.path().is_empty()),
        },
        DataType::Model => keys().all(|key| !key.path().is_empty()),
    }
}

/// The sizes of a shape; `batch` is `None` if there is none.
pub(super) struct Sizes {
    pub(super) dims: Vec<u64>,
    pub(super) batch: Option<u64>,
}

impl Sizes {
    /// The number of cells; `None` on overflow.
    pub(super) fn cells(&self) -> Option<u128> {
        product(&self.dims)?.checked_mul(self.batch.unwrap_or(1).into())
    }
}

/// Separates the batch from the other dimensions.
pub(super) fn split(tensor: &Tensor) -> Sizes {
    let mut dims = tensor.indexed_sizes();
    let last = tensor.dims().last().and_then(|dim| dim.name.as_deref());
    let batch = if last == Some(BATCH) {
        dims.pop()
    } else {
        None
    };
    Sizes { dims, batch }
}

/// A parameter: its value and its statistics, in the order of the bundle.
pub(super) struct Parameter<'a> {
    value: &'a Tensor,
    statistics: Vec<(&'a str, &'a Tensor)>,
}

/// The parameters of a bundle, sorted by their paths as primitiv sorts them: segment by segment,
/// bytewise. A statistic without an owner is left out.
pub(super) fn parameters(bundle: &Bundle) -> BTreeMap<&[String], Parameter<'_>> {
    let mut parameters = BTreeMap::new();
    for (key, value) in bundle.entries() {
        if key.state.is_none() {
            let statistics = Vec::new();
            parameters.insert(key.path(), Parameter { value, statistics });
        }
    }
    for (key, tensor) in bundle.entries() {
        if let Some(name) = &key.state
            && let Some(owner) = parameters.get_mut(key.path())
        {
            owner.statistics.push((name, tensor));
        }
    }
    parameters
}

fn put_model(out: &mut Sink, bundle: &Bundle) -> Result<()> {
    let parameters = parameters(bundle);
    put_u32(out, count(parameters.len())?)?;
    for (path, parameter) in &parameters {
        put_array(out, path.len())?;
        for segment in *path {
            put_str(out, segment)?;
        }
        put_parameter(out, parameter)?;
    }
    Ok(())
}

fn put_parameter(out: &mut Sink, parameter: &Parameter) -> Result<()> {
    if split(parameter.value).batch.is_some_and(|batch| batch > 1) {
        return Err(Error::invalid("a parameter has no batch"));
    }
    put_tensor(out, parameter.value)?;
    put_u32(out, count(parameter.statistics.len())?)?;
    for (name, statistic) in &parameter.statistics {
        put_str(out, name)?;
        put_tensor(out, statistic)?;
    }
    Ok(())
}

fn put_tensor(out: &mut Sink, tensor: &Tensor) -> Result<()> {
    let Storage::Dense {
        order: Order::Column,
        values,
    } = tensor.storage()
    else {
        return Err(Error::invalid("only column-major values are written"));
    };
    put_shape(out, &split(tensor))?;
    put_bin(out, values.bytes.len())?;
    values.write(out, Endian::Little)
}

fn put_shape(out: &mut Sink, sizes: &Sizes) -> Result<()> {
    let n_dims = sizes.dims.iter().rposition(|size| *size != 1);
    let n_dims = n_dims.map_or(0, |last| last.saturating_add(1));
    put_array(out, n_dims)?;
    for size in sizes.dims.iter().take(n_dims) {
        put_u32(out, count(*size)?)?;
    }
    put_u32(out, count(sizes.batch.unwrap_or(1))?)
}

/// The shape in the metadata of a bundle without tensors.
pub(super) fn shape(bundle: &Bundle) -> Result<Sizes> {
    let size = |value: &Value| value.as_u64().filter(|size| *size > 0);
    let dims = bundle.meta.get(META_DIMS).and_then(Value::as_list);
    let dims = dims.and_then(|dims| dims.iter().map(size).collect::<Option<Vec<u64>>>());
    let batch = bundle.meta.get(META_BATCH).and_then(size);
    let (Some(dims), Some(_)) = (dims, batch) else {
        let why = format!("{META_DIMS} and {META_BATCH} are not sizes of at least 1");
        return Err(Error::Invalid(why));
    };
    let sizes = Sizes { dims, batch };
    if to_u64(sizes.dims.len()) > MAX_DIMS
        || sizes.dims.last() == Some(&1)
        || sizes.cells().is_none_or(|cells| cells > u32::MAX.into())
    {
        let why = format!(
            "{META_DIMS} has more than {MAX_DIMS} sizes, ends with 1, or gives 2^32 cells or more"
        );
        return Err(Error::Invalid(why));
    }
    Ok(sizes)
}

fn put_optimizer(out: &mut Sink, bundle: &Bundle) -> Result<()> {
    let uints = uint_configs(bundle)?;
    put_map(out, uints.len())?;
    for (name, number) in uints {
        put_str(out, name)?;
        put_u32(out, number)?;
    }
    let floats = float_configs(bundle)?;
    put_map(out, floats.len())?;
    for (name, bits) in floats {
        put_str(out, name)?;
        put_f32(out, bits)?;
    }
    Ok(())
}

pub(super) fn uint_configs(bundle: &Bundle) -> Result<Vec<(&str, u32)>> {
    configs(bundle, META_UINTS, "u32", |value| {
        value.as_u64().and_then(|number| number.try_into().ok())
    })
}

pub(super) fn float_configs(bundle: &Bundle) -> Result<Vec<(&str, u32)>> {
    configs(bundle, META_FLOATS, "f32", |value| match value {
        Value::Float { bits, width: 32 } => (*bits).try_into().ok(),
        _ => None,
    })
}

/// The pairs under `name`: unique names, and numbers of the `wanted` type.
fn configs<'a>(
    bundle: &'a Bundle,
    name: &str,
    wanted: &str,
    number: impl Fn(&Value) -> Option<u32>,
) -> Result<Vec<(&'a str, u32)>> {
    let pairs = bundle.meta.get(name).and_then(Value::as_map);
    let pair = |(key, value): &'a (Value, Value)| Some((key.as_text()?, number(value)?));
    let pairs = pairs.and_then(|pairs| pairs.iter().map(pair).collect::<Option<Vec<_>>>());
    let mut seen = HashSet::new();
    pairs
        .filter(|pairs| pairs.iter().all(|(key, _)| seen.insert(*key)))
        .ok_or_else(|| Error::Invalid(format!("{name} is no map of names, each once, to {wanted}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::Numbers;
    use crate::key::Key;
    use crate::tensor::Dim;

    fn scalar(number: f32) -> Tensor {
        tensor(vec![], &[number])
    }

    fn tensor(dims: Vec<Dim>, values: &[f32]) -> Tensor {
        let storage = Storage::Dense {
            order: Order::Column,
            values: Numbers::from_vec(values),
        };
        Tensor::new(dims, "f32".parse().unwrap(), vec![], storage).unwrap()
    }

    fn path(segments: &[&str]) -> Key {
        Key::tree(segments.iter().map(|segment| (*segment).into()).collect())
    }

    fn bundle(entries: Vec<(Key, Tensor)>) -> Bundle {
        let mut bundle = Bundle::new();
        for (key, tensor) in entries {
            bundle.push(key, tensor);
        }
        bundle
    }

    fn written_as(bundle: &Bundle, data_type: &str) -> Result<Vec<u8>> {
        let mut how = WriteOptions::default();
        how.options.set("type", data_type);
        let mut out = Sink::memory();
        write(bundle, &mut out, super::data_type(bundle, &how)?)?;
        out.finish()?.into_memory()
    }

    /// The bytes after the versions.
    fn written(bundle: &Bundle) -> Vec<u8> {
        written_as(bundle, "auto").unwrap().split_off(10)
    }

    #[test]
    fn a_lone_tensor_is_a_tensor_file_and_its_batch_is_apart() {
        let dims = vec![Dim::indexed(1), Dim::indexed(2).named("batch")];
        let bundle = Bundle::of(tensor(dims, &[1.0, 2.0]));
        let body = b"\xce\0\0\x01\0\x90\xce\0\0\0\x02\xc4\x08\0\0\x80\x3f\0\0\0\x40";
        assert_eq!(written(&bundle), body);
    }

    #[test]
    fn a_lone_tensor_with_statistics_is_a_parameter() {
        let bundle = bundle(vec![
            (Key::root(), scalar(1.0)),
            (Key::root().statistic("m2"), scalar(2.0)),
            (Key::root().statistic("m1"), scalar(3.0)),
        ]);
        let body = [
            b"\xce\0\0\x02\0".as_slice(),
            b"\x90\xce\0\0\0\x01\xc4\x04\0\0\x80\x3f",
            b"\xce\0\0\0\x02",
            b"\xa2m2\x90\xce\0\0\0\x01\xc4\x04\0\0\0\x40",
            b"\xa2m1\x90\xce\0\0\0\x01\xc4\x04\0\0\x40\x40",
        ];
        assert_eq!(written(&bundle), body.concat());
    }

    #[test]
    fn a_model_is_sorted_by_segments_with_statistics_beside_their_owner() {
        let bundle = bundle(vec![
            (path(&["enc.l0"]), scalar(1.0)),
            (path(&["enc", "w"]).statistic("m"), scalar(2.0)),
            (path(&["enc", "w"]), scalar(3.0)),
        ]);
        let body = [
            b"\xce\0\0\x03\0\xce\0\0\0\x02".as_slice(),
            b"\x92\xa3enc\xa1w\x90\xce\0\0\0\x01\xc4\x04\0\0\x40\x40",
            b"\xce\0\0\0\x01\xa1m\x90\xce\0\0\0\x01\xc4\x04\0\0\0\x40",
            b"\x91\xa6enc.l0\x90\xce\0\0\0\x01\xc4\x04\0\0\x80\x3f",
            b"\xce\0\0\0\0",
        ];
        assert_eq!(written(&bundle), body.concat());
    }

    #[test]
    fn a_bundle_stays_what_it_was_as_long_as_that_fits() {
        let mut bundle = Bundle::of(scalar(1.0));
        bundle.hints.set(HINT_TYPE, "parameter");
        assert_eq!(choose(&bundle), DataType::Parameter);
        bundle.hints.set(HINT_TYPE, "optimizer");
        assert_eq!(choose(&bundle), DataType::Tensor);
        bundle.push(path(&["w"]), scalar(2.0));
        assert_eq!(choose(&bundle), DataType::Model);
        assert_eq!(choose(&Bundle::new()), DataType::Model);
    }

    #[test]
    fn the_option_decides_the_type_then_the_extension_then_what_fits() {
        let bundle = Bundle::of(scalar(1.0));
        let of = |option: Option<&str>, extension: Option<&str>| {
            let mut how = WriteOptions {
                extension: extension.map(str::to_owned),
                ..WriteOptions::default()
            };
            option
                .into_iter()
                .for_each(|word| how.options.set("type", word));
            super::data_type(&bundle, &how)
        };
        for (option, extension, wanted) in [
            (Some("parameter"), Some("model"), DataType::Parameter),
            (Some("auto"), Some("model"), DataType::Tensor),
            (None, Some("model"), DataType::Model),
            (None, Some("param"), DataType::Parameter),
            (None, Some("optimizer"), DataType::Optimizer),
            (None, Some("shape"), DataType::Shape),
            (None, Some("bin"), DataType::Tensor),
            (None, None, DataType::Tensor),
        ] {
            assert_eq!(of(option, extension).unwrap(), wanted);
        }
        assert!(of(Some("matrix"), None).is_err());
    }

    #[test]
    fn an_optimizer_is_not_written_as_a_model_without_parameters() {
        let mut bundle = Bundle::new();
        bundle.meta.set(META_UINTS, Value::Map(vec![]));
        bundle.meta.set(META_FLOATS, Value::Map(vec![]));
        assert_eq!(written(&bundle), b"\xce\0\0\x04\0\x80\x80");
    }
}
