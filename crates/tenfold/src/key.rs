//! What a tensor is called inside its file.

use std::fmt;

/// The name of a tensor: a path, and for a statistic the word that tells it from its owner.
///
/// A file that is its tensor has the empty key. A flat format has one segment, the raw name. A
/// tree has one segment a level.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The segments, outermost first.
    pub path: Vec<String>,
    /// For a statistic (an optimizer's moment, say): its name beside its owner's path.
    pub state: Option<String>,
}

impl Key {
    /// The key of a file that is its tensor.
    #[must_use]
    pub fn root() -> Self {
        Key::default()
    }

    /// The key of a tensor in a flat format.
    #[must_use]
    pub fn flat(name: impl Into<String>) -> Self {
        Key {
            path: vec![name.into()],
            state: None,
        }
    }

    /// The key of a tensor in a tree.
    #[must_use]
    pub fn tree(path: Vec<String>) -> Self {
        Key { path, state: None }
    }

    /// The key of a statistic of the tensor with this key.
    #[must_use]
    pub fn statistic(&self, name: impl Into<String>) -> Self {
        Key {
            path: self.path.clone(),
            state: Some(name.into()),
        }
    }

    /// The key that [`Display`](fmt::Display) shows as `text`: segments parted by `/`, a statistic
    /// after `@`, both escaped by a backslash where they are meant as letters.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        Key::split(text, '/')
    }

    /// The key whose segments [joined](Key::joined) by `separator` give `text`; a backslash before
    /// a letter that needs none is itself.
    #[must_use]
    pub fn split(text: &str, separator: char) -> Self {
        let mut key = Key::root();
        if text.is_empty() {
            return key;
        }
        key.path.push(String::new());
        let mut letters = text.chars().peekable();
        while let Some(letter) = letters.next() {
            let is_path = key.state.is_none();
            let part = match (&mut key.state, key.path.last_mut()) {
                (Some(state), _) => state,
                (None, Some(segment)) => segment,
                (None, None) => break,
            };
            match letter {
                '\\' => {
                    let escaped = letters.next_if(|next| is_special(*next, separator));
                    part.push(escaped.unwrap_or(letter));
                }
                _ if letter == separator && is_path => key.path.push(String::new()),
                '@' if is_path => key.state = Some(String::new()),
                letter => part.push(letter),
            }
        }
        if text.starts_with('@') {
            key.path.clear();
        }
        key
    }

    /// The one segment of a key without statistic, unescaped: a flat format's name.
    #[must_use]
    pub fn flat_name(&self) -> Option<&str> {
        match (self.path.as_slice(), &self.state) {
            ([name], None) => Some(name),
            _ => None,
        }
    }

    /// Whether this is the empty key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.path.is_empty() && self.state.is_none()
    }

    /// The segments joined by `separator`; a backslash escapes itself, the separator and `@`
    /// inside a segment, and the statistic follows `@`. No two keys give one text, but for the
    /// empty one and that of one empty segment.
    #[must_use]
    pub fn joined(&self, separator: char) -> String {
        let mut text = String::new();
        for (level, segment) in self.path.iter().enumerate() {
            if level > 0 {
                text.push(separator);
            }
            escape(segment, separator, &mut text);
        }
        if let Some(state) = &self.state {
            text.push('@');
            escape(state, separator, &mut text);
        }
        text
    }
}

/// Writes the key as [`Key::joined`] by `/` gives it.
impl fmt::Display for Key {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.joined('/'))
    }
}

fn escape(segment: &str, separator: char, text: &mut String) {
    for letter in segment.chars() {
        if is_special(letter, separator) {
            text.push('\\');
        }
        text.push(letter);
    }
}

/// Whether a letter is escaped where it is part of a name.
fn is_special(letter: char, separator: char) -> bool {
    matches!(letter, '\\' | '@') || letter == separator
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(path: &[&str]) -> Key {
        Key::tree(path.iter().map(|segment| (*segment).into()).collect())
    }

    #[test]
    fn a_flat_name_is_kept_raw() {
        assert_eq!(Key::flat("enc/w@1").flat_name(), Some("enc/w@1"));
        assert_eq!(Key::flat("enc/w@1").to_string(), r"enc\/w\@1");
    }

    #[test]
    fn a_path_escapes_its_separators() {
        assert_eq!(tree(&["a/b", "c@d", r"e\f"]).to_string(), r"a\/b/c\@d/e\\f");
    }

    #[test]
    fn a_statistic_follows_its_owner() {
        assert_eq!(
            tree(&["enc", "w"]).statistic("Adam.m1").to_string(),
            "enc/w@Adam.m1"
        );
        assert_eq!(Key::root().statistic("m").to_string(), "@m");
    }

    #[test]
    fn what_is_joined_is_split_again() {
        for path in [
            &["a/b", "c@d", r"e\f"][..],
            &["enc", "w"],
            &["enc.0", ""],
            &["", ""],
            &[r"\"],
            &[],
        ] {
            for key in [tree(path), tree(path).statistic("m@1/2")] {
                for separator in ['/', '.', '重'] {
                    let text = key.joined(separator);
                    assert_eq!(Key::split(&text, separator), key, "{text}");
                }
            }
        }
        assert_eq!(Key::split(r"a.b\", '.'), tree(&["a", r"b\"]));
    }

    #[test]
    fn what_is_shown_is_read_back() {
        let keys = [
            Key::root(),
            Key::root().statistic("m/@1"),
            Key::flat(r"enc/w@1\"),
            tree(&["a", "", "b@c"]),
            tree(&["", ""]),
            tree(&["enc", "w"]).statistic("Adam.m1"),
            tree(&["重み"]).statistic(""),
        ];
        for key in keys {
            assert_eq!(Key::parse(&key.to_string()), key, "{key}");
        }
    }

    #[test]
    fn a_backslash_before_any_other_letter_is_itself() {
        assert_eq!(Key::parse(r"a\b\"), Key::flat(r"a\b\"));
        assert_eq!(Key::parse("w@m@1/x"), Key::flat("w").statistic("m@1/x"));
    }
}
