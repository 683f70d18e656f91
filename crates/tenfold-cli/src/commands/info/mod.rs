//! `tenfold info`: file contents from headers alone.

pub(super) mod args;
mod order;
mod tree;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;

use tenfold::{Bundle, Info, Key, Opened, Result, Storage, Tensor};

use super::{Describe, Found, Outcome, Sort, each_input};
use crate::exit::Exit;
use crate::input;
use crate::render::{
    Json, bytes_text, describe, metadata, metadata_lines, name_text, note, note_text, shown_name,
    type_spec,
};
use crate::terminal::{
    Out, Row, Streams, Table, cells_text, count_text, counted, dtype_text, plain, shape_text,
};
use order::sorted;

const SCHEMA: &str = "tenfold.info/1";

pub(super) fn run(args: &Describe, streams: &mut Streams) -> Outcome {
    let reading = &args.files.reading;
    each_input(
        &args.files.files,
        reading,
        streams,
        |file, found, streams| {
            let Found { reference, input } = found?;
            let mut opened = input::read_headers(input, reference, reading, streams)?;
            input::choose(&mut opened, &args.choice)?;
            let len = input.len();
            if args.files.json {
                print_json(file, len, &opened, args, &mut streams.out)?;
            } else {
                print(file, len, &opened, args, &mut streams.out)?;
            }
            Ok(Exit::Fine)
        },
    )
}

fn print_json(
    file: &Path,
    len: u64,
    opened: &Opened,
    args: &Describe,
    out: &mut Out,
) -> Result<()> {
    let (info, bundle) = (opened.format.info(), &opened.bundle);
    let mut json = Json::new(out);
    json.object(|json| {
        json.name("schema")?.text(SCHEMA)?;
        json.name("file")?.text(&file.to_string_lossy())?;
        json.name("format")?.text(info.name)?;
        json.name("bytes")?.number(len)?;
        metadata(json, &bundle.meta, &bundle.hints)?;
        json.name("notes")?.list(|json| {
            let mut notes = bundle.notes().iter();
            notes.try_for_each(|item| note(json, Some(info), item))
        })?;
        json.name("tensors")?.list(|json| {
            let entries = sorted(bundle, args.sort.unwrap_or(Sort::File))?;
            entries.into_iter().try_for_each(|(key, tensor)| {
                json.object(|json| tensor_json(json, info, key, tensor))
            })
        })?;
        let totals = Totals::of(bundle);
        json.name("totals")?.object(|json| {
            json.name("tensors")?.number(bundle.entries().len())?;
            json.name("parameters")?.number(totals.parameters)?;
            json.name("stored")?.number(totals.stored)?;
            json.name("stored_bytes")?.number(totals.stored_bytes)?;
            json.name("bytes_by_dtype")?.object(|json| {
                let mut dtypes = totals.by_dtype().into_iter();
                dtypes.try_for_each(|(dtype, len)| json.name(dtype)?.number(len))
            })
        })
    })?;
    json.end_line()
}

fn tensor_json(json: &mut Json, info: &Info, key: &Key, tensor: &Tensor) -> Result<()> {
    describe(json, info, key, tensor)?;
    json.name("type")?
        .text_or_null(vespa_type(info, tensor).as_deref())?;
    if let Storage::Train { ranks, .. } = tensor.storage() {
        json.name("ranks")?.numbers(ranks)?;
    }
    json.name("packed")?.number(tensor.is_packed())?;
    json.name("cells")?.number_or_null(tensor.cells())?;
    json.name("stored")?.number(tensor.stored())?;
    json.name("stored_bytes")?
        .number(tensor.storage().stored_len())
}

/// Totals over all tensors of a file.
#[derive(Default)]
struct Totals {
    /// Stored elements of tensors other than statistics.
    parameters: u128,
    /// Elements, or labeled blocks.
    stored: u64,
    stored_bytes: u64,
    /// The same per element type.
    of_dtype: BTreeMap<String, u64>,
    statistics: u64,
}

impl Totals {
    fn of(bundle: &Bundle) -> Totals {
        let mut totals = Totals::default();
        for (key, tensor) in bundle.entries() {
            match key.state {
                None => totals.parameters = totals.parameters.saturating_add(parameters(tensor)),
                Some(_) => totals.statistics = totals.statistics.saturating_add(1),
            }
            totals.stored = totals.stored.saturating_add(tensor.stored());
            let len = tensor.storage().stored_len();
            totals.stored_bytes = totals.stored_bytes.saturating_add(len);
            let of_dtype = totals.of_dtype.entry(dtype_text(tensor)).or_default();
            *of_dtype = of_dtype.saturating_add(len);
        }
        totals
    }

    /// Bytes of values per element type, largest first.
    fn by_dtype(&self) -> Vec<(&str, u64)> {
        let all = self.of_dtype.iter();
        let mut all: Vec<_> = all.map(|(dtype, len)| (dtype.as_str(), *len)).collect();
        all.sort_by_key(|(_, len)| Reverse(*len));
        all
    }
}

/// The number of elements stored in cells, blocks or cores.
fn parameters(tensor: &Tensor) -> u128 {
    let elements: u128 = match tensor.storage() {
        Storage::Dense { values, .. } | Storage::Sparse { values, .. } => values.len().into(),
        Storage::Train { cores, .. } => cores.iter().map(|core| u128::from(core.len())).sum(),
        Storage::Opaque { .. } if tensor.is_quantized() => return tensor.cells().unwrap_or(0),
        Storage::Opaque { .. } => 0,
    };
    let width = tensor.dtype().width() / tensor.dtype().number.width().max(1);
    elements / u128::try_from(width.max(1)).unwrap_or(1)
}

/// The tensor type in Vespa's notation, for the formats that use it.
fn vespa_type(info: &Info, tensor: &Tensor) -> Option<String> {
    let is_wanted = info.name == "vespa" || tensor.n_mapped() > 0;
    type_spec(tensor).filter(|_| is_wanted)
}

fn print(file: &Path, len: u64, opened: &Opened, args: &Describe, out: &mut Out) -> Result<()> {
    let (info, bundle) = (opened.format.info(), &opened.bundle);
    let file = out.paint.name(&plain(&file.display().to_string()));
    out.text(&format!("{file}: {}\n", headline(info, len, bundle)))?;
    for line in metadata_lines(&bundle.meta, &bundle.hints) {
        out.text(&format!("  {}\n", plain(&line)))?;
    }
    for note in bundle.notes() {
        out.text(&format!("  {}\n", plain(&note_text(info, note))))?;
    }
    if bundle.entries().is_empty() {
        return Ok(());
    }
    let entries = sorted(bundle, args.sort.unwrap_or(Sort::Name))?;
    let mut table = Table::new(&["name", "dtype", "shape", "storage", "bytes"]);
    let each = |key: &Key, tensor: &Tensor| row(info, key, tensor);
    if args.tree {
        let rows = tree::rows(info, &entries, each)?;
        rows.into_iter().for_each(|row| table.push(row));
    } else {
        let rows = entries.iter().map(|(key, tensor)| each(key, tensor));
        rows.for_each(|row| table.push(row));
    }
    table.print("  ", out)
}

/// The format and the totals.
fn headline(info: &Info, len: u64, bundle: &Bundle) -> String {
    let n_tensors = u64::try_from(bundle.entries().len()).unwrap_or(u64::MAX);
    let totals = Totals::of(bundle);
    let mut count = counted(n_tensors, "tensor");
    if totals.statistics > 0 {
        count = format!("{count} ({} of them statistics)", totals.statistics);
    }
    let parameters = match totals.parameters {
        1 => "1 parameter".into(),
        many => format!("{} parameters", count_text(many)),
    };
    let (size, values) = (bytes_text(len), bytes_text(totals.stored_bytes));
    let dtypes: Vec<String> = { totals.by_dtype().into_iter() }
        .map(|(dtype, len)| format!("{dtype} {}", bytes_text(len)))
        .collect();
    let dtypes = match dtypes.len() {
        0 | 1 => String::new(),
        _ => format!(" ({})", dtypes.join(", ")),
    };
    format!(
        "{}, {size}, {count}, {parameters}, {values} of values{dtypes}",
        info.name
    )
}

fn row(info: &Info, key: &Key, tensor: &Tensor) -> Row {
    let name = name_text(&shown_name(info, key));
    let mut row = Row::new([
        name,
        dtype_text(tensor),
        shape_text(tensor),
        cells_text(tensor),
        bytes_text(tensor.storage().stored_len()),
    ]);
    for symmetry in tensor.symmetries() {
        let packed = if symmetry.packed { ", packed" } else { "" };
        row.below.push(format!(
            "symmetry {} under {:?}{packed}",
            symmetry.operation, symmetry.permutation
        ));
    }
    if let Some(text) = vespa_type(info, tensor) {
        row.below.push(format!("type {text}"));
    }
    row.below
        .extend(metadata_lines(&tensor.meta, &tensor.hints));
    row
}
