//! Keys: the names of tensors within a file.

use std::cmp::Ordering;
use std::fmt;

/// The name of a tensor: a path, and for a statistic its own name below that of its owner.
///
/// The tensor of a file with a single unnamed tensor has the empty key. In a flat format a key has
/// one segment, the raw name; in a tree, one segment per level.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    path: Path,
    /// For a statistic (an optimizer's moment, for example): its name below its owner's path.
    pub state: Option<String>,
}

impl Key {
    /// The empty key, of a single unnamed tensor.
    #[must_use]
    pub fn root() -> Self {
        Key::default()
    }

    /// The key of a tensor in a flat format.
    #[must_use]
    pub fn flat(name: impl Into<String>) -> Self {
        Key {
            path: Path::One(name.into()),
            state: None,
        }
    }

    /// The key of a tensor in a tree.
    #[must_use]
    pub fn tree(path: Vec<String>) -> Self {
        Key {
            path: path.into(),
            state: None,
        }
    }

    /// The segments, outermost first.
    #[must_use]
    pub fn path(&self) -> &[String] {
        self.path.segments()
    }

    /// The key of the tensor that this statistic belongs to; the key itself, if it is no
    /// statistic's.
    #[must_use]
    pub fn owner(&self) -> Self {
        Key {
            path: self.path.clone(),
            state: None,
        }
    }

    /// The key of a statistic of the tensor with this key.
    #[must_use]
    pub fn statistic(&self, name: impl Into<String>) -> Self {
        self.owner().with_state(Some(name.into()))
    }

    /// The same path, as a statistic or not.
    #[must_use]
    pub fn with_state(mut self, state: Option<String>) -> Self {
        self.state = state;
        self
    }

    /// Parses the text that [`Display`](fmt::Display) shows: segments separated by `/`, a statistic
    /// after `@`, both escaped by a backslash if they are meant literally.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        Key::split(text, '/')
    }

    /// Splits the text that [`joined`](Key::joined) gives with `separator`; a backslash before a
    /// character that needs none is literal.
    #[must_use]
    pub fn split(text: &str, separator: char) -> Self {
        if text.is_empty() {
            return Key::root();
        }
        let mut path = vec![String::new()];
        let mut state: Option<String> = None;
        let mut letters = text.chars().peekable();
        while let Some(letter) = letters.next() {
            let is_path = state.is_none();
            let part = match (&mut state, path.last_mut()) {
                (Some(state), _) => state,
                (None, Some(segment)) => segment,
                (None, None) => break,
            };
            match letter {
                '\\' => {
                    let escaped = letters.next_if(|next| is_special(*next, separator));
                    part.push(escaped.unwrap_or(letter));
                }
                _ if letter == separator && is_path => path.push(String::new()),
                '@' if is_path => state = Some(String::new()),
                letter => part.push(letter),
            }
        }
        if text.starts_with('@') {
            path.clear();
        }
        Key::tree(path).with_state(state)
    }

    /// The single segment of a key without statistic, unescaped: the name in a flat format.
    #[must_use]
    pub fn flat_name(&self) -> Option<&str> {
        match (self.path(), &self.state) {
            ([name], None) => Some(name),
            _ => None,
        }
    }

    /// Whether the key is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.path().is_empty() && self.state.is_none()
    }

    /// The segments joined by `separator`; a backslash escapes itself, the separator and `@` inside
    /// a segment, and the statistic follows `@`. Different keys give different texts, except for
    /// the empty key and that of one empty segment.
    #[must_use]
    pub fn joined(&self, separator: char) -> String {
        let mut text = String::new();
        for (level, segment) in self.path().iter().enumerate() {
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

/// The segments of a key, compactly: most keys have one, and a large file has many keys.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Path {
    One(String),
    /// None or several.
    Many(Box<[String]>),
}

impl Path {
    fn segments(&self) -> &[String] {
        match self {
            Path::One(segment) => std::slice::from_ref(segment),
            Path::Many(segments) => segments,
        }
    }
}

impl Ord for Path {
    fn cmp(&self, other: &Path) -> Ordering {
        self.segments().cmp(other.segments())
    }
}

impl PartialOrd for Path {
    fn partial_cmp(&self, other: &Path) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Default for Path {
    fn default() -> Path {
        Path::Many(Box::default())
    }
}

impl From<Vec<String>> for Path {
    fn from(mut segments: Vec<String>) -> Path {
        match segments.pop() {
            Some(only) if segments.is_empty() => Path::One(only),
            last => {
                segments.extend(last);
                Path::Many(segments.into())
            }
        }
    }
}

/// Displays the key as [`Key::joined`] by `/`.
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

/// Whether a character must be escaped within a name.
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
    fn keys_are_ordered_segment_by_segment() {
        let keys = [
            Key::root(),
            tree(&["a", "b"]),
            tree(&["a", "c"]),
            tree(&["b"]),
            tree(&["b", "a"]),
        ];
        assert!(keys.is_sorted());
        assert_eq!(tree(&["b"]), Key::flat("b"));
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
