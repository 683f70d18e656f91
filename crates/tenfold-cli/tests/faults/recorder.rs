//! Reads from a log of `strace` what a run did to the disk.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a model that lacks a call proves nothing"
)]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crate::arena::Tree;
use crate::disk::{Event, FileId, Record, put};
use crate::scene::Stage;

/// The calls that change files and names, and those that say which file a number stands for.
const CALLS: &[&str] = &[
    "open",
    "openat",
    "creat",
    "close",
    "fcntl",
    "dup",
    "dup2",
    "dup3",
    "lseek",
    "write",
    "pwrite64",
    "writev",
    "pwritev",
    "pwritev2",
    "copy_file_range",
    "sendfile",
    "splice",
    "ftruncate",
    "truncate",
    "fallocate",
    "fsync",
    "fdatasync",
    "syncfs",
    "sync_file_range",
    "link",
    "linkat",
    "symlink",
    "symlinkat",
    "rename",
    "renameat",
    "renameat2",
    "unlink",
    "unlinkat",
    "rmdir",
    "mkdir",
    "mkdirat",
];

/// What a number of an open file stands for.
#[derive(Clone, Copy)]
struct Open {
    file: Option<FileId>,
    at: usize,
}

struct Recorder<'a> {
    folder: &'a Path,
    record: Record,
    /// The disk as the run sees it.
    names: BTreeMap<String, FileId>,
    contents: Vec<Vec<u8>>,
    /// Open files, by number; numbers that were duplicated share a place.
    opened: Vec<Open>,
    numbers: BTreeMap<i64, usize>,
    folders: BTreeMap<i64, String>,
}

/// Plays a scene and records what it does to the disk.
pub(crate) fn record(stage: &Stage, before: &Tree) -> Record {
    let folder = stage.set();
    let log = tempfile::NamedTempFile::new().unwrap();
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-xx", "-s", "100000000", "-o"]);
    command.arg(log.path());
    command
        .arg("-e")
        .arg(format!("trace=?{}", CALLS.join(",?")));
    stage.cast(&mut command, folder.path());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let record = Record::new(before);
    let mut recorder = Recorder {
        folder: folder.path(),
        names: record.names.clone(),
        contents: record.contents.clone(),
        record,
        opened: Vec::new(),
        numbers: BTreeMap::new(),
        folders: BTreeMap::new(),
    };
    let text = std::fs::read_to_string(log.path()).unwrap();
    // Calls that others interrupted in the log, by thread.
    let mut begun: BTreeMap<&str, String> = BTreeMap::new();
    for line in text.lines() {
        let (thread, call) = line.split_once(' ').unwrap();
        let call = call.trim_start();
        if let Some(start) = call.strip_suffix(" <unfinished ...>") {
            begun.insert(thread, start.to_owned());
        } else if let Some(rest) = call.strip_prefix("<... ") {
            let (_, rest) = rest.split_once(" resumed>").unwrap();
            let whole = begun.remove(thread).unwrap() + rest;
            recorder.call(&whole);
        } else {
            recorder.call(call);
        }
    }
    recorder.record
}

/// The arguments of a call, which are separated by commas outside of brackets and quotation marks.
fn arguments(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut is_quoted) = (Vec::new(), 0, 0_u32, false);
    for (at, letter) in text.char_indices() {
        match letter {
            '"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            '[' | '{' | '(' => depth += 1,
            ']' | '}' | ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text.get(start..at).unwrap().trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text.get(start..).unwrap().trim());
    parts
}

/// The bytes of a quoted text, each as in `\x2e`.
fn unquoted(text: &str) -> Vec<u8> {
    let digits = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    let digits = digits.unwrap_or_else(|| panic!("a text that is cut: {text:.40}"));
    let parts = digits.split("\\x").skip(1);
    parts
        .map(|part| u8::from_str_radix(part, 16).unwrap())
        .collect()
}

impl Recorder<'_> {
    fn call(&mut self, text: &str) {
        let Some((call, outcome)) = text.rsplit_once(" = ") else {
            return; // a signal, or the end
        };
        let outcome = outcome.split(' ').next().unwrap().parse();
        let (Some((name, rest)), Ok(outcome)) = (call.split_once('('), outcome) else {
            return;
        };
        let outcome: i64 = outcome;
        if outcome < 0 || !CALLS.contains(&name) {
            return;
        }
        let rest = rest.trim_end().strip_suffix(')').unwrap();
        let all: Vec<&str> = arguments(rest)
            .into_iter()
            .filter(|one| *one != "AT_FDCWD")
            .collect();
        let len = usize::try_from(outcome).unwrap();
        match (name, all.as_slice()) {
            ("open" | "openat", [path, how, ..]) => self.open(path, how, outcome),
            ("close", [number]) => {
                self.numbers.remove(&number.parse().unwrap());
                self.folders.remove(&number.parse().unwrap());
            }
            ("fcntl", [number, "F_DUPFD_CLOEXEC" | "F_DUPFD", ..]) | ("dup", [number]) => {
                if let Some(place) = self.numbers.get(&number.parse().unwrap()) {
                    self.numbers.insert(outcome, *place);
                }
            }
            // Room that is set aside is no byte of a file.
            ("fcntl", _) | ("fallocate", [_, "FALLOC_FL_KEEP_SIZE", ..]) => {}
            ("lseek", [number, ..]) => {
                if let Some(open) = self.file(number) {
                    open.at = len;
                }
            }
            ("write", [number, bytes, _]) => {
                if let Some(Open {
                    file: Some(file),
                    at,
                }) = self.file(number).copied()
                {
                    self.write(file, at, unquoted(bytes), len);
                    self.file(number).unwrap().at += len;
                }
            }
            ("pwrite64", [number, bytes, _, at]) => {
                if let Some(Open {
                    file: Some(file), ..
                }) = self.file(number).copied()
                {
                    self.write(file, at.parse().unwrap(), unquoted(bytes), len);
                }
            }
            ("copy_file_range", [from, from_at, to, "NULL", ..]) => {
                self.copy(from, from_at, to, len);
            }
            ("ftruncate", [number, len]) => {
                if let Some(Open {
                    file: Some(file), ..
                }) = self.file(number).copied()
                {
                    let len = len.parse().unwrap();
                    self.contents.get_mut(file).unwrap().resize(len, 0);
                    self.record.events.push(Event::Cut(file, len));
                }
            }
            ("fsync" | "fdatasync", [number]) => {
                if let Some(Open {
                    file: Some(file), ..
                }) = self.file(number).copied()
                {
                    self.record.events.push(Event::Sync(file));
                } else if let Some(folder) = self.folders.get(&number.parse().unwrap()) {
                    self.record.events.push(Event::SyncFolder(folder.clone()));
                }
            }
            ("link" | "linkat", [from, to, ..]) => {
                let file = self.named(from);
                if let (Some(file), Some(to)) = (file, self.path(to)) {
                    self.names.insert(to.clone(), file);
                    self.record.events.push(Event::Name(to, file));
                }
            }
            ("rename" | "renameat" | "renameat2", [from, to, ..]) => {
                if let (Some(from), Some(to)) = (self.path(from), self.path(to)) {
                    let file = self.names.remove(&from).unwrap();
                    self.names.insert(to.clone(), file);
                    self.record.events.push(Event::Rename(from, to, file));
                }
            }
            ("unlink" | "unlinkat", [path, ..]) => {
                if let Some(path) = self.path(path) {
                    self.names.remove(&path);
                    self.record.events.push(Event::Remove(path));
                }
            }
            ("mkdir" | "mkdirat", [path, ..]) => {
                if let Some(path) = self.path(path) {
                    self.record.events.push(Event::MakeFolder(path));
                }
            }
            // Nothing that was not thought of may pass for nothing.
            _ => panic!("a call that the model does not have: {text:.200}"),
        }
    }

    fn file(&mut self, number: &str) -> Option<&mut Open> {
        let place = self.numbers.get(&number.parse().unwrap())?;
        self.opened.get_mut(*place)
    }

    /// A path in the folder of the run, as its names are.
    fn path(&self, quoted: &str) -> Option<String> {
        let path = String::from_utf8(unquoted(quoted)).unwrap();
        let path = match Path::new(&path).strip_prefix(self.folder) {
            Ok(path) => path.to_owned(),
            Err(_) if path.starts_with('/') => return None,
            Err(_) => path.into(),
        };
        let parts = path
            .components()
            .map(|part| part.as_os_str().to_str().unwrap());
        let parts: Vec<&str> = parts.filter(|part| *part != ".").collect();
        Some(parts.join("/"))
    }

    /// The file that a path leads to, which may be that of an open one.
    fn named(&mut self, quoted: &str) -> Option<FileId> {
        let path = String::from_utf8(unquoted(quoted)).unwrap();
        match path.strip_prefix("/proc/self/fd/") {
            Some(number) => self.file(number)?.file,
            None => self.names.get(&self.path(quoted)?).copied(),
        }
    }

    fn open(&mut self, path: &str, how: &str, number: i64) {
        self.numbers.remove(&number);
        self.folders.remove(&number);
        let Some(path) = self.path(path) else {
            return;
        };
        let has = |flag: &str| how.split('|').any(|one| one == flag);
        assert!(!has("O_APPEND"), "the model does not have appending");
        let file = match self.names.get(&path).copied() {
            _ if has("O_TMPFILE") => self.made(),
            Some(file) => {
                if has("O_TRUNC") {
                    self.contents.get_mut(file).unwrap().clear();
                    self.record.events.push(Event::Cut(file, 0));
                }
                file
            }
            None if has("O_CREAT") => {
                let file = self.made();
                self.names.insert(path.clone(), file);
                self.record.events.push(Event::Name(path, file));
                file
            }
            None => {
                self.folders.insert(number, path);
                return;
            }
        };
        let file = Some(file);
        self.opened.push(Open { file, at: 0 });
        self.numbers.insert(number, self.opened.len() - 1);
    }

    fn made(&mut self) -> FileId {
        self.contents.push(Vec::new());
        self.contents.len() - 1
    }

    fn write(&mut self, file: FileId, at: usize, mut bytes: Vec<u8>, len: usize) {
        bytes.truncate(len);
        put(self.contents.get_mut(file).unwrap(), at, &bytes);
        self.record.events.push(Event::Write(file, at, bytes));
    }

    fn copy(&mut self, from: &str, from_at: &str, to: &str, len: usize) {
        let (Some(source), Some(target)) = (self.file(from).copied(), self.file(to).copied())
        else {
            panic!("a copy from or to what was not opened here");
        };
        let from_at = from_at
            .strip_prefix('[')
            .and_then(|text| text.split([']', ' ']).next());
        let from_at: usize = from_at.unwrap().parse().unwrap();
        let bytes = self.contents.get(source.file.unwrap()).unwrap();
        let bytes = bytes.get(from_at..from_at + len).unwrap().to_vec();
        self.write(target.file.unwrap(), target.at, bytes, len);
        self.file(to).unwrap().at += len;
    }
}
