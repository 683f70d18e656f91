//! The two versions of `.blz`.

use insta::assert_snapshot;
use tenfold_cli::Exit;

use crate::compress::{cells_of, doubles, ran_in, smooth};
use crate::support::{corpus, tenfold};

#[test]
fn version_2_is_written_again_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    for name in [
        "plain",
        "complex",
        "capped",
        "empty",
        "infinite_ratio",
        "without_bound",
        "declined",
        "undecided",
    ] {
        let file = corpus(&format!("blz/good/second_{name}.blz"));
        let words = ["convert", &file, "@x.blz", "--to", "blz@2", "--force", "-q"];
        let ran = ran_in(&folder, &words);
        assert_eq!(ran.exit, Exit::Fine, "{ran}");
        let written = std::fs::read(folder.path().join("x.blz")).unwrap();
        assert!(written == std::fs::read(&file).unwrap(), "{name}");
    }
    let file = corpus("blz/good/second_capped.blz");
    // The page's version has no room for what is said.
    assert_snapshot!(
        "to_version_1",
        ran_in(&folder, &["convert", &file, "@y.blz"])
    );
    // Of a part of it, nothing was proven.
    let words = [
        "convert", &file, "@z.blz", "--to", "blz@2", "--slice", "0:2",
    ];
    assert_snapshot!("of_another_size", ran_in(&folder, &words));
}

#[test]
fn what_compress_has_proven_is_kept_in_version_2() {
    let folder = tempfile::tempdir().unwrap();
    doubles(&folder, "a.npy", "(20, 24, 22)", &smooth([20, 24, 22]));
    let words = [
        "compress",
        "@a.npy",
        "@a.blz",
        "--eps",
        "1e-4",
        "--max-rank",
        "9",
        "--to",
        "blz@2",
        "-q",
    ];
    assert_eq!(ran_in(&folder, &words).to_string(), "[exit 0]");
    let bytes = std::fs::read(folder.path().join("a.blz")).unwrap();
    let float = |at: usize| f64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let whole = |at: usize| i64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    assert_eq!(&bytes[..8], b"BLZ2\x01\x00\x03\x01");
    assert_eq!((float(8), whole(16)), (1e-4, 9));
    assert_eq!((whole(32), whole(40)), (84_480, whole(24) * 8));
    let norm = smooth([20, 24, 22])
        .iter()
        .map(|cell| cell * cell)
        .sum::<f64>()
        .sqrt();
    assert!((float(56) / norm / float(64) - 1.0).abs() < 1e-9 && float(64) <= 1e-4);
    assert!(float(72).is_nan() && float(80).is_nan());
    assert!(bytes[88..100].iter().all(|byte| *byte == 0xFF));
    assert_eq!(ran_in(&folder, &["verify", "@a.blz"]).exit, Exit::Fine);
    // A rounded train is another one.
    let words = [
        "tt", "round", "@a.blz", "@b.blz", "--eps", "1e-2", "--to", "blz@2", "-q",
    ];
    assert_eq!(ran_in(&folder, &words).to_string(), "[exit 0]");
    let said = ran_in(&folder, &["info", "@b.blz"]).to_string();
    assert!(!said.contains("bound"), "{said}");
}

#[test]
fn what_was_proven_of_values_goes_when_they_are_cast() {
    let folder = tempfile::tempdir().unwrap();
    let file = corpus("blz/good/second_capped.blz");
    let is_certified = |name: &str| {
        ran_in(&folder, &["info", name])
            .to_string()
            .contains("blz:relative_bound")
    };
    for (number, out, to) in [
        ("f32", "@a.blz", "blz@2"),
        ("bf16", "@b.blz", "blz@2"),
        ("f16", "@c.zt", "ztensor"),
    ] {
        let ran = ran_in(
            &folder,
            &["convert", &file, out, "--to", to, "--cast", number],
        );
        assert_eq!(ran.exit, Exit::Fine, "{ran}");
        assert!(ran.errors.contains("blz:relative_bound"), "{ran}");
        assert!(
            ran.errors.contains("proven of values that are now cast"),
            "{ran}"
        );
        assert!(!is_certified(out), "{out}");
    }
    // Without a cast it is carried there and back.
    for words in [
        ["convert", &file, "@d.zt", "-q"],
        ["convert", "@d.zt", "@e.blz", "-q"],
    ] {
        let to = if words[2] == "@e.blz" {
            "blz@2"
        } else {
            "ztensor"
        };
        let ran = ran_in(&folder, &[&words[..], &["--to", to]].concat());
        assert_eq!(ran.exit, Exit::Fine, "{ran}");
    }
    assert!(is_certified("@d.zt") && is_certified("@e.blz"));
}

#[test]
fn the_error_of_a_train_goes_when_its_values_are_cast_or_rounded() {
    let folder = tempfile::tempdir().unwrap();
    doubles(&folder, "a.npy", "(20, 24, 22)", &smooth([20, 24, 22]));
    for words in [
        ["compress", "@a.npy", "@a.zt", "--eps", "1e-4"],
        ["tt", "round", "@a.zt", "@b.zt", "--eps=1e-2"],
        ["convert", "@a.zt", "@c.zt", "--cast", "f32"],
    ] {
        let ran = ran_in(&folder, &words);
        assert_eq!(ran.exit, Exit::Fine, "{ran}");
    }
    let said = |name: &str| ran_in(&folder, &["info", "--json", name]).text();
    assert!(said("@a.zt").contains("\"error\""));
    for name in ["@b.zt", "@c.zt"] {
        let said = said(name);
        assert!(
            said.contains("tenfold.compressed") && !said.contains("\"error\""),
            "{said}"
        );
    }
}

#[test]
fn a_verdict_opens_and_says_what_it_is() {
    for name in ["declined", "undecided"] {
        let file = corpus(&format!("blz/good/second_{name}.blz"));
        assert_snapshot!(format!("{name}_info"), tenfold(["info", &file]));
        assert_eq!(tenfold(["verify", &file]).exit, Exit::Fine);
        assert_eq!(tenfold(["show", &file]).exit, Exit::Fine);
    }
    let folder = tempfile::tempdir().unwrap();
    let file = corpus("blz/good/second_declined.blz");
    // There is one version that has a place for it.
    let ran = ran_in(&folder, &["convert", &file, "@x.blz"]);
    assert_eq!(ran.exit, Exit::Fine, "{ran}");
    let written = std::fs::read(folder.path().join("x.blz")).unwrap();
    assert!(written == std::fs::read(&file).unwrap());
    assert_snapshot!(
        "declined_to_npy",
        ran_in(&folder, &["convert", &file, "@x.npy"])
    );
    assert_snapshot!(
        "declined_reconstructed",
        ran_in(&folder, &["reconstruct", &file, "@x.npy"])
    );
}

#[test]
fn a_train_of_one_dimension_is_read_leniently() {
    let folder = tempfile::tempdir().unwrap();
    let file = corpus("blz/good/lenient_one_dim.blz");
    assert_snapshot!("one_dim_strict", tenfold(["info", &file]));
    let words = ["reconstruct", &file, "@x.npy", "--lenient"];
    assert_eq!(ran_in(&folder, &words).exit, Exit::Fine);
    assert_eq!(
        cells_of(&folder.path().join("x.npy")),
        [1.0, -2.0, 0.5, 4.0]
    );
}

#[test]
fn a_train_without_cells_is_reconstructed() {
    let folder = tempfile::tempdir().unwrap();
    for (name, shape) in [("empty", [0, 3].as_slice()), ("empty_complex", &[2, 0, 2])] {
        let file = corpus(&format!("blz/good/{name}.blz"));
        let words = ["reconstruct", &file, "@x.npy", "--force"];
        let ran = ran_in(&folder, &words);
        assert_eq!(ran.exit, Exit::Fine, "{ran}");
        let opened = tenfold::open(folder.path().join("x.npy")).unwrap();
        let tensor = opened.bundle.only().unwrap();
        assert_eq!(tensor.sizes().unwrap(), shape);
        assert_eq!(
            tensor.dtype().to_string(),
            if shape.len() == 2 { "f64" } else { "c128" }
        );
    }
}

#[test]
fn what_was_proven_of_a_train_never_comes_to_another() {
    let folder = tempfile::tempdir().unwrap();
    let (file, other) = (
        corpus("blz/good/second_capped.blz"),
        corpus("blz/good/two_dims.blz"),
    );
    std::fs::copy(&other, folder.path().join("other.blz")).unwrap();
    let ran = |words: &[&str]| {
        let ran = ran_in(&folder, words);
        assert_eq!(ran.exit, Exit::Fine, "{ran}");
        ran
    };
    let is_certified = |name: &str| {
        ran(&["info", name])
            .to_string()
            .contains("blz:relative_bound")
    };
    let dropped = "what was proven of a train is dropped";
    let both = ["convert", &file, "@other.blz", "@both.npz"];
    let refused = ran_in(&folder, &both);
    assert_eq!(refused.exit, Exit::Refused, "{refused}");
    assert!(refused.errors.contains(dropped), "{refused}");
    ran(&[&both[..], &["--allow", "metadata"]].concat());
    assert!(!is_certified("@both.npz"));
    let one = ["convert", &file, "@other.blz", "@one.blz", "--to", "blz@2"];
    let one = [&one[..], &["--only", "other", "--allow", "metadata"]].concat();
    ran(&one);
    assert!(!is_certified("@one.blz"));
    let part = format!("{file}[0]");
    for (from, out, change) in [
        (part.as_str(), "@part.npz", &[][..]),
        (file.as_str(), "@turned.zt", &["--permute", "2,1,0"]),
        (
            file.as_str(),
            "@flat.npz",
            &["--dense", "--reshape=-1", "--allow", "train"],
        ),
    ] {
        let said = ran(&[&["convert", from, out][..], change].concat());
        assert!(said.errors.contains(dropped), "{said}");
        assert!(!is_certified(out), "{out}");
    }
    // All cells are the same tensor.
    ran(&[
        "convert",
        &file,
        "@dense.npz",
        "--dense",
        "--allow",
        "train",
    ]);
    assert!(is_certified("@dense.npz"));
}
