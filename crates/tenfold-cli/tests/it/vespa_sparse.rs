//! Sparse cells as Vespa's labels, and scalars as its doubles.
#![expect(clippy::unwrap_used, reason = "only tests use it")]

use std::fmt::Write;
use std::fs;

use tempfile::TempDir;

use crate::support::{Ran, folder_with, npy, tenfold_in};

fn run(folder: &TempDir, words: &str) -> Ran {
    let words: Vec<&str> = words.split_whitespace().collect();
    tenfold_in(folder, &words)
}

/// A matrix of 100 000 × 100 000 with one cell in each row.
fn diagonal() -> TempDir {
    const SIZE: u64 = 100_000;
    let folder = tempfile::tempdir().unwrap();
    let mut text = format!("%%MatrixMarket matrix coordinate real general\n{SIZE} {SIZE} {SIZE}\n");
    for row in 0..SIZE {
        let column = (row * 7919) % SIZE;
        writeln!(text, "{} {} {}.5", row + 1, column + 1, row).unwrap();
    }
    fs::write(folder.path().join("m.mtx"), text).unwrap();
    folder
}

#[test]
fn large_sparse_tensors_become_labels_and_come_back() {
    let folder = diagonal();
    for target in ["m.tbf", "m.json --to vespa-text"] {
        let ran = run(&folder, &format!("convert @/m.mtx @/{target}"));
        assert_eq!(ran.exit.code(), 0, "{ran}");
        let way = "--opt labels=decimal,shape=100000x100000";
        assert!(ran.errors.contains(way), "{ran}");
        let source = target.split(' ').next().unwrap();
        for back in [
            "back.tns",
            "back.tens",
            "back.mtx",
            "back.zt --to ztensor@2",
        ] {
            let ran = run(
                &folder,
                &format!("convert @/{source} @/{back} --force {way}"),
            );
            assert_eq!(ran.exit.code(), 0, "{ran}");
            let file = back.split(' ').next().unwrap();
            let same = run(&folder, &format!("diff @/m.mtx @/{file} --quiet"));
            assert_eq!(same.exit.code(), 0, "{back}: {same}");
        }
    }
    // Without their positions, labels are numbered as they first appear.
    for back in [
        "first.tns",
        "first.tens",
        "first.mtx",
        "first.zt --to ztensor@2",
    ] {
        let words = format!("convert @/m.tbf @/{back} --force");
        let refused = run(&folder, &words);
        assert!(refused.errors.contains("--allow labels"), "{refused}");
        let ran = run(&folder, &format!("{words} --allow labels"));
        assert_eq!(ran.exit.code(), 0, "{ran}");
    }
    let head = fs::read_to_string(folder.path().join("first.mtx")).unwrap();
    assert!(head.contains("100000 100000 100000\n1 1 0.5\n2 2 1.5\n"));
}

#[test]
fn small_sparse_tensors_stay_indexed_unless_their_cells_are_asked_for() {
    let folder = folder_with(&[("m.tbf", "vespa/good/label_like_number.tbf")]);
    let text = "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n1 1 1.5\n3 2 -2\n";
    fs::write(folder.path().join("s.mtx"), text).unwrap();
    let dense = run(&folder, "convert @/s.mtx - --to vespa-text");
    assert!(dense.text().contains("tensor(a[3],b[3])"), "{dense}");
    let cells = concat!(
        r#"{"address":{"a":"0","b":"0"},"value":1.5},"#,
        r#"{"address":{"a":"2","b":"1"},"value":-2.0},"#,
        r#"{"address":{"a":"1","b":"2"},"value":-2.0}"#
    );
    for how in ["--sparse", "--opt sparse=true"] {
        let ran = run(&folder, &format!("convert @/s.mtx - --to vespa-text {how}"));
        let text = ran.text();
        let list = text.split(&['[', ']'][..]).nth(1).unwrap_or_default();
        assert_eq!(list.len(), cells.len(), "{ran}");
        assert!(
            ran.text().contains(r#"{"a":"1","b":"2"},"value":-2.0"#),
            "{ran}"
        );
    }
    // As documents: a row each.
    let ran = run(
        &folder,
        "convert @/s.mtx @/f.jsonl --sparse --opt id-dim=a,operation=put",
    );
    assert_eq!(ran.exit.code(), 0, "{ran}");
    let feed = fs::read_to_string(folder.path().join("f.jsonl")).unwrap();
    assert!(
        feed.contains(r#""put":"id:doc:doc::1","fields":{"tensor":{"cells":{"2":-2.0}}}"#),
        "{feed}"
    );
    let ran = run(
        &folder,
        "convert @/f.jsonl @/back.tns --opt labels=decimal,shape=3x3",
    );
    assert_eq!(ran.exit.code(), 0, "{ran}");

    // Blocks are cells one by one.
    let mixed = "tensor<float>(k{},x[2]):{3:[1,2],0:[0,-4]}";
    fs::write(folder.path().join("mixed.json"), mixed).unwrap();
    let words = "convert @/mixed.json @/mixed.tns --from vespa-text --opt labels=decimal,shape=5x2";
    let ran = run(&folder, words);
    assert_eq!(ran.exit.code(), 0, "{ran}");
    let cells = fs::read_to_string(folder.path().join("mixed.tns")).unwrap();
    for cell in ["4 1 1.0", "4 2 2.0", "1 1 0.0", "1 2 -4.0"] {
        assert!(cells.lines().any(|line| line == cell), "{cells}");
    }

    for wrong in [
        "labels=decimal,shape=2",
        "labels=decimal,shape=9x9",
        "labels=words",
        "shape=3",
    ] {
        let ran = run(&folder, &format!("convert @/m.tbf @/x.tns --opt {wrong}"));
        assert_ne!(ran.exit.code(), 0, "{wrong}: {ran}");
    }
}

#[test]
fn scalars_become_doubles() {
    let folder = tempfile::tempdir().unwrap();
    for (name, descr, data, value) in [
        (
            "f32",
            "<f4",
            &0.1_f32.to_le_bytes()[..],
            "0.10000000149011612",
        ),
        ("f16", "<f2", &[0x00, 0xbe], "-1.5"),
        ("u8", "|u1", &[255], "255.0"),
        ("i8", "|i1", &[0x80], "-128.0"),
        ("u16", "<u2", &[255, 255], "65535.0"),
        ("i16", "<i2", &[0, 0x80], "-32768.0"),
        ("u32", "<u4", &[255; 4], "4.294967295E9"),
        ("i32", "<i4", &[0, 0, 0, 0x80], "-2.147483648E9"),
    ] {
        npy(&folder, "s.npy", descr, "()", data);
        let ran = run(&folder, "convert @/s.npy - --to vespa-text");
        let wanted = format!("{{\"type\":\"tensor()\",\"values\":[{value}]}}\n");
        assert_eq!(ran.text(), wanted, "{ran}");
        assert!(ran.errors.contains(&format!("{name} becomes f64")), "{ran}");
        let ran = run(&folder, "convert @/s.npy @/s.tbf --force");
        assert_eq!(ran.exit.code(), 0, "{ran}");
        let written = fs::read(folder.path().join("s.tbf")).unwrap();
        assert_eq!(written.len(), 10, "{ran}");
    }
    fs::write(folder.path().join("b.bin"), [0xc0, 0x3f]).unwrap();
    let ran = run(
        &folder,
        "convert @/b.bin - --raw dtype=bf16,shape= --to vespa-text",
    );
    assert!(ran.text().contains("[1.5]"), "{ran}");
    // So do the rows of a feed that have no dimensions.
    npy(
        &folder,
        "rows.npy",
        "<f4",
        "(2,)",
        &[0, 0, 0x80, 0x3f, 0, 0, 0, 0x40],
    );
    let ran = run(
        &folder,
        "convert @/rows.npy - --to vespa-feed --opt operation=put",
    );
    assert!(
        ran.text().contains(r#"{"type":"tensor()","values":[1.0]}"#),
        "{ran}"
    );
    // Larger integers are rounded only where that is permitted.
    npy(&folder, "l.npy", "<i8", "()", &[1; 8]);
    let ran = run(&folder, "convert @/l.npy - --to vespa-text");
    assert!(ran.errors.contains("--allow precision"), "{ran}");
}

#[test]
fn labels_that_would_fill_too_much_name_the_version_that_keeps_the_cells() {
    let folder = tempfile::tempdir().unwrap();
    let cells = (0..2000)
        .map(|n| format!(r#"{{"address":{{"a":"{n}","b":"{n}","c":"{n}"}},"value":1.5}}"#));
    let cells: Vec<String> = cells.collect();
    let text = format!(
        r#"{{"type":"tensor(a{{}},b{{}},c{{}})","cells":[{}]}}"#,
        cells.join(",")
    );
    std::fs::write(folder.path().join("a.json"), text).unwrap();
    let from = ["--from", "vespa-text"];
    let words = ["convert", "@/a.json", "@/a.zt"];
    let ran = tenfold_in(&folder, &[&words[..], &from].concat());
    assert_eq!(ran.exit.code(), 3, "{ran}");
    assert!(
        ran.errors.contains("--to ztensor@2 keeps the cells"),
        "{ran}"
    );
    let words = [
        &words[..],
        &from,
        &["--to", "ztensor@2", "--allow", "labels"],
    ]
    .concat();
    let ran = tenfold_in(&folder, &words);
    assert_eq!(ran.exit.code(), 0, "{ran}");
}
