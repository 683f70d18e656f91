//! Statistics, compared with what sorting all values gives.

use half::bf16;
use tenfold::{
    Address, Bytes, DType, Dim, Element, Endian, Finding, Limits, Number, Numbers, Order,
    QUANTILES, Samples, Stats, Storage, Symmetry, Tensor,
};

/// More values than are sorted in memory, in more than one chunk.
const MANY: usize = 300_000;

fn indexed(sizes: &[u64]) -> Vec<Dim> {
    sizes.iter().map(|size| Dim::indexed(*size)).collect()
}

fn dense<T: Element>(values: &[T]) -> Tensor {
    let storage = Storage::Dense {
        order: Order::Row,
        values: Numbers::from_vec(values),
    };
    let dims = indexed(&[values.len() as u64]);
    Tensor::new(dims, T::DTYPE, vec![], storage).unwrap()
}

fn sparse<T: Element>(cells: u64, values: &[T]) -> Tensor {
    let places: Vec<u64> = (0..values.len() as u64).map(|place| place * 2).collect();
    let storage = Storage::Sparse {
        order: Order::Row,
        address: Address::Linear(Numbers::from_vec(&places)),
        values: Numbers::from_vec(values),
    };
    Tensor::new(indexed(&[cells]), T::DTYPE, vec![], storage).unwrap()
}

fn stats(tensor: &Tensor) -> Stats {
    let limits = Limits::default();
    Samples::of(tensor, &limits).unwrap().stats().unwrap()
}

/// Numbers that look random, and are the same every time.
fn noise(count: usize) -> impl Iterator<Item = u64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    })
    .take(count)
}

/// Compares with what plain sorting and adding gives; `values` are all cells as doubles.
fn compare(stats: &Stats, values: &[f64]) {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let count = |test: fn(&f64) -> bool| values.iter().filter(|v| test(v)).count() as u64;
    assert_eq!(stats.cells, values.len() as u64);
    assert_eq!(stats.nan, count(|v| v.is_nan()));
    assert_eq!(stats.positive_infinite, count(|v| *v == f64::INFINITY));
    assert_eq!(stats.negative_infinite, count(|v| *v == f64::NEG_INFINITY));
    assert_eq!(stats.zeros, count(|v| *v == 0.0));
    assert_eq!(stats.negative, count(|v| v.is_finite() && *v < 0.0));
    let finite = stats.finite.as_ref().unwrap();
    assert_eq!(finite.min.to_f64(), sorted[0]);
    assert_eq!(finite.max.to_f64(), sorted[sorted.len() - 1]);
    // In units of the largest, so that squares stay within range.
    let unit = sorted.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
    let unit = if unit == 0.0 { 1.0 } else { unit };
    let n = sorted.len() as f64;
    let average = |each: &dyn Fn(f64) -> f64| {
        let terms: Vec<f64> = sorted.iter().map(|v| each(v / unit)).collect();
        pairwise(&terms) / n
    };
    let (mean, scale) = (average(&|v| v), average(&f64::abs));
    let std = average(&|v| (v - mean) * (v - mean)).sqrt();
    let norm = (average(&|v| v * v) * n).sqrt();
    let rounding = 4.0 * f64::EPSILON * scale;
    near(finite.mean / unit, mean, 1e-12 * scale);
    near(
        finite.std / unit,
        std,
        1e-12 * std + rounding * rounding / std.max(rounding).max(f64::MIN_POSITIVE),
    );
    near(finite.norm / unit, norm, 1e-12 * norm);
    for (percent, found) in QUANTILES.iter().zip(finite.quantiles) {
        let place = (sorted.len() as u64 - 1) * percent;
        let (low, part) = ((place / 100) as usize, (place % 100) as f64 / 100.0);
        let high = (low + 1).min(sorted.len() - 1);
        let wanted = sorted[low] + (sorted[high] - sorted[low]) * part;
        assert_eq!(found, wanted, "{percent} %");
    }
}

fn near(found: f64, wanted: f64, allowed: f64) {
    assert!((found - wanted).abs() <= allowed, "{found:e} {wanted:e}");
}

/// A sum that loses few digits.
fn pairwise(terms: &[f64]) -> f64 {
    match terms {
        [] => 0.0,
        [only] => *only,
        _ => {
            let (left, right) = terms.split_at(terms.len() / 2);
            pairwise(left) + pairwise(right)
        }
    }
}

#[test]
fn many_singles_with_odd_ones_among_them() {
    let odd = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0];
    let values: Vec<f32> = noise(MANY)
        .enumerate()
        .map(|(place, bits)| match place % 1000 {
            place @ 0..5 if bits % 2 == 0 => odd[place],
            _ => (bits as i64 as f32 * 1e-19).powi(3),
        })
        .collect();
    let doubles: Vec<f64> = values.iter().map(|v| f64::from(*v)).collect();
    compare(&stats(&dense(&values)), &doubles);
}

#[test]
fn many_doubles_that_differ_in_their_last_bits_alone() {
    let values: Vec<f64> = noise(MANY)
        .map(|bits| 1.0 + (bits % 4000) as f64 * f64::EPSILON)
        .collect();
    compare(&stats(&dense(&values)), &values);
}

#[test]
fn many_doubles_of_every_size() {
    let values: Vec<f64> = noise(MANY)
        .map(|bits| f64::from_bits(bits & 0x8fff_ffff_ffff_ffff | 0x3000_0000_0000_0000))
        .collect();
    compare(&stats(&dense(&values)), &values);
}

#[test]
fn many_integers() {
    let values: Vec<i32> = noise(MANY).map(|bits| (bits >> 32) as u32 as i32).collect();
    compare(
        &stats(&dense(&values)),
        &values.iter().map(|v| f64::from(*v)).collect::<Vec<_>>(),
    );
    let values: Vec<u8> = noise(MANY).map(|bits| (bits >> 40) as u8).collect();
    compare(
        &stats(&dense(&values)),
        &values.iter().map(|v| f64::from(*v)).collect::<Vec<_>>(),
    );
    let values: Vec<i128> = noise(MANY)
        .map(|bits| i128::from(bits as i64 >> 14))
        .collect();
    compare(
        &stats(&dense(&values)),
        &values.iter().map(|v| *v as f64).collect::<Vec<_>>(),
    );
}

#[test]
fn many_values_of_16_bits() {
    let values: Vec<bf16> = noise(MANY)
        .map(|bits| bf16::from_bits((bits >> 30) as u16 & 0x8fff))
        .collect();
    let doubles: Vec<f64> = values.iter().map(|v| v.to_f64()).collect();
    compare(&stats(&dense(&values)), &doubles);
}

#[test]
fn a_handful_of_every_type() {
    compare(&stats(&dense(&[3_i8, -4, 0, 5])), &[3.0, -4.0, 0.0, 5.0]);
    compare(&stats(&dense(&[true, false, true])), &[1.0, 0.0, 1.0]);
    compare(
        &stats(&dense(&[1.5_f64, -2.5, f64::NAN])),
        &[1.5, -2.5, f64::NAN],
    );
    let halves = [1.5, -2.5, f64::INFINITY];
    compare(&stats(&dense(&halves.map(half::f16::from_f64))), &halves);
    compare(&stats(&dense(&halves.map(tenfold::F128::from))), &halves);
}

#[test]
fn the_ends_of_wide_integers_are_exact() {
    let shown = |stats: Stats| {
        let finite = stats.finite.unwrap();
        [finite.min, finite.max].map(|scalar| {
            let mut text = String::new();
            tenfold::write_number(scalar.number, &scalar.bytes, &mut text);
            text
        })
    };
    let [min, max] = shown(stats(&dense(&[i64::MIN + 1, 0, i64::MAX - 1])));
    assert_eq!(
        (min, max),
        ((i64::MIN + 1).to_string(), (i64::MAX - 1).to_string())
    );
    let [min, max] = shown(stats(&dense(&[7, u128::MAX - 1])));
    assert_eq!((min, max), ("7".into(), (u128::MAX - 1).to_string()));
}

#[test]
fn the_mean_of_the_largest_doubles_is_finite() {
    let finite = stats(&dense(&[f64::MAX; 7])).finite.unwrap();
    assert_eq!((finite.mean, finite.std), (f64::MAX, 0.0));
    let finite = stats(&dense(&[f64::MAX, -f64::MAX])).finite.unwrap();
    assert_eq!((finite.mean, finite.quantiles[3]), (0.0, 0.0));
}

#[test]
fn zeros_that_are_not_stored_count() {
    let values = [-2.0_f32, 5.0, 0.0, 1.0];
    let mut all = vec![0.0; 30];
    all[..4].copy_from_slice(&[-2.0, 5.0, 0.0, 1.0]);
    let found = stats(&sparse(30, &values));
    compare(&found, &all);
    assert_eq!((found.explicit, found.density()), (4, 0.1));
    let values: Vec<f64> = noise(MANY)
        .map(|bits| bits as i64 as f64 * 1e-300)
        .collect();
    let mut all = values.clone();
    all.resize(MANY * 3, 0.0);
    compare(&stats(&sparse(MANY as u64 * 3, &values)), &all);
    let huge = stats(&sparse(1 << 60, &[1.0_f64]));
    assert_eq!((huge.zeros, huge.cells), ((1 << 60) - 1, 1 << 60));
    assert_eq!(huge.finite.unwrap().quantiles, [0.0; 7]);
}

#[test]
fn packed_values_count_as_often_as_they_stand_for_cells() {
    let symmetry = |operation: &str| Symmetry {
        permutation: vec![1, 0],
        operation: operation.into(),
        packed: true,
    };
    let make = |operation, storage| {
        Tensor::new(
            indexed(&[3, 3]),
            DType::real(Number::F64),
            vec![symmetry(operation)],
            storage,
        )
        .unwrap()
    };
    let storage = Storage::Dense {
        order: Order::Column,
        values: Numbers::from_vec(&[1.0_f64, 2.0, 3.0, 4.0, 5.0, 6.0]),
    };
    compare(
        &stats(&make("x", storage)),
        &[1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 5.0, 5.0, 6.0],
    );
    let storage = Storage::Sparse {
        order: Order::Column,
        address: Address::Linear(Numbers::from_vec(&[1_u64, 5])),
        values: Numbers::from_vec(&[1.5_f64, 2.5]),
    };
    let all = [1.5, -1.5, 2.5, -2.5, 0.0, 0.0, 0.0, 0.0, 0.0];
    compare(&stats(&make("-x", storage)), &all);
}

#[test]
fn byte_order_makes_no_difference() {
    let little = Numbers::from_vec(&[1.0_f32, -7.5, 0.0, 3e9]);
    let mut bytes = little.bytes.to_vec().unwrap();
    bytes.chunks_mut(4).for_each(<[u8]>::reverse);
    let values = Numbers {
        number: Number::F32,
        endian: Endian::Big,
        bytes: Bytes::memory(bytes),
    };
    let storage = Storage::Dense {
        order: Order::Row,
        values,
    };
    let big = Tensor::new(indexed(&[4]), DType::real(Number::F32), vec![], storage).unwrap();
    compare(&stats(&big), &[1.0, -7.5, 0.0, 3e9]);
}

#[test]
fn complex_numbers_are_told_by_their_moduli() {
    let storage = Storage::Dense {
        order: Order::Row,
        values: Numbers::from_vec(&[3.0_f32, -4.0, 0.0, 0.0, f32::NAN, f32::INFINITY]),
    };
    let tensor = Tensor::new(indexed(&[3]), "c64".parse().unwrap(), vec![], storage).unwrap();
    let found = stats(&tensor);
    assert!(found.of_moduli);
    compare(&found, &[5.0, 0.0, f64::NAN]);
}

#[test]
fn what_is_wrong_has_a_name() {
    let faults = |values: &[f32]| stats(&dense(values)).findings();
    assert_eq!(
        faults(&[1.0, f32::NAN, f32::INFINITY]),
        [Finding::Nan, Finding::Inf]
    );
    assert_eq!(faults(&[0.0, -0.0]), [Finding::Zero]);
    assert_eq!(faults(&[2.0, 2.0]), [Finding::Constant]);
    assert_eq!(faults(&[2.0, 2.0, f32::NAN]), [Finding::Nan]);
    for fine in [&[][..], &[0.0], &[2.0], &[1.0, 2.0]] {
        assert_eq!(faults(fine), []);
    }
    assert_eq!(stats(&dense::<f32>(&[])).finite, None);
    assert_eq!(stats(&dense(&[f32::NAN; 2])).finite, None);
}

#[test]
fn a_histogram_counts_every_finite_value_once() {
    let tensor = sparse(12, &[-1.0_f64, 3.0, 2.9, f64::NAN, 1.0]);
    let samples = Samples::of(&tensor, &Limits::default()).unwrap();
    let finite = samples.stats().unwrap().finite.unwrap();
    // [-1, 0), [0, 1), [1, 2), [2, 3]; seven zeros are not stored.
    assert_eq!(samples.histogram(&finite, 4).unwrap(), [1, 7, 1, 2]);
    let wide = dense(&[f64::MIN, 0.0, f64::MAX]);
    let samples = Samples::of(&wide, &Limits::default()).unwrap();
    let finite = samples.stats().unwrap().finite.unwrap();
    assert_eq!(samples.histogram(&finite, 3).unwrap(), [1, 1, 1]);
}

#[test]
fn more_cells_than_there_are_is_a_fault() {
    let storage = Storage::Sparse {
        order: Order::Row,
        address: Address::Linear(Numbers::from_vec(&[0_u64, 0, 1])),
        values: Numbers::from_vec(&[1_u8, 2, 3]),
    };
    let tensor = Tensor::new(indexed(&[2]), DType::real(Number::U8), vec![], storage).unwrap();
    let error = Samples::of(&tensor, &Limits::default()).err().unwrap();
    assert_eq!(
        error.to_string(),
        "the cell [0], counted from 0, is given twice (byte 8)"
    );
}
