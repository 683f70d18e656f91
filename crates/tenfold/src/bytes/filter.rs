//! Compressed bytes.

use std::collections::VecDeque;
use std::thread::JoinHandle;

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
    let ahead = super::frames::decode_ahead(bytes, decoded, budget, each)?;
    let mut decoding = Decoding::new(bytes.at(), decoded, ahead.decoded, budget)?;
    if ahead.stored == 0 {
        bytes.for_each_stored(PIECE, &mut |piece| decoding.step(piece, each))?;
        return decoding.finish();
    }
    let (mut at, mut state) = (ahead.stored, ahead.state);
    let mut buffer = Vec::new();
    while at < bytes.stored_len() {
        let len = bytes.stored_len().saturating_sub(at).min(wide(PIECE));
        buffer.resize(super::narrow(len)?, 0);
        bytes.extent().read_at(bytes.source(), at, &mut buffer)?;
        if let Some(state) = &mut state {
            state.update(&buffer);
        }
        decoding.step(&buffer, each)?;
        at = at.saturating_add(len);
    }
    if let (Some(state), Some(digest)) = (state, bytes.stored_digest()) {
        digest.compare(state, bytes.at())?;
    }
    decoding.finish()
}

/// Frames that are decoded byte after byte.
#[cfg(feature = "zstd")]
struct Decoding {
    decoder: zstd::stream::raw::Decoder<'static>,
    buffer: Vec<u8>,
    /// Where they are stored.
    start: u64,
    /// How many bytes there may be, and are.
    decoded: u64,
    done: u64,
    frame_open: bool,
}

#[cfg(feature = "zstd")]
impl Decoding {
    /// Goes on after `done` bytes.
    fn new(start: u64, decoded: u64, done: u64, budget: usize) -> Result<Decoding> {
        // One byte more than is due shows whether there is one.
        let due = usize::try_from(decoded.saturating_add(1)).unwrap_or(PIECE);
        Ok(Decoding {
            decoder: zstd::stream::raw::Decoder::new().map_err(|error| broken(start, &error))?,
            buffer: vec![0; budget.clamp(1, PIECE).min(due)],
            start,
            decoded,
            done,
            frame_open: false,
        })
    }

    /// Decodes the next stored bytes.
    fn step(&mut self, piece: &[u8], each: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        use zstd::stream::raw::{InBuffer, Operation, OutBuffer};

        let (start, decoded) = (self.start, self.decoded);
        let mut input = InBuffer::around(piece);
        loop {
            let room = self.buffer.len();
            let mut output = OutBuffer::around(self.buffer.as_mut_slice());
            let hint = self.decoder.run(&mut input, &mut output);
            self.frame_open = hint.map_err(|error| broken(start, &error))? != 0;
            let out = output.as_slice();
            self.done = self.done.saturating_add(wide(out.len()));
            if self.done > decoded {
                let why =
                    format!("zstd data decodes to more than the {decoded} bytes of its shape");
                return Err(Error::malformed(start, why));
            }
            each(out)?;
            let all_read = input.pos() == piece.len();
            if all_read && (out.len() < room || !self.frame_open) {
                return Ok(());
            }
        }
    }

    /// How many bytes there were.
    fn finish(self) -> Result<u64> {
        match self.frame_open {
            true => Err(Error::malformed(
                self.start,
                "zstd data ends inside a frame",
            )),
            false => Ok(self.done),
        }
    }
}

#[cfg(feature = "zstd")]
fn broken(start: u64, error: &std::io::Error) -> Error {
    Error::malformed(start, format!("zstd data: {error}"))
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
    /// The frame that is being filled.
    filling: Vec<u8>,
    threads: usize,
    /// The frames that are being compressed, the oldest first.
    working: VecDeque<JoinHandle<Compressed>>,
    /// The lengths of all frames, compressed and not, where there will be a table of them.
    table: Option<Vec<(u32, u32)>>,
}

/// What came of a frame, and the frame, whose room is used again.
type Compressed = (Result<Vec<u8>>, Vec<u8>);

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
        // One frame is filled meanwhile.
        let memory = super::narrow(limits.memory / 2)?.saturating_sub(Compressor::FRAME);
        let threads = std::thread::available_parallelism()
            .map_or(1, usize::from)
            .min(16)
            // A frame, what it is compressed to, and what that takes.
            .min(memory / Compressor::FRAME / 3)
            .max(1);
        Ok(Compressor {
            level,
            frame,
            filling: Vec::new(),
            threads,
            working: VecDeque::new(),
            table,
        })
    }

    /// Takes the next bytes.
    pub(crate) fn push(&mut self, piece: &[u8], out: &mut Sink) -> Result<()> {
        let mut rest = piece;
        while !rest.is_empty() {
            let room = self.frame.saturating_sub(self.filling.len());
            if room == 0 {
                self.start(out)?;
                continue;
            }
            let (now, later) = rest.split_at(rest.len().min(room));
            self.filling.extend_from_slice(now);
            rest = later;
        }
        Ok(())
    }

    /// Writes what is left.
    pub(crate) fn finish(mut self, out: &mut Sink) -> Result<()> {
        if self.table.is_none() || !self.filling.is_empty() {
            self.start(out)?;
        }
        while let Some(oldest) = self.working.pop_front() {
            self.take(oldest, out)?;
        }
        match self.table {
            Some(table) => out.write_as(&seek_table(&table), 0),
            None => Ok(()),
        }
    }

    /// Has the frame that was filled compressed by another thread while the next one is filled. If
    /// there are enough of them, the oldest is waited for.
    #[cfg(feature = "zstd")]
    fn start(&mut self, out: &mut Sink) -> Result<()> {
        let (level, frame) = (self.level, std::mem::take(&mut self.filling));
        let compress = match self.table {
            Some(_) => checked_frame,
            None => plain_frame,
        };
        // A lone frame, and one at a time, need no other thread.
        let is_only = self.table.is_none() && frame.len() < Compressor::FRAME;
        if self.threads < 2 || is_only && self.working.is_empty() {
            let compressed = compress(&frame, level).map_err(Error::from);
            return self.write((compressed, frame), out);
        }
        if self.working.len() >= self.threads
            && let Some(oldest) = self.working.pop_front()
        {
            self.take(oldest, out)?;
        }
        self.working.push_back(std::thread::spawn(move || {
            (compress(&frame, level).map_err(Error::from), frame)
        }));
        Ok(())
    }

    #[cfg(not(feature = "zstd"))]
    fn start(&mut self, _: &mut Sink) -> Result<()> {
        Err(without_zstd())
    }

    /// Writes the oldest of the frames in work, once it is done.
    fn take(&mut self, oldest: JoinHandle<Compressed>, out: &mut Sink) -> Result<()> {
        let stopped = |_| Error::invalid("a compression thread stopped");
        self.write(oldest.join().map_err(stopped)?, out)
    }

    fn write(&mut self, (compressed, frame): Compressed, out: &mut Sink) -> Result<()> {
        let compressed = compressed?;
        if let Some(table) = &mut self.table {
            // A frame is a mebibyte, and zstd makes little more of any.
            let short = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap_or(u32::MAX);
            table.push((short(&compressed), short(&frame)));
        }
        out.write_as(&compressed, super::wide(frame.len()))?;
        if self.filling.is_empty() {
            self.filling = frame;
            self.filling.clear();
        }
        Ok(())
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
