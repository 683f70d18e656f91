//! Lists the tensors of a file, by tenfold and by the crate of its format, as `listing.py` tells it.
//!
//! Usage: listing make FOLDER COUNT | listing serve FORMAT FILE

use std::error::Error;
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use tenfold::{Bundle, DType, Dim, Key, Number, Numbers, Order, Storage, Tensor, WriteOptions};

type Outcome<T> = Result<T, Box<dyn Error>>;

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

fn main() -> Outcome<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["make", folder, count] => make(Path::new(folder), count.parse()?),
        ["serve", format, file] => serve(format, Path::new(file)),
        _ => Err("make FOLDER COUNT, or serve FORMAT FILE".into()),
    }
}

/// Answers `tenfold` and `crate` with the milliseconds it took and what was seen.
fn serve(format: &str, file: &Path) -> Outcome<()> {
    println!("ready");
    for line in std::io::stdin().lock().lines() {
        let start = Instant::now();
        let seen = match (line?.as_str(), format) {
            ("tenfold", _) => tenfold(file)?,
            ("crate", "safetensors") => safetensors(file)?,
            ("crate", "ztensor-0.1") => ztensor_0_1(file)?,
            ("crate", "ztensor-2") => ztensor_2(file)?,
            _ => return Err("tenfold or crate".into()),
        };
        let took = start.elapsed().as_secs_f64() * 1e3;
        let Seen {
            tensors,
            name_bytes,
            dims,
            sizes,
            type_width,
        } = seen;
        println!("{took} {tensors} {name_bytes} {dims} {sizes} {type_width}");
        std::io::stdout().flush()?;
    }
    Ok(())
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
fn make(folder: &Path, count: u64) -> Outcome<()> {
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
        let values: Vec<u8> = std::iter::repeat_n(number.to_le_bytes(), 8).flatten().collect();
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
        let path: PathBuf = folder.join(file);
        tenfold::save(&bundle, &path, format, &how, true)?;
    }
    Ok(())
}
