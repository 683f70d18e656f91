//! Colors: few, and none that a meaning depends on.

use anstyle::{AnsiColor, Style};

/// Puts text in colors, or leaves it as it is.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Paint {
    pub(crate) is_on: bool,
}

impl Paint {
    /// A name: of a file, say.
    pub(crate) fn name(self, text: &str) -> String {
        self.with(Style::new().bold(), text)
    }

    /// What stands above a column.
    pub(crate) fn head(self, text: &str) -> String {
        self.with(Style::new().dimmed(), text)
    }

    /// What begins an error.
    pub(crate) fn error(self, text: &str) -> String {
        self.with(AnsiColor::Red.on_default().bold(), text)
    }

    /// What begins a note.
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
