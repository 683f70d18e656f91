//! Reads primitiv files in one walk, in file order; values are skipped.
#![deny(clippy::arithmetic_side_effects)]

use std::collections::HashSet;

use super::items::{Items, Rule};
use super::keys::{Fault, Keys};
use super::{
    BATCH, DataType, HINT_TYPE, MAJOR, MAX_DIMS, META_BATCH, META_DIMS, META_FLOATS, META_UINTS,
    MINOR, NAME,
};
use crate::bundle::Bundle;
use crate::bytes::{Bytes, Endian};
use crate::dtype::{DType, Number, Numbers};
use crate::error::{Error, Result};
use crate::format::ReadOptions;
use crate::io::Source;
use crate::key::Key;
use crate::limits::Limits;
use crate::memory;
use crate::meta::Value;
use crate::note::{Note, NoteKind};
use crate::tensor::{Dim, Order, Storage, Tensor, product};

pub(super) fn read(source: &Source, how: &ReadOptions) -> Result<Bundle> {
    let mut reader = Reader {
        items: Items::new(source, how),
        source,
        limits: &how.limits,
        n_tensors: 0,
        salvage: how.salvage,
        lost: Vec::new(),
    };
    let data_type = reader.header()?;
    let mut bundle = match data_type {
        DataType::Shape => reader.shape_file()?,
        DataType::Tensor => Bundle::of(reader.tensor(Batch::Any)?),
        DataType::Parameter => {
            let mut parameter = Parameter::new();
            let read = reader.parameter(Key::root(), &mut parameter);
            reader.unless_lost(read, "the rest of the parameter")?;
            named(parameter)
        }
        DataType::Model => named(reader.model()?.into_iter().flatten()),
        DataType::Optimizer => reader.optimizer()?,
    };
    if reader.lost.is_empty() {
        reader.items.end()?;
    }
    reader.lost.drain(..).for_each(|note| bundle.note(note));
    bundle.hints.set(HINT_TYPE, data_type.word());
    reader.items.notes().for_each(|note| bundle.note(note));
    Ok(bundle)
}

fn named(entries: impl IntoIterator<Item = (Key, Tensor)>) -> Bundle {
    let mut bundle = Bundle::new();
    for (key, tensor) in entries {
        bundle.push(key, tensor);
    }
    bundle
}

/// A value and its statistics.
type Parameter = Vec<(Key, Tensor)>;

struct Shape {
    dims: Vec<u64>,
    batch: u64,
    cells: u32,
}

/// The batch that a shape may have.
#[derive(Clone, Copy, PartialEq)]
enum Batch {
    One,
    Any,
}

struct Reader<'a> {
    items: Items<'a>,
    source: &'a Source,
    limits: &'a Limits,
    n_tensors: u64,
    /// Whether data after a fault is dropped.
    salvage: bool,
    lost: Vec<Note>,
}

impl Reader<'_> {
    fn header(&mut self) -> Result<DataType> {
        let major = self.items.u32("the major version")?;
        let minor = self.items.u32("the minor version")?;
        if (major, minor) != (MAJOR, MINOR) {
            return Err(Error::Unsupported {
                format: NAME,
                what: format!("version {major}.{minor}"),
            });
        }
        let at = self.items.at();
        let code = self.items.u32("the type")?;
        match DataType::ALL.into_iter().find(|known| known.code() == code) {
            Some(data_type) => Ok(data_type),
            None => {
                let why = format!("the type is {code:#x}, 0x0 and 0x100 to 0x400 are known");
                self.items.fail_at(at, why)
            }
        }
    }

    fn shape_file(&mut self) -> Result<Bundle> {
        let shape = self.shape(Batch::Any)?;
        let mut bundle = Bundle::new();
        let dims = shape.dims.into_iter().map(Value::from).collect();
        bundle.meta.set(META_DIMS, Value::List(dims));
        bundle.meta.set(META_BATCH, shape.batch);
        Ok(bundle)
    }

    fn shape(&mut self, batches: Batch) -> Result<Shape> {
        let at = self.items.at();
        let n_dims = self.items.array("dims")?;
        if n_dims > MAX_DIMS {
            let why = format!("a shape has {n_dims} dims, at most {MAX_DIMS} are allowed");
            return self.items.fail_at(at, why);
        }
        self.limits.check_ndim(n_dims)?;
        let mut dims = Vec::new();
        for _ in 0..n_dims {
            dims.push(self.items.size("a dim")?);
        }
        let batch_at = self.items.at();
        let batch = self.items.size("the batch")?;
        if batches == Batch::One && batch != 1 {
            let why = format!("the batch is {batch}, a parameter's is 1");
            return self.items.fail_at(batch_at, why);
        }
        let cells = product(&dims).and_then(|cells| cells.checked_mul(batch.into()));
        let Some(cells) = cells.and_then(|cells| u32::try_from(cells).ok()) else {
            let why = format!("dims {dims:?} and batch {batch} give 2^32 cells or more");
            return self.items.fail_at(at, why);
        };
        while dims.last() == Some(&1) {
            dims.pop();
        }
        Ok(Shape { dims, batch, cells })
    }

    fn tensor(&mut self, batches: Batch) -> Result<Tensor> {
        self.n_tensors = self.n_tensors.saturating_add(1);
        self.limits.check_tensors(self.n_tensors)?;
        // In a parameter, and then among all.
        self.limits.charge_items::<[(Key, Tensor); 2]>(1)?;
        let shape = self.shape(batches)?;
        let data = self.items.data(u64::from(shape.cells).saturating_mul(4))?;

        let mut dims: Vec<Dim> = shape.dims.into_iter().map(Dim::indexed).collect();
        if shape.batch > 1 {
            dims.push(Dim::indexed(shape.batch).named(BATCH));
        }
        let values = Numbers {
            number: Number::F32,
            endian: Endian::Little,
            bytes: Bytes::run(self.source, data)?,
        };
        let storage = Storage::Dense {
            order: Order::Column,
            values,
        };
        Tensor::new(dims, DType::real(Number::F32), vec![], storage)
    }

    /// Passes on a fault, unless the data after it is dropped; returns whether it is.
    fn unless_lost(&mut self, read: Result<()>, what: &str) -> Result<bool> {
        match read {
            Err(Error::Malformed { at, why, .. }) if self.salvage => {
                let text = format!("{what}: {why}");
                self.lost.push(Note::new(NoteKind::Lost, text).at(at));
                Ok(true)
            }
            read => read.map(|()| false),
        }
    }

    /// Reads a value and its statistics, one after the other, into `parameter`.
    fn parameter(&mut self, key: Key, parameter: &mut Parameter) -> Result<()> {
        parameter.push((key.clone(), self.tensor(Batch::One)?));
        let n_statistics = self.items.u32("the number of statistics")?;
        let mut names = HashSet::new();
        for _ in 0..n_statistics {
            let at = self.items.at();
            let name = self.items.text("the name of a statistic")?;
            // Each repeats the path: a long path and many statistics take little space in a file
            // only.
            self.items.keep(key.path().iter().map(String::as_str))?;
            let key = key.statistic(name.as_str());
            let is_first = names.insert(name);
            if !is_first {
                let why = format!("the statistic {key} is there twice");
                self.items.forgive(at, Rule::Statistic, why)?;
            }
            let statistic = self.tensor(Batch::Any)?;
            if is_first {
                parameter.push((key, statistic));
            }
        }
        Ok(())
    }

    fn model(&mut self) -> Result<Vec<Parameter>> {
        let n_parameters = self.items.u32("the number of parameters")?;
        let mut keys = Keys::default();
        let mut parameters: Vec<Parameter> = Vec::new();
        for number in 0..n_parameters {
            let read = self.next_parameter(&mut keys, &mut parameters);
            let left = n_parameters.saturating_sub(number);
            if self.unless_lost(
                read,
                &format!("what is left of the last parameters, {left}"),
            )? {
                break;
            }
        }
        Ok(parameters)
    }

    fn next_parameter(&mut self, keys: &mut Keys, parameters: &mut Vec<Parameter>) -> Result<()> {
        let path = self.path(keys)?;
        let place = keys.place(&path, parameters.len());
        let mut parameter = Parameter::new();
        let read = self.parameter(Key::tree(path), &mut parameter);
        match parameters.get_mut(place) {
            Some(same) => *same = parameter,
            None => parameters.push(parameter),
        }
        read
    }

    /// The key of a parameter, which must not conflict with `keys`.
    fn path(&mut self, keys: &Keys) -> Result<Vec<String>> {
        let at = self.items.at();
        let n_segments = self.items.array("a key")?;
        let mut path = Vec::new();
        for _ in 0..n_segments {
            path.push(self.items.text("a segment of a key")?);
        }
        let name = || Key::tree(path.clone());
        let (rule, why) = match keys.fault(&path) {
            None => return Ok(path),
            Some(Fault::Empty) => (Rule::Key, "a key is empty".into()),
            Some(Fault::Twice) => (Rule::KeyTwice, format!("the key {} is there twice", name())),
            Some(Fault::Bars(other)) => {
                let other = Key::tree(other.to_vec());
                let why = format!("{} cannot be in one model with {other}", name());
                (Rule::Key, why)
            }
        };
        self.items.forgive(at, rule, why)?;
        Ok(path)
    }

    fn optimizer(&mut self) -> Result<Bundle> {
        let mut bundle = Bundle::new();
        let uint = |items: &mut Items| Ok(u64::from(items.u32("a config")?).into());
        bundle.meta.set(META_UINTS, self.configs(uint)?);
        let float = |items: &mut Items| Ok(Value::f32(items.f32("a config")?));
        bundle.meta.set(META_FLOATS, self.configs(float)?);
        Ok(bundle)
    }

    fn configs(&mut self, value: impl Fn(&mut Items) -> Result<Value>) -> Result<Value> {
        let n_configs = self.items.map("configs")?;
        let mut configs = Vec::new();
        let mut names = HashSet::new();
        for _ in 0..n_configs {
            let at = self.items.at();
            let name = self.items.text("the name of a config")?;
            let is_first = names.insert(name.clone());
            if !is_first {
                let why = format!("the config {name:?} is there twice");
                self.items.forgive(at, Rule::Config, why)?;
            }
            let value = value(&mut self.items)?;
            self.limits.charge_items::<(Value, Value)>(1)?;
            if is_first {
                memory::push(&mut configs, (Value::Text(name), value))?;
            }
        }
        Ok(Value::Map(configs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Mode;

    const HEADER: &[u8] = b"\xce\0\0\0\0\xce\0\0\0\x01";
    const TENSOR: &[u8] = b"\xce\0\0\x01\0";
    const PARAMETER: &[u8] = b"\xce\0\0\x02\0";
    const MODEL: &[u8] = b"\xce\0\0\x03\0";
    const OPTIMIZER: &[u8] = b"\xce\0\0\x04\0";
    const NO_STATISTICS: &[u8] = b"\xce\0\0\0\0";
    /// The tensor 1.5, of no dims and batch 1.
    const SCALAR: &[u8] = b"\x90\xce\0\0\0\x01\xc4\x04\0\0\xc0\x3f";

    fn read_parts(parts: &[&[u8]], mode: Mode) -> Result<Bundle> {
        let how = ReadOptions {
            mode,
            ..ReadOptions::default()
        };
        read(&Source::memory([&[HEADER], parts].concat().concat()), &how)
    }

    fn strict(parts: &[&[u8]]) -> Result<Bundle> {
        read_parts(parts, Mode::Strict)
    }

    #[test]
    fn values_are_column_major_with_the_batch_last() {
        let bundle = strict(&[
            TENSOR,
            b"\x92\xce\0\0\0\x02\xce\0\0\0\x01\xce\0\0\0\x02",
            b"\xc4\x10\0\0\x80\x3f\0\0\x00\x40\0\0\x40\x40\0\0\x80\x40",
        ])
        .unwrap();
        let tensor = bundle.only().unwrap();
        // The second dim is 1 and the last before the batch: it is dropped.
        assert_eq!(
            tensor.dims(),
            [Dim::indexed(2), Dim::indexed(2).named("batch")]
        );
        assert_eq!(tensor.to_vec::<f32>().unwrap(), [1.0, 3.0, 2.0, 4.0]);
        assert_eq!(bundle.hints.text("primitiv:type"), Some("tensor"));
    }

    #[test]
    fn statistics_follow_their_owner() {
        let bundle = strict(&[
            MODEL,
            b"\xce\0\0\0\x01",
            b"\x92\xa3enc\xa1w",
            SCALAR,
            b"\xce\0\0\0\x02",
            b"\xa7Adam.m2",
            SCALAR,
            b"\xa7Adam.m1",
            SCALAR,
        ])
        .unwrap();
        let names: Vec<String> = bundle.entries().iter().map(|e| e.0.to_string()).collect();
        assert_eq!(names, ["enc/w", "enc/w@Adam.m2", "enc/w@Adam.m1"]);
    }

    #[test]
    fn an_optimizer_is_metadata() {
        let bundle = strict(&[
            OPTIMIZER,
            b"\x81\xafOptimizer.epoch\xce\0\0\0\x07",
            b"\x81\xa7SGD.eta\xca\x3f\0\0\0",
        ])
        .unwrap();
        assert!(bundle.entries().is_empty());
        let configs = |name| bundle.meta.get(name).unwrap();
        assert_eq!(
            configs("primitiv:uint_configs").get("Optimizer.epoch"),
            Some(&Value::Int(7))
        );
        assert_eq!(
            configs("primitiv:float_configs").get("SGD.eta"),
            Some(&Value::f32(0.5))
        );
    }

    #[test]
    fn a_message_has_the_value_found_and_the_value_wanted() {
        for (parts, text) in [
            (
                [b"\xce\0\0\x05\0".as_slice(), SCALAR],
                "the type is 0x500, 0x0 and 0x100 to 0x400 are known (byte 10)",
            ),
            (
                [TENSOR, b"\x91\xce\0\0\0\x02\xce\0\0\0\x01\xc4\x04\0\0\0\0"],
                "data is 4 bytes long, the shape needs 8 (byte 26)",
            ),
            (
                [PARAMETER, b"\x90\xce\0\0\0\x02\xc4\x08\0\0\0\0\0\0\0\0"],
                "the batch is 2, a parameter's is 1 (byte 16)",
            ),
            (
                [TENSOR, b"\x90\xcc\x01\xc4\x04\0\0\0\0"],
                "the batch is 1 as u8, u32 is wanted (byte 16)",
            ),
        ] {
            let text = format!("not a valid primitiv file: {text}");
            assert_eq!(strict(&parts).unwrap_err().to_string(), text);
        }
    }

    #[test]
    fn of_a_key_that_comes_twice_the_last_counts_and_strictly_neither() {
        let parts = [
            MODEL,
            b"\xce\0\0\0\x03",
            b"\x91\xa1a",
            b"\x90\xce\0\0\0\x01\xc4\x04\0\0\0\x40",
            NO_STATISTICS,
            b"\x91\xa1b",
            SCALAR,
            NO_STATISTICS,
            b"\x91\xa1a",
            SCALAR,
            NO_STATISTICS,
        ];
        let error = strict(&parts).unwrap_err().to_string();
        assert!(
            error.ends_with("the key a is there twice (byte 60)"),
            "{error}"
        );
        let bundle = read_parts(&parts, Mode::Lenient).unwrap();
        assert_eq!(bundle.entries().len(), 2);
        assert_eq!(bundle.get("a").unwrap().to_vec::<f32>().unwrap(), [1.5]);
        let text = "the key a is there twice; primitiv itself takes the last";
        assert_eq!(bundle.notes()[0].text, text);
    }

    #[test]
    fn a_model_of_a_hundred_thousand_parameters_opens() {
        const COUNT: u32 = 100_000;
        let mut body = vec![0xce];
        body.extend(COUNT.to_be_bytes());
        for number in 0..COUNT {
            body.extend(b"\x92\xa1m\xa8");
            body.extend(format!("{number:08}").into_bytes());
            body.extend(SCALAR);
            body.extend(NO_STATISTICS);
        }
        let bundle = strict(&[MODEL, &body]).unwrap();
        assert_eq!(bundle.entries().len(), 100_000);
    }

    #[test]
    fn a_long_path_with_many_statistics_is_refused_before_it_fills_the_memory() {
        let name = vec![b'n'; 1 << 20];
        let mut body = b"\xce\0\0\0\x01\x91\xdb\0\x10\0\0".to_vec();
        body.extend(name);
        body.extend(SCALAR);
        body.extend(b"\xce\0\0\x03\xe8");
        for number in 0..1000 {
            body.push(0xa4);
            body.extend(format!("{number:04}").into_bytes());
            body.extend(SCALAR);
        }
        let source = Source::memory([&[HEADER, MODEL], &[body.as_slice()][..]].concat().concat());
        let how = ReadOptions {
            limits: crate::limits::Limits::default().for_file(source.len()),
            ..ReadOptions::default()
        };
        let error = read(&source, &how).unwrap_err().to_string();
        assert!(error.contains("--max-structure"), "{error}");
    }
}
