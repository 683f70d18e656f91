//! Values of `--opt`: one or several format options.

/// Options in order, each a name and a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyValues(pub(crate) Vec<(String, String)>);

/// Reads `KEY=VALUE[,KEY=VALUE]`. A comma separates two options only if a name and `=` follow it,
/// outside brackets and quotes: tensor types contain commas. `@FILE` stands for the content of a
/// file.
pub(crate) fn given(text: &str) -> Result<KeyValues, String> {
    parted(text)
        .into_iter()
        .map(option)
        .collect::<Result<_, _>>()
        .map(KeyValues)
}

fn parted(text: &str) -> Vec<&str> {
    let (mut depth, mut quote, mut start) = (0_usize, None, 0);
    let mut parts = Vec::new();
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(letter),
            (None, '(' | '[' | '{') => depth = depth.saturating_add(1),
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                let rest = text.get(at.saturating_add(1)..).unwrap_or_default();
                if begins_option(rest) {
                    parts.push(text.get(start..at).unwrap_or_default());
                    start = at.saturating_add(1);
                }
            }
            _ => {}
        }
    }
    parts.push(text.get(start..).unwrap_or_default());
    parts
}

fn begins_option(text: &str) -> bool {
    let is_name = |name: &str| {
        let is_fine = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
        !name.is_empty() && name.chars().all(is_fine)
    };
    text.split_once('=').is_some_and(|(name, _)| is_name(name))
}

fn option(text: &str) -> Result<(String, String), String> {
    let (name, value) = super::option(text)?;
    let quoted = ['"', '\''].iter().find_map(|quote| {
        let inside = value.strip_prefix(*quote)?.strip_suffix(*quote)?;
        Some(inside)
    });
    let value = match (quoted, value.strip_prefix('@')) {
        (Some(inside), _) => inside.to_owned(),
        (None, Some(file)) => {
            std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?
        }
        (None, None) => value,
    };
    Ok((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(String, String)> {
        given(text).unwrap().0
    }

    #[test]
    fn options_are_parted_outside_of_brackets_and_quotes() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            pairs("schema=doc,type=tensor<int8>(a{},x[2]),hex=true"),
            [
                pair("schema", "doc"),
                pair("type", "tensor<int8>(a{},x[2])"),
                pair("hex", "true")
            ]
        );
        assert_eq!(pairs("a=1,2,b=3"), [pair("a", "1,2"), pair("b", "3")]);
        assert_eq!(
            pairs("a='x,b=1',c=\"@d\""),
            [pair("a", "x,b=1"), pair("c", "@d")]
        );
        assert_eq!(given("nothing"), Err("an option is KEY=VALUE".into()));
    }

    #[test]
    fn a_value_can_come_from_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ids");
        std::fs::write(&file, "a\nb,c=d\n").unwrap();
        let text = format!("ids=@{},x=1", file.display());
        assert_eq!(pairs(&text)[0], ("ids".to_owned(), "a\nb,c=d\n".to_owned()));
        assert!(
            given("ids=@/nowhere/ids")
                .unwrap_err()
                .starts_with("/nowhere/ids: ")
        );
    }
}
