//! Tiles, lines and histograms.

use std::sync::Arc;

use axum::extract::State;
use axum::http::Uri;
use serde_json::{Value, json};

use super::query::Query;
use super::response::{Binary, HttpError, Json, float};
use super::state::{AppState, place};
use super::tasks::work;
use crate::image::{
    Lines, Part, TensorView, Tile, core_of, histogram as histogram_of, lines, percentiles,
    tile as tile_of,
};

/// The tensor of a query: a tensor, a core of it, or the difference to another.
pub(super) fn subject(world: &AppState, query: &Query) -> Result<TensorView, HttpError> {
    let mut tensor = world.tensor(place(query)?)?;
    if let Some(core) = query.number("core")? {
        tensor = core_of(&tensor, core)?;
    }
    let part = match query.get("part") {
        Some(word) => word.parse()?,
        None => Part::usual(tensor.dtype()),
    };
    let subject = TensorView::new(&tensor, part, &world.limits)?;
    match query.pair("with")? {
        Some(other) => Ok(subject.minus(&world.tensor(other)?)?),
        None => Ok(subject),
    }
}

/// A region as pixels.
pub(super) async fn tile(
    State(world): State<Arc<AppState>>,
    uri: Uri,
) -> Result<Binary, HttpError> {
    work(world, move |world, stop| {
        let query = Query::of(&uri);
        let subject = subject(world, &query)?;
        let region = query.region(&subject.sizes()?)?;
        let wanted = (query.number("h")?, query.number("w")?);
        let wanted = (wanted.0.unwrap_or(512), wanted.1.unwrap_or(512));
        let is_storage = query.get("stored").is_some_and(|word| word != "0");
        let tile = tile_of(&subject, &region, wanted, is_storage, stop)?;
        Ok(Binary(packed(&tile)))
    })
    .await
}

/// A tile in the page's binary format.
fn packed(tile: &Tile) -> Vec<u8> {
    let side = |len: usize| u32::try_from(len).unwrap_or(u32::MAX).to_le_bytes();
    let mut bytes =
        Vec::with_capacity(32_usize.saturating_add(tile.flags.len().saturating_mul(13)));
    bytes.extend_from_slice(b"TFT1");
    bytes.extend_from_slice(&side(tile.height));
    bytes.extend_from_slice(&side(tile.width));
    bytes.extend_from_slice(&u32::from(tile.is_exact).to_le_bytes());
    for end in [tile.lowest, tile.highest] {
        bytes.extend_from_slice(&end.unwrap_or(f64::NAN).to_le_bytes());
    }
    for numbers in [&tile.min, &tile.max, &tile.mean] {
        bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    }
    bytes.extend_from_slice(&tile.flags);
    bytes
}

/// Percentiles of a region.
pub(super) async fn range(State(world): State<Arc<AppState>>, uri: Uri) -> Result<Json, HttpError> {
    work(world, move |world, stop| {
        let query = Query::of(&uri);
        let subject = subject(world, &query)?;
        let region = query.region(&subject.sizes()?)?;
        let (low, high) = (query.number("low")?, query.number("high")?);
        let wanted = [low.unwrap_or(1.0), high.unwrap_or(99.0)];
        let (found, is_exact) = percentiles(&subject, &region, &wanted, stop)?;
        let found = found.unwrap_or_default();
        let end = |place: usize| found.get(place).copied().map(float);
        Ok(Json(
            json!({ "low": end(0), "high": end(1), "exact": is_exact }),
        ))
    })
    .await
}

/// Rows as lines.
pub(super) async fn line(State(world): State<Arc<AppState>>, uri: Uri) -> Result<Json, HttpError> {
    /// Most lines per plot.
    const MOST_LINES: usize = 64;
    work(world, move |world, stop| {
        let query = Query::of(&uri);
        let subject = subject(world, &query)?;
        let sizes = subject.sizes()?;
        let axis: usize = query.wanted("axis")?;
        let size = sizes.get(axis).copied();
        let size = size.ok_or_else(|| HttpError::cannot(format!("there is no axis {axis}")))?;
        let (from, to) = (query.number("i0")?, query.number("i1")?);
        let range = from.unwrap_or(0)..to.unwrap_or(size);
        let mut through = query.places()?;
        if through.is_empty() {
            through.push(vec![0; sizes.len()]);
        }
        if through.len() > MOST_LINES {
            return Err(HttpError::cannot(format!(
                "at most {MOST_LINES} lines at once"
            )));
        }
        let buckets = query.number("n")?.unwrap_or(1024);
        let found = lines(&subject, axis, &range, &through, buckets, stop)?;
        Ok(Json(drawn(&found)))
    })
    .await
}

fn drawn(found: &Lines) -> Value {
    let drawn = found.lines.iter().map(
        |line| json!({ "min": line.min, "max": line.max, "mean": line.mean, "nan": line.nan }),
    );
    let drawn: Vec<Value> = drawn.collect();
    json!({ "x": found.first, "lines": drawn, "exact": found.is_exact })
}

/// Histogram of values.
pub(super) async fn histogram(
    State(world): State<Arc<AppState>>,
    uri: Uri,
) -> Result<Json, HttpError> {
    work(world, move |world, stop| {
        let query = Query::of(&uri);
        let subject = subject(world, &query)?;
        let region = if query.has_region() {
            Some(query.region(&subject.sizes()?)?)
        } else {
            None
        };
        let bins = query.number("bins")?.unwrap_or(64);
        let found = histogram_of(&subject, region.as_ref(), None, bins, stop)?;
        let of = &found.statistics;
        let finite = |number: f64| (of.finite() > 0).then(|| float(number));
        Ok(Json(json!({
            "low": found.low.map(float),
            "high": found.high.map(float),
            "counts": found.counts,
            "stats": {
                "count": of.count,
                "nan": of.nan,
                "inf": of.infinite,
                "zeros": of.zeros,
                "min": finite(of.min),
                "max": finite(of.max),
                "mean": finite(of.mean),
                "std": finite(of.deviation()),
                "density": of.density(),
            },
            "exact": found.is_exact,
            "read": found.read,
        })))
    })
    .await
}
