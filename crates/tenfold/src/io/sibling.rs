//! Sibling files: further files of a format, next to the one that refers to them.
#![deny(clippy::arithmetic_side_effects)]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Missing, Source, platform, presence};
use crate::error::{Error, Result};

/// The name of a sibling file.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Sibling<'a> {
    /// The name of the main file with another extension.
    Ending(&'a str),
    /// This name.
    Called(&'a str),
}

/// The result of looking for a sibling file.
pub(crate) enum Lookup {
    /// The file exists.
    Found(Source),
    /// The file is missing.
    Missing(Missing),
}

/// In-memory files next to an in-memory main file.
pub(crate) struct Folder {
    /// The name of the main file without its extension.
    stem: String,
    files: BTreeMap<String, Source>,
}

impl Sibling<'_> {
    /// Its path next to that of another file; `None` if the name would lead out of the folder.
    pub(crate) fn path(self, of: &Path) -> Option<PathBuf> {
        let name = match self {
            Sibling::Called(name) => OsString::from(name),
            Sibling::Ending(ending) => {
                let mut name = of.file_stem()?.to_owned();
                name.push(".");
                name.push(ending);
                name
            }
        };
        let (Sibling::Ending(said) | Sibling::Called(said)) = self;
        let is_plain = !said.contains(['/', '\\', '\0']) && name != "." && name != "..";
        (is_plain && !said.is_empty()).then(|| of.with_file_name(name))
    }

    /// Its name, next to a file named `stem` plus an extension.
    pub(crate) fn name(self, stem: &str) -> String {
        match self {
            Sibling::Ending(ending) => format!("{stem}.{ending}"),
            Sibling::Called(name) => name.into(),
        }
    }
}

impl Source {
    /// The same bytes as those of a file named `name`, with these sibling files.
    #[must_use]
    pub fn with_siblings(self, name: &str, files: Vec<(String, Vec<u8>)>) -> Source {
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        let files = files.into_iter();
        let files = files.map(|(name, bytes)| (name, Source::memory(bytes)));
        self.in_folder(Arc::new(Folder {
            stem: stem.into(),
            files: files.collect(),
        }))
    }

    /// The name of a sibling of this file, for messages.
    pub(crate) fn name_beside(&self, which: Sibling) -> String {
        let stem = match (self.folder(), self.path()) {
            (Some(folder), _) => folder.stem.clone(),
            (None, Some(path)) => path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into(),
            (None, None) => "NAME".into(),
        };
        which.name(&stem)
    }

    /// Looks for a sibling of this file, for `format`.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the name leads elsewhere, or to something that is no file.
    pub(crate) fn beside(&self, which: Sibling, format: &'static str) -> Result<Lookup> {
        let name = self.name_beside(which);
        let elsewhere = || Error::malformed(None, format!("{name:?} is no file beside this one"));
        // A name that leads elsewhere is wrong even where there is no folder.
        which.path(Path::new("x.yaml")).ok_or_else(elsewhere)?;
        if let Some(folder) = self.folder() {
            return Ok(match folder.files.get(&name) {
                Some(source) => Lookup::Found(source.clone()),
                None => Lookup::Missing(Missing::File(name.into(), NOT_FOUND)),
            });
        }
        let Some(path) = self.path() else {
            let what = format!("{name} of a file that was not opened by its name");
            return Ok(Lookup::Missing(Missing::Unsupported { format, what }));
        };
        let (of, path) = (path, which.path(path).ok_or_else(elsewhere)?);
        match open_beside(of, &path) {
            Ok(found) => {
                self.add_companion(&path, found.len());
                Ok(Lookup::Found(match self.progress() {
                    Some(progress) => found.counted(progress),
                    None => found,
                }))
            }
            Err(Error::Io { source, .. }) if is_closed(&source) => {
                let code = source.raw_os_error().unwrap_or(NOT_FOUND);
                Ok(Lookup::Missing(Missing::File(path, code)))
            }
            Err(error) => Err(error),
        }
    }
}

/// Opens the file at `path`, a sibling of that at `of`: a regular file, not reached through a link
/// to another folder.
///
/// # Errors
/// [`Error::Malformed`] if it is anything else, [`Error::Io`] if it cannot be opened.
pub(crate) fn open_beside(of: &Path, path: &Path) -> Result<Source> {
    let in_file = |error: std::io::Error| Error::from(error).in_file(path);
    let real = if is_link(path)? {
        real_path_beside(of, path).map_err(in_file)?
    } else {
        Some(path.to_owned())
    };
    let Some(real) = real else {
        return Err(Error::malformed(None, leads_out(path)));
    };
    let file = platform::open_without_links(&real).map_err(in_file)?;
    if !file.metadata().map_err(in_file)?.is_file() {
        let why = format!("{} is no regular file", path.display());
        return Err(Error::malformed(None, why));
    }
    Ok(Source::file(file)
        .map_err(|error| error.in_file(path))?
        .named(path))
}

/// Fails if a sibling file is a link to another folder.
///
/// # Errors
/// [`Error::Malformed`] if it is, [`Error::Io`] if the lookup fails.
pub(crate) fn check_beside(of: &Path, path: &Path) -> Result<()> {
    let in_file = |error: std::io::Error| Error::from(error).in_file(path);
    if is_link(path)? && real_path_beside(of, path).map_err(in_file)?.is_none() {
        return Err(Error::malformed(None, leads_out(path)));
    }
    Ok(())
}

fn is_link(path: &Path) -> Result<bool> {
    let about = presence::link_metadata(path)?;
    Ok(about.is_some_and(|about| about.is_symlink()))
}

/// Whether a file is missing or not readable, so that the rest can still be shown; a failed read
/// says nothing about the file.
pub(crate) fn is_closed(error: &std::io::Error) -> bool {
    presence::is_absence(error) || error.kind() == std::io::ErrorKind::PermissionDenied
}

fn leads_out(path: &Path) -> String {
    let path = path.display();
    format!(
        "{path} is a link to a file in another folder, which is not opened: put the file itself here"
    )
}

/// The target of a link next to the file at `of`, if it is in the folder of the name or in that of
/// the file itself: a folder may consist of links to another one.
fn real_path_beside(of: &Path, path: &Path) -> std::io::Result<Option<PathBuf>> {
    let real = path.canonicalize()?;
    let folder = |path: &Path| match path.parent() {
        Some(folder) if folder != Path::new("") => folder.canonicalize(),
        _ => Path::new(".").canonicalize(),
    };
    let own = of.canonicalize()?;
    let is_beside = [Some(folder(path)?.as_path()), own.parent()].contains(&real.parent());
    Ok(is_beside.then_some(real))
}

/// The system's error number for a missing file.
const NOT_FOUND: i32 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_never_leads_out_of_the_folder() {
        let yaml = Path::new("run/x.y.yaml");
        let path = |which: Sibling| which.path(yaml);
        assert_eq!(
            path(Sibling::Ending("elements")).unwrap(),
            Path::new("run/x.y.elements")
        );
        assert_eq!(
            path(Sibling::Called("a.dat")).unwrap(),
            Path::new("run/a.dat")
        );
        for name in ["", ".", "..", "/a", "../a", "b/a", "b\\a", "a\0"] {
            assert_eq!(path(Sibling::Called(name)), None, "{name:?}");
        }
        for ending in ["", "a/../../b", "/b", "a\0"] {
            assert_eq!(path(Sibling::Ending(ending)), None, "{ending:?}");
        }
    }

    #[test]
    fn files_in_memory_lie_beside_each_other() {
        let files = vec![("x.elements".into(), vec![1, 2])];
        let source = Source::memory(vec![]).with_siblings("x.yaml", files);
        let find = |which| source.beside(which, "cc4s").unwrap();
        let Lookup::Found(found) = find(Sibling::Ending("elements")) else {
            panic!("not found");
        };
        assert_eq!(found.len(), 2);
        let missing = find(Sibling::Called("y.elements"));
        assert!(matches!(missing, Lookup::Missing(_)));
    }

    #[test]
    fn what_is_no_file_is_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("x.yaml"), "").unwrap();
        std::fs::create_dir(folder.path().join("x.elements")).unwrap();
        let source = Source::open(folder.path().join("x.yaml")).unwrap();
        let error = source.beside(Sibling::Ending("elements"), "cc4s").err();
        let text = error.unwrap().to_string();
        assert!(text.ends_with("x.elements is no regular file"), "{text}");
    }

    #[test]
    #[cfg(unix)]
    fn links_lead_within_the_folder_alone() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["run", "elsewhere", "links"] {
            std::fs::create_dir(at(name)).unwrap();
        }
        for name in ["run/x.yaml", "run/y.elements", "elsewhere/secret"] {
            std::fs::write(at(name), "1").unwrap();
        }
        symlink(at("run/y.elements"), at("run/x.elements")).unwrap();
        symlink("../elsewhere/secret", at("run/z.elements")).unwrap();
        symlink(at("nowhere"), at("run/gone.elements")).unwrap();
        let open = |of: &str, which| {
            let source = Source::open(at(of)).unwrap();
            source.beside(which, "cc4s")
        };
        let found = open("run/x.yaml", Sibling::Ending("elements")).unwrap();
        assert!(matches!(found, Lookup::Found(_)));
        let error = open("run/x.yaml", Sibling::Called("z.elements")).err();
        let text = error.unwrap().to_string();
        assert!(
            text.contains("z.elements is a link to a file in another folder"),
            "{text}"
        );
        let gone = open("run/x.yaml", Sibling::Called("gone.elements")).unwrap();
        assert!(matches!(gone, Lookup::Missing(_)));
        // A folder of links to another folder, as model caches have.
        symlink(at("run/x.yaml"), at("links/x.yaml")).unwrap();
        symlink(at("run/y.elements"), at("links/x.elements")).unwrap();
        let found = open("links/x.yaml", Sibling::Ending("elements")).unwrap();
        assert!(matches!(found, Lookup::Found(_)));
    }
}
