//! Reading of files that are compressed as a whole: gzip (RFC 1952), Zstandard (RFC 8878), xz.
//!
//! Opening one decompresses it to its end and verifies checksums and lengths. Content that fits in
//! memory is kept there. Of longer content the beginning and the end are kept, and the rest is
//! decompressed again up to the position of a read; only repeated backward reads make a temporary
//! file of it.
#![deny(clippy::arithmetic_side_effects)]

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Mutex, MutexGuard};

use super::file_decoder::{Codec, Decoder};
use crate::bytes::{PIECE, to_u64, to_usize};
use crate::error::{Error, Result};
use crate::io::{Compute, Head, Source, Spool};
use crate::limits::Limits;
use crate::memory;

/// File extensions of compressed files.
const ENDINGS: [&str; 3] = ["gz", "zst", "xz"];

/// Whether a file name is that of a compressed file.
pub(crate) fn is_packed_name(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ENDINGS.iter().any(|own| ending.eq_ignore_ascii_case(own)))
}

/// The extension of a file name in lower case; for a compressed file, that of its content.
pub(crate) fn extension(path: &Path) -> Option<String> {
    let inside = path.with_extension("");
    let path = if is_packed_name(path) {
        inside.as_path()
    } else {
        path
    };
    Some(path.extension()?.to_str()?.to_ascii_lowercase())
}

/// Length of the beginning of long content that is kept, and of the window around the last read: it
/// covers headers and indices, and lines that readers read again.
const KEPT: usize = 4 << 20;

/// Decompressed bytes, as a multiple of the content's length, after which all of it goes to a
/// temporary file.
const TIMES: u64 = 2;

impl Source {
    /// The content of a source compressed by gzip, zstd or xz; any other source unchanged.
    ///
    /// # Errors
    /// [`Error::Malformed`] if it does not decompress to its end, [`Error::Limit`] if the output is
    /// too long.
    pub fn unpacked(self, limits: &Limits) -> Result<Source> {
        Ok(Head::of(&self)?.unpacked(limits)?.source().clone())
    }

    fn content(&self, codec: Codec, limits: &Limits) -> Result<Source> {
        let most = to_usize(limits.memory / 4)?;
        let mut decoder = Decoder::new(self, codec, limits)?;
        let (mut begin, mut window, mut len) = (Vec::new(), Window::default(), 0_u64);
        let mut buffer = memory::zeros(PIECE)?;
        loop {
            let piece = decoder.read(&mut buffer)?;
            let piece = buffer.get(..piece).unwrap_or_default();
            if piece.is_empty() {
                break;
            }
            len = len.saturating_add(to_u64(piece.len()));
            limits.check_decoded("a compressed file would be decompressed", len)?;
            limits.check_ratio(self.len(), len)?;
            window.push(piece)?;
            if len <= to_u64(most) {
                memory::append(&mut begin, piece)?;
            } else if begin.len() > KEPT {
                begin.truncate(KEPT);
                begin.shrink_to_fit();
            }
        }
        let content = if len <= to_u64(most) {
            Source::memory(begin)
        } else {
            Source::computed(Packed {
                packed: self.clone(),
                codec,
                limits: limits.clone(),
                len,
                begin,
                state: Mutex::new(State {
                    window,
                    decoder: None,
                    work: 0,
                    whole: None,
                }),
            })
        };
        Ok(content.out_of(codec.packing()))
    }
}

impl Head {
    /// The head of the content, if the source is compressed as a whole; else the head itself.
    pub(crate) fn unpacked(self, limits: &Limits) -> Result<Head> {
        // No compressed file is shorter.
        let start = self.bytes().first_chunk::<10>();
        let Some(codec) = start.and_then(|start| Codec::of(start)) else {
            return Ok(self);
        };
        Head::of(&self.source().content(codec, limits)?)
    }
}

/// The content of a compressed file that does not fit in memory.
struct Packed {
    packed: Source,
    codec: Codec,
    limits: Limits,
    len: u64,
    begin: Vec<u8>,
    state: Mutex<State>,
}

struct State {
    window: Window,
    /// The decoder, at the end of the window.
    decoder: Option<Decoder>,
    /// Bytes decompressed since the file was opened.
    work: u64,
    whole: Option<Source>,
}

/// The most recent bytes of a stream.
#[derive(Default)]
struct Window {
    bytes: VecDeque<u8>,
    end: u64,
}

impl Window {
    fn push(&mut self, piece: &[u8]) -> Result<()> {
        memory::extend(&mut self.bytes, piece)?;
        let excess = self.bytes.len().saturating_sub(KEPT);
        self.bytes.drain(..excess);
        self.end = self.end.saturating_add(to_u64(piece.len()));
        Ok(())
    }

    fn start(&self) -> u64 {
        self.end.saturating_sub(to_u64(self.bytes.len()))
    }

    /// Fills the beginning of a buffer with the available bytes from `at` on; returns their number.
    fn read(&self, at: u64, buffer: &mut [u8]) -> Result<usize> {
        let Some(skip) = at.checked_sub(self.start()) else {
            return Ok(0);
        };
        let (first, second) = self.bytes.as_slices();
        let skip = to_usize(skip)?;
        let first = first.get(skip..).unwrap_or_default();
        let skipped = skip.saturating_sub(self.bytes.as_slices().0.len());
        let second = second.get(skipped..).unwrap_or_default();
        let mut rest = buffer;
        let mut len = 0_usize;
        for found in [first, second] {
            let part = found.len().min(rest.len());
            let (now, later) = rest.split_at_mut(part);
            now.copy_from_slice(found.get(..part).unwrap_or_default());
            rest = later;
            len = len.saturating_add(part);
        }
        Ok(len)
    }
}

impl Packed {
    fn state(&self) -> Result<MutexGuard<'_, State>> {
        let stopped = |_| Error::invalid("a thread that decompresses stopped");
        self.state.lock().map_err(stopped)
    }

    fn decoder(&self) -> Result<Decoder> {
        Decoder::new(&self.packed, self.codec, &self.limits)
    }

    fn changed(&self) -> Error {
        Error::malformed(self.len, "the file became shorter while it was read")
    }

    /// All of the content, in a temporary file.
    fn spooled(&self) -> Result<Source> {
        let mut spool = Spool::within(&self.limits).expecting(self.len);
        let mut decoder = self.decoder()?;
        let (mut buffer, mut len) = (memory::zeros(PIECE)?, 0_u64);
        loop {
            let piece = decoder.read(&mut buffer)?;
            len = len.saturating_add(to_u64(piece));
            match buffer.get(..piece) {
                Some(piece) if !piece.is_empty() && len <= self.len => spool.write(piece)?,
                _ if len == self.len => return spool.finish(),
                _ => return Err(self.changed()),
            }
        }
    }

    /// Decompresses until the window has the byte before `end`.
    fn go_to(&self, at: u64, state: &mut State) -> Result<()> {
        if at < state.window.start() || state.decoder.is_none() {
            state.window = Window::default();
            state.decoder = Some(self.decoder()?);
        }
        let mut buffer = memory::zeros(PIECE)?;
        while state.window.end <= at {
            let decoder = state.decoder.as_mut().ok_or_else(|| self.changed())?;
            let len = decoder.read(&mut buffer)?;
            if len == 0 {
                return Err(self.changed());
            }
            state.work = state.work.saturating_add(to_u64(len));
            state.window.push(buffer.get(..len).unwrap_or_default())?;
        }
        Ok(())
    }
}

impl Compute for Packed {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<()> {
        let end = at.saturating_add(to_u64(buffer.len()));
        if let Some(found) = self.begin.get(to_usize(at)?..to_usize(end)?) {
            buffer.copy_from_slice(found);
            return Ok(());
        }
        let mut state = self.state()?;
        let (mut at, mut rest) = (at, buffer);
        while !rest.is_empty() {
            if let Some(whole) = &state.whole {
                return whole.read_at(at, rest);
            }
            let len = state.window.read(at, rest)?;
            if len == 0 && at < state.window.start() && state.work >= self.len.saturating_mul(TIMES)
            {
                (state.decoder, state.window) = (None, Window::default());
                state.whole = Some(self.spooled()?);
            } else if len == 0 {
                self.go_to(at, &mut state)?;
            }
            let (_, later) = rest.split_at_mut(len);
            rest = later;
            at = at.saturating_add(to_u64(len));
        }
        Ok(())
    }

    fn depth(&self) -> u32 {
        0
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;
    use crate::bytes::Bytes;
    use crate::io::Packing;

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
    fn a_long_content_is_decompressed_where_it_is_read_and_not_kept() {
        let limits = Limits {
            memory: 1 << 20,
            temp: 0,
            ..Limits::default()
        };
        // Longer than the kept beginning and end.
        let content: Vec<u8> = (0..4_000_000_u32).flat_map(u32::to_le_bytes).collect();
        let gzip = packed(&content);
        let half = content.len() / 2;
        let members = [packed(&content[..half]), packed(&content[half..])].concat();
        let zstd = zstd::encode_all(content.as_slice(), 1).unwrap();
        for file in [gzip, members, zstd] {
            let source = Source::memory(file).unpacked(&limits).unwrap();
            assert_eq!(source.len(), to_u64(content.len()));
            let mut found = vec![0; 100_000];
            // From the end to the middle, and on from there, with steps back.
            let read = |at: usize, found: &mut Vec<u8>| {
                source.read_at(to_u64(at), found)?;
                assert_eq!(*found, content[at..at + found.len()], "{at}");
                Ok(())
            };
            let mut places = vec![content.len() - 100_000, 0, half];
            places.extend((half..content.len() - 200_000).step_by(90_000));
            let read_all: Result<()> = places.iter().try_for_each(|at| read(*at, &mut found));
            read_all.unwrap();
            // Continued reading from the end to the beginning needs a temporary file.
            let mut back = (0..6).map(|_| {
                read(half, &mut found).and_then(|()| read(content.len() - 100_000, &mut found))
            });
            let error = back.find_map(Result::err).unwrap().to_string();
            assert!(error.contains("--max-temp"), "{error}");
        }
    }

    #[test]
    fn what_is_not_gzip_is_left_alone() {
        let header = *b"\x1f\x8b\x08\0\0\0\0\0{\"";
        for bytes in [&b""[..], b"\x1f\x8b", &header, b"NUMPY and more"] {
            let source = Source::memory(bytes.to_vec());
            let source = source.unpacked(&Limits::default()).unwrap();
            assert_eq!(source.packing(), Packing::None);
            assert_eq!(source.len(), to_u64(bytes.len()));
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

    /// The output of liblzma.
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
        // It needs 8 MiB.
        let error = Source::memory(XZ.to_vec()).unpacked(&limits).unwrap_err();
        assert!(error.to_string().contains("memory"), "{error}");
    }
}
