//! Dictionaries of the fuzz targets, including those of the layers below a format
//! (`fuzz/dictionaries`).

use std::path::{Path, PathBuf};

use crate::command::root;

/// The dictionaries of a target, by their names.
fn parts(target: &str) -> &'static [&'static str] {
    match target {
        "cbor" => &["cbor"],
        "convert" | "detect" | "gzip" | "round_trip" => &["numbers", "text"],
        "msgpack" => &["msgpack"],
        "npy_literal" => &["npy"],
        "pickle" => &["pickle"],
        "read_blz" => &["blz", "numbers"],
        "read_cc4s" => &["cc4s", "yaml", "text"],
        "read_fcidump" => &["fcidump", "text"],
        "read_gguf" => &["gguf", "numbers"],
        "read_mtx" => &["mtx", "text"],
        "read_npy" => &["npy", "numbers"],
        "read_npz" => &["npy", "zip", "numbers"],
        "read_primitiv" => &["primitiv", "msgpack"],
        "read_raw" => &["raw"],
        "read_safetensors" => &["safetensors", "json", "numbers"],
        "read_tens" => &["tens", "json", "numbers"],
        "read_tns" => &["tns", "text"],
        "read_torch" => &["pickle", "zip"],
        "read_vespa" => &["vespa"],
        "read_vespa_feed" => &["vespa_feed", "vespa_text", "json", "text"],
        "read_vespa_text" => &["vespa_text", "json", "text"],
        "read_ztensor" => &["ztensor", "cbor", "numbers"],
        "slice" => &["slice"],
        "vespa_type" => &["vespa_text"],
        "yaml" => &["yaml", "text"],
        "zip" => &["zip", "numbers"],
        _ => &[],
    }
}

/// Merges the dictionaries of a target in a folder; returns the file.
pub(super) fn of(target: &str, folder: &Path) -> Result<PathBuf, String> {
    let mut all = String::new();
    for part in parts(target) {
        let path = root().join(format!("fuzz/dictionaries/{part}.dict"));
        let text = std::fs::read_to_string(&path);
        all += &text.map_err(|error| format!("{}: {error}", path.display()))?;
    }
    let path = folder.join(format!("{target}.dict"));
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, all));
    written.map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_target_has_a_dictionary_and_every_dictionary_a_target() {
        let targets = super::super::targets().unwrap();
        let mut used = BTreeSet::new();
        for target in &targets {
            let parts = parts(target);
            assert!(!parts.is_empty(), "{target} has no dictionary");
            used.extend(parts.iter().map(|part| format!("{part}.dict")));
        }
        let listed = std::fs::read_dir(root().join("fuzz/dictionaries")).unwrap();
        let there = listed.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        assert_eq!(there.collect::<BTreeSet<_>>(), used);
    }

    #[test]
    fn a_dictionary_has_one_word_in_quotes_a_line() {
        let folder = std::env::temp_dir().join(format!("tenfold-words-{}", std::process::id()));
        for target in super::super::targets().unwrap() {
            let text = std::fs::read_to_string(of(&target, &folder).unwrap()).unwrap();
            let mut words = text.lines().filter(|line| !line.starts_with('#'));
            assert!(
                words.all(|line| line.len() > 2 && line.starts_with('"') && line.ends_with('"')),
                "{target}"
            );
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}
