//! Terminal colors: few, and never the only carrier of meaning.

use anstyle::{AnsiColor, Style};

/// Colors text, or leaves it plain.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Paint {
    pub(crate) is_on: bool,
}

impl Paint {
    /// A name, such as that of a file.
    pub(crate) fn name(self, text: &str) -> String {
        self.with(Style::new().bold(), text)
    }

    /// The header of a column.
    pub(crate) fn head(self, text: &str) -> String {
        self.with(Style::new().dimmed(), text)
    }

    /// The prefix of an error.
    pub(crate) fn error(self, text: &str) -> String {
        self.with(AnsiColor::Red.on_default().bold(), text)
    }

    /// The prefix of a note.
    pub(crate) fn note(self, text: &str) -> String {
        self.with(AnsiColor::Yellow.on_default(), text)
    }

    fn with(self, style: Style, text: &str) -> String {
        if self.is_on {
            format!("{style}{text}{style:#}")
        } else {
            text.into()
        }
    }
}
