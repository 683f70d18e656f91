//! Text from files, sanitized for a terminal.

/// Escapes characters that could move the cursor or reorder text: control characters, line
/// separators and bidirectional controls.
pub(crate) fn plain(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_control(letter) {
            safe.extend(letter.escape_default());
        } else {
            safe.push(letter);
        }
    }
    safe
}

fn is_control(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped_and_letters_are_not() {
        assert_eq!(
            plain("a\n\t\u{1b}[31m\u{9b}K"),
            "a\\n\\t\\u{1b}[31m\\u{9b}K"
        );
        assert_eq!(plain("right\u{202e}tfel"), "right\\u{202e}tfel");
        assert_eq!(plain("Größe 大きさ \\n"), "Größe 大きさ \\n");
    }
}
