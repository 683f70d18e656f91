//! Command lines that make no sense, and those that ask for help.

use crate::support::tenfold;

#[test]
fn help_is_data_and_has_examples() {
    for command in [
        "info",
        "verify",
        "show",
        "convert",
        "compress",
        "reconstruct",
        "tt",
        "stats",
        "hash",
        "formats",
        "edit",
        "demo",
        "completions",
        "man",
        "diff",
        "plot",
        "view",
    ] {
        let ran = tenfold([command, "--help"]);
        assert_eq!(ran.exit.code(), 0);
        assert_eq!(ran.errors, "");
        let example = format!("Example:\n  tenfold {command}");
        assert!(ran.text().contains(&example), "{ran}");
    }
}

#[test]
fn every_limit_has_a_flag() {
    let help = tenfold(["info", "--help"]).text();
    for limit in tenfold::Limits::ALL {
        assert!(
            help.contains(&format!("--max-{} <N>", limit.name)),
            "{help}"
        );
    }
    let short = tenfold(["info", "-h"]).text();
    assert!(!short.contains("--max-"), "{short}");
}

#[test]
fn the_version_is_that_of_the_crate() {
    let version = format!("tenfold {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(tenfold(["--version"]).text(), version);
}

#[test]
fn control_characters_on_the_command_line_stay_out_of_the_terminal() {
    for args in [
        &["info", "--\u{1b}[2J"][..],
        &["--color=always", "in\u{1b}[2Jfo"],
        &["\u{1b}[2J.zt"],
        &["completions", "\u{9b}2J"],
    ] {
        let ran = tenfold(args);
        assert_eq!(ran.exit.code(), 2);
        let is_safe = |letter: char| letter == '\n' || !letter.is_control();
        assert!(ran.errors.chars().all(is_safe), "{:?}", ran.errors);
    }
}

#[test]
fn nonsense_is_trouble() {
    for args in [
        &[][..],
        &["frobnicate"],
        &["info"],
        &["info", "--format", "nonsense", "x"],
        &["info", "--max-ndim", "many", "x"],
        &["info", "--opt", "endian", "x"],
        &["convert", "x"],
        &["convert", "x", "y", "--to", "nonsense"],
        &["formats", "nonsense"],
        &["compress", "x"],
        &["compress", "x", "y.blz", "--eps", "-1"],
        &["compress", "x", "--sweep", "1..2"],
        &["tt"],
        &["tt", "round", "x", "y.blz"],
    ] {
        let ran = tenfold(args);
        assert_eq!(ran.exit.code(), 2, "{args:?}");
        assert!(ran.out.is_empty(), "{args:?}");
        assert!(!ran.errors.is_empty(), "{args:?}");
    }
}
