//! Differences as text.

use std::cmp::Ordering;

use tenfold::{Basis, Blocks, DType, Measures, Result, Value, Worst};

use super::meta::MetaChange;
use super::{Report, Row, Side};
use crate::commands::Diff;
use crate::render::{element, elements, name_text, short_value};
use crate::terminal::{Out, Row as Line, Table, counted, plain, shape_text};

/// Number of tensors listed by default; `--top` changes it.
const TOP: usize = 20;

/// Orders the list: mismatched shapes first, then non-finite values, then by relative change.
pub(super) fn by_change(a: &Row, b: &Row) -> Ordering {
    let rank = |row: &Row| match &row.found.measures {
        None if row.found.basis == Basis::Nothing => (0, f64::INFINITY),
        None if row.found.basis == Basis::Bytes => (1, f64::INFINITY),
        None => (4, 0.0),
        Some(measures) if not_finite(measures).is_some() => (2, measures.relative_norm),
        Some(measures) => (3, measures.relative_norm),
    };
    let ((a_kind, a_change), (b_kind, b_change)) = (rank(a), rank(b));
    a_kind.cmp(&b_kind).then(b_change.total_cmp(&a_change))
}

pub(super) fn print(args: &Diff, report: &Report, out: &mut Out) -> Result<()> {
    out.text(&format!("{}\n", counts(report)))?;
    if let Some(line) = alike(report) {
        out.text(&format!("  {line}\n"))?;
    }
    let top = args.top.unwrap_or(TOP);
    for change in report.meta.iter().take(top) {
        out.text(&format!("  file {}\n", plain(&meta_text(change))))?;
    }
    if !report.changed.is_empty() && top > 0 {
        let heads = [
            "name",
            "changed cells",
            "max |Δ|",
            "relative norm",
            "cosine",
            "worst cell",
        ];
        let rows = report.changed.iter().take(top);
        let is_measured = rows.clone().any(|row| row.found.measures.is_some());
        let mut table = if is_measured {
            Table::new(&heads)
        } else {
            Table::default()
        };
        for row in rows {
            table.push(line(row));
        }
        table.print("  ", out)?;
    }
    let more = report.changed.len().saturating_sub(top);
    if more > 0 {
        let all = report.changed.len();
        out.text(&format!("  … and {more} more changed: --top {all}\n"))?;
    }
    for (word, names) in [("A", &report.only_a), ("B", &report.only_b)] {
        for name in names.iter().take(top) {
            out.text(&format!("  only in {word}: {}\n", plain(&name_text(name))))?;
        }
        let more = names.len().saturating_sub(top);
        if more > 0 {
            let all = names.len();
            out.text(&format!(
                "  … and {more} more only in {word}: --top {all}\n"
            ))?;
        }
    }
    Ok(())
}

/// The first line, such as `287 same, 4 changed, 1 only in A`.
fn counts(report: &Report) -> String {
    let mut words = vec![format!("{} same", report.n_same())];
    for (count, word) in [
        (report.changed.len(), "changed"),
        (report.only_a.len(), "only in A"),
        (report.only_b.len(), "only in B"),
        (report.failed.len(), "not compared"),
    ] {
        if count > 0 {
            words.push(format!("{count} {word}"));
        }
    }
    if !report.meta.is_empty() {
        words.push("metadata of the file changed".into());
    }
    words.join(", ")
}

/// Equal but not identical tensors.
fn alike(report: &Report) -> Option<String> {
    let mut words = Vec::new();
    if report.near > 0 {
        words.push(format!("{} within the tolerance", report.near));
    }
    if report.equal > 0 {
        words.push(format!("{} equal in value, not in bits", report.equal));
    }
    (!words.is_empty()).then(|| format!("of the same, {}", words.join(", ")))
}

fn line(row: &Row) -> Line {
    let name = name_text(&row.a.name);
    let mut below = details(row).into_iter();
    let mut cells = vec![name.to_owned()];
    match &row.found.measures {
        None => cells.extend(below.next()),
        Some(measures) => {
            let worst = measures.worst.as_ref();
            cells.extend([
                format!("{} of {}", measures.changed, measures.cells),
                short(measures.largest),
                short(measures.relative_norm),
                cosine_text(measures.cosine),
                worst.map_or_else(|| "-".into(), |worst| worst_text(worst, &row.a, &row.b)),
            ]);
        }
    }
    let mut line = Line::new(cells);
    line.below = below.collect();
    line
}

/// Differences that the numbers do not show.
fn details(row: &Row) -> Vec<String> {
    let (a, b, found) = (&row.a.tensor, &row.b.tensor, &row.found);
    let mut lines = Vec::new();
    if row.a.name != row.b.name {
        let name = match row.b.name.as_str() {
            "" => "the tensor",
            name => name,
        };
        lines.push(format!("compared with {name} of B"));
    }
    if found.dtype_differs {
        let equal = match (&found.measures, found.basis) {
            (None, Basis::Cells | Basis::Blocks | Basis::Cores) => ", all values equal",
            _ => "",
        };
        lines.push(format!("dtype {} -> {}{equal}", a.dtype(), b.dtype()));
    }
    if found.shape_differs {
        lines.push(format!("shape {} -> {}", shape_text(a), shape_text(b)));
    } else if found.axes.is_some() {
        let (own, other) = (shape_text(a), shape_text(b));
        lines.push(format!("dimensions matched by name: {own} and {other}"));
    }
    let kinds = (a.storage().as_str(), b.storage().as_str());
    match found.basis {
        Basis::Bytes => lines.push("the bytes differ, and are not understood".into()),
        Basis::Nothing if kinds.0 != kinds.1 && !found.shape_differs => {
            lines.push(format!("storage {} -> {}", kinds.0, kinds.1));
        }
        Basis::Cores => lines.push(
            "compared by their cores, as there are too many cells (--max-decoded); \
             the worst is given as core, rank, place, rank"
                .into(),
        ),
        Basis::Cells | Basis::Blocks | Basis::Nothing => {}
    }
    lines.extend(found.measures.as_ref().and_then(not_finite));
    lines.extend(found.blocks.as_ref().and_then(blocks_text));
    lines.extend(row.meta.iter().map(meta_text));
    lines
}

fn not_finite(measures: &Measures) -> Option<String> {
    let mut words = Vec::new();
    for (count, word) in [
        (measures.nan_a, "NaN only in A"),
        (measures.nan_b, "NaN only in B"),
        (measures.nan_both, "NaN with other bits (--equal-nan)"),
        (measures.infinite, "otherwise not finite"),
    ] {
        if count > 0 {
            words.push(format!("{count} {word}"));
        }
    }
    let words = words.join(", ");
    (!words.is_empty()).then(|| format!("{words}; norm and cosine are over the finite cells"))
}

fn blocks_text(blocks: &Blocks) -> Option<String> {
    let mut words = Vec::new();
    for (word, count, first) in [
        ("A", blocks.only_a, &blocks.first_a),
        ("B", blocks.only_b, &blocks.first_b),
    ] {
        if count == 0 {
            continue;
        }
        let shown: Vec<String> = first
            .iter()
            .take(3)
            .map(|labels| labels_text(labels))
            .collect();
        let more = if count > 3 { ", …" } else { "" };
        words.push(format!(
            "{} only in {word}: {}{more}",
            counted(count, "block"),
            shown.join(", ")
        ));
    }
    (!words.is_empty()).then(|| words.join("; "))
}

fn labels_text(labels: &[String]) -> String {
    format!("{{{}}}", labels.join(", "))
}

pub(super) fn meta_text(change: &MetaChange) -> String {
    let text = |value: &Option<Value>| value.as_ref().map_or_else(|| "nothing".into(), short_value);
    format!(
        "{}: {} -> {}",
        change.name,
        text(&change.a),
        text(&change.b)
    )
}

fn worst_text(worst: &Worst, a: &Side, b: &Side) -> String {
    let labels = match worst.labels.as_slice() {
        [] => String::new(),
        labels => labels_text(labels),
    };
    let index: Vec<String> = worst.index.iter().map(u64::to_string).collect();
    let index = match (index.as_slice(), labels.as_str()) {
        ([], "") => "the value".into(),
        ([], _) => String::new(),
        (index, _) => format!("[{}]", index.join(", ")),
    };
    let (mut from, mut to) = (
        element(a.tensor.dtype(), &worst.a),
        element(b.tensor.dtype(), &worst.b),
    );
    if from == to {
        // Rounding would make them look equal.
        from = exact(a.tensor.dtype(), &worst.a);
        to = exact(b.tensor.dtype(), &worst.b);
    }
    format!("{labels}{index}: {from} -> {to}")
}

fn exact(dtype: DType, bytes: &[u8]) -> String {
    let mut text = String::new();
    elements(dtype, bytes, &mut text);
    text.replace('"', "")
}

/// A number with four digits.
fn short(number: f64) -> String {
    tenfold::measure_text(number, 4)
}

/// A cosine with enough digits to show that it is not 1.
fn cosine_text(cosine: f64) -> String {
    let lack = 1.0 - cosine.abs();
    if lack == 0.0 {
        return format!("{cosine}");
    }
    let mut digits = 4;
    let mut unit = 1e-3;
    while lack < unit && digits < 16 {
        unit /= 10.0;
        digits += 1;
    }
    format!("{cosine:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(short(0.123_456), "0.1235");
        assert_eq!(short(1.0), "1");
        assert_eq!(short(3.0e-9), "3e-9");
        assert_eq!(short(1_234_567.0), "1.235e6");
        assert_eq!(short(f64::NAN), "nan");
        assert_eq!(short(f64::INFINITY), "inf");
        assert_eq!(short(f64::from_bits(1)), "5e-324");
    }

    #[test]
    fn a_cosine_shows_what_it_lacks() {
        assert_eq!(cosine_text(1.0), "1");
        assert_eq!(cosine_text(0.5), "0.5000");
        assert_eq!(cosine_text(0.999_999_996_8), "0.9999999968");
        assert_eq!(cosine_text(-1.0), "-1");
    }
}
