//! Reads `.npy` headers, in file order.
#![deny(clippy::arithmetic_side_effects)]

use std::ops::Range;

use super::header::{Descr, Header, excerpt};
use super::{HINT_ENDIAN, HINT_VERSION, MAGIC, MOST_DIMS, NAME, TYPES, Version, header, len};
use crate::bundle::{Bundle, Callable};
use crate::bytes::{Bytes, Endian, Scan, to_u64, truncated};
use crate::dtype::{DType, Numbers};
use crate::error::{Error, Result};
use crate::format::{BIG, Mode, ReadOptions};
use crate::formats::callables;
use crate::io::Source;
use crate::note::{Note, NoteKind};
use crate::tensor::{Dim, Order, Storage, Tensor};
use crate::wire::pickle::Pickle;

pub(super) fn read(source: &Source, how: &ReadOptions) -> Result<Bundle> {
    let mut scan = Scan::new(source, NAME);
    if how.callables
        && let Some(callables) = callables(&mut scan, how)?
        && callables.iter().any(|callable| !callable.is_allowed)
    {
        let mut bundle = Bundle::new();
        let text = "an array of Python objects is not supported";
        bundle.note(Note::new(NoteKind::Skipped, text));
        if scan.left() > 0 {
            let note = Note::new(NoteKind::UnreadBytes, behind_pickle(scan.left()));
            bundle.note(note.at(scan.at()).len(scan.left()));
        }
        bundle.push_callables(callables);
        return Ok(bundle);
    }
    scan.seek(0)?;
    let array = Array::read(&mut scan, source.len(), how)?;
    let bytes = Bytes::run(source, array.values.clone())?;
    let mut bundle = Bundle::of(array.tensor(bytes)?);
    if let Some(version) = array.version() {
        bundle.hints.set(HINT_VERSION, version);
    }
    array.notes.into_iter().for_each(|note| bundle.note(note));
    Ok(bundle)
}

/// The header of an array, as parsed.
pub(in crate::formats) struct Array {
    version: Version,
    dtype: DType,
    endian: Endian,
    order: Order,
    sizes: Vec<u64>,
    /// The range of the values.
    pub(in crate::formats) values: Range<u64>,
    /// The notes of a lenient reader.
    pub(in crate::formats) notes: Vec<Note>,
}

impl Array {
    /// Reads the header of an array that ends at `end`.
    pub(in crate::formats) fn read(scan: &mut Scan, end: u64, how: &ReadOptions) -> Result<Array> {
        let (version, header, mut faults) = prelude(scan, how)?;
        let (dtype, endian) = dtype(&header, &mut faults)?;
        let len = values_len(&header, dtype)?;
        let from = scan.at();
        let left = end.saturating_sub(from);
        if len > left {
            return scan.fail(truncated(len, left));
        }
        let to = from.saturating_add(len);
        if left > len {
            let more = left.saturating_sub(len);
            faults.add(to, format!("bytes after the values: {more}"))?;
        }
        let order = if header.is_fortran {
            Order::Column
        } else {
            Order::Row
        };
        Ok(Array {
            version,
            dtype,
            endian,
            order,
            sizes: header.shape,
            values: from..to,
            notes: faults.notes,
        })
    }

    /// The version, if it is not the usual one.
    pub(in crate::formats) fn version(&self) -> Option<&'static str> {
        (self.version != Version::V1).then(|| self.version.as_str())
    }

    /// The tensor, given the bytes of its values.
    pub(in crate::formats) fn tensor(&self, bytes: Bytes) -> Result<Tensor> {
        let values = Numbers {
            number: self.dtype.number,
            endian: self.endian,
            bytes,
        };
        let order = self.order;
        let dims = self.sizes.iter().copied().map(Dim::indexed).collect();
        let mut tensor = Tensor::new(dims, self.dtype, vec![], Storage::Dense { order, values })?;
        if self.endian == Endian::Big && self.dtype.number.width() > 1 {
            tensor.hints.set(HINT_ENDIAN, BIG);
        }
        Ok(tensor)
    }
}

/// Reads everything before the values.
fn prelude(scan: &mut Scan, how: &ReadOptions) -> Result<(Version, Header, Faults)> {
    let start = scan.at();
    let mut faults = Faults {
        mode: how.mode,
        notes: Vec::new(),
    };
    if scan.take(to_u64(MAGIC.len()))? != MAGIC {
        return scan.fail_at(start, "the magic is not \\x93NUMPY");
    }
    let version = version(scan.array()?)?;
    let header_len = match version {
        Version::V1 => u16::from_le_bytes(scan.array()?).into(),
        Version::V2 | Version::V3 => scan.u32(Endian::Little)?.into(),
    };
    how.limits.check_header(header_len)?;
    let header_at = scan.at();
    let text = scan.keep(header_len, &how.limits)?;
    let header = header::parse(&text, header_at, version, &how.limits)?;
    if text.last() != Some(&b'\n') {
        let at = scan.at().saturating_sub(1);
        faults.add(at, "the header does not end with a newline")?;
    }
    Ok((version, header, faults))
}

/// The callables of an array of Python objects; `None` if it has another type.
pub(in crate::formats) fn callables(
    scan: &mut Scan,
    how: &ReadOptions,
) -> Result<Option<Vec<Callable>>> {
    let start = scan.at();
    let (_, header, _) = prelude(scan, how)?;
    let has_objects = match &header.descr {
        Descr::Plain(descr) => is_object(descr),
        Descr::Structured => {
            let len = scan.at().saturating_sub(start);
            scan.seek(start)?;
            let text = scan.take(len)?;
            let mut words = text.split(|byte| matches!(byte, b'\'' | b'"'));
            words.any(|word| std::str::from_utf8(word).is_ok_and(is_object))
        }
    };
    if !has_objects {
        return Ok(None);
    }
    let pickle = Pickle::read(scan, &how.limits)?;
    // PyTorch loads no such array with `weights_only`, and NumPy only with `allow_pickle`.
    Ok(Some(callables::callables(&pickle, |_, _| false)))
}

/// The remark about bytes after the pickle of an array of Python objects.
pub(in crate::formats) fn behind_pickle(len: u64) -> String {
    format!("bytes after the pickle, which belong to nothing: {len}")
}

/// Whether a plain type is that of Python objects.
fn is_object(descr: &str) -> bool {
    let name = descr.trim_start_matches(['<', '>', '|', '=']);
    let rest = name.strip_prefix('O');
    rest.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Violations that a strict reader refuses and a lenient one notes.
struct Faults {
    mode: Mode,
    notes: Vec<Note>,
}

impl Faults {
    fn add(&mut self, at: u64, text: impl Into<String>) -> Result<()> {
        match self.mode {
            Mode::Strict => Err(Error::malformed(at, text).of(NAME)),
            Mode::Lenient => {
                self.notes.push(Note::new(NoteKind::Lenient, text).at(at));
                Ok(())
            }
        }
    }
}

fn version([major, minor]: [u8; 2]) -> Result<Version> {
    let mut known = Version::ALL.into_iter();
    known
        .find(|version| version.major() == major && minor == 0)
        .ok_or_else(|| unsupported(format!("version {major}.{minor}")))
}

fn unsupported(what: String) -> Error {
    Error::Unsupported { format: NAME, what }
}

/// The length of the values in bytes.
fn values_len(header: &Header, dtype: DType) -> Result<u64> {
    let ndim = header.shape.len();
    if to_u64(ndim) > MOST_DIMS {
        return Err(unsupported(format!(
            "an array of {ndim} dimensions, more than {MOST_DIMS},"
        )));
    }
    len(&header.shape, dtype).ok_or_else(|| {
        let why = "the sizes multiply to 2^63 bytes or more";
        Error::malformed(header.shape_at, why).of(NAME)
    })
}

fn dtype(header: &Header, faults: &mut Faults) -> Result<(DType, Endian)> {
    let Descr::Plain(descr) = &header.descr else {
        return Err(unsupported("an array of a structured type".into()));
    };
    let name = descr.trim_start_matches(['<', '>', '|', '=']);
    let order = descr.strip_suffix(name).unwrap_or_default();
    let known = TYPES.iter().find(|(known, _)| *known == name);
    let Some((_, dtype)) = known.filter(|_| order.len() <= 1) else {
        return Err(unknown(descr, name, header.descr_at));
    };
    let endian = match order {
        ">" => Endian::Big,
        "<" => Endian::Little,
        _ if dtype.number.width() == 1 => Endian::Little,
        _ => {
            let text = format!("the type {} has no byte order", excerpt(descr));
            faults.add(header.descr_at, text)?;
            Endian::Little
        }
    };
    Ok((*dtype, endian))
}

/// The error of a type without numbers: NumPy has more types than the model.
fn unknown(descr: &str, name: &str, at: u64) -> Error {
    let about = match (name.chars().next(), name) {
        (Some('O'), _) => "Python objects, which are pickled",
        (Some('S' | 'a' | 'U' | 'T'), _) => "text",
        (Some('M' | 'm'), _) => "dates and times",
        (Some('V'), _) => "raw bytes; bfloat16 is saved so too",
        (_, "f12" | "f16" | "c24" | "c32") => "extended precision, which differs between machines",
        _ => {
            let why = format!("{} is no type", excerpt(descr));
            return Error::malformed(at, why).of(NAME);
        }
    };
    unsupported(format!("the type {} ({about})", excerpt(descr)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A version 1.0 file of `header`, unpadded, and `values`.
    fn file(header: &str, values: &[u8]) -> Vec<u8> {
        let len = u16::try_from(header.len()).unwrap();
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend(len.to_le_bytes());
        file.extend(header.as_bytes());
        file.extend(values);
        file
    }

    fn read_as(file: Vec<u8>, mode: Mode) -> Result<Bundle> {
        let how = ReadOptions {
            mode,
            ..ReadOptions::default()
        };
        read(&Source::memory(file), &how)
    }

    fn described(descr: &str, values: &[u8], mode: Mode) -> Result<Bundle> {
        let header = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (1,), }}\n");
        read_as(file(&header, values), mode)
    }

    #[test]
    fn fortran_order_is_kept_over_the_same_bytes() {
        let header = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }\n";
        let values = [0, 1, 0, 4, 0, 2, 0, 5, 0, 3, 0, 6];
        let bundle = read_as(file(header, &values), Mode::Strict).unwrap();
        let tensor = bundle.only().unwrap();
        assert_eq!(tensor.to_vec::<i16>().unwrap(), [1, 2, 3, 4, 5, 6]);
        let Storage::Dense { order, values } = tensor.storage() else {
            panic!("{tensor:?}")
        };
        assert_eq!((*order, values.endian), (Order::Column, Endian::Big));
        assert_eq!(values.bytes.at(), 10 + to_u64(header.len()));
    }

    #[test]
    fn a_type_without_a_byte_order_is_little_endian_to_a_lenient_reader() {
        for descr in ["'f4'", "'=f4'", "'|f4'"] {
            let values = 1.5_f32.to_le_bytes();
            let error = described(descr, &values, Mode::Strict).unwrap_err();
            assert!(error.to_string().ends_with("has no byte order (byte 20)"));
            let bundle = described(descr, &values, Mode::Lenient).unwrap();
            assert_eq!(bundle.notes().len(), 1);
            assert_eq!(bundle.only().unwrap().to_vec::<f32>().unwrap(), [1.5]);
        }
        for descr in ["'<u1'", "'>u1'", "'|u1'", "'=u1'", "'u1'"] {
            assert!(described(descr, &[7], Mode::Strict).is_ok(), "{descr}");
        }
    }

    #[test]
    fn what_the_model_has_no_numbers_for_is_unsupported_and_never_unpickled() {
        for (descr, text) in [
            (
                "'|O'",
                "npy: the type \"|O\" (Python objects, which are pickled) is not supported",
            ),
            (
                "[('x', '<f4')]",
                "npy: an array of a structured type is not supported",
            ),
            (
                "('<f4', (2,))",
                "npy: an array of a structured type is not supported",
            ),
        ] {
            let error = described(descr, &[], Mode::Lenient).unwrap_err();
            assert_eq!(error.to_string(), text);
        }
        let error = described("'<i3'", &[], Mode::Lenient).unwrap_err();
        let text = "not a valid npy file: \"<i3\" is no type (byte 20)";
        assert_eq!(error.to_string(), text);
    }

    #[test]
    fn a_shape_larger_than_the_file_is_refused_before_anything_is_allocated() {
        let header =
            "{'descr': '<f8', 'fortran_order': False, 'shape': (1152921504606846975,), }\n";
        let error = read_as(file(header, &[0; 8]), Mode::Lenient).unwrap_err();
        let text = "not a valid npy file: truncated: 9223372036854775800 bytes of values expected, 8 \
                    found (byte 86)";
        assert_eq!(error.to_string(), text);
    }
}
