//! Metadata set or removed: of a file, a tensor or an optimizer.

use tenfold::{Bundle, Info, Meta, Value};

use super::value::parse;
use super::{Change, Content};
use crate::error::Failure;
use crate::render::shown_name;
use crate::terminal::plain;

/// The keys of a primitiv optimizer, a file that consists of them.
const CONFIGS: [&str; 2] = ["primitiv:uint_configs", "primitiv:float_configs"];

/// The target of a `KEY` argument.
struct Place {
    /// The index of a tensor, and its name; `None` for the file.
    tensor: Option<(usize, String)>,
    key: String,
}

impl Place {
    /// Resolves `[TENSOR:]KEY`: metadata of a tensor if the text before some colon is the name of
    /// one, otherwise of the file.
    fn find(bundle: &Bundle, info: &Info, word: &str) -> Place {
        let mut colons = word.match_indices(':');
        let found = colons.find_map(|(at, _)| {
            let (name, key) = word.split_at(at);
            let mut entries = bundle.entries().iter();
            let place = entries.position(|(other, _)| shown_name(info, other) == name)?;
            Some(((place, name.to_owned()), key.strip_prefix(':')?.to_owned()))
        });
        match found {
            Some((tensor, key)) => Place {
                tensor: Some(tensor),
                key,
            },
            None => Place {
                tensor: None,
                key: word.into(),
            },
        }
    }

    /// The key as spelled by the format, as in `fcidump:NELEC` for `NELEC`, unless it already has
    /// that key itself.
    fn spelled(mut self, bundle: &Bundle, info: &Info) -> Place {
        if self.tensor.is_none() && !self.key.contains(':') && bundle.meta.get(&self.key).is_none()
        {
            let own = format!("{}:{}", info.name, self.key);
            let mut names = bundle.meta.iter().map(|(name, _)| name);
            if let Some(name) = names.find(|name| name.eq_ignore_ascii_case(&own)) {
                self.key = name.to_owned();
            }
        }
        self
    }

    /// Runs a function on the metadata.
    fn change<T>(&self, bundle: &mut Bundle, change: impl FnOnce(&mut Meta) -> T) -> T {
        let place = self.tensor.as_ref().map(|(place, _)| *place);
        match place.and_then(|place| bundle.entries_mut().nth(place)) {
            Some((_, tensor)) => change(&mut tensor.meta),
            None => change(&mut bundle.meta),
        }
    }

    /// The name of the tensor, if the target is one.
    fn name(self) -> Option<String> {
        self.tensor.map(|(_, name)| name)
    }
}

/// Sets a value.
pub(crate) fn set(
    bundle: &mut Bundle,
    info: &Info,
    word: &str,
    text: &str,
) -> Result<Change, Failure> {
    if CONFIGS.iter().all(|name| bundle.meta.get(name).is_some()) {
        return set_config(&mut bundle.meta, word, text);
    }
    let place = Place::find(bundle, info, word).spelled(bundle, info);
    let key = place.key.clone();
    let (old, new) = place.change(bundle, |meta| {
        let old = meta.get(&key).cloned();
        let new = parse(text, old.as_ref()).map_err(|why| no_value(word, &why))?;
        meta.set(key.clone(), new.clone());
        Ok::<_, Failure>((old, new))
    })?;
    Ok(Change {
        what: "set",
        tensor: place.name(),
        key: Some(key),
        old: old.map(Content::Value),
        new: Some(Content::Value(new)),
    })
}

fn no_value(word: &str, why: &str) -> Failure {
    Failure::usage(format!("{word}: {why}"))
}

/// Removes a value.
pub(crate) fn unset(bundle: &mut Bundle, info: &Info, word: &str) -> Result<Change, Failure> {
    let place = Place::find(bundle, info, word).spelled(bundle, info);
    let key = place.key.clone();
    let old = place.change(bundle, |meta| {
        let names = meta.iter().map(|(name, _)| name.to_owned()).collect();
        meta.remove(&key).ok_or_else(|| unknown(&key, names))
    })?;
    Ok(Change {
        what: "unset",
        tensor: place.name(),
        key: Some(key),
        old: Some(Content::Value(old)),
        new: None,
    })
}

/// Sets a value of an optimizer by its name, or by a unique suffix of its name.
fn set_config(meta: &mut Meta, word: &str, text: &str) -> Result<Change, Failure> {
    let known: Vec<(&str, String, Value)> = CONFIGS
        .iter()
        .flat_map(|map| {
            let pairs = meta.get(map).and_then(Value::as_map).unwrap_or_default();
            let named = pairs
                .iter()
                .filter_map(|(name, old)| Some((name.as_text()?, old)));
            named.map(|(name, old)| (*map, name.to_owned(), old.clone()))
        })
        .collect();
    let exact: Vec<_> = known.iter().filter(|(_, name, _)| name == word).collect();
    let end = format!(".{word}");
    let alike = known.iter().filter(|(_, name, _)| name.ends_with(&end));
    let found = if exact.is_empty() {
        alike.collect()
    } else {
        exact
    };
    let (map, name, old) = match found.as_slice() {
        [one] => *one,
        [] => {
            return Err(unknown(
                word,
                known.into_iter().map(|(_, name, _)| name).collect(),
            ));
        }
        many => {
            let why = format!("{word} could be any of {} values", many.len());
            return Err(Failure::usage(why));
        }
    };
    let new = parse(text, Some(old)).map_err(|why| no_value(name, &why))?;
    if matches!(new, Value::Int(number) if u32::try_from(number).is_err()) {
        let why = format!("{text} is not between 0 and {}", u32::MAX);
        return Err(no_value(name, &why));
    }
    let mut pairs = meta
        .get(map)
        .and_then(Value::as_map)
        .unwrap_or_default()
        .to_vec();
    let is_it = |key: &Value| key.as_text() == Some(name);
    if let Some((_, item)) = pairs.iter_mut().find(|(key, _)| is_it(key)) {
        *item = new.clone();
    }
    meta.set(*map, Value::Map(pairs));
    Ok(Change {
        what: "set",
        tensor: None,
        key: Some(name.clone()),
        old: Some(Content::Value(old.clone())),
        new: Some(Content::Value(new)),
    })
}

fn unknown(word: &str, names: Vec<String>) -> Failure {
    let known = if names.is_empty() {
        "there is none".into()
    } else {
        format!("there are {}", names.join(", "))
    };
    Failure::usage(plain(&format!("nothing is called {word}: {known}")))
}
