//! Searchable list of labeled blocks, and of the stored cells of sparse tensors.

use std::sync::Arc;

use axum::extract::State;
use axum::http::Uri;
use serde_json::{Value, json};
use tenfold::{Cell, Dim, Limits, Numbers, Order, Slice, Storage, Tensor};

use super::query::Query;
use super::response::{HttpError, Json, count};
use super::state::{AppState, place};
use super::tasks::work;
use super::values::text;

/// Most blocks in a response.
const MOST: u64 = 1000;

/// Most values shown of a block.
const SHOWN: u64 = 16;

/// The blocks whose labels contain a text.
pub(super) async fn blocks(
    State(world): State<Arc<AppState>>,
    uri: Uri,
) -> Result<Json, HttpError> {
    work(world, move |world, stop| {
        let query = Query::of(&uri);
        let (_, _, tensor) = world.entry(place(&query)?)?;
        if !matches!(tensor.storage(), Storage::Sparse { .. }) {
            return Err(HttpError::cannot(
                "only sparse and labelled tensors have blocks",
            ));
        }
        let filter = query.get("filter").unwrap_or_default().to_lowercase();
        let (offset, limit) = (query.number("offset")?, query.number("limit")?);
        let mut found = Found {
            tensor,
            limits: &world.limits,
            first: offset.unwrap_or(0),
            most: limit.unwrap_or(100).min(MOST),
            total: 0,
            matching: 0,
            blocks: Vec::new(),
        };
        tensor.for_each_cell(&world.limits, &mut |cell| {
            stop.check()?;
            found.take(&filter, &cell)
        })?;
        let dims = tensor.dims().iter();
        let is_labelled = tensor.n_mapped() > 0;
        let dims = dims.filter(|dim| !is_labelled || dim.indexed_size().is_none());
        let names: Vec<&Option<String>> = dims.map(|dim| &dim.name).collect();
        Ok(Json(json!({
            "total": found.total,
            "matching": found.matching,
            "dims": names,
            "blocks": found.blocks,
        })))
    })
    .await
}

/// The number of matches so far, and the blocks in the response.
struct Found<'a> {
    tensor: &'a Tensor,
    limits: &'a Limits,
    first: u64,
    most: u64,
    total: u64,
    matching: u64,
    blocks: Vec<Value>,
}

impl Found<'_> {
    fn take(&mut self, filter: &str, cell: &Cell) -> tenfold::Result<()> {
        self.total = self.total.saturating_add(1);
        let labels: Vec<String> = match cell {
            Cell::At { index, .. } => index.iter().map(u64::to_string).collect(),
            Cell::Labelled { labels, .. } => labels.to_vec(),
        };
        let matches = |label: &String| label.to_lowercase().contains(filter);
        if !filter.is_empty() && !labels.iter().any(matches) {
            return Ok(());
        }
        let place = self.matching;
        self.matching = self.matching.saturating_add(1);
        if place < self.first || place >= self.first.saturating_add(self.most) {
            return Ok(());
        }
        let (values, n_values) = match cell {
            Cell::At { value, .. } => (vec![text(self.tensor.dtype(), value)], 1),
            Cell::Labelled { values, .. } => self.values(values)?,
        };
        self.blocks
            .push(json!({ "labels": labels, "values": values, "count": count(n_values) }));
        Ok(())
    }

    /// The first values of a block, and their number.
    fn values(&self, values: &Numbers) -> tenfold::Result<(Vec<String>, u64)> {
        let dtype = self.tensor.dtype();
        let parts = u64::try_from(dtype.arity.count()).unwrap_or(1);
        let n_values = values.len() / parts;
        let storage = Storage::Dense {
            order: Order::Row,
            values: values.clone(),
        };
        let block = Tensor::new(vec![Dim::indexed(n_values)], dtype, vec![], storage)?;
        let shown = Slice::range(0..n_values.min(SHOWN));
        let bytes = block.read_box_bytes(&[shown], self.limits)?;
        let texts = bytes
            .chunks_exact(dtype.width())
            .map(|one| text(dtype, one));
        Ok((texts.collect(), n_values))
    }
}
