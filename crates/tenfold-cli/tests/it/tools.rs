//! `tenfold completions` and `tenfold man`.

use std::fs;

use insta::assert_snapshot;

use crate::support::tenfold;

#[test]
fn every_shell_learns_the_words() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = tenfold(["completions", shell]);
        assert_eq!(ran.exit.code(), 0);
        assert_eq!(ran.errors, "");
        for word in ["tenfold", "convert", "allow", "max-ndim"] {
            assert!(ran.text().contains(word), "{shell} {word}");
        }
    }
    assert_snapshot!("unknown_shell", tenfold(["completions", "tcl"]));
}

#[test]
fn the_manual_has_a_page_for_every_command() {
    let main = tenfold(["man"]);
    assert_eq!(main.exit.code(), 0);
    assert!(main.text().contains(".TH tenfold 1"), "{main}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("man1");
    let ran = tenfold(["man".into(), path.clone()]);
    assert_eq!(ran.to_string(), "[exit 0]");
    let page = fs::read_to_string(path.join("tenfold-convert.1")).unwrap();
    assert!(page.contains("tenfold convert"), "{page}");
    for text in ["\\-\\-allow", "Use colours", "levels of nesting"] {
        assert!(page.contains(text), "{text}: {page}");
    }
    let page = fs::read_to_string(path.join("tenfold-tt-round.1")).unwrap();
    assert!(page.contains("tenfold tt round"), "{page}");
    let count = fs::read_dir(path).unwrap().count();
    assert!(count > 8, "{count} pages");
}
