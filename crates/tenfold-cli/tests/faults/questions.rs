//! What the program is asked about files of every kind, and what may come of it when they cannot be read.
#![expect(clippy::unwrap_used, reason = "only tests use it")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use crate::arena::{Tree, corpus, errors, npy, program, safetensors, tree};

/// A command and the files that it reads.
pub(crate) struct Question {
    pub(crate) words: &'static [&'static str],
    files: fn(&Path),
    /// What comes through its standard input.
    input: Option<fn() -> Vec<u8>>,
}

const fn ask(words: &'static [&'static str], files: fn(&Path)) -> Question {
    let input = None;
    Question {
        words,
        files,
        input,
    }
}

/// Commands of every kind, and files of every format.
pub(crate) const QUESTIONS: &[Question] = &[
    ask(&["info", "in.npy"], small),
    ask(&["info", "in.npy", "--json"], small),
    ask(&["info", "set-00002-of-00003.safetensors"], set),
    ask(&["info", "."], folder),
    ask(&["info", "run"], index),
    ask(&["info", "run/model.safetensors.index.json"], index),
    ask(&["info", "set-*.safetensors"], set),
    ask(&["info", "in.yaml"], cc4s),
    ask(&["verify", "in.yaml"], cc4s),
    ask(&["verify", "set-00001-of-00003.safetensors"], set),
    ask(&["verify", "."], folder),
    ask(&["verify", "in.zt"], |folder| {
        put(folder, "ztensor/good/bool.zt", "in.zt")
    }),
    ask(&["hash", "in.pt"], |folder| {
        put(folder, "torch/good/array_fortran.pt", "in.pt")
    }),
    ask(&["show", "in.npy"], small),
    ask(&["show", "in.npy.gz", "--csv"], gzipped),
    ask(&["show", "in.tbf"], |folder| {
        put(folder, "vespa/good/blocks_130.tbf", "in.tbf")
    }),
    ask(&["show", "in"], |folder| {
        put(folder, "vespa/good/dense_2d.tbf", "in")
    }),
    ask(&["show", "in.json"], |folder| {
        put(folder, "vespa-text/good/blocks.text", "in.json")
    }),
    ask(&["show", "in.jsonl"], |folder| {
        put(folder, "vespa-feed/good/flat.jsonl", "in.jsonl")
    }),
    ask(&["stats", "in.npz"], |folder| {
        put(folder, "npz/good/deflated.npz", "in.npz")
    }),
    ask(&["stats", "run"], index),
    ask(&["stats", "in.mtx"], |folder| {
        put(folder, "mtx/good/array_real.mtx", "in.mtx")
    }),
    ask(&["stats", "in.tns"], |folder| {
        put(folder, "tns/good/comments.tns", "in.tns")
    }),
    ask(&["hash", "in.gguf"], |folder| {
        put(folder, "gguf/good/array_f32.gguf", "in.gguf")
    }),
    ask(&["hash", "in.tens"], |folder| {
        put(folder, "tens/good/big_ieee_8.tens", "in.tens")
    }),
    ask(&["hash", "in.fcidump"], |folder| {
        put(folder, "fcidump/good/both_orders.fcidump", "in.fcidump");
    }),
    ask(&["hash", "."], folder),
    ask(&["diff", "in.npy", "in.npy.gz"], gzipped),
    ask(&["diff", "in.npy", "other.npy"], |folder| {
        small(folder);
        fs::write(folder.join("other.npy"), npy("(2, 3)", true, 6)).unwrap();
    }),
    ask(&["convert", "in.yaml", "out.npz"], cc4s),
    ask(&["convert", "in.npy", "out.safetensors"], large),
    ask(
        &["convert", "in.npy", "out.safetensors", "--memory", "1MiB"],
        large,
    ),
    ask(&["convert", "in.npy.gz", "out.zt"], gzipped),
    ask(&["convert", "run", "out.gguf", "--json"], index),
    ask(
        &[
            "convert",
            "set-00001-of-00003.safetensors",
            "--out-dir",
            "out",
            "--to",
            "npy",
        ],
        set,
    ),
    ask(&["convert", "in.model", "out.npz"], |folder| {
        put(folder, "primitiv/good/model_adam.model", "in.model");
    }),
    ask(
        &["compress", "in.npy", "out.blz", "--eps", "1e-6", "-q"],
        |folder| {
            fs::write(folder.join("in.npy"), npy("(20, 30)", false, 600)).unwrap();
        },
    ),
    ask(&["reconstruct", "in.blz", "out.npy"], blz),
    ask(&["tt", "info", "in.blz"], blz),
    ask(
        &["edit", "in.safetensors", "--set", "title=new"],
        |folder| {
            fs::write(folder.join("in.safetensors"), shard(b"a")).unwrap();
        },
    ),
    ask(&["plot", "in.npy", "-o", "out.svg"], small),
    ask(&["verify", "in.npz", "--salvage", "out.npz"], |folder| {
        put(folder, "npz/good/deflated.npz", "in.npz");
    }),
    Question {
        words: &["hash", "-"],
        files: |_| (),
        input: Some(|| npy("(2, 3)", false, 6)),
    },
];

fn put(folder: &Path, from: &str, to: &str) {
    fs::copy(corpus().join(from), folder.join(to)).unwrap();
}

fn small(folder: &Path) {
    fs::write(folder.join("in.npy"), npy("(2, 3)", false, 6)).unwrap();
}

fn large(folder: &Path) {
    fs::write(folder.join("in.npy"), npy("(700, 600)", true, 420_000)).unwrap();
}

fn blz(folder: &Path) {
    put(folder, "blz/good/page_example.blz", "in.blz");
}

fn gzipped(folder: &Path) {
    small(folder);
    let packed = Command::new("gzip")
        .args(["-n", "-k", "in.npy"])
        .current_dir(folder)
        .status();
    assert!(packed.unwrap().success());
}

fn shard(name: &[u8; 1]) -> Vec<u8> {
    let text = String::from_utf8_lossy(name);
    safetensors(&[(text.as_ref(), &[name[0]; 40])])
}

fn set(folder: &Path) {
    for (number, name) in [(1, b"a"), (2, b"b"), (3, b"c")] {
        let file = format!("set-{number:05}-of-00003.safetensors");
        fs::write(folder.join(file), shard(name)).unwrap();
    }
}

/// Files of several formats, and others.
fn folder(folder: &Path) {
    small(folder);
    put(folder, "cc4s/good/by_cc4s.yaml", "by_cc4s.yaml");
    put(folder, "cc4s/good/by_cc4s.elements", "by_cc4s.elements");
    fs::write(folder.join("a.safetensors"), shard(b"a")).unwrap();
    fs::write(folder.join("notes.txt"), "not a tensor").unwrap();
    fs::create_dir(folder.join("inner")).unwrap();
}

fn index(folder: &Path) {
    let run = folder.join("run");
    fs::create_dir(&run).unwrap();
    fs::write(run.join("one.safetensors"), shard(b"a")).unwrap();
    fs::write(run.join("two.safetensors"), shard(b"b")).unwrap();
    let map = serde_json::json!({
        "weight_map": { "a": "one.safetensors", "b": "two.safetensors" },
    });
    fs::write(run.join("model.safetensors.index.json"), map.to_string()).unwrap();
}

fn cc4s(folder: &Path) {
    put(folder, "cc4s/good/by_cc4s.yaml", "in.yaml");
    put(folder, "cc4s/good/by_cc4s.elements", "in.elements");
}

/// What came of a question.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    code: Option<i32>,
    said: String,
    errors: String,
    files: Tree,
}

impl Answer {
    fn of(folder: &Path, output: &Output) -> Answer {
        // Folders have other names in every run.
        let name = folder.display().to_string();
        Answer {
            code: output.status.code(),
            said: String::from_utf8_lossy(&output.stdout).replace(&name, ""),
            errors: errors(output).replace(&name, ""),
            files: tree(folder),
        }
    }

    /// The exit code.
    pub(crate) fn code(&self) -> Option<i32> {
        self.code
    }

    /// Judges a run in which something could not be read: this is what it answers when all can be.
    pub(crate) fn judge(
        &self,
        other: &Answer,
        question: &Question,
        before: &Tree,
    ) -> Result<(), String> {
        /// The exit code where the system failed.
        const TROUBLE: i32 = 2;
        if self == other {
            return Ok(());
        }
        let Answer {
            code, said, errors, ..
        } = other;
        let text = format!("{said}{errors}");
        let is_said = text.contains("Input/output error");
        if is_said && question.words.contains(&"--salvage") && matches!(code, Some(1 | TROUBLE)) {
            return Ok(()); // it saves the rest
        }
        if text.contains("panicked") || other.code != Some(TROUBLE) {
            return Err(format!("another answer, code {code:?}: {text}"));
        }
        if !is_said {
            return Err(format!("another error: {text}"));
        }
        let is_whole = |(name, bytes): (&String, &Vec<u8>)| {
            [before.get(name), self.files.get(name)].contains(&Some(bytes))
        };
        let is_gone = |name: &String| !other.files.contains_key(name);
        if !other.files.iter().all(is_whole) || before.keys().any(is_gone) {
            return Err("files that are neither the old nor the new ones".into());
        }
        Ok(())
    }
}

impl Question {
    /// A folder with the files.
    pub(crate) fn set(&self) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        (self.files)(folder.path());
        folder
    }

    /// Asks the program in a folder; `command` begins with what it is run by, if that is something.
    pub(crate) fn put(&self, folder: &Path, command: Option<Command>) -> Answer {
        let mut command = match command {
            None => Command::new(program()),
            Some(mut command) => {
                command.arg(program());
                command
            }
        };
        command.args(self.words).current_dir(folder);
        let Some(input) = self.input else {
            return Answer::of(folder, &command.output().unwrap());
        };
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), input()).unwrap();
        let input = fs::File::open(file.path()).unwrap();
        command.stdin(Stdio::from(input));
        Answer::of(folder, &command.output().unwrap())
    }
}
