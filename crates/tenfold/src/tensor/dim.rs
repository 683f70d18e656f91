//! Dimensions.

/// One dimension of a tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dim {
    /// What it is called, where somebody chose a name.
    pub name: Option<String>,
    /// How its places are told apart.
    pub size: Size,
}

/// How the places along a dimension are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// By position, from zero to one less than this.
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

    /// How many places there are; `None` for a mapped dimension.
    #[must_use]
    pub fn indexed_size(&self) -> Option<u64> {
        match self.size {
            Size::Indexed(size) => Some(size),
            Size::Mapped => None,
        }
    }
}

/// The product of sizes: zero if any is zero, whatever the others; `None` if it overflows.
#[must_use]
pub(crate) fn product(sizes: &[u64]) -> Option<u128> {
    product_of(sizes.iter().copied())
}

/// [`product`] of sizes that are not in a row.
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
    fn a_zero_beside_huge_sizes_makes_an_empty_tensor() {
        assert_eq!(product(&[u64::MAX, u64::MAX, u64::MAX, 0]), Some(0));
        assert_eq!(product(&[u64::MAX, u64::MAX, u64::MAX]), None);
        assert_eq!(product(&[]), Some(1));
    }
}
