//! Lists the tensors of a file, by tenfold and by the crate of its format.

use std::io::Read;
use std::path::{Path, PathBuf};

use tenfold::{Bundle, DType, Dim, Key, Number, Numbers, Order, Storage, Tensor, WriteOptions};

use crate::{Answer, Outcome, timed};

/// What a listing has seen: enough to tell that all programs saw the same.
#[derive(Default)]
struct Seen {
    tensors: u64,
    name_bytes: u64,
    dims: u64,
    sizes: u64,
    type_width: u64,
}

impl Seen {
    fn add(&mut self, name: &str, sizes: impl Iterator<Item = u64>, width: u64) {
        self.tensors += 1;
        self.name_bytes += name.len() as u64;
        for size in sizes {
            self.dims += 1;
            self.sizes += size;
        }
        self.type_width += width;
    }
}

/// Answers `tenfold`, `crate`, and `read`, which only reads the bytes.
pub fn start(words: &[&str]) -> Outcome<Answer> {
    let [format, file] = words else {
        return Err("listing FORMAT FILE".into());
    };
    let (format, file) = (format.to_string(), PathBuf::from(file));
    Ok(Box::new(move |words| {
        let (took, seen) = timed(|| match (words, format.as_str()) {
            (["tenfold"], _) => tenfold(&file),
            (["crate"], "safetensors") => safetensors(&file),
            (["crate"], "ztensor-0.1") => ztensor_0_1(&file),
            (["crate"], "ztensor-2") => ztensor_2(&file),
            (["read"], _) => read(&file),
            _ => Err("tenfold, crate or read".into()),
        })?;
        let Seen {
            tensors,
            name_bytes,
            dims,
            sizes,
            type_width,
        } = seen;
        let seen = format!("{tensors} {name_bytes} {dims} {sizes} {type_width}");
        Ok((took, seen))
    }))
}

/// The limit: every byte of the headers goes by once.
fn read(file: &Path) -> Outcome<Seen> {
    let mut file = std::fs::File::open(file)?;
    let mut buffer = vec![0_u8; 1 << 18];
    while file.read(&mut buffer)? > 0 {}
    Ok(Seen::default())
}

fn tenfold(file: &Path) -> Outcome<Seen> {
    let mut seen = Seen::default();
    let opened = tenfold::open(file)?;
    for (key, tensor) in opened.bundle.entries() {
        let name = key.flat_name().ok_or("a name that is no plain one")?;
        let sizes = tensor.dims().iter().filter_map(Dim::indexed_size);
        seen.add(name, sizes, tensor.dtype().width() as u64);
    }
    Ok(seen)
}

fn safetensors(file: &Path) -> Outcome<Seen> {
    let mut seen = Seen::default();
    let file = std::fs::File::open(file)?;
    // SAFETY: nobody changes the file while it is measured.
    let map = unsafe { memmap2::Mmap::map(&file)? };
    let tensors = safetensors::SafeTensors::deserialize(&map)?;
    for (name, tensor) in tensors.iter() {
        let sizes = tensor.shape().iter().map(|size| *size as u64);
        seen.add(name, sizes, tensor.dtype().bitsize() as u64 / 8);
    }
    Ok(seen)
}

fn ztensor_0_1(file: &Path) -> Outcome<Seen> {
    let mut seen = Seen::default();
    let reader = ztensor_0_1::ZTensorReader::open(file)?;
    for tensor in reader.list_tensors() {
        let width = tensor.dtype.byte_size()? as u64;
        seen.add(&tensor.name, tensor.shape.iter().copied(), width);
    }
    Ok(seen)
}

fn ztensor_2(file: &Path) -> Outcome<Seen> {
    let mut seen = Seen::default();
    let source = ztensor_2::Source::open(file)?;
    for tensor in source.tensors() {
        let width = tensor.data()?.dtype().width();
        seen.add(tensor.name(), tensor.shape().iter().copied(), width);
    }
    Ok(seen)
}

/// Writes the same tensors in every format: the names and shapes of a model of experts, made small.
pub fn make(folder: &str, count: u64) -> Outcome<()> {
    let mut bundle = Bundle::new();
    for number in 0..count {
        let (layer, expert) = (number / 768, number / 3 % 256);
        let (part, sizes) = match number % 3 {
            0 => ("gate_proj", vec![4, 8]),
            1 => ("up_proj", vec![4, 8]),
            _ => ("down_proj", vec![8, 4]),
        };
        let name = format!("model.layers.{layer}.mlp.experts.{expert}.{part}.weight");
        // No two alike: zTensor 2 keeps equal values once.
        let values: Vec<u8> = std::iter::repeat_n(number.to_le_bytes(), 8)
            .flatten()
            .collect();
        let numbers = Numbers {
            number: Number::Bf16,
            endian: tenfold::Endian::Little,
            bytes: tenfold::Bytes::memory(values),
        };
        let storage = Storage::Dense {
            order: Order::Row,
            values: numbers,
        };
        let dims = sizes.into_iter().map(Dim::indexed).collect();
        let tensor = Tensor::new(dims, DType::real(Number::Bf16), vec![], storage)?;
        bundle.push(Key::flat(name), tensor);
    }
    for (file, format, version) in [
        ("list.safetensors", "safetensors", None),
        ("list-0.1.zt", "ztensor", Some("0.1")),
        ("list-2.zt", "ztensor", Some("2")),
        ("list.gguf", "gguf", None),
    ] {
        let format = tenfold::by_name(format).ok_or("a format that is gone")?;
        let mut how = WriteOptions {
            version: version.map(String::from),
            skip_sync: true,
            ..WriteOptions::default()
        };
        if version == Some("2") {
            how.options.set("align", "4096");
        }
        let path = Path::new(folder).join(file);
        tenfold::save(&bundle, &path, format, &how, true)?;
    }
    Ok(())
}
