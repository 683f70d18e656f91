//! Sizes and measures as text.

/// A number of bytes, rounded to a tenth of the unit that fits, such as `1.5 KiB`.
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
    if len == u128::MAX {
        // Beyond the largest count.
        return "2^128 B or more".into();
    }
    scaled_text(len, 1 << 10, UNITS).unwrap_or_else(|| format!("{len} B"))
}

/// A number rounded to a tenth of the largest of `units`, in descending order, that it is at least
/// one of; one that rounds up to the next larger unit uses that. `None` below `least`.
#[must_use]
pub fn scaled_text(number: u128, least: u128, units: &[(&str, u128)]) -> Option<String> {
    if number < least {
        return None;
    }
    let (larger, rest) = units.split_at(units.partition_point(|(_, unit)| number < *unit));
    let (name, unit) = rest.first()?;
    let tenths = number.saturating_mul(10).saturating_add(unit / 2) / (*unit).max(1);
    if let Some((name, larger)) = larger.last()
        && tenths.saturating_mul(*unit) >= larger.saturating_mul(10)
    {
        return Some(format!("1.0 {name}"));
    }
    Some(format!("{}.{} {name}", tenths / 10, tenths % 10))
}

/// A fraction in percent, rounded to so many digits after the point, such as `12.5 %`: only the
/// whole is `100 %`, only nothing `0 %`.
#[must_use]
pub fn percent_text(part: impl Into<u128>, whole: impl Into<u128>, digits: u32) -> String {
    let (part, whole) = (part.into(), whole.into());
    if part >= whole {
        return "100 %".into();
    }
    if part == 0 {
        return "0 %".into();
    }
    let per_percent = 10_u128.saturating_pow(digits);
    let all = per_percent.saturating_mul(100);
    let units = part.saturating_mul(all).saturating_add(whole / 2) / whole;
    let width = usize::try_from(digits).unwrap_or(0);
    let text = |units: u128| {
        let (percent, rest) = (units / per_percent, units % per_percent);
        let text = format!("{percent}.{rest:0width$}");
        format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
    };
    match units {
        0 => format!("<{}", text(1)),
        units => text(units.min(all.saturating_sub(1))),
    }
}

/// A measure with so many significant digits, such as `2.99` or `1.23e-7`.
#[must_use]
pub fn measure_text(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.abs().to_string().to_lowercase();
    }
    let more = digits.saturating_sub(1);
    let text = format!("{value:.more$e}");
    let rounded: f64 = text.parse().unwrap_or(value);
    match rounded.abs() {
        0.001..100_000.0 => rounded.to_string(),
        _ => format!("{rounded:e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_told_in_the_unit_that_fits() {
        assert_eq!(bytes_text(1023_u32), "1023 B");
        assert_eq!(bytes_text(1536_u32), "1.5 KiB");
        assert_eq!(bytes_text(1600_u32), "1.6 KiB");
        assert_eq!(bytes_text(u64::MAX), "16.0 EiB");
    }

    #[test]
    fn what_is_rounded_up_to_a_whole_unit_is_told_in_it() {
        assert_eq!(bytes_text((1_u32 << 30) - 1), "1.0 GiB");
        assert_eq!(bytes_text((1_u32 << 30) - (1 << 20)), "1023.0 MiB");
        assert_eq!(bytes_text(1023_u32), "1023 B");
    }

    #[test]
    fn shares_are_rounded_and_only_all_is_all_of_it() {
        assert_eq!(percent_text(24_u32, 49_u32, 2), "48.98 %");
        assert_eq!(percent_text(1_u32, 3_u32, 2), "33.33 %");
        assert_eq!(percent_text(2_u32, 3_u32, 1), "66.7 %");
        assert_eq!(percent_text(1_u32, 8_u32, 2), "12.5 %");
        assert_eq!(percent_text(1_u32, 2_u32, 1), "50 %");
        assert_eq!(percent_text(1_u64, 1_u64 << 40, 2), "<0.01 %");
        assert_eq!(percent_text(9_999_u32, 10_000_u32, 1), "99.9 %");
        assert_eq!(percent_text(0_u32, 7_u32, 1), "0 %");
        assert_eq!(percent_text(7_u32, 7_u32, 1), "100 %");
        assert_eq!(percent_text(0_u32, 0_u32, 1), "100 %");
    }

    #[test]
    fn measures_have_few_digits_and_an_exponent_only_where_it_helps() {
        let text = |value: f64| measure_text(value, 3);
        assert_eq!([0.0, -0.0, 2.99, 0.5].map(text), ["0", "0", "2.99", "0.5"]);
        assert_eq!([1.0 / 3.0, 12345.0].map(text), ["0.333", "12300"]);
        assert_eq!(
            [1.2345e-7, 1e300, -4.0].map(text),
            ["1.23e-7", "1e300", "-4"]
        );
        assert_eq!([f64::INFINITY, f64::NAN].map(text), ["inf", "nan"]);
    }
}
