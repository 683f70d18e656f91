//! Statistics as JSON.

use std::path::Path;

use tenfold::{Finding, Info, Place, QUANTILES, Result, Scalar, write_number};

use super::bars::edges;
use super::{Known, Report};
use crate::render::{Json, describe};
use crate::terminal::Out;

const SCHEMA: &str = "tenfold.stats/1";

pub(super) fn print(file: &Path, info: &Info, report: &Report, out: &mut Out) -> Result<()> {
    let mut json = Json::new(out);
    json.object(|json| {
        json.name("schema")?.text(SCHEMA)?;
        json.name("file")?.text(&file.to_string_lossy())?;
        json.name("format")?.text(info.name)?;
        json.name("unread")?.number(report.n_unread())?;
        json.name("tensors")?.list(|json| {
            report.tensors.iter().try_for_each(|found| {
                json.object(|json| {
                    describe(json, info, found.key, found.tensor)?;
                    let (faults, remarks): (Vec<Finding>, Vec<Finding>) =
                        { found.findings().into_iter() }.partition(|finding| finding.is_fault());
                    words(json.name("faults")?, &faults)?;
                    words(json.name("remarks")?, &remarks)?;
                    match &found.known {
                        None => json.name("stats")?.raw("null"),
                        Some(known) => json.name("stats")?.object(|json| stats(json, known)),
                    }
                })
            })
        })
    })?;
    json.end_line()
}

fn words(json: &mut Json, findings: &[Finding]) -> Result<()> {
    json.texts(findings.iter().map(|finding| finding.as_str()))
}

fn place(json: &mut Json, place: Option<&Place>) -> Result<()> {
    let Some(place) = place else {
        return json.raw("null");
    };
    json.object(|json| {
        json.name("labels")?.texts(&place.labels)?;
        json.name("index")?.numbers(&place.index)
    })
}

fn stats(json: &mut Json, known: &Known) -> Result<()> {
    let stats = &known.stats;
    json.name("cells")?.number(stats.cells)?;
    json.name("explicit")?.number(stats.explicit)?;
    json.name("nan")?.number(stats.nan)?;
    json.name("positive_infinite")?
        .number(stats.positive_infinite)?;
    json.name("negative_infinite")?
        .number(stats.negative_infinite)?;
    place(json.name("first_nan")?, known.first.nan.as_ref())?;
    place(json.name("first_inf")?, known.first.inf.as_ref())?;
    json.name("zeros")?.number(stats.zeros)?;
    json.name("negative")?.number(stats.negative)?;
    json.name("density")?.float(stats.density())?;
    let of = if stats.of_moduli { "moduli" } else { "values" };
    json.name("of")?.text(of)?;
    let Some(finite) = &stats.finite else {
        return json.name("finite")?.raw("null");
    };
    json.name("finite")?.object(|json| {
        scalar(json.name("min")?, &finite.min)?;
        scalar(json.name("max")?, &finite.max)?;
        json.name("mean")?.float(finite.mean)?;
        json.name("std")?.float(finite.std)?;
        json.name("norm")?.float(finite.norm)?;
        json.name("quantiles")?.list(|json| {
            let mut quantiles = QUANTILES.iter().zip(finite.quantiles);
            quantiles.try_for_each(|(percent, value)| {
                json.object(|json| {
                    json.name("percent")?.number(percent)?;
                    json.name("value")?.float(value)
                })
            })
        })?;
        let Some(counts) = &known.histogram else {
            return Ok(());
        };
        json.name("histogram")?.object(|json| {
            json.name("edges")?.list(|json| {
                let mut edges = edges(finite, counts.len()).into_iter();
                edges.try_for_each(|edge| json.float(edge))
            })?;
            json.name("counts")?.numbers(counts)
        })
    })
}

fn scalar(json: &mut Json, scalar: &Scalar) -> Result<()> {
    let mut text = String::new();
    write_number(scalar.number, &scalar.bytes, &mut text);
    json.raw(&text)
}
