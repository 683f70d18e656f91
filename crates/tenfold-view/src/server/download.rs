//! Download of regions as files.

use std::io;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::Uri;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use tenfold::{
    Allow, Bundle, Error, IndexExpr, Limits, Result as Done, Sink, Tensor, WriteOptions,
};

use super::body::{BodyWriter, body_channel};
use super::panics::report_panic;
use super::query::Query;
use super::response::HttpError;
use super::state::{AppState, place};
use super::tasks::download;
use crate::image::{Region, check_alike, core_of, difference, readable};

/// The file format of a region.
#[derive(Clone, Copy)]
enum Form {
    Npy,
    Csv,
    Json,
}

impl Form {
    fn named(name: Option<&str>) -> Result<Form, HttpError> {
        match name {
            Some("npy") => Ok(Form::Npy),
            Some("csv") => Ok(Form::Csv),
            Some("json") => Ok(Form::Json),
            _ => Err(HttpError::asked("as is npy, csv or json")),
        }
    }

    fn ending(self) -> &'static str {
        match self {
            Form::Npy => "npy",
            Form::Csv => "csv",
            Form::Json => "json",
        }
    }

    fn kind(self) -> &'static str {
        match self {
            Form::Npy => "application/octet-stream",
            Form::Csv => "text/csv; charset=utf-8",
            Form::Json => "application/json",
        }
    }
}

/// A region as a file.
pub(super) async fn export(
    State(world): State<Arc<AppState>>,
    uri: Uri,
) -> Result<Response, HttpError> {
    let query = Query::of(&uri);
    let form = Form::named(query.get("as"))?;
    let (pen, paper) = body_channel();
    let name = {
        let (file, key, _) = world.entry(place(&query)?)?;
        harmless(&file.opened.format.info().name_of(key))
    };
    let sender = pen.sender();
    tokio::spawn(async move {
        let observer = Arc::clone(&world.observer);
        let written = download(world, move |world, _| write(world, &query, form, pen));
        let failed = match AssertUnwindSafe(written).catch_unwind().await {
            Ok(Ok(())) => return,
            Ok(Err(problem)) => problem,
            Err(payload) => report_panic(&observer, "GET /api/export", payload.as_ref()),
        };
        // The client has gone.
        let _ = sender.send(Err(io::Error::other(Told(failed)))).await;
    });
    let paper = paper.begun().await.map_err(told)?;
    let disposition = format!("attachment; filename=\"{name}.{}\"", form.ending());
    let headers = [
        (CONTENT_TYPE, form.kind().to_owned()),
        (CONTENT_DISPOSITION, disposition),
    ];
    Ok((headers, Body::from_stream(paper)).into_response())
}

/// An HTTP error as an error of a stream.
#[derive(Debug, thiserror::Error)]
#[error("an export failed")]
struct Told(HttpError);

fn told(error: io::Error) -> HttpError {
    match error.downcast::<Told>() {
        Ok(Told(problem)) => problem,
        Err(error) => HttpError::cannot(error.to_string()),
    }
}

fn write(world: &AppState, query: &Query, form: Form, pen: BodyWriter) -> Result<(), HttpError> {
    let place = place(query)?;
    let (file, key, _) = world.entry(place)?;
    let mut tensor = world.tensor(place)?;
    if let Some(core) = query.number("core")? {
        tensor = core_of(&tensor, core)?;
    }
    let tensor = readable(&tensor, &world.limits)?;
    let region = query.region(&tensor.sizes()?)?;
    let mut part = cut(&tensor, &region, &world.limits)?;
    if let Some(other) = query.pair("with")? {
        let other = readable(&world.tensor(other)?, &world.limits)?;
        check_alike(&tensor, &other)?;
        let other = cut(&other, &region, &world.limits)?;
        part = difference(&part, &other, &world.limits)?;
    }
    let mut bundle = Bundle::new();
    bundle.push(key.clone(), part);
    let info = file.opened.format.info();
    match form {
        Form::Npy => npy(&bundle, &world.limits, pen)?,
        Form::Csv => (world.wording.csv)(info, &bundle, &world.limits, Box::new(pen))?,
        Form::Json => (world.wording.json)(info, &bundle, &world.limits, Box::new(pen))?,
    }
    Ok(())
}

/// The part of a tensor in a region, rows before columns.
fn cut(tensor: &Tensor, region: &Region, limits: &Limits) -> Done<Tensor> {
    let range = |range: &std::ops::Range<u64>| IndexExpr::Range {
        start: Some(range.start.into()),
        stop: Some(range.end.into()),
        step: 1,
    };
    let places = region.at.iter().enumerate();
    let picks: Vec<IndexExpr> = { places }
        .map(|(axis, place)| match axis {
            axis if Some(axis) == region.rows => range(&region.down),
            axis if Some(axis) == region.columns => range(&region.right),
            _ => IndexExpr::Index((*place).into()),
        })
        .collect();
    let part = tensor.sliced(&picks, limits)?;
    if region.is_turned() {
        part.permute(&[1, 0], limits)
    } else {
        Ok(part)
    }
}

fn npy(bundle: &Bundle, limits: &Limits, pen: BodyWriter) -> Done<()> {
    let format = tenfold::by_name("npy");
    let format = format.ok_or_else(|| Error::Invalid("npy is not known".into()))?;
    let how = WriteOptions {
        allow: Allow::Everything,
        limits: limits.clone(),
        ..WriteOptions::default()
    };
    let mut sink = Sink::stream(Box::new(pen));
    tenfold::write_to(bundle, &mut sink, format, &how)?;
    sink.finish().map(|_| ())
}

/// A file name from a tensor name, without characters that are special on any system.
fn harmless(name: &str) -> String {
    const LONGEST: usize = 64;
    let plain = |letter: char| match letter {
        letter if letter.is_ascii_alphanumeric() || letter == '-' => letter,
        '.' => '.',
        _ => '_',
    };
    let name: String = name.chars().map(plain).take(LONGEST).collect();
    match name.trim_matches('.') {
        "" => "tensor".into(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_exports_are_harmless() {
        for (name, file) in [
            ("enc/w.0", "enc_w.0"),
            ("../../etc/passwd", "_.._etc_passwd"),
            ("\"; x=\r\n", "___x___"),
            ("", "tensor"),
            ("...", "tensor"),
        ] {
            assert_eq!(harmless(name), file);
        }
    }
}
