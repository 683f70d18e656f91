//! Streaming decoders of files that are compressed as a whole.
#![deny(clippy::arithmetic_side_effects)]

use std::io;
use std::io::{BufRead, Read};

use flate2::bufread::GzDecoder;
use lzma_rust2::XzReader;

use super::{STATE, is_lack, lack};
use crate::bytes::{PIECE, to_u64, to_usize};
use crate::error::{Error, Result};
use crate::io::{Packing, Source};
use crate::limits::Limits;
use crate::memory;

/// The compression of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Codec {
    Gzip,
    Zstd,
    Xz,
}

impl Codec {
    /// Detects the compression from the first bytes. Those of gzip alone could be the length of a
    /// safetensors header: its flags and the ninth byte tell them apart.
    pub(crate) fn of(start: &[u8]) -> Option<Codec> {
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

    pub(crate) fn packing(self) -> Packing {
        match self {
            Codec::Gzip => Packing::Gzip,
            Codec::Zstd => Packing::Zstd,
            Codec::Xz => Packing::Xz,
        }
    }
}

/// The content of a compressed file, from its beginning to its end.
pub(crate) struct Decoder {
    codec: Codec,
    /// `None` after an error, and at the end.
    stream: Option<Stream>,
    /// The first byte of the part of the file that is being decoded.
    start: u64,
    /// Whether less memory for a dictionary was available than the budget allows.
    is_short: bool,
}

enum Stream {
    /// One member of possibly several.
    Gzip(Box<GzDecoder<Input>>),
    #[cfg(feature = "zstd")]
    Zstd(Box<zstd::stream::read::Decoder<'static, Input>>),
    #[cfg(all(feature = "ruzstd", not(feature = "zstd")))]
    Zstd(Box<super::zstd_pure::Decoder<Input>>),
    Xz(Box<XzReader<Input>>),
}

impl Decoder {
    pub(crate) fn new(source: &Source, codec: Codec, limits: &Limits) -> Result<Decoder> {
        /// The fraction of the memory budget for the dictionary: 128 MiB by default; `xz -9` needs
        /// 65.
        const PART: u64 = 4;
        let input = Input::new(source);
        let mut is_short = false;
        memory::probe(STATE)?;
        let stream = match codec {
            Codec::Gzip => Stream::Gzip(Box::new(GzDecoder::new(input))),
            #[cfg(feature = "zstd")]
            Codec::Zstd => {
                let decoder = zstd::stream::read::Decoder::with_buffer(input);
                Stream::Zstd(Box::new(decoder.map_err(|error| broken(codec, error, 0))?))
            }
            #[cfg(all(feature = "ruzstd", not(feature = "zstd")))]
            Codec::Zstd => Stream::Zstd(Box::new(super::zstd_pure::Decoder::new(input))),
            #[cfg(not(any(feature = "zstd", feature = "ruzstd")))]
            Codec::Zstd => return Err(super::without_zstd()),
            Codec::Xz => {
                let kibibytes = limits.memory / PART / 1024;
                let most = u32::try_from(kibibytes).unwrap_or(u32::MAX);
                // The decoder cannot report a failed allocation.
                let there = largest_to_be_had(most);
                is_short = there < most;
                Stream::Xz(Box::new(XzReader::new_mem_limit(input, true, there)))
            }
        };
        Ok(Decoder {
            codec,
            stream: Some(stream),
            start: 0,
            is_short,
        })
    }

    /// Fills the beginning of a buffer; returns 0 at the end.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        while let Some(stream) = &mut self.stream {
            let read = match stream {
                Stream::Gzip(member) => member.read(buffer),
                #[cfg(any(feature = "zstd", feature = "ruzstd"))]
                Stream::Zstd(decoder) => decoder.read(buffer),
                Stream::Xz(decoder) => decoder.read(buffer),
            };
            let len = read.map_err(|error| match broken(self.codec, error, self.start) {
                Error::Malformed { why, .. } if self.is_short && why == NO_DICTIONARY => {
                    lack().into()
                }
                other => other,
            })?;
            if len > 0 || buffer.is_empty() {
                return Ok(len);
            }
            self.stream = match self.stream.take() {
                Some(Stream::Gzip(member)) => self.next_member(member.into_inner())?,
                _ => None,
            };
        }
        Ok(0)
    }

    /// The next member of a gzip file, which may be padded with zeros.
    fn next_member(&mut self, mut input: Input) -> Result<Option<Stream>> {
        if input.skip_zeros()? {
            return Ok(None);
        }
        self.start = input.at();
        Ok(Some(Stream::Gzip(Box::new(GzDecoder::new(input)))))
    }
}

/// The largest half, quarter and so on of so many KiB that can be allocated.
fn largest_to_be_had(kibibytes: u32) -> u32 {
    let is_there = |kibibytes: &u32| {
        memory::probe(usize::try_from(*kibibytes).unwrap_or(usize::MAX) << 10).is_ok()
    };
    let mut halves = std::iter::successors(Some(kibibytes), |most| Some(most / 2));
    halves.find(is_there).unwrap_or(0)
}

/// The error of a dictionary beyond the limit.
const NO_DICTIONARY: &str = "its dictionary does not fit the memory budget";

/// The error of a broken compressed file.
fn broken(codec: Codec, error: io::Error, start: u64) -> Error {
    if error.raw_os_error().is_some() {
        return error.into();
    }
    if is_lack(&error) {
        return lack().into();
    }
    let kind = error.kind();
    // The other error of this kind is a dictionary beyond the limit, found before it is allocated.
    if kind == io::ErrorKind::OutOfMemory && error.to_string().ends_with(" too large") {
        return lack().into();
    }
    // An error of the file itself, passed on by the decoder.
    let why = match (kind, error.downcast::<Error>()) {
        (_, Ok(inner)) if !inner.is_of_content() => return inner,
        (_, Ok(inner)) => inner.to_string(),
        (io::ErrorKind::UnexpectedEof, _) => "the data ends too early".to_owned(),
        (io::ErrorKind::OutOfMemory, _) => NO_DICTIONARY.into(),
        (_, Err(error)) => error.to_string(),
    };
    Error::malformed(start, why).of(codec.name())
}

/// A source as a stream that knows its position.
struct Input {
    source: Source,
    /// Offset of the next piece.
    next: u64,
    piece: Vec<u8>,
    used: usize,
}

impl Input {
    fn new(source: &Source) -> Input {
        Input {
            source: source.clone(),
            next: 0,
            piece: Vec::new(),
            used: 0,
        }
    }

    /// The offset of the next byte.
    fn at(&self) -> u64 {
        let left = self.piece.len().saturating_sub(self.used);
        self.next.saturating_sub(to_u64(left))
    }

    /// Skips zero padding, as written by tapes and some programs; returns whether that is the end.
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

impl BufRead for Input {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.used >= self.piece.len() {
            let left = self.source.len().saturating_sub(self.next);
            let len = to_usize(left.min(to_u64(PIECE))).map_err(io::Error::other)?;
            memory::resize(&mut self.piece, len).map_err(io::Error::other)?;
            if let Err(error) = self.source.read_at(self.next, &mut self.piece) {
                self.piece.clear();
                return Err(io::Error::other(error));
            }
            self.next = self.next.saturating_add(to_u64(len));
            self.used = 0;
        }
        Ok(self.piece.get(self.used..).unwrap_or_default())
    }

    fn consume(&mut self, len: usize) {
        self.used = self.used.saturating_add(len);
    }
}

impl Read for Input {
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
