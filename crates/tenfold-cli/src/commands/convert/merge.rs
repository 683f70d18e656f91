//! Several files in one.

use std::collections::HashMap;

use tenfold::{Allow, Aspect, Bundle, Info, Key, Loss, Meta, Refusal, Tier};

use super::inputs::Part;
use crate::commands::output::Content;
use crate::failure::Failure;
use crate::render::shown_name;

/// Names the tensors as they are called among those of the other files: one without a name as its
/// file and, where that is wanted, every other with the name of its file first.
pub(super) fn name(parts: &mut [Part], with_stem: bool, is_tree: bool) {
    if parts.len() < 2 && !with_stem {
        return;
    }
    for part in parts {
        let stem = part.stem.as_deref().unwrap_or("tensor");
        part.bundle
            .rename(|key| named(key, stem, with_stem, is_tree));
    }
}

fn named(key: &Key, stem: &str, with_stem: bool, is_tree: bool) -> Key {
    let mut path = key.path().to_vec();
    match path.first_mut() {
        None => path.push(stem.into()),
        Some(_) if !with_stem => {}
        Some(first) if !is_tree => *first = format!("{stem}.{first}"),
        Some(_) => path.insert(0, stem.into()),
    }
    Key::tree(path).with_state(key.state.clone())
}

/// Puts the files together. No name may come from two of them; metadata that differs is refused
/// unless that is permitted, and then the first counts.
pub(super) fn merge(
    parts: Vec<Part>,
    info: &'static Info,
    target: &Info,
    allow: &Allow,
) -> Result<Content, Failure> {
    refuse_collisions(&parts, info)?;
    let only = match parts.as_slice() {
        [only] => Some((only.word.clone(), only.stem.clone())),
        _ => None,
    };
    let (file, stem) = only.map_or((None, None), |(file, stem)| (Some(file), stem));
    let mut parts = parts.into_iter();
    let first = parts.next();
    let mut of_first = String::new();
    let mut bundle = Bundle::new();
    if let Some(part) = first {
        of_first = part.word.display().to_string();
        bundle = part.bundle;
    }
    let mut losses = Vec::new();
    for part in parts {
        for name in unite(&mut bundle.meta, &part.bundle.meta) {
            let file = part.word.display();
            losses.push(Loss {
                key: None,
                aspect: Aspect::Metadata,
                tier: Tier::Refused,
                detail: format!("what {file} says of {name:?} gives way to {of_first}"),
            });
        }
        // What only a rewrite of one of the files would need is of no use where they differ.
        let differing = unite(&mut bundle.hints, &part.bundle.hints);
        let hints = bundle
            .hints
            .iter()
            .filter(|(name, _)| !differing.contains(name));
        let kept = hints.map(|(name, value)| (name.to_owned(), value.clone()));
        bundle.hints = kept.collect();
        bundle.append(part.bundle);
    }
    if !losses.is_empty() && !allow.permits(Aspect::Metadata) {
        let format = target.name;
        return Err(tenfold::Error::from(Refusal { format, losses }).into());
    }
    Ok(Content {
        bundle,
        info,
        file,
        stem,
        said: losses,
    })
}

/// Adds what `meta` does not have yet; gives the names under which it has something else.
fn unite<'a>(meta: &mut Meta, other: &'a Meta) -> Vec<&'a str> {
    let mut differing = Vec::new();
    for (name, value) in other.iter() {
        match meta.get(name) {
            None => meta.set(name, value.clone()),
            Some(known) if known == value => {}
            Some(_) => differing.push(name),
        }
    }
    differing
}

fn refuse_collisions(parts: &[Part], info: &Info) -> Result<(), Failure> {
    let mut owners: HashMap<&Key, usize> = HashMap::new();
    for (place, part) in parts.iter().enumerate() {
        for (key, _) in part.bundle.entries() {
            let owner = *owners.entry(key).or_insert(place);
            if let (true, Some(first)) = (owner != place, parts.get(owner)) {
                let name = shown_name(info, key);
                let hint = match first.stem == part.stem {
                    true => "the files have one name too: give one of them another",
                    false => "--prefix-stem puts the names of their files first",
                };
                let (first, second) = (first.word.display(), part.word.display());
                return Err(Failure::usage(format!(
                    "{first} and {second} both have {name:?}: {hint}, or --exclude leaves it out"
                )));
            }
        }
    }
    Ok(())
}
