//! `--rename`: names changed by a rule such as `s/^model\.//`.

use std::collections::HashMap;

use regex::{Regex, RegexBuilder};
use tenfold::{Bundle, Info, Key, Names};

use crate::failure::Failure;
use crate::render::shown_name;
use crate::select;

/// A rule in the manner of sed: `s/PATTERN/NEW/FLAGS`, with any letter for the slash.
#[derive(Debug, Clone)]
pub(crate) struct Rename {
    /// As it was given.
    text: String,
    pattern: Regex,
    new: String,
    is_global: bool,
}

impl Rename {
    /// Reads a rule.
    pub(crate) fn parse(text: &str) -> Result<Rename, String> {
        let wanted = || "a rule such as s/old/new/ is wanted, with g or i after it".to_owned();
        let mut letters = text.strip_prefix('s').ok_or_else(wanted)?.chars();
        let mark = letters.next().ok_or_else(wanted)?;
        if mark.is_alphanumeric() || mark == '\\' || mark.is_whitespace() {
            return Err(wanted());
        }
        let parts = split(letters.as_str(), mark);
        let [pattern, new, flags] = parts.as_slice() else {
            return Err(wanted());
        };
        if let Some(flag) = flags.chars().find(|flag| !matches!(flag, 'g' | 'i')) {
            return Err(format!("{flag:?} is no flag; g and i are"));
        }
        let pattern = RegexBuilder::new(pattern)
            .case_insensitive(flags.contains('i'))
            .build()
            .map_err(|error| error.to_string())?;
        let new = template(new, &pattern)?;
        Ok(Rename {
            text: text.into(),
            pattern,
            new,
            is_global: flags.contains('g'),
        })
    }

    fn apply(&self, name: &str) -> String {
        let n_times = if self.is_global { 0 } else { 1 };
        let renamed = self.pattern.replacen(name, n_times, self.new.as_str());
        renamed.into_owned()
    }
}

/// Cuts a rule at its marks; a mark after a backslash is itself.
fn split(text: &str, mark: char) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter == mark {
            parts.push(String::new());
            continue;
        }
        let Some(part) = parts.last_mut() else { break };
        match letter {
            '\\' => match letters.next() {
                Some(next) if next == mark => part.push(mark),
                next => part.extend(['\\'].into_iter().chain(next)),
            },
            letter => part.push(letter),
        }
    }
    parts
}

/// The new text in the regex crate's words: `\1`, `$1` and `&` are what was found.
fn template(new: &str, pattern: &Regex) -> Result<String, String> {
    let mut text = String::new();
    let mut letters = new.chars().peekable();
    while let Some(letter) = letters.next() {
        let mut group = String::new();
        match letter {
            '&' => group.push('0'),
            '\\' => match letters.next() {
                Some(digit) if digit.is_ascii_digit() => group.push(digit),
                Some(other) => push(other, &mut text),
                None => push('\\', &mut text),
            },
            '$' if letters.next_if_eq(&'{').is_some() => {
                group.extend(letters.by_ref().take_while(|letter| *letter != '}'));
            }
            '$' if letters.next_if_eq(&'$').is_some() => push('$', &mut text),
            '$' => {
                while let Some(digit) = letters.next_if(char::is_ascii_digit) {
                    group.push(digit);
                }
                if group.is_empty() {
                    push('$', &mut text);
                }
            }
            letter => push(letter, &mut text),
        }
        if group.is_empty() {
            continue;
        }
        let is_known = match group.parse::<usize>() {
            Ok(number) => number < pattern.captures_len(),
            Err(_) => pattern.capture_names().flatten().any(|name| name == group),
        };
        if !is_known {
            return Err(format!("the pattern has no group {group}"));
        }
        text.push_str(&format!("${{{group}}}"));
    }
    Ok(text)
}

/// Adds a letter that stands for itself.
fn push(letter: char, text: &mut String) {
    match letter {
        '$' => text.push_str("$$"),
        letter => text.push(letter),
    }
}

/// Gives all tensors the names that the rules make of theirs, one rule after the other. A new name
/// is a path if the tensors are in a tree, or will be.
pub(crate) fn rename(
    bundle: &mut Bundle,
    info: &Info,
    target: &Info,
    rules: &[Rename],
) -> Result<(), Failure> {
    let is_tree = [info, target]
        .iter()
        .any(|info| info.holds.names == Names::Tree);
    let named = |name: String| match is_tree || name.is_empty() {
        true => Key::parse(&name),
        false => Key::flat(name),
    };
    for rule in rules {
        let names = select::names(bundle, info);
        if !names.iter().any(|name| rule.pattern.is_match(name)) {
            let (rule, nearest) = (&rule.text, select::nearest("", &names));
            return Err(Failure::usage(format!(
                "--rename {rule:?} matches no name; there are {nearest}"
            )));
        }
        let new = |key: &Key| {
            let name = shown_name(info, key);
            match rule.apply(&name) {
                renamed if renamed == name => key.clone(),
                renamed => named(renamed),
            }
        };
        refuse_collisions(bundle, info, &new, &rule.text)?;
        bundle.rename(new);
    }
    Ok(())
}

fn refuse_collisions(
    bundle: &Bundle,
    info: &Info,
    new: &dyn Fn(&Key) -> Key,
    rule: &str,
) -> Result<(), Failure> {
    let mut owners: HashMap<Key, &Key> = HashMap::new();
    for (key, _) in bundle.entries() {
        let renamed = new(key);
        let shown = shown_name(info, &renamed);
        let first = *owners.entry(renamed).or_insert(key);
        if first != key {
            let (first, second) = (shown_name(info, first), shown_name(info, key));
            return Err(Failure::usage(format!(
                "--rename {rule:?} gives {first:?} and {second:?} one name, {shown:?}"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn renamed(rule: &str, name: &str) -> String {
        Rename::parse(rule).unwrap().apply(name)
    }

    #[test]
    fn rules_are_sed_s() {
        for (rule, name, new) in [
            ("s/^model\\.//", "model.enc.w", "enc.w"),
            ("s/e/E/", "e.e", "E.e"),
            ("s/e/E/g", "e.e", "E.E"),
            ("s/ENC/dec/i", "enc.w", "dec.w"),
            ("s|/|.|g", "a/b/c", "a.b.c"),
            ("s/\\//./g", "a/b/c", "a.b.c"),
            (r"s/(\w+)\.(\w+)/\2_\1/", "enc.w", "w_enc"),
            (r"s/(\w+)\.(\w+)/$2x$1/", "enc.w", "wxenc"),
            (r"s/(?<part>\w+)\.w/${part}.weight/", "enc.w", "enc.weight"),
            ("s/w/<&>/", "w", "<w>"),
            (r"s/w/\&$$\\/", "w", r"&$\"),
            ("s/w/$/", "w", "$"),
            ("s,a,b,", "a", "b"),
            ("s/w//", "w", ""),
        ] {
            assert_eq!(renamed(rule, name), new, "{rule}");
        }
    }

    #[test]
    fn what_is_no_rule_says_why() {
        let wanted = "a rule such as s/old/new/ is wanted, with g or i after it";
        for (rule, why) in [
            ("", wanted),
            ("s", wanted),
            ("s/a", wanted),
            ("s/a/b", wanted),
            ("s/a/b/c/d", wanted),
            ("saabaa", wanted),
            ("s/a/b/x", "'x' is no flag; g and i are"),
            ("s/a/\\1/", "the pattern has no group 1"),
            ("s/a/${b}/", "the pattern has no group b"),
        ] {
            assert_eq!(Rename::parse(rule).unwrap_err(), why, "{rule}");
        }
        assert!(Rename::parse("s/(/b/").is_err());
    }
}
