//! Output: an append-only sink to a file, a stream or memory.

use std::fmt;
use std::fs::File;
use std::io::Write;

use super::platform::{self, preallocate, write_back};
use super::{Progress, Sibling, Source, Threads, ordered_pipeline};
use crate::bytes::{Algorithm, Bytes, DigestState, PIECE, to_u64};
use crate::error::{Error, Result};
use crate::loss::Loss;
use crate::memory;

/// The size of a memory page, and of the blocks of file systems.
const PAGE: u64 = 4096;

/// Output of at least this length is preallocated.
const LARGE: u64 = 8 << 20;

/// Largest single `write` to a file. Above 128 KiB the kernel tries huge pages; on virtual machines
/// that takes up to four times as long.
pub(crate) const AT_ONCE: usize = 128 << 10;

/// An append-only target: a file, a stream or memory.
pub struct Sink {
    target: Target,
    buffer: Vec<u8>,
    at: u64,
    digest: Option<DigestState>,
    /// End of the bytes whose write-back has begun, if they are to be synced.
    sent: Option<u64>,
    progress: Progress,
    beside: Option<Box<dyn SiblingSink>>,
    /// Losses found in the values while they were written.
    losses: Vec<Loss>,
}

/// Files by name.
type Files = Vec<(String, Vec<u8>)>;

/// The target of sibling files.
pub(crate) trait SiblingSink: Send {
    /// Begins a file.
    ///
    /// # Errors
    /// [`Error::Invalid`] if a file of that name is not allowed.
    fn begin(&mut self, which: Sibling) -> Result<Sink>;

    /// Takes back the sink that [`SiblingSink::begin`] returned, once it is complete.
    ///
    /// # Errors
    /// [`Error::Io`] if the target fails.
    fn end(&mut self, which: Sibling, written: Sink) -> Result<()>;

    /// The files, if they were collected in memory.
    fn into_memory(self: Box<Self>) -> Files {
        Vec::new()
    }
}

/// Sibling files collected in memory; the stem is the main file's name without its extension.
#[derive(Debug)]
struct Collected {
    stem: String,
    files: Files,
}

impl SiblingSink for Collected {
    fn begin(&mut self, _: Sibling) -> Result<Sink> {
        Ok(Sink::memory())
    }

    fn end(&mut self, which: Sibling, written: Sink) -> Result<()> {
        let bytes = written.finish()?.into_memory()?;
        self.files.push((which.name(&self.stem), bytes));
        Ok(())
    }

    fn into_memory(self: Box<Self>) -> Files {
        self.files
    }
}

/// Files that are not kept.
struct Discarded;

impl SiblingSink for Discarded {
    fn begin(&mut self, _: Sibling) -> Result<Sink> {
        Ok(Sink::discard())
    }

    fn end(&mut self, _: Sibling, written: Sink) -> Result<()> {
        written.finish().map(drop)
    }
}

enum Target {
    Memory(Vec<u8>),
    File(File),
    Stream(Box<dyn Write + Send>),
}

impl Sink {
    fn new(target: Target) -> Self {
        Sink {
            target,
            buffer: Vec::new(),
            at: 0,
            digest: None,
            sent: None,
            progress: Progress::default(),
            beside: None,
            losses: Vec::new(),
        }
    }

    /// Reports a loss that is known only once values are read.
    pub(crate) fn report(&mut self, loss: Loss) {
        self.losses.push(loss);
    }

    /// The losses reported since the last call.
    pub(crate) fn take_losses(&mut self) -> Vec<Loss> {
        std::mem::take(&mut self.losses)
    }

    /// Collects the bytes of a file named `name`, and of its sibling files, in memory;
    /// [`Sink::finish_with_files`] returns them.
    #[must_use]
    pub fn memory_named(name: &str) -> Self {
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        Sink::memory().with_siblings(Box::new(Collected {
            stem: stem.into(),
            files: Vec::new(),
        }))
    }

    /// The same target with a target for sibling files.
    pub(crate) fn with_siblings(mut self, companions: Box<dyn SiblingSink>) -> Self {
        self.beside = Some(companions);
        self
    }

    /// Writes a sibling file.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the target cannot have sibling files, such as a pipe.
    pub(crate) fn beside(
        &mut self,
        which: Sibling,
        write: impl FnOnce(&mut Sink) -> Result<()>,
    ) -> Result<()> {
        let Some(companions) = &mut self.beside else {
            let why = "several files are written, and this is a place for one: name a file";
            return Err(Error::invalid(why));
        };
        let mut sink = companions.begin(which)?;
        sink.report_to(self.progress.clone());
        write(&mut sink)?;
        companions.end(which, sink)
    }

    /// Collects the bytes in memory.
    #[must_use]
    pub fn memory() -> Self {
        Sink::new(Target::Memory(Vec::new()))
    }

    /// Counts the bytes, and keeps none of them.
    pub(crate) fn discard() -> Self {
        Sink::stream(Box::new(std::io::sink())).with_siblings(Box::new(Discarded))
    }

    /// Appends to an open file.
    #[must_use]
    pub fn file(file: File) -> Self {
        Sink::new(Target::File(file))
    }

    /// Begins write-back while the rest is written, for a caller that will sync at the end.
    pub(crate) fn bound_for_disk(mut self, is_bound: bool) -> Self {
        self.sent = is_bound.then_some(self.at);
        self
    }

    /// Writes to a stream.
    #[must_use]
    pub fn stream(stream: Box<dyn Write + Send>) -> Self {
        Sink::new(Target::Stream(stream))
    }

    /// Reports the bytes written from here on to `progress`.
    pub(crate) fn report_to(&mut self, progress: Progress) {
        self.progress = progress;
    }

    /// Counts written bytes, and the work that they stand for.
    fn advance(&mut self, len: u64, work: u64) {
        self.at = self.at.saturating_add(len);
        self.progress.add(work);
        if let (Target::File(file), Some(sent)) = (&self.target, &mut self.sent)
            && self.at.saturating_sub(*sent) >= LARGE
        {
            // The small rest in the buffer waits for the end.
            write_back(file, *sent..self.at);
            *sent = self.at;
        }
    }

    /// How many bytes have been written: the offset of the next.
    #[must_use]
    pub fn at(&self) -> u64 {
        self.at
    }

    /// Writes bytes.
    ///
    /// # Errors
    /// [`Error::Io`] if the target fails.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.write_as(bytes, to_u64(bytes.len()))
    }

    /// Writes bytes that count as `work` bytes of progress, such as compressed bytes that count as
    /// the original ones.
    pub(crate) fn write_as(&mut self, bytes: &[u8], work: u64) -> Result<()> {
        self.progress.go_on()?;
        if let Some(digest) = &mut self.digest {
            digest.update(bytes);
        }
        if bytes.len() >= PIECE {
            self.flush()?;
            self.target.write(bytes)?;
        } else {
            memory::append(&mut self.buffer, bytes)?;
            if self.buffer.len() >= PIECE {
                self.flush()?;
            }
        }
        self.advance(to_u64(bytes.len()), work);
        Ok(())
    }

    /// Writes zeros up to the next multiple of `multiple`.
    ///
    /// # Errors
    /// [`Error::Io`] if the target fails.
    pub fn pad_to(&mut self, multiple: u64) -> Result<()> {
        let zeros = [0; 4096];
        loop {
            let left = self
                .at
                .next_multiple_of(multiple.max(1))
                .saturating_sub(self.at);
            let part = crate::bytes::to_usize(left)?.min(zeros.len());
            match zeros.get(..part) {
                // Padding is no work that progress counts.
                Some(zeros) if part > 0 => self.write_as(zeros, 0)?,
                _ => return Ok(()),
            }
        }
    }

    /// Preallocates space in a file for the next bytes that are available already: in memory, or
    /// stored as they are in another file.
    pub(crate) fn make_room<'a>(&self, next: impl Iterator<Item = &'a Bytes>) {
        let is_there = |bytes: &&Bytes| bytes.as_slice().is_some() || bytes.as_file_run().is_some();
        if let Target::File(target) = &self.target {
            let lens = next.filter(is_there).map(Bytes::len);
            let len = lens.fold(0, u64::saturating_add);
            if len >= LARGE {
                preallocate(target, self.at, len);
            }
        }
    }

    /// Writes lazy bytes: from file to file inside the kernel where no byte has to be looked at,
    /// else through a buffer. Their checksum is verified.
    ///
    /// # Errors
    /// [`Error::Io`] if the target fails, [`Error::Malformed`] if the bytes cannot be read or
    /// decoded.
    pub fn copy(&mut self, bytes: &Bytes) -> Result<()> {
        if self.digest.is_none()
            && let Some((file, range)) = bytes.as_file_run()
            // Many short runs are written faster together than fetched one by one.
            && bytes.len() >= to_u64(PIECE)
            && let Target::File(target) = &self.target
        {
            // The length is certain, as it is that of bytes in another file.
            if bytes.len() >= LARGE {
                preallocate(target, self.at, bytes.len());
            }
            self.flush()?;
            let done = self.copy_in_kernel(file, range.start, range.end)?;
            return self.copy_in_pages(bytes.source(), done, range.end);
        }
        bytes.for_each(PIECE, &mut |piece| self.write(piece))
    }

    /// Copies a run in pieces that end at page boundaries of the target: kernels are faster with
    /// whole pages, also on write-back. Other threads read while this one writes.
    fn copy_in_pages(&mut self, source: &Source, start: u64, end: u64) -> Result<()> {
        let long = to_u64(PIECE);
        let run = Bytes::run(source, start..end)?;
        let len = usize::try_from(run.len()).unwrap_or(usize::MAX);
        let threads = Threads::Cores.for_len(len).min(2);
        let mut at = 0_u64;
        let mut next = long.saturating_sub(self.at % long);
        let fill = |piece: &mut (u64, Vec<u8>)| {
            let len = next.min(run.len().saturating_sub(at));
            *piece = (at, std::mem::take(&mut piece.1));
            memory::resize(&mut piece.1, crate::bytes::to_usize(len)?)?;
            at = at.saturating_add(len);
            next = long;
            Ok(len > 0)
        };
        let read = |(at, piece): &mut (u64, Vec<u8>)| run.read_at(*at, piece);
        ordered_pipeline(threads, fill, read, |(_, piece)| {
            self.progress.go_on()?;
            self.write(piece)
        })
    }

    /// Copies as much of a file's run as the kernel can, and returns the offset reached.
    fn copy_in_kernel(&mut self, from: &File, start: u64, end: u64) -> Result<u64> {
        /// Large enough for the kernel, small enough for progress.
        const STEP: u64 = 64 << 20;
        let mut at = start;
        // Between different page offsets the kernel is slower than a buffer.
        while let Target::File(to) = &self.target
            && at < end
            && at % PAGE == self.at % PAGE
        {
            self.progress.go_on()?;
            let len = crate::bytes::to_usize((end.saturating_sub(at)).min(STEP))?;
            match platform::copy_range(from, &mut at, to, len) {
                Ok(0) | Err(_) => break,
                Ok(done) => self.advance(to_u64(done), to_u64(done)),
            }
        }
        Ok(at)
    }

    /// Starts a checksum over the bytes written from here on.
    pub(crate) fn start_digest(&mut self, algorithm: Option<Algorithm>) {
        self.digest = algorithm.map(DigestState::new);
    }

    /// The checksum over the bytes written since [`Sink::start_digest`].
    pub(crate) fn take_digest(&mut self) -> Option<Vec<u8>> {
        self.digest.take().map(DigestState::finish)
    }

    fn flush(&mut self) -> Result<()> {
        self.target.write(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    /// The bytes collected in memory, and the sibling files by name.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the target was not memory.
    pub fn finish_with_files(mut self) -> Result<(Vec<u8>, Files)> {
        let beside = self.beside.take();
        let files = beside.map(SiblingSink::into_memory).unwrap_or_default();
        Ok((self.finish()?.into_memory()?, files))
    }

    /// Flushes everything to the target.
    ///
    /// # Errors
    /// [`Error::Io`] if the target fails.
    pub fn finish(mut self) -> Result<Finished> {
        self.flush()?;
        Ok(match self.target {
            Target::Memory(bytes) => Finished::Memory(bytes),
            Target::File(file) => Finished::File(file),
            Target::Stream(mut stream) => {
                stream.flush()?;
                Finished::Stream
            }
        })
    }
}

/// The result of a finished [`Sink`].
#[derive(Debug)]
pub enum Finished {
    /// The bytes.
    Memory(Vec<u8>),
    /// The file, not yet synced.
    File(File),
    /// Nothing: the stream has received everything.
    Stream,
}

impl Finished {
    /// The bytes collected in memory.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the target was not memory.
    pub fn into_memory(self) -> Result<Vec<u8>> {
        match self {
            Finished::Memory(bytes) => Ok(bytes),
            Finished::File(_) | Finished::Stream => Err(Error::invalid("not written to memory")),
        }
    }
}

impl Target {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        match self {
            Target::Memory(all) => memory::append(all, bytes)?,
            Target::File(file) => bytes
                .chunks(AT_ONCE)
                .try_for_each(|piece| file.write_all(piece))?,
            Target::Stream(stream) => stream.write_all(bytes)?,
        }
        Ok(())
    }
}

impl fmt::Debug for Sink {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Sink({} bytes written)", self.at)
    }
}
