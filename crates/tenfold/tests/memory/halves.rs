//! Long tests in two processes at once: the counter of memory sees all threads of one.

use std::process::{Command, Stdio};

use tenfold::Format;

/// Says to a process which formats are its own.
const HALF: &str = "TENFOLD_HALF";

/// Does `work` for every format: this process runs itself twice, with the test `name` alone, and each does
/// every second format.
pub(crate) fn each_format(name: &str, work: impl Fn(&'static dyn Format)) {
    if let Ok(half) = std::env::var(HALF) {
        let first: usize = half.parse().unwrap();
        let own = tenfold::formats::ALL.iter().skip(first).step_by(2);
        return own.for_each(|format| work(*format));
    }
    let half = |half: &str| {
        Command::new(std::env::current_exe().unwrap())
            .args([name, "--exact", "--nocapture"])
            .env(HALF, half)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let both = [half("0"), half("1")];
    for half in both {
        let done = half.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&done.stdout);
        assert!(done.status.success(), "{said}");
        assert!(said.contains("1 passed"), "{name} is no test: {said}");
    }
}
