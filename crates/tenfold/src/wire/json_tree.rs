//! JSON as a tree, whose memory is estimated before it is built.

use serde_json::Value;

use crate::bytes::to_u64;
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::memory;

/// Parses a whole text.
///
/// # Errors
/// [`Error::Malformed`] if it is not JSON, [`Error::Limit`] if it takes too much memory.
pub(crate) fn parse(text: &[u8], limits: &Limits) -> Result<Value> {
    limits.charge(to_u64(text.len()))?;
    let n_places = n_places(text);
    limits.charge_items::<(String, Value)>(n_places)?;
    // The parser cannot report a failed allocation.
    memory::probe(n_places.saturating_mul(size_of::<(String, Value)>()))?;
    serde_json::from_slice(text).map_err(|error| Error::malformed(None, error.to_string()))
}

/// How many values the lists and objects of a text may allocate room for: each opening bracket
/// allocates several.
fn n_places(text: &[u8]) -> usize {
    /// Smallest allocation of a list or an object.
    const LEAST: usize = 4;
    let (mut count, mut is_text, mut is_escaped) = (0_usize, false, false);
    for byte in text {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_text,
            b'"' => is_text = !is_text,
            b',' if !is_text => count = count.saturating_add(1),
            b'[' | b'{' if !is_text => count = count.saturating_add(LEAST),
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_outside_of_texts() {
        assert_eq!(n_places(br#"{"a,[{\",[": [1, 2, "\\"], "b": {}}"#), 15);
    }

    #[test]
    fn a_tree_that_takes_too_much_is_refused() {
        let limits = || {
            Limits {
                structure: 10_000,
                ..Limits::default()
            }
            .for_file(0)
        };
        assert!(parse(br#"{"a":[1,2]}"#, &limits()).is_ok());
        let error = parse(b"[1", &limits()).unwrap_err();
        assert!(matches!(error, Error::Malformed { .. }), "{error}");
        for text in ["[".repeat(50), format!("[{}0]", "0,".repeat(200))] {
            let error = parse(text.as_bytes(), &limits()).unwrap_err().to_string();
            assert!(error.contains("--max-structure"), "{error}");
        }
    }
}
