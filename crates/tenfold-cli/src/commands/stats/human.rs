//! Statistics for people: first what is wrong.

use std::path::Path;

use tenfold::{Arity, DType, Fault, Info, Number, PERCENTS, Result, Scalar, Stats};

use super::bars;
use super::{Found, Known};
use crate::args;
use crate::render::{
    Row, Table, cells_text, counted, dtype_text, element, plain, shape_text, shown_name,
};
use crate::streams::Out;

pub(super) fn print(
    file: &Path,
    info: &Info,
    found: &[Found],
    args: &args::Stats,
    out: &mut Out,
) -> Result<()> {
    let file = plain(&file.display().to_string());
    out.text(&format!("{file}: {}\n", verdict(found)))?;
    for found in found {
        if let Some(line) = wrong(info, found) {
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

/// The first line: whether anything is wrong.
fn verdict(found: &[Found]) -> String {
    let n_wrong = found.iter().filter(|found| !found.faults().is_empty());
    let n_unknown = found.iter().filter(|found| found.known.is_none()).count();
    let count = |count: usize| counted(u64::try_from(count).unwrap_or(u64::MAX), "tensor");
    let text = match n_wrong.count() {
        _ if found.is_empty() => "no tensors".into(),
        0 => "nothing wrong: no NaN, no Inf, no all-zero or constant tensor".into(),
        wrong => format!("something is wrong with {wrong} of {}", count(found.len())),
    };
    match n_unknown {
        0 => text,
        unknown => format!("{text}; {} not understood", count(unknown)),
    }
}

/// What is wrong with a tensor.
fn wrong(info: &Info, found: &Found) -> Option<String> {
    let stats = &found.known.as_ref()?.stats;
    let faults = found.faults();
    let texts: Vec<String> = faults
        .iter()
        .map(|fault| fault_text(*fault, stats))
        .collect();
    let name = name_text(&shown_name(info, found.key));
    (!texts.is_empty()).then(|| format!("{name}: {}", texts.join(", ")))
}

fn fault_text(fault: Fault, stats: &Stats) -> String {
    match fault {
        Fault::Nan => format!("{} NaN", stats.nan),
        Fault::Inf => format!("{} Inf", stats.infinite()),
        Fault::Zero => format!("all {} are zero", counted(stats.cells, "cell")),
        Fault::Constant => {
            let value = stats.finite.as_ref().map(|finite| scalar_text(&finite.min));
            let cells = counted(stats.cells, "cell");
            format!("all {cells} are {}", value.unwrap_or_default())
        }
    }
}

pub(super) fn name_text(name: &str) -> String {
    if name.is_empty() {
        "(unnamed)".into()
    } else {
        name.into()
    }
}

fn row(info: &Info, found: &Found) -> Row {
    let tensor = found.tensor;
    let mut cells = vec![
        name_text(&shown_name(info, found.key)),
        dtype_text(tensor),
        shape_text(tensor),
    ];
    match &found.known {
        None => cells.push("not understood".into()),
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
            cells.push(share_text(stats.zeros, stats.cells));
        }
    }
    Row::new(cells)
}

/// Everything about one tensor.
fn block(info: &Info, found: &Found, args: &args::Stats, out: &mut Out) -> Result<()> {
    let tensor = found.tensor;
    let name = name_text(&shown_name(info, found.key));
    let (dtype, shape) = (dtype_text(tensor), shape_text(tensor));
    let head = format!("{name}: {dtype} {shape} {}", cells_text(tensor));
    out.text(&format!("{}\n", plain(&head)))?;
    let Some(known) = &found.known else {
        let why = match tensor.is_quantized() {
            true => "--dequantize works its values out",
            false => "its layout is not understood",
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
    for (percent, value) in PERCENTS.iter().zip(finite.quantiles) {
        line(&format!("{percent} %"), float_text(value));
    }
    line("max", scalar_text(&finite.max));
    line("mean", float_text(finite.mean));
    line("std", float_text(finite.std));
    line("norm", float_text(finite.norm));
    lines
}

/// A count, and what share of all that is.
fn with_share(count: u64, all: u64) -> String {
    match count {
        0 => "0".into(),
        count => format!("{count} ({})", share_text(count, all)),
    }
}

/// A share in percent: all and nothing are said of nothing else.
fn share_text(count: u64, all: u64) -> String {
    let tenths = u128::from(count) * 1000 / u128::from(all.max(1));
    match tenths {
        _ if count == 0 => "0".into(),
        _ if count == all => "100 %".into(),
        0 => "<0.1 %".into(),
        tenths => format!("{}.{} %", tenths / 10, tenths % 10),
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
