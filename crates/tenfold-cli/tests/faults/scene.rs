//! The ways of saving, and what a folder may look like after one of them was broken off.
#![expect(clippy::unwrap_used, reason = "only tests use it")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::arena::{Tree, corpus, errors, npy, program, safetensors, tenfold, tree};
use crate::disk::folder_of;

/// A way of saving.
pub(crate) struct Scene {
    pub(crate) name: &'static str,
    /// What is in the folder before.
    files: fn(&Path),
    /// What the program is asked to do there.
    pub(crate) words: &'static [&'static str],
    /// Whether a name is replaced, so that a kill may leave a hidden one.
    pub(crate) is_replaced: bool,
}

fn put(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) {
    fs::write(folder.join(name), bytes).unwrap();
}

fn blz(folder: &Path) {
    fs::copy(
        corpus().join("blz/good/page_example.blz"),
        folder.join("in.blz"),
    )
    .unwrap();
}

fn three_tensors(folder: &Path) {
    let tensors = safetensors(&[("a", b"aaaaaaaa"), ("b", b"bbbbbbbb"), ("c", b"cccccccc")]);
    put(folder, "in.safetensors", tensors);
}

fn small(folder: &Path) {
    put(folder, "in.npy", npy("(2, 3)", false, 6));
}

fn large(folder: &Path) {
    put(folder, "in.npy", npy("(700, 600)", true, 420_000));
}

/// Every way of saving there is.
pub(crate) const SCENES: &[Scene] = &[
    Scene {
        name: "a new file",
        files: blz,
        words: &["convert", "in.blz", "out.blz"],
        is_replaced: false,
    },
    Scene {
        name: "a file that is replaced",
        files: |folder| {
            blz(folder);
            put(folder, "out.blz", "old");
        },
        words: &["convert", "in.blz", "out.blz", "--force"],
        is_replaced: true,
    },
    Scene {
        name: "a file that is edited in place",
        files: three_tensors,
        words: &["edit", "in.safetensors", "--set", "title=new"],
        is_replaced: true,
    },
    Scene {
        name: "a folder of files",
        files: three_tensors,
        words: &[
            "convert",
            "in.safetensors",
            "--out-dir",
            "out",
            "--to",
            "npy",
        ],
        is_replaced: false,
    },
    Scene {
        name: "a folder of files that are replaced",
        files: |folder| {
            three_tensors(folder);
            fs::create_dir(folder.join("out")).unwrap();
            put(folder, "out/b.npy", "old b");
            put(folder, "out/index.json", "old index");
        },
        words: &[
            "convert",
            "in.safetensors",
            "--out-dir",
            "out",
            "--to",
            "npy",
            "--force",
        ],
        is_replaced: true,
    },
    Scene {
        name: "a set of files",
        files: three_tensors,
        words: &[
            "convert",
            "in.safetensors",
            "out.safetensors",
            "--max-size",
            "8",
        ],
        is_replaced: false,
    },
    Scene {
        name: "a file with another beside it",
        files: small,
        words: &["convert", "in.npy", "out.yaml", "--to", "cc4s"],
        is_replaced: false,
    },
    Scene {
        name: "a file with another beside it, both replaced",
        files: |folder| {
            small(folder);
            put(folder, "out.yaml", "old");
            put(folder, "out.elements", "old elements");
        },
        words: &["convert", "in.npy", "out.yaml", "--to", "cc4s", "--force"],
        is_replaced: true,
    },
    Scene {
        name: "a compressed file",
        files: small,
        words: &["convert", "in.npy", "out.npy.gz"],
        is_replaced: false,
    },
    Scene {
        name: "a file that the kernel copies",
        files: large,
        words: &["convert", "in.npy", "out.npy"],
        is_replaced: false,
    },
    Scene {
        name: "a file that goes through a temporary one",
        files: large,
        words: &["convert", "in.npy", "out.safetensors", "--memory", "1MiB"],
        is_replaced: false,
    },
];

/// A scene that is set, and how it is to end.
pub(crate) struct Stage {
    pub(crate) scene: &'static Scene,
    before: Tree,
    after: Tree,
    /// How long it takes.
    pub(crate) lasts: Duration,
}

impl Stage {
    /// Lets the scene play once, with nothing in its way.
    pub(crate) fn new(scene: &'static Scene) -> Stage {
        let folder = tempfile::tempdir().unwrap();
        (scene.files)(folder.path());
        let before = tree(folder.path());
        let began = Instant::now();
        let output = tenfold(folder.path(), scene.words).output().unwrap();
        let lasts = began.elapsed();
        assert!(output.status.success(), "{}: {output:?}", scene.name);
        let after = tree(folder.path());
        assert_ne!(before, after);
        Stage {
            scene,
            before,
            after,
            lasts,
        }
    }

    /// How many files are written.
    pub(crate) fn n_written(&self) -> usize {
        let is_written = |name: &&String| self.before.get(*name) != self.after.get(*name);
        self.after.keys().filter(is_written).count()
    }

    /// How many folders are made.
    pub(crate) fn n_made(&self) -> usize {
        let folders = |files: &Tree| -> BTreeSet<String> {
            files
                .keys()
                .map(|path| folder_of(path).to_owned())
                .collect()
        };
        let (mut before, after) = (folders(&self.before), folders(&self.after));
        before.insert(String::new());
        after.difference(&before).count()
    }

    /// The files before.
    pub(crate) fn before(&self) -> &Tree {
        &self.before
    }

    /// Whether a file is written.
    pub(crate) fn is_written(&self, name: &str) -> bool {
        self.after.contains_key(name) && self.before.get(name) != self.after.get(name)
    }

    /// Whether a file is the one that is written.
    pub(crate) fn is_new(&self, name: &str, found: &Tree) -> bool {
        found.get(name) == self.after.get(name)
    }

    /// Whether nothing has happened in a folder.
    pub(crate) fn is_old(&self, folder: &Path) -> bool {
        tree(folder) == self.before
    }

    /// A folder in which the scene may begin.
    pub(crate) fn set(&self) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        (self.scene.files)(folder.path());
        folder
    }

    /// Makes `command` run the program as the scene wants it.
    pub(crate) fn cast(&self, command: &mut Command, folder: &Path) {
        command.arg(program()).args(self.scene.words);
        command.current_dir(folder);
    }

    /// Finds out how a folder looks; every file in it is the old or the new one, whole.
    pub(crate) fn judge(&self, folder: &Path) -> Result<Verdict, String> {
        self.judge_tree(tree(folder))
    }

    /// The same of files that were read already.
    pub(crate) fn judge_tree(&self, mut found: Tree) -> Result<Verdict, String> {
        let mut litter = Vec::new();
        for (name, bytes) in &found {
            let (old, new) = (self.before.get(name), self.after.get(name));
            if old.is_none() && new.is_none() {
                litter.push(name.clone());
            } else if old != Some(bytes) && new != Some(bytes) {
                return Err(format!("{name} is neither the old nor the new file"));
            }
        }
        if let Some(gone) = self.before.keys().find(|name| !found.contains_key(*name)) {
            return Err(format!("{gone} is gone"));
        }
        found.retain(|name, _| !litter.contains(name));
        Ok(Verdict {
            is_new: found == self.after,
            litter,
        })
    }

    /// Judges what an error that the system gave has come to.
    pub(crate) fn judge_error(
        &self,
        folder: &Path,
        output: &Output,
        fault: &Fault,
    ) -> Result<(), String> {
        let verdict = self.judge(folder)?;
        let said = errors(output);
        let Some(code) = output.status.code() else {
            return Err(format!("killed, {}", output.status));
        };
        if said.contains("panicked") {
            return Err(format!("a panic: {said}"));
        }
        if !verdict.litter.is_empty() && !fault.is_littered {
            return Err(format!("left {:?}", verdict.litter));
        }
        match code {
            0 if fault.is_lost => Err("a write was lost, and all is said to be well".into()),
            0 if verdict.is_new => Ok(()),
            0 => Err("not everything was written, and all is said to be well".into()),
            1..=3 if fault.is_deaf || is_readable(&said) => Ok(()),
            1..=3 => Err(format!("no readable line: {said:?}")),
            code => Err(format!("exit code {code}: {said}")),
        }
    }

    /// Judges what a kill has left, and that the next save clears it away.
    pub(crate) fn judge_kill(&self, folder: &Path) -> Result<Verdict, String> {
        let verdict = self.judge(folder)?;
        let is_ours = |name: &String| {
            let hidden = Path::new(name).file_name().and_then(|name| name.to_str());
            let hidden = hidden.and_then(|name| name.strip_prefix('.')?.rsplit_once(".tenfold-"));
            hidden.is_some_and(|(target, number)| {
                let beside = Path::new(name).with_file_name(target);
                let is_target = self
                    .after
                    .contains_key(&beside.to_string_lossy().into_owned());
                is_target && number.parse::<u32>().is_ok()
            })
        };
        if let Some(other) = verdict.litter.iter().find(|name| !is_ours(name)) {
            return Err(format!("left {other}"));
        }
        if !verdict.litter.is_empty() && !self.scene.is_replaced {
            return Err(format!("left {:?} of a new file", verdict.litter));
        }
        if verdict.litter.is_empty() {
            return Ok(verdict);
        }
        let mut again = tenfold(folder, self.scene.words);
        if !self.scene.words.contains(&"--force") && self.scene.name != EDITED {
            again.arg("--force");
        }
        let output = again.output().unwrap();
        let next = self.judge(folder)?;
        if output.status.success() && next.is_new && next.litter.is_empty() {
            Ok(verdict)
        } else {
            Err(format!(
                "the next save leaves {:?}: {}",
                next.litter,
                errors(&output)
            ))
        }
    }
}

const EDITED: &str = "a file that is edited in place";

/// How a folder looks afterwards.
pub(crate) struct Verdict {
    /// Whether everything is as it is when nothing goes wrong.
    pub(crate) is_new: bool,
    /// Files that are neither old nor new ones.
    pub(crate) litter: Vec<String>,
}

/// What was done to a run.
#[derive(Default)]
pub(crate) struct Fault {
    /// The run cannot have gone well: what was written is not on the disk.
    pub(crate) is_lost: bool,
    /// Nobody could be told.
    pub(crate) is_deaf: bool,
    /// Nothing could be removed.
    pub(crate) is_littered: bool,
}

/// Whether these are lines for a person.
pub(crate) fn is_readable(said: &str) -> bool {
    let is_plain = |line: &str| line.starts_with("tenfold: ") && !line.contains(char::is_control);
    !said.is_empty() && said.ends_with('\n') && said.lines().all(is_plain)
}
