//! Pictures against plain loops.
