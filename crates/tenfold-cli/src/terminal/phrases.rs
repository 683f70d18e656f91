//! Phrases for properties of tensors, in text output.

use std::fmt::Display;

use tenfold::{
    Address, DimNames, Names, Size, Storage, StorageKind, Tensor, When, measure_text, scaled_text,
};

/// A count and its noun, such as `1 tensor` or `3 tensors`.
pub(crate) fn counted(count: impl Into<u128>, noun: &str) -> String {
    match count.into() {
        1 => format!("1 {noun}"),
        count => format!("{count} {noun}s"),
    }
}

/// A rounded number: exact while it is short, then abbreviated, such as `1.2 M`.
pub(crate) fn count_text(count: u128) -> String {
    const UNITS: &[(&str, u128)] = &[
        ("T", 1_000_000_000_000),
        ("B", 1_000_000_000),
        ("M", 1_000_000),
        ("k", 1_000),
    ];
    scaled_text(count, 10_000, UNITS).unwrap_or_else(|| count.to_string())
}

/// The dimensions, such as `[2, 3]` or `[x=2, brand={}]`, where `{}` is a mapped one; a long list
/// is abbreviated.
pub(crate) fn shape_text(tensor: &Tensor) -> String {
    /// The most that are listed.
    const MANY: usize = 12;
    let dims: Vec<String> = tensor
        .dims()
        .iter()
        .map(|dim| {
            let size = match dim.size {
                Size::Indexed(size) => size.to_string(),
                Size::Mapped => "{}".into(),
            };
            match &dim.name {
                Some(name) => format!("{name}={size}"),
                None => size,
            }
        })
        .collect();
    match dims.as_slice() {
        [a, b, c, between @ .., x, y, z] if dims.len() > MANY => {
            let more = between.len();
            format!("[{a}, {b}, {c}, ... {more} more, {x}, {y}, {z}]")
        }
        dims => format!("[{}]", dims.join(", ")),
    }
}

/// The storage, such as `dense, packed 6 of 9` or `train, ranks 1 2 1`.
pub(crate) fn cells_text(tensor: &Tensor) -> String {
    let stored = tensor.stored();
    let all = match tensor.cells() {
        Some(cells) => cells.to_string(),
        None => "more than 2^128".into(),
    };
    match tensor.storage() {
        Storage::Dense { .. } if tensor.is_packed() => format!("dense, packed {stored} of {all}"),
        Storage::Dense { .. } => "dense".into(),
        Storage::Sparse {
            address: Address::Labels,
            ..
        } => format!("sparse, {}", counted(stored, "block")),
        Storage::Sparse { .. } if tensor.is_packed() => {
            format!("sparse, packed {stored} of {all}")
        }
        Storage::Sparse { .. } => format!("sparse, {stored} of {all}"),
        Storage::Train { ranks, .. } => format!("train, ranks {}", ranks_text(ranks, 9)),
        Storage::Opaque { .. } if tensor.is_quantized() => "quantised".into(),
        Storage::Opaque { layout, .. } => format!("opaque, {layout}"),
    }
}

/// The element type; for quantized tensors, the block type.
pub(crate) fn dtype_text(tensor: &Tensor) -> String {
    match tensor.storage() {
        Storage::Opaque { layout, .. } if tensor.is_quantized() => layout.clone(),
        _ => tensor.dtype().to_string(),
    }
}

/// The ranks of a train; if there are more than `most_listed`, the largest.
pub(crate) fn ranks_text<T: Display + Ord>(ranks: &[T], most_listed: usize) -> String {
    match ranks.iter().max() {
        Some(most) if ranks.len() > most_listed => format!("up to {most}"),
        _ => {
            let ranks: Vec<String> = ranks.iter().map(T::to_string).collect();
            ranks.join(" ")
        }
    }
}

/// Bytes of all cells of a tensor in their own number type, saturating.
pub(crate) fn dense_len(tensor: &Tensor) -> u128 {
    let width = u128::try_from(tensor.dtype().width()).unwrap_or(u128::MAX);
    let cells = tensor.cells().unwrap_or(u128::MAX);
    cells.saturating_mul(width)
}

/// The ratio of two sizes, such as `12.5 times smaller`.
pub(crate) fn ratio_text(before: impl Into<u128>, after: u64) -> String {
    let (before, after) = (before.into(), u128::from(after));
    if before == u128::MAX {
        // Too large to count.
        let least = measure_text(ratio(before, 1) / ratio(after, 1), 2);
        return format!("more than {least} times smaller");
    }
    let tenths = |one: u128, other: u128| {
        let other = other.max(1);
        let tenths = one.saturating_mul(10).saturating_add(other / 2) / other;
        format!("{}.{}", tenths / 10, tenths % 10)
    };
    if after <= before {
        format!("{} times smaller", tenths(before, after))
    } else {
        format!("{} times larger", tenths(after, before))
    }
}

/// The phrase for a tensor that has not become smaller.
pub(crate) fn growth_text(before: u64, after: u64) -> String {
    if after == before {
        "no smaller".into()
    } else {
        ratio_text(before, after)
    }
}

/// The ratio of two sizes.
pub(crate) fn ratio(before: impl Into<u128>, after: u64) -> f64 {
    #[expect(clippy::as_conversions, reason = "no reader needs more digits")]
    let ratio = before.into() as f64 / after.max(1) as f64;
    ratio
}

/// A measure of which only the magnitude matters, such as `1.23e-7`.
pub(crate) fn rough(value: f64) -> String {
    measure_text(value, 3)
}

pub(crate) fn names_text(names: Names) -> &'static str {
    match names {
        Names::One => "one",
        Names::Flat => "flat",
        Names::Tree => "tree",
    }
}

pub(crate) fn kind_text(kind: StorageKind) -> &'static str {
    match kind {
        StorageKind::Dense => "dense",
        StorageKind::Sparse => "sparse",
        StorageKind::Labelled => "labelled",
        StorageKind::Train => "train",
        StorageKind::Opaque => "opaque",
    }
}

pub(crate) fn dim_names_text(names: DimNames) -> &'static str {
    match names {
        DimNames::No => "none",
        DimNames::Batch => "batch",
        DimNames::Letter => "letter",
        DimNames::Required => "required",
        DimNames::Any => "any",
    }
}

pub(crate) fn when_text(when: When) -> &'static str {
    match when {
        When::Read => "read",
        When::Write => "write",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_rounded_and_never_of_what_cannot_be_counted() {
        assert_eq!(ratio_text(96_u64, 10), "9.6 times smaller");
        assert_eq!(ratio_text(1059_u64, 1000), "1.1 times smaller");
        assert_eq!(ratio_text(10_u64, 96), "9.6 times larger");
        assert_eq!(ratio_text(u128::MAX, 34), "more than 1e37 times smaller");
    }

    #[test]
    fn counts_are_said_as_they_are_spoken() {
        assert_eq!(count_text(9_999), "9999");
        assert_eq!(count_text(10_000), "10.0 k");
        assert_eq!(count_text(1_299_999), "1.3 M");
        assert_eq!(count_text(999_999), "1.0 M");
        assert_eq!(count_text(7_000_000_000), "7.0 B");
        assert_eq!(count_text(u64::MAX.into()), "18446744.1 T");
    }
}
