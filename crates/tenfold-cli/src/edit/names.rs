//! Removal and renaming of tensors.

use std::collections::HashSet;

use tenfold::ops::{demand, matches};
use tenfold::{Bundle, Info, Key, Names};

use super::{Change, Content};
use crate::error::Failure;
use crate::rename::Rename;
use crate::render::shown_name;

/// Removes the tensors whose names match, with their statistics, or all statistics.
pub(crate) fn drop(
    bundle: &mut Bundle,
    info: &Info,
    globs: &[String],
    strip_state: bool,
) -> Result<Vec<Change>, Failure> {
    let names = info.names_of(bundle)?;
    globs.iter().try_for_each(|glob| demand(glob, &names))?;
    let is_named = |key: &Key| {
        let name = shown_name(info, key);
        globs.iter().any(|glob| matches(glob, &name))
    };
    let goes = |key: &Key| match key.state {
        None => is_named(key),
        Some(_) => strip_state || is_named(key) || is_named(&key.owner()),
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

/// Renames tensors; a statistic is renamed with its owner.
pub(crate) fn rename(
    bundle: &mut Bundle,
    info: &Info,
    rules: &[Rename],
) -> Result<Vec<Change>, Failure> {
    let is_tree = info.holds.names == Names::Tree;
    let renamed = crate::rename::rename(bundle, info, is_tree, rules)?;
    let changes = renamed.into_iter().map(|(old, new)| Change {
        what: "rename",
        tensor: Some(old),
        key: None,
        old: None,
        new: Some(Content::Name(new)),
    });
    Ok(changes.collect())
}
