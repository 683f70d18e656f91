//! `tenfold hash`: content hashes of files and tensors.

pub(super) mod args;

use std::path::{Path, PathBuf};

use tenfold::ops::{TensorRef, select};
use tenfold::{ContentHash, Error, Opened, Result, file_hash, memory, tensor_hashes};

use super::{Found, Hash, Outcome, each_file, each_input};
use crate::error::Failure;
use crate::exit::Exit;
use crate::input;
use crate::render::{Json, note_text, shown_name};
use crate::terminal::{Meter, Out, Streams, plain};

const SCHEMA: &str = "tenfold.hash/1";

pub(super) fn run(args: &Hash, streams: &mut Streams) -> Outcome {
    if let Some(sums) = &args.check {
        return check(sums, args, streams).map_err(|failure| failure.about(sums));
    }
    let reading = &args.reading;
    each_input(&args.files, reading, streams, |file, found, streams| {
        let Found { reference, input } = found?;
        let (opened, _) = input::read(input, reference, reading, None, streams)?;
        let hashed = hashed(file, opened, args, streams)?;
        if args.json {
            print_json(file, &hashed, &mut streams.out)?;
        } else {
            print(file, &hashed, args, &mut streams.out)?;
        }
        Ok(Exit::Fine)
    })
}

/// The hashes of a file.
struct Hashed {
    format: &'static str,
    tensors: Vec<(String, ContentHash)>,
}

fn hashed(
    file: &Path,
    mut opened: Opened,
    args: &Hash,
    streams: &mut Streams,
) -> Result<Hashed, Failure> {
    let info = opened.format.info();
    let bundle = &mut opened.bundle;
    select(bundle, info, &args.choice.only, &args.choice.exclude)?;
    for note in bundle.notes() {
        streams.note(file, &note_text(info, note));
    }
    let meter = Meter::reading(streams, bundle.stored_len());
    let hashes = tensor_hashes(bundle, args.sparse_as(), &args.reading.limits.0);
    drop(meter);
    let hashes = hashes.map_err(|error| error.of(info.name))?;
    let names = bundle
        .entries()
        .iter()
        .map(|(key, _)| shown_name(info, key));
    Ok(Hashed {
        format: info.name,
        tensors: memory::collected(names.zip(hashes))?,
    })
}

fn print(word: &Path, hashed: &Hashed, args: &Hash, out: &mut Out) -> Result<()> {
    let shown = plain(&word.display().to_string());
    // An argument such as `FILE:KEY` already names its tensor.
    let is_file = TensorRef::find(word)?.file == word;
    if !args.tensors || !is_file {
        return out.text(&format!("{}  {shown}\n", file_hash(&hashed.tensors)?));
    }
    hashed.tensors.iter().try_for_each(|(name, hash)| {
        let colon = if name.is_empty() { "" } else { ":" };
        out.text(&format!("{hash}  {shown}{colon}{}\n", plain(name)))
    })
}

fn print_json(file: &Path, hashed: &Hashed, out: &mut Out) -> Result<()> {
    let mut json = Json::new(out);
    json.object(|json| {
        json.name("schema")?.text(SCHEMA)?;
        json.name("file")?.text(&file.to_string_lossy())?;
        json.name("format")?.text(hashed.format)?;
        let hash = file_hash(&hashed.tensors)?.to_string();
        json.name("hash")?.text(&hash)?;
        json.name("tensors")?.list(|json| {
            let mut tensors = hashed.tensors.iter();
            tensors.try_for_each(|(name, hash)| {
                json.object(|json| {
                    json.name("name")?.text(name)?;
                    json.name("hash")?.text(&hash.to_string())
                })
            })
        })
    })?;
    json.end_line()
}

/// One line of a list of hashes.
struct Sum {
    hash: String,
    /// The file, with `:` and a tensor if one is selected.
    word: String,
}

fn check(sums: &Path, args: &Hash, streams: &mut Streams) -> Outcome {
    let text = std::fs::read_to_string(sums).map_err(|error| Error::from(error).in_file(sums))?;
    let sums = parse(&text)?;
    let words: Vec<PathBuf> = sums.iter().map(|sum| PathBuf::from(&sum.word)).collect();
    let mut wanted = sums.iter();
    each_file(&words, streams, |word, streams| {
        let wanted = wanted.next().map(|sum| sum.hash.as_str());
        let (_, opened) = input::open(word, &args.reading, streams)?;
        let found = file_hash(&hashed(word, opened, args, streams)?.tensors)?.to_string();
        let is_right = wanted == Some(found.as_str());
        let verdict = if is_right { "ok" } else { "differs" };
        let word = plain(&word.display().to_string());
        streams.out.text(&format!("{word}: {verdict}\n"))?;
        Ok(if is_right { Exit::Fine } else { Exit::No })
    })
}

fn parse(text: &str) -> Result<Vec<Sum>, Failure> {
    let mut sums = Vec::new();
    for (place, line) in text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.is_empty())
    {
        let is_hash = |hash: &&str| hash.len() == 64 && hash.bytes().all(|c| c.is_ascii_hexdigit());
        match line.split_once("  ").filter(|(hash, _)| is_hash(hash)) {
            Some((hash, word)) => sums.push(Sum {
                hash: hash.to_ascii_lowercase(),
                word: word.into(),
            }),
            None => {
                let number = place.saturating_add(1);
                let why = format!("line {number} is no hash, two spaces and a file");
                return Err(Failure::usage(why));
            }
        }
    }
    Ok(sums)
}
