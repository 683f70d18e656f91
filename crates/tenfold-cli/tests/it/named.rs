//! Messages name the file that they are about, and of several all that they may be about.

use crate::support::{folder_with, npy, tenfold_in};

#[test]
fn what_does_not_go_with_a_file_names_it_and_of_several_files_all() {
    let folder = tempfile::tempdir().unwrap();
    npy(&folder, "a.npy", "<f8", "(2, 3)", &[0x3f; 48]);
    npy(&folder, "b.npy", "<f8", "(2, 3)", &[0x3f; 48]);
    npy(&folder, "c.npy", "<f8", "(2,)", &[0x3f; 16]);
    npy(&folder, "d.npy", "<f8", "(2,)", &[0x3f; 16]);
    let at = |name: &str| folder.path().join(name).display().to_string();
    let one = format!("tenfold: {}: ", at("a.npy"));
    let both = format!("tenfold: {} and {}: ", at("a.npy"), at("b.npy"));
    let to_feed = "convert @/a.npy @/x.jsonl --to vespa-feed --opt schema=s,field=e,";
    for (line, said) in [
        (
            format!("{to_feed}type=tensor(x[9])"),
            format!("{one}rows of 3 are not of type tensor(x[9])"),
        ),
        (
            format!("{to_feed}ids=a"),
            format!("{one}2 rows need as many ids"),
        ),
        (
            "convert @/a.npy @/x.bytes --to raw --raw shape=3x2".into(),
            format!("{one}the tensor is 2x3"),
        ),
        (
            "show @/a.npy --only z".into(),
            format!("{one}no tensor matches \"z\""),
        ),
        (
            "compress @/a.npy @/x.blz --only z --eps 1".into(),
            format!("{one}no tensor matches \"z\""),
        ),
        (
            "diff @/a.npy @/b.npy --map z=z".into(),
            format!("{one}no tensor matches \"z\""),
        ),
        (
            "diff @/a.npy @/b.npy --only z".into(),
            format!("{both}no tensor matches \"z\""),
        ),
        (
            "convert @/a.npy @/b.npy @/x.zt --only z".into(),
            format!("{both}no tensor matches \"z\""),
        ),
        (
            "convert @/a.npy @/b.npy @/x.zt --rename s/y/z/".into(),
            format!("{both}s/y/z/ changes no name"),
        ),
        (
            "convert @/c.npy @/d.npy @/x.zt --eps 1e-9".into(),
            format!(
                "tenfold: {} and {}: no tensor gets smaller at --eps 1e-9",
                at("c.npy"),
                at("d.npy")
            ),
        ),
        (
            "convert @/a.npy @/b.npy @/x.zt --reshape 5".into(),
            format!("{both}a: "),
        ),
        (
            "convert @/a.npy @/b.npy @/x.npy".into(),
            format!("npy cannot hold all of {} and {}", at("a.npy"), at("b.npy")),
        ),
    ] {
        let ran = tenfold_in(&folder, &line.split(' ').collect::<Vec<_>>());
        assert!(ran.errors.contains(&said), "{line}: {said}\n{ran}");
        assert!(ran.exit.code() > 1, "{line}\n{ran}");
    }
}

#[test]
fn a_train_has_no_symmetries_which_is_reported() {
    let folder = folder_with(&[("a.tens", "tens/good/packed_symmetric.tens")]);
    for command in ["compress", "convert"] {
        let line = format!("{command} @/a.tens @/{command}.blz --eps 1e-9 --force");
        let ran = tenfold_in(&folder, &line.split(' ').collect::<Vec<_>>());
        assert_eq!(ran.exit.code(), 0, "{ran}");
        let said = "symmetry: symmetries no longer declared: 1";
        assert!(ran.errors.contains(said), "{ran}");
    }
}
