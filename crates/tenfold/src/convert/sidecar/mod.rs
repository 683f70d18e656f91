//! What a format has no field for, as one JSON text, and back.

pub(super) mod opaque;
pub(super) mod read;
pub(super) mod train;
pub(super) mod value;
pub(super) mod write;
