//! Sparse tensors of several formats: ours, and beside each a plain loop that does that alone.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use tenfold::{Address, Limits, Order, Storage, Tensor, WriteOptions};

use crate::{Answer, Outcome, memory, timed};

/// Cells and their addresses, as a plain loop has them.
type Pairs = (Vec<u64>, Vec<f64>);

/// Answers `tenfold` and `loop`, with what was seen, and `read`. What they do is the first word.
pub fn start(words: &[&str]) -> Outcome<Answer> {
    let [what, file, made, side] = words else {
        return Err("sparse WHAT FILE MADE SIDE".into());
    };
    let (what, file, made) = (what.to_string(), file.to_string(), made.to_string());
    let side: u64 = side.parse()?;
    let blocks = match what.as_str() {
        "vespa-write" => Some(vespa_loop(&fs::read(&file)?)?),
        _ => None,
    };
    Ok(Box::new(move |words| match (what.as_str(), words) {
        (_, ["read"]) => Ok((memory::read(&[&file])?, String::new())),
        ("vespa-read", ["tenfold"]) => seen(timed(|| {
            with_tensor(&file, |tensor| Ok(values(tensor)?.to_vec::<f32>()?))
        })?),
        ("vespa-read", ["loop"]) => seen(timed(|| Ok(vespa_loop(&fs::read(&file)?)?.cells))?),
        ("vespa-write", ["tenfold"]) => {
            let opened = tenfold::open(&file)?;
            let how = WriteOptions {
                skip_sync: true,
                ..WriteOptions::default()
            };
            let made = Path::new(&made);
            let (seconds, _) = timed(|| {
                Ok(tenfold::save(
                    &opened.bundle,
                    made,
                    opened.format,
                    &how,
                    true,
                )?)
            })?;
            Ok((seconds, length(made)?))
        }
        ("vespa-write", ["loop"]) => {
            let blocks = blocks.as_ref().ok_or("no blocks")?;
            let (seconds, ()) = timed(|| blocks.write(&made))?;
            Ok((seconds, length(Path::new(&made))?))
        }
        ("tens-read", ["tenfold"]) => seen_pairs(timed(|| with_tensor(&file, pairs))?),
        ("tens-read", ["loop"]) => seen_pairs(timed(|| Ok(tens_loop(&fs::read(&file)?)))?),
        ("tens-densify", ["tenfold"]) => seen(timed(|| {
            with_tensor(&file, |tensor| {
                let mut out = vec![0; (side * side * 8) as usize];
                tensor.read_into(Order::Column, &Limits::default(), &mut out)?;
                Ok(out)
            })
        })?),
        ("tens-densify", ["loop"]) => seen(timed(|| {
            let (places, values) = tens_loop(&fs::read(&file)?);
            let mut out = vec![0; (side * side * 8) as usize];
            for (place, value) in places.iter().zip(&values) {
                let at = *place as usize * 8;
                out[at..at + 8].copy_from_slice(&value.to_le_bytes());
            }
            Ok(out)
        })?),
        ("mtx-parse", ["tenfold"]) | ("tns-parse", ["tenfold"]) => {
            let (seconds, opened) = timed(|| Ok(tenfold::open(&file)?))?;
            let (_, tensor) = opened.bundle.entries().first().ok_or("no tensor")?;
            seen_pairs((seconds, pairs(tensor)?))
        }
        ("mtx-parse", ["loop"]) => seen_pairs(timed(|| text_loop(&file, 2, &[1, side]))?),
        ("tns-parse", ["loop"]) => {
            seen_pairs(timed(|| text_loop(&file, 0, &[side * 1000, 1000, 1]))?)
        }
        _ => Err("tenfold, loop or read".into()),
    }))
}

fn with_tensor<T>(file: &str, work: impl FnOnce(&Tensor) -> Outcome<T>) -> Outcome<T> {
    let opened = tenfold::open(file)?;
    let (_, tensor) = opened.bundle.entries().first().ok_or("no tensor")?;
    work(tensor)
}

fn values(tensor: &Tensor) -> Outcome<&tenfold::Numbers> {
    match tensor.storage() {
        Storage::Sparse { values, .. } => Ok(values),
        _ => Err("not sparse".into()),
    }
}

fn pairs(tensor: &Tensor) -> Outcome<Pairs> {
    match tensor.storage() {
        Storage::Sparse {
            address: Address::Linear(places),
            values,
            ..
        } => Ok((places.to_vec()?, values.to_vec()?)),
        _ => Err("no pairs".into()),
    }
}

fn seen<T>((seconds, cells): (f64, Vec<T>)) -> Outcome<(f64, String)> {
    Ok((seconds, cells.len().to_string()))
}

/// How many pairs there are, and a sum that tells their order and their bits.
fn seen_pairs((seconds, (places, values)): (f64, Pairs)) -> Outcome<(f64, String)> {
    let sum = places
        .iter()
        .zip(&values)
        .fold(0_u64, |sum, (place, value)| {
            sum.wrapping_mul(31).wrapping_add(*place) ^ value.to_bits()
        });
    Ok((seconds, format!("{} {sum}", places.len())))
}

fn length(path: &Path) -> Outcome<String> {
    Ok(fs::metadata(path)?.len().to_string())
}

/// Blocks of Vespa under one label each.
struct Blocks {
    head: Vec<u8>,
    labels: Vec<Box<[u8]>>,
    cells: Vec<f32>,
    per_block: usize,
}

/// Reads what the job makes: a tag, f32 cells, one mapped dimension and one indexed, short labels.
fn vespa_loop(bytes: &[u8]) -> Outcome<Blocks> {
    let per_block = bytes[8] as usize;
    let (head, mut rest) = bytes.split_at(9);
    let count = u32::from_be_bytes(rest[..4].try_into()?) & 0x7fff_ffff;
    rest = &rest[4..];
    let mut blocks = Blocks {
        head: head.to_vec(),
        labels: Vec::with_capacity(count as usize),
        cells: Vec::with_capacity(count as usize * per_block),
        per_block,
    };
    for _ in 0..count {
        let (label, cells) = rest[1..].split_at(rest[0] as usize);
        blocks.labels.push(label.into());
        let (cells, later) = cells.split_at(per_block * 4);
        let cells = cells.chunks_exact(4);
        { &mut blocks.cells }
            .extend(cells.map(|four| f32::from_be_bytes(four.try_into().unwrap())));
        rest = later;
    }
    Ok(blocks)
}

impl Blocks {
    fn write(&self, path: &str) -> Outcome<()> {
        let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
        out.write_all(&self.head)?;
        out.write_all(&(self.labels.len() as u32 | 1 << 31).to_be_bytes())?;
        for (label, cells) in self.labels.iter().zip(self.cells.chunks(self.per_block)) {
            out.write_all(&[label.len() as u8])?;
            out.write_all(label)?;
            for cell in cells {
                out.write_all(&cell.to_be_bytes())?;
            }
        }
        Ok(out.flush()?)
    }
}

/// Reads the pairs of a TENS file of two dimensions.
fn tens_loop(bytes: &[u8]) -> Pairs {
    const HEAD: usize = 32 + 2 * 8 + 8;
    let word = |pair: &[u8], at: usize| u64::from_le_bytes(pair[at..at + 8].try_into().unwrap());
    let pairs = bytes[HEAD..].chunks_exact(16);
    { pairs }
        .map(|pair| (word(pair, 0), f64::from_bits(word(pair, 8))))
        .unzip()
}

/// Reads lines of indices that count from 1 and a value, after `skip` lines.
fn text_loop(file: &str, skip: usize, strides: &[u64]) -> Outcome<Pairs> {
    let text = fs::read_to_string(file)?;
    let (mut places, mut values) = (Vec::new(), Vec::new());
    for line in text.lines().skip(skip) {
        let mut fields = line.split_ascii_whitespace();
        let mut place = 0;
        for stride in strides {
            let index: u64 = fields.next().ok_or("no index")?.parse()?;
            place += (index - 1) * stride;
        }
        places.push(place);
        values.push(fields.next().ok_or("no value")?.parse()?);
    }
    Ok((places, values))
}
