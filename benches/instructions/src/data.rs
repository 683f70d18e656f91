//! What the jobs work on: always the same numbers.

use std::fmt::Write as _;

use tenfold::{
    Bundle, Bytes, Dim, Endian, Error, Format, Key, Limits, Number, Numbers, Opened, Order,
    Overflow, ReadOptions, Result, Sink, Source, Storage, Tensor, WriteOptions,
};

/// Numbers between -1 and 1 that do not repeat.
pub(crate) fn numbers(count: u32) -> Vec<f64> {
    let mut state = 1_u32;
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state) / f64::from(1_u32 << 31) - 1.0
    };
    std::iter::repeat_with(next)
        .take(usize::try_from(count).unwrap_or(0))
        .collect()
}

/// A dense tensor of such numbers in memory.
pub(crate) fn dense(sizes: &[u64], number: Number, endian: Endian, order: Order) -> Result<Tensor> {
    let count = sizes.iter().product::<u64>();
    let doubles = numbers(u32::try_from(count).unwrap_or(u32::MAX));
    let of = |values: Numbers, order| {
        let dtype = values.number.as_str().parse()?;
        let dims = sizes.iter().map(|size| Dim::indexed(*size)).collect();
        Tensor::new(dims, dtype, vec![], Storage::Dense { order, values })
    };
    let tensor = of(Numbers::from_vec(&doubles), Order::Row)?;
    let cast = tensor.cast(number, Overflow::Fails, &Limits::default())?;
    let width = number.width();
    let mut bytes = vec![0; usize::try_from(count).unwrap_or(0).saturating_mul(width)];
    cast.read_into(Order::Row, &Limits::default(), &mut bytes)?;
    if endian == Endian::Big {
        bytes.chunks_exact_mut(width).for_each(<[u8]>::reverse);
    }
    of(
        Numbers {
            number,
            endian,
            bytes: Bytes::memory(bytes),
        },
        order,
    )
}

/// A bundle of one tensor.
pub(crate) fn alone(tensor: Tensor) -> Bundle {
    let mut bundle = Bundle::new();
    bundle.push(Key::flat("a"), tensor);
    bundle
}

/// A bundle as a file of a format, such as `ztensor@2`, with options such as `compression=zstd`.
pub(crate) fn written(bundle: &Bundle, format: &str, options: &[(&str, &str)]) -> Result<Vec<u8>> {
    let (name, version) = match format.split_once('@') {
        Some((name, version)) => (name, Some(version.to_owned())),
        None => (format, None),
    };
    let mut how = WriteOptions {
        version,
        ..WriteOptions::default()
    };
    for (option, value) in options {
        how.options.set(*option, *value);
    }
    let mut out = Sink::memory();
    tenfold::write_to(bundle, &mut out, format_called(name)?, &how)?;
    out.finish()?.into_memory()
}

fn format_called(name: &str) -> Result<&'static dyn Format> {
    tenfold::by_name(name).ok_or_else(|| Error::Invalid(format!("there is no format {name}")))
}

/// What is in a file.
pub(crate) fn opened(file: &Source, format: &str) -> Result<Opened> {
    tenfold::read(file, format_called(format)?, &ReadOptions::default())
}

/// The only tensor of a file.
pub(crate) fn only(bytes: Vec<u8>, format: &str) -> Result<Tensor> {
    let bundle = opened(&Source::memory(bytes), format)?.bundle;
    let first = bundle.entries().first().map(|(_, tensor)| tensor.clone());
    first.ok_or_else(|| Error::Invalid("there is no tensor".into()))
}

/// Many small tensors with the names that models give.
pub(crate) fn many(count: u32) -> Result<Bundle> {
    let mut bundle = Bundle::new();
    for place in 0..count {
        let tensor = dense(&[2, 3], Number::F32, Endian::Little, Order::Row)?;
        bundle.push(
            Key::flat(format!("model.layers.{place}.attention.query.weight")),
            tensor,
        );
    }
    Ok(bundle)
}

/// A matrix of 500 rows with 40 entries each, as Matrix Market's text.
pub(crate) fn matrix_market() -> String {
    let mut text = "%%MatrixMarket matrix coordinate real general\n500 500 20000\n".to_owned();
    for (place, value) in (0_u32..).zip(numbers(20_000)) {
        let (row, part) = (place / 40, place % 40);
        let column = part * 12 + row % 12;
        // Text is never full.
        let _ = writeln!(text, "{} {} {value}", row + 1, column + 1);
    }
    text
}

/// Blocks of eight numbers with labels, as a literal of Vespa.
pub(crate) fn blocks(count: u32) -> String {
    let mut text = "tensor<float>(key{},x[8]):{".to_owned();
    for (place, value) in (0..count).zip(numbers(count)) {
        let comma = if place == 0 { "" } else { "," };
        let value = value / 2.0;
        let _ = write!(text, "{comma}document{place}:[{value},1,2,3,4,5,6,7]");
    }
    text + "}"
}
