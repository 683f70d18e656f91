//! Tensors that go, and tensors that get another name.

use std::collections::HashSet;

use tenfold::{Bundle, Info, Key, Names};

use super::{Change, Content};
use crate::failure::Failure;
use crate::rename::Rename;
use crate::render::shown_name;
use crate::select::{demand, matches, names};

/// Leaves out the tensors whose names match, with their statistics, or all statistics.
pub(super) fn drop(
    bundle: &mut Bundle,
    info: &Info,
    globs: &[String],
    strip_state: bool,
) -> Result<Vec<Change>, Failure> {
    let names = names(bundle, info);
    globs.iter().try_for_each(|glob| demand(glob, &names))?;
    let is_named = |key: &Key| {
        let name = shown_name(info, key);
        globs.iter().any(|glob| matches(glob, &name))
    };
    let goes = |key: &Key| match key.state {
        None => is_named(key),
        Some(_) => strip_state || is_named(key) || is_named(&Key::tree(key.path.clone())),
    };
    let keys = bundle.entries().iter().map(|(key, _)| key);
    let going: HashSet<Key> = keys.filter(|key| goes(key)).cloned().collect();
    if strip_state && going.is_empty() {
        return Err(Failure::usage("there are no statistics to strip"));
    }
    let changes = bundle
        .entries()
        .iter()
        .filter(|(key, _)| going.contains(key));
    let changes = changes.map(|(key, _)| Change {
        what: "drop",
        tensor: Some(shown_name(info, key)),
        key: None,
        old: None,
        new: None,
    });
    let changes = changes.collect();
    bundle.retain(|key| !going.contains(key));
    Ok(changes)
}

/// Gives tensors new names; a statistic goes with its owner.
pub(super) fn rename(
    bundle: &mut Bundle,
    info: &Info,
    rules: &[Rename],
) -> Result<Vec<Change>, Failure> {
    let mut changes = Vec::new();
    for rule in rules {
        let n_before = changes.len();
        for (key, _) in bundle.entries() {
            let new = renamed(info, key, rule);
            if new != *key {
                changes.push(Change {
                    what: "rename",
                    tensor: Some(shown_name(info, key)),
                    key: None,
                    old: None,
                    new: Some(Content::Name(shown_name(info, &new))),
                });
            }
        }
        if changes.len() == n_before {
            return Err(Failure::usage(format!("{rule} changes no name")));
        }
        let taken = bundle.entries().len();
        let before: HashSet<&Key> = bundle.entries().iter().map(|(key, _)| key).collect();
        let were_unique = before.len() == taken;
        bundle.rename(|key| renamed(info, key, rule));
        if were_unique {
            refuse_twins(bundle, info)?;
        }
    }
    Ok(changes)
}

fn renamed(info: &Info, key: &Key, rule: &Rename) -> Key {
    let owner = Key::tree(key.path.clone());
    let name = shown_name(info, &owner);
    let new = rule.apply(&name);
    if new == name {
        return key.clone();
    }
    let new = match info.holds.names {
        Names::Tree => Key::parse(&new),
        Names::Flat | Names::One => Key::flat(new),
    };
    Key {
        path: new.path,
        state: key.state.clone().or(new.state),
    }
}

/// Fails if two tensors have one name.
fn refuse_twins(bundle: &Bundle, info: &Info) -> Result<(), Failure> {
    let mut seen = HashSet::new();
    let twin = bundle.entries().iter().find(|(key, _)| !seen.insert(key));
    match twin {
        None => Ok(()),
        Some((key, _)) => {
            let name = shown_name(info, key);
            Err(Failure::usage(format!(
                "two tensors would be called {name:?}"
            )))
        }
    }
}
