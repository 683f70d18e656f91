//! Maps keys to names the target format allows, honoring `Naming`.

use std::borrow::Cow;
use std::collections::HashSet;

use super::fit::{Step, has_place, scalar};
use super::sidecar::write::{SEPARATOR, hint, key_json};
use super::training_state::without_state;
use crate::bundle::Bundle;
use crate::error::{Error, Result};
use crate::format::{Capabilities, Format, Names, Naming, WriteOptions};
use crate::key::Key;
use crate::loss::{Aspect, Loss, Tier};
use crate::tensor::Tensor;

/// Whether a bundle has paths or statistics, not only plain names.
fn is_tree(bundle: &Bundle) -> bool {
    let mut keys = bundle.entries().iter().map(|(key, _)| key);
    keys.any(|key| key.path().len() > 1 || key.state.is_some())
}

/// The bundle renamed by `Naming`, without the tensors it leaves out.
pub(crate) fn renamed<'a>(
    bundle: &'a Bundle,
    format: &dyn Format,
    naming: &Naming,
    changes: &mut Vec<Loss>,
) -> Result<Cow<'a, Bundle>> {
    if let Some(separator) = naming.separator
        && matches!(separator, '\\' | '@')
    {
        let why = format!("{separator} cannot separate the segments of a path");
        return Err(Error::invalid(why));
    }
    let mut kept = if naming.drop_state {
        Cow::Owned(without_state(bundle, changes))
    } else {
        Cow::Borrowed(bundle)
    };
    if format.info().holds.names == Names::Tree && !is_tree(bundle) {
        let usual = format.name_separator(bundle);
        let paths = |key: &Key| match (key.flat_name(), naming.separator, usual) {
            (Some(name), Some(separator), _) => Key::split(name, separator),
            (Some(name), None, Some(separator)) => {
                Key::tree(name.split(separator).map(str::to_owned).collect())
            }
            _ => key.clone(),
        };
        if let (None, Some(separator)) = (naming.separator, usual) {
            let entries = kept.entries().iter().map(|(key, _)| key);
            changes.extend(entries.filter(|key| paths(key) != **key).map(|key| {
                let detail = format!("the name becomes a path, split at {separator:?}");
                said(Some(key), Aspect::Keys, detail)
            }));
        }
        kept = Cow::Owned(with_keys(&kept, |key| Ok(paths(key)))?);
    }
    match &naming.strip_prefix {
        Some(prefix) => {
            let separator = naming.separator.unwrap_or(SEPARATOR);
            stripped(&kept, prefix, separator).map(Cow::Owned)
        }
        None => Ok(kept),
    }
}

fn with_keys(bundle: &Bundle, key_of: impl Fn(&Key) -> Result<Key>) -> Result<Bundle> {
    let mut renamed = Bundle::new();
    (renamed.meta, renamed.hints) = (bundle.meta.clone(), bundle.hints.clone());
    for (key, tensor) in bundle.entries() {
        renamed.push(key_of(key)?, tensor.clone());
    }
    for note in bundle.notes() {
        renamed.note(note.clone());
    }
    Ok(renamed)
}

pub(crate) fn said(key: Option<&Key>, aspect: Aspect, detail: String) -> Loss {
    Loss {
        key: key.cloned(),
        aspect,
        detail,
        tier: Tier::Said,
    }
}

/// Strips a prefix from the names that have it.
fn stripped(bundle: &Bundle, prefix: &str, separator: char) -> Result<Bundle> {
    let is_tree = is_tree(bundle);
    let text = |key: &Key| match key.flat_name() {
        Some(name) if !is_tree => name.to_owned(),
        _ => key.joined(separator),
    };
    if !bundle
        .entries()
        .iter()
        .any(|(key, _)| text(key).starts_with(prefix))
    {
        return Err(Error::invalid(format!("no name begins with {prefix:?}")));
    }
    let renamed = with_keys(bundle, |key| {
        let name = text(key);
        let Some(rest) = name.strip_prefix(prefix) else {
            return Ok(key.clone());
        };
        let short = if is_tree {
            Key::split(rest, separator)
        } else {
            Key::flat(rest)
        };
        if rest.is_empty() || short.path().is_empty() {
            let why = format!("without {prefix:?} nothing is left of the name {name:?}");
            return Err(Error::invalid(why));
        }
        Ok(short)
    })?;
    // Names that were duplicate before are another matter.
    let count = |bundle: &Bundle| {
        let keys: HashSet<Key> = bundle
            .entries()
            .iter()
            .map(|(key, _)| key.clone())
            .collect();
        keys.len()
    };
    if count(&renamed) < count(bundle) {
        let mut seen = HashSet::new();
        let mut keys = renamed.entries().iter().map(|(key, _)| key);
        let twice = keys.find(|key| !seen.insert(*key)).map(text);
        let why = format!(
            "without {prefix:?} two tensors would be called {:?}",
            twice.unwrap_or_default()
        );
        return Err(Error::invalid(why));
    }
    Ok(renamed)
}

/// A bundle with an unnamed tensor.
fn nameless() -> Bundle {
    scalar().map_or_else(Bundle::new, Bundle::of)
}

/// The number of tensors, where statistics count only if the target cannot attach them to their
/// owners.
pub(crate) fn n_owners(bundle: &Bundle, holds: &Capabilities) -> usize {
    let keys = || bundle.entries().iter().map(|(key, _)| key);
    // Without statistics the owners do not matter.
    if keys().all(|key| key.state.is_none()) {
        return bundle.entries().len();
    }
    let owners: HashSet<&[String]> = keys()
        .filter(|key| key.state.is_none())
        .map(Key::path)
        .collect();
    keys()
        .filter(|key| key.state.is_none() || !holds.state || !owners.contains(key.path()))
        .count()
}

/// The names of a bundle's tensors in the target.
pub(crate) struct KeyNames<'a> {
    bundle: &'a Bundle,
    format: &'a dyn Format,
    names: Names,
    is_tree: bool,
    is_alone: bool,
    /// Whether a tree has no place for an unnamed tensor.
    needs_name: bool,
    stem: &'a str,
    separator: char,
}

impl<'a> KeyNames<'a> {
    pub(crate) fn of(
        bundle: &'a Bundle,
        format: &'a dyn Format,
        how: &'a WriteOptions,
    ) -> Result<Self> {
        let info = format.info();
        let known = || bundle.hints.text(hint::SEPARATOR)?.chars().next();
        Ok(KeyNames {
            bundle,
            format,
            names: info.holds.names,
            is_tree: is_tree(bundle),
            is_alone: n_owners(bundle, &info.holds) == 1,
            needs_name: !has_place(format, &nameless(), &[Aspect::Keys])?,
            stem: how.stem.as_deref().unwrap_or("tensor"),
            separator: how.naming.separator.or_else(known).unwrap_or(SEPARATOR),
        })
    }

    /// The name of a tensor.
    pub(crate) fn name(&self, key: &Key, tensor: &Tensor) -> Key {
        if let Some(name) = self.format.tensor_name(self.bundle, key, tensor) {
            return name;
        }
        match self.names {
            // A statistic without its tensor is a tensor like any other.
            Names::One if self.is_alone && self.bundle.entries().len() == 1 => Key::root(),
            Names::One if self.is_alone => Key::root().with_state(key.state.clone()),
            Names::Tree if key.path().is_empty() && self.needs_name => {
                let name = tensor.hints.text(hint::NAME).unwrap_or(self.stem);
                Key::flat(name).with_state(key.state.clone())
            }
            Names::Flat if key.is_empty() => {
                Key::flat(tensor.hints.text(hint::NAME).unwrap_or(self.stem))
            }
            Names::Flat if self.is_tree => Key::flat(key.joined(self.separator)),
            Names::One | Names::Flat | Names::Tree => key.clone(),
        }
    }

    /// Reports the change of a key, and carries the key if possible.
    pub(crate) fn say(&self, step: &mut Step, key: &Key, name: &Key) {
        if key == name {
            return;
        }
        let is_carried = step.carry("key", key_json(key));
        if is_carried && self.separator != SEPARATOR && self.is_tree {
            step.carry("separator", self.separator.to_string().into());
        }
        let tier = if is_carried {
            Tier::Carried
        } else {
            Tier::Said
        };
        let is_plain = name.state.is_none();
        let name = name.flat_name().unwrap_or_default();
        let (aspect, detail) = match (self.names, &key.state) {
            (Names::One, None) => (Aspect::Keys, "the tensor loses its name".into()),
            (Names::One, Some(state)) if is_plain => {
                let detail = format!("the statistic {state} becomes a tensor by itself");
                (Aspect::State, detail)
            }
            (Names::One, Some(_)) => return,
            (Names::Tree, Some(_)) if key.path().is_empty() => return,
            _ if key.is_empty() => (Aspect::Invented, format!("the tensor is called {name:?}")),
            (_, Some(_)) => {
                let detail = format!("the statistic becomes a tensor {name:?}");
                (Aspect::State, detail)
            }
            (_, None) if key.path().len() == 1 => {
                (Aspect::Keys, format!("the name becomes {name:?}"))
            }
            (_, None) => (Aspect::Keys, format!("the path becomes a name {name:?}")),
        };
        step.change(tier, aspect, detail);
    }
}
