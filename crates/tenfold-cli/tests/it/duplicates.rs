//! Sparse cells given more than once: refused wherever values are read, and resolved on request.

use std::fs;

use insta::assert_snapshot;
use tenfold_cli::Exit;

use crate::support::{corpus, folder_with, shown, tenfold, tenfold_in};

/// Files whose description is sound, and in which one position is given twice.
const REPEATED: &[&str] = &[
    "mtx/bad/twice.mtx",
    "tns/bad/twice.tns",
    "tens/bad/index_twice_apart.tens",
    "ztensor/bad/sparsecoo_twice.zt",
    "torch/bad/sparse_index_twice.pt",
];

#[test]
fn every_command_that_reads_values_refuses_them_by_index() {
    for from in REPEATED {
        let name = from.rsplit('/').next().unwrap();
        let folder = folder_with(&[(name, from)]);
        let key = if name.ends_with(".zt") || name.ends_with(".pt") {
            "w"
        } else {
            ""
        };
        let (file, part) = (format!("@/{name}"), format!("@/{name}:{key}[0]"));
        let mut train = vec!["compress", &file, "@/a.blz", "--eps", "1e-6"];
        if name.ends_with(".pt") {
            train.extend(["--reshape", "2,2"]);
        }
        for words in [
            train,
            vec!["convert", &file, "@/a.npy"],
            vec!["convert", &file, "@/a.zt", "--to", "ztensor@2"],
            vec!["convert", &file, "@/a.tens", "--sparse"],
            vec!["convert", &file, "@/a.npy", "--cast", "f64"],
            vec!["convert", &part, "@/a.npy"],
            vec!["show", &file],
            vec!["show", &part],
            vec!["stats", &file],
            vec!["hash", &file],
            vec!["hash", "--dense", &file],
            vec!["verify", &file],
            vec!["diff", &file, &file],
            vec!["plot", &file, "-o", "@/a.png"],
        ] {
            let ran = tenfold_in(&folder, &words);
            let said = ran.to_string();
            assert_ne!(ran.exit, Exit::Fine, "{words:?}: {said}");
            let found = said.contains("counted from 0, is given twice");
            assert!(found, "{words:?}: {said}");
            assert!(said.contains("--duplicates sum adds"), "{words:?}: {said}");
            assert!(said.contains(name), "{words:?}: {said}");
            for made in ["a.npy", "a.zt", "a.tens", "a.png", "a.blz"] {
                assert!(!folder.path().join(made).exists(), "{words:?}: {made}");
            }
        }
    }
}

#[test]
fn a_rule_resolves_them_for_every_command() {
    for from in REPEATED {
        let name = from.rsplit('/').next().unwrap();
        let folder = folder_with(&[(name, from)]);
        let file = format!("@/{name}");
        for rule in ["sum", "last"] {
            for words in [
                vec!["convert", &file, "@/a.npy", "--force"],
                vec!["show", &file],
                vec!["stats", &file],
                vec!["hash", &file],
                vec!["verify", &file],
                vec!["diff", &file, &file],
                vec!["plot", &file, "-o", "@/a.png", "--force"],
            ] {
                let words = [words, vec!["--duplicates", rule]].concat();
                let ran = tenfold_in(&folder, &words);
                assert_eq!(ran.exit, Exit::Fine, "{words:?}: {ran}");
            }
            let diff = ["diff", "@/a.npy", &file, "--duplicates", rule];
            let ran = tenfold_in(&folder, &diff);
            assert_eq!(ran.exit, Exit::Fine, "{diff:?}: {ran}");
        }
    }
}

#[test]
fn the_sum_is_that_of_assembled_matrices() {
    let folder = folder_with(&[("m.mtx", "mtx/bad/twice.mtx")]);
    let mut said = String::new();
    for rule in ["sum", "last"] {
        let ran = tenfold_in(&folder, &["show", "@/m.mtx", "--csv", "--duplicates", rule]);
        said += &format!("{}\n", shown(&folder, &ran));
    }
    assert_snapshot!(said);
    // What a number type does not hold is no sum.
    let text =
        "%%MatrixMarket matrix coordinate integer general\n1 1 2\n1 1 9223372036854775807\n1 1 1\n";
    fs::write(folder.path().join("big.mtx"), text).unwrap();
    let ran = tenfold_in(&folder, &["show", "@/big.mtx", "--duplicates", "sum"]);
    assert_snapshot!("sum_too_large", shown(&folder, &ran));
}

#[test]
fn images_are_never_added_up() {
    let differ = corpus("tens/bad/orbit_differs.tens");
    let agree = corpus("tens/bad/orbit_twice.tens");
    for file in [
        &differ,
        &corpus("fcidump/bad/mirror_beyond_rounding.fcidump"),
    ] {
        for rule in [&[][..], &["--duplicates", "sum"]] {
            let ran = tenfold([&["stats", file], rule].concat());
            let said = ran.to_string();
            assert_ne!(ran.exit, Exit::Fine, "{said}");
            assert!(said.contains("--duplicates last keeps the last"), "{said}");
            assert!(!said.contains("sum adds"), "{said}");
        }
        let ran = tenfold(["stats", file, "--duplicates", "last"]);
        assert_eq!(ran.exit, Exit::Fine, "{ran}");
    }
    let last = tenfold(["show", "--csv", &differ, "--duplicates", "last"]).text();
    assert!(
        last.contains("1.0000001") && !last.contains(",1.0\n"),
        "{last}"
    );
    // Images that agree are one value, though TENS forbids to give both.
    for command in ["show", "stats", "hash"] {
        let ran = tenfold([command, &agree]);
        assert_eq!(ran.exit, Exit::Fine, "{ran}");
    }
    assert_snapshot!(tenfold(["verify", &agree]));
}

#[test]
fn integrals_listed_twice_are_resolved() {
    let file = corpus("fcidump/bad/integral_twice.fcidump:two");
    let mut said = String::new();
    for rule in ["sum", "last"] {
        let ran = tenfold(["show", "--csv", &file, "--duplicates", rule]);
        said += &format!("{ran}\n");
    }
    assert_snapshot!(said);
}

#[test]
fn indices_outside_are_refused_by_all() {
    for from in [
        "tens/bad/index_out_of_range.tens",
        "ztensor/bad/sparsecoo_outside.zt",
        "torch/bad/sparse_index_beyond.pt",
    ] {
        for command in ["stats", "show", "hash", "verify"] {
            for rule in [&[][..], &["--duplicates", "sum"]] {
                let file = corpus(from);
                let ran = tenfold([&[command, &file], rule].concat());
                assert_ne!(ran.exit, Exit::Fine, "{command} {from}: {ran}");
            }
        }
    }
}
