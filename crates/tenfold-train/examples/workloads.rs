//! Does one piece of work again and again, as it is told: what `benches/trains.py` measures.
//!
//! `workloads compress FILE.npy EPS`, `workloads stream FILE.npy EPS MEMORY`, `workloads refuse FILE.npy EPS`,
//! `workloads reconstruct RANK SIZE…`, `workloads arithmetic RANK SIZE COUNT`.
//!
//! Says `ready` when everything is in memory. Then a line `go` on the standard input does the work
//! once, `read` and `write` move the same bytes, each telling how many milliseconds it took;
//! `save FILE.blz` writes the train and tells what is known about it; the end of the input ends it.

use std::error::Error;
use std::io::{BufRead, Write};
use std::path::Path;
use std::time::Instant;

use memmap2::{Advice, MmapMut};
use rayon::prelude::*;
use tenfold::{Bundle, Numbers, Order, Storage, Tensor, WriteOptions};
use tenfold_train::{
    AnyTrain, Cells, Complex64, Compressed, Options, Report, Scalar, Train, compress,
    compress_tensor,
};

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["compress", file, eps] => in_memory(file, eps.parse()?),
        ["stream", file, eps, memory] => stream(file, eps.parse()?, memory.parse()?),
        ["refuse", file, eps] => refuse(file, eps.parse()?),
        ["reconstruct", rank, sizes @ ..] => {
            let sizes = sizes.iter().map(|size| size.parse());
            reconstruct(rank.parse()?, &sizes.collect::<Result<Vec<usize>, _>>()?)
        }
        ["arithmetic", rank, size, count] => {
            arithmetic(rank.parse()?, &vec![size.parse()?; count.parse()?])
        }
        _ => Err("what to do? see the top of the source".into()),
    }
}

/// Answers the lines of the standard input.
fn serve(mut answer: impl FnMut(&str) -> Outcome<String>) -> Outcome<()> {
    say("ready")?;
    for line in std::io::stdin().lock().lines() {
        say(&answer(&line?)?)?;
    }
    Ok(())
}

fn say(text: &str) -> Outcome<()> {
    let mut out = std::io::stdout();
    writeln!(out, "{text}")?;
    Ok(out.flush()?)
}

/// Milliseconds that something takes, and what it gives.
fn timed<R>(work: impl FnOnce() -> R) -> (f64, R) {
    let start = Instant::now();
    let result = std::hint::black_box(work());
    (start.elapsed().as_secs_f64() * 1e3, result)
}

fn first_tensor(file: &str) -> Outcome<Tensor> {
    let opened = tenfold::open(file)?;
    let first = opened.bundle.entries().first();
    Ok(first.ok_or("no tensor in the file")?.1.clone())
}

/// Compresses the tensor of a file that was read into memory.
fn in_memory(file: &str, eps: f64) -> Outcome<()> {
    let tensor = first_tensor(file)?;
    let sizes = tensor.sizes()?.into_iter().map(usize::try_from);
    let shape = sizes.collect::<Result<Vec<usize>, _>>()?;
    let Storage::Dense { order, values } = tensor.storage() else {
        return Err("not a dense tensor".into());
    };
    let held = large_pages(values)?;
    match tensor.dtype().to_string().as_str() {
        "f64" => {
            let cells: &[f64] = bytemuck::cast_slice(&held);
            compressing(ordered(*order, &shape, cells)?, cells, eps, AnyTrain::Real)
        }
        "c128" => {
            let cells: &[Complex64] = bytemuck::cast_slice(&held);
            compressing(
                ordered(*order, &shape, cells)?,
                cells,
                eps,
                AnyTrain::Complex,
            )
        }
        other => Err(format!("{other} is neither f64 nor c128").into()),
    }
}

fn ordered<'a, T>(order: Order, shape: &[usize], cells: &'a [T]) -> Outcome<Cells<'a, T>> {
    Ok(match order {
        Order::Row => Cells::new(shape, cells)?,
        Order::Column => Cells::column_major(shape, cells)?,
    })
}

/// The bytes of numbers, on large pages as NumPy puts them.
fn large_pages(values: &Numbers) -> Outcome<MmapMut> {
    let mut held = MmapMut::map_anon(usize::try_from(values.bytes.len())?)?;
    held.advise(Advice::HugePage)?;
    values.bytes.read_at(0, &mut held)?;
    Ok(held)
}

fn compressing<T: Scalar>(
    source: Cells<T>,
    cells: &[T],
    eps: f64,
    any: fn(Train<T>) -> AnyTrain,
) -> Outcome<()> {
    let options = Options::relative(eps);
    let mut last: Option<Compressed<T>> = None;
    serve(|line| match line.split_once(' ') {
        None if line == "read" => Ok(timed(|| read_once(bytemuck::cast_slice(cells)))
            .0
            .to_string()),
        None => {
            let (time, found) = timed(|| compress(&source, &options));
            last = Some(found?);
            Ok(time.to_string())
        }
        Some((_, file)) => {
            let found = last.take().ok_or("nothing to save yet")?;
            save(&any(found.train), &found.report, file)
        }
    })
}

/// Compresses the tensor of a file that stays where it is.
fn stream(file: &str, eps: f64, memory: usize) -> Outcome<()> {
    let tensor = first_tensor(file)?;
    let options = Options::relative(eps).with_memory(memory);
    let mut last = None;
    serve(|line| match line.split_once(' ') {
        None => {
            let found = timed(|| compress_tensor(&tensor, &options, &tenfold::Limits::default()));
            last = Some(found.1?);
            Ok(found.0.to_string())
        }
        Some((_, file)) => {
            let (train, report) = last.take().ok_or("nothing to save yet")?;
            save(&train, &report, file)
        }
    })
}

/// Finds out that no train of a file's tensor is smaller than it is.
fn refuse(file: &str, eps: f64) -> Outcome<()> {
    let tensor = first_tensor(file)?;
    let options = Options::relative(eps).smaller_than(tensor.storage().stored_len());
    serve(|_| {
        let found = timed(|| compress_tensor(&tensor, &options, &tenfold::Limits::default()));
        match found.1 {
            Err(tenfold_train::Error::NotSmaller { .. }) => Ok(found.0.to_string()),
            Err(other) => Err(other.into()),
            Ok(_) => Err("there is a train, or none was ruled out".into()),
        }
    })
}

fn save(train: &AnyTrain, report: &Report, file: &str) -> Outcome<String> {
    let bundle = Bundle::of(train.to_tensor()?);
    let format = tenfold::by_name("blz").ok_or("no such format")?;
    tenfold::save(
        &bundle,
        Path::new(file),
        format,
        &WriteOptions::default(),
        true,
    )?;
    Ok(format!(
        "{:e} {:e} {} {}",
        report.relative_error(),
        report.norm,
        report.train_len,
        report.route.as_str().replace(' ', "-"),
    ))
}

/// Multiplies a train out into memory that nobody has touched yet.
fn reconstruct(rank: usize, shape: &[usize]) -> Outcome<()> {
    let train = Train::<f64>::random(shape, rank, 2)?;
    let cells = train.cells()?;
    let mut warm = vec![0.0; cells];
    serve(|line| match line {
        // The memory is given back when the time has been taken, as it is for the peers.
        "write" => {
            let (time, page) = timed(|| -> Outcome<MmapMut> {
                let mut page = fresh(cells)?;
                page.par_chunks_mut(1 << 19).for_each(|part| part.fill(1));
                Ok(page)
            });
            page?;
            Ok(time.to_string())
        }
        "warm" => Ok(timed(|| train.fill(&mut warm)).0.to_string()),
        _ => {
            let (time, page) = timed(|| -> Outcome<MmapMut> {
                let mut page = fresh(cells)?;
                train.fill(bytemuck::cast_slice_mut(&mut page))?;
                Ok(page)
            });
            page?;
            Ok(time.to_string())
        }
    })
}

/// Memory for doubles that nobody has touched, on large pages as NumPy has them.
fn fresh(cells: usize) -> std::io::Result<MmapMut> {
    let page = MmapMut::map_anon(cells * 8)?;
    page.advise(Advice::HugePage)?;
    Ok(page)
}

/// Computes with two random trains.
fn arithmetic(rank: usize, shape: &[usize]) -> Outcome<()> {
    let one = Train::<f64>::random(shape, rank, 7)?;
    let two = Train::<f64>::random(shape, rank, 8)?;
    let sum = one.add(&two)?;
    // Of twice the rank that it needs.
    let double = one.add(&one.scale(0.5))?;
    serve(|line| {
        let time = match line {
            "dot" => timed(|| one.dot(&two)).0,
            "add" => timed(|| one.add(&two)).0,
            "add, written out" => {
                timed(|| {
                    let sum = one.add(&two);
                    sum.map(|sum| {
                        sum.cores()
                            .iter()
                            .map(|core| core.values().len())
                            .sum::<usize>()
                    })
                })
                .0
            }
            "halve" => timed(|| double.round(1e-10, None)).0,
            _ => timed(|| sum.round(1e-10, None)).0,
        };
        Ok(time.to_string())
    })
}

/// The sum of all squares: what reading everything once takes.
fn read_once(values: &[f64]) -> f64 {
    let sums = values.par_chunks(1 << 18).map(|part| {
        let mut lanes = [0.0; 32];
        for chunk in part.as_chunks::<32>().0 {
            for (lane, value) in lanes.iter_mut().zip(chunk) {
                *lane += value * value;
            }
        }
        lanes.iter().sum::<f64>()
    });
    sums.sum()
}
