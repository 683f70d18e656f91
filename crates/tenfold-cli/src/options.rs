//! Format options given by `--opt`.

use tenfold::{Error, Info, Options, Result, When, formats};

use crate::args::Reading;

/// Sorts all options of a line into those for reading as `source` and those for writing as `target`.
///
/// # Errors
/// [`Error::Invalid`] with all the options there are, if one of those given is not among them.
pub(crate) fn of(
    reading: &Reading,
    source: &Info,
    target: Option<&Info>,
) -> Result<(Options, Options)> {
    of_these(reading, &reading.options(), source, target)
}

/// The same if not all of `--opt` concerns these formats; `--raw` applies to the raw ones.
pub(crate) fn of_these(
    reading: &Reading,
    given: &[(String, String)],
    source: &Info,
    target: Option<&Info>,
) -> Result<(Options, Options)> {
    let (mut from, mut to) = split(given, source, target)?;
    let is_raw = |info: &Info| {
        formats::ONLY_NAMED
            .iter()
            .any(|raw| raw.info().name == info.name)
    };
    let sides = [
        (&reading.meaning.input, Some(source), &mut from),
        (&reading.meaning.output, target, &mut to),
    ];
    for (said, info, options) in sides {
        for (name, value) in said.iter().flat_map(|said| &said.0) {
            if info.is_some_and(is_raw) {
                options.set(name, value);
            }
        }
    }
    Ok((from, to))
}

/// Sorts the given options into those for reading as `source` and those for writing as `target`.
///
/// # Errors
/// [`Error::Invalid`] with all the options there are, if one of those given is not among them.
fn split(
    given: &[(String, String)],
    source: &Info,
    target: Option<&Info>,
) -> Result<(Options, Options)> {
    let mut reading = Options::default();
    let mut writing = Options::default();
    for (name, value) in given {
        let is_read = has(source, name, When::Read);
        let is_written = target.is_some_and(|target| has(target, name, When::Write));
        if is_read {
            reading.set(name, value);
        }
        if is_written {
            writing.set(name, value);
        }
        if !is_read && !is_written {
            return Err(unknown(name, source, target));
        }
    }
    Ok((reading, writing))
}

/// Whether a format has an option.
pub(crate) fn has(info: &Info, name: &str, when: When) -> bool {
    info.options
        .iter()
        .any(|option| option.name == name && option.when == when)
}

fn unknown(name: &str, source: &Info, target: Option<&Info>) -> Error {
    let reading = listed(source, When::Read, "reading");
    let writing = target.and_then(|target| listed(target, When::Write, "writing"));
    let known: Vec<String> = reading.into_iter().chain(writing).collect();
    let known = if known.is_empty() {
        format!("{} has none here", source.name)
    } else {
        known.join("; ")
    };
    Error::Invalid(format!("no option is called {name}: {known}"))
}

/// The options of a format for reading or writing, such as `tens knows ieee-endian=little|big for
/// reading`.
fn listed(info: &Info, when: When, verb: &str) -> Option<String> {
    let options: Vec<String> = info
        .options
        .iter()
        .filter(|option| option.when == when)
        .map(|option| format!("{}={}", option.name, option.values))
        .collect();
    (!options.is_empty()).then(|| format!("{} knows {} for {verb}", info.name, options.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::MADE_UP;

    fn given(names: &[&str]) -> Vec<(String, String)> {
        names
            .iter()
            .map(|name| ((*name).into(), "x".into()))
            .collect()
    }

    #[test]
    fn each_option_goes_where_it_counts() {
        let (reading, writing) =
            split(&given(&["endian", "level"]), &MADE_UP, Some(&MADE_UP)).unwrap();
        assert_eq!(
            (reading.get("endian"), reading.get("level")),
            (Some("x"), None)
        );
        assert_eq!(
            (writing.get("endian"), writing.get("level")),
            (None, Some("x"))
        );
    }

    #[test]
    fn an_option_for_writing_is_unknown_where_nothing_is_written() {
        let error = split(&given(&["level"]), &MADE_UP, None).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no option is called level: made-up knows endian=little|big for reading"
        );
    }

    #[test]
    fn an_unknown_option_lists_the_known_ones() {
        let error = split(&given(&["speed"]), &MADE_UP, Some(&MADE_UP)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no option is called speed: made-up knows endian=little|big for reading; \
             made-up knows level=1 to 22 for writing"
        );
    }
}
