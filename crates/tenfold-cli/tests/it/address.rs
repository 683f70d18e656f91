//! Tensors and parts of them, named on the command line.

use insta::assert_snapshot;

use crate::support::{Ran, corpus, tenfold, tenfold_with};

fn show(file: &str, words: &[&str]) -> Ran {
    let file = corpus(file);
    tenfold(["show", &file].into_iter().chain(words.iter().copied()))
}

#[test]
fn a_slice_can_be_given_in_many_ways() {
    // The values of row_major.zt are 0, 1, 2, … in order.
    let tensor = "ztensor/good/row_major.zt";
    for ran in [
        show(&format!("{tensor}:w[0, 1]"), &[]),
        show(&format!("{tensor}[0,-2]"), &[]),
        show(&format!("{tensor}:w"), &["--slice", "0, 1, ::1"]),
        show(&format!("{tensor}:w"), &["0, 1"]),
        show(tensor, &["w", "0, 1"]),
        show(tensor, &["w[0, 1]"]),
        show(tensor, &["[0, 1]"]),
        show(tensor, &["w", "-2, 1"]),
        show(tensor, &["--tensor", "w", "--slice", "-2, 1"]),
    ] {
        assert_snapshot!("one_row", ran);
    }
}

#[test]
fn every_command_takes_an_address() {
    let word = corpus("ztensor/good/tensors_25.zt:t7");
    for command in ["info", "show", "verify"] {
        assert_snapshot!(format!("one_of_many_{command}"), tenfold([command, &word]));
    }
    let json = tenfold([
        "info",
        "--json",
        &corpus("ztensor/good/row_major.zt:w[:,1:,0]"),
    ]);
    assert!(json.text().contains(r#""shape":[2,2]"#), "{json}");
    assert!(
        json.text()
            .contains(r#""tensors":1,"parameters":4,"stored":4,"#),
        "{json}"
    );
}

#[test]
fn a_path_names_a_tensor_of_a_tree() {
    let file = "primitiv/good/model_tree.model";
    let all = tenfold(["info", &corpus(file)]).text();
    let mut name = all
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    let name = name.rfind(|name| name.contains('/')).unwrap();
    let ran = show(&format!("{file}:{name}"), &[]);
    assert!(ran.text().starts_with(&format!("{name}: f32 ")), "{ran}");
}

#[test]
fn standard_input_has_addresses_too() {
    let bytes = std::fs::read(corpus("ztensor/good/row_major.zt")).unwrap();
    assert_snapshot!("one_row", tenfold_with(["show", "-", "w", "0,1"], bytes));
}

#[test]
fn labels_are_taken_by_name() {
    assert_snapshot!(show("vespa/good/mixed_f32.tbf", &[]));
    assert_snapshot!(show("vespa/good/mixed_f32.tbf", &["--slice", "x=a, y=-1"]));
}

#[test]
fn an_address_that_leads_nowhere_says_why() {
    let lines: Vec<String> = [
        show("ztensor/good/tensors_25.zt:t77", &[]),
        show("ztensor/good/tensors_25.zt:t", &["0", "1"]),
        show("ztensor/good/tensors_25.zt[0]", &[]),
        show("ztensor/good/row_major.zt:w[2]", &[]),
        show("ztensor/good/row_major.zt:w[0,3:,9]", &[]),
        show("ztensor/good/row_major.zt:w[0,0,0,0]", &[]),
        show("ztensor/good/row_major.zt:w[a]", &[]),
        show("ztensor/good/row_major.zt:w[0]", &["--slice", "1"]),
        show("npy/good/matrix.npy:w", &[]),
        show("npy/good/matrix.npy", &["w"]),
        show("npy/good/no_such_file.npy:w[0]", &[]),
        show("ztensor/good/empty.zt[0]", &[]),
    ]
    .iter()
    .map(Ran::to_string)
    .collect();
    assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_part_of_compressed_packed_sparse_and_train_tensors_is_shown() {
    let lines: Vec<String> = [
        show("ztensor/good/zstd_f32.zt[1:]", &[]),
        show("tens/good/packed_symmetric.tens[1]", &[]),
        show("ztensor/good/sparsecoo.zt[:,1:]", &[]),
        show("blz/good/page_example.blz[:,::2]", &[]),
        show("blz/good/page_example.blz[1]", &[]),
        show("blz/good/page_example.blz", &[]),
        show("blz/good/three_dims.blz[1, ...]", &[]),
        show("blz/good/three_dims.blz[:, 2, ::-2]", &[]),
    ]
    .iter()
    .map(Ran::to_string)
    .collect();
    assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_part_of_a_train_of_astronomical_size_is_shown_and_written_as_a_train() {
    let huge = "blz/huge/most_dims.blz";
    let mut picks = vec!["0"; 255];
    (picks[3], picks[200], picks[254]) = (":", ":", ":");
    let part = format!("{huge}[{}]", picks.join(","));
    assert_snapshot!(show(&part, &[]));
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("part.blz");
    let words: [std::path::PathBuf; 3] = ["convert".into(), corpus(&part).into(), out.clone()];
    let ran = tenfold(words);
    assert!(ran.errors.contains("blz 1, 1 tensor"), "{ran}");
    let info = tenfold(["info".as_ref(), out.as_path()]).text();
    assert!(info.contains("[2, 2, 2]"), "{info}");
}
