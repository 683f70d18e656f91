//! `tenfold view`: files as a page in the browser.

use std::io::Write;
use std::path::Path;

use tenfold::Result;
use tenfold_view::{File, Server, Wording};

use super::{Outcome, show};
use crate::address::Address;
use crate::args::{Reading, View};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input;
use crate::render::{metadata_object, note_text, plain};
use crate::streams::{Out, Streams, in_output};

pub(super) fn run(args: &View, streams: &mut Streams) -> Outcome {
    let mut files = Vec::with_capacity(args.files.len());
    for word in &args.files {
        let opened = open(word, &args.reading, streams);
        files.push(opened.map_err(|failure| failure.about(word))?);
    }
    let server = Server::bind(files, WORDING, &args.reading.limits.0, args.port)
        .map_err(|error| Failure::usage(format!("no port to listen on: {error}")))?;
    let url = server.url();
    streams.out.text(&format!("{url}\n"))?;
    streams.out.flush()?;
    if !args.no_open && streams.is_process() {
        match open::that_detached(&url) {
            Ok(()) => streams.say("opened in the browser; Ctrl-C ends it\n"),
            Err(_) => streams.say("no browser was found: open the address above; Ctrl-C ends it\n"),
        }
    }
    server.run().map_err(|error| in_output(error.into()))?;
    Ok(Exit::Fine)
}

fn open(
    word: &Path,
    reading: &Reading,
    streams: &mut Streams,
) -> std::result::Result<File, Failure> {
    let address = Address::find(word);
    let (len, opened) = input::open_at(&address, reading, streams)?;
    let text = word.to_string_lossy();
    let name = match address.is_whole() {
        true => word
            .file_name()
            .map_or_else(|| text.clone(), |name| name.to_string_lossy()),
        false => text.clone(),
    };
    Ok(File {
        name: plain(&name),
        word: text.clone().into_owned(),
        is_whole: address.is_whole(),
        len,
        opened,
    })
}

/// The page says things as the other commands do.
const WORDING: Wording = Wording {
    metadata: metadata_object,
    note: note_text,
    csv: |_, bundle, limits, writer| printed(writer, |out| show::csv_wide(bundle, limits, out)),
    json: |info, bundle, limits, writer| {
        printed(writer, |out| show::json(info, bundle, limits, out))
    },
};

fn printed(
    writer: Box<dyn Write + Send>,
    print: impl FnOnce(&mut Out) -> Result<()>,
) -> Result<()> {
    let mut out = Out::new(writer);
    print(&mut out)?;
    out.flush()
}
