//! Which tensors of a file are meant, and as which numbers.

use tenfold::{Bundle, Info, Overflow};

use crate::args::{Cast, Convert};
use crate::failure::Failure;
use crate::render::shown_name;

/// Keeps the tensors whose names match one of `only`, if there are any, and none of `exclude`.
pub(crate) fn select(
    bundle: &mut Bundle,
    info: &Info,
    only: &[String],
    exclude: &[String],
) -> Result<(), Failure> {
    let names = names(bundle, info);
    for glob in only.iter().chain(exclude) {
        demand(glob, &names)?;
    }
    bundle.retain(|key| {
        let name = shown_name(info, key);
        let any = |globs: &[String]| globs.iter().any(|glob| matches(glob, &name));
        (only.is_empty() || any(only)) && !any(exclude)
    });
    Ok(())
}

/// Casts tensors, each as the last word for it says.
pub(crate) fn cast(
    bundle: &mut Bundle,
    info: &Info,
    args: &Convert,
    over: Overflow,
) -> Result<(), Failure> {
    let (casts, limits) = (&args.cast, &args.reading.limits.0);
    let names: Vec<String> = names(bundle, info);
    for glob in casts.iter().filter_map(|cast| cast.glob.as_deref()) {
        demand(glob, &names)?;
    }
    for ((_, tensor), name) in bundle.entries_mut().zip(&names) {
        let is_meant = |cast: &&Cast| cast.glob.as_deref().is_none_or(|glob| matches(glob, name));
        if let Some(cast) = casts.iter().rfind(is_meant) {
            *tensor =
                tensor.cast_rounded(cast.number, args.transform.round.into(), over, limits)?;
        }
    }
    Ok(())
}

pub(crate) fn names(bundle: &Bundle, info: &Info) -> Vec<String> {
    let entries = bundle.entries().iter();
    entries.map(|(key, _)| shown_name(info, key)).collect()
}

/// Fails unless a glob matches something.
pub(crate) fn demand(glob: &str, names: &[String]) -> Result<(), Failure> {
    if names.iter().any(|name| matches(glob, name)) {
        return Ok(());
    }
    Err(Failure::usage(no_match(glob, names)))
}

/// Names the tensors that begin most like the glob.
fn no_match(glob: &str, names: &[String]) -> String {
    const SHOWN: usize = 5;
    let alike = |name: &str| {
        name.chars()
            .zip(glob.chars())
            .take_while(|(a, b)| a == b)
            .count()
    };
    let mut nearest: Vec<&String> = names.iter().collect();
    nearest.sort_by_key(|name| std::cmp::Reverse(alike(name)));
    let listed: Vec<String> = nearest
        .iter()
        .take(SHOWN)
        .map(|name| format!("{name:?}"))
        .collect();
    let more = if names.len() > SHOWN { ", …" } else { "" };
    format!(
        "no tensor matches {glob:?}; there are {}{more}",
        listed.join(", ")
    )
}

/// Whether all of `name` matches a glob: `*` is any text, also across `/` and `.`, `?` any letter.
pub(crate) fn matches(glob: &str, name: &str) -> bool {
    let (glob, name): (Vec<char>, Vec<char>) = (glob.chars().collect(), name.chars().collect());
    let (mut at, mut place) = (0, 0);
    // Where to go on if the text that the last star stands for has to be longer.
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
    fn many_stars_take_no_time() {
        let glob = "*a".repeat(50);
        assert!(!matches(&glob, &"a".repeat(40)));
        assert!(matches(&glob, &"a".repeat(5000)));
    }
}
