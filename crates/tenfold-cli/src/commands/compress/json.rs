//! Compression results as JSON.

use std::path::Path;

use tenfold::{Info, Result};

use super::plan::{Entry, Fate};
use super::work::Made;
use crate::render::{Json, describe};
use crate::terminal::{Out, ratio};

const SCHEMA: &str = "tenfold.compress/1";

pub(super) fn print(file: &Path, info: &Info, entries: &[Entry], out: &mut Out) -> Result<()> {
    let mut json = Json::new(out);
    json.object(|json| {
        json.name("schema")?.text(SCHEMA)?;
        json.name("file")?.text(&file.to_string_lossy())?;
        json.name("format")?.text(info.name)?;
        json.name("tensors")?.list(|json| {
            entries.iter().try_for_each(|entry| {
                json.object(|json| {
                    describe(json, info, &entry.key, &entry.tensor)?;
                    json.name("stored_bytes")?.number(entry.before())?;
                    match &entry.fate {
                        Fate::Kept(reason) => {
                            json.name("kept")?.text(reason)?;
                            json.name("train")?.raw("null")
                        }
                        Fate::Made(made) => {
                            json.name("kept")?.raw("null")?;
                            json.name("train")?.object(|json| train(json, entry, made))
                        }
                    }
                })
            })
        })
    })?;
    json.end_line()
}

fn train(json: &mut Json, entry: &Entry, made: &Made) -> Result<()> {
    let report = &made.report;
    json.name("shape")?.numbers(made.train.shape())?;
    json.name("ranks")?.numbers(made.train.ranks())?;
    json.name("bytes")?.number(report.train_len)?;
    json.name("ratio")?
        .float(ratio(entry.before(), report.train_len))?;
    json.name("ratio_of_doubles")?.float(report.ratio())?;
    json.name("norm")?.float(report.norm)?;
    json.name("error")?.float(report.error)?;
    json.name("relative_error")?
        .float(report.relative_error())?;
    json.name("rounding")?.float(report.rounding)?;
    match &made.measured {
        None => json.name("measured")?.raw("null")?,
        Some(measured) => json.name("measured")?.object(|json| {
            json.name("error")?.float(measured.error)?;
            json.name("relative_error")?.float(measured.relative())
        })?,
    }
    json.name("bonds")?.list(|json| {
        report.bonds.iter().try_for_each(|bond| {
            json.object(|json| {
                json.name("rank")?.number(bond.rank)?;
                json.name("needed")?.number(bond.needed)?;
                json.name("left_out")?.float(bond.left_out)
            })
        })
    })?;
    json.name("route")?.text(report.route.as_str())?;
    json.name("seconds")?.float(report.seconds)?;
    json.name("notes")?.texts(&report.notes)
}
