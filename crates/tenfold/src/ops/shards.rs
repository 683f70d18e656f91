//! Sharded checkpoints: numbered shards, indices of tensors, globs.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use super::select::matches;
use crate::bundle::Bundle;
use crate::error::{Error, Result};
use crate::format::{Format, ReadOptions};
use crate::formats;
use crate::io::{check_beside, presence};
use crate::key::Key;
use crate::limits::Limits;
use crate::wire::json_tree;

/// The extension of indices as `transformers` writes them.
const WEIGHT_INDEX: &str = ".index.json";
/// The index of a folder with one file per tensor.
pub(crate) const FOLDER_INDEX: &str = "index.json";
/// The schema that such an index declares.
pub(crate) const FOLDER_SCHEMA: &str = "tenfold.index/1";

/// The name of one shard of a numbered set, such as `model-00002-of-00003.gguf`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ShardName {
    folder: PathBuf,
    prefix: String,
    suffix: String,
    digits: usize,
    /// Counted from 1.
    number: usize,
    count: usize,
}

impl ShardName {
    pub(super) fn parse(path: &Path) -> Option<ShardName> {
        /// More digits than any set has; each name is looked up.
        const MOST_DIGITS: usize = 5;
        let (before, after) = file_name(path)?.rsplit_once("-of-")?;
        let (prefix, number) = before.rsplit_once('-')?;
        let digits = number.len();
        let (count, suffix) = after.split_at_checked(digits)?;
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !(1..=MOST_DIGITS).contains(&digits) || !is_number(number) || !is_number(count) {
            return None;
        }
        let (number, count) = (number.parse().ok()?, count.parse().ok()?);
        (count > 1 && (1..=count).contains(&number)).then(|| ShardName {
            folder: folder(path).into(),
            prefix: prefix.into(),
            suffix: suffix.into(),
            digits,
            number,
            count,
        })
    }

    /// The number of the shard, from 1.
    pub(super) fn number(&self) -> usize {
        self.number
    }

    /// Whether two files belong to one set.
    pub(super) fn is_beside(&self, other: &ShardName) -> bool {
        let own = ShardName {
            number: other.number,
            ..self.clone()
        };
        own == *other
    }

    /// The paths of all files of the set.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        let (prefix, suffix, digits) = (&self.prefix, &self.suffix, self.digits);
        let path = |number: usize| {
            let name = format!(
                "{prefix}-{number:0digits$}-of-{:0digits$}{suffix}",
                self.count
            );
            if self.folder == Path::new(".") {
                name.into()
            } else {
                self.folder.join(name)
            }
        };
        (1..=self.count).map(path).collect()
    }
}

/// The missing files of numbered sets of which some files are given.
pub(super) fn missing_shards(files: &[PathBuf]) -> Vec<PathBuf> {
    let mut sets: Vec<ShardName> = Vec::new();
    for name in files.iter().filter_map(|file| ShardName::parse(file)) {
        if !sets.iter().any(|set| set.is_beside(&name)) {
            sets.push(name);
        }
    }
    let all = sets.iter().flat_map(ShardName::paths);
    let given: BTreeSet<&Path> = files.iter().map(|file| plain(file)).collect();
    all.filter(|path| !given.contains(plain(path))).collect()
}

/// A path without a leading `./`.
fn plain(path: &Path) -> &Path {
    path.strip_prefix(".").unwrap_or(path)
}

/// An index: a file that assigns tensors to other files.
pub(super) enum Index {
    /// `model.safetensors.index.json`: the file of every tensor.
    Weights(BTreeMap<String, PathBuf>),
    /// `index.json` of a folder with one file per tensor.
    Folder {
        /// The format of all files.
        format: Option<&'static dyn Format>,
        /// The files, in order.
        files: Vec<Indexed>,
    },
}

/// An index entry for a file of one tensor.
pub(super) struct Indexed {
    path: PathBuf,
    key: Key,
    /// The key in the file, if it differs.
    stored: Option<Key>,
    /// Options to read the file, for a format that does not describe itself.
    options: Vec<(String, String)>,
}

impl Index {
    /// Reads an index; `None` if the file is none.
    pub(super) fn read(path: &Path, limits: &Limits) -> Result<Option<Index>> {
        let name = file_name(path).unwrap_or_default();
        let (is_weights, is_folder) = (name.ends_with(WEIGHT_INDEX), name == FOLDER_INDEX);
        if !(is_weights || is_folder) || !presence::is_file(path)? {
            return Ok(None);
        }
        let json = match parse(path, limits) {
            // Any other JSON is left to the formats.
            Err(Error::Malformed { .. }) if is_folder => return Ok(None),
            other => other?,
        };
        let index = if is_weights {
            weights(path, &json)?
        } else if json.get("schema").and_then(Json::as_str) == Some(FOLDER_SCHEMA) {
            tensors(path, &json)?
        } else {
            return Ok(None);
        };
        // Opening a pipe would block until it has a writer.
        for file in index.files() {
            let Some(about) = presence::metadata(&file)? else {
                continue;
            };
            if !about.is_file() {
                return Err(malformed(format!("{} is no regular file", file.display())));
            }
            check_beside(path, &file)?;
        }
        Ok(Some(index))
    }

    /// The files it names.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        match self {
            Index::Weights(owners) => {
                let files: BTreeSet<&PathBuf> = owners.values().collect();
                files.into_iter().cloned().collect()
            }
            Index::Folder { files, .. } => files.iter().map(|file| file.path.clone()).collect(),
        }
    }

    /// The format of its files, if it is not detected from their content.
    pub(super) fn format(&self) -> Option<&'static dyn Format> {
        match self {
            Index::Weights(_) => None,
            Index::Folder { format, .. } => format.filter(|format| {
                let unseen = formats::ONLY_NAMED.iter();
                { unseen }.any(|unseen| unseen.info().name == format.info().name)
            }),
        }
    }

    /// The options to read one of the files: given ones take precedence over those of the index.
    pub(super) fn options<'a>(&self, file: &Path, how: &'a ReadOptions) -> Cow<'a, ReadOptions> {
        let Some(Indexed { options, .. }) = self.indexed(file) else {
            return Cow::Borrowed(how);
        };
        let mut how = Cow::Borrowed(how);
        for (name, value) in options {
            if how.options.get(name).is_none() {
                how.to_mut().options.set(name, value);
            }
        }
        how
    }

    /// The entry of a file of one tensor.
    fn indexed(&self, path: &Path) -> Option<&Indexed> {
        match self {
            Index::Weights(_) => None,
            Index::Folder { files, .. } => files.iter().find(|file| file.path == path),
        }
    }

    /// Keeps the tensors of one of the files that the index lists, under the names in the index;
    /// returns how many tensors are left out.
    pub(super) fn apply(&self, file: &Path, bundle: &mut Bundle) -> Result<usize> {
        match self {
            Index::Weights(owners) => narrow(owners, file, bundle),
            Index::Folder { .. } => {
                if let Some(Indexed { key, stored, .. }) = self.indexed(file) {
                    let stored = stored.as_ref().unwrap_or(key);
                    // Files of some formats always have certain tensors.
                    let is_stored = |own: &Key| own.owner() == stored.owner();
                    if bundle.entries().iter().any(|(own, _)| is_stored(own)) {
                        bundle.retain(is_stored);
                    }
                    bundle.rename(|own| {
                        let state = own.state.clone().or_else(|| key.state.clone());
                        key.clone().with_state(state)
                    });
                }
                Ok(0)
            }
        }
    }
}

fn malformed(why: String) -> Error {
    Error::malformed(None, why)
}

fn parse(path: &Path, limits: &Limits) -> Result<Json> {
    let len = path.metadata()?.len();
    if len > limits.header {
        return Err(Error::Limit {
            limit: "header",
            why: "the index is too large".into(),
            wanted: len.into(),
            allowed: limits.header,
        });
    }
    let limits = limits.for_file(len);
    // The names and paths taken from it.
    limits.charge(len.saturating_mul(2))?;
    json_tree::parse(&std::fs::read(path)?, &limits)
}

/// The path of a file next to the index.
fn beside(index: &Path, name: Option<&str>) -> Option<PathBuf> {
    let name = name.filter(|name| {
        !name.is_empty() && *name != "." && *name != ".." && !name.contains(['/', '\\', '\0'])
    });
    name.map(|name| index.with_file_name(name))
}

fn weights(path: &Path, json: &Json) -> Result<Index> {
    let map = json.get("weight_map").and_then(Json::as_object);
    let map =
        map.ok_or_else(|| malformed("the index has no weight_map that is an object".into()))?;
    let mut owners = BTreeMap::new();
    for (tensor, file) in map {
        let owner = beside(path, file.as_str()).ok_or_else(|| {
            malformed(format!(
                "{tensor:?} is said to be in {file}, not in a file beside the index"
            ))
        })?;
        owners.insert(tensor.clone(), owner);
    }
    Ok(Index::Weights(owners))
}

fn tensors(path: &Path, json: &Json) -> Result<Index> {
    let wrong = |what: &str| malformed(format!("the index has no {what}"));
    let tensors = json.get("tensors").and_then(Json::as_array);
    let tensors = tensors.ok_or_else(|| wrong("list of tensors"))?;
    let mut files: Vec<Indexed> = Vec::new();
    let mut seen = BTreeSet::new();
    for tensor in tensors {
        let file = tensor.get("file").and_then(Json::as_str);
        let path = beside(path, file).ok_or_else(|| wrong("file beside it for a tensor"))?;
        let segments = tensor.get("key").and_then(Json::as_array);
        let segments = segments.ok_or_else(|| wrong("key for a tensor"))?.iter();
        let segments: Option<Vec<String>> = segments
            .map(|segment| segment.as_str().map(str::to_owned))
            .collect();
        let state = tensor.get("state").and_then(Json::as_str);
        let key = Key::tree(segments.ok_or_else(|| wrong("key for a tensor"))?);
        if !seen.insert(path.clone()) {
            return Err(malformed(format!("{} stands twice", path.display())));
        }
        let stored = tensor.get("stored").and_then(Json::as_array);
        let stored = stored.and_then(|segments| {
            let segments = segments.iter().map(|one| one.as_str().map(str::to_owned));
            Some(Key::tree(segments.collect::<Option<Vec<String>>>()?))
        });
        let options = tensor.get("options").and_then(Json::as_object);
        let options = options.into_iter().flatten().filter_map(|(name, value)| {
            let value = value.as_str()?;
            Some((name.clone(), value.to_owned()))
        });
        files.push(Indexed {
            path,
            key: key.with_state(state.map(str::to_owned)),
            stored,
            options: options.collect(),
        });
    }
    let format = json.get("format").and_then(Json::as_str);
    Ok(Index::Folder {
        format: format.and_then(formats::by_name),
        files,
    })
}

/// Keeps the tensors that an index of weights lists for `file`.
fn narrow(owners: &BTreeMap<String, PathBuf>, file: &Path, bundle: &mut Bundle) -> Result<usize> {
    let mut wanted: BTreeSet<&str> = owners
        .iter()
        .filter(|(_, owner)| owner.as_path() == file)
        .map(|(name, _)| name.as_str())
        .collect();
    let before = bundle.entries().len();
    let all = wanted.clone();
    // The index lists a carried path by its name in the file.
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
        Some(missing) => Err(malformed(format!(
            "the index says that {missing:?} is here, and it is not"
        ))),
    }
}

/// Whether a path is a glob that matches files.
///
/// # Errors
/// [`Error::Io`] if the folder cannot be read.
pub fn is_glob(path: &Path) -> Result<bool> {
    Ok(!glob(path)?.is_empty())
}

/// The files that match a path that does not exist itself.
pub(super) fn glob(path: &Path) -> Result<Vec<PathBuf>> {
    let pattern = file_name(path).filter(|name| name.contains(['*', '?']));
    let Some(pattern) = pattern else {
        return Ok(Vec::new());
    };
    if presence::metadata(path)?.is_some() || !presence::is_dir(folder(path))? {
        return Ok(Vec::new());
    }
    let mut files = files_in(folder(path))?;
    files.retain(|file| file_name(file).is_some_and(|name| matches(pattern, name)));
    if folder(path) == Path::new(".") && !path.starts_with(".") {
        for file in &mut files {
            *file = plain(file).into();
        }
    }
    Ok(files)
}

pub(super) fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

pub(super) fn file_name(path: &Path) -> Option<&str> {
    path.file_name().and_then(|name| name.to_str())
}

/// The regular files of a folder, sorted by name.
pub(super) fn files_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let in_folder = |error: std::io::Error| Error::from(error).in_file(folder);
    let mut files = Vec::new();
    for entry in presence::entries(folder)? {
        let path = entry.map_err(in_folder)?.path();
        if presence::is_file(&path)? {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_names_all_files_of_its_set() {
        let name = ShardName::parse(Path::new("d/m-00002-of-00003.gguf")).unwrap();
        let paths = ["d/m-00001-of-00003.gguf", "d/m-00002-of-00003.gguf"];
        assert_eq!(name.paths()[..2], paths.map(PathBuf::from));
        assert_eq!(name.paths().len(), 3);
        for odd in [
            "m.gguf",
            "m-00004-of-00003.gguf",
            "m-00000-of-00003.gguf",
            "m-1-of-00003.gguf",
            "m-00001-of-00001.gguf",
            "m-0000a-of-00003.gguf",
            "m-123456-of-999999.gguf",
            "one-of-them.gguf",
        ] {
            assert_eq!(ShardName::parse(Path::new(odd)), None, "{odd}");
        }
    }

    #[test]
    fn the_missing_files_of_every_set_are_found() {
        let files = [
            "a-1-of-3.zt",
            "a-3-of-3.zt",
            "b.zt",
            "c-1-of-2.zt",
            "c-2-of-2.zt",
        ];
        let files = files.map(PathBuf::from);
        assert_eq!(missing_shards(&files), [PathBuf::from("a-2-of-3.zt")]);
    }
}
