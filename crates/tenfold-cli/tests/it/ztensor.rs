//! zTensor: checksums that are not known, and which programs open what is written.

use std::fs;

use tempfile::TempDir;

use crate::support::{Ran, folder_with, tenfold};

/// Runs `convert` with `@` for the folder.
fn convert(folder: &TempDir, words: &[&str]) -> Ran {
    let at = folder.path().display().to_string();
    let words = words
        .iter()
        .map(|word| word.replace("@/", &format!("{at}/")));
    tenfold(std::iter::once("convert".to_owned()).chain(words))
}

#[test]
fn a_checksum_that_version_2_does_not_know_is_dropped_and_reported() {
    for name in [
        "checksum_no_colon.zt",
        "checksum_upper_case.zt",
        "checksum_md5.zt",
        "v1_2_digest_unknown.zt",
    ] {
        let folder = folder_with(&[("a.zt", &format!("ztensor/good/{name}"))]);
        let ran = convert(&folder, &["@/a.zt", "@/b.zt", "--to", "ztensor@2"]);
        assert_eq!(ran.exit.code(), 0, "{ran}");
        assert!(ran.errors.contains("it is dropped"), "{ran}");
        assert!(ran.errors.contains("ztensor 2 (for readers 2.x)"), "{ran}");
        let file = folder.path().join("b.zt").display().to_string();
        let ran = tenfold(["verify", &file, "--strict"]);
        assert_eq!(ran.exit.code(), 0, "{name}: {ran}");
    }
}

#[test]
fn a_checksum_that_is_not_known_is_never_dropped_in_silence() {
    let folder = folder_with(&[("a.zt", "ztensor/good/checksum_md5.zt")]);
    let ran = convert(&folder, &["@/a.zt", "@/same.zt"]);
    assert_eq!(ran.exit.code(), 0, "{ran}");
    assert!(!ran.errors.contains("it is dropped"), "{ran}");
    for words in [
        &["@/a.zt", "@/b.npy"][..],
        &["@/a.zt", "@/b.safetensors"],
        &["@/a.zt", "@/part.zt", "--slice", "0:1"],
        &["@/a.zt", "@/part.npy", "--slice", "0:1"],
        &["@/a.zt", "@/cast.zt", "--cast", "f64"],
    ] {
        let ran = convert(&folder, words);
        assert_eq!(ran.exit.code(), 0, "{ran}");
        assert!(ran.errors.contains("md5:"), "{ran}");
        assert!(ran.errors.contains("it is dropped"), "{ran}");
    }
}

#[test]
fn the_readers_that_are_named_open_what_is_written() {
    let folder = folder_with(&[
        ("dense.zt", "ztensor/good/floats_little.zt"),
        ("cells.zt", "ztensor/good/sparsecoo.zt"),
        ("complex.zt", "ztensor/good/v1_2_complex.zt"),
        ("dtype.zt", "ztensor/good/dtype_unknown.zt"),
        ("encoding.zt", "ztensor/good/encoding_unknown.zt"),
        ("layout.zt", "ztensor/good/layout_unknown.zt"),
        ("names.zt", "ztensor/good/names.zt"),
        ("simple.zt", "ztensor/good/custom_fields_unusual.zt"),
        ("words.gguf", "gguf/good/type_q8_0.gguf"),
    ]);
    for (words, wanted) in [
        (&["@/dense.zt"][..], "(for readers 0.1 to 1.2;"),
        (
            &["@/dense.zt", "--opt", "endian=big"],
            "(for readers 0.1, as later ones misread big-endian numbers;",
        ),
        (
            &["@/cells.zt"],
            "(for readers 0.1 to 1.2, none of which reads the tensors that are not dense;",
        ),
        (&["@/cells.zt", "--cast", "f64"], "(for readers 0.1 to 1.2;"),
        (
            &["@/complex.zt"],
            "(for readers 1.1 and 1.2, none of which reads the complex tensors;",
        ),
        (
            &["@/dtype.zt"],
            "(for readers that know its dtypes, which no released one does;",
        ),
        (
            &["@/encoding.zt"],
            "(for readers 1.2, as 0.1 knows no such encoding, none of which",
        ),
        (
            &["@/layout.zt"],
            "(for readers 1.2, as 0.1 knows no such layout, none of which",
        ),
        (
            &["@/names.zt"],
            "(for readers 1.2, as 0.1 ends at a name with a zero byte;",
        ),
        (
            &["@/simple.zt"],
            "(for readers that take CBOR simple values in metadata, which no released one does;",
        ),
        (
            &["@/words.gguf", "--to", "ztensor@1.2"],
            "(for readers 1.1 and 1.2, as far as they know its dtypes, formats and encodings)",
        ),
    ] {
        let words = [words, &["-o", "@/out.zt", "--force"]].concat();
        let ran = convert(&folder, &words);
        assert_eq!(ran.exit.code(), 0, "{ran}");
        assert!(ran.errors.contains(wanted), "{ran}");
    }
}

#[test]
fn sparse_cells_of_version_0_1_are_copied_or_dense_and_never_compressed() {
    let folder = folder_with(&[("a.zt", "ztensor/good/sparsecoo.zt")]);
    let ran = convert(&folder, &["@/a.zt", "@/same.zt"]);
    assert_eq!(ran.exit.code(), 0, "{ran}");
    let bytes = |name: &str| fs::read(folder.path().join(name)).unwrap();
    let has = |name: &str| bytes(name).windows(9).any(|part| part == b"sparsecoo");
    let ran = convert(&folder, &["@/a.zt", "@/cast.zt", "--cast", "f64"]);
    assert_eq!(ran.exit.code(), 0, "{ran}");
    assert!(has("same.zt") && !has("cast.zt"));
    let compress = ["@/a.zt", "@/small.zt", "--opt", "compress=zstd"];
    let ran = convert(&folder, &compress);
    assert_ne!(ran.exit.code(), 0, "{ran}");
    assert!(ran.errors.contains("ztensor@2"), "{ran}");
    for way in [&["--to", "ztensor@2"][..], &["--dense"]] {
        let ran = convert(&folder, &[&compress[..], way, &["--force"]].concat());
        assert_eq!(ran.exit.code(), 0, "{ran}");
    }
}
