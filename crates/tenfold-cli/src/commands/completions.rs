//! `tenfold completions`: completion scripts for shells.

use clap::CommandFactory;

use super::Outcome;
use crate::args::{Completions, Tenfold};
use crate::exit::Exit;
use crate::terminal::Streams;

pub(super) fn run(args: &Completions, streams: &mut Streams) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Tenfold::command(), "tenfold", &mut script);
    streams.out.text(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Fine)
}
