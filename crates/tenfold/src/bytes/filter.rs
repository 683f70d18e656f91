//! Compressed bytes.

use super::{Bytes, Deflated, Sink};
#[cfg(feature = "zstd")]
use super::{PIECE, wide};
use crate::error::{Error, Result};
use crate::limits::Limits;

/// What stands between stored and decoded bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Filter {
    /// Nothing.
    #[default]
    None,
    /// One or more Zstandard frames that decode to exactly `decoded` bytes.
    Zstd { decoded: u64 },
    /// A deflate stream, as zip files have it.
    Deflate(Deflated),
}

/// Decodes Zstandard frames, handing out pieces, and counts their bytes. What decodes must end with
/// the last stored byte and have `decoded` bytes at most; a longer one stops at the first byte too
/// many.
#[cfg(feature = "zstd")]
fn decode_frames(
    bytes: &Bytes,
    decoded: u64,
    budget: usize,
    each: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<u64> {
    use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

    let start = bytes.at();
    let broken = |error: std::io::Error| Error::malformed(start, format!("zstd data: {error}"));
    let mut decoder = Decoder::new().map_err(broken)?;
    // One byte more than is due shows whether there is one.
    let due = usize::try_from(decoded.saturating_add(1)).unwrap_or(PIECE);
    let mut buffer = vec![0; budget.clamp(1, PIECE).min(due)];
    let mut done = 0_u64;
    let mut frame_open = false;
    bytes.for_each_stored(PIECE, &mut |piece| {
        let mut input = InBuffer::around(piece);
        loop {
            let mut output = OutBuffer::around(buffer.as_mut_slice());
            let hint = decoder.run(&mut input, &mut output).map_err(broken)?;
            frame_open = hint != 0;
            let out = output.as_slice();
            done = done.saturating_add(wide(out.len()));
            if done > decoded {
                let why =
                    format!("zstd data decodes to more than the {decoded} bytes of its shape");
                return Err(Error::malformed(start, why));
            }
            each(out)?;
            let all_read = input.pos() == piece.len();
            if all_read && (out.len() < buffer.len() || !frame_open) {
                return Ok(());
            }
        }
    })?;
    if frame_open {
        return Err(Error::malformed(start, "zstd data ends inside a frame"));
    }
    Ok(done)
}

impl Bytes {
    /// How many bytes Zstandard frames decode to, where nothing says so: by decoding them.
    pub(crate) fn zstd_len(&self, limits: &Limits) -> Result<u64> {
        let mut len = 0_u64;
        decode_frames(self, u64::MAX, super::PIECE, &mut |piece| {
            len = len.saturating_add(super::wide(piece.len()));
            limits.check_decoded("a tensor would be expanded", len)?;
            limits.check_ratio(self.stored_len(), len)
        })?;
        Ok(len)
    }
}

/// Decodes Zstandard frames to exactly `decoded` bytes, handing out pieces.
pub(super) fn decode_zstd(
    bytes: &Bytes,
    decoded: u64,
    budget: usize,
    each: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let done = decode_frames(bytes, decoded, budget, each)?;
    if done < decoded {
        let why = format!("zstd data decodes to {done} bytes, its shape needs {decoded}");
        return Err(Error::malformed(bytes.at(), why));
    }
    Ok(())
}

#[cfg(not(feature = "zstd"))]
fn decode_frames(
    _: &Bytes,
    _: u64,
    _: usize,
    _: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<u64> {
    Err(without_zstd())
}

#[cfg(not(feature = "zstd"))]
fn without_zstd() -> Error {
    Error::Unsupported {
        format: "zstd",
        what: "compression (built without it)".into(),
    }
}

/// Compresses what it is given into Zstandard frames that state their content size.
///
/// Below [`Compressor::SINGLE`] bytes there is one frame; larger data is cut into frames of
/// [`Compressor::FRAME`] bytes, whatever the number of threads, so that the output does not depend
/// on the machine.
///
/// Or into frames of [`Compressor::SEEKABLE`] bytes that end with a checksum, and a table of their
/// lengths in a frame that decoders pass over: the Zstandard seekable format.
pub(crate) struct Compressor {
    #[cfg_attr(
        not(feature = "zstd"),
        expect(dead_code, reason = "only zstd compresses")
    )]
    level: i32,
    frame: usize,
    pending: Vec<Vec<u8>>,
    threads: usize,
    /// The lengths of all frames, compressed and not, where there will be a table of them.
    table: Option<Vec<(u32, u32)>>,
}

impl Compressor {
    const SINGLE: u64 = 32 << 20;
    const FRAME: usize = 16 << 20;
    const SEEKABLE: usize = 1 << 20;

    /// For `len` bytes in all, at a compression level, with frames in work that take about half of
    /// the memory that `limits` allow, or with one.
    pub(crate) fn new(len: u64, level: i32, limits: &Limits) -> Result<Self> {
        let single = len < Compressor::SINGLE;
        let frame = if single {
            super::narrow(len)?
        } else {
            Compressor::FRAME
        };
        Compressor::with(level, frame, None, limits)
    }

    /// For frames that can be found again one by one.
    pub(crate) fn seekable(level: i32, limits: &Limits) -> Result<Self> {
        Compressor::with(level, Compressor::SEEKABLE, Some(Vec::new()), limits)
    }

    fn with(
        level: i32,
        frame: usize,
        table: Option<Vec<(u32, u32)>>,
        limits: &Limits,
    ) -> Result<Self> {
        let threads = std::thread::available_parallelism()
            .map_or(1, usize::from)
            .min(16)
            // A frame, what it is compressed to, and what that takes.
            .min(super::narrow(limits.memory / 2)? / Compressor::FRAME / 3)
            .max(1);
        Ok(Compressor {
            level,
            frame,
            pending: vec![Vec::new()],
            threads,
            table,
        })
    }

    /// Takes the next bytes.
    pub(crate) fn push(&mut self, piece: &[u8], out: &mut Sink) -> Result<()> {
        let mut rest = piece;
        while let Some(last) = self.pending.last_mut().filter(|_| !rest.is_empty()) {
            let part = rest.len().min(self.frame.saturating_sub(last.len()));
            if part == 0 {
                if self.pending.len() >= self.threads {
                    self.flush(out)?;
                }
                self.pending.push(Vec::new());
                continue;
            }
            let (now, later) = rest.split_at(part);
            last.extend_from_slice(now);
            rest = later;
        }
        Ok(())
    }

    /// Writes what is left.
    pub(crate) fn finish(mut self, out: &mut Sink) -> Result<()> {
        if self.table.is_some() {
            self.pending.retain(|frame| !frame.is_empty());
        }
        self.flush(out)?;
        match self.table {
            Some(table) => out.write_as(&seek_table(&table), 0),
            None => Ok(()),
        }
    }

    /// Compresses the pending frames, each on its own thread, and writes them in order.
    #[cfg(feature = "zstd")]
    fn flush(&mut self, out: &mut Sink) -> Result<()> {
        let level = self.level;
        let compress = match self.table {
            Some(_) => checked_frame,
            None => plain_frame,
        };
        let frames = std::mem::take(&mut self.pending);
        let compressed: Vec<std::io::Result<Vec<u8>>> = match frames.as_slice() {
            [one] => vec![compress(one, level)],
            many => std::thread::scope(|scope| {
                let threads: Vec<_> = many
                    .iter()
                    .map(|frame| scope.spawn(move || compress(frame, level)))
                    .collect();
                let stopped = || std::io::Error::other("a compression thread stopped");
                threads
                    .into_iter()
                    .map(|thread| thread.join().unwrap_or_else(|_| Err(stopped())))
                    .collect()
            }),
        };
        for (frame, decoded) in compressed.into_iter().zip(&frames) {
            let frame = frame?;
            if let Some(table) = &mut self.table {
                // A frame is a mebibyte, and zstd makes little more of any.
                let short = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap_or(u32::MAX);
                table.push((short(&frame), short(decoded)));
            }
            out.write_as(&frame, wide(decoded.len()))?;
        }
        Ok(())
    }

    #[cfg(not(feature = "zstd"))]
    fn flush(&mut self, _: &mut Sink) -> Result<()> {
        Err(without_zstd())
    }
}

/// One frame that states its content size.
#[cfg(feature = "zstd")]
fn plain_frame(bytes: &[u8], level: i32) -> std::io::Result<Vec<u8>> {
    zstd::bulk::compress(bytes, level)
}

/// One frame that ends with a checksum, as a stream of unknown length is compressed: so does the
/// reference implementation of the one format that has such frames.
#[cfg(feature = "zstd")]
fn checked_frame(bytes: &[u8], level: i32) -> std::io::Result<Vec<u8>> {
    use std::io::Write;
    let mut encoder = zstd::stream::Encoder::new(Vec::new(), level)?;
    encoder.include_checksum(true)?;
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// What a skippable frame with a table of frames begins with, and what the table ends with.
const SKIPPABLE: u32 = 0x184d_2a5e;
const SEEKABLE_MAGIC: u32 = 0x8f92_eab1;

/// The lengths of all frames, in a frame that decoders pass over.
fn seek_table(frames: &[(u32, u32)]) -> Vec<u8> {
    let count = u32::try_from(frames.len()).unwrap_or(u32::MAX);
    let len = count.saturating_mul(8).saturating_add(9);
    let mut table = [SKIPPABLE.to_le_bytes(), len.to_le_bytes()].concat();
    for (stored, decoded) in frames {
        table.extend(stored.to_le_bytes());
        table.extend(decoded.to_le_bytes());
    }
    table.extend(count.to_le_bytes());
    table.push(0); // no checksums in the table
    table.extend(SEEKABLE_MAGIC.to_le_bytes());
    table
}

#[cfg(test)]
#[cfg(feature = "zstd")]
mod tests {
    use super::*;

    fn compressed(parts: &[&[u8]]) -> Vec<u8> {
        let mut out = Sink::memory();
        for part in parts {
            let mut compressor = Compressor::new(wide(part.len()), 3, &Limits::default()).unwrap();
            compressor.push(part, &mut out).unwrap();
            compressor.finish(&mut out).unwrap();
        }
        out.finish().unwrap().into_memory().unwrap()
    }

    fn decode(stored: Vec<u8>, decoded: u64) -> Result<Vec<u8>> {
        Bytes::memory(stored)
            .filtered(Filter::Zstd { decoded })
            .to_vec()
    }

    #[test]
    fn what_is_compressed_counts_as_what_it_was() {
        let data = [7; 100_000];
        let (mut out, progress) = (Sink::memory(), super::super::Progress::default());
        out.report_to(progress.clone());
        let mut compressor = Compressor::new(wide(data.len()), 3, &Limits::default()).unwrap();
        compressor.push(&data, &mut out).unwrap();
        compressor.finish(&mut out).unwrap();
        assert_eq!(progress.done(), 100_000);
        assert!(out.at() < 1000);
    }

    #[test]
    fn several_frames_decode_as_one() {
        assert_eq!(
            decode(compressed(&[b"tensor", b"", b"fold"]), 10).unwrap(),
            b"tensorfold"
        );
    }

    #[test]
    fn a_frame_longer_or_shorter_than_its_shape_is_refused() {
        let stored = compressed(&[&[7; 100_000]]);
        let long = decode(stored.clone(), 99_999).unwrap_err().to_string();
        assert!(long.contains("more than the 99999 bytes"), "{long}");
        let short = decode(stored.clone(), 100_001).unwrap_err().to_string();
        assert!(short.contains("decodes to 100000 bytes"), "{short}");
        assert!(decode(stored, 100_000).is_ok());
    }

    #[test]
    fn a_cut_frame_and_trailing_bytes_are_refused() {
        let mut stored = compressed(&[b"tensor"]);
        stored.push(0);
        assert!(decode(stored.clone(), 6).is_err());
        stored.truncate(stored.len() - 2);
        assert!(decode(stored, 6).is_err());
    }

    #[test]
    fn large_data_is_cut_into_frames_of_fixed_size() {
        let data: Vec<u8> = (0..40_u32 << 20)
            .map(|n| (n >> 12).to_le_bytes()[0])
            .collect();
        let stored = compressed(&[&data]);
        let first = zstd::zstd_safe::find_frame_compressed_size(&stored).unwrap();
        let size = zstd::zstd_safe::get_frame_content_size(&stored[..first]).unwrap();
        assert_eq!(size, Some(16 << 20));
        assert_eq!(decode(stored, 40 << 20).unwrap(), data);
    }
}
