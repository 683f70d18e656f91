//! Project automation: `cargo xtask test` runs every check except those that need gigabytes of
//! other programs or hours, `cargo xtask soak` the long versions of the fault tests followed by
//! `cargo xtask machines`, the tests for other machines that can run here, `cargo xtask oracles`
//! all comparisons with other programs, `cargo xtask fuzz` the fuzzer, `cargo xtask coverage` the
//! coverage report, `cargo xtask mutants` the mutation tests, `cargo xtask bench` the benchmarks,
//! `cargo xtask instructions` the instruction counts of the library's jobs, `cargo xtask view` the
//! tests of the viewer in a browser, `cargo xtask wheel` builds the Python package for
//! distribution, and `cargo xtask picture` draws the demo for the README.
#![forbid(unsafe_code)]

mod bench;
mod command;
mod coverage;
mod fuzz;
mod mutants;
mod picture;
mod steps;
mod tools;

use std::process::ExitCode;

use steps::{INSTRUCTIONS, MACHINES, ORACLES, Step, TEST, VIEW, record_instructions, soak, wheel};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["test"] => run(TEST),
        ["oracles"] => run(ORACLES),
        // Checks for other machines take too long for every test run as well.
        ["soak"] => soak(None).and_then(|()| run(MACHINES)),
        ["soak", "--minutes", minutes] => soak(Some(minutes)).and_then(|()| run(MACHINES)),
        ["coverage"] => coverage::measure(),
        ["coverage", "--report"] => coverage::report(),
        ["fuzz", rest @ ..] => fuzz::fuzz(rest),
        ["mutants", rest @ ..] => mutants::mutants(rest),
        ["instructions"] => run(INSTRUCTIONS),
        ["instructions", "--record"] => record_instructions(),
        ["machines"] => run(MACHINES),
        ["bench", jobs @ ..] => bench::bench(jobs),
        ["view"] => run(VIEW),
        ["picture"] => picture::draw(),
        ["wheel"] => wheel(),
        _ => Err(
            "usage: cargo xtask test|soak [--minutes N]|coverage [--report]|mutants [--quick] [--minutes N] [PATH…]|fuzz --seconds N|bench [JOB…]|instructions [--record]|machines|oracles|view|picture|wheel"
                .into(),
        ),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("xtask: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the steps in order, up to the first failure.
fn run(steps: &[Step]) -> Result<(), String> {
    for step in steps {
        eprintln!("\n== {}", step.name);
        (step.run)().map_err(|why| format!("{}: {why}", step.name))?;
    }
    eprintln!("\nall {} steps passed", steps.len());
    Ok(())
}
