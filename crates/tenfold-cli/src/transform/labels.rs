//! Lists of labels, one a line.

use std::collections::HashMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use tenfold::{Error, Result, Tensor};

/// The lists that `--labels` names.
pub(super) struct Lists(HashMap<PathBuf, Vec<String>>);

impl Lists {
    pub(super) fn read(words: &[(String, PathBuf)]) -> Result<Lists> {
        let mut lists = HashMap::new();
        for (_, path) in words {
            let text = fs::read(path).map_err(|error| Error::from(error).in_file(path))?;
            let text = String::from_utf8(text)
                .map_err(|_| Error::Invalid(format!("{}: labels are UTF-8", path.display())))?;
            let labels = text.lines().map(str::to_owned).collect();
            lists.insert(path.clone(), labels);
        }
        Ok(Lists(lists))
    }

    /// The lists for the dimensions that this tensor has, split into those of indexed ones and
    /// those of mapped ones.
    pub(super) fn of(&self, tensor: &Tensor, words: &[(String, PathBuf)]) -> (Given, Given) {
        let mut given: Given = Vec::new();
        for (dim, path) in words {
            if let (Some(axis), Some(labels)) = (tensor.axis(dim), self.0.get(path)) {
                given.retain(|(other, _)| *other != axis);
                given.push((axis, labels.clone()));
            }
        }
        let is_indexed = |axis: &usize| {
            let dim = tensor.dims().get(*axis);
            dim.is_some_and(|dim| dim.indexed_size().is_some())
        };
        given.into_iter().partition(|(axis, _)| is_indexed(axis))
    }
}

/// Dimensions, by their places, and a label for each position.
pub(super) type Given = Vec<(usize, Vec<String>)>;

/// Writes a list; it must not exist unless `replace` is set.
pub(super) fn write(path: &Path, labels: &[String], replace: bool) -> Result<()> {
    if let Some(label) = labels.iter().find(|label| label.contains(['\n', '\r'])) {
        let why = format!("the label {label:?} does not fit a line");
        return Err(Error::Invalid(why));
    }
    let in_file = |error: std::io::Error| Error::from(error).in_file(path);
    if !replace && path.symlink_metadata().is_ok() {
        let why = format!("{} exists already; --force replaces it", path.display());
        return Err(Error::Invalid(why));
    }
    let mut file = fs::File::create(path).map_err(in_file)?;
    for label in labels {
        writeln!(file, "{label}").map_err(in_file)?;
    }
    Ok(())
}
