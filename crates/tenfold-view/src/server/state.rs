//! The files that are shown.

use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tenfold::{Bundle, Info, Key, Limits, Meta, Note, Opened, Tensor};

use super::event::Observer;
use super::query::Query;
use super::response::HttpError;
use super::tasks::Permits;

/// A file to be shown.
pub struct File {
    /// What it is called on the page.
    pub name: String,
    /// How it was named on the command line; a tensor of it can be named behind a colon.
    pub word: String,
    /// Whether the word names all of the file.
    pub is_whole: bool,
    /// How many bytes it has.
    pub len: u64,
    /// What is in it.
    pub opened: Opened,
}

/// Writes tensors somewhere, as a command prints them.
pub type Print = fn(&Info, &Bundle, &Limits, Box<dyn Write + Send>) -> tenfold::Result<()>;

/// The words of the command line, so that the page uses the same.
#[derive(Clone, Copy)]
pub struct Wording {
    /// Metadata and hints as a JSON object.
    pub metadata: fn(&Meta, &Meta) -> String,
    /// A note for a person.
    pub note: fn(&Info, &Note) -> String,
    /// One tensor as `tenfold show --csv=wide` prints it.
    pub csv: Print,
    /// Tensors as `tenfold show --json` prints them.
    pub json: Print,
}

/// All there is to show.
pub(super) struct AppState {
    pub(super) files: Vec<File>,
    pub(super) wording: Wording,
    pub(super) limits: Limits,
    /// Who may read now.
    pub(super) turns: Permits,
    pub(super) observer: Observer,
    /// Tensors that were decompressed, those last used at the end.
    settled: Mutex<Vec<((usize, usize), Tensor)>>,
}

/// Each decompressed tensor may be a temporary file.
const MOST_SETTLED: usize = 8;

/// Several pictures are made at once, each within this.
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

    /// A tensor as it is in its file.
    pub(super) fn entry(&self, place: (usize, usize)) -> Result<(&File, &Key, &Tensor), HttpError> {
        let file = self.file(place.0)?;
        let none = || HttpError::missing(format!("there is no tensor {}", place.1));
        let entry = file.opened.bundle.entries().get(place.1);
        let (key, tensor) = entry.ok_or_else(none)?;
        Ok((file, key, tensor))
    }

    /// A tensor whose boxes can be read again and again: what is compressed is decompressed once.
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

    /// The decompressed tensors. The list is whole at any time, so a panic elsewhere is no reason
    /// to lose it.
    fn settled(&self) -> MutexGuard<'_, Vec<((usize, usize), Tensor)>> {
        self.settled.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Which tensor a query means.
pub(super) fn place(query: &Query) -> Result<(usize, usize), HttpError> {
    Ok((query.wanted("file")?, query.wanted("tensor")?))
}
