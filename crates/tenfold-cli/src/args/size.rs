//! Counts and sizes with units.

/// Unit suffixes and their factors.
const UNITS: &[(&str, u64)] = &[
    ("", 1),
    ("b", 1),
    ("k", 1 << 10),
    ("kib", 1 << 10),
    ("kb", 1_000),
    ("m", 1 << 20),
    ("mib", 1 << 20),
    ("mb", 1_000_000),
    ("g", 1 << 30),
    ("gib", 1 << 30),
    ("gb", 1_000_000_000),
    ("t", 1 << 40),
    ("tib", 1 << 40),
    ("tb", 1_000_000_000_000),
];

/// Parses a count or a size, such as `1_000_000`, `64MiB` or `2GB`; a single letter is binary.
pub(super) fn size(text: &str) -> Result<u64, String> {
    let end = text
        .find(|letter: char| !letter.is_ascii_digit() && letter != '_')
        .unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let unit = unit.trim_start().to_ascii_lowercase();
    let number = digits.replace('_', "").parse::<u64>();
    let factor = UNITS.iter().find(|(name, _)| *name == unit);
    match (number, factor) {
        (Ok(number), Some((_, factor))) => number
            .checked_mul(*factor)
            .ok_or_else(|| "more than 2^64-1".into()),
        _ => Err("a number such as 1_000_000, 64MiB or 2GB is wanted".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        assert_eq!(size("1_000_000"), Ok(1_000_000));
        assert_eq!(size("64MiB"), Ok(64 << 20));
        assert_eq!(size("2GB"), Ok(2_000_000_000));
        assert_eq!(size("3 k"), Ok(3072));
        assert_eq!(size("18446744073709551615"), Ok(u64::MAX));
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for text in ["", "MiB", "-1", "1.5GB", "1 MiBs", "_", "99999999999TB"] {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
