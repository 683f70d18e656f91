//! Files that lie beside each other, as one run of bytes: tests that cut and change files treat them
//! as one.

use std::path::Path;

use tenfold::{Sink, Source};

/// What such a run begins with; each file follows as the lengths of its name and its bytes, and both.
const MAGIC: &[u8] = b"several files\n";
/// What the first file is called.
const FIRST: &str = "x.yaml";

/// A sink in memory for files of any number.
pub(crate) fn sink() -> Sink {
    Sink::memory_named(FIRST)
}

/// A file and those beside it as one run of bytes; a file alone is what it is.
pub(crate) fn together(first: Vec<u8>, mut beside: Vec<(String, Vec<u8>)>) -> Vec<u8> {
    if beside.is_empty() {
        return first;
    }
    beside.sort();
    beside.insert(0, (FIRST.into(), first));
    let mut all = MAGIC.to_vec();
    for (name, bytes) in beside {
        all.extend(format!("{} {}\n{name}", name.len(), bytes.len()).into_bytes());
        all.extend(bytes);
    }
    all
}

/// A file of the corpus with those that its sibling says lie beside it.
pub(crate) fn of_disk(path: &Path) -> Vec<u8> {
    let mut sibling = path.as_os_str().to_owned();
    sibling.push(".json");
    let sibling = std::fs::read_to_string(sibling).unwrap();
    let sibling: serde_json::Value = serde_json::from_str(&sibling).unwrap();
    let stem = format!("{}.", path.file_stem().unwrap().to_str().unwrap());
    let names = sibling
        .get("beside")
        .into_iter()
        .filter_map(|list| list.as_array())
        .flatten();
    let beside = names.map(|name| {
        let name = name.as_str().unwrap();
        let bytes = std::fs::read(path.with_file_name(name)).unwrap();
        let called = match name.strip_prefix(&stem) {
            Some(rest) => format!("x.{rest}"),
            None => name.into(),
        };
        (called, bytes)
    });
    together(std::fs::read(path).unwrap(), beside.collect())
}

/// Whether a file of the corpus is one to test, and not one beside it.
pub(crate) fn is_first(path: &Path) -> bool {
    let mut sibling = path.as_os_str().to_owned();
    sibling.push(".json");
    Path::new(&sibling).is_file()
}

/// The source of bytes, of one file or several; of what is cut or broken, as much as there is.
pub(crate) fn source(bytes: Vec<u8>) -> Source {
    let Some(mut rest) = bytes.strip_prefix(MAGIC) else {
        return Source::memory(bytes);
    };
    let mut files = Vec::new();
    while let Some((name, len, more)) = header(rest) {
        let (file, more) = more.split_at(len.min(more.len()));
        files.push((name, file.to_vec()));
        rest = more;
    }
    if files.is_empty() {
        return Source::memory(bytes);
    }
    let (name, first) = files.remove(0);
    Source::memory(first).with_siblings(&name, files)
}

fn header(bytes: &[u8]) -> Option<(String, usize, &[u8])> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let lens = std::str::from_utf8(bytes.get(..end)?).ok()?;
    let (name_len, len) = lens.split_once(' ')?;
    let rest = bytes.get(end + 1..)?;
    let (name, rest) = rest.split_at_checked(name_len.parse().ok()?)?;
    let name = String::from_utf8(name.to_vec()).ok()?;
    Some((name, len.parse().ok()?, rest))
}
