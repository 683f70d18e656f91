//! Several files merged into one.

use std::collections::HashMap;

use tenfold::ops::Part;
use tenfold::{Allow, Aspect, Bundle, Info, Key, Loss, Refusal, memory, ops};

use crate::error::Failure;
use crate::render::shown_name;

/// Merges files. Names must be unique; differing metadata is refused unless permitted, in which
/// case the first value wins.
pub(super) fn merge(
    parts: Vec<Part>,
    info: &Info,
    target: &Info,
    allow: &Allow,
) -> Result<(Bundle, Vec<Loss>), Failure> {
    refuse_collisions(&parts, info)?;
    let (bundle, losses) = ops::merge(parts)?;
    if !losses.is_empty() && !allow.permits(Aspect::Metadata) {
        let format = target.name;
        return Err(tenfold::Error::from(Refusal { format, losses }).into());
    }
    Ok((bundle, losses))
}

fn refuse_collisions(parts: &[Part], info: &Info) -> Result<(), Failure> {
    if parts.len() < 2 {
        return Ok(());
    }
    let mut owners: HashMap<&Key, usize> = HashMap::new();
    for (place, part) in parts.iter().enumerate() {
        for (key, _) in part.bundle.entries() {
            let owner = owners.get(key).copied().unwrap_or(place);
            memory::put(&mut owners, key, owner)?;
            if let (true, Some(first)) = (owner != place, parts.get(owner)) {
                let name = shown_name(info, key);
                let hint = if first.stem == part.stem {
                    "the files have one name too: give one of them another"
                } else {
                    "--prefix-stem puts the names of their files first"
                };
                let (first, second) = (first.path.display(), part.path.display());
                return Err(Failure::usage(format!(
                    "{first} and {second} both have {name:?}: {hint}, or --exclude leaves it out"
                )));
            }
        }
    }
    Ok(())
}
