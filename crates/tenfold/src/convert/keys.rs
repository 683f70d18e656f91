//! What tensors are called: as somebody chose, and as the target can.

use std::borrow::Cow;
use std::collections::HashSet;

use super::carry::{SEPARATOR, hint, key_json};
use super::lower::Step;
use crate::bundle::Bundle;
use crate::error::{Aspect, Error, Loss, Result, Tier};
use crate::format::{Info, Names, Naming, WriteOptions};
use crate::key::Key;
use crate::meta::Meta;
use crate::tensor::Tensor;

/// Metadata that is no part of a model: what an optimizer was set to.
const CONFIGS: &[&str] = &["primitiv:uint_configs", "primitiv:float_configs"];

/// Whether a bundle has paths or statistics, not only plain names.
fn is_tree(bundle: &Bundle) -> bool {
    let mut keys = bundle.entries().iter().map(|(key, _)| key);
    keys.any(|key| key.path().len() > 1 || key.state.is_some())
}

/// The bundle with the names that somebody chose, and without what they left out.
pub(super) fn renamed<'a>(
    bundle: &'a Bundle,
    info: &Info,
    naming: &Naming,
    changes: &mut Vec<Loss>,
) -> Result<Cow<'a, Bundle>> {
    if let Some(separator) = naming.separator
        && matches!(separator, '\\' | '@')
    {
        let why = format!("{separator} cannot separate the segments of a path");
        return Err(Error::invalid(why));
    }
    let mut kept = match naming.drop_state {
        true => Cow::Owned(without_state(bundle, changes)),
        false => Cow::Borrowed(bundle),
    };
    if let Some(separator) = naming.separator
        && info.holds.names == Names::Tree
        && !is_tree(bundle)
    {
        let split = |key: &Key| match key.flat_name() {
            Some(name) => Key::split(name, separator),
            None => key.clone(),
        };
        kept = Cow::Owned(with_keys(&kept, |key| Ok(split(key)))?);
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

fn without_state(bundle: &Bundle, changes: &mut Vec<Loss>) -> Bundle {
    let mut say = |key: Option<&Key>, detail: String| {
        changes.push(Loss {
            key: key.cloned(),
            aspect: Aspect::State,
            detail,
            tier: Tier::Said,
        });
    };
    let mut kept = bundle.clone();
    kept.retain(|key| key.state.is_none());
    for (key, _) in bundle.entries() {
        if key.state.is_some() {
            say(Some(key), "the statistic is left out".into());
        }
    }
    let (configs, others): (Vec<_>, Vec<_>) = bundle
        .meta
        .iter()
        .partition(|(name, _)| CONFIGS.contains(name));
    if !configs.is_empty() {
        let names: Vec<&str> = configs.iter().map(|(name, _)| *name).collect();
        say(None, format!("configs are left out: {}", names.join(", ")));
    }
    let others = others.into_iter();
    let others: Meta = others
        .map(|(name, value)| (name.to_owned(), value.clone()))
        .collect();
    kept.meta = others;
    kept
}

/// Takes a prefix off the names that begin with it.
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
        let short = match is_tree {
            true => Key::split(rest, separator),
            false => Key::flat(rest),
        };
        if rest.is_empty() || short.path().is_empty() {
            let why = format!("without {prefix:?} nothing is left of the name {name:?}");
            return Err(Error::invalid(why));
        }
        Ok(short)
    })?;
    // Names that were there twice before are another matter.
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

/// How the tensors of a bundle are called in the target.
pub(super) struct KeyNames<'a> {
    names: Names,
    is_tree: bool,
    is_alone: bool,
    stem: &'a str,
    separator: char,
}

impl<'a> KeyNames<'a> {
    pub(super) fn of(bundle: &Bundle, info: &Info, how: &'a WriteOptions) -> Self {
        let known = || bundle.hints.text(hint::SEPARATOR)?.chars().next();
        KeyNames {
            names: info.holds.names,
            is_tree: is_tree(bundle),
            is_alone: bundle.entries().len() == 1,
            stem: how.stem.as_deref().unwrap_or("tensor"),
            separator: how.naming.separator.or_else(known).unwrap_or(SEPARATOR),
        }
    }

    /// What a tensor is called.
    pub(super) fn name(&self, key: &Key, tensor: &Tensor) -> Key {
        match self.names {
            Names::One if self.is_alone => Key::root(),
            Names::Flat if key.is_empty() => {
                Key::flat(tensor.hints.text(hint::NAME).unwrap_or(self.stem))
            }
            Names::Flat if self.is_tree => Key::flat(key.joined(self.separator)),
            Names::One | Names::Flat | Names::Tree => key.clone(),
        }
    }

    /// Says what became of a key, and carries it where that can be.
    pub(super) fn say(&self, step: &mut Step, key: &Key, name: &Key) {
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
        let name = name.flat_name().unwrap_or_default();
        let (aspect, detail) = match (self.names, &key.state) {
            (Names::One, _) => (Aspect::Keys, "the tensor loses its name".into()),
            _ if key.is_empty() => (Aspect::Invented, format!("the tensor is called {name:?}")),
            (_, Some(_)) => {
                let detail = format!("the statistic becomes a tensor {name:?}");
                (Aspect::State, detail)
            }
            (_, None) => (Aspect::Keys, format!("the path becomes a name {name:?}")),
        };
        step.change(tier, aspect, detail);
    }
}
