//! File names that are safe on every system, derived from tensor names.

use std::collections::{HashMap, HashSet};

use sha2::{Digest, Sha256};

/// Most bytes of a name before its hash and its extension.
const LONGEST: usize = 100;

/// Assigns every name a file name without extension. A valid file name is kept; any other, and
/// those that differ only in case, get part of their hash.
pub(super) fn file_names(names: &[String]) -> Vec<String> {
    let mut alike: HashMap<String, usize> = HashMap::new();
    for name in names {
        *alike.entry(name.to_lowercase()).or_default() += 1;
    }
    let is_good = |name: &String| {
        is_plain(name)
            && alike
                .get(&name.to_lowercase())
                .is_some_and(|count| *count == 1)
    };
    // Unchanged names are assigned first, so that no hashed name takes one of them.
    let good = names.iter().filter(|name| is_good(name));
    let mut taken: HashSet<String> = good.map(|name| name.to_lowercase()).collect();
    let mut given = |(place, name): (usize, &String)| {
        if is_good(name) {
            name.clone()
        } else {
            with_hash(name, place, &mut taken)
        }
    };
    names.iter().enumerate().map(&mut given).collect()
}

/// Whether a name is valid on every system, and is neither a flag nor a hidden file.
fn is_plain(name: &str) -> bool {
    let is_fine = |letter: char| letter.is_alphanumeric() || "._-+=,()".contains(letter);
    let starts_well = name.chars().next().is_some_and(char::is_alphanumeric);
    let ends_well = !name.ends_with('.');
    name.len() <= LONGEST
        && starts_well
        && ends_well
        && name.chars().all(is_fine)
        && !is_device(name)
}

/// Whether Windows treats a name as a device, whatever its extension.
fn is_device(name: &str) -> bool {
    let stem = name
        .split('.')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    let is_numbered = ["com", "lpt"].iter().any(|device| {
        let number = stem.strip_prefix(device);
        number.is_some_and(|number| number.chars().count() == 1 && !number.starts_with('0'))
    });
    is_numbered || ["con", "prn", "aux", "nul", "conin$", "conout$"].contains(&stem.as_str())
}

/// The valid part of a name, with enough of its hash to be unique.
fn with_hash(name: &str, place: usize, taken: &mut HashSet<String>) -> String {
    let mut stem = String::new();
    for letter in name.chars() {
        let is_fine = letter.is_alphanumeric() || "_-".contains(letter);
        let dot = matches!(letter, '.' | '/') && !stem.is_empty() && !stem.ends_with('.');
        let letter = match letter {
            letter if is_fine && !(stem.is_empty() && letter == '-') => letter,
            _ if dot => '.',
            _ => '_',
        };
        if stem.len() + letter.len_utf8() > LONGEST {
            break;
        }
        stem.push(letter);
    }
    // A device name stays one with any extension.
    let stem = match stem.as_str() {
        "" => "tensor".into(),
        stem if is_device(stem) => format!("_{stem}"),
        stem => stem.to_owned(),
    };
    let digest = Sha256::new()
        .chain_update(name)
        .chain_update(place.to_le_bytes());
    let own = Sha256::digest(name);
    let hex = |bytes: &[u8]| -> String { bytes.iter().map(|byte| format!("{byte:02x}")).collect() };
    // The index in the list is hashed only for duplicate names.
    let hashes = [hex(&own), hex(&digest.finalize())];
    let mut candidates = hashes.iter().flat_map(|hash| {
        let stem = &stem;
        [8, 16, 64].into_iter().map(move |len| {
            let hash = hash.get(..len).unwrap_or(hash);
            format!("{stem}-{hash}")
        })
    });
    let free = candidates.find(|name| taken.insert(name.to_lowercase()));
    free.unwrap_or_else(|| format!("{stem}-{place}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(names: &[&str]) -> Vec<String> {
        let names: Vec<String> = names.iter().map(|name| (*name).into()).collect();
        file_names(&names)
    }

    #[test]
    fn a_good_name_stays() {
        let names = ["w", "enc.layer0_w-1", "重み", "a+b", "nullable", "com0"];
        assert_eq!(given(&names), names);
    }

    #[test]
    fn every_other_name_gets_a_hash_and_harms_nobody() {
        let names = [
            "",
            ".",
            "..",
            "../x",
            "/etc/passwd",
            "a/b",
            "a\\b",
            ".hidden",
            "-flag",
            "nul",
            "NUL.x",
            "com1",
            "a\0b",
            "a\nb",
            "end.",
            "a b",
            "c:d",
            "\u{202e}x",
            "lpt9.w",
            "e\u{301}",
            "*?",
        ];
        let long = "n".repeat(300);
        let all: Vec<&str> = names.iter().copied().chain([long.as_str()]).collect();
        let given = given(&all);
        let mut seen = HashSet::new();
        for (name, file) in all.iter().zip(&given) {
            assert_ne!(name, file);
            assert!(seen.insert(file.to_lowercase()), "{file}");
            assert!(file.len() < 128, "{file}");
            assert!(!is_device(file) && !file.starts_with(['.', '-']), "{file}");
            assert!(!file.contains(['/', '\\', '\0', '\n', ' ', ':']), "{file}");
        }
        // The first eight digits of the SHA-256 of "a/b".
        assert_eq!(given[5], "a.b-c14cddc0");
    }

    #[test]
    fn names_that_differ_in_case_alone_are_told_apart() {
        let given = given(&["W", "w", "v"]);
        assert!(
            given[0].starts_with("W-") && given[1].starts_with("w-"),
            "{given:?}"
        );
        assert_ne!(given[0].to_lowercase(), given[1].to_lowercase());
        assert_eq!(given[2], "v");
    }

    #[test]
    fn a_name_that_looks_like_another_with_its_hash_keeps_it() {
        let hashed = given(&["a/b"]);
        let both = given(&["a/b", &hashed[0]]);
        assert_eq!(both[1], hashed[0]);
        assert_ne!(both[0], both[1]);
        let twice = given(&["a/b", "a/b"]);
        assert_ne!(twice[0], twice[1]);
    }
}
