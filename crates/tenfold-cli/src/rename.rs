//! `s/old/new/`: renaming by substitution, as in `sed`.

use std::collections::HashMap;

use regex::{Regex, RegexBuilder};
use tenfold::ops::nearest;
use tenfold::{Bundle, Info, Key};

use crate::error::Failure;
use crate::render::shown_name;

/// A substitution.
#[derive(Debug, Clone)]
pub(crate) struct Rename {
    /// As given.
    rule: String,
    pattern: Regex,
    new: Vec<Part>,
    is_global: bool,
}

/// A part of the replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    /// The text matched by a group; 0 is the whole match.
    Group(usize),
}

impl Rename {
    /// Parses `s/PATTERN/NEW/FLAGS`, where any character may replace `/`. The pattern is a regular
    /// expression; in NEW, `\1` or `$1` is the match of the first group and `&` the whole match.
    /// Flags are `g` to replace every match rather than the first, and `i` to ignore case.
    pub(crate) fn parse(text: &str) -> Result<Rename, String> {
        const USAGE: &str = "a substitution such as s/old/new/ or s/old/new/g is wanted";
        let mut letters = text.chars();
        let (Some('s'), Some(end)) = (letters.next(), letters.next()) else {
            return Err(USAGE.into());
        };
        if end.is_alphanumeric() || end == '\\' {
            return Err(USAGE.into());
        }
        let parts = split(letters.as_str(), end);
        let [pattern, new, flags] = parts.as_slice() else {
            return Err(USAGE.into());
        };
        if let Some(flag) = flags.chars().find(|flag| !"gi".contains(*flag)) {
            return Err(format!("the flags are g and i, not {flag:?}"));
        }
        let pattern = RegexBuilder::new(&unescaped(pattern, end))
            .case_insensitive(flags.contains('i'))
            .build()
            .map_err(|error| error.to_string())?;
        let new = parts_of(new);
        let n_groups = pattern.captures_len();
        for part in &new {
            match part {
                Part::Group(number) if *number >= n_groups => {
                    return Err(format!("the pattern has no group {number}"));
                }
                _ => {}
            }
        }
        Ok(Rename {
            rule: text.into(),
            pattern,
            new,
            is_global: flags.contains('g'),
        })
    }

    /// The new name.
    pub(crate) fn apply(&self, name: &str) -> String {
        let new = |groups: &regex::Captures| -> String {
            let texts = self.new.iter().map(|part| match part {
                Part::Text(text) => text.as_str(),
                Part::Group(number) => groups.get(*number).map_or("", |found| found.as_str()),
            });
            texts.collect()
        };
        let times = if self.is_global { 0 } else { 1 };
        self.pattern.replacen(name, times, new).into_owned()
    }
}

impl std::fmt::Display for Rename {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.rule)
    }
}

/// Renames tensors by one rule after the other; a statistic is renamed with its owner. In a format
/// with a tree, a new name is a path. Returns the changes, as old and new names.
pub(crate) fn rename(
    bundle: &mut Bundle,
    info: &Info,
    is_tree: bool,
    rules: &[Rename],
) -> Result<Vec<(String, String)>, Failure> {
    let mut changes = Vec::new();
    for rule in rules {
        let n_before = changes.len();
        // The owner of every new name.
        let mut owners: HashMap<Key, &Key> = HashMap::new();
        for (key, _) in bundle.entries() {
            let new = renamed(info, key, is_tree, rule);
            let names = (shown_name(info, key), shown_name(info, &new));
            let is_new = new != *key;
            let first = *owners.entry(new).or_insert(key);
            if first != key {
                let (first, (second, new)) = (shown_name(info, first), names);
                return Err(Failure::usage(format!(
                    "{rule} gives {first:?} and {second:?} one name, {new:?}"
                )));
            }
            changes.extend(is_new.then_some(names));
        }
        if changes.len() == n_before {
            let nearest = nearest("", &info.names_of(bundle)?);
            let why = format!("{rule} changes no name; there are {nearest}");
            return Err(Failure::usage(why));
        }
        bundle.rename(|key| renamed(info, key, is_tree, rule));
    }
    Ok(changes)
}

fn renamed(info: &Info, key: &Key, is_tree: bool, rule: &Rename) -> Key {
    let owner = key.owner();
    let name = shown_name(info, &owner);
    let new = match rule.apply(&name) {
        new if new == name => return key.clone(),
        new if is_tree || new.is_empty() => Key::parse(&new),
        new => Key::flat(new),
    };
    let state = key.state.clone().or(new.state.clone());
    new.with_state(state)
}

/// The texts between unescaped separators `end`.
fn split(text: &str, end: char) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut is_escaped = false;
    for letter in text.chars() {
        if letter == end && !is_escaped {
            parts.push(String::new());
            continue;
        }
        is_escaped = letter == '\\' && !is_escaped;
        if let Some(part) = parts.last_mut() {
            part.push(letter);
        }
    }
    parts
}

/// The pattern, where an escaped separator stands for the character itself: `s|a\|b|c|` matches
/// `a|b` literally, as in `sed`.
fn unescaped(pattern: &str, end: char) -> String {
    pattern.replace(&format!("\\{end}"), &regex::escape(&end.to_string()))
}

fn parts_of(new: &str) -> Vec<Part> {
    let mut parts = vec![];
    let mut text = String::new();
    let mut letters = new.chars().peekable();
    while let Some(letter) = letters.next() {
        let next = letters.peek().copied();
        let group = next.and_then(|next| next.to_digit(10));
        match (letter, next, group) {
            ('\\' | '$', Some(_), Some(number)) => {
                letters.next();
                parts.push(Part::Text(std::mem::take(&mut text)));
                parts.push(Part::Group(usize::try_from(number).unwrap_or(0)));
            }
            ('\\', Some(next), None) => {
                letters.next();
                text.push(next);
            }
            ('&', ..) => {
                parts.push(Part::Text(std::mem::take(&mut text)));
                parts.push(Part::Group(0));
            }
            _ => text.push(letter),
        }
    }
    parts.push(Part::Text(text));
    parts.retain(|part| *part != Part::Text(String::new()));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn renamed(rule: &str, name: &str) -> String {
        Rename::parse(rule).unwrap().apply(name)
    }

    #[test]
    fn the_first_match_is_replaced_or_all() {
        assert_eq!(renamed("s/a/b/", "banana"), "bbnana");
        assert_eq!(renamed("s/a/b/g", "banana"), "bbnbnb");
        assert_eq!(renamed("s/A/b/gi", "bAnana"), "bbnbnb");
        assert_eq!(renamed("s/x/y/", "banana"), "banana");
        assert_eq!(renamed("s/^enc\\.//", "enc.enc.w"), "enc.w");
    }

    #[test]
    fn groups_are_put_back() {
        let rule = r"s/layer\.(\d+)\.(\w+)/h.\1.attn.$2/";
        assert_eq!(renamed(rule, "layer.10.q"), "h.10.attn.q");
        assert_eq!(renamed("s/w/[&]/", "w"), "[w]");
        assert_eq!(renamed(r"s/w/\&$\\/", "w"), r"&$\");
        assert_eq!(renamed("s/(a)|(b)/<$2>/", "a"), "<>");
    }

    #[test]
    fn any_letter_separates() {
        assert_eq!(renamed("s|enc/|dec/|", "enc/w"), "dec/w");
        assert_eq!(renamed(r"s/enc\/w/x\/y/", "enc/w"), "x/y");
        assert_eq!(renamed(r"s|a\|b|c|", "xa|b"), "xc");
        assert_eq!(renamed("s#重み#w#", "重み"), "w");
    }

    #[test]
    fn what_is_no_substitution_says_so() {
        for rule in ["", "s", "s/a", "s/a/b", "y/a/b/", "s/a/b/c/d", "sxaxbx"] {
            let why = Rename::parse(rule).unwrap_err();
            assert!(why.starts_with("a substitution such as"), "{rule} {why}");
        }
        assert_eq!(
            Rename::parse("s/a/b/x").unwrap_err(),
            "the flags are g and i, not 'x'"
        );
        assert_eq!(
            Rename::parse(r"s/(a)/\2/").unwrap_err(),
            "the pattern has no group 2"
        );
        assert!(
            Rename::parse("s/(/b/")
                .unwrap_err()
                .contains("unclosed group")
        );
    }
}
