//! The long versions of the fault tests.

use std::time::{Duration, Instant};

use crate::command::{cargo, root, run};

/// Default duration.
const MINUTES: u64 = 60;

/// Runs the long versions with the debug build, then with the release build, and again as long as
/// another round is likely to end in time.
pub(crate) fn soak(minutes: Option<&str>) -> Result<(), String> {
    let minutes = match minutes {
        None => MINUTES,
        Some(text) => text
            .parse()
            .map_err(|_| format!("{text} is no number of minutes"))?,
    };
    let end = Instant::now() + Duration::from_secs(minutes.saturating_mul(60));
    run(cargo(&["build", "--release", "--package", "tenfold-cli"]))?;
    let release = root().join("target/release/tenfold");
    for round in 1_u32.. {
        let began = Instant::now();
        eprintln!("\n== round {round}, debug build");
        run(long(round, None))?;
        eprintln!("\n== round {round}, release build");
        run(long(round, Some(&release)))?;
        if Instant::now() + began.elapsed() > end {
            eprintln!("\n{round} rounds passed");
            break;
        }
    }
    Ok(())
}

/// The long versions, of the debug build or of another program; every round uses another seed.
fn long(round: u32, program: Option<&std::path::Path>) -> std::process::Command {
    let mut command = cargo(&["test", "--package", "tenfold-cli", "--test", "faults"]);
    command
        .args(["--", "--nocapture"])
        .env("TENFOLD_SOAK", round.to_string());
    if let Some(program) = program {
        command.env("TENFOLD_PROGRAM", program);
    }
    command
}
