//! Zstandard compression of written bytes, by several threads.

use std::collections::VecDeque;
use std::thread::{Builder, JoinHandle};

#[cfg(feature = "zstd")]
use super::{STATE, is_lack, lack};
use crate::bytes::{to_u64, to_usize};
use crate::error::{Error, Result};
use crate::io::Sink;
use crate::limits::Limits;
use crate::memory;

/// Compresses its input into Zstandard frames that state their content size.
///
/// Below [`Compressor::SINGLE`] bytes there is one frame; larger data is cut into frames of
/// [`Compressor::FRAME`] bytes, whatever the number of threads, so that the output does not depend
/// on the machine.
///
/// The alternative is the Zstandard seekable format: frames of [`Compressor::SEEKABLE`] bytes that
/// end with a checksum, and a table of their lengths in a skippable frame.
pub(crate) struct Compressor {
    level: i32,
    frame: usize,
    /// The frame that is being filled.
    filling: Press,
    threads: usize,
    /// The frames that are being compressed, oldest first.
    working: VecDeque<JoinHandle<Result<Press>>>,
    /// Buffers for the next frames.
    idle: Vec<Press>,
    /// Compressed and uncompressed lengths of all frames, if a seek table will be written.
    table: Option<Vec<(u32, u32)>>,
}

/// A frame and the buffers to compress it, reused for later frames, as fresh memory is slow.
#[derive(Default)]
struct Press {
    frame: Vec<u8>,
    compressed: Vec<u8>,
    #[cfg(feature = "zstd")]
    plain: Option<zstd::bulk::Compressor<'static>>,
    #[cfg(feature = "zstd")]
    checked: Option<zstd::stream::raw::Encoder<'static>>,
}

impl Compressor {
    const SINGLE: u64 = 32 << 20;
    const FRAME: usize = 16 << 20;
    const SEEKABLE: usize = 1 << 20;

    /// For `len` bytes in all, at a compression level, with as many concurrent frames as fit in
    /// about half of the memory that `limits` allow, at least one.
    pub(crate) fn new(len: u64, level: i32, limits: &Limits) -> Result<Self> {
        let single = len < Compressor::SINGLE;
        let frame = if single {
            to_usize(len)?
        } else {
            Compressor::FRAME
        };
        Compressor::with(level, frame, None, limits)
    }

    /// For the seekable format.
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
        let memory = to_usize(limits.memory / 2)?.saturating_sub(Compressor::FRAME);
        let threads = std::thread::available_parallelism()
            .map_or(1, usize::from)
            .min(16)
            // A frame, its compressed output, and the memory of the encoder.
            .min(memory / Compressor::FRAME / 3)
            .max(1);
        Ok(Compressor {
            level,
            frame,
            filling: Press::default(),
            threads,
            working: VecDeque::new(),
            idle: Vec::new(),
            table,
        })
    }

    /// Takes the next bytes.
    pub(crate) fn push(&mut self, piece: &[u8], out: &mut Sink) -> Result<()> {
        let mut rest = piece;
        while !rest.is_empty() {
            let room = self.frame.saturating_sub(self.filling.frame.len());
            if room == 0 {
                self.start(out)?;
                continue;
            }
            let (now, later) = rest.split_at(rest.len().min(room));
            memory::append(&mut self.filling.frame, now)?;
            rest = later;
        }
        Ok(())
    }

    /// Writes the rest.
    pub(crate) fn finish(mut self, out: &mut Sink) -> Result<()> {
        if self.table.is_none() || !self.filling.frame.is_empty() {
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

    /// Starts the compression of the full frame on another thread while the next one is filled. If
    /// enough are running, waits for the oldest.
    fn start(&mut self, out: &mut Sink) -> Result<()> {
        if self.working.len() >= self.threads
            && let Some(oldest) = self.working.pop_front()
        {
            self.take(oldest, out)?;
        }
        let next = self.idle.pop().unwrap_or_default();
        let mut press = std::mem::replace(&mut self.filling, next);
        let (level, is_checked) = (self.level, self.table.is_some());
        // A single frame, or one frame at a time, needs no other thread.
        let is_only = !is_checked && press.frame.len() < Compressor::FRAME;
        if self.threads < 2 || is_only && self.working.is_empty() {
            press.compress(level, is_checked)?;
            return self.write(press, out);
        }
        let work = move || press.compress(level, is_checked).map(|()| press);
        self.working.push_back(Builder::new().spawn(work)?);
        Ok(())
    }

    /// Writes the oldest of the running frames, once it is complete.
    fn take(&mut self, oldest: JoinHandle<Result<Press>>, out: &mut Sink) -> Result<()> {
        let stopped = |_| Error::invalid("a compression thread stopped");
        self.write(oldest.join().map_err(stopped)??, out)
    }

    fn write(&mut self, mut press: Press, out: &mut Sink) -> Result<()> {
        if let Some(table) = &mut self.table {
            // A frame is one mebibyte, and zstd never makes it much longer.
            let short = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap_or(u32::MAX);
            table.push((short(&press.compressed), short(&press.frame)));
        }
        out.write_as(&press.compressed, to_u64(press.frame.len()))?;
        press.frame.clear();
        self.idle.push(press);
        Ok(())
    }
}

impl Press {
    #[cfg(feature = "zstd")]
    fn compress(&mut self, level: i32, is_checked: bool) -> Result<()> {
        memory::probe(STATE)?;
        let most = zstd::zstd_safe::compress_bound(self.frame.len());
        self.compressed.clear();
        memory::reserve(&mut self.compressed, most)?;
        if is_checked {
            self.checked_frame(level)
        } else {
            self.plain_frame(level)
        }
        .map_err(|error| {
            if is_lack(&error) {
                lack().into()
            } else {
                error.into()
            }
        })
    }

    #[cfg(not(feature = "zstd"))]
    fn compress(&mut self, _: i32, _: bool) -> Result<()> {
        Err(super::without_zstd())
    }

    /// One frame that states its content size.
    #[cfg(feature = "zstd")]
    fn plain_frame(&mut self, level: i32) -> std::io::Result<()> {
        let compressor = match &mut self.plain {
            Some(compressor) => compressor,
            none => none.insert(zstd::bulk::Compressor::new(level)?),
        };
        compressor
            .compress_to_buffer(&self.frame, &mut self.compressed)
            .map(|_| ())
    }

    /// One frame with a checksum, compressed as a stream of unknown length, as the reference
    /// implementation of the one format with such frames does.
    #[cfg(feature = "zstd")]
    fn checked_frame(&mut self, level: i32) -> std::io::Result<()> {
        use zstd::stream::raw::{CParameter, Encoder, InBuffer, Operation, OutBuffer};

        let encoder = match &mut self.checked {
            Some(encoder) => encoder,
            none => none.insert(Encoder::new(level)?),
        };
        encoder.reinit()?;
        encoder.set_parameter(CParameter::ChecksumFlag(true))?;
        let mut input = InBuffer::around(&self.frame);
        let mut output = OutBuffer::around(&mut self.compressed);
        while input.pos() < self.frame.len() {
            encoder.run(&mut input, &mut output)?;
        }
        match encoder.finish(&mut output, true)? {
            0 => Ok(()),
            _ => Err(std::io::Error::other("zstd needs more room than it said")),
        }
    }
}

/// Magic number of the skippable frame with the seek table, and that at the end of the table.
const SKIPPABLE: u32 = 0x184d_2a5e;
const SEEKABLE_MAGIC: u32 = 0x8f92_eab1;

/// The seek table: the lengths of all frames, in a skippable frame.
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

    /// The output for input that arrives in pieces.
    fn compressed(mut compressor: Compressor, data: &[u8]) -> Vec<u8> {
        let mut out = Sink::memory();
        for piece in data.chunks(300_000) {
            compressor.push(piece, &mut out).unwrap();
        }
        compressor.finish(&mut out).unwrap();
        out.finish().unwrap().into_memory().unwrap()
    }

    /// Bytes that compress a little, and differently everywhere.
    fn data(len: u32) -> Vec<u8> {
        let hash = |n: u32| (n / 5).wrapping_mul(0x9e37_79b9) >> 13 & (n >> 16);
        (0..len).map(|n| hash(n).to_le_bytes()[0]).collect()
    }

    #[test]
    fn what_is_compressed_counts_as_what_it_was() {
        let (mut out, progress) = (Sink::memory(), crate::io::Progress::default());
        out.report_to(progress.clone());
        let mut compressor = Compressor::new(100_000, 3, &Limits::default()).unwrap();
        compressor.push(&[7; 100_000], &mut out).unwrap();
        compressor.finish(&mut out).unwrap();
        assert_eq!(progress.done(), 100_000);
        assert!(out.at() < 1000);
    }

    #[test]
    fn large_data_is_cut_into_frames_as_the_library_makes_them_one_by_one() {
        let data = data(70 << 20);
        let compressor = Compressor::new(to_u64(data.len()), 3, &Limits::default()).unwrap();
        let frames = data.chunks(16 << 20);
        let wanted: Vec<u8> = frames
            .flat_map(|frame| zstd::bulk::compress(frame, 3).unwrap())
            .collect();
        assert!(compressed(compressor, &data) == wanted);
    }

    #[test]
    fn seekable_frames_are_as_the_library_streams_them_one_by_one() {
        use std::io::Write;

        for len in [0, 1, 1 << 20, (9 << 20) + 77] {
            let data = data(len);
            let mut table = Vec::new();
            let mut wanted = Vec::new();
            for frame in data.chunks(1 << 20) {
                let mut encoder = zstd::stream::Encoder::new(Vec::new(), 5).unwrap();
                encoder.include_checksum(true).unwrap();
                encoder.write_all(frame).unwrap();
                let stored = encoder.finish().unwrap();
                let short = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap();
                table.push((short(&stored), short(frame)));
                wanted.extend(stored);
            }
            wanted.extend(seek_table(&table));
            let compressor = Compressor::seekable(5, &Limits::default()).unwrap();
            assert!(compressed(compressor, &data) == wanted, "{len}");
        }
    }
}
