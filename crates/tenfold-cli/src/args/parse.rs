//! From words to a command.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser, ValueEnum};

use super::{Tenfold, Wish};
use crate::address::Address;

/// Reads the command line; where it names a file in the place of a command, `info` is meant.
pub(crate) fn parse(words: &[OsString]) -> Result<Tenfold, clap::Error> {
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

/// Whether a line was not understood because it begins with a file.
fn may_be_file(answer: &clap::Error, words: &[OsString]) -> bool {
    let word = match (answer.kind(), answer.get(ContextKind::InvalidSubcommand)) {
        (ErrorKind::InvalidSubcommand, Some(ContextValue::String(word))) => Some(OsStr::new(word)),
        // A flag of `info` may come before the file.
        (ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand, _) => first_word(words),
        _ => None,
    };
    word.is_some_and(|word| Address::find(Path::new(word)).file.exists() && !is_command(word))
}

/// What to say of a word in the place of a command that looks like a file that is not there.
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

/// What `--color` says on a line that was not understood.
pub(crate) fn color(words: &[OsString]) -> Wish {
    let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
    let joined = words.iter().find_map(|word| word.strip_prefix("--color="));
    let apart = words.windows(2).find_map(|pair| match pair {
        ["--color", wish] => Some(*wish),
        _ => None,
    });
    let wish = joined.or(apart).unwrap_or_default();
    Wish::from_str(wish, false).unwrap_or_default()
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
    fn the_wish_for_colours_is_found_in_any_line() {
        assert_eq!(color(&words(&["x", "--color=always"])), Wish::Always);
        assert_eq!(color(&words(&["x", "--color", "never"])), Wish::Never);
        assert_eq!(color(&words(&["x", "--color"])), Wish::Auto);
    }
}
