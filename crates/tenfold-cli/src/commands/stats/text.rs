//! Statistics as text, problems first.

use std::path::Path;

use tenfold::{
    Arity, DType, Finding, Info, Number, Place, QUANTILES, Result, Scalar, Stats, percent_text,
};

use super::{Found, Known, Report, bars};
use crate::render::{element, name_text, shown_name};
use crate::terminal::{Out, Row, Table, cells_text, counted, dtype_text, plain, shape_text};

pub(super) fn print(
    file: &Path,
    info: &Info,
    report: &Report,
    args: &crate::commands::Stats,
    out: &mut Out,
) -> Result<()> {
    let found = report.tensors.as_slice();
    let file = plain(&file.display().to_string());
    out.text(&format!("{file}: {}\n", verdict(report)))?;
    for found in found {
        if let Some(line) = wrong(info, found) {
            out.text(&format!("  {}\n", plain(&line)))?;
        }
    }
    for finding in [Finding::Zero, Finding::Constant] {
        if let Some(line) = remark(info, found, finding) {
            out.text(&format!("  {}\n", plain(&line)))?;
        }
    }
    if found.len() == 1 || args.long || args.hist {
        return found.iter().try_for_each(|found| {
            out.text("\n")?;
            block(info, found, args, out)
        });
    }
    if found.is_empty() {
        return Ok(());
    }
    out.text("\n")?;
    let mut table = Table::new(&[
        "name", "dtype", "shape", "min", "max", "mean", "std", "median", "zeros",
    ]);
    for found in found {
        table.push(row(info, found));
    }
    table.print("  ", out)
}

/// The first line: the number of tensors that were not read, then the findings in the others.
fn verdict(report: &Report) -> String {
    let found = report.tensors.as_slice();
    let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    let n_unread = report.n_unread();
    let n_all = found.len().saturating_add(report.n_skipped);
    let n_read = n_all.saturating_sub(n_unread);
    let n_wrong = found.iter().filter(|found| !found.faults().is_empty());
    let all = counted(count(n_read), "tensor");
    let text = match n_wrong.count() {
        _ if n_all == 0 => return "no tensors".into(),
        _ if n_read == 0 => {
            return format!("{} not read", counted(count(n_all), "tensor"));
        }
        0 => format!("no NaN and no Inf in {all}"),
        wrong => format!("NaN or Inf in {wrong} of {all}"),
    };
    let mut unread = Vec::new();
    if n_unread > 0 {
        unread.push(format!("{} not read", counted(count(n_unread), "tensor")));
    }
    if report.is_incomplete {
        unread.push("files of the set missing".into());
    }
    unread.push(text);
    unread.join("; ")
}

/// The findings of a tensor.
fn wrong(info: &Info, found: &Found) -> Option<String> {
    let known = found.known.as_ref()?;
    let Stats { nan, .. } = known.stats;
    let texts = [
        (nan, "NaN", &known.first.nan),
        (known.stats.infinite(), "Inf", &known.first.inf),
    ];
    let texts = texts.into_iter().filter(|(count, ..)| *count > 0);
    let texts: Vec<String> = texts
        .map(|(count, word, first)| match first {
            Some(place) => format!("{count} {word}, first at {}", place_text(place)),
            None => format!("{count} {word}"),
        })
        .collect();
    let name = name_text(&shown_name(info, found.key));
    (!texts.is_empty()).then(|| format!("{name}: {}", texts.join("; ")))
}

/// The position of an element in slice notation: `[a, 0, 17]`.
fn place_text(place: &Place) -> String {
    let labels = place.labels.iter().map(|label| format!("{label:?}"));
    let index = place.index.iter().map(u64::to_string);
    let all: Vec<String> = labels.chain(index).collect();
    format!("[{}]", all.join(", "))
}

/// The tensors that are entirely zero or constant, in one line.
fn remark(info: &Info, found: &[Found], finding: Finding) -> Option<String> {
    const SHOWN: usize = 5;
    let alike = found.iter().filter(|one| one.findings().contains(&finding));
    let alike: Vec<&Found> = alike.collect();
    let what = |one: &Found| match (finding, &one.known) {
        (Finding::Constant, Some(known)) => {
            let value = known.stats.finite.as_ref();
            let value = value.map(|finite| scalar_text(&finite.min));
            format!(" ({})", value.unwrap_or_default())
        }
        _ => String::new(),
    };
    let names = alike.iter().take(SHOWN).map(|one| {
        let name = name_text(&shown_name(info, one.key));
        format!("{name}{}", what(one))
    });
    let names: Vec<String> = names.collect();
    let more = match alike.len().checked_sub(SHOWN) {
        None | Some(0) => String::new(),
        Some(more) => format!(" and {more} more"),
    };
    let kind = match finding {
        Finding::Zero => "all zero",
        _ => "constant",
    };
    (!alike.is_empty()).then(|| format!("{kind}: {}{more}", names.join(", ")))
}

fn row(info: &Info, found: &Found) -> Row {
    let tensor = found.tensor;
    let mut cells = vec![
        name_text(&shown_name(info, found.key)),
        dtype_text(tensor),
        shape_text(tensor),
    ];
    match &found.known {
        None => cells.push("not read".into()),
        Some(known) => {
            let stats = &known.stats;
            match &stats.finite {
                None => cells.extend(["-"; 5].map(String::from)),
                Some(finite) => cells.extend([
                    scalar_text(&finite.min),
                    scalar_text(&finite.max),
                    float_text(finite.mean),
                    float_text(finite.std),
                    float_text(finite.quantiles[3]),
                ]),
            }
            cells.push(match stats.zeros {
                0 => "0".into(),
                zeros => percent_text(zeros, stats.cells, 1),
            });
        }
    }
    Row::new(cells)
}

/// All results for one tensor.
fn block(info: &Info, found: &Found, args: &crate::commands::Stats, out: &mut Out) -> Result<()> {
    let tensor = found.tensor;
    let name = name_text(&shown_name(info, found.key));
    let (dtype, shape) = (dtype_text(tensor), shape_text(tensor));
    let head = format!("{name}: {dtype} {shape} {}", cells_text(tensor));
    out.text(&format!("{}\n", plain(&head)))?;
    let Some(known) = &found.known else {
        let why = if tensor.is_quantized() {
            "not read: --dequantize computes its values"
        } else {
            "not read: its layout is not understood"
        };
        return out.text(&format!("  {why}\n"));
    };
    let mut table = Table::default();
    for (name, text) in lines(known) {
        table.push(Row::new([name, text]));
    }
    table.print("  ", out)?;
    if let (Some(finite), Some(counts)) = (&known.stats.finite, &known.histogram) {
        out.text("\n")?;
        for line in bars::lines(finite, counts, args.log) {
            out.text(&format!("  {line}\n"))?;
        }
    }
    Ok(())
}

fn lines(known: &Known) -> Vec<(String, String)> {
    let stats = &known.stats;
    let mut lines = Vec::new();
    let mut line = |name: &str, text: String| lines.push((name.to_owned(), text));
    line("cells", stats.cells.to_string());
    if stats.explicit < stats.cells {
        line("explicit", with_share(stats.explicit, stats.cells));
    }
    line("NaN", with_share(stats.nan, stats.cells));
    line("+Inf", with_share(stats.positive_infinite, stats.cells));
    line("-Inf", with_share(stats.negative_infinite, stats.cells));
    line("zeros", with_share(stats.zeros, stats.cells));
    if stats.of_moduli {
        line("", "what follows is about moduli".into());
    } else {
        line("negative", with_share(stats.negative, stats.cells));
    }
    let Some(finite) = &stats.finite else {
        return lines;
    };
    line("min", scalar_text(&finite.min));
    for (percent, value) in QUANTILES.iter().zip(finite.quantiles) {
        line(&format!("{percent} %"), float_text(value));
    }
    line("max", scalar_text(&finite.max));
    line("mean", float_text(finite.mean));
    line("std", float_text(finite.std));
    let norm = if finite.norm.is_finite() {
        float_text(finite.norm)
    } else {
        "beyond f64".into()
    };
    line("norm", norm);
    lines
}

/// A count, and its share of the total.
fn with_share(count: u64, all: u64) -> String {
    match count {
        0 => "0".into(),
        count => format!("{count} ({})", percent_text(count, all, 1)),
    }
}

fn scalar_text(scalar: &Scalar) -> String {
    let dtype = DType {
        number: scalar.number,
        arity: Arity::Real,
    };
    element(dtype, &scalar.bytes)
}

pub(super) fn float_text(value: f64) -> String {
    element(DType::real(Number::F64), &value.to_le_bytes())
}
