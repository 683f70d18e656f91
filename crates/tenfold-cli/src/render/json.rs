//! Streaming JSON writer.

use std::fmt::{Display, Write};

use tenfold::{Number, Result, write_number};

use crate::terminal::Out;

/// Writes one JSON value after the other, and places the commas.
pub(crate) struct Json<'a> {
    out: &'a mut Out,
    needs_comma: bool,
}

impl<'a> Json<'a> {
    pub(crate) fn new(out: &'a mut Out) -> Json<'a> {
        Json {
            out,
            needs_comma: false,
        }
    }

    /// Writes an object; `body` writes its names and values.
    pub(crate) fn object(&mut self, body: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.within("{", body, "}")
    }

    /// Writes a list; `body` writes its items.
    pub(crate) fn list(&mut self, body: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.within("[", body, "]")
    }

    fn within(
        &mut self,
        open: &str,
        body: impl FnOnce(&mut Self) -> Result<()>,
        close: &str,
    ) -> Result<()> {
        self.separate()?;
        self.out.text(open)?;
        self.needs_comma = false;
        body(self)?;
        self.out.text(close)?;
        self.needs_comma = true;
        Ok(())
    }

    fn separate(&mut self) -> Result<()> {
        if self.needs_comma {
            self.out.text(",")?;
        }
        Ok(())
    }

    /// Writes a name; its value comes next.
    pub(crate) fn name(&mut self, name: &str) -> Result<&mut Self> {
        self.text(name)?;
        self.out.text(":")?;
        self.needs_comma = false;
        Ok(self)
    }

    /// Writes a string.
    pub(crate) fn text(&mut self, text: &str) -> Result<()> {
        self.raw(&quoted(text))
    }

    /// Writes a string, or null.
    pub(crate) fn text_or_null(&mut self, text: Option<&str>) -> Result<()> {
        match text {
            Some(text) => self.text(text),
            None => self.raw("null"),
        }
    }

    /// Writes a number or a boolean.
    pub(crate) fn number(&mut self, number: impl Display) -> Result<()> {
        self.raw(&number.to_string())
    }

    /// Writes a number, or null.
    pub(crate) fn number_or_null(&mut self, number: Option<impl Display>) -> Result<()> {
        match number {
            Some(number) => self.number(number),
            None => self.raw("null"),
        }
    }

    /// Writes a double: the shortest decimals that read back to it, or a string if it is not
    /// finite.
    pub(crate) fn float(&mut self, value: f64) -> Result<()> {
        let mut text = String::new();
        write_number(Number::F64, &value.to_le_bytes(), &mut text);
        self.raw(&text)
    }

    /// Writes a list of strings.
    pub(crate) fn texts<T: AsRef<str>>(
        &mut self,
        texts: impl IntoIterator<Item = T>,
    ) -> Result<()> {
        self.list(|json| {
            let mut texts = texts.into_iter();
            texts.try_for_each(|text| json.text(text.as_ref()))
        })
    }

    /// Writes a list of numbers.
    pub(crate) fn numbers<T: Display>(
        &mut self,
        numbers: impl IntoIterator<Item = T>,
    ) -> Result<()> {
        self.list(|json| {
            let mut numbers = numbers.into_iter();
            numbers.try_for_each(|number| json.number(number))
        })
    }

    /// Writes one or several comma-separated values that are already JSON.
    pub(crate) fn raw(&mut self, json: &str) -> Result<()> {
        self.separate()?;
        self.needs_comma = true;
        self.out.text(json)
    }

    /// Ends the line after a whole value.
    pub(crate) fn end_line(&mut self) -> Result<()> {
        self.needs_comma = false;
        self.out.text("\n")
    }
}

/// A JSON string that also escapes characters a terminal could act on.
pub(crate) fn quoted(text: &str) -> String {
    let escaped = serde_json::Value::from(text).to_string();
    let mut safe = String::with_capacity(escaped.len());
    for letter in escaped.chars() {
        if letter.is_control() {
            // Writing to a string cannot fail. The remaining ones below U+00A0 have four digits.
            let _ = write!(safe, "\\u{:04x}", u32::from(letter));
        } else {
            safe.push(letter);
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped_also_those_beyond_ascii() {
        assert_eq!(
            quoted("a\"b\\\n\u{1}\u{7f}\u{9b}é"),
            "\"a\\\"b\\\\\\n\\u0001\\u007f\\u009bé\""
        );
    }
}
