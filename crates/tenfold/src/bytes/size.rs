//! Sizes as people read them.

/// A number of bytes, rounded down to a tenth of the unit that fits, such as `1.5 KiB`.
#[must_use]
pub fn bytes_text(len: impl Into<u128>) -> String {
    const UNITS: &[(&str, u128)] = &[
        ("EiB", 1 << 60),
        ("PiB", 1 << 50),
        ("TiB", 1 << 40),
        ("GiB", 1 << 30),
        ("MiB", 1 << 20),
        ("KiB", 1 << 10),
    ];
    let len = len.into();
    match UNITS.iter().find(|(_, unit)| len >= *unit) {
        None => format!("{len} B"),
        Some((name, unit)) => {
            let tenths = (len % unit).saturating_mul(10) / unit;
            format!("{}.{tenths} {name}", len / unit)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_told_in_the_unit_that_fits() {
        assert_eq!(bytes_text(1023_u32), "1023 B");
        assert_eq!(bytes_text(1536_u32), "1.5 KiB");
        assert_eq!(bytes_text((1_u32 << 30) - 1), "1023.9 MiB");
        assert_eq!(bytes_text(u64::MAX), "15.9 EiB");
    }
}
