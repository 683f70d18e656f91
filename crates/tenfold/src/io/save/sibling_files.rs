//! Sibling files: the other files of a format of several files, published together with the main
//! one.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::atomic_file::AtomicFile;
use super::{Destination, taken};
use crate::bytes::{Bytes, PIECE, is_gzip_name};
use crate::error::{Error, Result};
use crate::io::{Sibling, SiblingSink, Sink, Source, presence};

/// Unpublished sibling files, in the order in which they were written.
#[derive(Clone, Default)]
pub(crate) struct SiblingFiles(Arc<Mutex<Vec<(PathBuf, AtomicFile)>>>);

impl SiblingFiles {
    /// A sink whose sibling files are created next to `path`.
    pub(crate) fn beside(&self, sink: Sink, path: &Path, replace: bool) -> Sink {
        sink.with_siblings(Box::new(Folder {
            path: path.into(),
            replace,
            begun: None,
            drafts: self.clone(),
        }))
    }

    /// Publishes all of them.
    pub(crate) fn publish(self, replace: bool, sync: bool) -> Result<()> {
        let drafts = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        for (path, draft) in drafts {
            super::publish(draft, &path, replace, sync)?;
        }
        Ok(())
    }
}

struct Folder {
    /// The main file.
    path: PathBuf,
    replace: bool,
    begun: Option<(PathBuf, AtomicFile)>,
    drafts: SiblingFiles,
}

impl SiblingSink for Folder {
    fn begin(&mut self, which: Sibling) -> Result<Sink> {
        if is_gzip_name(&self.path) {
            let why = "files that belong together are not compressed: take .gz off the name";
            return Err(Error::invalid(why));
        }
        let path = which.path(&self.path).ok_or_else(|| {
            let (Sibling::Ending(name) | Sibling::Called(name)) = which;
            let path = self.path.display();
            Error::invalid(format!("{name:?} is no name of a file beside {path}"))
        })?;
        if path == self.path {
            let path = path.display();
            let why = format!("{path} is what the file beside it is called: name it otherwise");
            return Err(Error::invalid(why));
        }
        // Opening a pipe would block until it has a reader.
        let is_odd = presence::metadata(&path)?.is_some_and(|about| !about.is_file());
        // A file that is shared with others is compared once it is complete.
        let replace = self.replace || matches!(which, Sibling::Called(_));
        let place = if !is_odd {
            Destination::find(&path, replace)?
        } else {
            return Err(no_file(&path));
        };
        let Destination::File(place) = place else {
            return Err(no_file(&path));
        };
        let draft = AtomicFile::create(&place).map_err(|error| error.in_file(&path))?;
        let sink = Sink::file(draft.file.try_clone()?);
        self.begun = Some((path, draft));
        Ok(sink)
    }

    fn end(&mut self, which: Sibling, written: Sink) -> Result<()> {
        written.finish()?;
        let Some((path, draft)) = self.begun.take() else {
            return Ok(());
        };
        if let Sibling::Called(_) = which
            && presence::metadata(&path)?.is_some()
        {
            if is_same(
                &Source::open(&path)?,
                &Source::file(draft.file.try_clone()?)?,
            )? {
                return Ok(());
            }
            if !self.replace {
                return Err(taken(&path));
            }
        }
        let mut drafts = self.drafts.0.lock().unwrap_or_else(PoisonError::into_inner);
        drafts.push((path, draft));
        Ok(())
    }
}

fn no_file(path: &Path) -> Error {
    Error::invalid(format!("{} is no regular file", path.display()))
}

/// Whether two files have the same bytes.
fn is_same(first: &Source, second: &Source) -> Result<bool> {
    if first.len() != second.len() {
        return Ok(false);
    }
    let mut other = vec![0; PIECE];
    let (mut at, mut is_same) = (0_u64, true);
    Bytes::whole(first.clone()).for_each(PIECE, &mut |piece| {
        let other = other.get_mut(..piece.len()).unwrap_or_default();
        second.read_at(at, other)?;
        at = at.saturating_add(crate::bytes::to_u64(piece.len()));
        is_same &= piece == other;
        Ok(())
    })?;
    Ok(is_same)
}
