//! The flags that every command has, and what is meant without a command.

use std::process::Command;

use insta::assert_snapshot;

use crate::support::{corpus, tenfold};

fn noted() -> String {
    corpus("ztensor/good/checksum_md5.zt")
}

#[test]
fn quiet_leaves_out_notes_but_no_errors() {
    let usual = tenfold(["verify", &noted()]);
    assert!(usual.errors.contains("note (unknown-checksum)"), "{usual}");
    for args in [["-q", "verify", &noted()], ["verify", &noted(), "--quiet"]] {
        let quiet = tenfold(args);
        assert_eq!((quiet.text(), quiet.errors.as_str()), (usual.text(), ""));
    }
    let bad = corpus("blz/bad/ndim_1.blz");
    let (usual, quiet) = (tenfold(["verify", &bad]), tenfold(["-q", "verify", &bad]));
    assert_eq!(usual.to_string(), quiet.to_string());
    assert_eq!(tenfold(["-q", "-v", "verify", &bad]).exit.code(), 2);
}

#[test]
fn verbose_says_what_is_done_and_how_long_it_takes() {
    let ran = tenfold(["-v", "info", &corpus("blz/good/page_example.blz")]);
    let lines: Vec<&str> = ran.errors.lines().collect();
    let [first, last] = lines.as_slice() else {
        panic!("{ran}");
    };
    assert!(first.ends_with("page_example.blz: read as blz"), "{ran}");
    assert!(last.starts_with("tenfold: took 0."), "{ran}");
}

#[test]
fn colours_come_when_asked_and_mean_nothing_new() {
    let file = noted();
    let plain = tenfold(["info", &file]);
    assert!(!plain.text().contains('\u{1b}'));
    let painted = tenfold(["info", &file, "--color", "always"]);
    assert_snapshot!("painted", painted.text().replace('\u{1b}', "^"));
    let note = tenfold(["verify", &file, "--color=always"]);
    let said = "\u{1b}[33mtenfold:\u{1b}[0m ../..";
    assert!(note.errors.starts_with(said), "{note}");
    let error = tenfold(["--color=always", "verify", "no/such/file"]);
    let said = "\u{1b}[1m\u{1b}[31mtenfold:\u{1b}[0m no/such/file: ";
    assert!(error.errors.starts_with(said), "{error}");
    let usage = tenfold(["--color=always", "frobnicate"]);
    assert!(usage.errors.contains('\u{1b}'), "{usage}");
}

#[test]
fn the_environment_decides_about_colours_where_no_flag_does() {
    let run = |name: &str, flags: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_tenfold"))
            .args(["info", &noted()])
            .args(flags)
            .env_remove("NO_COLOR")
            .env(name, "1")
            .output()
            .unwrap();
        output.stdout.contains(&0x1b)
    };
    assert!(!run("UNRELATED", &[]));
    assert!(run("CLICOLOR_FORCE", &[]));
    assert!(!run("CLICOLOR_FORCE", &["--color", "never"]));
    assert!(!run("NO_COLOR", &[]));
    assert!(run("NO_COLOR", &["--color", "always"]));
}

#[test]
fn a_file_without_a_command_is_described() {
    let file = corpus("blz/good/page_example.blz");
    let info = tenfold(["info", &file]);
    assert_eq!(tenfold([&file]).to_string(), info.to_string());
    assert_eq!(tenfold(["ls", &file]).to_string(), info.to_string());
    let json = tenfold(["info", &file, &file, "--json"]);
    assert_eq!(
        tenfold([&file, &file, "--json"]).to_string(),
        json.to_string()
    );
    assert_snapshot!("neither_command_nor_file", tenfold(["no-such.zt"]));
    assert_snapshot!("nearly_a_command", tenfold(["inof"]));
    assert_snapshot!("nearly_a_flag", tenfold(["info", "--sotr", "size", &file]));
}
