//! The flags that every command has, and what is meant without a command.

use std::process::Command;

use insta::assert_snapshot;

use crate::support::{corpus, tenfold, tenfold_in};

fn noted() -> String {
    corpus("ztensor/good/checksum_md5.zt")
}

#[test]
fn quiet_leaves_out_everything_but_errors() {
    let usual = tenfold(["verify", &noted()]);
    assert!(usual.errors.contains("note (unknown-checksum)"), "{usual}");
    for args in [["-q", "verify", &noted()], ["verify", &noted(), "--quiet"]] {
        assert_eq!(tenfold(args).to_string(), "[exit 0]");
    }
    let bad = corpus("blz/bad/ndim_1.blz");
    let (usual, quiet) = (tenfold(["verify", &bad]), tenfold(["-q", "verify", &bad]));
    assert_eq!(usual.to_string(), quiet.to_string());
    assert_eq!(tenfold(["-q", "-v", "verify", &bad]).exit.code(), 2);
}

#[test]
fn quiet_commands_print_nothing() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(
        tenfold_in(&folder, &["-q", "demo", "@/d"]).to_string(),
        "[exit 0]"
    );
    for (line, code) in [
        ("info @/d/field.npy", 0),
        ("info --json @/d/field.npy", 0),
        ("show @/d/field.npy", 0),
        ("show --as literal @/d/catalogue.tbf", 0),
        ("verify @/d/weights.zt @/d/checkpoint.pt", 0),
        ("verify @/d/weights.zt --salvage @/d/saved.zt", 0),
        ("hash @/d/field.npy", 0),
        ("stats @/d/weights-next.zt", 0),
        ("formats", 0),
        ("man", 0),
        ("completions bash", 0),
        ("diff @/d/weights.zt @/d/weights-next.zt", 1),
        ("convert @/d/integrals.tens @/d/i.npy", 0),
        ("convert @/d/field.npy @/d/f.tbf --json", 0),
        ("convert @/d/weights.zt --out-dir @/d/parts --to npy", 0),
        ("convert @/d/weights.zt @/d/w.zt --max-size 1KB", 0),
        ("compress @/d/field.npy @/d/c.blz --eps 1e-6", 0),
        ("compress @/d/field.npy --sweep 1e-1..1e-3", 0),
        ("reconstruct @/d/field.blz @/d/r.npy", 0),
        ("tt info @/d/field.blz", 0),
        ("tt norm @/d/field.blz", 0),
        ("tt dot @/d/field.blz @/d/field.blz", 0),
        ("tt round @/d/field.blz @/d/s.blz --eps 1e-3", 0),
        ("edit @/d/weights.zt --set a=b", 0),
        ("plot @/d/field.npy[0] --term", 0),
        ("plot @/d/field.npy[0] -o @/d/p.png", 0),
    ] {
        let words: Vec<&str> = line
            .split(' ')
            .chain(["-q", "--progress", "always"])
            .collect();
        let ran = tenfold_in(&folder, &words);
        assert_eq!(ran.to_string(), format!("[exit {code}]"), "{line}");
    }
    // A file that goes to the output is written; nobody could find a page without its address.
    let ran = tenfold_in(&folder, &["convert", "@/d/field.npy", "-", "-q"]);
    assert_eq!(
        ran.out,
        std::fs::read(folder.path().join("d/field.npy")).unwrap()
    );
    let ran = tenfold_in(&folder, &["view", "@/d/field.npy", "-q", "--no-open"]);
    assert_eq!(ran.exit.code(), 2, "{ran}");
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
