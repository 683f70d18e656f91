//! Zstandard decoding in pure Rust, by ruzstd: for targets without the C library.

use std::io;
use std::io::{BufRead, BufReader, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use crate::bytes::{Bytes, DigestState, PIECE, to_u64, to_usize};
use crate::error::{Error, Result};
use crate::memory;

/// The decoded output of consecutive frames; skippable frames are skipped.
pub(crate) struct Decoder<R> {
    source: Remembering<R>,
    decoder: FrameDecoder,
    is_in_frame: bool,
}

impl<R: BufRead> Decoder<R> {
    pub(crate) fn new(source: R) -> Decoder<R> {
        let source = Remembering {
            source,
            failure: None,
        };
        Decoder {
            source,
            decoder: FrameDecoder::new(),
            is_in_frame: false,
        }
    }

    /// Starts the next frame; false at the end.
    fn next_frame(&mut self) -> io::Result<bool> {
        if self.source.source.fill_buf()?.is_empty() {
            return Ok(false);
        }
        match self.decoder.reset(&mut self.source) {
            Ok(()) => self.is_in_frame = true,
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length,
                ..
            })) => {
                let skipped = (&mut self.source).take(length.into());
                if io::copy(&mut { skipped }, &mut io::sink())? < u64::from(length) {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            Err(error) => return Err(self.broken(error)),
        }
        Ok(true)
    }

    /// Ends a frame whose content was read, and verifies its checksum.
    fn end_frame(&mut self) -> io::Result<()> {
        self.is_in_frame = false;
        let stated = self.decoder.get_checksum_from_data();
        if stated.is_some() && stated != self.decoder.get_calculated_checksum() {
            Err(io::Error::other("checksum of a frame does not match"))
        } else {
            Ok(())
        }
    }

    /// The error of the decoder, or the original error of the source.
    fn broken(&mut self, error: FrameDecoderError) -> io::Error {
        self.source
            .failure
            .take()
            .unwrap_or_else(|| io::Error::other(error))
    }
}

impl<R: BufRead> Read for Decoder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !buffer.is_empty() {
            if !self.is_in_frame {
                if self.next_frame()? {
                    continue;
                } else {
                    return Ok(0);
                }
            }
            let len = self.decoder.read(buffer)?;
            if len > 0 {
                return Ok(len);
            }
            if self.decoder.is_finished() {
                self.end_frame()?;
                continue;
            }
            let one = BlockDecodingStrategy::UptoBlocks(1);
            let decoded = self.decoder.decode_blocks(&mut self.source, one);
            decoded.map_err(|error| self.broken(error))?;
        }
        Ok(0)
    }
}

/// A source that keeps its last error, as the decoder passes on only its text.
struct Remembering<R> {
    source: R,
    failure: Option<io::Error>,
}

impl<R: Read> Read for Remembering<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.source.read(buffer) {
            Ok(0) if !buffer.is_empty() => {
                self.failure = Some(io::ErrorKind::UnexpectedEof.into());
                Ok(0)
            }
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                let kind = error.kind();
                self.failure = Some(error);
                Err(kind.into())
            }
            read => read,
        }
    }
}

/// The stored bytes of a sequence, with a checksum over those that were read.
struct Stored<'a> {
    bytes: &'a Bytes,
    at: u64,
    state: Option<DigestState>,
}

impl Read for Stored<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.bytes.stored_len().saturating_sub(self.at);
        let len = to_u64(buffer.len()).min(left);
        let now = buffer.get_mut(..to_usize(len).map_err(io::Error::other)?);
        let now = now.unwrap_or_default();
        let (extent, source) = (self.bytes.extent(), self.bytes.source());
        extent
            .read_at(source, self.at, now)
            .map_err(io::Error::other)?;
        if let Some(state) = &mut self.state {
            state.update(now);
        }
        self.at = self.at.saturating_add(len);
        Ok(now.len())
    }
}

/// Decodes Zstandard frames, as [`decode_frames`](super::decode_frames) of the C library does.
pub(crate) fn decode_frames(
    bytes: &Bytes,
    decoded: u64,
    budget: usize,
    mut place: Option<&mut [u8]>,
    each: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<u64> {
    let digest = bytes.stored_digest();
    let stored = Stored {
        bytes,
        at: 0,
        state: digest.map(|digest| DigestState::new(digest.algorithm)),
    };
    let mut decoder = Decoder::new(BufReader::with_capacity(PIECE, stored));
    let mut buffer = memory::zeros(budget.clamp(1, PIECE))?;
    let mut done = 0_u64;
    loop {
        let read = decoder.read(&mut buffer);
        let len = read.map_err(|error| broken(bytes.at(), error))?;
        let Some(piece) = buffer.get(..len).filter(|piece| !piece.is_empty()) else {
            break;
        };
        done = done.saturating_add(to_u64(len));
        if done > decoded {
            let why = format!("zstd data decodes to more than the {decoded} bytes of its shape");
            return Err(Error::malformed(bytes.at(), why));
        }
        if let Some(rest) = &mut place {
            super::put_next(piece, rest)?;
        }
        each(piece)?;
    }
    let state = decoder.source.source.into_inner().state;
    if let (Some(state), Some(digest)) = (state, digest) {
        digest.compare(state, bytes.at())?;
    }
    Ok(done)
}

fn broken(start: u64, error: io::Error) -> Error {
    if error.kind() == io::ErrorKind::UnexpectedEof {
        return Error::malformed(start, "zstd data ends inside a frame");
    }
    match error.downcast::<Error>() {
        Ok(own) => own,
        Err(error) => Error::malformed(start, format!("zstd data: {error}")),
    }
}

#[cfg(test)]
#[cfg(feature = "zstd")]
mod tests {
    use super::*;

    fn data(len: u32) -> Vec<u8> {
        let hash = |n: u32| (n / 5).wrapping_mul(0x9e37_79b9) >> 13 & (n >> 16);
        (0..len).map(|n| hash(n).to_le_bytes()[0]).collect()
    }

    fn frame(data: &[u8], level: i32, is_checked: bool) -> Vec<u8> {
        let mut encoder = zstd::stream::Encoder::new(Vec::new(), level).unwrap();
        encoder.include_checksum(is_checked).unwrap();
        std::io::Write::write_all(&mut encoder, data).unwrap();
        encoder.finish().unwrap()
    }

    fn decode(stored: &[u8]) -> io::Result<Vec<u8>> {
        let mut decoded = Vec::new();
        Decoder::new(stored).read_to_end(&mut decoded)?;
        Ok(decoded)
    }

    fn decode_bytes(stored: Vec<u8>, len: u64) -> Result<Vec<u8>> {
        let (bytes, mut decoded) = (Bytes::memory(stored), Vec::new());
        decode_frames(&bytes, len, PIECE, None, &mut |piece| {
            decoded.extend_from_slice(piece);
            Ok(())
        })?;
        Ok(decoded)
    }

    #[test]
    fn frames_of_the_c_library_decode_to_what_they_were() {
        let (mut stored, mut wanted) = (Vec::new(), Vec::new());
        for (len, level, is_checked) in [
            (0, 1, true),
            (1, 3, false),
            (300_000, 3, true),
            (5_000_000, 19, false),
            (70_000, -5, true),
        ] {
            let data = data(len);
            stored.extend(frame(&data, level, is_checked));
            // A skippable frame of seven bytes.
            stored.extend([0x5e, 0x2a, 0x4d, 0x18, 7, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7]);
            wanted.extend(data);
        }
        assert!(decode(&stored).unwrap() == wanted);
        assert!(decode_bytes(stored, to_u64(wanted.len())).unwrap() == wanted);
    }

    #[test]
    fn every_cut_and_every_changed_byte_is_an_error_or_the_same_or_other_bytes() {
        let data = data(3000);
        let stored = frame(&data, 3, true);
        for end in 1..stored.len() {
            let error = decode(&stored[..end]).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{end}");
        }
        for at in 0..stored.len() {
            let mut changed = stored.clone();
            changed[at] ^= 0x41;
            // The checksum rejects all of them.
            if let Ok(decoded) = decode(&changed) {
                assert!(decoded == data || decoded.is_empty(), "{at}");
            }
        }
    }

    #[test]
    fn errors_of_the_source_are_handed_on() {
        let stored = frame(&data(300_000), 3, false);
        let (first, _) = stored.split_at(stored.len() / 2);
        struct Failing;
        impl Read for Failing {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::from_raw_os_error(5))
            }
        }
        let source = BufReader::new(first.chain(Failing));
        let error = Decoder::new(source).read_to_end(&mut Vec::new());
        assert_eq!(error.unwrap_err().raw_os_error(), Some(5));
    }

    #[test]
    fn more_bytes_than_the_shape_has_are_refused() {
        let stored = frame(&data(1000), 3, false);
        let error = decode_bytes(stored.clone(), 999).unwrap_err().to_string();
        assert!(error.contains("more than the 999 bytes"), "{error}");
        let cut = stored.len() - 4;
        let error = decode_bytes(stored[..cut].to_vec(), 1000).unwrap_err();
        assert!(error.to_string().contains("ends inside a frame"), "{error}");
    }
}
