//! One job of the library, as often as it is told, so that its instructions can be counted: `instructions JOB TIMES`.
//! Without words it names its jobs. `cargo xtask instructions` runs it.
#![forbid(unsafe_code)]

mod data;
mod jobs;

use std::process::ExitCode;

use jobs::JOBS;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match words.as_slice() {
        [] => {
            JOBS.iter().for_each(|(name, _)| println!("{name}"));
            Ok(())
        }
        [job, times] => run(job, times),
        _ => Err("usage: instructions [JOB TIMES]".into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("instructions: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run(job: &str, times: &str) -> Result<(), String> {
    let times: u32 = times.parse().map_err(|_| format!("{times} is no number"))?;
    let found = JOBS.iter().find(|(name, _)| *name == job);
    let (_, prepare) = found.ok_or_else(|| format!("there is no job {job}"))?;
    let said = |error: tenfold::Error| format!("{job}: {error}");
    let mut work = prepare().map_err(said)?;
    for _ in 0..times {
        work().map_err(said)?;
    }
    Ok(())
}
