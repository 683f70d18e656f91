//! `tenfold man`: manual pages.

use std::path::Path;

use clap::{Command, CommandFactory};
use clap_mangen::Man as Page;
use tenfold::Error;

use super::Outcome;
use crate::args::{Man, Tenfold};
use crate::error::Failure;
use crate::exit::Exit;
use crate::terminal::Streams;

pub(super) fn run(args: &Man, streams: &mut Streams) -> Outcome {
    // A manual page includes all that the short help does.
    let shown = |arg: clap::Arg| arg.hide_short_help(false);
    let command = Tenfold::command().mut_args(shown);
    let mut command = command.mut_subcommands(|inner| {
        let inner = inner.mut_args(shown);
        inner.mut_subcommands(|innermost| innermost.mut_args(shown))
    });
    command.build();
    match &args.folder {
        None => streams.out.text(&page(&command)?)?,
        Some(folder) => write_all(&command, folder, streams)?,
    }
    Ok(Exit::Fine)
}

fn page(command: &Command) -> Result<String, Failure> {
    let mut page = Vec::new();
    Page::new(command.clone())
        .render(&mut page)
        .map_err(Error::from)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

/// Writes `tenfold.1`, `tenfold-info.1` and so on.
fn write_all(command: &Command, folder: &Path, streams: &mut Streams) -> Result<(), Failure> {
    let in_file = |path: &Path, error: std::io::Error| Error::from(error).in_file(path);
    std::fs::create_dir_all(folder).map_err(|error| in_file(folder, error))?;
    for command in pages(command) {
        let path = folder.join(format!("{}.1", command.get_name()));
        std::fs::write(&path, page(&command)?).map_err(|error| in_file(&path, error))?;
        streams.detail(&path, "written");
    }
    Ok(())
}

/// A command and all its subcommands, each under the name of its page.
fn pages(command: &Command) -> Vec<Command> {
    let inner = command.get_subcommands();
    let inner = inner.filter(|inner| inner.get_name() != "help");
    let inner = inner.flat_map(|inner| {
        let full = format!("{}-{}", command.get_name(), inner.get_name());
        pages(&inner.clone().name(full))
    });
    std::iter::once(command.clone()).chain(inner).collect()
}
