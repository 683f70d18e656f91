//! `docs/formats.md` is made from the registry and from conversions; this keeps it true.
//!
//! `UPDATE_DOCS=1 cargo test -p tenfold --test it pages` writes it anew.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use tenfold::{Arity, Aspect, Capabilities, DimNames, Info, Names, SidecarSlot, StorageKind, When};

use crate::matrix::{Cell, cell, sources};
use crate::support::{project, targets};

const INTRO: &str = "\
# Formats

This page is made from the formats' own descriptions and from conversions that were run:
`UPDATE_DOCS=1 cargo test -p tenfold --test it pages` writes it anew, and the same test without the
variable fails when it is out of date. `tenfold formats NAME` shows the same on the command line.

## What each holds
";

const MATRIX: &str = "
## What becomes of a conversion

One or two files of every format (rows) written as every other (columns). The words:

- **exact**: everything comes back, and nothing is said.
- *carried*: the target has no word for it, but keeps it as text that Tenfold reads again
  ([carried.md](carried.md)); no loss, and nothing is said.
- *said*: all values survive, and a line says what does not; `--strict` refuses it.
- *refused*: nothing is written until `--allow` names these, and then just these are lost.
- *never*: the target has no way to express it, whatever is permitted.

The order of values in memory, the byte order, the order of tensors and of labelled blocks, and dropping the
dimension names `a`, `b`, `c`, … are no losses and not mentioned.
";

fn formats() -> impl Iterator<Item = &'static Info> {
    tenfold::formats::named().map(|format| format.info())
}

/// What there is to know about every format, and about versions that hold other things.
fn columns() -> impl Iterator<Item = &'static Info> {
    let formats = tenfold::formats::named();
    let all =
        formats.flat_map(|format| std::iter::once(format).chain(format.versions().iter().copied()));
    all.map(|format| format.info())
}

/// The same, of those that are written.
fn written() -> impl Iterator<Item = &'static Info> {
    targets().into_iter().map(|format| format.info())
}

/// The name of a format as it is asked for.
fn label(info: &Info) -> String {
    if formats().any(|other| std::ptr::eq(other, info)) {
        format!("**{}**", info.name)
    } else {
        format!("**{}@{}**", info.name, info.versions.join(""))
    }
}

fn listed(words: impl IntoIterator<Item = impl Into<String>>) -> String {
    let words: Vec<String> = words.into_iter().map(Into::into).collect();
    words.join(", ")
}

fn row(head: &str, cells: impl Iterator<Item = String>) -> String {
    let cells: Vec<String> = cells.collect();
    format!("| {head} | {} |\n", cells.join(" | "))
}

/// What a format holds, a line each.
fn holdings() -> String {
    let mut text = row("", columns().map(label));
    text += &row("---", columns().map(|_| "---".into()));
    let mut line = |head: &str, of: &dyn Fn(&Info) -> String| text += &row(head, columns().map(of));
    line("files", &|info| {
        listed(info.extensions.iter().map(|name| format!("`.{name}`")))
    });
    line("versions", &|info| {
        let read = info.only_read.iter().map(|name| format!("{name} (read)"));
        listed(info.versions.iter().map(|name| (*name).into()).chain(read))
    });
    line("tensors", &|info| tensors(info.holds.names).into());
    line("storage", &|info| {
        listed(info.holds.kinds.iter().map(|kind| storage(*kind)))
    });
    line("numbers", &|info| {
        listed(info.holds.numbers.iter().map(|number| number.as_str()))
    });
    line("elements", &|info| {
        listed(info.holds.arities.iter().map(|arity| element(*arity)))
    });
    line("dimensions", &|info| range(info.holds.ndim));
    line("sizes", &|info| range(info.holds.size));
    line("names of dimensions", &|info| {
        names(info.holds.dim_names).into()
    });
    line("symmetries", &|info| yes(info.holds.symmetry));
    line("statistics", &|info| yes(info.holds.state));
    line("metadata", &|info| metadata(&info.holds).into());
    line("carries", &|info| carries(info.holds.carries).into());
    text
}

fn tensors(names: Names) -> &'static str {
    match names {
        Names::One => "one, without a name",
        Names::Flat => "any number, by name",
        Names::Tree => "any number, by path",
    }
}

fn storage(kind: StorageKind) -> &'static str {
    match kind {
        StorageKind::Dense => "dense",
        StorageKind::Sparse => "sparse",
        StorageKind::Labelled => "labelled blocks",
        StorageKind::Train => "trains",
        StorageKind::Opaque => "bytes it cannot read",
    }
}

fn element(arity: Arity) -> &'static str {
    match arity {
        Arity::Real => "real",
        Arity::Complex => "complex",
        Arity::Quaternion => "quaternions",
        Arity::Octonion => "octonions",
    }
}

fn names(names: DimNames) -> &'static str {
    match names {
        DimNames::No => "no",
        DimNames::Batch => "`batch`, for the last",
        DimNames::Letter => "one byte each",
        DimNames::Required => "any, and each has one",
        DimNames::Any => "any",
    }
}

fn metadata(holds: &Capabilities) -> &'static str {
    match (holds.meta.file, holds.meta.tensor) {
        (true, true) => "of the file and of tensors",
        (true, false) => "of the file",
        (false, true) => "of tensors",
        (false, false) => "no",
    }
}

fn carries(carries: SidecarSlot) -> &'static str {
    match carries {
        SidecarSlot::No => "no",
        SidecarSlot::Tensor => "with each tensor",
        SidecarSlot::File => "with the file",
        SidecarSlot::Comment => "in a comment of the file",
    }
}

fn yes(truth: bool) -> String {
    if truth { "yes" } else { "no" }.into()
}

fn range((least, most): (u64, u64)) -> String {
    match most {
        u64::MAX => format!("from {least}"),
        most if (most + 1).is_power_of_two() && most > 255 => {
            format!("{least} to 2^{} − 1", (most + 1).ilog2())
        }
        most => format!("{least} to {most}"),
    }
}

fn matrix() -> String {
    let mut text = row("from \\ to", written().map(label));
    text += &row("---", written().map(|_| "---".into()));
    for sample in sources() {
        let head = format!("**{}**, {}", sample.format, sample.title);
        let cells = targets().into_iter();
        text += &row(
            &head,
            cells.map(|target| in_words(&cell(&sample.bundle, target))),
        );
    }
    text
}

fn in_words(cell: &Cell) -> String {
    let parts = [
        ("never", &cell.impossible),
        ("refused", &cell.refused),
        ("said", &cell.said),
        ("carried", &cell.carried),
    ];
    let words = |aspects: &BTreeSet<Aspect>| listed(aspects.iter().map(|aspect| aspect.as_str()));
    let found = parts.iter().filter(|(_, aspects)| !aspects.is_empty());
    let found: Vec<String> = found
        .map(|(word, aspects)| format!("*{word}* {}", words(aspects)))
        .collect();
    match found.as_slice() {
        [] => "**exact**".into(),
        // What is permitted makes no difference then.
        [first, ..] if !cell.impossible.is_empty() => first.clone(),
        found => found.join("<br>"),
    }
}

fn section(info: &Info) -> String {
    let mut text = format!("\n### {}\n\n{}.\n", info.name, capital(info.title));
    let holds = &info.holds;
    let _ = writeln!(
        text,
        "A file holds {} ({}), {}.",
        match holds.names {
            Names::One => "one tensor without a name",
            Names::Flat => "any number of tensors by name",
            Names::Tree => "any number of tensors by path",
        },
        listed(holds.kinds.iter().map(|kind| storage(*kind))),
        if info.is_written() {
            format!("written in version {}", versions(info.versions))
        } else {
            format!("read as {}, and never written", info.only_read.join(" or "))
        },
    );
    for version in info.only_read.iter().filter(|_| info.is_written()) {
        let _ = writeln!(text, "Version {version} is read, not written.");
    }
    if info.options.is_empty() {
        return text + "It has no options.\n";
    }
    text += "\n| option | when | what it does |\n| --- | --- | --- |\n";
    for option in info.options {
        let when = match option.when {
            When::Read => "reading",
            When::Write => "writing",
        };
        let values = option.values.replace('|', "\\|");
        let _ = writeln!(
            text,
            "| `--opt {}={values}` | {when} | {} |",
            option.name, option.about
        );
    }
    text
}

/// The default, and what can be asked for.
fn versions(versions: &[&str]) -> String {
    match versions {
        [first, others @ ..] if !others.is_empty() => {
            format!("{first}, or {} when asked", others.join(" or "))
        }
        all => all.join(""),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters
        .next()
        .map(|letter| letter.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

#[test]
fn the_page_about_formats_is_up_to_date() {
    let mut page = format!(
        "{INTRO}\n{}{MATRIX}\n{}\n## Each format\n",
        holdings(),
        matrix()
    );
    for info in formats() {
        page += &section(info);
    }
    let path = project().join("docs/formats.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == page,
        "docs/formats.md is out of date: UPDATE_DOCS=1 cargo test -p tenfold --test it pages"
    );
}
