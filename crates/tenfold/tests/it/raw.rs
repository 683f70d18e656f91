//! Raw numbers: every type, order and byte order, there and back.

use tenfold::formats::raw::Raw;
use tenfold::{
    Arity, Bundle, Bytes, DType, Dim, Endian, Error, Number, Numbers, Options, Order, ReadOptions,
    Sink, Source, Storage, Tensor, WriteOptions,
};

use crate::support::{spelled, told};

/// A matrix of 3 × 4 elements whose bytes count up.
fn matrix(dtype: DType, order: Order, endian: Endian) -> Tensor {
    let len = u8::try_from(dtype.width()).unwrap();
    let numbers = (0..12_u8).flat_map(|cell| (0..len).map(move |byte| cell ^ byte));
    // Zero and one are the only bytes that every type has.
    let bytes: Vec<u8> = match dtype.number {
        Number::Bool => numbers.map(|byte| byte % 2).collect(),
        _ => numbers.collect(),
    };
    let values = Numbers {
        number: dtype.number,
        endian,
        bytes: Bytes::memory(bytes),
    };
    let dims = vec![Dim::indexed(3), Dim::indexed(4)];
    Tensor::new(dims, dtype, vec![], Storage::Dense { order, values }).unwrap()
}

fn written(tensor: &Tensor, options: &[(&str, &str)]) -> (Vec<u8>, Options) {
    let mut how = WriteOptions::default();
    options
        .iter()
        .for_each(|(name, value)| how.options.set(*name, *value));
    let mut sink = Sink::memory();
    let bundle = Bundle::of(tensor.clone());
    let mut said = tenfold::write_to(&bundle, &mut sink, &Raw, &how).unwrap();
    let told = told(&mut said);
    assert_eq!(said, []);
    (sink.finish().unwrap().into_memory().unwrap(), told)
}

fn read(bytes: &[u8], options: Options) -> tenfold::Result<Bundle> {
    let how = ReadOptions {
        options,
        ..ReadOptions::default()
    };
    Ok(tenfold::read(&Source::memory(bytes.to_vec()), &Raw, &how)?.bundle)
}

#[test]
fn what_is_said_of_a_file_reads_it_again() {
    let orders = [Order::Row, Order::Column];
    let endians = [Endian::Little, Endian::Big];
    for (number, arity) in Number::ALL
        .iter()
        .flat_map(|number| Arity::ALL.iter().map(move |arity| (number, arity)))
    {
        let dtype = DType {
            number: *number,
            arity: *arity,
        };
        for (order, endian) in orders
            .iter()
            .flat_map(|order| endians.map(|endian| (*order, endian)))
        {
            let tensor = matrix(dtype, order, endian);
            for options in [
                &[][..],
                &[("order", "F")],
                &[("endian", "big"), ("offset", "3")],
                &[("order", "F"), ("endian", "big"), ("shape", "3x?")],
            ] {
                let (bytes, told) = written(&tensor, options);
                let said = format!("{told:?}");
                let back = read(&bytes, told).unwrap();
                assert!(back.notes().is_empty(), "{said}");
                let (_, back) = &back.entries()[0];
                assert_eq!(
                    (back.dtype(), back.dims()),
                    (dtype, tensor.dims()),
                    "{said}"
                );
                let all = |tensor: &Tensor| {
                    let mut all = Vec::new();
                    let limits = tenfold::Limits::default();
                    tensor
                        .for_each(1 << 20, &limits, &mut |piece| {
                            all.extend_from_slice(piece);
                            Ok(())
                        })
                        .unwrap();
                    all
                };
                assert_eq!(all(back), all(&tensor), "{said}");
            }
        }
    }
}

#[test]
fn a_number_is_where_its_options_say() {
    let bytes: Vec<u8> = (0..16).collect();
    let cell = |words: &str, index: &[u64]| -> u16 {
        let bundle = read(&bytes, spelled(words)).unwrap();
        let (_, tensor) = &bundle.entries()[0];
        tensor.cell(index, &tenfold::Limits::default()).unwrap()
    };
    assert_eq!(cell("dtype=u16,shape=2x4", &[1, 0]), 0x0908);
    assert_eq!(cell("dtype=u16,shape=2x4,order=F", &[1, 0]), 0x0302);
    assert_eq!(cell("dtype=u16,shape=2x4,endian=big", &[0, 1]), 0x0203);
    assert_eq!(cell("dtype=u16,offset=5", &[1]), 0x0807);
    assert_eq!(
        read(&bytes, spelled("dtype=u16,offset=5"))
            .unwrap()
            .notes()
            .len(),
        1
    );
    assert!(matches!(
        read(&bytes, spelled("dtype=u16,shape=9")),
        Err(Error::Malformed { .. })
    ));
    assert!(matches!(
        read(&bytes, spelled("shape=9")),
        Err(Error::Invalid(_))
    ));
    assert!(
        read(&bytes, spelled("dtype=u16,shape=")).unwrap().entries()[0]
            .1
            .dims()
            .is_empty()
    );
}
