//! Selection of tensors by name.

use std::collections::HashSet;

use crate::bundle::Bundle;
use crate::error::{Error, Result};
use crate::format::Info;
use crate::key::Key;

/// Keeps the tensors whose names match any of `only`, if there are any, and none of `exclude`.
///
/// # Errors
/// [`Error::Invalid`] if a pattern matches no tensor.
pub fn select(bundle: &mut Bundle, info: &Info, only: &[String], exclude: &[String]) -> Result<()> {
    if only.is_empty() && exclude.is_empty() {
        return Ok(());
    }
    let names = info.names_of(bundle)?;
    demand_all(only.iter().chain(exclude), &names)?;
    retain(bundle, info, only, exclude);
    Ok(())
}

/// [`select`], with patterns that need not match anything.
pub fn retain(bundle: &mut Bundle, info: &Info, only: &[String], exclude: &[String]) {
    retain_by(bundle, only, exclude, |key| info.name_of(key));
}

/// [`retain`], where selected tensors keep their statistics, unless `exclude` names them.
pub fn retain_with_statistics(
    bundle: &mut Bundle,
    info: &Info,
    only: &[String],
    exclude: &[String],
) {
    let mut owners = bundle.clone();
    retain(&mut owners, info, only, exclude);
    let owners: HashSet<&Key> = owners.entries().iter().map(|(key, _)| key).collect();
    let is_excluded = |key: &Key| {
        let name = info.name_of(key);
        exclude.iter().any(|glob| matches(glob, &name))
    };
    bundle.retain(|key| {
        let is_statistic = key.state.is_some() && owners.contains(&key.owner());
        owners.contains(key) || is_statistic && !is_excluded(key)
    });
}

/// [`retain`] with another naming of tensors than the format's.
pub fn retain_by(
    bundle: &mut Bundle,
    only: &[String],
    exclude: &[String],
    name: impl Fn(&Key) -> String,
) {
    if only.is_empty() && exclude.is_empty() {
        return;
    }
    bundle.retain(|key| {
        let name = name(key);
        let any = |globs: &[String]| globs.iter().any(|glob| matches(glob, &name));
        (only.is_empty() || any(only)) && !any(exclude)
    });
}

/// Fails unless every pattern matches any of `names`.
///
/// # Errors
/// [`Error::Invalid`] with the most similar names.
pub fn demand_all<'a>(mut globs: impl Iterator<Item = &'a String>, names: &[String]) -> Result<()> {
    globs.try_for_each(|glob| demand(glob, names))
}

/// Fails unless a pattern matches any of `names`.
///
/// # Errors
/// [`Error::Invalid`] with the most similar names.
pub fn demand(glob: &str, names: &[String]) -> Result<()> {
    if names.iter().any(|name| matches(glob, name)) {
        return Ok(());
    }
    let nearest = nearest(glob, names);
    let why = format!("no tensor matches {glob:?}; there are {nearest}");
    Err(Error::Invalid(why))
}

/// The name of an unnamed tensor in messages.
pub const UNNAMED: &str = "(unnamed)";

/// Lists the names that are most similar to the wanted one, best first.
#[must_use]
pub fn nearest(wanted: &str, names: &[String]) -> String {
    const SHOWN: usize = 5;
    let alike = |name: &String| strsim::jaro_winkler(wanted, name);
    let mut ranked: Vec<(f64, &String)> = names.iter().map(|name| (alike(name), name)).collect();
    ranked.sort_by(|(first, _), (second, _)| second.total_cmp(first));
    let listed: Vec<String> = ranked
        .iter()
        .take(SHOWN)
        .map(|(_, name)| match name.as_str() {
            "" => UNNAMED.into(),
            name => format!("{name:?}"),
        })
        .collect();
    let more = if names.len() > SHOWN { ", …" } else { "" };
    format!("{}{more}", listed.join(", "))
}

/// The text that each star of a glob matches in `name`, if the glob matches; shortest first.
#[must_use]
pub fn captures(glob: &str, name: &str) -> Option<Vec<String>> {
    let Some((start, rest)) = glob.split_once('*') else {
        return matches(glob, name).then(Vec::new);
    };
    let ends = name.char_indices().map(|(at, _)| at).chain([name.len()]);
    let starts = ends
        .clone()
        .find(|end| matches(start, name.get(..*end).unwrap_or_default()))?;
    let (_, after) = name.split_at_checked(starts)?;
    let mut ends = ends.filter_map(|end| end.checked_sub(starts));
    let end = ends.find(|end| matches(rest, after.get(*end..).unwrap_or_default()))?;
    let (text, left) = after.split_at_checked(end)?;
    let mut found = vec![text.to_owned()];
    found.extend(captures(rest, left)?);
    Some(found)
}

/// Whether a glob matches all of `name`: `*` is any text, including `/` and `.`, `?` any character.
#[must_use]
pub fn matches(glob: &str, name: &str) -> bool {
    let (glob, name): (Vec<char>, Vec<char>) = (glob.chars().collect(), name.chars().collect());
    let (mut at, mut place) = (0, 0);
    // Where to continue if the last star must match more text.
    let mut star: Option<(usize, usize)> = None;
    while let Some(letter) = name.get(place) {
        match glob.get(at) {
            Some('*') => {
                star = Some((at, place));
                at += 1;
            }
            Some(wanted) if *wanted == '?' || wanted == letter => {
                at += 1;
                place += 1;
            }
            _ => match star {
                Some((after, from)) => {
                    star = Some((after, from + 1));
                    at = after + 1;
                    place = from + 1;
                }
                None => return false,
            },
        }
    }
    glob.iter().skip(at).all(|rest| *rest == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_any_text_and_a_question_mark_any_letter() {
        for (glob, name) in [
            ("*", ""),
            ("enc*", "enc/layer.0/w"),
            ("*.w", "a.b.w"),
            ("l?.w", "l0.w"),
            ("*a*b*", "xaxbx"),
            ("重み", "重み"),
        ] {
            assert!(matches(glob, name), "{glob} {name}");
        }
        for (glob, name) in [
            ("", "a"),
            ("enc", "enc.w"),
            ("l?.w", "l10.w"),
            ("*a*b", "ba"),
        ] {
            assert!(!matches(glob, name), "{glob} {name}");
        }
    }

    #[test]
    fn a_star_gives_the_text_it_stands_for() {
        let found = |glob, name| captures(glob, name).map(|texts| texts.join("|"));
        assert_eq!(found("model.*", "model.enc.w"), Some("enc.w".into()));
        assert_eq!(found("*.*.w", "a.b.c.w"), Some("a|b.c".into()));
        assert_eq!(found("l?.*", "l1.w"), Some("w".into()));
        assert_eq!(found("ä*", "äö"), Some("ö".into()));
        assert_eq!(found("w", "w"), Some(String::new()));
        assert_eq!(found("*a", "b"), None);
    }

    #[test]
    fn many_stars_take_no_time() {
        let glob = "*a".repeat(50);
        assert!(!matches(&glob, &"a".repeat(40)));
        assert!(matches(&glob, &"a".repeat(5000)));
    }
}
