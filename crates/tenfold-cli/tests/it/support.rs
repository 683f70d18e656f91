//! Runs commands inside this process.
#![expect(clippy::unwrap_used, reason = "only tests use it")]

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io::{self, Cursor, Write};
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};

use tempfile::TempDir;
use tenfold_cli::{Exit, Streams, run};

/// What came of a command.
pub(crate) struct Ran {
    pub(crate) exit: Exit,
    pub(crate) out: Vec<u8>,
    pub(crate) errors: String,
}

impl Ran {
    /// The output as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.out.clone()).unwrap()
    }
}

/// Shows everything that came of a command, as snapshots keep it.
impl fmt::Display for Ran {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.text())?;
        for line in self.errors.lines() {
            writeln!(out, "[stderr] {line}")?;
        }
        write!(out, "[exit {}]", self.exit.code())
    }
}

/// A writer whose bytes somebody else can look at.
#[derive(Clone, Default)]
pub(crate) struct Shared(Arc<Mutex<Vec<u8>>>);

impl Shared {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An output that fails as `kind` says.
pub(crate) struct Failing(pub(crate) io::ErrorKind);

impl Write for Failing {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(self.0.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs `tenfold` with `args`, nothing on standard input.
pub(crate) fn tenfold(args: impl IntoIterator<Item = impl Into<OsString>>) -> Ran {
    tenfold_with(args, Vec::new())
}

/// Runs `tenfold` with `args`, and `input` on standard input.
pub(crate) fn tenfold_with(
    args: impl IntoIterator<Item = impl Into<OsString>>,
    input: Vec<u8>,
) -> Ran {
    let (out, errors) = (Shared::default(), Shared::default());
    let mut streams = Streams::new(Cursor::new(input), out.clone(), errors.clone());
    let exit = run(words(args), &mut streams);
    drop(streams);
    Ran {
        exit,
        out: out.bytes(),
        errors: String::from_utf8(errors.bytes()).unwrap(),
    }
}

/// The arguments, after the name of the program.
pub(crate) fn words(args: impl IntoIterator<Item = impl Into<OsString>>) -> Vec<OsString> {
    let name = OsString::from("tenfold");
    let args = args.into_iter().map(Into::into);
    std::iter::once(name).chain(args).collect()
}

/// A file of the corpus.
pub(crate) fn corpus(name: &str) -> String {
    format!("../../corpus/{name}")
}

pub(crate) fn folder_with(names: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, from) in names {
        fs::copy(corpus(from), folder.path().join(name)).unwrap();
    }
    folder
}

/// What came of a command, with `@` for the folder.
pub(crate) fn shown(folder: &TempDir, ran: &Ran) -> String {
    ran.to_string()
        .replace(&folder.path().display().to_string(), "@")
}

/// Runs `tenfold` with `@/` for a folder.
pub(crate) fn tenfold_in(folder: &TempDir, words: &[&str]) -> Ran {
    let at = format!("{}/", folder.path().display());
    tenfold(words.iter().map(|word| word.replace("@/", &at)))
}

/// The bytes of a train of two dimensions and rank 1.
pub(crate) fn train(left: &[f64], right: &[f64]) -> Vec<u8> {
    let mut file = b"BLZ1\x01\x00\x02".to_vec();
    file.extend([0; 8]);
    for size in [left.len(), right.len(), 1, 1, 1] {
        file.extend(u64::try_from(size).unwrap().to_le_bytes());
    }
    for number in left.iter().chain(right) {
        file.extend(number.to_le_bytes());
    }
    file
}

/// A file that NumPy would have written: `dtype` as in `<f4`, and a shape such as `(3,)`.
pub(crate) fn npy(
    folder: &TempDir,
    name: &str,
    dtype: &str,
    shape: &str,
    values: &[u8],
) -> PathBuf {
    let mut header = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}");
    while (header.len() + 11) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(values);
    let path = folder.path().join(name);
    fs::write(&path, file).unwrap();
    path
}

/// Starts a program that an interrupt reaches, also where the caller of the tests ignores interrupts:
/// a process hands that on to its children.
pub(crate) fn interruptible(program: &str) -> Command {
    const DEFAULT: &str = "--default-signal=INT";
    let resets = Command::new("env").args([DEFAULT, "true"]).output();
    if resets.is_ok_and(|ran| ran.status.success()) {
        let mut command = Command::new("env");
        command.args([DEFAULT, program]);
        command
    } else {
        Command::new(program)
    }
}
