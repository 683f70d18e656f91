//! Other number types.

use half::bf16;
use tenfold::{Cell, Element, Limits, Number, Numbers, Order, Overflow, Rounding, Storage, Tensor};

use super::samples::{big, dense, labelled, train};

fn line<T: Element>(values: Numbers) -> Tensor {
    dense::<T>(&[values.len()], Order::Row, values)
}

fn cut<T: Element>(values: Numbers, to: Number) -> tenfold::Result<Tensor> {
    let (limits, rounding) = (Limits::default(), Rounding::TowardZero);
    line::<T>(values).cast_rounded(to, rounding, Overflow::Fails, &limits)
}

#[test]
fn rounding_toward_zero_cuts_singles_to_their_upper_half() {
    let mut singles = Vec::new();
    for upper in 0..=u16::MAX {
        for lower in [0, 1, 0x7fff, 0x8000, 0x8001, 0xffff] {
            let single = f32::from_bits(u32::from(upper) << 16 | lower);
            if !single.is_nan() {
                singles.push(single);
            }
        }
    }
    for values in [Numbers::from_vec(&singles), big(&singles)] {
        let found = cut::<f32>(values, Number::Bf16).unwrap();
        let found = found.to_vec::<bf16>().unwrap();
        for (single, found) in singles.iter().zip(found) {
            assert_eq!(
                u32::from(found.to_bits()),
                single.to_bits() >> 16,
                "{single:e}"
            );
        }
    }
    let nan = cut::<f32>(
        Numbers::from_vec(&[f32::from_bits(0x7f80_0001)]),
        Number::Bf16,
    );
    assert!(nan.unwrap().to_vec::<bf16>().unwrap()[0].is_nan());
}

#[test]
fn rounding_toward_zero_never_grows_a_number() {
    let doubles: Vec<f64> = (1..2000)
        .map(|n| (f64::from(n) - 1000.3).powi(7) / 3.0)
        .collect();
    let found = cut::<f64>(Numbers::from_vec(&doubles), Number::F32).unwrap();
    for (double, single) in doubles.iter().zip(found.to_vec::<f32>().unwrap()) {
        let next = f64::from(f32::from_bits(single.to_bits() + 1)).abs();
        assert!(
            f64::from(single).abs() <= double.abs() && double.abs() < next,
            "{double:e}"
        );
        assert_eq!(single.is_sign_negative(), double.is_sign_negative());
    }
    let wholes = cut::<f64>(
        Numbers::from_vec(&[2.9, -2.9, 127.9, -0.7, -128.5]),
        Number::I8,
    );
    assert_eq!(
        wholes.unwrap().to_vec::<i8>().unwrap(),
        [2, -2, 127, 0, -128]
    );
    let counts = cut::<u64>(Numbers::from_vec(&[u64::MAX, (1 << 25) - 1]), Number::F32);
    assert_eq!(
        counts.unwrap().to_vec::<f32>().unwrap(),
        [18_446_742_974_197_923_840.0, 33_554_430.0]
    );
}

#[test]
fn what_has_no_room_becomes_the_largest_there_is_when_it_is_cut() {
    let numbers = Numbers::from_vec(&[1e300_f64]);
    let error = cut::<f64>(numbers.clone(), Number::F32)
        .unwrap()
        .to_vec::<f32>();
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("1e300 does not fit f32")
    );
    let (limits, over) = (Limits::default(), Overflow::Saturates);
    let found = line::<f64>(numbers)
        .cast_rounded(Number::F32, Rounding::TowardZero, over, &limits)
        .unwrap();
    assert_eq!(found.to_vec::<f32>().unwrap(), [f32::MAX]);
    let just = cut::<f64>(
        Numbers::from_vec(&[f64::from(f32::MAX) * (1.0 + 1e-12)]),
        Number::F32,
    );
    assert_eq!(just.unwrap().to_vec::<f32>().unwrap(), [f32::MAX]);
}

#[test]
fn labelled_blocks_and_the_cores_of_a_train_are_cast() {
    let limits = Limits::default();
    let found = labelled()
        .cast(Number::F64, Overflow::Fails, &limits)
        .unwrap();
    let mut blocks = Vec::new();
    found
        .for_each_cell(&limits, &mut |cell| {
            if let Cell::Labelled { labels, values } = cell {
                blocks.push((labels.join(" "), values.to_vec::<f64>().unwrap()[5]));
            }
            Ok(())
        })
        .unwrap();
    let wanted = [("b u", 5.0), ("a v", 15.0), ("b v", 25.0)];
    assert_eq!(
        blocks,
        wanted.map(|(labels, last)| (labels.to_owned(), last))
    );
    assert!(
        labelled()
            .cast(Number::U8, Overflow::Fails, &limits)
            .is_ok()
    );

    let found = train().cast(Number::I8, Overflow::Fails, &limits).unwrap();
    let (Storage::Train { cores, .. }, Storage::Train { cores: own, .. }) =
        (found.storage(), train().storage().clone())
    else {
        panic!("no train");
    };
    for (core, own) in cores.iter().zip(own) {
        let wide: Vec<f64> = core
            .to_vec::<i8>()
            .unwrap()
            .into_iter()
            .map(f64::from)
            .collect();
        assert_eq!(wide, own.to_vec::<f64>().unwrap());
    }
}
