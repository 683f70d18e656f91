//! Python environments from lists of packages.

use std::path::Path;

use crate::command::{program, run};

/// Creates an environment with the packages of `requirements.txt` in `folder`, unless it exists
/// already; the inner result contains the reason if they are not available.
pub(crate) fn install(folder: &Path, environment: &Path) -> Result<Result<(), String>, String> {
    let python = environment.join("bin/python");
    let wanted = folder.join("requirements.txt");
    let installed = environment.join("requirements.txt");
    if !is_ready(&wanted, &installed) {
        let mut make = program("python3", &["-m", "venv", "--clear"]);
        make.arg(environment);
        run(make)?;
        let mut install = program(
            python,
            &["-m", "pip", "install", "--quiet", "--requirement"],
        );
        install.arg(&wanted);
        if let Err(why) = run(install) {
            return Ok(Err(why));
        }
        std::fs::copy(&wanted, &installed).map_err(|error| error.to_string())?;
    }
    Ok(Ok(()))
}

/// Whether the packages of a list are installed: a copy of the list is kept beside them.
pub(super) fn is_ready(wanted: &Path, installed: &Path) -> bool {
    match (std::fs::read(wanted), std::fs::read(installed)) {
        (Ok(wanted), Ok(installed)) => wanted == installed,
        _ => false,
    }
}
