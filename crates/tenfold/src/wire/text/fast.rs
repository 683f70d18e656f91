//! Fast path for lines of numbers in the usual notation.
//!
//! Anything unusual is left to [`Fields`](super::Fields), which also report errors.
#![deny(clippy::arithmetic_side_effects)]

/// The rest of a line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quick<'a> {
    text: &'a [u8],
}

/// The byte of `0`, eight times.
const ZEROS: u64 = 0x3030_3030_3030_3030;

impl<'a> Quick<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Quick<'a> {
        Quick { text }
    }

    /// An integer of at most eight digits, followed by a blank.
    #[inline(always)]
    pub(crate) fn whole(&mut self) -> Option<u64> {
        self.skip_blanks();
        let eight = u64::from_le_bytes(*self.text.first_chunk::<8>()?);
        // Every byte that is a digit becomes its value; any other byte then has one of its upper
        // bits set, or gets it when 0x76 is added. No sum carries into the byte above: where one
        // would, a lower byte is no digit either, and only the first such byte counts.
        let digits = eight ^ ZEROS;
        let others = (digits.wrapping_add(0x7676_7676_7676_7676) | digits) & 0x8080_8080_8080_8080;
        let n_digits = others.trailing_zeros() / 8;
        if n_digits == 0 {
            return None;
        }
        let len = usize::try_from(n_digits).ok()?;
        let rest = self.text.get(len..)?;
        if !matches!(rest.first(), Some(b' ' | b'\t')) {
            return None;
        }
        self.text = rest.get(1..)?;
        // The first digit is in the lowest byte: shifted up, the missing digits are zeros before
        // it.
        let missing = 64_u32.saturating_sub(n_digits.saturating_mul(8));
        Some(eight_digits(digits.checked_shl(missing)?))
    }

    /// A number followed by a blank or the end of the line.
    #[inline(always)]
    pub(crate) fn float(&mut self) -> Option<f64> {
        self.skip_blanks();
        // Words such as `nan` have rules of their own.
        if !matches!(self.text.first()?, b'0'..=b'9' | b'-' | b'.') {
            return None;
        }
        let (number, len) = fast_float2::parse_partial::<f64, _>(self.text).ok()?;
        let rest = self.text.get(len..)?;
        let is_over = matches!(rest.first(), None | Some(b' ' | b'\t' | b'\r' | b'\n'));
        self.text = rest;
        (is_over && number.is_finite()).then_some(number)
    }

    /// Whether the line is exhausted.
    #[inline(always)]
    pub(crate) fn is_over(&self) -> bool {
        let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        self.text.iter().all(is_space)
    }

    #[inline(always)]
    fn skip_blanks(&mut self) {
        while let Some((b' ' | b'\t', rest)) = self.text.split_first() {
            self.text = rest;
        }
    }
}

/// The value of eight digits, the first in the lowest byte: combined in pairs, fours, all.
#[inline(always)]
fn eight_digits(digits: u64) -> u64 {
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_ffff_0000_ffff;
    fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xffff_ffff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_of_any_length_are_read() {
        for number in (0..100_000_000_u64)
            .step_by(if cfg!(miri) { 7_919_011 } else { 7919 })
            .chain([9, 10, 99_999_999])
        {
            let text = format!("  {number} {number:08}\t0.5");
            let mut quick = Quick::new(text.as_bytes());
            if number < 10_000_000 {
                assert_eq!(quick.whole(), Some(number));
            } else if quick.whole() != Some(number) {
                continue; // eight digits at most: nine bytes have to be there
            }
            assert_eq!(quick.whole(), Some(number), "{text}");
            assert_eq!(quick.float(), Some(0.5));
            assert!(quick.is_over());
        }
    }

    #[test]
    fn a_byte_that_is_no_digit_is_never_taken_for_one() {
        for byte in 0..=u8::MAX {
            for place in 0..7 {
                let mut text = *b"1234567 1.0 ";
                text[place] = byte;
                let found = Quick::new(&text).whole();
                let spelled = std::str::from_utf8(&text[..7]).ok();
                let wanted = match byte {
                    b' ' | b'\t' if place == 0 => Some(234_567),
                    b' ' | b'\t' => Some(
                        text[..place]
                            .iter()
                            .fold(0, |sum, digit| sum * 10 + u64::from(*digit - b'0')),
                    ),
                    _ => spelled.and_then(|text| text.parse().ok()),
                };
                let wanted = if byte == b'+' { None } else { wanted };
                assert_eq!(found, wanted, "{byte} at {place}");
            }
        }
    }

    #[test]
    fn floats_are_what_the_slow_way_makes_of_them_or_left_to_it() {
        let mut bits = 1_u64;
        for _ in 0..if cfg!(miri) { 50 } else { 100_000 } {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let number = f64::from_bits(bits);
            for text in [
                format!("{number:e}\n"),
                format!("{number:?} "),
                format!("{number:.3e}"),
            ] {
                let wanted: f64 = text.trim().parse().unwrap();
                match Quick::new(text.as_bytes()).float() {
                    Some(found) => assert_eq!(found.to_bits(), wanted.to_bits(), "{text}"),
                    None => assert!(!wanted.is_finite(), "{text}"),
                }
            }
        }
        for text in [
            "nan", "inf", "1e999", "1d3", "0x10", "--1", "1_0", "", "-inf", "1.0,",
        ] {
            assert_eq!(Quick::new(text.as_bytes()).float(), None, "{text}");
        }
    }
}
