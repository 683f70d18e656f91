//! The picture of the demo in the README: a terminal session as SVG.

use std::fmt::Write;

use crate::command::{cargo, root, run};

/// The path of the picture.
const PICTURE: &str = "docs/demo.svg";

/// The width of the terminal.
const COLUMNS: usize = 120;

/// Runs the demo and draws its output.
pub(crate) fn draw() -> Result<(), String> {
    run(cargo(&["build", "--release", "--package", "tenfold-cli"]))?;
    let said = |error: std::io::Error| error.to_string();
    let folder = root().join("target/picture");
    match std::fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(said(error)),
        _ => std::fs::create_dir_all(&folder).map_err(said)?,
    }
    // Messages and data share one stream, as on a terminal.
    let output = std::process::Command::new("sh")
        .args(["-c", "exec \"$0\" demo --color always 2>&1"])
        .arg(root().join("target/release/tenfold"))
        .current_dir(&folder)
        .output()
        .map_err(said)?;
    if !output.status.success() {
        return Err(format!("the demo failed, {}", output.status));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    std::fs::write(root().join(PICTURE), svg(&text)).map_err(said)
}

/// The style of a text span.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Look {
    is_bold: bool,
    is_dim: bool,
    colour: Option<&'static str>,
}

impl Look {
    /// Applies one number of a "select graphic rendition" sequence.
    fn apply(&mut self, code: u8) {
        match code {
            0 => *self = Look::default(),
            1 => self.is_bold = true,
            2 => self.is_dim = true,
            22 => (self.is_bold, self.is_dim) = (false, false),
            31 | 91 => self.colour = Some("#ff7b72"),
            32 | 92 => self.colour = Some("#7ee787"),
            33 | 93 => self.colour = Some("#e3b341"),
            34 | 94 => self.colour = Some("#79c0ff"),
            35 | 95 => self.colour = Some("#d2a8ff"),
            36 | 96 => self.colour = Some("#56d4dd"),
            39 => self.colour = None,
            _ => {}
        }
    }

    fn attributes(self) -> String {
        let mut attributes = String::new();
        if self.is_bold {
            attributes.push_str(" font-weight=\"bold\"");
        }
        if let Some(colour) = self.colour.or(self.is_dim.then_some("#8b949e")) {
            attributes.push_str(&format!(" fill=\"{colour}\""));
        }
        attributes
    }
}

/// Splits a line into spans of one style, removing the escape sequences.
fn stretches(line: &str, look: &mut Look) -> Vec<(Look, String)> {
    let mut found: Vec<(Look, String)> = Vec::new();
    let mut parts = line.split("\u{1b}[");
    let mut add = |look: Look, text: &str| match found.last_mut() {
        Some((last, so_far)) if *last == look => so_far.push_str(text),
        _ if text.is_empty() => {}
        _ => found.push((look, text.to_owned())),
    };
    add(*look, parts.next().unwrap_or_default());
    for part in parts {
        let (codes, text) = part.split_once('m').unwrap_or(("", part));
        let codes = codes.split(';').map(|code| code.parse().unwrap_or(0));
        codes.for_each(|code| look.apply(code));
        add(*look, text);
    }
    found
}

/// Wraps a line at the terminal width.
fn wrapped(line: Vec<(Look, String)>) -> Vec<Vec<(Look, String)>> {
    let (mut lines, mut room) = (vec![Vec::new()], COLUMNS);
    for (look, text) in line {
        for letter in text.chars() {
            if room == 0 {
                lines.push(Vec::new());
                room = COLUMNS;
            }
            room -= 1;
            let Some(last) = lines.last_mut() else {
                continue;
            };
            match last.last_mut() {
                Some((same, so_far)) if *same == look => String::push(so_far, letter),
                _ => last.push((look, letter.into())),
            }
        }
    }
    lines
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Draws text with escape sequences as a terminal would.
fn svg(text: &str) -> String {
    const LINE: usize = 18;
    const LETTER: usize = 8;
    const MARGIN: usize = 16;
    let mut look = Look::default();
    let lines: Vec<Vec<(Look, String)>> = text
        .lines()
        .flat_map(|line| wrapped(stretches(line, &mut look)))
        .collect();
    let letters = |line: &Vec<(Look, String)>| -> usize {
        line.iter().map(|(_, text)| text.chars().count()).sum()
    };
    let widest = lines.iter().map(letters).max().unwrap_or(0);
    let width = widest * LETTER + 2 * MARGIN;
    let height = lines.len() * LINE + 2 * MARGIN;
    let mut drawn = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"tenfold demo in a terminal\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#0d1117\"/>\n\
         <g font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" \
         font-size=\"13\" fill=\"#e6edf3\" xml:space=\"preserve\">\n"
    );
    for (number, line) in lines.iter().enumerate() {
        let (y, letters) = (MARGIN + (number + 1) * LINE - 5, letters(line));
        if letters == 0 {
            continue;
        }
        // The explicit length keeps columns aligned in any font.
        let length = letters * LETTER;
        let _ = write!(
            drawn,
            "<text x=\"{MARGIN}\" y=\"{y}\" textLength=\"{length}\">"
        );
        for (look, text) in line {
            let _ = write!(
                drawn,
                "<tspan{}>{}</tspan>",
                look.attributes(),
                escaped(text)
            );
        }
        drawn.push_str("</text>\n");
    }
    drawn.push_str("</g>\n</svg>\n");
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_become_looks() {
        let mut look = Look::default();
        let found = stretches("a\u{1b}[1;31mb\u{1b}[0mc", &mut look);
        let texts: Vec<&str> = found.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(texts, ["a", "b", "c"]);
        assert_eq!(
            found[1].0.attributes(),
            " font-weight=\"bold\" fill=\"#ff7b72\""
        );
        assert_eq!(look, Look::default());
    }

    #[test]
    fn long_lines_are_broken() {
        let look = Look::default();
        let lines = wrapped(vec![(look, "x".repeat(COLUMNS + 1))]);
        assert_eq!(lines[1], [(look, "x".to_owned())]);
        assert_eq!(wrapped(Vec::new()).len(), 1);
    }

    #[test]
    fn text_cannot_break_out_of_the_picture() {
        assert!(svg("<script>&").contains("&lt;script&gt;&amp;"));
    }
}
