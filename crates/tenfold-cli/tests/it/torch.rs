//! Checkpoints of PyTorch, from end to end.

use insta::assert_snapshot;

use crate::support::{corpus, folder_with, shown, tenfold, tenfold_in};

#[test]
fn a_checkpoint_is_described_by_its_paths() {
    assert_snapshot!(tenfold(["info", &corpus("torch/good/nested.pt")]));
}

#[test]
fn json_has_the_paths_and_the_metadata() {
    assert_snapshot!(tenfold([
        "info",
        "--json",
        &corpus("torch/good/nested_legacy.pt")
    ]));
}

#[test]
fn tied_weights_and_unknown_classes_are_noted() {
    assert_snapshot!(tenfold([
        "info".into(),
        corpus("torch/good/tied.pt"),
        corpus("torch/good/class_module.pt"),
        corpus("torch/good/class_quantised.pt"),
    ]));
}

#[test]
fn refusals_name_the_opcode_the_storage_or_the_layout() {
    let files = [
        "opcode_ext1",
        "laughs",
        "list_of_itself",
        "beyond_storage",
        "expanded_far",
        "storage_missing",
        "pickle_checksum",
        "checksum",
        "tar",
        "legacy_version",
        "deep",
    ];
    let files = files.map(|name| corpus(&format!("torch/bad/{name}.pt")));
    let words = std::iter::once("verify".to_owned()).chain(files);
    assert_snapshot!(tenfold(words));
}

#[test]
fn a_checkpoint_becomes_safetensors_and_nothing_becomes_a_checkpoint() {
    let folder = folder_with(&[
        ("ckpt.pt", "torch/good/nested.pt"),
        ("tied.pth", "torch/good/tied_legacy.pt"),
        ("odd.pt", "torch/good/class_quantised.pt"),
        ("m.npy", "npy/good/version_2.npy"),
    ]);
    let lines: Vec<String> = [
        &["convert", "@/ckpt.pt", "@/model.safetensors"][..],
        &["info", "@/model.safetensors"],
        &["diff", "@/ckpt.pt", "@/model.safetensors"],
        &["convert", "@/tied.pth", "@/tied.npz"],
        &["convert", "@/odd.pt", "@/odd.zt"],
        &["convert", "@/m.npy", "@/m.pt"],
        &["convert", "@/ckpt.pt", "-"],
        &["convert", "@/m.npy", "@/m", "--to", "torch"],
    ]
    .iter()
    .map(|words| shown(&folder, &tenfold_in(&folder, words)))
    .collect();
    assert_snapshot!(lines.join("\n"));
}
