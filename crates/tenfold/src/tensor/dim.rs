//! Dimensions: their names, sizes and addressing.

use std::sync::Arc;

/// One dimension of a tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dim {
    /// The name, if one was given.
    pub name: Option<String>,
    /// Size and addressing.
    pub size: Size,
}

/// How indices along a dimension are addressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// By position, from zero to one less than this size.
    Indexed(u64),
    /// By label.
    Mapped,
}

impl Dim {
    /// A dimension without a name.
    #[must_use]
    pub fn indexed(size: u64) -> Dim {
        Dim {
            name: None,
            size: Size::Indexed(size),
        }
    }

    /// A dimension addressed by label.
    #[must_use]
    pub fn mapped(name: impl Into<String>) -> Dim {
        Dim {
            name: Some(name.into()),
            size: Size::Mapped,
        }
    }

    /// The same dimension with a name.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Dim {
        self.name = Some(name.into());
        self
    }

    /// The size; `None` for a mapped dimension.
    #[must_use]
    pub fn indexed_size(&self) -> Option<u64> {
        match self.size {
            Size::Indexed(size) => Some(size),
            Size::Mapped => None,
        }
    }
}

/// Shapes shared by many tensors of a file, each allocated once: a model has few.
#[derive(Debug)]
pub(crate) struct Shapes(Vec<Option<Arc<[Dim]>>>);

impl Shapes {
    /// Most shapes remembered; others are allocated again.
    const MANY: u64 = 64;

    pub(crate) fn new() -> Shapes {
        Shapes((0..Shapes::MANY).map(|_| None).collect())
    }

    /// Unnamed dimensions of these sizes.
    pub(crate) fn of(&mut self, sizes: &[u64]) -> Arc<[Dim]> {
        // Any hash will do.
        let mixed = sizes.iter().fold(0_u64, |mixed, size| {
            (mixed ^ size).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        });
        let make = || sizes.iter().copied().map(Dim::indexed).collect();
        let place = usize::try_from(mixed >> 32 & (Shapes::MANY - 1));
        let slot = place.ok().and_then(|place| self.0.get_mut(place));
        match slot {
            Some(Some(dims)) if has_sizes(dims, sizes) => dims.clone(),
            Some(slot) => slot.insert(make()).clone(),
            None => make(),
        }
    }
}

fn has_sizes(dims: &[Dim], sizes: &[u64]) -> bool {
    let own = dims.iter().filter_map(Dim::indexed_size);
    own.eq(sizes.iter().copied())
}

/// The product of sizes: zero if any is zero, whatever the others; `None` if it overflows.
#[must_use]
pub(crate) fn product(sizes: &[u64]) -> Option<u128> {
    product_of(sizes.iter().copied())
}

/// [`product`] of sizes in any iterator.
pub(super) fn product_of(mut sizes: impl Iterator<Item = u64> + Clone) -> Option<u128> {
    if sizes.clone().any(|size| size == 0) {
        return Some(0);
    }
    sizes.try_fold(1_u128, |all, size| all.checked_mul(size.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_that_are_alike_are_made_once() {
        let mut shapes = Shapes::new();
        let first = shapes.of(&[2, 3]);
        assert!(Arc::ptr_eq(&first, &shapes.of(&[2, 3])));
        for size in 0..1000 {
            let made = shapes.of(&[size, 3]);
            assert_eq!(*made, [Dim::indexed(size), Dim::indexed(3)]);
        }
        assert_eq!(*shapes.of(&[]), []);
    }

    #[test]
    fn a_zero_beside_huge_sizes_makes_an_empty_tensor() {
        assert_eq!(product(&[u64::MAX, u64::MAX, u64::MAX, 0]), Some(0));
        assert_eq!(product(&[u64::MAX, u64::MAX, u64::MAX]), None);
        assert_eq!(product(&[]), Some(1));
    }
}
