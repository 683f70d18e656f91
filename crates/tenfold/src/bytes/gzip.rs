//! Files that are compressed as a whole by gzip.
//!
//! The page is RFC 1952. What is inside is decompressed once, into memory or a temporary file, as all
//! formats read by position; the checksum and the length of every member are compared on the way.
#![deny(clippy::arithmetic_side_effects)]

use std::io::{self, BufRead, Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;

use super::{PIECE, Packing, Source, Spool, narrow, wide};
use crate::error::{Error, Result};
use crate::limits::Limits;

const NAME: &str = "gzip";

/// Whether a file that is called so is compressed when it is written.
pub(crate) fn is_gzip_name(path: &Path) -> bool {
    let extension = path.extension();
    extension.is_some_and(|extension| extension.eq_ignore_ascii_case("gz"))
}

impl Source {
    /// What comes out of a source that is compressed by gzip; any other source, as it is.
    ///
    /// # Errors
    /// [`Error::Malformed`] if it does not decompress to its end, [`Error::Limit`] if too much comes
    /// out.
    pub fn unpacked(self, limits: &Limits) -> Result<Source> {
        if !self.is_gzip() {
            return Ok(self);
        }
        let mut input = Input::new(&self);
        let mut spool = Spool::within(limits);
        let mut buffer = vec![0; PIECE];
        let mut done = 0_u64;
        loop {
            let start = input.at();
            let broken = |error: io::Error| of_member(error, start);
            let mut member = GzDecoder::new(&mut input);
            loop {
                let len = member.read(&mut buffer).map_err(broken)?;
                if len == 0 {
                    break;
                }
                done = done.saturating_add(wide(len));
                limits.check_decoded("a gzip file would be decompressed", done)?;
                limits.check_ratio(self.len(), done)?;
                spool.write(buffer.get(..len).unwrap_or_default())?;
            }
            if input.skip_zeros()? {
                break;
            }
        }
        Ok(spool.finish()?.out_of(Packing::Gzip))
    }

    /// Whether it begins as gzip files do: with their magic, deflate, and flags that are known.
    fn is_gzip(&self) -> bool {
        let mut start = [0; 10];
        let read = self.read_at(0, &mut start);
        // The ninth byte tells them from a safetensors file whose header has a length like that.
        let looks_right = matches!(start, [0x1f, 0x8b, 8, 0..0x20, _, _, _, _, 0 | 2 | 4, _]);
        read.is_ok() && looks_right
    }
}

/// What is wrong with the member that begins at `start`.
fn of_member(error: io::Error, start: u64) -> Error {
    let why = match error.kind() {
        io::ErrorKind::UnexpectedEof => "the data ends too early".to_owned(),
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => error.to_string(),
        _ => return error.into(),
    };
    Error::malformed(start, why).of(NAME)
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
            self.piece.resize(len, 0);
            let read = self.source.read_at(self.next, &mut self.piece);
            read.map_err(|error| match error {
                Error::Io { source, .. } => source,
                other => io::Error::other(other),
            })?;
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

/// Compresses what is written to it. Its end is written when it is flushed, which a
/// [`Sink`](super::Sink) does once, at the very end.
pub(crate) struct Gzip<W: Write>(GzEncoder<W>);

impl<W: Write> Gzip<W> {
    /// Compresses into `target`.
    pub(crate) fn new(target: W) -> Self {
        // Without a name or a date, so that the same content gives the same file.
        Gzip(GzEncoder::new(target, Compression::default()))
    }
}

impl<W: Write> Write for Gzip<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.try_finish()?;
        self.0.get_mut().flush()
    }
}

#[cfg(test)]
mod tests {
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
}
