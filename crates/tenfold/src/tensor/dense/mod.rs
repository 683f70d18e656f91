//! All cells stored: boxes, strides, reshaping, and transposition in bounded memory.

pub(super) mod permute;
pub(super) mod read_box;
pub(super) mod reshape;
pub(super) mod strided;
pub(super) mod transpose;
