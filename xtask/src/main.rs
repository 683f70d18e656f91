//! What the project does to itself: `cargo xtask test` runs every check there is but for those that need
//! gigabytes of other programs or hours, `cargo xtask soak` the long versions of the tests with faults
//! and then `cargo xtask machines`, what can be tried of machines that are not at hand, `cargo xtask oracles` all
//! comparisons with other programs, `cargo xtask fuzz` looks for files that break something, `cargo xtask coverage` counts
//! what the tests reach, `cargo xtask mutants` which changed checks they notice, `cargo xtask bench`
//! measures, `cargo xtask instructions` counts what the library's jobs take, `cargo xtask view` tests the viewer in
//! a browser, `cargo xtask wheel` builds the Python package to hand on, and `cargo xtask
//! picture` draws the demo for the README.
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
        // What other machines may do otherwise takes too long for every test as well.
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

/// Does the steps in order, up to the first that fails.
fn run(steps: &[Step]) -> Result<(), String> {
    for step in steps {
        eprintln!("\n== {}", step.name);
        (step.run)().map_err(|why| format!("{}: {why}", step.name))?;
    }
    eprintln!("\nall {} steps passed", steps.len());
    Ok(())
}
