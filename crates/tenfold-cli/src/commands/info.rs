//! `tenfold info`: what is in files, from their headers alone.

use std::path::Path;

use tenfold::{Bundle, Info, Key, Opened, Result, Source, Storage, Tensor};

use super::{Outcome, each_file};
use crate::args::Files;
use crate::exit::Exit;
use crate::input;
use crate::render::{
    Json, Row, Table, bytes_text, cells_text, counted, describe, metadata, metadata_lines, note,
    note_text, plain, shape_text, shown_name,
};
use crate::streams::{Out, Streams};

const SCHEMA: &str = "tenfold.info/1";

pub(super) fn run(args: &Files, streams: &mut Streams) -> Outcome {
    each_file(&args.files, streams, |file, streams| {
        let (source, opened) = input::open(file, &args.reading, streams)?;
        if args.json {
            print_json(file, &source, &opened, &mut streams.out)?;
        } else {
            print(file, &source, &opened, &mut streams.out)?;
        }
        Ok(Exit::Fine)
    })
}

fn print_json(file: &Path, source: &Source, opened: &Opened, out: &mut Out) -> Result<()> {
    let (info, bundle) = (opened.format.info(), &opened.bundle);
    let mut json = Json::new(out);
    json.object(|json| {
        json.name("schema")?.text(SCHEMA)?;
        json.name("file")?.text(&file.to_string_lossy())?;
        json.name("format")?.text(info.name)?;
        json.name("bytes")?.number(source.len())?;
        metadata(json, &bundle.meta, &bundle.hints)?;
        json.name("notes")?.list(|json| {
            let mut notes = bundle.notes().iter();
            notes.try_for_each(|item| note(json, Some(info), item))
        })?;
        json.name("tensors")?.list(|json| {
            let mut entries = bundle.entries().iter();
            entries.try_for_each(|(key, tensor)| {
                json.object(|json| tensor_json(json, info, key, tensor))
            })
        })?;
        let totals = Totals::of(bundle);
        json.name("totals")?.object(|json| {
            json.name("tensors")?.number(bundle.entries().len())?;
            json.name("stored")?.number(totals.stored)?;
            json.name("stored_bytes")?.number(totals.stored_bytes)
        })
    })?;
    json.end_line()
}

fn tensor_json(json: &mut Json, info: &Info, key: &Key, tensor: &Tensor) -> Result<()> {
    describe(json, info, key, tensor)?;
    if let Storage::Train { ranks, .. } = tensor.storage() {
        json.name("ranks")?.numbers(ranks)?;
    }
    json.name("packed")?.number(tensor.is_packed())?;
    json.name("cells")?.number_or_null(tensor.cells())?;
    json.name("stored")?.number(tensor.stored())?;
    json.name("stored_bytes")?
        .number(tensor.storage().stored_len())
}

/// Sums over all tensors of a file.
struct Totals {
    /// Elements, or labelled blocks.
    stored: u64,
    stored_bytes: u64,
}

impl Totals {
    fn of(bundle: &Bundle) -> Totals {
        let mut totals = Totals {
            stored: 0,
            stored_bytes: 0,
        };
        for (_, tensor) in bundle.entries() {
            totals.stored = totals.stored.saturating_add(tensor.stored());
            let len = tensor.storage().stored_len();
            totals.stored_bytes = totals.stored_bytes.saturating_add(len);
        }
        totals
    }
}

fn print(file: &Path, source: &Source, opened: &Opened, out: &mut Out) -> Result<()> {
    let (info, bundle) = (opened.format.info(), &opened.bundle);
    let file = plain(&file.display().to_string());
    let n_tensors = u64::try_from(bundle.entries().len()).unwrap_or(u64::MAX);
    let count = counted(n_tensors, "tensor");
    let size = bytes_text(source.len());
    let values = bytes_text(Totals::of(bundle).stored_bytes);
    let head = format!(
        "{file}: {}, {size}, {count}, {values} of values\n",
        info.name
    );
    out.text(&head)?;
    for line in metadata_lines(&bundle.meta, &bundle.hints) {
        out.text(&format!("  {}\n", plain(&line)))?;
    }
    for note in bundle.notes() {
        out.text(&format!("  {}\n", plain(&note_text(info, note))))?;
    }
    if bundle.entries().is_empty() {
        return Ok(());
    }
    let mut table = Table::new(&["name", "dtype", "shape", "storage", "bytes"]);
    for (key, tensor) in bundle.entries() {
        table.push(row(info, key, tensor));
    }
    table.print("  ", out)
}

fn row(info: &Info, key: &Key, tensor: &Tensor) -> Row {
    let name = match shown_name(info, key) {
        name if name.is_empty() => "(unnamed)".into(),
        name => name,
    };
    let mut row = Row::new([
        name,
        tensor.dtype().to_string(),
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
    row.below
        .extend(metadata_lines(&tensor.meta, &tensor.hints));
    row
}
