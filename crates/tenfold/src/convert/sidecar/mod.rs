//! Everything that a target format has no field for, carried as one JSON text.

pub(super) mod opaque;
pub(super) mod read;
pub(super) mod train;
pub(super) mod value;
pub(super) mod write;
