//! Tests of size arithmetic at its limits: zero, one and both sides of every power of two, in every
//! argument, against sums and products of unlimited precision.

use crate::bytes::{Bytes, Column, Extent, Scan, to_u64, to_usize};
use crate::io::Source;
use crate::limits::Limits;
use crate::tensor::{Group, Symmetry, product};

/// 0, 1, and 2^k with its neighbors.
fn ends(powers: impl Iterator<Item = u32>) -> Vec<u64> {
    let around = |power: u32| {
        let middle = 1_u64 << power;
        [middle - 1, middle, middle + 1]
    };
    let mut ends: Vec<u64> = powers
        .flat_map(around)
        .chain([0, 1, u64::MAX - 1, u64::MAX])
        .collect();
    ends.sort_unstable();
    ends.dedup();
    ends
}

fn all_ends() -> Vec<u64> {
    ends(1..64)
}

/// Few enough for all combinations of four.
fn some_ends() -> Vec<u64> {
    ends([2, 16, 21, 31, 32, 33, 42, 63].into_iter())
}

/// An integer of any length, in digits of 32 bits, the lowest first.
#[derive(Clone)]
struct Long(Vec<u32>);

impl Long {
    fn new(number: u64) -> Long {
        Long(vec![low(number), low(number >> 32)])
    }

    fn times(&self, other: &Long) -> Long {
        let mut digits = vec![0_u32; self.0.len() + other.0.len()];
        for (place, left) in self.0.iter().enumerate() {
            let mut carry = 0_u64;
            for (offset, right) in other.0.iter().enumerate() {
                let at = place + offset;
                let sum = u64::from(*left) * u64::from(*right) + u64::from(digits[at]) + carry;
                digits[at] = low(sum);
                carry = sum >> 32;
            }
            digits[place + other.0.len()] = low(carry);
        }
        Long(digits)
    }

    /// The number, if it is below 2^128.
    fn get(&self) -> Option<u128> {
        let (few, more) = self.0.split_at(self.0.len().min(4));
        let is_zero = more.iter().all(|digit| *digit == 0);
        let number = few
            .iter()
            .rev()
            .fold(0, |all, digit| all << 32 | u128::from(*digit));
        is_zero.then_some(number)
    }
}

fn low(number: u64) -> u32 {
    u32::try_from(number & u64::from(u32::MAX)).unwrap()
}

fn expected(sizes: &[u64]) -> Option<u128> {
    let all = sizes
        .iter()
        .fold(Long::new(1), |all, size| all.times(&Long::new(*size)));
    all.get()
}

#[test]
fn the_product_of_any_sizes_is_right_or_there_is_none() {
    assert_eq!(product(&[]), Some(1));
    for first in all_ends() {
        assert_eq!(product(&[first]), Some(first.into()));
        for second in all_ends() {
            let sizes = [first, second];
            assert_eq!(product(&sizes), expected(&sizes), "{sizes:?}");
        }
    }
    for first in some_ends() {
        for second in some_ends() {
            for third in some_ends() {
                for fourth in some_ends() {
                    let sizes = [first, second, third, fourth];
                    assert_eq!(product(&sizes), expected(&sizes), "{sizes:?}");
                }
            }
        }
    }
}

#[test]
fn a_column_ends_where_it_does_or_is_refused() {
    let (ends, memory) = (some_ends(), Source::memory(vec![0; 8]));
    for first in &ends {
        for width in &ends {
            for stride in &ends {
                for count in &ends {
                    let extent = Extent::from(Column {
                        first: *first,
                        width: *width,
                        stride: *stride,
                        count: *count,
                    });
                    let [first, width, stride, count] =
                        [first, width, stride, count].map(|n| u128::from(*n));
                    // At most 2^128 - 1, so that it always fits.
                    let last = first + width + stride * count.saturating_sub(1);
                    let fits = last <= u64::MAX.into() && width * count <= u64::MAX.into();
                    let end = match count {
                        0 => Some(first),
                        _ => fits.then_some(last),
                    };
                    let found = extent.span().map(|span| u128::from(span.end));
                    assert_eq!(found, end, "{extent:?}");
                    // An empty range is in bounds anywhere.
                    let is_there = end.is_some_and(|end| end <= 8 || width * count == 0);
                    assert_eq!(
                        Bytes::part(&memory, extent.clone()).is_ok(),
                        is_there,
                        "{extent:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_run_is_there_or_refused() {
    let source = Source::memory(vec![0; 64]);
    for start in all_ends() {
        for end in all_ends() {
            let is_there = start <= end && (end <= 64 || start == end);
            let run = Bytes::run(&source, start..end);
            assert_eq!(run.is_ok(), is_there, "{start}..{end}");
            let whole = Bytes::whole(source.clone());
            let is_within = start <= end && end <= 64;
            let within = whole.run_within(start..end);
            assert_eq!(within.is_some(), is_within, "{start}..{end}");
            let mut buffer = vec![0; usize::try_from(end.min(70)).unwrap()];
            let fits = u128::from(start) + u128::from(end.min(70)) <= 64;
            assert_eq!(whole.read_at(start, &mut buffer).is_ok(), fits, "{start}");
        }
    }
}

#[test]
fn room_is_never_made_for_more_than_there_is() {
    let source = Source::memory(vec![0; 1024]);
    let scan = Scan::new(&source, "test");
    for count in all_ends() {
        for least in all_ends() {
            let most = u128::from(count).min(1024 / u128::from(least.max(1)));
            let room = scan.room(count, least);
            assert_eq!(u128::from(to_u64(room)), most, "{count} of {least}");
        }
    }
}

#[test]
fn a_scan_goes_no_further_than_its_end() {
    let source = Source::memory(vec![0; 1024]);
    for at in all_ends() {
        for len in all_ends() {
            let mut scan = Scan::new(&source, "test");
            assert_eq!(scan.seek(at).is_ok(), at <= 1024, "{at}");
            if at <= 1024 {
                let fits = u128::from(at) + u128::from(len) <= 1024;
                assert_eq!(scan.skip(len).is_ok(), fits, "{at} + {len}");
                let fits = u128::from(scan.at()) + u128::from(len) <= 1024;
                assert_eq!(scan.take(len).is_ok(), fits, "{} + {len}", scan.at());
            }
        }
    }
}

#[test]
fn a_ratio_is_compared_without_a_quotient() {
    for stored in some_ends() {
        for decoded in some_ends() {
            for ratio in some_ends() {
                let limits = Limits {
                    ratio,
                    ..Limits::default()
                };
                let fits = u128::from(stored) * u128::from(ratio) >= decoded.into();
                let found = limits.check_ratio(stored, decoded);
                assert_eq!(
                    found.is_ok(),
                    fits,
                    "{decoded} of {stored}, {ratio} allowed"
                );
            }
        }
    }
}

#[test]
fn lengths_are_as_wide_as_memory() {
    for len in all_ends() {
        let fits = u128::from(len) <= u128::from(to_u64(usize::MAX));
        assert_eq!(to_usize(len).is_ok(), fits);
        assert_eq!(to_usize(len).map(to_u64).ok(), fits.then_some(len));
    }
}

#[test]
fn a_triangle_has_half_the_cells_of_its_square_or_too_many() {
    let symmetry = |operation: &str| Symmetry {
        permutation: vec![1, 0],
        operation: operation.into(),
        packed: true,
    };
    for size in all_ends() {
        for (operation, with_diagonal) in [("x", true), ("-x", false)] {
            let dtype = "f64".parse().unwrap();
            let group = Group::generate(
                &[size, size],
                dtype,
                &[symmetry(operation)],
                |_| true,
                &Limits::default(),
            );
            let group = group.unwrap();
            let other = if with_diagonal {
                u128::from(size) + 1
            } else {
                u128::from(size).saturating_sub(1)
            };
            let cells = Long::new(size).times(&Long::new(u64::try_from(other).unwrap_or(u64::MAX)));
            let half = match u64::try_from(other) {
                Ok(_) => cells.get().map(|cells| cells / 2),
                Err(_) => None,
            };
            let stored = half.and_then(|half| u64::try_from(half).ok());
            assert_eq!(group.stored(), stored, "{size} {operation}");
        }
    }
}
