//! Reading files that are compressed as a whole: gzip (RFC 1952), Zstandard (RFC 8878), xz.
//!
//! The content is decompressed once, into memory or a temporary file, as all formats read by position;
//! checksums and lengths are compared on the way.
#![deny(clippy::arithmetic_side_effects)]

use std::io::{self, BufRead, Read};
use std::path::Path;

use flate2::bufread::GzDecoder;
use lzma_rust2::XzReader;

use super::filter::{STATE, is_lack, lack};
use super::{Head, PIECE, Packing, Source, Spool, narrow, wide};
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::memory;

/// The endings of files that are compressed as a whole.
const ENDINGS: [&str; 3] = ["gz", "zst", "xz"];

/// Whether a file that is called so is compressed as a whole.
pub(crate) fn is_packed_name(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ENDINGS.iter().any(|own| ending.eq_ignore_ascii_case(own)))
}

/// The extension of a file's name in lower case; of a compressed file, that of what is inside.
pub(crate) fn extension(path: &Path) -> Option<String> {
    let inside = path.with_extension("");
    let path = if is_packed_name(path) {
        inside.as_path()
    } else {
        path
    };
    Some(path.extension()?.to_str()?.to_ascii_lowercase())
}

/// How a file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Codec {
    Gzip,
    Zstd,
    Xz,
}

impl Codec {
    /// By the first bytes. Those of gzip alone could be the length of a safetensors header: its flags
    /// and the ninth byte tell them apart.
    fn of(start: &[u8]) -> Option<Codec> {
        match start {
            [0x1f, 0x8b, 8, 0..0x20, _, _, _, _, 0 | 2 | 4, _, ..] => Some(Codec::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Codec::Zstd),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Codec::Xz),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Codec::Gzip => "gzip",
            Codec::Zstd => "zstd",
            Codec::Xz => "xz",
        }
    }

    fn packing(self) -> Packing {
        match self {
            Codec::Gzip => Packing::Gzip,
            Codec::Zstd => Packing::Zstd,
            Codec::Xz => Packing::Xz,
        }
    }
}

impl Source {
    /// The content of a source that is compressed by gzip, zstd or xz; any other source as it is.
    ///
    /// # Errors
    /// [`Error::Malformed`] if it does not decompress to its end, [`Error::Limit`] if too much comes
    /// out.
    pub fn unpacked(self, limits: &Limits) -> Result<Source> {
        Ok(Head::of(&self)?.unpacked(limits)?.source().clone())
    }
}

impl Head {
    /// The head of the content, if the source is compressed as a whole; else the same.
    pub(crate) fn unpacked(self, limits: &Limits) -> Result<Head> {
        // Nothing shorter is compressed.
        let start = self.bytes().first_chunk::<10>();
        let Some(codec) = start.and_then(|start| Codec::of(start)) else {
            return Ok(self);
        };
        let source = self.source();
        let mut unpacked = Unpacked {
            limits,
            spool: Spool::within(limits),
            packed: source.len(),
            len: 0,
        };
        let mut input = Input::new(source);
        match codec {
            Codec::Gzip => gzip(&mut input, &mut unpacked)?,
            Codec::Zstd => zstd(&mut input, &mut unpacked)?,
            Codec::Xz => xz(&mut input, &mut unpacked)?,
        }
        Head::of(&unpacked.spool.finish()?.out_of(codec.packing()))
    }
}

/// The content as far as it has come.
struct Unpacked<'a> {
    limits: &'a Limits,
    spool: Spool,
    /// The length of the compressed file.
    packed: u64,
    len: u64,
}

impl Unpacked<'_> {
    /// Takes all that a decoder gives; `start` is the first byte of its part of the file.
    fn take(&mut self, codec: Codec, decoder: &mut dyn Read, start: u64) -> Result<()> {
        let mut buffer = memory::zeros(PIECE)?;
        loop {
            let read = decoder.read(&mut buffer);
            let len = read.map_err(|error| broken(codec, error, start))?;
            if len == 0 {
                return Ok(());
            }
            self.len = self.len.saturating_add(wide(len));
            let what = "a compressed file would be decompressed";
            self.limits.check_decoded(what, self.len)?;
            self.limits.check_ratio(self.packed, self.len)?;
            self.spool.write(buffer.get(..len).unwrap_or_default())?;
        }
    }
}

/// A file of gzip members, perhaps with zeros behind them.
fn gzip(input: &mut Input, unpacked: &mut Unpacked) -> Result<()> {
    loop {
        let start = input.at();
        memory::probe(STATE)?;
        let mut member = GzDecoder::new(&mut *input);
        unpacked.take(Codec::Gzip, &mut member, start)?;
        if input.skip_zeros()? {
            return Ok(());
        }
    }
}

#[cfg(feature = "zstd")]
fn zstd(input: &mut Input, unpacked: &mut Unpacked) -> Result<()> {
    let start = input.at();
    memory::probe(STATE)?;
    let decoder = zstd::stream::read::Decoder::with_buffer(input);
    let mut decoder = decoder.map_err(|error| broken(Codec::Zstd, error, start))?;
    unpacked.take(Codec::Zstd, &mut decoder, start)
}

#[cfg(not(feature = "zstd"))]
fn zstd(_: &mut Input, _: &mut Unpacked) -> Result<()> {
    Err(super::filter::without_zstd())
}

fn xz(input: &mut Input, unpacked: &mut Unpacked) -> Result<()> {
    /// The part of the memory budget for the dictionary: 128 MiB by default, where `xz -9` needs 65.
    const PART: u64 = 4;
    let kibibytes = unpacked.limits.memory / PART / 1024;
    let most = u32::try_from(kibibytes).unwrap_or(u32::MAX);
    // The decoder has no way to say that there is less.
    let is_there = |kibibytes: &u32| {
        memory::probe(usize::try_from(*kibibytes).unwrap_or(usize::MAX) << 10).is_ok()
    };
    let there = std::iter::successors(Some(most), |most| Some(most / 2)).find(is_there);
    let there = there.unwrap_or(0);
    let start = input.at();
    let mut decoder = XzReader::new_mem_limit(input, true, there);
    let taken = unpacked.take(Codec::Xz, &mut decoder, start);
    taken.map_err(|error| match error {
        Error::Malformed { why, .. } if there < most && why == NO_DICTIONARY => lack().into(),
        other => other,
    })
}

const NO_DICTIONARY: &str = "its dictionary does not fit the memory budget";

/// What is wrong with a compressed file.
fn broken(codec: Codec, error: io::Error, start: u64) -> Error {
    if error.raw_os_error().is_some() {
        return error.into();
    }
    if is_lack(&error) {
        return lack().into();
    }
    let kind = error.kind();
    // An error of the file itself, on its way through the decoder.
    let why = match (kind, error.downcast::<Error>()) {
        (_, Ok(inner)) if !inner.is_of_content() => return inner,
        (_, Ok(inner)) => inner.to_string(),
        (io::ErrorKind::UnexpectedEof, _) => "the data ends too early".to_owned(),
        (io::ErrorKind::OutOfMemory, _) => NO_DICTIONARY.into(),
        (_, Err(error)) => error.to_string(),
    };
    Error::malformed(start, why).of(codec.name())
}

/// A source as a stream that knows where it is.
struct Input<'a> {
    source: &'a Source,
    /// Where the next piece begins.
    next: u64,
    piece: Vec<u8>,
    used: usize,
}

impl<'a> Input<'a> {
    fn new(source: &'a Source) -> Input<'a> {
        Input {
            source,
            next: 0,
            piece: Vec::new(),
            used: 0,
        }
    }

    /// The offset of the next byte.
    fn at(&self) -> u64 {
        let left = self.piece.len().saturating_sub(self.used);
        self.next.saturating_sub(wide(left))
    }

    /// Passes over zeros, with which tapes and some programs fill up; whether that is the end.
    fn skip_zeros(&mut self) -> Result<bool> {
        loop {
            let piece = self.fill_buf()?;
            let zeros = piece.iter().take_while(|byte| **byte == 0).count();
            match (piece.is_empty(), zeros) {
                (true, _) => return Ok(true),
                (false, 0) => return Ok(false),
                (false, zeros) => self.consume(zeros),
            }
        }
    }
}

impl BufRead for Input<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.used >= self.piece.len() {
            let left = self.source.len().saturating_sub(self.next);
            let len = narrow(left.min(wide(PIECE))).map_err(io::Error::other)?;
            memory::resize(&mut self.piece, len).map_err(io::Error::other)?;
            if let Err(error) = self.source.read_at(self.next, &mut self.piece) {
                self.piece.clear();
                return Err(io::Error::other(error));
            }
            self.next = self.next.saturating_add(wide(len));
            self.used = 0;
        }
        Ok(self.piece.get(self.used..).unwrap_or_default())
    }

    fn consume(&mut self, len: usize) {
        self.used = self.used.saturating_add(len);
    }
}

impl Read for Input<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let piece = self.fill_buf()?;
        let len = piece.len().min(buffer.len());
        for (to, from) in buffer.iter_mut().zip(piece) {
            *to = *from;
        }
        self.consume(len);
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;
    use crate::bytes::Bytes;

    fn packed(content: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    fn unpacked(bytes: Vec<u8>) -> Result<Vec<u8>> {
        let source = Source::memory(bytes).unpacked(&Limits::default())?;
        Bytes::whole(source).to_vec()
    }

    #[test]
    fn several_members_and_zeros_behind_them_are_one_content() {
        let long = vec![7; 1_000_000];
        let parts = [packed(b"first"), packed(&long), packed(b""), vec![0; 600]];
        let found = unpacked(parts.concat()).unwrap();
        assert_eq!(found, [b"first".as_slice(), &long].concat());
    }

    #[test]
    fn what_is_not_gzip_is_left_alone() {
        let header = *b"\x1f\x8b\x08\0\0\0\0\0{\"";
        for bytes in [&b""[..], b"\x1f\x8b", &header, b"NUMPY and more"] {
            let source = Source::memory(bytes.to_vec());
            let source = source.unpacked(&Limits::default()).unwrap();
            assert_eq!(source.packing(), Packing::None);
            assert_eq!(source.len(), wide(bytes.len()));
        }
    }

    #[test]
    fn every_cut_and_every_changed_byte_of_the_frame_is_refused() {
        let whole = packed(b"some content, some content");
        for len in 10..whole.len() {
            let error = unpacked(whole[..len].to_vec()).unwrap_err().to_string();
            assert!(error.starts_with("not a valid gzip file: "), "{error}");
        }
        for at in whole.len() - 8..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            assert!(unpacked(changed).is_err(), "byte {at}");
        }
        let more = [whole.as_slice(), b"x"].concat();
        let error = unpacked(more).unwrap_err().to_string();
        assert!(
            error.ends_with(&format!("(byte {})", whole.len())),
            "{error}"
        );
    }

    #[test]
    fn what_comes_out_is_bounded() {
        let bomb = packed(&vec![0; 10_000_000]);
        let mut limits = Limits::default();
        limits.set("decoded", 1_000_000).unwrap();
        let error = Source::memory(bomb.clone()).unpacked(&limits).unwrap_err();
        assert!(error.to_string().contains("--max-decoded"), "{error}");
        let mut limits = Limits::default();
        limits.set("ratio", 100).unwrap();
        let error = Source::memory(bomb).unpacked(&limits).unwrap_err();
        assert!(error.to_string().contains("--max-ratio"), "{error}");
    }

    /// What liblzma makes of it.
    const XZ: [u8; 80] = [
        0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x04, 0xe6, 0xd6, 0xb4, 0x46, 0x02, 0x00, 0x21,
        0x01, 0x16, 0x00, 0x00, 0x00, 0x74, 0x2f, 0xe5, 0xa3, 0xe0, 0x00, 0x19, 0x00, 0x14, 0x5d,
        0x00, 0x39, 0x9b, 0xc9, 0xf2, 0xe7, 0x50, 0x55, 0x5b, 0x38, 0xb2, 0x7e, 0x32, 0xb9, 0xea,
        0xcd, 0x06, 0x23, 0x3d, 0x00, 0x00, 0x00, 0x65, 0x0e, 0x6b, 0x2d, 0xf0, 0x9e, 0xcc, 0xd9,
        0x00, 0x01, 0x30, 0x1a, 0xa2, 0x7a, 0xa2, 0x02, 0x1f, 0xb6, 0xf3, 0x7d, 0x01, 0x00, 0x00,
        0x00, 0x00, 0x04, 0x59, 0x5a,
    ];
    const CONTENT: &[u8] = b"some content, some content";

    #[test]
    fn xz_and_zstd_files_are_unpacked_and_their_streams_joined() {
        assert_eq!(unpacked(XZ.to_vec()).unwrap(), CONTENT);
        assert_eq!(unpacked([XZ, XZ].concat()).unwrap(), CONTENT.repeat(2));
        let zstd = zstd::encode_all(CONTENT, 3).unwrap();
        assert_eq!(unpacked(zstd.clone()).unwrap(), CONTENT);
        assert_eq!(unpacked(zstd.repeat(2)).unwrap(), CONTENT.repeat(2));
    }

    #[test]
    fn a_cut_or_damaged_xz_or_zstd_file_is_refused_by_name() {
        let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
        encoder.include_checksum(true).unwrap();
        encoder.write_all(CONTENT).unwrap();
        let zstd = encoder.finish().unwrap();
        for (name, whole) in [("xz", XZ.to_vec()), ("zstd", zstd)] {
            for len in 10..whole.len() {
                let error = unpacked(whole[..len].to_vec()).unwrap_err().to_string();
                let said = format!("not a valid {name} file: ");
                assert!(error.starts_with(&said), "{len}: {error}");
            }
            for at in 10..whole.len() {
                let mut changed = whole.clone();
                changed[at] ^= 1;
                let found = unpacked(changed);
                assert!(
                    found.is_err() || found.is_ok_and(|found| found == CONTENT),
                    "byte {at}"
                );
            }
        }
    }

    #[test]
    fn the_dictionary_of_an_xz_file_takes_no_more_memory_than_is_allowed() {
        let limits = Limits {
            memory: 1 << 20,
            ..Limits::default()
        };
        // It asks for 8 MiB.
        let error = Source::memory(XZ.to_vec()).unpacked(&limits).unwrap_err();
        assert!(error.to_string().contains("memory"), "{error}");
    }
}
