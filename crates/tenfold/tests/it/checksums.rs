//! Damage that a checksum shows, whatever becomes of the values on the way.

use tenfold::{
    Allow, Bundle, ComplexPart, Dim, Limits, Number, Numbers, Options, Order, Overflow,
    ReadOptions, Result, Slice, Storage, Tensor, WriteOptions,
};

use crate::support::{finish, kind, read, targets};

/// A matrix of twelve numbers, of a file whose values have a checksum; damaged ones differ from it in one bit.
fn matrix(dtype: &str, is_damaged: bool) -> Tensor {
    let dims = vec![Dim::indexed(3), Dim::indexed(4)];
    let dtype: tenfold::DType = dtype.parse().unwrap();
    let numbers: Vec<f64> = (1..=3 * 4 * dtype.width() / 8).map(|n| n as f64).collect();
    let storage = Storage::Dense {
        order: Order::Row,
        values: Numbers::from_vec(&numbers),
    };
    let tensor = Tensor::new(dims, dtype, vec![], storage).unwrap();
    let mut options = Options::default();
    options.set("checksum", "sha256");
    let how = WriteOptions {
        version: Some("2".into()),
        options,
        ..WriteOptions::default()
    };
    let mut out = crate::files::sink();
    let bundle = Bundle::of(tensor);
    tenfold::write_to(
        &bundle,
        &mut out,
        tenfold::by_name("ztensor").unwrap(),
        &how,
    )
    .unwrap();
    let mut bytes = finish(out).unwrap();
    let nine = 9.0_f64.to_le_bytes();
    let at = bytes.windows(8).position(|own| own == nine).unwrap();
    bytes[at + 6] ^= u8::from(is_damaged);
    let bundle = read("ztensor", &bytes, &ReadOptions::default())
        .unwrap()
        .bundle;
    bundle.entries()[0].1.clone()
}

/// A file of a format, with all losses allowed.
fn written(tensor: &Tensor, format: &dyn tenfold::Format) -> Result<Vec<u8>> {
    let how = WriteOptions {
        allow: Allow::Everything,
        ..WriteOptions::default()
    };
    let mut out = crate::files::sink();
    tenfold::write_to(&Bundle::of(tensor.clone()), &mut out, format, &how)?;
    finish(out)
}

type Change = fn(&Tensor, &Limits) -> Result<Tensor>;

#[test]
fn damaged_values_are_written_in_no_format_and_no_shape() {
    let limits = Limits::default();
    let changes: [(&str, &str, Change); 8] = [
        ("f64", "as they are", |tensor, _| Ok(tensor.clone())),
        ("f64", "transposed", |tensor, limits| {
            tensor.permute(&[1, 0], limits)
        }),
        ("f64", "cast", |tensor, limits| {
            tensor.cast(Number::F32, Overflow::Fails, limits)
        }),
        ("f64", "cast and transposed", |tensor, limits| {
            tensor
                .cast(Number::F32, Overflow::Fails, limits)?
                .permute(&[1, 0], limits)
        }),
        ("f64", "transposed and cast", |tensor, limits| {
            tensor
                .permute(&[1, 0], limits)?
                .cast(Number::F32, Overflow::Fails, limits)
        }),
        ("f64", "sparse", |tensor, limits| tensor.to_sparse(limits)),
        ("c128", "one part", |tensor, limits| {
            tensor.part(ComplexPart::Re, limits)
        }),
        ("c128", "one part, transposed", |tensor, limits| {
            tensor
                .part(ComplexPart::Re, limits)?
                .permute(&[1, 0], limits)
        }),
    ];
    let (mut tried, mut wrong) = (0, Vec::new());
    for (dtype, name, change) in changes {
        let sound = change(&matrix(dtype, false), &limits).unwrap();
        let damaged = change(&matrix(dtype, true), &limits);
        for format in targets() {
            if written(&sound, format).is_err() {
                continue;
            }
            let found = match &damaged {
                Ok(tensor) => written(tensor, format).err().as_ref().map(kind),
                Err(error) => Some(kind(error)),
            };
            if found != Some("malformed") {
                let info = format.info();
                wrong.push(format!(
                    "{name}: {} {:?}: {found:?}",
                    info.name, info.versions
                ));
            }
            tried += 1;
        }
    }
    assert!(wrong.is_empty() && tried > 60, "{tried} tried: {wrong:#?}");
}

#[test]
fn a_part_of_values_is_read_without_the_rest() {
    let limits = Limits::default();
    let damaged = matrix("f64", true);
    let cast = damaged.cast(Number::F32, Overflow::Fails, &limits).unwrap();
    let first: Vec<f32> = cast
        .read_box(&[Slice::one(0), Slice::all(4)], &limits)
        .unwrap();
    assert_eq!(first, [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(
        cast.to_vec::<f32>().as_ref().map_err(kind),
        Err("malformed")
    );
}
