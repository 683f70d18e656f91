//! Several files that are one: a folder, an index such as `model.safetensors.index.json`, or a
//! glob that no shell has expanded.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use tenfold::{Bundle, Error, Limits, Result};

use crate::select::matches;

/// What the names of indices end with.
const INDEX: &str = ".index.json";

/// The files of a set.
#[derive(Debug)]
pub(crate) struct Set {
    pub(crate) files: Vec<PathBuf>,
    /// The file that each tensor is in, where an index says it.
    owners: Option<BTreeMap<String, PathBuf>>,
}

impl Set {
    /// The set that a path stands for, if it is no file of its own.
    pub(crate) fn find(path: &Path, limits: &Limits) -> Result<Option<Set>> {
        if path.is_dir() {
            return Set::of_folder(path, limits);
        }
        let name = path.file_name().and_then(|name| name.to_str());
        match name {
            Some(name) if name.ends_with(INDEX) && path.is_file() => {
                Set::of_index(path, limits).map(Some)
            }
            _ => {
                let files = globbed(path);
                Ok((!files.is_empty()).then_some(Set {
                    files,
                    owners: None,
                }))
            }
        }
    }

    /// What the index of a folder names; without one, all files of it that are tensor files by
    /// their names.
    fn of_folder(path: &Path, limits: &Limits) -> Result<Option<Set>> {
        let files = listed(path)?;
        let is_index = |file: &&PathBuf| file_name(file).is_some_and(|name| name.ends_with(INDEX));
        let indices: Vec<&PathBuf> = files.iter().filter(is_index).collect();
        match indices.as_slice() {
            [index] => return Set::of_index(index, limits).map(Some),
            [] => {}
            [first, ..] => {
                let (count, first) = (indices.len(), first.display());
                let why = format!("{count} indices are in it: name one, such as {first}");
                return Err(Error::Invalid(why));
            }
        }
        let is_known = |file: &PathBuf| !tenfold::by_extension(file).is_empty() && !is_part(file);
        let files: Vec<PathBuf> = files.into_iter().filter(is_known).collect();
        Ok((!files.is_empty()).then_some(Set {
            files,
            owners: None,
        }))
    }

    fn of_index(path: &Path, limits: &Limits) -> Result<Set> {
        let wrong = |why: String| Error::Malformed {
            format: None,
            at: None,
            why: format!("{}: {why}", path.display()),
        };
        let len = path.metadata()?.len();
        if len > limits.header {
            return Err(Error::Limit {
                limit: "header",
                why: "the index is too large".into(),
                wanted: len.into(),
                allowed: limits.header,
            });
        }
        let text = std::fs::read(path)?;
        let json: Json = serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))?;
        let map = json.get("weight_map").and_then(Json::as_object);
        let map =
            map.ok_or_else(|| wrong("the index has no weight_map that is an object".into()))?;
        let mut owners = BTreeMap::new();
        for (tensor, file) in map {
            let name = file.as_str().filter(|name| is_plain(name));
            let name = name.ok_or_else(|| {
                wrong(format!(
                    "{tensor:?} is said to be in {file}, not in a file beside the index"
                ))
            })?;
            owners.insert(tensor.clone(), folder(path).join(name));
        }
        let files: BTreeSet<&PathBuf> = owners.values().collect();
        // Opening a pipe would wait for somebody to write to it.
        if let Some(odd) = files.iter().find(|file| file.exists() && !file.is_file()) {
            let why = format!("{} is no regular file", odd.display());
            return Err(wrong(why));
        }
        Ok(Set {
            files: files.into_iter().cloned().collect(),
            owners: Some(owners),
        })
    }

    /// Keeps of one of the files what the index says is in it, which has to be there; gives how many
    /// tensors are left out.
    pub(crate) fn narrow(&self, file: &Path, bundle: &mut Bundle) -> Result<usize> {
        let Some(owners) = &self.owners else {
            return Ok(0);
        };
        let mut wanted: BTreeSet<&str> = owners
            .iter()
            .filter(|(_, owner)| owner.as_path() == file)
            .map(|(name, _)| name.as_str())
            .collect();
        let before = bundle.entries().len();
        let all = wanted.clone();
        // A path that was carried stands in the index by its name in the file.
        let separator = bundle.hints.text("tenfold:separator");
        let separator = separator
            .and_then(|text| text.chars().next())
            .unwrap_or('/');
        bundle.retain(|key| {
            let joined = key.joined(separator);
            let name = key.flat_name().unwrap_or(&joined);
            wanted.remove(name);
            all.contains(name)
        });
        match wanted.first() {
            None => Ok(before.saturating_sub(bundle.entries().len())),
            Some(missing) => {
                let why = format!("the index says that {missing:?} is here, and it is not");
                Err(Error::Malformed {
                    format: None,
                    at: None,
                    why,
                })
            }
        }
    }
}

/// Whether a file is only a part of what another one, which is there, describes.
fn is_part(file: &Path) -> bool {
    let mut owners = tenfold::formats::ALL
        .iter()
        .filter_map(|format| format.described_by(file));
    owners.any(|owner| owner.is_file())
}

/// Whether a path is a glob that some files match.
pub(crate) fn is_glob(path: &Path) -> bool {
    !globbed(path).is_empty()
}

/// The files that a path matches which is none itself.
fn globbed(path: &Path) -> Vec<PathBuf> {
    let glob = file_name(path).filter(|name| name.contains(['*', '?']));
    let Some(glob) = glob.filter(|_| !path.exists()) else {
        return Vec::new();
    };
    // A folder that is not there has nothing that matches.
    let mut files = listed(folder(path)).unwrap_or_default();
    files.retain(|file| file_name(file).is_some_and(|name| matches(glob, name)));
    files
}

/// Whether a name is one of a file in the same folder, and of nothing else.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name != "." && name != ".." && !name.contains(['/', '\\', '\0'])
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

fn file_name(path: &Path) -> Option<&str> {
    path.file_name().and_then(|name| name.to_str())
}

/// The files of a folder, by name.
fn listed(folder: &Path) -> Result<Vec<PathBuf>> {
    let in_folder = |error: std::io::Error| Error::from(error).in_file(folder);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(in_folder)? {
        let path = entry.map_err(in_folder)?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
