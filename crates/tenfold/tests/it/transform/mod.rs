//! Tensors made from others, against plain loops over their cells.

mod cast;
mod detect;
mod kinds;
mod samples;
mod shape;
mod symmetrized;
