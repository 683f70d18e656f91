//! Comments before the numbers: those of other programs, and the metadata that a conversion stores
//! in them.
#![deny(clippy::arithmetic_side_effects)]

use super::{Line, Lines};
use crate::error::{Error, Result};
use crate::io::Sink;
use crate::memory;
use crate::meta::{Meta, Value};

/// A format's comment syntax, and the name of comments among its metadata or hints.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CommentStyle {
    /// The comment marker.
    pub(crate) mark: &'static str,
    /// The name of other programs' comments, as one text.
    pub(crate) name: &'static str,
}

/// The name of the carried metadata.
const CARRIED: &str = "tenfold";
/// The beginning of a comment with carried metadata.
const CARRIED_LINE: &str = "tenfold:";
/// Most bytes of carried metadata on one line.
const PART: usize = 1000;

/// The comments before the numbers.
#[derive(Debug, Default)]
pub(crate) struct Comments {
    /// Other programs' comments, as one text; a single one may be empty.
    pub(crate) text: Option<Vec<u8>>,
    /// The metadata that a conversion carried.
    carried: Vec<u8>,
}

impl Comments {
    /// Reads comments and blank lines; `take`, called with a comment and its line, says whether it
    /// has used the comment.
    pub(crate) fn read(
        lines: &mut Lines,
        style: CommentStyle,
        mut take: impl FnMut(&Line, &[u8]) -> Result<bool>,
    ) -> Result<Comments> {
        let mut comments = Comments::default();
        let limits = lines.limits();
        loop {
            let at = lines.at();
            let Some(line) = lines.next()? else {
                return Ok(comments);
            };
            if line.is_blank() {
                continue;
            }
            let Some(said) = line.bare().strip_prefix(style.mark.as_bytes()) else {
                lines.back_to(at);
                return Ok(comments);
            };
            if let Some(part) = said.strip_prefix(CARRIED_LINE.as_bytes()) {
                limits.charge_items::<u8>(part.len())?;
                memory::append(&mut comments.carried, part)?;
                continue;
            }
            if take(&line, said)? {
                continue;
            }
            limits.charge_items::<u8>(said.len().saturating_add(1))?;
            match &mut comments.text {
                None => comments.text = Some(memory::copied(said)?),
                Some(text) => {
                    memory::push(text, b'\n')?;
                    memory::append(text, said)?;
                }
            }
        }
    }

    /// Turns comments with text into metadata, and empty ones into a hint.
    pub(crate) fn keep(self, style: CommentStyle, meta: &mut Meta, hints: &mut Meta) {
        let value = |text: Vec<u8>| match String::from_utf8(text) {
            Ok(text) => Value::Text(text),
            Err(error) => Value::Bytes(error.into_bytes()),
        };
        match self.text {
            Some(text) if text.trim_ascii().is_empty() => hints.set(style.name, value(text)),
            Some(text) => meta.set(style.name, value(text)),
            None => {}
        }
        if !self.carried.is_empty() {
            meta.set(CARRIED, value(self.carried));
        }
    }
}

/// Writes the carried metadata, in lines short enough for every reader; then the other comments.
pub(crate) fn write_comments(
    style: CommentStyle,
    meta: &Meta,
    hints: &Meta,
    out: &mut Sink,
) -> Result<()> {
    let mark = style.mark;
    let mut carried = meta.text(CARRIED).unwrap_or_default();
    while !carried.is_empty() {
        let end = carried.char_indices().find(|(at, _)| *at >= PART);
        let (part, rest) = carried.split_at(end.map_or(carried.len(), |(at, _)| at));
        out.write(format!("{mark}{CARRIED_LINE}{part}\n").as_bytes())?;
        carried = rest;
    }
    let Some(comments) = meta.get(style.name).or(hints.get(style.name)) else {
        return Ok(());
    };
    let Some(text) = comment_text(comments) else {
        return Err(Error::invalid(format!("{} are a text", style.name)));
    };
    for line in text.split(|byte| *byte == b'\n') {
        out.write(mark.as_bytes())?;
        out.write(line)?;
        out.write(b"\n")?;
    }
    Ok(())
}

/// The text of comments, if the value is a text.
pub(crate) fn comment_text(comments: &Value) -> Option<&[u8]> {
    match comments {
        Value::Text(text) => Some(text.as_bytes()),
        Value::Bytes(bytes) => Some(bytes),
        _ => None,
    }
}
