//! The jobs whose instructions are counted.

use std::hint::black_box;

use tenfold::{
    Bundle, DiffOptions, Endian, Limits, Number, Order, Overflow, Result, Samples, Slice, Source,
    Symmetry, Tensor, Tolerance,
};

use crate::data::{alone, blocks, dense, many, matrix_market, only, opened, written};

/// Something to do again and again.
type Work = Box<dyn FnMut() -> Result<()>>;

/// What a job is called, and what prepares it.
type Job = (&'static str, fn() -> Result<Work>);

/// Every job.
pub(crate) const JOBS: &[Job] = &[
    ("list-safetensors", || list("safetensors")),
    ("list-ztensor-0.1", || list("ztensor@0.1")),
    ("list-ztensor-2", || list("ztensor@2")),
    ("list-npz", || list("npz")),
    ("list-primitiv", || list("primitiv")),
    ("copy-safetensors-ztensor", copy),
    ("relayout-matrix-f32", || relayout(&[251, 509], Number::F32)),
    ("relayout-cube-f64", || relayout(&[48, 48, 48], Number::F64)),
    ("relayout-six-f64", || {
        relayout(&[7, 7, 7, 7, 7, 7], Number::F64)
    }),
    ("swap-f64", swap),
    ("cast-f32-f64", || cast(Number::F32, Number::F64)),
    ("cast-f64-f32", || cast(Number::F64, Number::F32)),
    ("cast-f32-bf16", || cast(Number::F32, Number::Bf16)),
    ("cast-f16-f32", || cast(Number::F16, Number::F32)),
    ("zstd-write", || zstd(false)),
    ("zstd-read", || zstd(true)),
    ("check-crc32c", || check("crc32c")),
    ("check-sha256", || check("sha256")),
    ("stats-f32", || stats(Number::F32)),
    ("stats-bf16", || stats(Number::Bf16)),
    ("diff-f32", diff),
    ("vespa-read", || vespa(true)),
    ("vespa-write", || vespa(false)),
    ("tens-sparse-read", tens_sparse),
    ("mtx-read", mtx),
    ("pack", || symmetric(true)),
    ("unpack", || symmetric(false)),
    ("slice", slice),
];

/// Opens a file of many tensors.
fn list(format: &'static str) -> Result<Work> {
    let file = Source::memory(written(&many(2000)?, format, &[])?);
    let name = format.split('@').next().unwrap_or(format);
    Ok(Box::new(move || {
        black_box(opened(&file, name)?.bundle.entries().len());
        Ok(())
    }))
}

/// A mebibyte of values that stay as they are.
fn copy() -> Result<Work> {
    let tensor = dense(&[512, 512], Number::F32, Endian::Little, Order::Row)?;
    let file = Source::memory(written(&alone(tensor), "safetensors", &[])?);
    Ok(Box::new(move || {
        let bundle = opened(&file, "safetensors")?.bundle;
        black_box(written(&bundle, "ztensor", &[])?);
        Ok(())
    }))
}

/// All values of a tensor in the order of rows, in one piece of memory.
fn read(tensor: Tensor) -> Result<Work> {
    let cells = tensor.sizes()?.iter().product::<u64>();
    let len = usize::try_from(cells)
        .unwrap_or(0)
        .saturating_mul(tensor.dtype().width());
    let mut out = vec![0; len];
    Ok(Box::new(move || {
        tensor.read_into(Order::Row, &Limits::default(), &mut out)?;
        black_box(&out);
        Ok(())
    }))
}

fn relayout(sizes: &[u64], number: Number) -> Result<Work> {
    read(dense(sizes, number, Endian::Little, Order::Column)?)
}

fn swap() -> Result<Work> {
    read(dense(&[1 << 17], Number::F64, Endian::Big, Order::Row)?)
}

fn cast(from: Number, to: Number) -> Result<Work> {
    let tensor = dense(&[1 << 17], from, Endian::Little, Order::Row)?;
    read(tensor.cast(to, Overflow::Fails, &Limits::default())?)
}

fn zstd(must_read: bool) -> Result<Work> {
    let bundle = alone(dense(&[1 << 16], Number::F32, Endian::Little, Order::Row)?);
    let options = [("compress", "zstd")];
    if must_read {
        return read(only(written(&bundle, "ztensor", &options)?, "ztensor")?);
    }
    Ok(Box::new(move || {
        black_box(written(&bundle, "ztensor", &options)?);
        Ok(())
    }))
}

fn check(algorithm: &'static str) -> Result<Work> {
    let bundle = alone(dense(&[1 << 18], Number::F32, Endian::Little, Order::Row)?);
    let tensor = only(
        written(&bundle, "ztensor", &[("checksum", algorithm)])?,
        "ztensor",
    )?;
    Ok(Box::new(move || {
        black_box(tensor.check(&Limits::default())?);
        Ok(())
    }))
}

fn stats(number: Number) -> Result<Work> {
    let tensor = dense(&[1 << 17], number, Endian::Little, Order::Row)?;
    Ok(Box::new(move || {
        black_box(Samples::of(&tensor, &Limits::default())?.stats()?);
        Ok(())
    }))
}

/// Two tensors that differ in one cell.
fn diff() -> Result<Work> {
    let first = dense(&[1 << 17], Number::F32, Endian::Little, Order::Row)?;
    let mut values: Vec<f32> = first.to_vec()?;
    if let Some(last) = values.last_mut() {
        *last += 1.0;
    }
    let storage = tenfold::Storage::Dense {
        order: Order::Row,
        values: tenfold::Numbers::from_vec(&values),
    };
    let second = Tensor::new(first.dims().to_vec(), first.dtype(), vec![], storage)?;
    Ok(Box::new(move || {
        black_box(tenfold::compare(&first, &second, &DiffOptions::default())?);
        Ok(())
    }))
}

/// Labelled blocks in Vespa's binary form.
fn vespa(must_read: bool) -> Result<Work> {
    let text = blocks(5000);
    let bundle: Bundle = opened(&Source::memory(text.into_bytes()), "vespa-text")?.bundle;
    let bytes = written(&bundle, "vespa", &[])?;
    Ok(if must_read {
        let file = Source::memory(bytes);
        Box::new(move || {
            let bundle = opened(&file, "vespa")?.bundle;
            for (_, tensor) in bundle.entries() {
                black_box(tensor.check(&Limits::default())?);
            }
            Ok(())
        })
    } else {
        Box::new(move || {
            black_box(written(&bundle, "vespa", &[])?);
            Ok(())
        })
    })
}

/// Cells with their places in TENS, made dense.
fn tens_sparse() -> Result<Work> {
    let text = matrix_market().into_bytes();
    let bundle = opened(&Source::memory(text), "mtx")?.bundle;
    read(only(written(&bundle, "tens", &[])?, "tens")?)
}

fn mtx() -> Result<Work> {
    let file = Source::memory(matrix_market().into_bytes());
    Ok(Box::new(move || {
        black_box(opened(&file, "mtx")?.bundle.entries().len());
        Ok(())
    }))
}

/// A matrix that is its own transpose.
fn symmetric(must_pack: bool) -> Result<Work> {
    let size = 300_u32;
    let place = |row: u32, column: u32| f64::from(row.min(column) * size + row.max(column));
    let values: Vec<f64> = (0..size)
        .flat_map(|row| (0..size).map(move |column| place(row, column)))
        .collect();
    let storage = tenfold::Storage::Dense {
        order: Order::Row,
        values: tenfold::Numbers::from_vec(&values),
    };
    let dims = vec![tenfold::Dim::indexed(size.into()); 2];
    let full = Tensor::new(dims, "f64".parse()?, vec![], storage)?;
    let symmetry = Symmetry {
        permutation: vec![1, 0],
        operation: "x".into(),
        packed: true,
    };
    let pack = move |tensor: &Tensor| {
        tensor.pack(
            std::slice::from_ref(&symmetry),
            Tolerance::Exact,
            &Limits::default(),
        )
    };
    if !must_pack {
        read(pack(&full)?.tensor)
    } else {
        Ok(Box::new(move || {
            black_box(pack(&full)?.tensor);
            Ok(())
        }))
    }
}

/// Every third row of a box of rows, at one place of the last dimension.
fn slice() -> Result<Work> {
    let tensor = dense(&[64, 64, 64], Number::F64, Endian::Little, Order::Row)?;
    let mut steps = Slice::all(64);
    steps.step = 3;
    steps.count = 22;
    let slices = [Slice::range(8..56), steps, Slice::one(5)];
    Ok(Box::new(move || {
        black_box(tensor.read_box_bytes(&slices, &Limits::default())?);
        Ok(())
    }))
}
