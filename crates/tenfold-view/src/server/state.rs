//! Application state: the open files.

use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tenfold::{Bundle, Info, Key, Limits, Meta, Note, Opened, Tensor};

use super::event::Observer;
use super::query::Query;
use super::response::HttpError;
use super::tasks::Permits;

/// An open file.
pub struct File {
    /// Its name on the page.
    pub name: String,
    /// Its name on the command line; a tensor in it is named after a colon.
    pub word: String,
    /// Whether the argument names the whole file.
    pub is_whole: bool,
    /// Its size in bytes.
    pub len: u64,
    /// Its content.
    pub opened: Opened,
}

/// A function that writes tensors as a command prints them.
pub type Print = fn(&Info, &Bundle, &Limits, Box<dyn Write + Send>) -> tenfold::Result<()>;

/// The formatters of the command line, so that the page uses the same text.
#[derive(Clone, Copy)]
pub struct Wording {
    /// Metadata and hints as a JSON object.
    pub metadata: fn(&Meta, &Meta) -> String,
    /// A note as text.
    pub note: fn(&Info, &Note) -> String,
    /// One tensor as printed by `tenfold show --csv=wide`.
    pub csv: Print,
    /// Tensors as printed by `tenfold show --json`.
    pub json: Print,
}

/// The state of the server.
pub(super) struct AppState {
    pub(super) files: Vec<File>,
    pub(super) wording: Wording,
    pub(super) limits: Limits,
    /// Permits to read.
    pub(super) turns: Permits,
    pub(super) observer: Observer,
    /// Decompressed tensors, most recently used last.
    settled: Mutex<Vec<((usize, usize), Tensor)>>,
}

/// Each decompressed tensor may be a temporary file.
const MOST_SETTLED: usize = 8;

/// Several images are computed concurrently, each within this limit.
const MEMORY: u64 = 64 << 20;

impl AppState {
    pub(super) fn new(files: Vec<File>, wording: Wording, limits: &Limits) -> AppState {
        let mut limits = limits.clone();
        limits.memory = limits.memory.min(MEMORY);
        AppState {
            files,
            wording,
            limits,
            turns: Permits::new(),
            observer: Arc::new(|_| {}),
            settled: Mutex::default(),
        }
    }

    pub(super) fn file(&self, file: usize) -> Result<&File, HttpError> {
        let none = || HttpError::missing(format!("there is no file {file}"));
        self.files.get(file).ok_or_else(none)
    }

    /// A tensor as stored in its file.
    pub(super) fn entry(&self, place: (usize, usize)) -> Result<(&File, &Key, &Tensor), HttpError> {
        let file = self.file(place.0)?;
        let none = || HttpError::missing(format!("there is no tensor {}", place.1));
        let entry = file.opened.bundle.entries().get(place.1);
        let (key, tensor) = entry.ok_or_else(none)?;
        Ok((file, key, tensor))
    }

    /// A tensor with repeatable reads: compressed data is decompressed once.
    pub(super) fn tensor(&self, place: (usize, usize)) -> Result<Tensor, HttpError> {
        let (_, _, tensor) = self.entry(place)?;
        let parts = tensor.storage().parts();
        if parts
            .iter()
            .all(|part| part.bytes.stored_len() == part.bytes.len())
        {
            return Ok(tensor.clone());
        }
        {
            let mut settled = self.settled();
            if let Some(found) = settled.iter().position(|(its, _)| *its == place) {
                let entry = settled.remove(found);
                let tensor = entry.1.clone();
                settled.push(entry);
                return Ok(tensor);
            }
        }
        let made = tensor.at_hand(&self.limits)?;
        let mut settled = self.settled();
        if settled.len() >= MOST_SETTLED {
            settled.remove(0);
        }
        settled.push((place, made.clone()));
        Ok(made)
    }

    /// The decompressed tensors. The list is always consistent, so a panic elsewhere is no reason
    /// to drop it.
    fn settled(&self) -> MutexGuard<'_, Vec<((usize, usize), Tensor)>> {
        self.settled.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The tensor of a query.
pub(super) fn place(query: &Query) -> Result<(usize, usize), HttpError> {
    Ok((query.wanted("file")?, query.wanted("tensor")?))
}
