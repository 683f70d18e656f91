//! What several tests need.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use tenfold::{
    Bundle, Error, Format, Loss, Mode, NoteKind, Opened, Options, ReadOptions, Result, Sink,
    WriteOptions,
};

/// The folder of the whole project.
pub(crate) fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folder of test vectors made with the real programs, where there is one.
///
/// They are not part of the project: `TENFOLD_VECTORS` names the folder, or it lies beside the
/// checkout as `shared/vectors`.
pub(crate) fn vectors() -> Option<PathBuf> {
    let named = std::env::var_os("TENFOLD_VECTORS").map(PathBuf::from);
    let folder = named.unwrap_or_else(|| project().join("../shared/vectors"));
    if folder.is_dir() {
        return Some(folder);
    }
    // Written past the test harness, which shows what `eprintln!` says of failed tests only.
    let _ = writeln!(
        std::io::stderr(),
        "SKIPPED: no test vectors at {} (set TENFOLD_VECTORS)",
        folder.display()
    );
    None
}

/// All files of a folder that are no siblings, in order.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| crate::files::is_first(path))
        .collect();
    found.sort();
    found
}

/// The sibling of a corpus file, which says what is expected of it.
pub(crate) fn sibling(path: &Path) -> Json {
    let mut name = path.as_os_str().to_owned();
    name.push(".json");
    json(Path::new(&name))
}

pub(crate) fn json(path: &Path) -> Json {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"))
}

pub(crate) fn hex(text: &str) -> Vec<u8> {
    (0..text.len() / 2)
        .map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap())
        .collect()
}

/// Reading options as a sibling gives them.
pub(crate) fn how(mode: Mode, expected: &Json) -> ReadOptions {
    let mut how = ReadOptions {
        mode,
        ..ReadOptions::default()
    };
    if let Some(options) = expected["options"].as_object() {
        for (name, value) in options {
            how.options.set(name, value.as_str().unwrap());
        }
    }
    how
}

/// Every format that is written, and the versions of one that hold something else, each as a format of
/// its own.
pub(crate) fn versions() -> Vec<&'static dyn Format> {
    let formats = tenfold::formats::ALL.iter();
    let formats = formats.filter(|format| format.info().is_written());
    let all = formats.flat_map(|format| std::iter::once(format).chain(format.versions()));
    all.copied().collect()
}

/// Every format that something can be converted to: these, and those that no file shows itself to be of.
pub(crate) fn targets() -> Vec<&'static dyn Format> {
    let mut all = versions();
    all.extend(tenfold::formats::ONLY_NAMED);
    all
}

/// Takes out of what writing said how a file that says nothing of itself is read, as options.
pub(crate) fn told(said: &mut Vec<Loss>) -> Options {
    let mut options = Options::default();
    said.retain(|loss| {
        let words = loss.detail.split("--raw ").nth(1);
        let Some(words) = words.and_then(|words| words.strip_suffix(" does")) else {
            return true;
        };
        options = spelled(words);
        false
    });
    options
}

/// Options as they are given on the command line: `name=value,…`.
pub(crate) fn spelled(words: &str) -> Options {
    let mut options = Options::default();
    for word in words.split(',') {
        let (name, value) = word.split_once('=').unwrap();
        options.set(name, value);
    }
    options
}

/// Reads bytes as the format called `name`.
pub(crate) fn read(name: &str, bytes: &[u8], how: &ReadOptions) -> Result<Opened> {
    let source = crate::files::source(bytes.to_vec());
    tenfold::read(&source, tenfold::by_name(name).unwrap(), how)
}

/// Reads bytes and checks all their values; in strict mode a note on values is an error.
pub(crate) fn verify(name: &str, bytes: &[u8], how: &ReadOptions) -> Result<Opened> {
    let opened = read(name, bytes, how)?;
    let notes = opened.bundle.check(&how.limits)?;
    match notes.iter().find(|note| note.kind == NoteKind::Lenient) {
        Some(note) if how.mode == Mode::Strict => Err(Error::Malformed {
            format: None,
            at: note.at,
            why: note.text.clone(),
            hint: None,
        }),
        _ => Ok(opened),
    }
}

/// Writes a bundle as the format called `name`.
pub(crate) fn write(name: &str, bundle: &Bundle) -> Result<Vec<u8>> {
    write_as(tenfold::by_name(name).unwrap(), bundle)
}

/// The same, with what writing reports.
pub(crate) fn write_with_losses(
    format: &dyn Format,
    bundle: &Bundle,
) -> Result<(Vec<u8>, Vec<Loss>)> {
    let mut out = crate::files::sink();
    let how = WriteOptions::default();
    let said = tenfold::write_to(bundle, &mut out, format, &how)?;
    Ok((finish(out)?, said))
}

/// Writes a bundle as a format.
pub(crate) fn write_as(format: &dyn Format, bundle: &Bundle) -> Result<Vec<u8>> {
    let mut out = crate::files::sink();
    tenfold::write_to(bundle, &mut out, format, &WriteOptions::default())?;
    finish(out)
}

/// The bytes that went to a sink in memory, those of files beside the first too.
pub(crate) fn finish(out: Sink) -> Result<Vec<u8>> {
    let (first, beside) = out.finish_with_files()?;
    Ok(crate::files::together(first, beside))
}

/// The byte an error names.
pub(crate) fn at(error: &Error) -> Option<u64> {
    match error {
        Error::Malformed { at, .. } => *at,
        _ => None,
    }
}

/// The word of the corpus for an error.
pub(crate) fn kind(error: &Error) -> &'static str {
    match error {
        Error::Malformed { .. } => "malformed",
        Error::Unsupported { .. } => "unsupported",
        Error::Limit { .. } => "limit",
        Error::Unrecognised { .. } => "unrecognised",
        Error::Io { .. } => "io",
        Error::Refused(_) => "refused",
        _ => "invalid",
    }
}
