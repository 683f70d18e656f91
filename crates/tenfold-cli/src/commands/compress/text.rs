//! Compression results as text.

use std::path::Path;

use tenfold::Result;

use super::asked;
use super::plan::{Entry, Fate};
use super::work::Made;
use crate::commands::Tolerance;
use crate::render::bytes_text;
use crate::terminal::{
    Row, Streams, Table, counted, dense_len, plain, ranks_text, ratio_text, rough, shape_text,
};

/// Most ranks listed individually.
const LISTED: usize = 40;

/// Prints the outcome for each tensor of a file.
pub(super) fn say(
    file: &Path,
    entries: &[Entry],
    nearness: &Tolerance,
    streams: &mut Streams,
) -> Result<()> {
    let who = streams.paint().note("tenfold:");
    let shown = plain(&file.display().to_string());
    let text = match entries {
        [entry] => match entry.made() {
            Some(made) => one(entry, made, nearness),
            None => return Ok(()),
        },
        entries => many(entries),
    };
    let (head, table) = text;
    let table = table.text("  ", streams.paint())?;
    streams.say(&format!("{who} {shown}: {}\n{table}", plain(&head)));
    for made in entries.iter().filter_map(|entry| entry.made()) {
        for note in &made.report.notes {
            streams.note(file, note);
        }
    }
    Ok(())
}

fn one(entry: &Entry, made: &Made, nearness: &Tolerance) -> (String, Table) {
    let tensor = &entry.tensor;
    let head = format!("{} {} becomes a train", tensor.dtype(), shape_text(tensor));
    let mut table = Table::default();
    let mut line = |name: &str, text: String| table.push(Row::new([name.to_owned(), text]));
    let shape = made.train.shape();
    if !shape
        .iter()
        .map(|size| u64::try_from(*size).ok())
        .eq(tensor.dims().iter().map(tenfold::Dim::indexed_size))
    {
        line("split", format!("into {}", modes_text(&shape)));
    }
    line("ranks", ranks_text(&made.train.ranks(), LISTED));
    let (before, after) = (entry.before(), made.report.train_len);
    let ratio = ratio_text(before, after);
    line(
        "size",
        format!("{} -> {}, {ratio}", bytes_text(before), bytes_text(after)),
    );
    let dense = dense_len(tensor);
    if dense != u128::from(before) {
        let ratio = ratio_text(dense, after);
        line(
            "",
            format!("all its cells are {}: {ratio}", bytes_text(dense)),
        );
    }
    if u128::from(made.report.dense_len) != dense {
        let (len, ratio) = (
            made.report.dense_len,
            ratio_text(made.report.dense_len, after),
        );
        line(
            "",
            format!("as doubles they are {}: {ratio}", bytes_text(len)),
        );
    }
    line("error", error_text(made, nearness));
    if let Some(measured) = &made.measured {
        line(
            "measured",
            format!("{} of the norm", rough(measured.relative())),
        );
    }
    let (seconds, route) = (made.report.seconds, made.report.route.as_str());
    line("time", format!("{seconds:.3} s, {route}"));
    (head, table)
}

/// The mode sizes, with runs of equal sizes as powers.
fn modes_text(shape: &[usize]) -> String {
    let runs = shape.chunk_by(|one, other| one == other);
    let texts = runs.filter_map(|run| match (run.first()?, run.len()) {
        (size, 1) => Some(size.to_string()),
        (size, count) => Some(format!("{size}^{count}")),
    });
    let texts: Vec<String> = texts.collect();
    format!("{} dimensions: {}", shape.len(), texts.join(" x "))
}

fn error_text(made: &Made, nearness: &Tolerance) -> String {
    let report = &made.report;
    let absolute = match nearness.abs_error {
        Some(_) => format!(", {} absolutely", rough(report.error)),
        None => String::new(),
    };
    let relative = rough(report.relative_error());
    format!(
        "at most {relative} of the norm{absolute}{}",
        asked(nearness)
    )
}

fn many(entries: &[Entry]) -> (String, Table) {
    let mut table = Table::default();
    for entry in entries {
        let tensor = &entry.tensor;
        let mut cells = vec![
            entry.name.clone(),
            tensor.dtype().to_string(),
            shape_text(tensor),
        ];
        match &entry.fate {
            Fate::Kept(reason) => cells.push(format!("kept: {reason}")),
            Fate::Made(made) => {
                let ranks = ranks_text(&made.train.ranks(), 9);
                let ratio = ratio_text(entry.before(), entry.after());
                let error = rough(made.report.relative_error());
                let mut text = format!("ranks {ranks}, {ratio}, error at most {error}");
                if let Some(measured) = &made.measured {
                    text.push_str(&format!(", measured {}", rough(measured.relative())));
                }
                cells.push(text);
            }
        }
        table.push(Row::new(cells));
    }
    let n_made = entries
        .iter()
        .filter(|entry| entry.made().is_some())
        .count();
    let sum = |len: fn(&Entry) -> u64| entries.iter().map(len).fold(0, u64::saturating_add);
    let (before, after) = (sum(Entry::before), sum(Entry::after));
    let all = counted(u64::try_from(entries.len()).unwrap_or(u64::MAX), "tensor");
    let head = format!(
        "{n_made} of {all} become trains: {} -> {} in all, {}",
        bytes_text(before),
        bytes_text(after),
        ratio_text(before, after)
    );
    (head, table)
}
