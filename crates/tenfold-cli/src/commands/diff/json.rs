//! Differences as JSON.

use tenfold::{Basis, Blocks, Measures, Number, Result, Value, Verdict, Worst, write_number};

use super::meta::MetaChange;
use super::{Report, Row, Side};
use crate::commands::Diff;
use crate::render::{Json, elements, value};
use crate::terminal::Out;

const SCHEMA: &str = "tenfold.diff/1";

pub(super) fn print(args: &Diff, report: &Report, out: &mut Out) -> Result<()> {
    let top = args.top.unwrap_or(usize::MAX);
    let [a_format, b_format] = report.formats;
    let mut json = Json::new(out);
    json.object(|json| {
        json.name("schema")?.text(SCHEMA)?;
        for (name, path, format) in [("a", &args.a, a_format), ("b", &args.b, b_format)] {
            json.name(name)?.object(|json| {
                json.name("file")?.text(&path.to_string_lossy())?;
                json.name("format")?.text(format)
            })?;
        }
        let is_known = report.failed.is_empty() || !report.is_same();
        let is_same = is_known.then(|| report.is_same());
        json.name("same")?.number_or_null(is_same)?;
        json.name("counts")?.object(|json| counts(json, report))?;
        json.name("tolerance")?
            .object(|json| tolerance(json, args))?;
        json.name("changed")?.list(|json| {
            let mut rows = report.changed.iter().take(top);
            rows.try_for_each(|row| json.object(|json| changed(json, row)))
        })?;
        json.name("only_a")?.texts(&report.only_a)?;
        json.name("only_b")?.texts(&report.only_b)?;
        json.name("not_compared")?.list(|json| {
            report.failed.iter().try_for_each(|row| {
                json.object(|json| {
                    json.name("a")?.text(&row.a)?;
                    json.name("b")?.text(&row.b)?;
                    json.name("kind")?.text(row.failure.kind)?;
                    json.name("text")?.text(&row.failure.line())
                })
            })
        })?;
        metadata(json, &report.meta)
    })?;
    json.end_line()
}

fn counts(json: &mut Json, report: &Report) -> Result<()> {
    json.name("same")?.number(report.n_same())?;
    json.name("identical")?.number(report.identical)?;
    json.name("equal")?.number(report.equal)?;
    json.name("near")?.number(report.near)?;
    json.name("changed")?.number(report.changed.len())?;
    json.name("only_a")?.number(report.only_a.len())?;
    json.name("only_b")?.number(report.only_b.len())?;
    json.name("not_compared")?.number(report.failed.len())
}

fn tolerance(json: &mut Json, args: &Diff) -> Result<()> {
    let sameness = &args.sameness;
    json.name("rtol")?.raw(&float(sameness.rtol))?;
    json.name("atol")?.raw(&float(sameness.atol))?;
    json.name("ulp")?.number_or_null(sameness.ulp)?;
    json.name("equal_nan")?.number(sameness.equal_nan)?;
    json.name("ignore_dtype")?.number(sameness.ignore_dtype)?;
    json.name("meta")?.number(args.meta)
}

fn changed(json: &mut Json, row: &Row) -> Result<()> {
    let found = &row.found;
    for (name, side) in [("a", &row.a), ("b", &row.b)] {
        json.name(name)?.object(|json| tensor(json, side))?;
    }
    let verdict = match found.verdict {
        Verdict::Identical => "identical",
        Verdict::Equal => "equal",
        Verdict::Near => "near",
        Verdict::Changed => "changed",
    };
    let basis = match found.basis {
        Basis::Cells => Some("cells"),
        Basis::Blocks => Some("blocks"),
        Basis::Cores => Some("cores"),
        Basis::Bytes => Some("bytes"),
        Basis::Nothing => None,
    };
    json.name("verdict")?.text(verdict)?;
    json.name("compared")?.text_or_null(basis)?;
    json.name("dtype_differs")?.number(found.dtype_differs)?;
    json.name("shape_differs")?.number(found.shape_differs)?;
    match &found.axes {
        Some(axes) => json.name("axes")?.numbers(axes)?,
        None => json.name("axes")?.raw("null")?,
    }
    match &found.measures {
        None => json.name("measures")?.raw("null")?,
        Some(found) => json
            .name("measures")?
            .object(|json| measures(json, found, row))?,
    }
    match &found.blocks {
        None => json.name("blocks")?.raw("null")?,
        Some(found) => json.name("blocks")?.object(|json| blocks(json, found))?,
    }
    metadata(json, &row.meta)
}

fn tensor(json: &mut Json, side: &Side) -> Result<()> {
    json.name("name")?.text(&side.name)?;
    json.name("key")?.texts(side.key.path())?;
    json.name("state")?
        .text_or_null(side.key.state.as_deref())?;
    json.name("dtype")?.text(&side.tensor.dtype().to_string())?;
    json.name("shape")?.list(|json| {
        let mut dims = side.tensor.dims().iter();
        dims.try_for_each(|dim| json.number_or_null(dim.indexed_size()))
    })?;
    json.name("storage")?.text(side.tensor.storage().as_str())
}

fn measures(json: &mut Json, found: &Measures, row: &Row) -> Result<()> {
    json.name("cells")?.number(found.cells)?;
    json.name("unequal")?.number(found.unequal)?;
    json.name("changed")?.number(found.changed)?;
    json.name("nan_a")?.number(found.nan_a)?;
    json.name("nan_b")?.number(found.nan_b)?;
    json.name("nan_both")?.number(found.nan_both)?;
    json.name("infinite")?.number(found.infinite)?;
    json.name("max_abs")?.raw(&float(found.largest))?;
    json.name("norm_a")?.raw(&float(found.norm_a))?;
    json.name("norm_b")?.raw(&float(found.norm_b))?;
    json.name("relative_norm")?
        .raw(&float(found.relative_norm))?;
    json.name("cosine")?.raw(&float(found.cosine))?;
    match &found.worst {
        None => json.name("worst")?.raw("null"),
        Some(found) => json.name("worst")?.object(|json| worst(json, found, row)),
    }
}

fn worst(json: &mut Json, found: &Worst, row: &Row) -> Result<()> {
    json.name("labels")?.texts(&found.labels)?;
    json.name("index")?.numbers(&found.index)?;
    json.name("abs")?.raw(&float(found.apart))?;
    for (name, side, bytes) in [("a", &row.a, &found.a), ("b", &row.b, &found.b)] {
        let mut text = String::new();
        elements(side.tensor.dtype(), bytes, &mut text);
        json.name(name)?.raw(&text)?;
    }
    Ok(())
}

fn blocks(json: &mut Json, found: &Blocks) -> Result<()> {
    json.name("shared")?.number(found.shared)?;
    json.name("only_a")?.number(found.only_a)?;
    json.name("only_b")?.number(found.only_b)?;
    for (name, first) in [("first_a", &found.first_a), ("first_b", &found.first_b)] {
        json.name(name)?
            .list(|json| first.iter().try_for_each(|labels| json.texts(labels)))?;
    }
    Ok(())
}

fn metadata(json: &mut Json, changes: &[MetaChange]) -> Result<()> {
    json.name("metadata")?.list(|json| {
        changes.iter().try_for_each(|change| {
            json.object(|json| {
                json.name("name")?.text(&change.name)?;
                json.name("a")?.raw(&value_or_null(&change.a))?;
                json.name("b")?.raw(&value_or_null(&change.b))
            })
        })
    })
}

fn value_or_null(item: &Option<Value>) -> String {
    let mut text = String::new();
    value(item.as_ref().unwrap_or(&Value::Null), &mut text);
    text
}

fn float(number: f64) -> String {
    let mut text = String::new();
    write_number(Number::F64, &number.to_le_bytes(), &mut text);
    text
}
