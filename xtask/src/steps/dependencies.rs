//! Dependencies: licenses, sources, versions, known vulnerabilities.

use crate::command::{program, run};
use crate::tools;

/// Runs `cargo deny` with everything in `deny.toml`. The advisory database is remote; if it cannot
/// be reached, the rest is checked.
pub(super) fn check() -> Result<(), String> {
    let deny = tools::installed("cargo-deny")?;
    let quiet = ["--log-level", "error", "check"];
    run(program(
        &deny,
        &[&quiet[..], &["bans", "licenses", "sources"]].concat(),
    ))?;
    let mut fetch = program(&deny, &["fetch", "db"]);
    fetch.stderr(std::process::Stdio::null());
    if run(fetch).is_err() {
        println!("SKIPPED: known holes of dependencies: their list cannot be fetched");
        return Ok(());
    }
    run(program(&deny, &[&quiet[..], &["advisories"]].concat()))
}
