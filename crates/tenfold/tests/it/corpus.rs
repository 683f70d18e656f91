//! Every corpus file is read, checked, refused and rewritten as its sibling says. The files and
//! siblings are made by `corpus/make`, from the specifications alone.

use std::path::Path;

use serde_json::Value as Json;
use tenfold::{Aspect, Bundle, Error, Format, Mode, NoteKind, ReadOptions};

use crate::meaning::meanings;
use crate::support::{
    at, files, how, kind, project, read, sibling, verify, write, write_with_losses,
};

/// How many files each folder has, so that none is lost unseen.
const COUNTS: &[(&str, [usize; 3])] = &[
    ("tens", [112, 121, 7]),
    ("ztensor", [143, 178, 0]),
    ("blz", [25, 61, 3]),
    ("vespa", [61, 63, 3]),
    ("vespa-text", [26, 42, 0]),
    ("vespa-feed", [29, 20, 0]),
    ("primitiv", [87, 81, 0]),
    ("npy", [73, 116, 0]),
    ("npz", [64, 85, 0]),
    ("safetensors", [63, 113, 0]),
    ("gguf", [133, 132, 1]),
    ("torch", [214, 125, 0]),
    ("mtx", [41, 81, 1]),
    ("tns", [32, 60, 2]),
    ("fcidump", [34, 69, 0]),
    ("cc4s", [39, 95, 0]),
];

/// What is checked of a file: its format, its bytes and its sibling.
type Check = dyn Fn(&str, &[u8], &Json) -> Result<(), String>;

fn for_each(folder: &str, place: usize, check: &Check) {
    let mut faults = Vec::new();
    for (format, counts) in COUNTS {
        if tenfold::by_name(format).is_none() {
            continue;
        }
        let path = project().join("corpus").join(format).join(folder);
        let found = if counts[place] == 0 {
            Vec::new()
        } else {
            files(&path)
        };
        assert_eq!(found.len(), counts[place], "files in {}", path.display());
        for file in found {
            let bytes = crate::files::of_disk(&file);
            if let Err(fault) = check(format, &bytes, &sibling(&file)) {
                faults.push(format!("{}: {fault}", shown(&file)));
            }
        }
    }
    assert!(
        faults.is_empty(),
        "{} faults\n{}",
        faults.len(),
        faults.join("\n")
    );
}

fn shown(file: &Path) -> String {
    let corpus = project().join("corpus");
    file.strip_prefix(&corpus)
        .unwrap_or(file)
        .display()
        .to_string()
}

#[test]
fn good_files_are_sound_and_canonical_ones_are_rewritten_byte_for_byte() {
    for_each("good", 0, &|format, bytes, expected| {
        let needs_lenience = expected["lenient"] == true;
        let mode = if needs_lenience {
            Mode::Lenient
        } else {
            Mode::Strict
        };
        let opened = verify(format, bytes, &how(mode, expected)).map_err(|e| e.to_string())?;
        if needs_lenience {
            let refused = verify(format, bytes, &how(Mode::Strict, expected));
            let error = refused.err().ok_or("a strict reader accepts it")?;
            let wanted = expected["strict_at"].as_u64();
            if wanted.is_some() && at(&error) != wanted {
                return Err(format!("byte {wanted:?} expected: {error}"));
            }
        }
        let gaps = gaps(&opened.bundle, &how(mode, expected))?;
        if Json::from(gaps.as_slice()) != *expected.get("gaps").unwrap_or(&Json::from([0; 0])) {
            return Err(format!("these bytes belong to nothing: {gaps:?}"));
        }
        match expected["unwritable"].as_str() {
            None => rewrite(format, bytes, &opened.bundle, expected["canonical"] == true),
            Some(why) => match write(format, &opened.bundle) {
                Err(error) if error.to_string().contains(why) => Ok(()),
                Err(error) => Err(format!("{why:?} expected: {error}")),
                Ok(_) => Err("it is written all the same".into()),
            },
        }
    });
}

/// Where bytes are noted that belong to nothing, and how many.
fn gaps(bundle: &Bundle, how: &ReadOptions) -> Result<Vec<Json>, String> {
    let notes = bundle
        .check(&how.limits)
        .map_err(|error| error.to_string())?;
    let all = bundle.notes().iter().chain(&notes);
    let unread = all.filter(|note| note.kind == NoteKind::UnreadBytes);
    Ok(unread
        .map(|note| serde_json::json!([note.at, note.len]))
        .collect())
}

/// Writes what was read: canonical files come out the same, others with the same meaning.
fn rewrite(format: &str, bytes: &[u8], bundle: &Bundle, is_canonical: bool) -> Result<(), String> {
    if !tenfold::by_name(format).unwrap().info().is_written() {
        return match write(format, bundle) {
            Err(Error::Invalid(_)) => Ok(()),
            _ => Err("it is written all the same".into()),
        };
    }
    // The newer container of trains is written where it is asked for.
    let target: &dyn Format = if bytes.starts_with(b"BLZ2") {
        &tenfold::formats::blz::Version2
    } else {
        tenfold::by_name(format).unwrap()
    };
    let (again, said) = match write_with_losses(target, bundle) {
        Ok(written) => written,
        // What a reader notes may be more than a writer accepts: names used twice, say.
        Err(Error::Refused(_)) if !is_canonical && !bundle.notes().is_empty() => return Ok(()),
        Err(error) => return Err(error.to_string()),
    };
    if is_canonical && again != bytes {
        return Err(format!("rewritten as {again:02x?}, was {bytes:02x?}"));
    }
    let strict = how(Mode::Strict, &Json::Null);
    let reread = verify(format, &again, &strict).map_err(|error| format!("rewritten: {error}"))?;
    // Images of integrals that differ by rounding are one when they are written, and that is reported.
    if !is_canonical && said.iter().any(|loss| loss.aspect == Aspect::Symmetry) {
        return Ok(());
    }
    // What a format can read and not write, such as a certificate, is said to be lost.
    let mut bundle = bundle.clone();
    if !reread.format.info().holds.meta.tensor {
        for (_, tensor) in bundle.entries_mut() {
            tensor.meta = tenfold::Meta::new();
        }
    }
    if meanings(&reread.bundle) != meanings(&bundle) || reread.bundle.meta != bundle.meta {
        return Err("rewritten, it means something else".into());
    }
    Ok(())
}

#[test]
fn bad_files_are_refused_at_the_byte_that_is_wrong() {
    for_each("bad", 1, &|format, bytes, expected| {
        let strict = how(Mode::Strict, expected);
        let error = if expected["by"] == "verify" {
            read(format, bytes, &strict).map_err(|error| format!("does not even open: {error}"))?;
            verify(format, bytes, &strict).err()
        } else {
            read(format, bytes, &strict).err()
        };
        let error = error.ok_or("accepted")?;
        if kind(&error) != expected["kind"] {
            return Err(format!("{} expected: {error}", expected["kind"]));
        }
        let wanted = expected["at"].as_u64();
        if wanted.is_some() && kind(&error) == "malformed" && at(&error) != wanted {
            return Err(format!("byte {wanted:?} expected: {error}"));
        }
        let lenient = verify(format, bytes, &how(Mode::Lenient, expected));
        if lenient.is_ok() != (expected["lenient_ok"] == true) {
            return Err(format!(
                "a lenient reader: {:?}",
                lenient.err().map(|e| e.to_string())
            ));
        }
        Ok(())
    });
}

#[test]
fn huge_files_open_verify_and_rewrite_without_being_expanded() {
    for_each("huge", 2, &|format, bytes, expected| {
        let how = how(Mode::Strict, expected);
        let opened = verify(format, bytes, &how).map_err(|error| error.to_string())?;
        let again = write(format, &opened.bundle).map_err(|error| error.to_string())?;
        verify(format, &again, &how).map_err(|error| format!("rewritten: {error}"))?;
        let tensor = opened.bundle.only().map_err(|error| error.to_string())?;
        let cells = expected["cells"].as_str().unwrap();
        match tensor.cells() {
            Some(found) if found.to_string() != cells => Err(format!("{found} cells, not {cells}")),
            _ => Ok(()),
        }
    });
}
