//! `tenfold demo`: sample files of every format, and commands to try on them.

mod files;

use std::ffi::OsString;
use std::path::Path;

use tenfold::{Allow, Aspect, Error, Options, Sink, WriteOptions};

use super::Outcome;
use crate::args::Demo;
use crate::error::Failure;
use crate::exit::Exit;
use crate::terminal::{Row, Streams, Table, plain};
use files::{Content, File};

/// The file that describes the others; it marks a folder as the demo's own.
const README: &str = "README.txt";
/// Its first line.
const MARK: &str = "Files to try `tenfold` on, made by `tenfold demo`.\n";

/// A command that is shown and run.
struct Step {
    about: &'static str,
    /// The command, with `@` for the folder.
    words: &'static [&'static str],
    exit: Exit,
}

const STEPS: &[Step] = &[
    Step {
        about: "What is in a file, whatever its format? Only headers are read.",
        words: &[
            "info",
            "@integrals.tens",
            "@catalogue.tbf",
            "@field.npy",
            "@field.blz",
        ],
        exit: Exit::Fine,
    },
    Step {
        about: "Names fold into a tree.",
        words: &["info", "--tree", "@model.model"],
        exit: Exit::Fine,
    },
    Step {
        about: "Is it sound, to the last byte? Checksums, symmetries, duplicates.",
        words: &[
            "verify",
            "@integrals.tens",
            "@model.model",
            "@weights.zt",
            "@catalogue.tbf",
        ],
        exit: Exit::Fine,
    },
    Step {
        about: "What are the values?",
        words: &["show", "@catalogue.tbf"],
        exit: Exit::Fine,
    },
    Step {
        about: "Vespa's own words for them can be pasted.",
        words: &["show", "--as", "literal", "@catalogue.tbf"],
        exit: Exit::Fine,
    },
    Step {
        about: "A conversion that would lose something is refused, and says what.",
        words: &["convert", "@catalogue.tbf", "@catalogue-dense.npy"],
        exit: Exit::Refused,
    },
    Step {
        about: "It goes ahead when the loss is permitted by name.",
        words: &[
            "convert",
            "@catalogue.tbf",
            "@catalogue-dense.npy",
            "--allow",
            "labels",
        ],
        exit: Exit::Fine,
    },
    Step {
        about: "Where all values survive, what changes is only said.",
        words: &["convert", "@integrals.tens", "@integrals-full.npy"],
        exit: Exit::Fine,
    },
    Step {
        about: "A tensor train is expanded when that is wanted.",
        words: &[
            "convert",
            "@field.blz",
            "@field-again.npy",
            "--allow",
            "train",
        ],
        exit: Exit::Fine,
    },
    Step {
        about: "A tensor becomes a train that is provably near it, and many times smaller.",
        words: &[
            "compress",
            "@field.npy",
            "@field-small.blz",
            "--eps",
            "1e-6",
        ],
        exit: Exit::Fine,
    },
    Step {
        about: "And back, as the original was.",
        words: &[
            "reconstruct",
            "@field-small.blz",
            "@field-back.npy",
            "--like",
            "@field.npy",
        ],
        exit: Exit::Fine,
    },
    Step {
        about: "Is it still the same wave?",
        words: &["diff", "@field.npy", "@field-again.npy", "--atol", "1e-12"],
        exit: Exit::Fine,
    },
    Step {
        about: "What did a step of training change?",
        words: &["diff", "@weights.zt", "@weights-next.zt"],
        exit: Exit::No,
    },
    Step {
        about: "What is wrong with the values?",
        words: &["stats", "@weights-next.zt"],
        exit: Exit::Fine,
    },
    Step {
        about: "The same content has the same hash in any format.",
        words: &["hash", "--dense", "@integrals.tens", "@integrals-full.npy"],
        exit: Exit::Fine,
    },
    Step {
        about: "Names and metadata change in place.",
        words: &[
            "edit",
            "@adam.optimizer",
            "--set",
            "alpha=0.0005",
            "--dry-run",
        ],
        exit: Exit::Fine,
    },
];

/// The output of the steps.
const WRITTEN: [&str; 5] = [
    "catalogue-dense.npy",
    "integrals-full.npy",
    "field-again.npy",
    "field-small.blz",
    "field-back.npy",
];

pub(super) fn run(args: &Demo, streams: &mut Streams) -> Outcome {
    let folder = args.folder.as_path();
    make(folder)?;
    let shown = plain(&folder.display().to_string());
    let files = files::all()?;
    let count = files.len();
    streams
        .out
        .text(&format!("{count} files were made in {shown}:\n"))?;
    table(&files).print("  ", &mut streams.out)?;
    if streams.voice().quiet {
        // The steps are for show, and one of them prints an error.
        return Ok(Exit::Fine);
    }
    let mut exit = Exit::Fine;
    for step in STEPS {
        let words: Vec<OsString> = step
            .words
            .iter()
            .map(|word| in_folder(word, folder))
            .collect();
        let line: Vec<String> = words.iter().map(quoted).collect();
        let line = streams
            .out
            .paint
            .name(&format!("$ tenfold {}", line.join(" ")));
        streams.out.text(&format!("\n{}\n{line}\n", step.about))?;
        // Messages go to standard error but belong in the transcript.
        streams.out.flush()?;
        let name = OsString::from("tenfold");
        let words: Vec<OsString> = std::iter::once(name).chain(words).collect();
        if crate::run_again(&words, streams) != step.exit {
            exit = Exit::Trouble;
        }
        streams.out.flush()?;
    }
    streams.out.text(&format!(
        "\nThe files are in {shown}: try your own commands on them.\n"
    ))?;
    Ok(exit)
}

/// Creates the folder and its files, unless a foreign folder is there.
fn make(folder: &Path) -> Result<(), Failure> {
    let readme = folder.join(README);
    let in_file = |path: &Path, error: std::io::Error| Error::from(error).in_file(path);
    let is_own = std::fs::read_to_string(&readme).is_ok_and(|text| text.starts_with(MARK));
    let is_empty = match std::fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    };
    if !is_own && !is_empty {
        let folder = folder.display();
        let why = format!("{folder} exists and was not made by a demo: name another folder");
        return Err(Failure::usage(why));
    }
    std::fs::create_dir_all(folder).map_err(|error| in_file(folder, error))?;
    let files = files::all()?;
    std::fs::write(&readme, readme_text(&files)).map_err(|error| in_file(&readme, error))?;
    for name in WRITTEN {
        let path = folder.join(name);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(in_file(&path, error).into());
            }
            _ => {}
        }
    }
    files
        .iter()
        .try_for_each(|file| save(file, &folder.join(file.name)))
}

fn save(file: &File, path: &Path) -> Result<(), Failure> {
    let format = tenfold::by_name(file.format)
        .ok_or_else(|| Failure::usage(format!("{} is no format", file.format)))?;
    let mut options = Options::default();
    for (name, value) in file.options {
        options.set(*name, *value);
    }
    let how = WriteOptions {
        options,
        strict: true,
        // Raw numbers do not describe themselves.
        allow: Allow::These(vec![Aspect::Shape]),
        // They can be created again at any time.
        skip_sync: true,
        ..WriteOptions::default()
    };
    match &file.content {
        Content::Bundle(bundle) => tenfold::save(bundle, path, format, &how, true).map(drop)?,
        Content::Bytes(bytes) => {
            let write = |out: &mut Sink| out.write(bytes);
            tenfold::save_with(path, true, how.skip_sync, write)?;
        }
    }
    Ok(())
}

fn table(files: &[File]) -> Table {
    let mut table = Table::default();
    for file in files {
        table.push(Row::new([file.name, file.about]));
    }
    table
}

fn readme_text(files: &[File]) -> String {
    let lines = files
        .iter()
        .map(|file| format!("  {:19}  {}\n", file.name, file.about));
    format!(
        "{MARK}\n{}\nThey are overwritten by the next `tenfold demo`.\n",
        lines.collect::<String>()
    )
}

/// An argument of a step, with the folder for `@`.
fn in_folder(word: &str, folder: &Path) -> OsString {
    match word.strip_prefix('@') {
        Some(name) => folder.join(name).into_os_string(),
        None => word.into(),
    }
}

/// An argument quoted for the shell.
fn quoted(word: &OsString) -> String {
    let word = plain(&word.to_string_lossy());
    let is_plain = |letter: char| letter.is_alphanumeric() || "_-./=:,@%+".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
