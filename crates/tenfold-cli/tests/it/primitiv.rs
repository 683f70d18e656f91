//! What becomes a primitiv file: the extension decides.
#![expect(clippy::unwrap_used, reason = "only tests use it")]

use std::fs;

use insta::assert_snapshot;
use tempfile::TempDir;

use crate::support::{Ran, corpus, folder_with, shown, tenfold};

/// Runs `convert` with `@` for the folder.
fn convert(folder: &TempDir, words: &[&str]) -> Ran {
    let at = folder.path().display().to_string();
    let words = words.iter().map(|word| word.replace('@', &at));
    tenfold(std::iter::once("convert".to_owned()).chain(words))
}

fn bytes(folder: &TempDir, name: &str) -> Vec<u8> {
    fs::read(folder.path().join(name)).unwrap()
}

/// A safetensors file of f32 zeros with these names and shapes.
fn weights(tensors: &[(&str, &[usize])]) -> Vec<u8> {
    let mut at = 0;
    let members: Vec<String> = { tensors.iter() }
        .map(|(name, shape)| {
            let end = at + 4 * shape.iter().product::<usize>();
            let text = format!(
                r#""{name}":{{"dtype":"F32","shape":{shape:?},"data_offsets":[{at},{end}]}}"#
            );
            at = end;
            text
        })
        .collect();
    let header = format!("{{{}}}", members.join(","));
    let mut file = header.len().to_le_bytes().to_vec();
    file.extend(header.as_bytes());
    file.resize(file.len() + at, 0);
    file
}

fn folder_of(tensors: &[(&str, &[usize])]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("w.safetensors"), weights(tensors)).unwrap();
    folder
}

#[test]
fn the_extension_decides_what_is_written() {
    // The byte of the header that says the type.
    let npy = corpus("npy/good/f32.npy");
    for (name, wanted) in [
        ("x.tensor", 1),
        ("x.param", 2),
        ("x.model", 3),
        ("x.model.gz", 3),
    ] {
        let folder = folder_with(&[]);
        let out = format!("@/{name}");
        let ran = convert(&folder, &[&npy, &out, "--to", "primitiv"]);
        assert_eq!(ran.exit.code(), 0, "{ran}");
        let inside = tenfold([
            "convert".into(),
            folder.path().join(name).display().to_string(),
            "-".into(),
            "--to".into(),
            "primitiv".into(),
        ]);
        assert_eq!(inside.out[13], wanted, "{name}");
    }
    let folder = folder_with(&[("x.model", "primitiv/good/model_adam.model")]);
    for (words, wanted) in [
        (vec!["@/x.model:enc/w", "@/a.tensor"], 1),
        (vec!["@/x.model:enc/w", "@/a.param"], 2),
        (
            vec!["@/x.model:enc/w", "@/b.param", "--opt", "type=model"],
            3,
        ),
    ] {
        let ran = convert(&folder, &words);
        assert_eq!(ran.exit.code(), 0, "{ran}");
        let name = words[1].trim_start_matches("@/");
        assert_eq!(bytes(&folder, name)[13], wanted, "{words:?}");
    }
}

#[test]
fn a_parameter_is_extracted_with_its_statistics() {
    let folder = folder_with(&[("m.model", "primitiv/good/model_adam.model")]);
    let words = ["@/m.model", "@/p.param", "--tensor", "enc/w"];
    let mut said = shown(&folder, &convert(&folder, &words));
    let param = folder.path().join("p.param").display().to_string();
    said += &shown(&folder, &tenfold(["info", &param]));
    assert_snapshot!(said);
}

#[test]
fn what_cannot_be_that_object_is_refused_with_what_helps() {
    let folder = folder_with(&[
        ("m.model", "primitiv/good/model_adam.model"),
        ("a.optimizer", "primitiv/good/optimizer_adam.optimizer"),
    ]);
    let mut said = String::new();
    for words in [
        ["@/m.model", "@/x.param"],
        ["@/m.model", "@/x.optimizer"],
        ["@/m.model", "@/x.shape"],
        ["@/a.optimizer", "@/x.model"],
    ] {
        said += &format!("{words:?}\n{}\n", shown(&folder, &convert(&folder, &words)));
    }
    assert_snapshot!(said);
}

#[test]
fn a_model_is_split_into_parameters_and_read_back_whole() {
    let folder = folder_with(&[("m.model", "primitiv/good/model_adam.model")]);
    let words = ["@/m.model", "--out-dir", "@/parts", "--to", "primitiv"];
    let ran = convert(&folder, &words);
    assert_eq!(ran.exit.code(), 0, "{ran}");
    let parts = fs::read_dir(folder.path().join("parts")).unwrap();
    let params = parts.filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_string_lossy().ends_with(".param")
    });
    assert_eq!(params.count(), 2);
    let ran = convert(&folder, &["@/parts", "@/again.model"]);
    assert_eq!(ran.exit.code(), 0, "{ran}");
    assert_eq!(bytes(&folder, "again.model"), bytes(&folder, "m.model"));
}

#[test]
fn names_of_flat_formats_become_paths() {
    let folder = folder_of(&[("enc/w", &[2]), ("enc/b", &[1, 1])]);
    let mut said = shown(
        &folder,
        &convert(&folder, &["@/w.safetensors", "@/w.model"]),
    );
    let words = ["@/w.safetensors", "@/dots.model", "--sep", "."];
    said += &shown(&folder, &convert(&folder, &words));
    assert_snapshot!(said);
    let model = bytes(&folder, "w.model");
    assert!(model.windows(7).any(|part| part == b"\x92\xa3enc\xa1w"));
    let dots = bytes(&folder, "dots.model");
    assert!(dots.windows(7).any(|part| part == b"\x91\xa5enc/w"));
    // Segments of a model stay what they are.
    let ran = convert(&folder, &["@/dots.model", "@/again.model"]);
    assert_eq!(ran.exit.code(), 0, "{ran}");
    assert_eq!(bytes(&folder, "again.model"), dots);
}

#[test]
fn a_name_that_is_a_parameter_and_a_submodel_is_refused() {
    let folder = folder_of(&[("a", &[2]), ("a/b", &[2])]);
    let ran = convert(&folder, &["@/w.safetensors", "@/w.model"]);
    assert_eq!(ran.exit.code(), 3, "{ran}");
    assert!(ran.errors.contains("--sep"), "{ran}");
    let ran = convert(&folder, &["@/w.safetensors", "@/w.model", "--sep", "|"]);
    assert_eq!(ran.exit.code(), 0, "{ran}");
}

#[test]
fn a_lone_tensor_of_a_model_has_the_name_of_its_file() {
    let folder = folder_with(&[("weights.npy", "npy/good/f32.npy")]);
    let ran = convert(&folder, &["@/weights.npy", "@/x.model"]);
    assert_eq!(ran.exit.code(), 0, "{ran}");
    let model = bytes(&folder, "x.model");
    assert!(model.windows(9).any(|part| part == b"\x91\xa7weights"));
}

#[test]
fn a_size_of_1_at_the_end_is_dropped_and_reported() {
    let folder = folder_of(&[("w", &[3, 1])]);
    let ran = convert(&folder, &["@/w.safetensors", "@/w.param"]);
    assert_eq!(ran.exit.code(), 0, "{ran}");
    assert!(
        ran.errors.contains("sizes of 1 at the end are dropped: 1"),
        "{ran}"
    );
    // One dimension of 3.
    let wanted = b"\x91\xce\0\0\0\x03\xce\0\0\0\x01\xc4\x0c";
    assert_eq!(bytes(&folder, "w.param")[15..28], *wanted);
}

#[test]
fn a_choice_of_parameters_keeps_or_reports_their_statistics() {
    let folder = folder_with(&[("m.model", "primitiv/good/model_adam.model")]);
    let mut said = String::new();
    for words in [
        ["@/m.model", "@/only.model", "--only", "enc/w"],
        ["@/m.model", "@/only.npy", "--only", "enc/w"],
        ["@/m.model", "@/tensor.npy", "--tensor", "enc/w"],
        ["@/m.model", "@/part.param", "--tensor", "enc/w[0:1]"],
    ] {
        said += &format!("{}\n", shown(&folder, &convert(&folder, &words)));
    }
    assert_snapshot!(said);
    let model = folder.path().join("only.model").display().to_string();
    let names = tenfold(["info", &model]).text();
    assert!(names.contains("@"), "{names}");
}

#[test]
fn a_tensor_file_has_no_statistics_and_its_refusal_names_the_flag() {
    let folder = folder_with(&[("m.model", "primitiv/good/model_adam.model")]);
    let ran = convert(&folder, &["@/m.model", "@/p.param", "--tensor", "enc/w"]);
    assert_eq!(ran.exit.code(), 0, "{ran}");
    for name in ["@/t.tensor", "@/t.npy"] {
        let ran = convert(&folder, &["@/p.param", name]);
        assert_eq!(ran.exit.code(), 3, "{ran}");
        assert!(ran.errors.contains("--no-state"), "{ran}");
        let ran = convert(&folder, &["@/p.param", name, "--no-state"]);
        assert_eq!(ran.exit.code(), 0, "{ran}");
    }
}

#[test]
fn an_optimizer_is_never_split_into_no_file() {
    let name = "primitiv/good/optimizer_adam.optimizer";
    let folder = folder_with(&[("a.optimizer", name)]);
    let words = ["@/a.optimizer", "--out-dir", "@/parts", "--to", "primitiv"];
    let ran = convert(&folder, &words);
    assert_eq!(ran.exit.code(), 3, "{ran}");
    assert!(ran.errors.contains("-o names one file"), "{ran}");
    assert!(!folder.path().join("parts").exists());
    let ran = convert(&folder, &["@/a.optimizer", "-o", "@/b.optimizer"]);
    assert_eq!(ran.exit.code(), 0, "{ran}");
    assert_eq!(bytes(&folder, "b.optimizer"), bytes(&folder, "a.optimizer"));
}
