//! Parsing of the command line.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser, ValueEnum};
use tenfold::ops::{TensorRef, is_glob, presence};

use super::Tenfold;
use super::number::number;
use super::raw::settle;
use crate::terminal::ColorWhen;

/// Parses the command line; a file in place of a command means `info`.
pub(crate) fn parse(words: &[OsString]) -> Result<Tenfold, clap::Error> {
    let mut parsed = understood(&joined(words))?;
    settle(&mut parsed.command).map_err(|why| {
        clap::Error::raw(ErrorKind::ArgumentConflict, format!("{why}\n"))
            .with_cmd(&Tenfold::command())
    })?;
    Ok(parsed)
}

/// Joins `--dequantize` and a following number type. Any other word there is a file.
fn joined(words: &[OsString]) -> Vec<OsString> {
    let mut all: Vec<OsString> = Vec::with_capacity(words.len());
    let mut is_open = true;
    for word in words {
        let is_type = word.to_str().is_some_and(|word| number(word).is_ok());
        match all.last_mut() {
            Some(last) if is_open && is_type && last == "--dequantize" => {
                last.push("=");
                last.push(word);
            }
            _ => all.push(word.clone()),
        }
        is_open &= word != "--";
    }
    all
}

fn understood(words: &[OsString]) -> Result<Tenfold, clap::Error> {
    let answer = match Tenfold::try_parse_from(words) {
        Err(answer) if may_be_file(&answer, words) => answer,
        Err(answer) => return Err(missing_file(&answer).unwrap_or(answer)),
        Ok(parsed) => return Ok(parsed),
    };
    let Some((program, rest)) = words.split_first() else {
        return Err(answer);
    };
    let info = OsString::from("info");
    Tenfold::try_parse_from([program, &info].into_iter().chain(rest))
}

/// Whether parsing failed because the line begins with a file.
fn may_be_file(answer: &clap::Error, words: &[OsString]) -> bool {
    let word = match (answer.kind(), answer.get(ContextKind::InvalidSubcommand)) {
        (ErrorKind::InvalidSubcommand, Some(ContextValue::String(word))) => Some(OsStr::new(word)),
        // A flag of `info` may precede the file.
        (ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand, _) => first_word(words),
        _ => None,
    };
    word.is_some_and(|word| {
        // If its metadata cannot be read it may be a file: opening it reports the error.
        let is_there = TensorRef::find(Path::new(word)).and_then(|reference| {
            let file = &reference.file;
            Ok(presence::metadata(file)?.is_some() || is_glob(file)?)
        });
        is_there.unwrap_or(true) && !is_command(word)
    })
}

/// The message for a word in place of a command that looks like a missing file.
fn missing_file(answer: &clap::Error) -> Option<clap::Error> {
    let kind = ErrorKind::InvalidSubcommand;
    match answer.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(word)) if answer.kind() == kind && word.contains(['.', '/']) => {
            let why = format!("{word:?} is neither a command nor a file\n");
            Some(clap::Error::raw(kind, why).with_cmd(&Tenfold::command()))
        }
        _ => None,
    }
}

fn first_word(words: &[OsString]) -> Option<&OsStr> {
    let is_flag = |word: &&OsString| word.as_encoded_bytes().starts_with(b"-");
    let mut words = words.iter().skip(1);
    words.find(|word| !is_flag(word)).map(OsString::as_os_str)
}

fn is_command(word: &OsStr) -> bool {
    let is_it = |name: &str| word == OsStr::new(name);
    Tenfold::command()
        .get_subcommands()
        .any(|command| is_it(command.get_name()) || command.get_all_aliases().any(is_it))
}

/// The value of `--color` on a line that failed to parse.
pub(crate) fn color(words: &[OsString]) -> ColorWhen {
    let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
    let joined = words.iter().find_map(|word| word.strip_prefix("--color="));
    let apart = words.windows(2).find_map(|pair| match pair {
        ["--color", wish] => Some(*wish),
        _ => None,
    });
    let wish = joined.or(apart).unwrap_or_default();
    ColorWhen::from_str(wish, false).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Command;

    fn words(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn a_file_in_the_place_of_a_command_is_described() {
        for line in [
            &["tenfold", "Cargo.toml"][..],
            &["tenfold", "Cargo.toml", "src", "--json"],
            &["tenfold", "--json", "Cargo.toml"],
            &["tenfold", "-q", "--color", "never", "Cargo.toml"],
        ] {
            let parsed = parse(&words(line)).ok().unwrap();
            assert!(matches!(parsed.command, Command::Info(_)), "{line:?}");
        }
    }

    #[test]
    fn what_is_neither_command_nor_file_is_no_command() {
        for (line, kind) in [
            (&["tenfold", "no-such.zt"][..], ErrorKind::InvalidSubcommand),
            (
                &["tenfold", "show", "--frobnicate", "Cargo.toml"],
                ErrorKind::UnknownArgument,
            ),
        ] {
            assert_eq!(parse(&words(line)).err().unwrap().kind(), kind);
        }
    }

    #[test]
    fn a_number_type_after_dequantize_is_its_own_and_a_file_is_not() {
        for (line, number, n_words) in [
            (&["a.gguf", "b.zt", "--dequantize", "bf16"][..], "bf16", 2),
            (&["--dequantize", "a.gguf", "b.zt"], "f32", 2),
            (&["--dequantize", "float16", "a.gguf", "b.zt"], "f16", 2),
            (&["--dequantize=f64", "a.gguf", "b.zt"], "f64", 2),
            (&["a.gguf", "--dequantize", "-o", "b.zt"], "f32", 1),
            (&["--dequantize", "--", "bf16", "b.zt"], "f32", 2),
        ] {
            let line: Vec<&str> = ["tenfold", "convert"].iter().chain(line).copied().collect();
            match parse(&words(&line)).ok().unwrap().command {
                Command::Convert(args) => {
                    let found = args.reading.dequantize.unwrap();
                    assert_eq!(
                        (found.as_str(), args.words.len()),
                        (number, n_words),
                        "{line:?}"
                    );
                }
                _ => panic!("a conversion was asked for"),
            }
        }
        let line = ["tenfold", "convert", "a.gguf", "b.zt", "--dequantize=q4"];
        assert!(parse(&words(&line)).is_err());
    }

    #[test]
    fn the_wish_for_colours_is_found_in_any_line() {
        assert_eq!(color(&words(&["x", "--color=always"])), ColorWhen::Always);
        assert_eq!(color(&words(&["x", "--color", "never"])), ColorWhen::Never);
        assert_eq!(color(&words(&["x", "--color"])), ColorWhen::Auto);
    }
}
