//! Checkpoints of PyTorch: what becomes of a training run's state, and what loading them would run.

use insta::assert_snapshot;

use crate::support::{corpus, folder_with, npy, shown, tenfold};

#[test]
fn a_checkpoint_as_safetensors_says_that_it_is_for_pytorch() {
    let folder = folder_with(&[("c.pt", "torch/good/of_state_dict.pt")]);
    let at = |name: &str| folder.path().join(name).display().to_string();
    let ran = tenfold(["convert", &at("c.pt"), &at("c.safetensors")]);
    assert_snapshot!(shown(&folder, &ran));
    let header = std::fs::read(at("c.safetensors")).unwrap();
    assert!(header[8..].starts_with(br#"{"__metadata__":{"format":"pt""#));
}

#[test]
fn the_state_of_a_training_run_is_left_out_and_listed() {
    let folder = folder_with(&[("c.pt", "torch/good/nested.pt")]);
    let at = |name: &str| folder.path().join(name).display().to_string();
    let words = ["convert", &at("c.pt"), &at("c.safetensors"), "--no-state"];
    let mut said = shown(&folder, &tenfold(words));
    said += &shown(&folder, &tenfold(["info", &at("c.safetensors")]));
    assert_snapshot!(said);
}

#[test]
fn what_loading_would_run_is_listed_and_refused_beyond_weights() {
    let mut said = String::new();
    for name in [
        "of_state_dict.pt",
        "class_call.pt",
        "pickle_popped.pt",
        "legacy_module.pt",
        "class_inst.pt",
        "class_obj.pt",
    ] {
        said += &format!(
            "{}\n",
            tenfold(["verify", &corpus(&format!("torch/good/{name}"))])
        );
    }
    let file = corpus("torch/good/class_call.pt");
    said += &tenfold(["verify", "--json", &file]).to_string();
    assert_snapshot!(said);
}

#[test]
fn what_loading_arrays_of_objects_would_run_is_listed_and_refused() {
    let archive = std::fs::read(corpus("npz/good/left_out_object_call.npz")).unwrap();
    let end = archive.windows(3).rposition(|part| part == b"\x85R.");
    let start = archive.windows(6).rposition(|part| part == b"\x93NUMPY");
    let folder = folder_with(&[
        ("s.npz", "npz/good/left_out_object_call.npz"),
        ("d.npz", "npz/good/left_out_object_call_deflated.npz"),
    ]);
    let at = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(at("o.npy"), &archive[start.unwrap()..end.unwrap() + 3]).unwrap();
    for name in ["o.npy", "s.npz", "d.npz"] {
        let ran = tenfold(["verify", &at(name)]);
        assert_eq!(ran.exit.code(), 1, "{ran}");
        let listed = "os.system (1 ×), which weights_only refuses";
        assert!(ran.text().contains(listed), "{ran}");
        assert!(ran.errors.contains("would call os.system"), "{ran}");
    }
}

#[test]
fn what_loading_would_run_is_named_behind_what_is_harmless() {
    let folder = tempfile::tempdir().unwrap();
    let calls = b"(cdecimal\nDecimal\n)Rcos\nsystem\nX\x04\0\0\0true\x85Rcfractions\nFraction\nt.";
    npy(&folder, "o.npy", "|O", "(1,)", calls);
    let file = folder.path().join("o.npy").display().to_string();
    let ran = tenfold(["verify", "-q", &file]);
    assert_eq!(ran.exit.code(), 1, "{ran}");
    let named = "would call decimal.Decimal, os.system and import fractions.Fraction, outside";
    assert!(ran.errors.contains(named), "{ran}");
}
