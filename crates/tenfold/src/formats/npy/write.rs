//! Writes `.npy` as `numpy.save` does, values bit for bit.

use super::{HINT_ENDIAN, HINT_VERSION, MAGIC, TYPES, Version};
use crate::bundle::Bundle;
use crate::bytes::Endian;
use crate::dtype::{DType, Numbers};
use crate::error::{Error, Result};
use crate::format::WriteOptions;
use crate::io::Sink;
use crate::tensor::{Order, Storage, Tensor};

/// Alignment of the values.
const ARRAY_ALIGN: usize = 64;
/// Digits to which the slowest size can grow without moving the values.
const GROWTH_AXIS_MAX_DIGITS: usize = 21;

pub(super) fn write(bundle: &Bundle, out: &mut Sink, how: &WriteOptions) -> Result<()> {
    let wanted = how.version.as_deref();
    let wanted = wanted.or_else(|| bundle.hints.text(HINT_VERSION));
    let tensor = bundle.only()?;
    let endian = how.options.endian(&tensor.hints, HINT_ENDIAN)?;
    let (header, values) = parts(tensor, endian, wanted)?;
    out.write(&header)?;
    values.write(out, endian)
}

/// The header of an array, whose values are written in the byte order `endian`, and the values;
/// `wanted` is a version, if not the usual one.
pub(in crate::formats) fn parts<'a>(
    tensor: &'a Tensor,
    endian: Endian,
    wanted: Option<&str>,
) -> Result<(Vec<u8>, &'a Numbers)> {
    let Storage::Dense { order, values } = tensor.storage() else {
        return Err(Error::invalid("only a dense tensor can be written as npy"));
    };
    let mut versions = Version::ALL.into_iter();
    let version = versions
        .find(|version| Some(version.as_str()) == wanted)
        .unwrap_or(Version::V1);
    let dict = dictionary(&tensor.sizes()?, *order, tensor.dtype(), endian)?;
    Ok((header(&dict, version)?, values))
}

/// The dictionary, with spaces for growth.
fn dictionary(sizes: &[u64], order: Order, dtype: DType, endian: Endian) -> Result<String> {
    let known = TYPES.iter().find(|(_, known)| *known == dtype);
    let (name, _) = known.ok_or_else(|| Error::invalid(format!("npy has no type {dtype}")))?;
    let mark = match endian {
        _ if dtype.number.width() == 1 => '|',
        Endian::Little => '<',
        Endian::Big => '>',
    };
    let digits: Vec<String> = sizes.iter().map(u64::to_string).collect();
    let shape = match digits.as_slice() {
        [only] => format!("({only},)"),
        all => format!("({})", all.join(", ")),
    };
    let is_fortran = order == Order::Column && !is_row_major_too(sizes);
    let slowest = if is_fortran {
        digits.last()
    } else {
        digits.first()
    };
    let spare = slowest.map_or(0, |size| GROWTH_AXIS_MAX_DIGITS.saturating_sub(size.len()));
    let truth = if is_fortran { "True" } else { "False" };
    Ok(format!(
        "{{'descr': '{mark}{name}', 'fortran_order': {truth}, 'shape': {shape}, }}{:spare$}",
        ""
    ))
}

/// Whether column-major values are also row-major: they are empty, or have at most one dimension of
/// size above 1.
fn is_row_major_too(sizes: &[u64]) -> bool {
    sizes.contains(&0) || sizes.iter().filter(|size| **size != 1).count() <= 1
}

/// Everything before the values.
fn header(dict: &str, version: Version) -> Result<Vec<u8>> {
    let mut header = MAGIC.to_vec();
    header.extend([version.major(), 0]);
    let len_width = match version {
        Version::V1 => 2,
        Version::V2 | Version::V3 => 4,
    };
    let unpadded = header.len() + len_width + dict.len() + 1;
    // From 1 to 64 spaces: NumPy adds 64 where none would be needed.
    let padding = ARRAY_ALIGN - unpadded % ARRAY_ALIGN;
    let len = dict.len() + padding + 1;
    // 64 sizes of 19 digits are far below this bound.
    let too_long = |_| Error::invalid("the header is too long");
    match version {
        Version::V1 => header.extend(u16::try_from(len).map_err(too_long)?.to_le_bytes()),
        Version::V2 | Version::V3 => {
            header.extend(u32::try_from(len).map_err(too_long)?.to_le_bytes());
        }
    }
    header.extend(format!("{dict}{:padding$}\n", "").bytes());
    Ok(header)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::Number;

    const F64: DType = DType::real(Number::F64);

    fn text(sizes: &[u64], order: Order) -> String {
        dictionary(sizes, order, F64, Endian::Little).unwrap()
    }

    #[test]
    fn fortran_order_is_said_only_where_it_differs() {
        for sizes in [&[][..], &[5], &[1, 5], &[5, 1, 1], &[3, 0, 2]] {
            assert_eq!(text(sizes, Order::Column), text(sizes, Order::Row));
        }
        assert!(text(&[2, 3], Order::Column).contains("'fortran_order': True"));
    }

    #[test]
    fn the_slowest_size_has_room_to_grow() {
        let spaces = |sizes, order| {
            let text = text(sizes, order);
            text.len() - text.trim_end().len()
        };
        assert_eq!(spaces(&[], Order::Row), 0);
        assert_eq!(spaces(&[123, 4], Order::Row), 18);
        assert_eq!(spaces(&[123, 4], Order::Column), 20);
    }

    #[test]
    fn a_header_that_is_aligned_already_gets_64_spaces() {
        let dict = "x".repeat(53);
        let header = header(&dict, Version::V1).unwrap();
        assert_eq!(header.len(), 128);
        assert_eq!(&header[..10], b"\x93NUMPY\x01\x00\x76\x00");
        assert_eq!(header.last(), Some(&b'\n'));
    }
}
