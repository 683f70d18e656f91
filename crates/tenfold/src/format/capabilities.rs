//! Capabilities of a format, as data: storage, names, element types, metadata.

use crate::dtype::{Arity, Number};
use crate::tensor::Order;

/// The capabilities of a format, as data.
#[derive(Debug)]
pub struct Capabilities {
    /// The number of tensors, and their naming.
    pub names: Names,
    /// The number types.
    pub numbers: &'static [Number],
    /// The numbers of components of an element.
    pub arities: &'static [Arity],
    /// The kinds of storage.
    pub kinds: &'static [StorageKind],
    /// The orders of dense values.
    pub orders: &'static [Order],
    /// The least and the greatest number of dimensions.
    pub ndim: (u64, u64),
    /// The least and the greatest size of a dimension.
    pub size: (u64, u64),
    /// Whether dimensions have names, and which.
    pub dim_names: DimNames,
    /// Whether symmetries are declared.
    pub symmetry: bool,
    /// Whether tensors have statistics.
    pub state: bool,
    /// Whether files and tensors have user metadata.
    pub meta: MetaSupport,
    /// Where a sidecar can be stored: text that restores what the format has no field for.
    pub carries: SidecarSlot,
}

/// The naming of tensors in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    /// A single unnamed tensor.
    One,
    /// By a plain name.
    Flat,
    /// By a path.
    Tree,
}

/// Kinds of storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StorageKind {
    /// Every cell.
    Dense,
    /// Cells by position.
    Sparse,
    /// Blocks by label.
    Labelled,
    /// Tensor trains.
    Train,
    /// Opaque bytes.
    Opaque,
}

/// The names that dimensions can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DimNames {
    /// None.
    No,
    /// `batch` alone, and only for the last dimension.
    Batch,
    /// One byte each.
    Letter,
    /// Any; an unnamed dimension gets one.
    Required,
    /// Any, or none.
    Any,
}

/// Where user metadata can be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetaSupport {
    /// With the file.
    pub file: bool,
    /// With each tensor.
    pub tensor: bool,
}

/// Where a format can store text that this library restores and other programs ignore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SidecarSlot {
    /// Nowhere.
    No,
    /// In the metadata of each tensor; that of the file is stored with the first.
    Tensor,
    /// In the metadata of the file.
    File,
    /// In a comment of the file, with limited length.
    Comment,
}

impl SidecarSlot {
    /// Whether there is one text for the whole file.
    pub(crate) fn is_for_file(self) -> bool {
        match self {
            SidecarSlot::No | SidecarSlot::Tensor => false,
            SidecarSlot::File | SidecarSlot::Comment => true,
        }
    }
}
