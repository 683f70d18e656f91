//! Environments of Python, each with the packages that a list names.

use std::path::Path;

use crate::command::{program, run};

/// Makes an environment with the packages that `requirements.txt` in `folder` names, unless it is
/// there already; what is inside the outcome says why they cannot be had.
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

/// Whether what a list names was installed: a copy of the list is left beside it.
pub(super) fn is_ready(wanted: &Path, installed: &Path) -> bool {
    match (std::fs::read(wanted), std::fs::read(installed)) {
        (Ok(wanted), Ok(installed)) => wanted == installed,
        _ => false,
    }
}
