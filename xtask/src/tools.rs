//! Cargo tools needed by checks, installed under `target/tools` if missing.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::command::{cargo, root, run};

/// The path of a tool, which is built first if missing.
pub(crate) fn installed(name: &str) -> Result<PathBuf, String> {
    let on_path = std::env::var_os("PATH").into_iter();
    let folders = on_path.flat_map(|path| std::env::split_paths(&path).collect::<Vec<_>>());
    let folder = root().join("target/tools");
    let found = folders
        .chain([folder.join("bin")])
        .map(|folder| folder.join(name));
    if let Some(found) = found.into_iter().find(|path| path.is_file()) {
        return Ok(found);
    }
    let mut install = cargo(&["install", "--quiet", "--locked", name, "--root"]);
    install.arg(&folder);
    run(install)?;
    Ok(folder.join("bin").join(name))
}

/// `PATH` with that tool: Cargo looks there for programs it runs as `cargo NAME`.
pub(crate) fn path_with(name: &str) -> Result<OsString, String> {
    let tool = installed(name)?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folder = tool.parent().map(Path::to_owned).into_iter();
    let folders = folder.chain(std::env::split_paths(&path));
    std::env::join_paths(folders).map_err(|error| error.to_string())
}
