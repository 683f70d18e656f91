//! `tenfold plot`: a plot of a tensor, in a file or in the terminal.

pub(super) mod args;

use std::path::Path;

use tenfold::{Error, Info, Key, Tensor};
use tenfold_view::plot::{Drawing, Options, Scene, png, svg, terminal};

use super::output::Destination;
use super::{Outcome, Plot};
use crate::error::Failure;
use crate::exit::Exit;
use crate::input;
use crate::render::{Json, describe, note_text, shown_name};
use crate::terminal::{Out, Streams, plain, shape_text};

const SCHEMA: &str = "tenfold.plot/1";

/// Default width of plots in the terminal, in characters.
const LETTERS: (u32, u32) = (72, 24);

pub(super) fn run(args: &Plot, streams: &mut Streams) -> Outcome {
    let about = |failure: Failure| failure.about(&args.file);
    if args.output.is_none() && !args.term {
        let why = "name the picture to write, as in -o out.png, or draw it here with --term";
        return Err(Failure::usage(why));
    }
    let write = args.output.as_deref().map(writer).transpose()?;
    if let Some(output) = &args.output {
        Destination::File(output.clone()).refuse_existing(args.force)?;
    }
    let reference = input::reference(&args.file, &args.words, &args.part)
        .map_err(|error| about(error.into()))?;
    let (_, opened) = input::open_at(&reference, &args.reading, streams).map_err(about)?;
    let info = opened.format.info();
    for note in opened.bundle.notes() {
        streams.note(&args.file, &note_text(info, note));
    }
    let [(key, tensor)] = opened.bundle.entries() else {
        let count = opened.bundle.entries().len();
        let why =
            format!("a picture is of one tensor, and here are {count}: name one, as in FILE:KEY");
        return Err(about(Failure::usage(why)));
    };
    let limits = &args.reading.limits.0;
    let drawing = Drawing {
        tensor: &tensor.at_hand(limits)?,
        title: plain(&title(
            &args.file,
            &reference.file,
            &shown_name(info, key),
            tensor,
        )),
        options: options(args),
        limits: limits.clone(),
    };
    let failed = |error: Error| about(error.of(info.name).into());
    match (write, &args.output) {
        (Some(write), Some(output)) => {
            let picture = drawing.scene().and_then(|scene| write(&scene));
            let picture = picture.map_err(failed)?;
            tenfold::save_with(output, args.force, false, |out| out.write(&picture))?;
            if args.json {
                let len = picture.len();
                print_json(
                    args,
                    output,
                    len,
                    info,
                    (key, tensor),
                    &drawing,
                    &mut streams.out,
                )?;
            }
        }
        _ => {
            let (width, height) = args.size.unwrap_or(LETTERS);
            let colors = streams.out.paint.is_on;
            let picture = terminal(&drawing, width, height, colors).map_err(failed)?;
            streams.out.text(&format!("{}\n{picture}", drawing.title))?;
        }
    }
    Ok(Exit::Fine)
}

fn print_json(
    args: &Plot,
    output: &Path,
    len: usize,
    info: &Info,
    (key, tensor): (&Key, &Tensor),
    drawing: &Drawing,
    out: &mut Out,
) -> Result<(), Failure> {
    let mut json = Json::new(out);
    json.object(|json| {
        json.name("schema")?.text(SCHEMA)?;
        json.name("file")?.text(&args.file.to_string_lossy())?;
        json.name("format")?.text(info.name)?;
        json.name("tensor")?
            .object(|json| describe(json, info, key, tensor))?;
        json.name("output")?.text(&output.to_string_lossy())?;
        json.name("bytes")?.number(len)?;
        json.name("title")?.text(&drawing.title)?;
        let (width, height) = drawing.options.size;
        json.name("size")?.numbers([width, height])
    })?;
    Ok(json.end_line()?)
}

fn options(args: &Plot) -> Options {
    let usual = Options::default();
    Options {
        kind: args.kind.map(Into::into),
        part: args.component,
        scale: args.scale,
        colors: args.colors,
        range: args.range,
        size: args.size.unwrap_or(usual.size),
    }
}

/// The title: the argument without its folder, and the kind of tensor.
fn title(word: &Path, file: &Path, name: &str, tensor: &Tensor) -> String {
    let word = word.to_string_lossy();
    let folder = file.parent().map(|folder| format!("{}/", folder.display()));
    let asked = folder.and_then(|folder| word.strip_prefix(&folder).map(str::to_owned));
    let asked = asked.unwrap_or_else(|| word.into_owned());
    let name = if name.is_empty() || asked.contains(name) {
        String::new()
    } else {
        format!(":{name}")
    };
    format!("{asked}{name} {} {}", tensor.dtype(), shape_text(tensor))
}

/// Encodes a scene as a file.
type Maker = fn(&Scene) -> tenfold::Result<Vec<u8>>;

/// The encoder for a file name.
fn writer(output: &Path) -> Result<Maker, Failure> {
    let ending = output.extension().unwrap_or_default().to_ascii_lowercase();
    match ending.to_str() {
        Some("png") => Ok(png),
        Some("svg") => Ok(|scene| svg(scene).map(String::into_bytes)),
        _ => {
            let why = "a picture is written as .png or .svg; --term draws in the terminal";
            Err(Failure::usage(why).about(output))
        }
    }
}
