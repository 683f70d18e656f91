//! `--sweep`: the size for each tolerance.
//!
//! Each line is the result of `--eps`: the tensor is compressed again for every tolerance, loosest
//! first, so that bounds are proven as always and no train much too large to be useful is computed.
//! If the previous train is within the tolerance, it is used again.

use std::path::Path;

use tenfold::{Result, Tensor};
use tenfold_train::Options;

use super::super::output::Content;
use super::work::Work;
use crate::commands::Tolerances;
use crate::error::Failure;
use crate::render::{Json, bytes_text, describe};
use crate::terminal::{
    Out, Row, Table, bar, plain, ranks_text, ratio, ratio_text, rough, shape_text,
};

const SCHEMA: &str = "tenfold.sweep/1";

/// The result for one tolerance.
#[derive(Clone)]
pub(super) struct Step {
    eps: f64,
    error: f64,
    len: u64,
    ranks: Vec<usize>,
}

/// Compresses the only tensor at every tolerance, until a train is no smaller.
pub(super) fn run(
    work: &Work,
    content: &Content,
    tolerances: &Tolerances,
) -> Result<Vec<Step>, Failure> {
    let tensor = content.bundle.only()?;
    let before = tensor.storage().stored_len();
    let prepared = work.prepare(tensor)?;
    let mut steps: Vec<Step> = Vec::new();
    for eps in &tolerances.0 {
        let step = match steps.last() {
            Some(last) if last.error <= *eps => Step {
                eps: *eps,
                ..last.clone()
            },
            Some(last) if last.len >= before => break,
            _ => {
                let made = work.compress(&prepared, &Options::relative(*eps))?;
                Step {
                    eps: *eps,
                    error: made.report.relative_error(),
                    len: made.report.train_len,
                    ranks: made.train.ranks(),
                }
            }
        };
        steps.push(step);
    }
    Ok(steps)
}

pub(super) fn print(
    file: &Path,
    content: &Content,
    steps: &[Step],
    is_json: bool,
    out: &mut Out,
) -> Result<()> {
    let tensor = content.bundle.only()?;
    if is_json {
        print_json(file, content, tensor, steps, out)
    } else {
        draw(file, tensor, steps, out)
    }
}

fn draw(file: &Path, tensor: &Tensor, steps: &[Step], out: &mut Out) -> Result<()> {
    let before = tensor.storage().stored_len();
    let (dtype, shape) = (tensor.dtype(), shape_text(tensor));
    let file = file.display();
    let head = format!("{file}: {dtype} {shape}, {}", bytes_text(before));
    out.text(&format!("{}\n", plain(&head)))?;
    let most = steps.iter().map(|step| step.len).max().unwrap_or(0);
    let mut table = Table::new(&["eps", "error", "size", "", "ranks", ""]);
    for step in steps {
        table.push(Row::new([
            format!("{:e}", step.eps),
            rough(step.error),
            bytes_text(step.len),
            if step.len < before {
                ratio_text(before, step.len)
            } else {
                "not smaller".into()
            },
            ranks_text(&step.ranks, 9),
            bar(step.len, most, false),
        ]));
    }
    table.print("  ", out)
}

fn print_json(
    file: &Path,
    content: &Content,
    tensor: &Tensor,
    steps: &[Step],
    out: &mut Out,
) -> Result<()> {
    let before = tensor.storage().stored_len();
    let mut json = Json::new(out);
    json.object(|json| {
        json.name("schema")?.text(SCHEMA)?;
        json.name("file")?.text(&file.to_string_lossy())?;
        if let Some((key, _)) = content.bundle.entries().first() {
            describe(json, content.info, key, tensor)?;
        }
        json.name("stored_bytes")?.number(before)?;
        json.name("steps")?.list(|json| {
            steps.iter().try_for_each(|step| {
                json.object(|json| {
                    json.name("eps")?.float(step.eps)?;
                    json.name("relative_error")?.float(step.error)?;
                    json.name("bytes")?.number(step.len)?;
                    json.name("ratio")?.float(ratio(before, step.len))?;
                    json.name("ranks")?.numbers(&step.ranks)
                })
            })
        })
    })?;
    json.end_line()
}
