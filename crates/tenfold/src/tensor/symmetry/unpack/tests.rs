use crate::dtype::Number;
use crate::limits::Limits;
use crate::tensor::Symmetry;
use crate::tensor::symmetry::unpack::*;

/// Doubles, with a count of the bytes read.
struct Counted(std::sync::Arc<std::sync::atomic::AtomicU64>);

impl crate::io::Compute for Counted {
    fn len(&self) -> u64 {
        3000 * 3001 / 2 * 8
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<()> {
        self.0
            .fetch_add(to_u64(buffer.len()), std::sync::atomic::Ordering::Relaxed);
        for (byte, at) in buffer.iter_mut().zip(at..) {
            *byte = u8::try_from(at % 251).unwrap();
        }
        Ok(())
    }

    fn for_each(
        &self,
        range: std::ops::Range<u64>,
        _: usize,
        each: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let mut all = vec![0; to_usize(range.end - range.start)?];
        self.read_at(range.start, &mut all)?;
        each(&all)
    }

    fn depth(&self) -> u32 {
        0
    }
}

#[test]
fn a_few_cells_are_had_without_reading_the_others() {
    let dtype = DType::real(Number::F64);
    let symmetry = Symmetry {
        permutation: vec![1, 0],
        operation: "x".into(),
        packed: true,
    };
    let sizes = [3000, 3000];
    let group = Group::generate(&sizes, dtype, &[symmetry], |_| true, &Limits::default());
    let asked = std::sync::Arc::default();
    let source = crate::io::Source::computed(Counted(std::sync::Arc::clone(&asked)));
    let values = Numbers {
        number: Number::F64,
        endian: Endian::Little,
        bytes: crate::bytes::Bytes::whole(source),
    };
    for spare in [0, 1 << 30] {
        let packed = Packed {
            sizes: &sizes,
            dtype,
            group: group.as_ref().unwrap(),
            values: &values,
            spare,
        };
        let mut pair = [[0; 8]; 2];
        let [one, other] = &mut pair;
        packed
            .read_box(&[Slice::one(7), Slice::one(2000)], one)
            .unwrap();
        packed
            .read_box(&[Slice::one(2000), Slice::one(7)], other)
            .unwrap();
        assert_eq!(one, other);
    }
    let asked = asked.load(std::sync::atomic::Ordering::Relaxed);
    assert!(asked < 4 << 20, "{asked} bytes for four cells of 36 MB");
}

/// Distinct stored values, with negatives among them.
fn stored_bytes(group: &Group, dtype: DType) -> Vec<u8> {
    let cells = to_usize(group.stored().unwrap()).unwrap();
    let bytes = (0..cells * dtype.width()).map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()[2]);
    // The smallest integer has no negative.
    bytes.map(|byte| byte & 0x7f).collect()
}

/// The same bytes in memory, in a file, and computed.
fn sources(bytes: &[u8]) -> Vec<crate::bytes::Bytes> {
    struct Worked(Vec<u8>);
    impl crate::io::Compute for Worked {
        fn len(&self) -> u64 {
            to_u64(self.0.len())
        }
        fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<()> {
            let at = to_usize(at)?;
            buffer.copy_from_slice(&self.0[at..at + buffer.len()]);
            Ok(())
        }
        fn depth(&self) -> u32 {
            0
        }
    }
    let file = crate::io::Scratch::of_len(0, &Limits::default()).unwrap();
    crate::io::append_at(&file, bytes, 0).unwrap();
    let file = file.into_source().unwrap();
    let worked = crate::io::Source::computed(Worked(bytes.to_vec()));
    vec![
        crate::bytes::Bytes::memory(bytes.to_vec()),
        crate::bytes::Bytes::whole(file),
        crate::bytes::Bytes::whole(worked),
    ]
}

/// A row-major box with its dimensions in the order `axes`.
fn moved(row_major: &[u8], slices: &[Slice], axes: &[usize], width: usize) -> Vec<u8> {
    let counts: Vec<u64> = slices.iter().map(|slice| slice.count).collect();
    let seen: Vec<u64> = axes.iter().map(|axis| counts[*axis]).collect();
    let (mut place, mut index) = (vec![0; axes.len()], vec![0; axes.len()]);
    let mut out = Vec::new();
    for cell in 0..seen.iter().product() {
        unravel_in(cell, &seen, Order::Row, &mut place);
        for (axis, place) in axes.iter().zip(&place) {
            index[*axis] = *place;
        }
        let at = to_usize(crate::tensor::index::slice::ravel_in(
            &index,
            &counts,
            Order::Row,
        ))
        .unwrap();
        out.extend_from_slice(&row_major[at * width..][..width]);
    }
    out
}

#[test]
fn all_ways_give_the_same_box() {
    let cases: [(&[u64], &[usize]); 11] = [
        (&[4, 4], &[1, 0]),
        (&[19, 19], &[1, 0]),
        (&[5, 3, 3], &[0, 2, 1]),
        (&[3, 2, 3, 2], &[2, 1, 0, 3]),
        (&[3, 2, 3, 2], &[2, 3, 0, 1]),
        (&[5, 4, 5, 4], &[2, 3, 0, 1]),
        (&[4, 4, 4], &[1, 2, 0]),
        (&[7, 7, 7], &[2, 0, 1]),
        (&[3, 3, 3, 3], &[1, 2, 3, 0]),
        (&[2, 1, 2, 1, 3], &[2, 3, 0, 1, 4]),
        (&[3, 0, 3], &[2, 1, 0]),
    ];
    let dtypes = [
        DType::real(Number::I8),
        DType::real(Number::F32),
        DType::complex(Number::F64),
        DType::complex(Number::I16),
    ];
    for (sizes, permutation) in cases {
        let codes = ["x", "-x", "x*", "-x*"];
        for (operation, dtype) in codes
            .iter()
            .flat_map(|code| dtypes.map(|dtype| (code, dtype)))
        {
            let symmetry = Symmetry {
                permutation: permutation.to_vec(),
                operation: (*operation).into(),
                packed: true,
            };
            let limits = Limits::default();
            let group = Group::generate(sizes, dtype, &[symmetry], |_| true, &limits).unwrap();
            let bytes = stored_bytes(&group, dtype);
            for (source, bytes) in sources(&bytes).into_iter().enumerate() {
                let values = Numbers {
                    number: dtype.number,
                    endian: if source == 1 {
                        Endian::Little
                    } else {
                        Endian::Big
                    },
                    bytes,
                };
                let packed = |spare| Packed {
                    sizes,
                    dtype,
                    group: &group,
                    values: &values,
                    spare,
                };
                let words = format!("{sizes:?} {permutation:?} {operation} {dtype} {source}");
                check_boxes(&packed, &words);
            }
        }
    }
}

/// Boxes of a packed tensor, read in every way.
fn check_boxes<'a>(packed: &dyn Fn(u64) -> Packed<'a>, words: &str) {
    let Packed {
        sizes,
        dtype,
        group,
        ..
    } = packed(0);
    let width = dtype.width();
    let whole: Vec<Slice> = sizes.iter().map(|size| Slice::all(*size)).collect();
    let part = sizes.iter().map(|size| Slice::range((*size).min(1)..*size));
    let first = sizes.iter().map(|size| Slice::range(0..size.div_ceil(2)));
    let uneven = sizes.iter().zip([1, 0, 2, 0, 1]);
    let uneven = uneven.map(|(size, from)| Slice::range(from.min(*size)..*size));
    let apart = sizes.iter().map(|size| Slice {
        start: 0,
        count: size.div_ceil(2),
        step: 2,
    });
    let forward: Vec<usize> = (0..sizes.len()).collect();
    let backward: Vec<usize> = forward.iter().rev().copied().collect();
    let mut turned = backward.clone();
    turned.rotate_left(1);
    for slices in [
        whole,
        part.collect(),
        first.collect(),
        uneven.collect(),
        apart.collect(),
    ] {
        let slices: Vec<Slice> = slices;
        let cells: u64 = slices.iter().map(|slice| slice.count).product();
        let mut walked = vec![1; to_usize(cells).unwrap() * width];
        packed(0).walk(&slices, &mut walked).unwrap();
        if let Some(closed) = group.transposition() {
            let mut found = vec![1; walked.len()];
            packed(0).look_up(&closed, &slices, &mut found).unwrap();
            assert_eq!(found, walked, "{words} {slices:?}");
        }
        for spare in [0, 1 << 20] {
            let mut found = vec![1; walked.len()];
            packed(spare).read_box(&slices, &mut found).unwrap();
            assert_eq!(found, walked, "{words} {slices:?} {spare}");
        }
        let packed = packed(1 << 20);
        let Some(mut mirror) = Mirror::new(&packed)
            .unwrap()
            .filter(|_| has_no_steps(&slices))
        else {
            continue;
        };
        for axes in [&forward, &backward, &turned] {
            let wanted = moved(&walked, &slices, axes, width);
            for (tile, threads) in [(1, 3), (3 * width, 1), (16 * width, 2), (1 << 18, 1)] {
                mirror.tile = tile;
                mirror.threads = crate::io::Threads::Exactly(threads);
                let mut found = vec![1; walked.len()];
                mirror.fill(&slices, axes, &mut found).unwrap();
                assert_eq!(found, wanted, "{words} {slices:?} {axes:?} {tile}");
            }
        }
    }
}
