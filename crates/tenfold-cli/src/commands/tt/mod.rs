//! `tenfold tt`: arithmetic with trains.

mod info;
mod round;
mod sum;

use std::path::Path;

use tenfold::{Bundle, Info, Key, Number, Storage, Tensor, write_number};
use tenfold_train::AnyTrain;

use super::output::name_of_all;
use super::{Outcome, Tt, TtCommand, TtDot, each_file};
use crate::args::{Files, Reading};
use crate::error::Failure;
use crate::exit::Exit;
use crate::input;
use crate::render::Json;
use crate::terminal::Streams;

pub(super) fn run(args: &Tt, streams: &mut Streams) -> Outcome {
    match &args.command {
        TtCommand::Info(args) => info::run(args, streams),
        TtCommand::Round(args) => round::run(args, streams),
        TtCommand::Dot(args) => dot(args, streams),
        TtCommand::Add(args) => sum::run(args, AnyTrain::add, streams),
        TtCommand::Sub(args) => sum::run(args, AnyTrain::sub, streams),
        TtCommand::Distance(args) => distance(args, streams),
        TtCommand::Norm(args) => norm(args, streams),
    }
}

/// The trains of a file, with their names.
struct Trains {
    info: &'static Info,
    /// A train without cells is skipped: there is nothing to compute.
    found: Vec<(Key, Tensor, Option<AnyTrain>)>,
}

impl Trains {
    /// Reads all trains of a file into memory; fails if there are none.
    fn open(file: &Path, reading: &Reading, streams: &mut Streams) -> Result<Trains, Failure> {
        let (_, opened) = input::open(file, reading, streams)?;
        let info = opened.format.info();
        let mut found = Vec::new();
        for (key, tensor) in opened.bundle.entries() {
            if matches!(tensor.storage(), Storage::Train { .. }) {
                let train = match tensor.cells() {
                    Some(0) => None,
                    _ => Some(AnyTrain::from_tensor(tensor)),
                };
                let train = train.transpose();
                let train = train.map_err(|error| Failure::from(error).of(info))?;
                found.push((key.clone(), tensor.clone(), train));
            }
        }
        if found.is_empty() {
            return Err(no_train(&opened.bundle, "tenfold compress makes one"));
        }
        Ok(Trains { info, found })
    }

    /// The only train.
    fn only(self) -> Result<Option<AnyTrain>, Failure> {
        let count = self.found.len();
        match self.found.into_iter().next() {
            Some((_, _, train)) if count == 1 => Ok(train),
            _ => Err(Failure::usage(format!(
                "one train is wanted and there are {count}: name one, as in FILE:KEY"
            ))),
        }
    }
}

/// The message for a file without trains, with a hint for its tensors, if it has any.
pub(super) fn no_train(bundle: &Bundle, instead: &str) -> Failure {
    match bundle.entries() {
        [] => Failure::usage("there is no tensor in it"),
        _ => Failure::usage(format!("there is no train in it: {instead}")),
    }
}

fn only(file: &Path, reading: &Reading, streams: &mut Streams) -> Result<AnyTrain, Failure> {
    let trains = Trains::open(file, reading, streams).and_then(Trains::only);
    let why = "a train without cells has nothing to compute with";
    let train = trains.and_then(|train| train.ok_or_else(|| Failure::usage(why)));
    train.map_err(|failure| failure.about(file))
}

/// The ranks of a train.
fn ranks(tensor: &Tensor) -> &[u64] {
    match tensor.storage() {
        Storage::Train { ranks, .. } => ranks,
        _ => &[],
    }
}

/// An error about the result of two trains, or about one of them.
fn of_both(error: tenfold_train::Error, a: &Path, b: &Path) -> Failure {
    let both = name_of_all(&[a, b]).unwrap_or_default();
    Failure::from(error).about(&both)
}

fn dot(args: &TtDot, streams: &mut Streams) -> Outcome {
    let a = only(&args.a, &args.reading, streams)?;
    let b = only(&args.b, &args.reading, streams)?;
    let of_both = |error| of_both(error, &args.a, &args.b);
    let product = a.dot(&b).map_err(of_both)?;
    let is_real = matches!((&a, &b), (AnyTrain::Real(_), AnyTrain::Real(_)));
    if args.json {
        let mut json = Json::new(&mut streams.out);
        json.object(|json| {
            json.name("schema")?.text("tenfold.tt-dot/1")?;
            json.name("a")?.text(&args.a.to_string_lossy())?;
            json.name("b")?.text(&args.b.to_string_lossy())?;
            json.name("re")?.float(product.re)?;
            json.name("im")?.float(product.im)
        })?;
        json.end_line()?;
        return Ok(Exit::Fine);
    }
    let (re, im) = (float_text(product.re), float_text(product.im));
    streams.out.text(&if is_real {
        format!("{re}\n")
    } else {
        format!("{re} {im}\n")
    })?;
    Ok(Exit::Fine)
}

fn distance(args: &TtDot, streams: &mut Streams) -> Outcome {
    let a = only(&args.a, &args.reading, streams)?;
    let b = only(&args.b, &args.reading, streams)?;
    let of_both = |error| of_both(error, &args.a, &args.b);
    let distance = a.sub(&b).and_then(|difference| difference.norm());
    let distance = distance.map_err(of_both)?;
    if !args.json {
        streams.out.text(&format!("{}\n", float_text(distance)))?;
        return Ok(Exit::Fine);
    }
    let norm = { a.norm() }.map_err(|error| Failure::from(error).about(&args.a))?;
    let mut json = Json::new(&mut streams.out);
    json.object(|json| {
        json.name("schema")?.text("tenfold.tt-distance/1")?;
        json.name("a")?.text(&args.a.to_string_lossy())?;
        json.name("b")?.text(&args.b.to_string_lossy())?;
        json.name("distance")?.float(distance)?;
        let relative = if distance == 0.0 {
            0.0
        } else {
            distance / norm
        };
        json.name("relative")?.float(relative)
    })?;
    json.end_line()?;
    Ok(Exit::Fine)
}

fn norm(args: &Files, streams: &mut Streams) -> Outcome {
    let is_lone = args.files.len() == 1;
    each_file(&args.files, streams, |file, streams| {
        let train = Trains::open(file, &args.reading, streams)?.only()?;
        let norm = train.map_or(Ok(0.0), |train| train.norm())?;
        if args.json {
            let mut json = Json::new(&mut streams.out);
            json.object(|json| {
                json.name("schema")?.text("tenfold.tt-norm/1")?;
                json.name("file")?.text(&file.to_string_lossy())?;
                json.name("norm")?.float(norm)
            })?;
            json.end_line()?;
            return Ok(Exit::Fine);
        }
        let text = float_text(norm);
        let file = crate::terminal::plain(&file.display().to_string());
        streams.out.text(&if is_lone {
            format!("{text}\n")
        } else {
            format!("{text}  {file}\n")
        })?;
        Ok(Exit::Fine)
    })
}

/// A number with all its digits.
fn float_text(value: f64) -> String {
    let mut text = String::new();
    write_number(Number::F64, &value.to_le_bytes(), &mut text);
    text
}
