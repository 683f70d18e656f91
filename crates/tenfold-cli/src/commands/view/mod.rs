//! `tenfold view`: a viewer in the browser.

pub(super) mod args;

use std::io::Write;
use std::path::Path;

use tenfold::Result;
use tenfold_view::{Event, File, Server, Wording};

use super::{Found, Outcome, View, each_input, show};
use crate::error::Failure;
use crate::exit::Exit;
use crate::input;
use crate::process::{browser, signals};
use crate::render::{metadata_object, note_text};
use crate::terminal::{Out, Streams, in_output, plain};

pub(super) fn run(args: &View, streams: &mut Streams) -> Outcome {
    if args.no_open && streams.voice().quiet {
        let why = "--quiet prints no address and --no-open opens no browser: leave one of them out";
        return Err(Failure::usage(why));
    }
    let mut files = Vec::with_capacity(args.files.len());
    let reading = &args.reading;
    // Unreadable files of a folder are skipped; a file named on the command line must be readable.
    let mut is_named_missing = false;
    let worst = each_input(&args.files, reading, streams, |word, found, streams| {
        let opened = found.and_then(|found| open(word, found, args, streams));
        is_named_missing |= opened.is_err() && args.files.iter().any(|named| named == word);
        files.push(opened?);
        Ok(Exit::Fine)
    })?;
    if is_named_missing || files.is_empty() {
        return Ok(worst);
    }
    let server = Server::bind(files, WORDING, &args.reading.limits.0, args.port)
        .map_err(|error| Failure::usage(format!("no port to listen on: {error}")))?;
    signals::end_by_interrupt();
    let url = server.url();
    streams.out.text(&format!("{url}\n"))?;
    streams.out.flush()?;
    if !args.no_open && streams.is_process() {
        match browser::open(&url) {
            Ok(()) => streams.say(
                "opened in the browser; if no page comes up, open the address above; Ctrl-C ends it\n",
            ),
            Err(_) if streams.voice().quiet => {
                return Err(Failure::usage(
                    "no browser was found, and --quiet prints no address",
                ));
            }
            Err(_) => streams.say("no browser was found: open the address above; Ctrl-C ends it\n"),
        }
    }
    let served = server.with_observer(observe).run();
    browser::remove_redirect();
    served.map_err(|error| in_output(error.into()))?;
    Ok(Exit::Fine)
}

/// Handles events of the server, and logs errors.
fn observe(event: Event) {
    let text = match event {
        Event::Authenticated => {
            browser::remove_redirect();
            return;
        }
        Event::Panicked { request, message } => {
            format!("internal error, please report it: {request}: {message}")
        }
        Event::AcceptFailed(error) => format!("no connection can be accepted now: {error}"),
        _ => return,
    };
    // Without standard error there is no place to log to.
    let _ = writeln!(std::io::stderr(), "tenfold: {}", plain(&text));
}

fn open(
    word: &Path,
    found: &Found,
    args: &View,
    streams: &mut Streams,
) -> std::result::Result<File, Failure> {
    let Found { reference, input } = found;
    let (mut opened, _) = input::read(input, reference, &args.reading, None, streams)?;
    input::choose(&mut opened, &args.choice)?;
    // Memory per response is bounded; the number of responses is not.
    opened.bundle.count_each_job();
    let text = word.to_string_lossy();
    let choice = &args.choice;
    let is_whole = reference.is_whole() && choice.only.is_empty() && choice.exclude.is_empty();
    let file_name = word.file_name().filter(|_| is_whole);
    let name = file_name.map_or_else(|| text.clone(), |name| name.to_string_lossy());
    Ok(File {
        name: plain(&name),
        word: text.clone().into_owned(),
        is_whole,
        len: input.len(),
        opened,
    })
}

/// The page uses the same phrases as the other commands.
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
