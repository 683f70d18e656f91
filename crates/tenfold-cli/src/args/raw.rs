//! Values of `--raw`, and the file they apply to.

use std::path::{Path, PathBuf};

use tenfold::{DType, Format, formats};

use super::key_values::{KeyValues, given};
use super::number::number;
use super::{Command, Reading, Saving, Target};
use crate::commands::TtCommand;

/// The options of raw files.
const WORDS: &[&str] = &["dtype", "shape", "order", "endian", "offset"];
/// Ambiguous extensions: many programs use them for their own formats.
const SHARED: &[&str] = &["bin"];
const RAW: &dyn Format = &formats::raw::Raw;

/// Whether a file has an ambiguous extension.
pub(crate) fn is_shared(ending: &str) -> bool {
    SHARED.contains(&ending)
}

/// Parses `dtype=f32,shape=3x4,order=C,endian=little,offset=16`, with number types in any spelling.
pub(super) fn raw(text: &str) -> Result<KeyValues, String> {
    let mut all = given(text)?;
    for (name, value) in &mut all.0 {
        if !WORDS.contains(&name.as_str()) {
            let known = WORDS.join(", ");
            return Err(format!("{name} is not one of {known}"));
        }
        if name == "dtype" {
            *value = dtype(value)?;
        }
    }
    Ok(all)
}

fn dtype(word: &str) -> Result<String, String> {
    let long = word.trim().to_ascii_lowercase();
    let short = match long.as_str() {
        "complex64" => "c64",
        "complex128" => "c128",
        other => other,
    };
    if let Ok(dtype) = short.parse::<DType>() {
        return Ok(dtype.to_string());
    }
    match (number(short), short.strip_prefix('>').map(number)) {
        (Ok(number), _) => Ok(number.to_string()),
        (_, Some(Ok(number))) => Err(format!("say dtype={number},endian=big")),
        (Err(why), _) if short.starts_with('f') && !why.starts_with("the ") => Err(why),
        (Err(why), _) => Err(format!("{why}, c64, c128, complex<f16> and the like")),
    }
}

/// The target of `--raw`, resolved once the whole line is known.
#[derive(Clone, Default)]
pub(crate) struct RawTarget {
    /// The input is raw, with these options.
    pub(crate) input: Option<KeyValues>,
    /// The output is raw.
    pub(crate) output: Option<KeyValues>,
    /// A file whose content identifies its format keeps that format.
    pub(crate) yields: bool,
}

/// Resolves, for every command, the file that `--raw` applies to.
pub(super) fn settle(command: &mut Command) -> Result<(), String> {
    match command {
        Command::Info(args) => args.files.reading.settle(),
        Command::Verify(args) => args.files.reading.settle(),
        Command::Show(args) => args.reading.settle(),
        Command::Stats(args) => args.reading.settle(),
        Command::View(args) => args.reading.settle(),
        Command::Plot(args) => args.reading.settle(),
        Command::Hash(args) => args.reading.settle(),
        Command::Edit(args) => args.reading.settle(),
        Command::Diff(args) => {
            // One `--raw` serves to compare a file with its raw counterpart.
            args.reading.meaning.yields = args.reading.format.is_none();
            args.reading.settle()
        }
        Command::Convert(args) => {
            let (words, saving) = (&args.words, &mut args.output.saving);
            let words = match args.output.out_dir {
                Some(_) => &[],
                None => words.as_slice(),
            };
            args.reading.settle_with(words, saving)
        }
        Command::Compress(args) => args.reading.settle_with(&args.words, &mut args.saving),
        Command::Reconstruct(args) => args.reading.settle_with(&args.words, &mut args.saving),
        Command::Tt(args) => match &mut args.command {
            TtCommand::Info(args) | TtCommand::Norm(args) => args.reading.settle(),
            TtCommand::Dot(args) | TtCommand::Distance(args) => args.reading.settle(),
            TtCommand::Add(args) | TtCommand::Sub(args) => args.reading.settle(),
            TtCommand::Round(args) => args.reading.settle_with(&args.words, &mut args.saving),
        },
        Command::Demo(_) | Command::Completions(_) | Command::Man(_) | Command::Formats(_) => {
            Ok(())
        }
    }
}

impl Reading {
    /// Without an output, it applies to the input.
    fn settle(&mut self) -> Result<(), String> {
        let Some(given) = self.raw.first().cloned() else {
            return Ok(());
        };
        if self.raw.len() > 1 {
            return Err("--raw stands here twice, and nothing is written".into());
        }
        self.set_input(given)
    }

    /// With an output, it applies to the side whose format neither name nor flag tells.
    fn settle_with(&mut self, words: &[PathBuf], saving: &mut Saving) -> Result<(), String> {
        let last = words.split_last().filter(|(_, rest)| !rest.is_empty());
        let out = saving.file.as_ref().or(last.map(|(last, _)| last));
        let is_raw = |format: &dyn Format| format.info().name == RAW.info().name;
        let from = self.format.map(is_raw);
        let to = saving.to.as_ref().map(|to| is_raw(to.format));
        match self.raw.clone().as_slice() {
            [] => Ok(()),
            [input, output] => {
                self.set_input(input.clone())?;
                self.set_output(output.clone(), saving)
            }
            [both] if from == Some(true) && to == Some(true) => {
                self.set_input(both.clone())?;
                self.set_output(both.clone(), saving)
            }
            [input] if from == Some(true) || to == Some(false) => self.set_input(input.clone()),
            [output] if from == Some(false) || to == Some(true) => {
                self.set_output(output.clone(), saving)
            }
            [input] if out.is_none_or(|out| says_format(out)) => self.set_input(input.clone()),
            [output] => self.set_output(output.clone(), saving),
            _ => Err(
                "--raw stands here more than twice: once for what is read, and once for \
                      what is written"
                    .into(),
            ),
        }
    }

    fn set_input(&mut self, given: KeyValues) -> Result<(), String> {
        match self.format.map(|format| format.info().name) {
            Some(other) if other != RAW.info().name => {
                return Err(format!(
                    "--raw reads raw numbers, and --from {other} does not"
                ));
            }
            None if self.meaning.yields => {}
            _ => self.format = Some(RAW),
        }
        self.meaning.input = Some(given);
        Ok(())
    }

    fn set_output(&mut self, given: KeyValues, saving: &mut Saving) -> Result<(), String> {
        match saving.to.as_ref().map(|to| to.format.info().name) {
            Some(other) if other != RAW.info().name => {
                return Err(format!(
                    "--raw writes raw numbers, and --to {other} does not"
                ));
            }
            _ => {
                saving.to = Some(Target {
                    format: RAW,
                    version: None,
                });
            }
        }
        self.meaning.output = Some(given);
        Ok(())
    }
}

/// Whether the file name tells the format.
fn says_format(file: &Path) -> bool {
    let ending = file.extension().and_then(|ending| ending.to_str());
    let is_shared = ending.is_some_and(|ending| is_shared(&ending.to_ascii_lowercase()));
    !is_shared && !formats::by_extension(file).is_empty()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use crate::args::parse;

    /// The side that is raw.
    fn sides(line: &str) -> Result<(bool, bool), String> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        match parse(&words).map_err(|error| error.to_string())?.command {
            Command::Convert(args) => {
                let meaning = &args.reading.meaning;
                Ok((meaning.input.is_some(), meaning.output.is_some()))
            }
            _ => panic!("a conversion was asked for"),
        }
    }

    #[test]
    fn the_file_is_raw_that_nothing_else_is_said_of() {
        for (line, input, output) in [
            ("a.raw b.npy --raw dtype=f32", true, false),
            ("a.npy b.raw --raw dtype=f32", false, true),
            ("a.npy b.bin --raw dtype=f32", false, true),
            ("a.npy - --raw dtype=f32", false, true),
            ("a.raw - --to npy --raw dtype=f32", true, false),
            ("a.raw --out-dir x --to npy --raw dtype=f32", true, false),
            ("a b --from raw --raw dtype=f32", true, false),
            ("a b --from npy --raw dtype=f32", false, true),
            ("a b.npy --to raw --raw dtype=f32", false, true),
            ("a b --raw dtype=f32 --raw endian=big", true, true),
            ("a b --from raw --to raw --raw dtype=f32", true, true),
        ] {
            let found = sides(&format!("tenfold convert {line}"));
            assert_eq!(found, Ok((input, output)), "{line}");
        }
        for line in [
            "a b --from npy --raw dtype=f32 --raw endian=big",
            "a b --to npy --from blz --raw dtype=f32",
            "a b --raw dtype=f32 --raw dtype=f32 --raw dtype=f32",
            "a b --raw type=f32",
        ] {
            assert!(sides(&format!("tenfold convert {line}")).is_err(), "{line}");
        }
    }

    #[test]
    fn number_types_have_all_their_spellings() {
        for (word, name) in [
            ("float32", "f32"),
            ("<f4", "f32"),
            ("bf16", "bf16"),
            ("complex128", "c128"),
            ("c64", "c64"),
            ("quaternion<f64>", "quaternion<f64>"),
            ("F64", "f64"),
        ] {
            assert_eq!(dtype(word).as_deref(), Ok(name));
        }
        assert_eq!(dtype(">f4"), Err("say dtype=f32,endian=big".into()));
        assert!(dtype("f8").unwrap_err().contains("say f64"));
        assert!(
            dtype("colour")
                .unwrap_err()
                .starts_with("the number types are bool")
        );
    }
}
