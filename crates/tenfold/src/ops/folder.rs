//! The content of a folder: sets of files, single files, and others.

use std::path::{Path, PathBuf};

use super::open::{Input, Member, OpenOptions, names};
use super::sets;
use super::shards::{Index, ShardName, file_name, files_in, glob};
use crate::error::{Error, Result};
use crate::formats;
use crate::io::{is_closed, presence};

/// The inputs that a path stands for, for commands with several inputs.
#[derive(Default)]
pub struct Listing {
    /// The inputs, in the order of their names.
    pub inputs: Vec<Input>,
    /// The other files of a folder.
    pub skipped: Vec<Skipped>,
    /// Errors of files in a folder that could not be read, and may be tensor files.
    pub faults: Vec<Error>,
}

/// A file that is not opened.
#[derive(Debug)]
pub struct Skipped {
    /// The file.
    pub path: PathBuf,
    /// The reason.
    pub why: String,
    /// Whether it is a folder.
    pub(super) is_folder: bool,
}

/// The inputs at a path: one, or for a folder with several kinds of files, or with several sets,
/// all of them.
///
/// # Errors
/// As [`Input::find`]; for a folder, only if there is nothing to open.
pub fn list(path: &Path, how: &OpenOptions) -> Result<Listing> {
    if presence::is_dir(path)? {
        return Summary::of(path, how)?.all(path, how);
    }
    let files = glob(path)?;
    let members = files.iter().map(|file| Member::find(file, how));
    let groups = sets::grouped(members.collect::<Result<_>>()?, how);
    if groups.len() > 1 {
        let inputs = groups.into_iter().map(|group| {
            let first = group.first().map(|member| member.path.clone());
            Input::of_set(&first.unwrap_or_default(), group, how)
        });
        return Ok(Listing {
            inputs: inputs.collect::<Result<_>>()?,
            ..Listing::default()
        });
    }
    Ok(Listing {
        inputs: vec![Input::find(path, how)?],
        ..Listing::default()
    })
}

/// A scan of the content of a folder.
pub(super) struct Summary {
    /// The files named by its indices.
    indexed: Vec<Input>,
    /// Files of a known format that no index names.
    members: Vec<Member>,
    skipped: Vec<Skipped>,
    /// Errors of files that could not be read.
    faults: Vec<Error>,
}

impl Summary {
    pub(super) fn of(folder: &Path, how: &OpenOptions) -> Result<Summary> {
        if let Some(store) = store(folder)? {
            return Err(Error::Unrecognised {
                candidates: Vec::new(),
                content: Some(format!("{store}, which is not read yet")),
            }
            .in_file(folder));
        }
        let files = files_in(folder)?.into_iter();
        let files: Vec<PathBuf> = files.filter(|file| !is_hidden(file)).collect();
        let mut survey = Summary {
            indexed: Vec::new(),
            members: Vec::new(),
            skipped: Vec::new(),
            faults: Vec::new(),
        };
        let mut named = Vec::new();
        for file in &files {
            match Index::read(file, &how.limits) {
                Ok(None) => continue,
                Ok(Some(index)) => {
                    named.extend(index.files());
                    match Input::of_index(file, index, how) {
                        Ok(input) => survey.indexed.push(input),
                        Err(error) => survey.faults.push(error),
                    }
                }
                Err(error) => survey.faults.push(error.in_file(file)),
            }
            named.push(file.clone());
        }
        for file in files {
            if named.contains(&file) || is_described(&file)? {
                continue;
            }
            match Member::find(&file, how) {
                Ok(member) => survey.members.push(member),
                Err(error) => survey.skip(error, file),
            }
        }
        for path in folders(folder)? {
            let why = match store(&path)? {
                Some(store) => format!("{store}, which is not read yet"),
                None => "a folder".into(),
            };
            let is_folder = true;
            survey.skipped.push(Skipped {
                path,
                why,
                is_folder,
            });
        }
        Ok(survey)
    }

    fn skip(&mut self, error: Error, path: PathBuf) {
        let why = match error.cause() {
            Error::Unrecognised { content, .. } => content.clone(),
            // An unreadable file is not one of an unknown format.
            _ => return self.faults.push(error),
        };
        let why = why.unwrap_or_else(|| "no known format".into());
        let is_folder = false;
        self.skipped.push(Skipped {
            path,
            why,
            is_folder,
        });
    }

    fn paths(&self) -> Vec<PathBuf> {
        let members = self.members.iter();
        members.map(|member| member.path.clone()).collect()
    }

    fn is_uniform(&self) -> bool {
        let mut names = self.members.iter().map(|member| member.format.info().name);
        let first = names.next();
        names.all(|name| Some(name) == first)
    }

    fn nothing(&self, folder: &Path) -> Error {
        let skipped: Vec<PathBuf> = self.skipped.iter().map(|one| one.path.clone()).collect();
        let why = match self.skipped.as_slice() {
            [] => "an empty folder".to_owned(),
            [only] => format!("no tensor file in it: {}: {}", names(&skipped), only.why),
            _ => format!("no tensor file in it: {}", names(&skipped)),
        };
        Error::Unrecognised {
            candidates: Vec::new(),
            content: Some(why),
        }
        .in_file(folder)
    }

    /// The folder as a single input.
    pub(super) fn only(mut self, folder: &Path, how: &OpenOptions) -> Result<Input> {
        if let Some(fault) = self.faults.pop() {
            return Err(fault);
        }
        let paths = self.paths();
        // Subfolders are not part of the request.
        let mut others = std::mem::take(&mut self.skipped);
        others.retain(|other| !other.is_folder);
        let input = match self.indexed.len() {
            0 if self.members.is_empty() => {
                self.skipped = others;
                return Err(self.nothing(folder));
            }
            0 if self.is_uniform() => {
                sets::refuse_several(&self.members, how)?;
                Input::of_set(folder, self.members, how)?
            }
            0 => {
                let mut formats: Vec<&str> = { self.members.iter() }
                    .map(|one| one.format.info().name)
                    .collect();
                formats.sort_unstable();
                formats.dedup();
                let formats = formats.join(", ");
                let why = format!(
                    "a folder with files of several formats ({formats}): name one of them, or a glob"
                );
                return Err(Error::Invalid(why));
            }
            1 => self.indexed.remove(0).leaving_out(paths),
            count => {
                let first = self
                    .indexed
                    .first()
                    .map(|input| input.path().display().to_string());
                let why = format!(
                    "a folder with {count} indices: name one, such as {}",
                    first.unwrap_or_default()
                );
                return Err(Error::Invalid(why));
            }
        };
        Ok(input.called(folder).beside(others))
    }

    /// All inputs of the folder.
    pub(super) fn all(mut self, folder: &Path, how: &OpenOptions) -> Result<Listing> {
        if self.indexed.is_empty() && self.members.is_empty() && self.faults.is_empty() {
            return Err(self.nothing(folder));
        }
        let is_one = match self.indexed.len() {
            0 if self.members.is_empty() => false,
            0 => self.is_uniform() && sets::refuse_several(&self.members, how).is_ok(),
            count => count == 1 && self.members.is_empty(),
        };
        let faults = std::mem::take(&mut self.faults);
        let skipped = std::mem::take(&mut self.skipped);
        if is_one {
            return Ok(Listing {
                inputs: vec![self.only(folder, how)?],
                skipped,
                faults,
            });
        }
        let mut inputs = self.indexed;
        let mut sets: Vec<ShardName> = Vec::new();
        for member in self.members {
            let name = ShardName::parse(&member.path);
            let name = name.filter(|_| member.format.has_numbered_sets() && !how.alone);
            if let Some(name) = name {
                if sets.iter().any(|set| set.is_beside(&name)) {
                    continue;
                }
                sets.push(name);
            }
            let path = member.path.clone();
            inputs.push(Input::of_member(&path, member, how)?);
        }
        inputs.sort_by(|one, other| one.path().cmp(other.path()));
        Ok(Listing {
            inputs,
            skipped,
            faults,
        })
    }
}

/// The format that a folder is a file of, if it is one.
fn store(folder: &Path) -> Result<Option<&'static str>> {
    const ZARR: &str = "a Zarr store";
    let marks = [
        (".zarray", ZARR),
        (".zgroup", ZARR),
        (".zmetadata", ZARR),
        ("zarr.json", ZARR),
        ("saved_model.pb", "a TensorFlow SavedModel"),
    ];
    for (name, what) in marks {
        match presence::is_file(&folder.join(name)) {
            Ok(false) => {}
            Ok(true) => return Ok(Some(what)),
            // A folder that cannot be searched does not show its format.
            Err(Error::Io { source, .. }) if is_closed(&source) => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// The subfolders of a folder, except for hidden ones.
fn folders(folder: &Path) -> Result<Vec<PathBuf>> {
    let in_folder = |error: std::io::Error| Error::from(error).in_file(folder);
    let mut found = Vec::new();
    for entry in presence::entries(folder)? {
        let path = entry.map_err(in_folder)?.path();
        if !is_hidden(&path) && presence::is_dir(&path)? {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn is_hidden(file: &Path) -> bool {
    file_name(file).is_none_or(|name| name.starts_with('.'))
}

/// Whether a file is only a part of what another existing file describes.
fn is_described(file: &Path) -> Result<bool> {
    for format in formats::ALL {
        if let Some(owner) = format.primary_of(file)?
            && presence::is_file(&owner)?
        {
            return Ok(true);
        }
    }
    Ok(false)
}
