//! Cells as exact text, and the largest differences of two tensors.

use std::sync::Arc;

use axum::extract::State;
use axum::http::Uri;
use serde_json::{Value, json};
use tenfold::{DType, Tensor, write_element};

use super::images::subject;
use super::query::Query;
use super::response::{HttpError, Json, count, float};
use super::state::{AppState, place};
use super::tasks::work;
use crate::image::{Region, core_of, readable, worst as worst_of};

/// Most cells in a response.
const MOST: u64 = 20_000;

/// A region as text.
pub(super) async fn values(
    State(world): State<Arc<AppState>>,
    uri: Uri,
) -> Result<Json, HttpError> {
    work(world, move |world, _| {
        let query = Query::of(&uri);
        let mut tensor = world.tensor(place(&query)?)?;
        if let Some(core) = query.number("core")? {
            tensor = core_of(&tensor, core)?;
        }
        let tensor = readable(&tensor, &world.limits)?;
        let region = query.region(&tensor.sizes()?)?;
        let (rows, columns) = region.size();
        if rows.saturating_mul(columns) > MOST {
            return Err(HttpError::cannot(format!("at most {MOST} cells at once")));
        }
        let bytes = tensor.read_box_bytes(&region.whole(), &world.limits)?;
        Ok(Json(json!({ "values": table(&tensor, &region, &bytes) })))
    })
    .await
}

/// The texts of a box, in row order of the region.
fn table(tensor: &Tensor, region: &Region, bytes: &[u8]) -> Vec<Vec<String>> {
    let dtype = tensor.dtype();
    let cells = bytes
        .chunks_exact(dtype.width())
        .map(|cell| text(dtype, cell));
    let cells: Vec<String> = cells.collect();
    let (rows, columns) = region.size();
    let [rows, columns] = [rows, columns].map(|len| usize::try_from(len).unwrap_or(usize::MAX));
    if !region.is_turned() {
        match columns {
            0 => vec![Vec::new(); rows],
            columns => cells.chunks(columns).map(<[String]>::to_vec).collect(),
        }
    } else {
        let row = |row: usize| {
            cells
                .iter()
                .skip(row)
                .step_by(rows.max(1))
                .cloned()
                .collect()
        };
        (0..rows).map(row).collect()
    }
}

/// An element as shown in a table.
pub(super) fn text(dtype: DType, element: &[u8]) -> String {
    let mut text = String::new();
    write_element(dtype, element, &mut text);
    text
}

/// The largest differences of two tensors.
pub(super) async fn worst(State(world): State<Arc<AppState>>, uri: Uri) -> Result<Json, HttpError> {
    /// Most cells listed.
    const MOST_LISTED: usize = 1000;
    work(world, move |world, stop| {
        let query = Query::of(&uri);
        let subject = subject(world, &query)?;
        let n = query.number("n")?.unwrap_or(20);
        let found = worst_of(&subject, MOST_LISTED.min(n), stop)?;
        let cells = found.cells.iter().map(|cell| {
            json!({
                "at": cell.at,
                "a": cell.first,
                "b": cell.second,
                "difference": float_text(cell.difference),
            })
        });
        let cells: Vec<Value> = cells.collect();
        Ok(Json(json!({
            "compared": count(found.compared),
            "different": count(found.different),
            "cells": cells,
            "max_abs": found.largest.map(float),
            "exact": found.is_exact,
        })))
    })
    .await
}

fn float_text(number: f64) -> String {
    text(DType::real(tenfold::Number::F64), &number.to_le_bytes())
}
