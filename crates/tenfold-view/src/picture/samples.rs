//! Tensors for tests, and their cells by plain loops.
