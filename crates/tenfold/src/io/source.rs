//! Sources of bytes: memory, a file read by position, a memory map, or a computation.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::Progress;
use super::platform;
use super::sibling::Folder;
use super::spool::pool::Held;
use super::spool::scratch::Scratch;
use crate::bytes::{Bytes, in_pieces, to_u64};
use crate::error::{Error, Result};

/// Bytes that can be read at any position; cloning is cheap.
#[derive(Clone)]
pub struct Source(Arc<Origin>);

/// Shared by all clones, however many tensors of a file refer to it.
#[derive(Clone)]
struct Origin {
    kind: Kind,
    packing: Packing,
    /// Its sibling files in memory.
    folder: Option<Arc<Folder>>,
    /// Set once the checksums of the inputs it is computed from were verified.
    compared: OnceLock<()>,
}

/// The container that the bytes were extracted from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    /// None.
    None,
    /// A gzip file.
    Gzip,
    /// A zstd file.
    Zstd,
    /// An xz file.
    Xz,
    /// A text that was parsed: offsets in these bytes are no offsets in the file.
    Text,
}

impl Packing {
    /// The name of the compression of a file.
    pub(crate) fn name(self) -> Option<&'static str> {
        match self {
            Packing::None | Packing::Text => None,
            Packing::Gzip => Some("gzip"),
            Packing::Zstd => Some("zstd"),
            Packing::Xz => Some("xz"),
        }
    }
}

#[derive(Clone)]
enum Kind {
    Memory(Arc<Held>),
    File(Arc<Positioned>),
    #[cfg(feature = "mmap")]
    Map(Arc<memmap2::Mmap>),
    Computed(Arc<dyn Compute>),
}

#[derive(Clone)]
struct Positioned {
    file: Arc<File>,
    /// Where the source begins in the file.
    start: u64,
    len: u64,
    /// Counts the bytes read.
    progress: Option<Progress>,
    /// The name of the file.
    path: Option<Arc<Path>>,
    /// The sibling files opened so far, and their lengths.
    beside: Arc<Mutex<BTreeMap<PathBuf, u64>>>,
    /// The accounting of a temporary file, if it is one.
    scratch: Option<Arc<Scratch>>,
}

/// Bytes that are computed on demand.
///
/// This is how an unpacked or reordered tensor stays lazy: for its reader it is like a file.
pub trait Compute: Send + Sync {
    /// How many bytes there are.
    fn len(&self) -> u64;

    /// Whether there is no byte at all.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fills `buffer` with the bytes from `at` on; the caller has checked that they exist.
    ///
    /// # Errors
    /// Errors of the computation.
    fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<()>;

    /// Hands out the bytes of `range` in order, in pieces of at most `budget`; the caller has
    /// checked that they exist.
    ///
    /// # Errors
    /// Errors of the computation, and those of `each`.
    fn for_each(
        &self,
        range: Range<u64>,
        budget: usize,
        each: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        in_pieces(range, budget, each, &mut |at, piece| {
            self.read_at(at, piece)
        })
    }

    /// Whether the inputs of the computation are valid, where that implies the same of the result;
    /// `None` if only the computation itself can tell.
    fn check(&self) -> Option<Result<()>> {
        None
    }

    /// The inputs of the computation, all of them: reading everything verifies their checksums.
    fn inputs(&self) -> Vec<&Bytes> {
        Vec::new()
    }

    /// How many computations that hold much memory are stacked here.
    fn depth(&self) -> u32;
}

impl Source {
    fn of(kind: Kind) -> Source {
        Source(Arc::new(Origin {
            kind,
            packing: Packing::None,
            folder: None,
            compared: OnceLock::new(),
        }))
    }

    /// The same source with `change` applied.
    fn changed(mut self, change: impl FnOnce(&mut Origin)) -> Source {
        change(Arc::make_mut(&mut self.0));
        self
    }

    /// The same source with `change` applied to how its file is read.
    fn read_otherwise(self, change: impl FnOnce(&mut Positioned)) -> Source {
        match &self.0.kind {
            Kind::File(positioned) => {
                let mut positioned = Positioned::clone(positioned);
                change(&mut positioned);
                self.changed(|origin| origin.kind = Kind::File(Arc::new(positioned)))
            }
            _ => self,
        }
    }

    /// The same source, marked as extracted from a container.
    pub(crate) fn out_of(self, packing: Packing) -> Source {
        self.changed(|origin| origin.packing = packing)
    }

    /// The same source, marked as parsed from a text: no offset in it is one in the file.
    pub(crate) fn out_of_text(self) -> Source {
        self.out_of(Packing::Text)
    }

    /// The container that the bytes were extracted from.
    pub(crate) fn packing(&self) -> Packing {
        self.0.packing
    }

    /// Opens a file to be read by position.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be opened or is a directory.
    pub fn open(path: impl AsRef<Path>) -> Result<Source> {
        let path = path.as_ref();
        let file = File::open(path).map_err(|error| Error::from(error).in_file(path))?;
        let source = Source::file(file).map_err(|error| error.in_file(path))?;
        Ok(source.named(path))
    }

    /// The same source with `path` as the name of its file: sibling files are looked for next to
    /// it.
    #[must_use]
    pub fn named(self, path: &Path) -> Source {
        self.read_otherwise(|positioned| positioned.path = Some(path.into()))
    }

    /// The same source for another thread, with a reference count of its own, as threads that share
    /// a count wait for each other.
    pub(crate) fn apart(&self) -> Source {
        Source(Arc::new(Origin::clone(&self.0)))
    }

    /// The name of its file, where it is known.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.0.kind {
            Kind::File(positioned) => positioned.path.as_deref(),
            _ => None,
        }
    }

    /// The sibling files that its format has opened so far, and their lengths.
    #[must_use]
    pub fn companions(&self) -> Vec<(PathBuf, u64)> {
        let Kind::File(positioned) = &self.0.kind else {
            return Vec::new();
        };
        let beside = positioned.beside.lock();
        let beside = beside.unwrap_or_else(PoisonError::into_inner);
        beside
            .iter()
            .map(|(path, len)| (path.clone(), *len))
            .collect()
    }

    /// Records a sibling file.
    pub(crate) fn add_companion(&self, path: &Path, len: u64) {
        if let Kind::File(positioned) = &self.0.kind {
            let beside = positioned.beside.lock();
            let mut beside = beside.unwrap_or_else(PoisonError::into_inner);
            beside.insert(path.to_owned(), len);
        }
    }

    /// The open file, where the source is all of a file that has a name.
    #[must_use]
    pub fn named_file(&self) -> Option<&File> {
        match &self.0.kind {
            Kind::File(positioned) if positioned.start == 0 && positioned.path.is_some() => {
                Some(&positioned.file)
            }
            _ => None,
        }
    }

    /// The same source with sibling files in memory.
    pub(crate) fn in_folder(self, folder: Arc<Folder>) -> Source {
        self.changed(|origin| origin.folder = Some(folder))
    }

    /// Its sibling files in memory.
    pub(crate) fn folder(&self) -> Option<&Folder> {
        self.0.folder.as_deref()
    }

    /// The progress that counts the bytes read from its file.
    pub(crate) fn progress(&self) -> Option<&Progress> {
        match &self.0.kind {
            Kind::File(positioned) => positioned.progress.as_ref(),
            _ => None,
        }
    }

    /// Reads an open file by position, up to the length it has now.
    ///
    /// # Errors
    /// [`Error::Io`] if the file has no length: a pipe has to be spooled, a directory is no file.
    pub fn file(file: File) -> Result<Source> {
        let about = file.metadata()?;
        if about.is_dir() {
            return Err(std::io::Error::from(std::io::ErrorKind::IsADirectory).into());
        }
        if !about.is_file() {
            return Err(Error::invalid(
                "not a regular file: it cannot be read by position",
            ));
        }
        Ok(Source::part_of_file(Arc::new(file), 0, about.len()))
    }

    /// Reads a part of a file that is shared with other sources.
    pub(crate) fn part_of_file(file: Arc<File>, start: u64, len: u64) -> Source {
        Source::of(Kind::File(Arc::new(Positioned {
            file,
            start,
            len,
            progress: None,
            path: None,
            beside: Arc::default(),
            scratch: None,
        })))
    }

    /// Reads a part of a temporary file.
    pub(crate) fn part_of_scratch(scratch: &Arc<Scratch>, start: u64, len: u64) -> Source {
        let source = Source::part_of_file(Arc::clone(scratch.file()), start, len);
        source.read_otherwise(|positioned| positioned.scratch = Some(Arc::clone(scratch)))
    }

    /// The same source, with the bytes read from its file counted in `progress`.
    #[must_use]
    pub fn counted(self, progress: &Progress) -> Source {
        self.read_otherwise(|positioned| positioned.progress = Some(progress.clone()))
    }

    /// A source of bytes in memory.
    #[must_use]
    pub fn memory(bytes: Vec<u8>) -> Source {
        Source::of(Kind::Memory(Arc::new(Held::of(bytes))))
    }

    /// A source of bytes that a spool holds in memory.
    pub(crate) fn held(held: Held) -> Source {
        Source::of(Kind::Memory(Arc::new(held)))
    }

    #[cfg(feature = "mmap")]
    pub(crate) fn mapped(map: memmap2::Mmap) -> Source {
        Source::of(Kind::Map(Arc::new(map)))
    }

    /// A source of bytes that are computed on demand.
    #[must_use]
    pub fn computed(compute: impl Compute + 'static) -> Source {
        Source::of(Kind::Computed(Arc::new(compute)))
    }

    /// How many bytes there are.
    #[must_use]
    pub fn len(&self) -> u64 {
        match &self.0.kind {
            Kind::Memory(held) => to_u64(held.bytes.len()),
            Kind::File(positioned) => positioned.len,
            #[cfg(feature = "mmap")]
            Kind::Map(map) => to_u64(map.len()),
            Kind::Computed(compute) => compute.len(),
        }
    }

    /// Whether there is no byte at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fills `buffer` with the bytes from `at` on.
    ///
    /// # Errors
    /// [`Error::Malformed`] if they do not all exist, also when the file has shrunk meanwhile.
    pub fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<()> {
        let wanted = to_u64(buffer.len());
        let end = at.checked_add(wanted).filter(|end| *end <= self.len());
        let Some(end) = end else {
            let left = self.len().saturating_sub(at);
            return Err(Error::malformed(
                at,
                format!("{wanted} bytes expected, {left} left"),
            ));
        };
        match &self.0.kind {
            Kind::File(positioned) => {
                let Positioned {
                    file, start, path, ..
                } = &**positioned;
                if let Some(progress) = &positioned.progress {
                    progress.go_on()?;
                    progress.add(wanted);
                }
                match platform::read_exact_at(file, buffer, at.saturating_add(*start)) {
                    Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Err(
                        Error::malformed(at, "the file became shorter while it was read"),
                    ),
                    // An error of the file being read, not of one being written meanwhile.
                    Err(error) => Err(path
                        .iter()
                        .fold(Error::from(error), |error, path| error.in_file(path))),
                    Ok(()) => Ok(()),
                }
            }
            Kind::Computed(compute) => compute.read_at(at, buffer),
            _ => {
                let bytes = self
                    .slice(at..end)
                    .ok_or_else(|| Error::malformed(at, "no bytes"))?;
                buffer.copy_from_slice(bytes);
                Ok(())
            }
        }
    }

    /// Borrows the bytes of `range`, if they are in memory.
    #[must_use]
    pub fn slice(&self, range: Range<u64>) -> Option<&[u8]> {
        let range = usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?;
        match &self.0.kind {
            Kind::Memory(held) => held.bytes.get(range),
            #[cfg(feature = "mmap")]
            Kind::Map(map) => map.get(range),
            Kind::File(_) | Kind::Computed(_) => None,
        }
    }

    /// How many computations that hold much memory are stacked here.
    pub(crate) fn depth(&self) -> u32 {
        match &self.0.kind {
            Kind::Computed(compute) => compute.depth(),
            _ => 0,
        }
    }

    /// Verifies the checksums of the inputs of a computation, once.
    pub(crate) fn compare_inputs(&self) -> Result<()> {
        if let (Kind::Computed(compute), None) = (&self.0.kind, self.0.compared.get()) {
            let inputs = compute.inputs();
            inputs.into_iter().try_for_each(Bytes::compare_checksum)?;
            self.0.compared.get_or_init(|| ());
        }
        Ok(())
    }

    /// The computation behind the bytes, if there is one.
    pub(crate) fn as_computed(&self) -> Option<&dyn Compute> {
        match &self.0.kind {
            Kind::Computed(compute) => Some(&**compute),
            _ => None,
        }
    }

    /// Whether the bytes are computed on demand.
    pub(crate) fn is_computed(&self) -> bool {
        matches!(self.0.kind, Kind::Computed(_))
    }

    /// The open file, if the source is all of it, for copies inside the kernel.
    pub(crate) fn as_file(&self) -> Option<&File> {
        match &self.0.kind {
            Kind::File(positioned) if positioned.start == 0 => Some(&positioned.file),
            _ => None,
        }
    }
}

impl Source {
    /// A number unique among the sources that exist at the same time.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Whether both are the very same source.
    pub(crate) fn is_same(&self, other: &Source) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether both read the very same open file, from its beginning.
    pub(crate) fn is_file_of(&self, other: &Source) -> bool {
        match (&self.0.kind, &other.0.kind) {
            (Kind::File(own), Kind::File(other)) => {
                own.start == 0 && other.start == 0 && Arc::ptr_eq(&own.file, &other.file)
            }
            _ => false,
        }
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &self.0.kind {
            Kind::Memory(_) => "memory",
            Kind::File(_) => "file",
            #[cfg(feature = "mmap")]
            Kind::Map(_) => "map",
            Kind::Computed(_) => "computed",
        };
        write!(out, "Source({kind}, {} bytes)", self.len())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn what_is_read_of_a_file_is_counted() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&[7; 100]).unwrap();
        let progress = Progress::default();
        let source = Source::open(file.path()).unwrap().counted(&progress);
        let mut buffer = [0; 30];
        source.read_at(0, &mut buffer).unwrap();
        source.clone().read_at(70, &mut buffer).unwrap();
        assert!(source.read_at(71, &mut buffer).is_err());
        assert_eq!(progress.done(), 60);
        progress.restart(5);
        assert_eq!((progress.done(), progress.expected()), (0, 5));
    }

    #[test]
    fn work_that_is_stopped_reads_and_writes_no_more() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&[7; 100]).unwrap();
        let progress = Progress::default();
        let source = Source::open(file.path()).unwrap().counted(&progress);
        let mut sink = super::super::Sink::memory();
        sink.report_to(progress.clone());
        sink.write(&[1]).unwrap();
        progress.stop();
        let read = source.read_at(0, &mut [0; 3]).unwrap_err();
        let written = sink.write(&[1]).unwrap_err();
        assert!(matches!((read, written), (Error::Stopped, Error::Stopped)));
    }

    #[test]
    fn a_run_is_found_in_its_own_file_alone() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&[7; 100]).unwrap();
        let source = Source::open(file.path()).unwrap();
        let bytes = crate::bytes::Bytes::run(&source, 10..30).unwrap();
        let counted = source.clone().counted(&Progress::default());
        assert_eq!(bytes.run_in(&counted), Some(10..30));
        assert_eq!(bytes.run_in(&Source::open(file.path()).unwrap()), None);
        assert_eq!(bytes.run_in(&Source::memory(vec![7; 100])), None);
    }
}
