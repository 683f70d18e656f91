//! Command failures, worded for a terminal.

use std::io;
use std::path::Path;

use tenfold::{Callable, Error, Hint, Info, Loss, Note, Refusal};

use crate::exit::Exit;
use crate::render::{bytes_text, note_text};
use crate::terminal::plain;

/// The reason that a command fails.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    /// Its code in JSON.
    pub(crate) kind: &'static str,
    /// The offset of the invalid byte, if known.
    pub(crate) at: Option<u64>,
    /// The message, sanitized for a terminal.
    pub(crate) text: String,
    /// The file it is about, sanitized for a terminal.
    file: Option<String>,
    /// Whether it concerns a file whose format is not named yet.
    lacks_format: bool,
    /// The losses that a conversion was refused for.
    pub(crate) losses: Vec<Loss>,
}

impl Failure {
    /// An invalid command line.
    pub(crate) fn usage(text: impl Into<String>) -> Failure {
        Failure::from(Error::Invalid(text.into()))
    }

    /// A file with notes, which `--strict` rejects.
    pub(crate) fn strict(info: &Info, note: &Note) -> Failure {
        let (name, note_text) = (info.name, note_text(info, note));
        let text = format!("not a clean {name} file, as --strict demands: {note_text}");
        Failure {
            exit: Exit::No,
            kind: "note",
            at: note.at,
            text: plain(&text),
            file: None,
            lacks_format: false,
            losses: Vec::new(),
        }
    }

    /// A set with missing shards.
    pub(crate) fn incomplete(text: &str) -> Failure {
        Failure {
            exit: Exit::No,
            kind: "incomplete",
            at: None,
            text: plain(text),
            file: None,
            lacks_format: false,
            losses: Vec::new(),
        }
    }

    /// A pickle that makes Python call functions that weights do not need.
    pub(crate) fn unsafe_pickle(odd: &[&Callable]) -> Failure {
        // All of them: a harmful one may be the last after any number of others.
        let (called, imported): (Vec<&Callable>, _) =
            odd.iter().partition(|callable| callable.count > 0);
        let clause = |verb: &str, all: &[&Callable]| {
            let names: Vec<&str> = all.iter().map(|callable| callable.name.as_str()).collect();
            (!names.is_empty()).then(|| format!("{verb} {}", names.join(", ")))
        };
        let clauses = [clause("call", &called), clause("import", &imported)];
        let clauses: Vec<String> = clauses.into_iter().flatten().collect();
        let text = format!(
            "loading it in Python would {}, outside PyTorch's weights-only list",
            clauses.join(" and ")
        );
        Failure {
            exit: Exit::No,
            kind: "unsafe",
            at: odd.first().and_then(|first| first.at),
            text: plain(&text),
            file: None,
            lacks_format: false,
            losses: Vec::new(),
        }
    }

    /// A refused loss.
    pub(crate) fn refused(text: &str) -> Failure {
        Failure {
            exit: Exit::Refused,
            kind: "refused",
            at: None,
            text: plain(text),
            file: None,
            lacks_format: false,
            losses: Vec::new(),
        }
    }

    /// Adds the path of the file, unless the system already named one.
    pub(crate) fn about(mut self, path: &Path) -> Failure {
        if self.file.is_none() && !self.is_quiet() {
            let file = plain(&path.display().to_string());
            match self.text.split_once(Refusal::OF_IT) {
                // The path precedes the message.
                Some((format, losses)) if self.kind == "refused" => {
                    self.text = format!("{format} cannot hold all of {file}{losses}");
                }
                _ => self.file = Some(file),
            }
        }
        self
    }

    /// Adds the format of the file at fault, if it is not named yet.
    pub(crate) fn of(mut self, info: &Info) -> Failure {
        if std::mem::take(&mut self.lacks_format) {
            self.text = format!("not a valid {} file: {}", info.name, self.text);
        }
        self
    }

    /// Whether it concerns the request rather than a file.
    pub(crate) fn is_usage(&self) -> bool {
        self.kind == "invalid"
    }

    /// Whether unpickling a file in Python would be unsafe.
    pub(crate) fn is_unsafe(&self) -> bool {
        self.kind == "unsafe"
    }

    /// Whether it is only a closed output pipe.
    pub(crate) fn is_quiet(&self) -> bool {
        self.kind == "closed"
    }

    /// The same for an unfinished output: still quiet, but not a success.
    pub(crate) fn unfinished(mut self) -> Failure {
        self.exit = self.exit.max(Exit::Trouble);
        self
    }

    /// The message as text.
    pub(crate) fn line(&self) -> String {
        match &self.file {
            Some(file) => format!("{file}: {}", self.text),
            None => self.text.clone(),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let (path, error) = error.split_file();
        let (kind, at) = kind(&error);
        let lacks_format = matches!(error, Error::Malformed { format: None, .. });
        let text = match &error {
            Error::Refused(refusal) => refusal.text(plain),
            other => {
                let way = other.hint().map_or("", way);
                plain(&format!("{other}{way}"))
            }
        };
        let file = path.map(|path| plain(&path.display().to_string()));
        let losses = match &error {
            Error::Refused(refusal) => refusal.losses.clone(),
            _ => Vec::new(),
        };
        let exit = if kind == "closed" {
            Exit::Fine
        } else {
            Exit::of(&error)
        };
        Failure {
            exit,
            kind,
            at,
            text,
            file,
            lacks_format,
            losses,
        }
    }
}

impl From<tenfold_train::Error> for Failure {
    fn from(error: tenfold_train::Error) -> Failure {
        use tenfold_train::Error as Why;
        match error {
            Why::Tensor(error) => error.into(),
            // No train can approximate a non-finite cell, or reach the tolerance.
            Why::NotFinite { .. } => Failure::refused(&error.to_string()),
            Why::RankLimit(limit) => Failure::refused(&format!(
                "{limit}; --best-effort takes that, a larger --max-rank or --eps gets further"
            )),
            Why::Memory { needed, allowed } => Failure::refused(&format!(
                "what is left of the tensor takes {} of memory, {} are allowed; --memory or a \
                 larger --eps gets further",
                bytes_text(needed),
                bytes_text(allowed),
            )),
            Why::NotSmaller { rank, least, below } => Failure::refused(&format!(
                "every train within the error has a rank of {rank} or more and takes at least {} \
                 where the tensor takes {}; --force writes one, a larger --eps makes it smaller",
                bytes_text(least),
                bytes_text(below),
            )),
            other => Failure::usage(other.to_string()),
        }
    }
}

/// The hint of an error, worded as flags.
fn way(hint: Hint) -> &'static str {
    match hint {
        Hint::Duplicates { sum: true } => {
            "; --duplicates sum adds the values up, --duplicates last keeps the last"
        }
        Hint::Duplicates { sum: false } => "; --duplicates last keeps the last",
        _ => "",
    }
}

/// The code of an error, and its byte offset.
fn kind(error: &Error) -> (&'static str, Option<u64>) {
    match error {
        // Only the output can be a pipe closed by its reader.
        Error::Io { source, .. } if source.kind() == io::ErrorKind::BrokenPipe => ("closed", None),
        Error::Io { .. } => ("io", None),
        Error::OutOfMemory { .. } => ("memory", None),
        Error::Malformed { at, .. } => ("malformed", *at),
        Error::Unsupported { .. } => ("unsupported", None),
        Error::Limit { .. } => ("limit", None),
        Error::Refused(_) | Error::NoRoom { .. } => ("refused", None),
        Error::OutOfRange(_) => ("range", None),
        Error::Mismatch(_) => ("mismatch", None),
        Error::Unrecognised { .. } => ("unrecognised", None),
        _ => ("invalid", None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenfold::{Aspect, Key, Tier};

    #[test]
    fn a_file_is_named_once() {
        let gone = io::Error::from(io::ErrorKind::NotFound);
        let error = Error::from(gone).in_file(Path::new("a.zt"));
        let failure = Failure::from(error).about(Path::new("b.zt"));
        assert_eq!(failure.line(), "a.zt: entity not found");
        assert_eq!(failure.exit, Exit::Trouble);
    }

    #[test]
    fn a_closed_pipe_is_quiet_and_fine() {
        let failure = Failure::from(Error::from(io::Error::from(io::ErrorKind::BrokenPipe)));
        assert!(failure.is_quiet());
        assert_eq!(failure.exit, Exit::Fine);
    }

    #[test]
    fn names_in_a_refusal_cannot_make_lines_of_their_own() {
        let loss = Loss {
            key: Some(Key::flat("a\nNothing was lost.\u{1b}[2J")),
            tier: Tier::Impossible,
            aspect: Aspect::Keys,
            detail: "the name is used\ttwice".into(),
        };
        let refusal = Refusal {
            format: "blz",
            losses: vec![loss],
        };
        let failure = Failure::from(Error::from(refusal));
        assert_eq!(failure.exit, Exit::Refused);
        let text = "blz cannot hold all of it\n  \
            keys       a\\nNothing was lost.\\u{1b}[2J: the name is used\\ttwice\n\
            Nothing was written.";
        assert_eq!(failure.line(), text);
    }
}
