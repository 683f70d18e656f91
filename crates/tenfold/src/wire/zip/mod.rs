//! zip archives: members by name, stored or deflated, found by a directory at the end.
//!
//! The specification is PKWARE's APPNOTE 6.3. All numbers are little-endian.
//!
//! | record | bytes | |
//! |---|---|---|
//! | member | `PK\3\4` … | a local header, the data, perhaps a descriptor (`PK\7\8`) with its sizes |
//! | directory | `PK\1\2` … | one entry a member |
//! | end, wide | `PK\6\6` … | where the directory is, in 64 bits; only if 32 are too few |
//! | locator | `PK\6\7` … | where that is |
//! | end | `PK\5\6` … | where the directory is, and a comment of up to 65535 bytes |
//!
//! The directory decides; a local header has to agree with it. Members neither overlap nor reach into
//! the directory, so that no byte is read for two of them. There is nothing between the directory and
//! the end, or behind the comment. Bytes before the first record or between two are listed as gaps.

mod local;
mod read;
mod write;

pub(crate) use local::first_name;
pub(crate) use read::{Archive, Member, Salvaged, read, salvage};
pub(crate) use write::{Sizes, Writer};

const LOCAL: [u8; 4] = *b"PK\x03\x04";
const DESCRIPTOR: [u8; 4] = *b"PK\x07\x08";
const ENTRY: [u8; 4] = *b"PK\x01\x02";
const WIDE_END: [u8; 4] = *b"PK\x06\x06";
const LOCATOR: [u8; 4] = *b"PK\x06\x07";
const END: [u8; 4] = *b"PK\x05\x06";

/// The extra field that has sizes of 64 bits.
const WIDE_FIELD: u16 = 1;
/// The extra field that pads a local header, with its ID from Android's tools.
const PADDING_FIELD: u16 = 0xd935;

/// A field whose value is in the Zip64 record or field.
const ELSEWHERE_32: u32 = u32::MAX;
const ELSEWHERE_16: u16 = u16::MAX;

/// Flag bits.
mod flag {
    /// The data is encrypted.
    pub(super) const ENCRYPTED: u16 = 1;
    /// The sizes are after the data.
    pub(super) const DESCRIBED: u16 = 1 << 3;
    /// The name is UTF-8.
    pub(super) const UTF_8: u16 = 1 << 11;
}

/// The compression method of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    /// Stored uncompressed.
    Stored,
    /// Deflate.
    Deflated,
    /// An unknown method, by its number.
    Other(u16),
    /// Encrypted.
    Encrypted,
}

impl Method {
    fn of(number: u16, flags: u16) -> Method {
        match number {
            _ if flags & flag::ENCRYPTED != 0 => Method::Encrypted,
            0 => Method::Stored,
            8 => Method::Deflated,
            other => Method::Other(other),
        }
    }
}

/// The characters of bytes above 127 in a name that is not UTF-8: code page 437.
const CODE_PAGE: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀\
                         αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_page_has_a_letter_for_every_byte() {
        assert_eq!(CODE_PAGE.chars().count(), 128);
        assert_eq!(CODE_PAGE.chars().nth(0xe1 - 0x80), Some('ß'));
        assert_eq!(CODE_PAGE.chars().nth(0xb0 - 0x80), Some('░'));
    }
}
