//! Thin adapters over wire formats: offsets and limits.
