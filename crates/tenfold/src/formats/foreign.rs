//! Detection of other kinds of files by content, for the error about an unrecognized file.

use std::path::Path;

use crate::io::Head;

/// Bytes at a fixed offset of a file, and the kind of file they identify.
struct Signature {
    at: usize,
    bytes: &'static [u8],
    kind: Kind,
}

/// The kind of a file, and the prospects of reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Tensors in a format that is not supported yet.
    Tensors(&'static str),
    /// Other content.
    Other(&'static str),
    /// Advice for the user.
    Advice(&'static str),
}

impl Kind {
    fn text(self) -> String {
        match self {
            Kind::Tensors(name) => format!("{name}, which is not read yet"),
            Kind::Other(name) => format!("{name}, not a tensor file"),
            Kind::Advice(text) => text.into(),
        }
    }
}

const fn tensors(at: usize, bytes: &'static [u8], name: &'static str) -> Signature {
    let kind = Kind::Tensors(name);
    Signature { at, bytes, kind }
}

const fn other(at: usize, bytes: &'static [u8], name: &'static str) -> Signature {
    let kind = Kind::Other(name);
    Signature { at, bytes, kind }
}

/// The first match counts.
const SIGNATURES: &[Signature] = &[
    // The text header of MATLAB 7.3 precedes an HDF5 file.
    tensors(0, b"MATLAB 7.3 MAT-file", "a MATLAB 7.3 file (HDF5)"),
    tensors(0, b"MATLAB 5.0 MAT-file", "a MATLAB 5 file"),
    tensors(0, b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    tensors(512, b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    tensors(1024, b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    tensors(2048, b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    tensors(0, b"CDF\x01", "a NetCDF file"),
    tensors(0, b"CDF\x02", "a NetCDF file"),
    tensors(0, b"CDF\x05", "a NetCDF file"),
    tensors(0, b"PAR1", "a Parquet file"),
    tensors(0, b"ARROW1", "an Arrow file"),
    tensors(0, b"FEA1", "a Feather file"),
    tensors(4, b"TFL3", "a TensorFlow Lite model"),
    tensors(0, b"lmgg", "a GGML file from before GGUF"),
    tensors(0, b"fmgg", "a GGML file from before GGUF"),
    tensors(0, b"tjgg", "a GGML file from before GGUF"),
    tensors(0, b"SIMPLE  =", "a FITS file"),
    tensors(0, b"GRIB", "a GRIB file"),
    tensors(0, b"NRRD000", "an NRRD file"),
    tensors(344, b"n+1\0", "a NIfTI file"),
    tensors(128, b"DICM", "a DICOM file"),
    tensors(0, b"root", "a ROOT file"),
    tensors(0, b"\x93NUMPY", "a NumPy array of an unknown version"),
    other(0, b"\x89PNG\r\n\x1a\n", "a PNG image"),
    other(0, b"\xff\xd8\xff", "a JPEG image"),
    other(0, b"GIF8", "a GIF image"),
    other(0, b"II*\0", "a TIFF image"),
    other(0, b"MM\0*", "a TIFF image"),
    other(0, b"II+\0", "a TIFF image"),
    other(8, b"WEBP", "a WebP image"),
    other(0, b"%PDF", "a PDF document"),
    other(0, b"PK\x03\x04", "a zip archive"),
    other(0, b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    other(0, b"Rar!\x1a\x07", "a RAR archive"),
    other(0, b"BZh", "a file compressed by bzip2"),
    other(0, b"\x04\x22\x4d\x18", "a file compressed by LZ4"),
    other(257, b"ustar", "a tar archive"),
    other(0, b"SQLite format 3\0", "an SQLite database"),
    other(0, b"\x7fELF", "a program or shared library"),
    Signature {
        at: 0,
        bytes: b"version https://git-lfs.github.com/spec/",
        kind: Kind::Advice("a pointer of Git LFS, not the file itself: `git lfs pull` fetches it"),
    },
];

/// The kind of a file that no format claims, if it is known.
pub(super) fn content(head: &Head, path: Option<&Path>) -> Option<String> {
    if head.bytes().is_empty() {
        return Some("an empty file".into());
    }
    kind(head.bytes(), path).map(Kind::text)
}

/// Whether the content is definitely that of another kind of file, whatever its name.
pub(super) fn is_certain(head: &Head) -> bool {
    let head = head.bytes();
    signed(head).is_some() || markup(head, None).is_some()
}

fn kind(head: &[u8], path: Option<&Path>) -> Option<Kind> {
    let guesses = [onnx, pickle, markup, json];
    signed(head).or_else(|| guesses.iter().find_map(|guess| guess(head, path)))
}

fn signed(head: &[u8]) -> Option<Kind> {
    let fits = |signature: &&Signature| {
        let rest = head.get(signature.at..).unwrap_or_default();
        rest.starts_with(signature.bytes)
    };
    SIGNATURES.iter().find(fits).map(|signature| signature.kind)
}

/// A protobuf message that begins as ONNX models do: version of the IR, name of the producer.
fn onnx(head: &[u8], path: Option<&Path>) -> Option<Kind> {
    let is_named = path.is_some_and(|path| path.extension().is_some_and(|end| end == "onnx"));
    let is_model = match head {
        [0x08, 1..=20, 0x12, len @ 1..=64, rest @ ..] => {
            let producer = rest.get(..usize::from(*len)).unwrap_or_default();
            !producer.is_empty() && producer.iter().all(|byte| (b' '..=b'~').contains(byte))
        }
        [0x08, 1..=20, ..] => is_named,
        _ => false,
    };
    is_model.then_some(Kind::Tensors("an ONNX model"))
}

fn pickle(head: &[u8], _path: Option<&Path>) -> Option<Kind> {
    let [0x80, 2..=5, ..] = head else { return None };
    let has_numpy = head.windows(5).any(|word| word == b"numpy");
    Some(if has_numpy {
        Kind::Tensors("a Python pickle of NumPy arrays")
    } else {
        Kind::Other("a Python pickle")
    })
}

fn markup(head: &[u8], _path: Option<&Path>) -> Option<Kind> {
    let start = head.trim_ascii_start();
    let begins = |word: &str| {
        let word = word.as_bytes();
        let own = start.get(..word.len());
        own.is_some_and(|own| own.eq_ignore_ascii_case(word))
    };
    if begins("<!doctype html") || begins("<html") {
        // A common result of a failed download.
        return Some(Kind::Advice(
            "an HTML page, not a tensor file: the download may have failed",
        ));
    }
    begins("<?xml").then_some(Kind::Other("an XML document"))
}

fn json(head: &[u8], path: Option<&Path>) -> Option<Kind> {
    let start = head.trim_ascii_start();
    let is_named = path.is_some_and(|path| path.extension().is_some_and(|end| end == "json"));
    if !matches!(start.first(), Some(b'{' | b'[')) || !(is_named || is_text(head)) {
        return None;
    }
    let has = |word: &[u8]| head.windows(word.len()).any(|part| part == word);
    Some(if has(b"\"zarr_format\"") {
        Kind::Tensors("a part of a Zarr store")
    } else {
        Kind::Advice("JSON, and no Vespa tensor")
    })
}

/// Whether all of the head is text; its last character may be cut.
fn is_text(head: &[u8]) -> bool {
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            let whole = head.get(..error.valid_up_to()).unwrap_or_default();
            std::str::from_utf8(whole).unwrap_or_default()
        }
        Err(_) => return false,
    };
    let is_odd = |letter: char| letter.is_control() && !letter.is_ascii_whitespace();
    !text.is_empty() && !text.contains(is_odd)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::Source;

    fn found(name: &str, bytes: &[u8]) -> Option<String> {
        let head = Head::of(&Source::memory(bytes.to_vec())).unwrap();
        content(&head, Some(Path::new(name)))
    }

    #[test]
    fn a_file_of_another_kind_is_named_by_its_content() {
        let mut nifti = vec![0; 400];
        nifti[344..348].copy_from_slice(b"n+1\0");
        for (bytes, start) in [
            (&b""[..], "an empty file"),
            (b"\x89HDF\r\n\x1a\n\0\0", "an HDF5 file, which is not read"),
            (b"MATLAB 5.0 MAT-file, x", "a MATLAB 5 file"),
            (b"CDF\x01\0\0", "a NetCDF file"),
            (b"PAR1abc", "a Parquet file"),
            (&nifti, "a NIfTI file"),
            (b"\x08\x08\x12\x07pytorch\x1a\x03", "an ONNX model"),
            (b"\x80\x04\x95cnumpy.core", "a Python pickle of NumPy"),
            (b"\x80\x02}q\0.", "a Python pickle, not a tensor file"),
            (b"\x89PNG\r\n\x1a\nxx", "a PNG image, not a tensor file"),
            (b"PK\x03\x04xx", "a zip archive"),
            (b"\n<!DOCTYPE html><html>", "an HTML page"),
            (b"version https://git-lfs.github.com/spec/v1\n", "a pointer"),
            (b"{\"zarr_format\": 2}", "a part of a Zarr store"),
            (b"{\"model_type\": \"llama\"}", "JSON, and no Vespa tensor"),
        ] {
            let found = found("x", bytes).unwrap_or_default();
            assert!(found.starts_with(start), "{start:?}: {found:?}");
        }
        // Text and numbers may be of a format that only the user knows.
        assert_eq!(found("x", b"1 2 3\n"), None);
        assert_eq!(found("x", b"\x01\x02\x03\0"), None);
        assert_eq!(found("x", b"\x08\x08\x01\x02"), None);
        assert!(found("x.onnx", b"\x08\x08\x01\x02").is_some());
    }

    #[test]
    fn a_letter_that_the_head_cuts_is_text_all_the_same() {
        let mut text = "[".to_owned() + &"x".repeat(4094);
        text.push('ä');
        assert!(is_text(&text.as_bytes()[..4096]));
        let found = found("x", text.as_bytes()).unwrap();
        assert!(found.starts_with("JSON"), "{found}");
    }
}
