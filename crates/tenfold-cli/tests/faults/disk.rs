//! A disk that loses its power: what a run did to it, and what may be left of that.
//!
//! What was done to a file is sure to be there only when that file was synced afterwards, and what was done to
//! the names in a folder only when that folder was. Of the rest any part may be there, in any order, and writes
//! in blocks: this is what POSIX promises, and less than what file systems with a journal do.
#![expect(clippy::unwrap_used, reason = "only tests use it")]

use std::collections::{BTreeMap, BTreeSet};

use crate::arena::{Chance, Tree};

/// A file, whatever its names are.
pub(crate) type FileId = usize;

/// What a run does to the disk; paths are in the folder of the run.
#[derive(Debug, Clone)]
pub(crate) enum Event {
    Write(FileId, usize, Vec<u8>),
    Cut(FileId, usize),
    Sync(FileId),
    Name(String, FileId),
    Rename(String, String, FileId),
    Remove(String),
    MakeFolder(String),
    SyncFolder(String),
}

impl Event {
    /// The file whose bytes it changes.
    fn changed(&self) -> Option<FileId> {
        match self {
            Event::Write(file, ..) | Event::Cut(file, _) => Some(*file),
            _ => None,
        }
    }

    /// The folder whose names it changes.
    fn folder(&self) -> Option<&str> {
        match self {
            Event::Name(path, _)
            | Event::Rename(_, path, _)
            | Event::Remove(path)
            | Event::MakeFolder(path) => Some(folder_of(path)),
            _ => None,
        }
    }
}

/// The folder of a path; the one of the run has no name.
pub(crate) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The disk before a run, and what the run did.
#[derive(Clone)]
pub(crate) struct Record {
    /// The first bytes of files, those that were there before first.
    pub(crate) contents: Vec<Vec<u8>>,
    pub(crate) names: BTreeMap<String, FileId>,
    pub(crate) folders: BTreeSet<String>,
    pub(crate) events: Vec<Event>,
}

/// The size of the blocks of which some are written and some are not.
const BLOCK: usize = 4096;

/// What is left of bytes that were not synced.
#[derive(Clone, Copy)]
enum Left {
    All,
    Nothing,
    /// The length of the file, and zeros.
    Length,
    /// Blocks at random.
    Some(u64),
}

impl Record {
    /// A disk with these files.
    pub(crate) fn new(before: &Tree) -> Record {
        let mut folders = BTreeSet::from([String::new()]);
        folders.extend(before.keys().map(|path| folder_of(path).to_owned()));
        Record {
            contents: before.values().cloned().collect(),
            names: before.keys().cloned().zip(0..).collect(),
            folders,
            events: Vec::new(),
        }
    }

    /// The same run without some of what it did.
    pub(crate) fn without(&self, is_left_out: impl Fn(&Event) -> bool) -> Record {
        let mut other = self.clone();
        other.events.retain(|event| !is_left_out(event));
        other
    }

    /// What may be found when the power is lost after so many events: the disk as it was meant to be, as little as
    /// can be, and about `n_more` others.
    pub(crate) fn states(&self, after: usize, n_more: usize, chance: &mut Chance) -> Vec<Tree> {
        let events = self.events.get(..after).unwrap();
        let sure = sure(events);
        let n_unsure = { events.iter().zip(&sure) }
            .filter(|(event, is_sure)| event.folder().is_some() && !**is_sure)
            .count();
        let every = 1_u64
            .checked_shl(n_unsure.try_into().unwrap())
            .unwrap_or(u64::MAX);
        let few = u64::try_from(n_more).unwrap();
        let mut states = Vec::new();
        // All ways in which names may have changed, if they are few.
        for number in 0..every.min(few) {
            let mask = if every <= few {
                number
            } else {
                chance.below(every)
            };
            let torn =
                (0..(few / every.min(few)).max(1)).map(|_| Left::Some(chance.below(u64::MAX)));
            let torn: Vec<Left> = torn.collect();
            for left in [Left::Nothing, Left::Length].into_iter().chain(torn) {
                states.push(self.state(events, &sure, mask, left));
            }
        }
        states.push(self.state(events, &sure, u64::MAX, Left::All));
        states.push(self.state(events, &sure, u64::MAX, Left::Nothing));
        states.push(self.state(events, &sure, 0, Left::All));
        states
    }

    fn state(&self, events: &[Event], sure: &[bool], mask: u64, left: Left) -> Tree {
        let (mut names, mut folders) = (self.names.clone(), self.folders.clone());
        let mut number = 0;
        for (event, is_sure) in events.iter().zip(sure) {
            if event.folder().is_none() {
                continue;
            }
            let is_there = *is_sure || {
                number += 1;
                mask.checked_shr(number - 1)
                    .is_some_and(|rest| rest & 1 == 1)
            };
            if !is_there {
                continue;
            }
            match event {
                Event::Name(path, file) => drop(names.insert(path.clone(), *file)),
                Event::Rename(from, to, file) => {
                    names.remove(from);
                    names.insert(to.clone(), *file);
                }
                Event::Remove(path) => drop(names.remove(path)),
                Event::MakeFolder(path) => drop(folders.insert(path.clone())),
                Event::Write(..) | Event::Cut(..) | Event::Sync(_) | Event::SyncFolder(_) => {}
            }
        }
        names.retain(|path, _| folders.contains(folder_of(path)));
        let bytes = |(path, file): (String, FileId)| (path, self.bytes(events, sure, file, left));
        names.into_iter().map(bytes).collect()
    }

    fn bytes(&self, events: &[Event], sure: &[bool], wanted: FileId, left: Left) -> Vec<u8> {
        let mut bytes = self.contents.get(wanted).cloned().unwrap_or_default();
        let mut chance = match left {
            Left::Some(seed) => Chance::of(seed ^ u64::try_from(wanted).unwrap()),
            _ => Chance::of(0),
        };
        for (event, is_sure) in events.iter().zip(sure) {
            if event.changed() != Some(wanted) {
                continue;
            }
            let left = if *is_sure { Left::All } else { left };
            match (event, left) {
                (_, Left::Nothing) => {}
                (Event::Cut(..), Left::Some(_)) if chance.below(2) != 0 => {}
                (Event::Cut(_, len), _) => bytes.resize(*len, 0),
                (Event::Write(_, at, new), Left::All) => put(&mut bytes, *at, new),
                (Event::Write(_, at, new), Left::Length) => {
                    let end = at + new.len();
                    bytes.resize(bytes.len().max(end), 0);
                }
                (Event::Write(_, at, new), Left::Some(_)) => {
                    let mut from = 0;
                    while from < new.len() {
                        let next = (at + from) / BLOCK * BLOCK + BLOCK - at;
                        let part = new.get(from..next.min(new.len())).unwrap();
                        if chance.below(2) == 0 {
                            put(&mut bytes, at + from, part);
                        }
                        from = next;
                    }
                }
                _ => {}
            }
        }
        bytes
    }
}

/// Of each event, whether a later one has brought it to the disk.
fn sure(events: &[Event]) -> Vec<bool> {
    let (mut files, mut folders) = (BTreeSet::new(), BTreeSet::new());
    let mut sure: Vec<bool> = { events.iter().rev() }
        .map(|event| match event {
            Event::Sync(file) => {
                files.insert(*file);
                true
            }
            Event::SyncFolder(folder) => {
                folders.insert(folder.as_str());
                true
            }
            Event::Write(file, ..) | Event::Cut(file, _) => files.contains(file),
            other => other
                .folder()
                .is_some_and(|folder| folders.contains(folder)),
        })
        .collect();
    sure.reverse();
    sure
}

/// Writes into bytes, which grow.
pub(crate) fn put(bytes: &mut Vec<u8>, at: usize, new: &[u8]) {
    let end = at + new.len();
    if bytes.len() < end {
        bytes.resize(end, 0);
    }
    bytes.get_mut(at..end).unwrap().copy_from_slice(new);
}
