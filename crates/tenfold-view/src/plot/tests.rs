//! Pictures against what is computed by hand.
