//! What of the measurements only Rust can do: our kernels in process, limits, and peers that are crates.
//!
//! `native JOB WORDS…` prepares one job and then answers every line with the seconds it took and what was seen.
//! One module a job.

mod cast;
mod checksum;
mod diff;
mod listing;
mod memory;
mod relayout;
mod slice;
mod sparse;
mod stats;
mod symmetric;
mod zstd;

use std::error::Error;
use std::io::{BufRead, Write};
use std::time::Instant;

/// What may fail; a measurement that fails ends.
pub type Outcome<T> = Result<T, Box<dyn Error>>;

/// What answers the words of a line: seconds, and what was seen.
pub type Answer = Box<dyn FnMut(&[&str]) -> Outcome<(f64, String)>>;

fn main() -> Outcome<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (job, words) = words.split_first().ok_or("native JOB WORDS…")?;
    let mut answer = match (*job, words) {
        ("listing", ["make", folder, count]) => return listing::make(folder, count.parse()?),
        ("checksum", ["make", path, values, count, kind, version]) => {
            return checksum::make(path, values, count.parse()?, kind, version);
        }
        ("cast", words) => cast::start(words)?,
        ("checksum", words) => checksum::start(words)?,
        ("diff", words) => diff::start(words)?,
        ("relayout", words) => relayout::start(words)?,
        ("slice", words) => slice::start(words)?,
        ("sparse", words) => sparse::start(words)?,
        ("stats", words) => stats::start(words)?,
        ("symmetric", words) => symmetric::start(words)?,
        ("zstd", words) => zstd::start(words)?,
        ("listing", words) => listing::start(words)?,
        _ => return Err(format!("no job {job}").into()),
    };
    println!("ready");
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let (seconds, seen) = answer(&words)?;
        println!("{seconds} {seen}");
        std::io::stdout().flush()?;
    }
    Ok(())
}

/// Seconds that something takes, and what it gives.
pub fn timed<T>(work: impl FnOnce() -> Outcome<T>) -> Outcome<(f64, T)> {
    let start = Instant::now();
    let result = work()?;
    Ok((start.elapsed().as_secs_f64(), result))
}
