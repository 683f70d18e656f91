//! Tensors made from others, against plain loops over their cells.

mod samples;
mod shape;
