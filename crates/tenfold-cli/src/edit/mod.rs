//! Edits to names and metadata of a bundle.

mod names;
mod settings;
mod value;

use tenfold::{Bundle, Info, Value};

use crate::commands::Edit;
use crate::error::Failure;
use crate::render::{quoted, short_value, value};

/// One change.
pub(crate) struct Change {
    /// Its name.
    pub(crate) what: &'static str,
    /// The tensor it applies to, by its previous name.
    pub(crate) tensor: Option<String>,
    /// The metadata key it applies to.
    pub(crate) key: Option<String>,
    pub(crate) old: Option<Content>,
    pub(crate) new: Option<Content>,
}

/// The old or the new value.
pub(crate) enum Content {
    Name(String),
    Value(Value),
}

impl Content {
    /// As text.
    pub(crate) fn text(&self) -> String {
        match self {
            Content::Name(name) => name.clone(),
            Content::Value(item) => short_value(item),
        }
    }

    pub(crate) fn json(&self) -> String {
        match self {
            Content::Name(name) => quoted(name),
            Content::Value(item) => {
                let mut text = String::new();
                value(item, &mut text);
                text
            }
        }
    }
}

/// Applies the arguments: removes tensors, then sets metadata by the old names, then renames.
pub(crate) fn changes(
    bundle: &mut Bundle,
    info: &Info,
    args: &Edit,
) -> Result<Vec<Change>, Failure> {
    let mut changes = names::drop(bundle, info, &args.drop, args.strip_state)?;
    for word in &args.unset {
        changes.push(settings::unset(bundle, info, word)?);
    }
    for (word, text) in &args.set {
        changes.push(settings::set(bundle, info, word, text)?);
    }
    changes.extend(names::rename(bundle, info, &args.rename)?);
    Ok(changes)
}
