//! Tensors made from others, against plain loops over their cells.

mod cast;
mod samples;
mod shape;
