//! Transposition against a loop over all cells: too slow for Miri, which runs the tests of the
//! parts.
#![cfg(not(miri))]

use std::io::Write;

use super::View;
use crate::bytes::{Bytes, Endian, to_u64};
use crate::dtype::{DType, Number, Numbers};
use crate::io::{Compute, Source, Threads};
use crate::limits::Limits;
use crate::tensor::index::slice::{ravel_in, unravel_in};
use crate::tensor::{Dim, Order, Slice, Storage, Tensor};

/// All orders of so many dimensions.
fn permutations(ndim: usize) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    for place in 0..ndim {
        all = all
            .iter()
            .flat_map(|shorter: &Vec<usize>| {
                (0..=shorter.len()).map(move |at| {
                    let mut longer = shorter.clone();
                    longer.insert(at, place);
                    longer
                })
            })
            .collect();
    }
    all
}

/// Bytes that identify their positions.
fn made(len: u64) -> Vec<u8> {
    (0..len)
        .map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56).to_le_bytes()[0])
        .collect()
}

fn in_file(bytes: &[u8]) -> Bytes {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    Bytes::whole(Source::file(file).unwrap())
}

fn tensor(sizes: &[u64], dtype: DType, order: Order, endian: Endian, bytes: Bytes) -> Tensor {
    let values = Numbers {
        number: dtype.number,
        endian,
        bytes,
    };
    let dims = sizes.iter().copied().map(Dim::indexed).collect();
    Tensor::new(dims, dtype, vec![], Storage::Dense { order, values }).unwrap()
}

/// The expected result of a transposition, cell by cell.
fn naive(
    bytes: &[u8],
    sizes: &[u64],
    dtype: DType,
    order: Order,
    endian: Endian,
    axes: &[usize],
) -> Vec<u8> {
    let seen: Vec<u64> = axes.iter().map(|axis| sizes[*axis]).collect();
    let width = dtype.width();
    let mut index = vec![0; sizes.len()];
    let mut place = vec![0; sizes.len()];
    let mut out = Vec::new();
    for cell in 0..to_u64(bytes.len() / width) {
        unravel_in(cell, &seen, Order::Row, &mut index);
        for (axis, item) in axes.iter().zip(&index) {
            place[*axis] = *item;
        }
        let from = usize::try_from(ravel_in(&place, sizes, order)).unwrap() * width;
        let mut element = bytes[from..from + width].to_vec();
        if endian == Endian::Big {
            element
                .chunks_exact_mut(dtype.number.width())
                .for_each(<[u8]>::reverse);
        }
        out.extend(element);
    }
    out
}

/// Reads a view in three ways, with several budgets and numbers of threads, from memory and a file.
fn check(sizes: &[u64], dtype: DType, order: Order, endian: Endian, axes: &[usize]) {
    let cells: u64 = sizes.iter().product();
    let bytes = made(cells * to_u64(dtype.width()));
    let wanted = naive(&bytes, sizes, dtype, order, endian, axes);
    let len = to_u64(bytes.len());
    let sources = [Bytes::memory(bytes.clone()), in_file(&bytes)];
    let ways = sources.iter().flat_map(|bytes| {
        [(1 << 20, 1), (len, 3), (len / 3, 2), (len / 9, 1)].map(|(m, t)| (bytes.clone(), m, t))
    });
    for (bytes, memory, threads) in ways {
        let about = || format!("{sizes:?} {dtype} {order:?} {axes:?} in {memory} on {threads}");
        let limits = Limits {
            memory,
            ..Limits::default()
        };
        let tensor = tensor(sizes, dtype, order, endian, bytes);
        let view = View::new(
            &tensor,
            sizes.iter().copied().map(Slice::all).collect(),
            axes.to_vec(),
            len,
            &limits,
            Threads::Exactly(threads),
        )
        .unwrap();
        let mut all = Vec::new();
        view.for_each(0..len, 1000, &mut |piece| {
            all.extend_from_slice(piece);
            Ok(())
        })
        .unwrap();
        assert!(all == wanted, "{}", about());
        let (from, to) = (all.len() / 5, all.len() - all.len() / 7);
        let mut part = vec![0; to - from];
        view.read_at(to_u64(from), &mut part).unwrap();
        assert!(part == wanted[from..to], "a part of {}", about());
    }
}

#[test]
fn every_permutation_of_few_dimensions_is_as_cell_by_cell() {
    let u16 = DType::real(Number::U16);
    for (sizes, order) in [
        (&[][..], Order::Row),
        (&[7], Order::Column),
        (&[5, 3], Order::Column),
        (&[0, 4], Order::Column),
        (&[4, 1, 6], Order::Row),
        (&[7, 11, 5], Order::Column),
        (&[3, 1, 5, 2], Order::Row),
        (&[2, 3, 4, 5], Order::Column),
    ] {
        for axes in permutations(sizes.len()) {
            check(sizes, u16, order, Endian::Little, &axes);
        }
    }
}

#[test]
fn many_dimensions_are_as_cell_by_cell() {
    let f32 = DType::real(Number::F32);
    let axes = [[4, 3, 2, 1, 0], [2, 0, 4, 1, 3], [0, 4, 1, 3, 2]];
    axes.iter()
        .for_each(|axes| check(&[3, 4, 2, 5, 3], f32, Order::Row, Endian::Big, axes));
    for axes in [[5, 4, 3, 2, 1, 0], [1, 3, 5, 0, 2, 4], [0, 1, 5, 2, 3, 4]] {
        check(
            &[2, 3, 2, 3, 2, 3],
            f32,
            Order::Column,
            Endian::Little,
            &axes,
        );
    }
}

#[test]
fn elements_of_every_width_are_as_cell_by_cell_in_either_byte_order() {
    for number in [
        Number::U8,
        Number::Bf16,
        Number::F32,
        Number::F64,
        Number::F128,
    ] {
        for arity in crate::dtype::Arity::ALL {
            let dtype = DType {
                number,
                arity: *arity,
            };
            for endian in [Endian::Little, Endian::Big] {
                check(&[13, 3, 17], dtype, Order::Column, endian, &[0, 1, 2]);
                check(&[13, 3, 17], dtype, Order::Row, endian, &[1, 2, 0]);
            }
        }
    }
}

#[test]
fn tiles_that_are_not_full_are_as_cell_by_cell() {
    let tiles = [
        (Number::U8, [131, 257]),
        (Number::U16, [129, 127]),
        (Number::F64, [67, 97]),
        (Number::F128, [33, 31]),
    ];
    for (number, sizes) in tiles {
        check(
            &sizes,
            DType::real(number),
            Order::Column,
            Endian::Little,
            &[0, 1],
        );
    }
    // Runs of three bytes, of five numbers, and of half a kilobyte.
    check(
        &[40, 50, 3],
        DType::real(Number::U8),
        Order::Row,
        Endian::Little,
        &[1, 0, 2],
    );
    check(
        &[40, 9, 5],
        DType::real(Number::F64),
        Order::Row,
        Endian::Big,
        &[1, 0, 2],
    );
    check(
        &[9, 7, 64],
        DType::real(Number::F64),
        Order::Row,
        Endian::Big,
        &[1, 0, 2],
    );
}
