//! Lists of labels, one per line.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::io::{BufRead, BufReader, ErrorKind};
use std::path::{Path, PathBuf};

use tenfold::ops::presence;
use tenfold::{Error, Labels, Result, Tensor};

use crate::terminal::{Streams, counted};

/// The lists given by `--labels`.
pub(super) struct Lists(HashMap<PathBuf, Labels>);

impl Lists {
    pub(super) fn read(words: &[(String, PathBuf)]) -> Result<Lists> {
        let mut lists = HashMap::new();
        for (_, path) in words {
            let labels = read(path).map_err(|error| match error.kind() {
                ErrorKind::InvalidData => {
                    Error::Invalid(format!("{}: labels are UTF-8", path.display()))
                }
                _ => Error::from(error).in_file(path),
            });
            lists.insert(path.clone(), labels?);
        }
        Ok(Lists(lists))
    }

    /// The lists for the dimensions of this tensor, split into indexed and mapped dimensions.
    pub(super) fn of(
        &self,
        tensor: &Tensor,
        words: &[(String, PathBuf)],
    ) -> (KeyValues<'_>, KeyValues<'_>) {
        let mut given: KeyValues = Vec::new();
        for (dim, path) in words {
            if let (Some(axis), Some(labels)) = (tensor.axis(dim), self.0.get(path)) {
                given.retain(|(other, _)| *other != axis);
                given.push((axis, labels));
            }
        }
        let is_indexed = |axis: &usize| {
            let dim = tensor.dims().get(*axis);
            dim.is_some_and(|dim| dim.indexed_size().is_some())
        };
        given.into_iter().partition(|(axis, _)| is_indexed(axis))
    }
}

/// Dimensions by index, with a label for each position.
pub(super) type KeyValues<'a> = Vec<(usize, &'a Labels)>;

/// Reads labels, one per line.
fn read(path: &Path) -> io::Result<Labels> {
    BufReader::new(File::open(path)?).lines().collect()
}

/// Lists written after everything else: a failed conversion leaves none behind.
#[derive(Default)]
pub(crate) struct Wanted(Vec<(PathBuf, Labels)>);

impl Wanted {
    /// Adds a writable list; its file must not exist unless `replace` is set.
    pub(super) fn add(&mut self, path: &Path, labels: Labels, replace: bool) -> Result<()> {
        if let Some(label) = labels.iter().find(|label| label.contains(['\n', '\r'])) {
            let why = format!("the label {label:?} does not fit a line");
            return Err(Error::Invalid(why));
        }
        if !replace && presence::link_metadata(path)?.is_some() {
            let why = format!("{} exists already; --force replaces it", path.display());
            return Err(Error::Invalid(why));
        }
        match self.0.iter().find(|(other, _)| other == path) {
            None => self.0.push((path.to_owned(), labels)),
            Some((_, others)) if *others == labels => {}
            Some(_) => {
                let path = path.display();
                let why = format!("{path} would be two lists of labels: convert one tensor alone");
                return Err(Error::Invalid(why));
            }
        }
        Ok(())
    }

    /// Writes each list atomically; returns the files.
    pub(crate) fn save(
        &self,
        replace: bool,
        skip_sync: bool,
        streams: &mut Streams,
    ) -> Result<Vec<&Path>> {
        for (path, labels) in &self.0 {
            tenfold::save_with(path, replace, skip_sync, |out| {
                let mut lines = labels.iter();
                lines.try_for_each(|label| out.write(format!("{label}\n").as_bytes()))
            })?;
            let count = counted(u64::try_from(labels.len()).unwrap_or(u64::MAX), "label");
            streams.done(&format!("wrote {}: {count}", path.display()));
        }
        Ok(self.0.iter().map(|(path, _)| path.as_path()).collect())
    }
}
