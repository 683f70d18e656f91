//! Commands run from the root of the workspace.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

/// The root of the workspace.
pub(crate) fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// A command to run in the root of the workspace.
pub(crate) fn program(name: impl AsRef<OsStr>, args: &[&str]) -> Command {
    let mut command = Command::new(name);
    command.args(args).current_dir(root());
    command
}

/// The running Cargo.
pub(crate) fn cargo(args: &[&str]) -> Command {
    program(env!("CARGO"), args)
}

/// Runs a command; fails unless it succeeds.
pub(crate) fn run(mut command: Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{name} failed, {status}")),
        Err(error) => Err(format!("{name} cannot be run: {error}")),
    }
}
