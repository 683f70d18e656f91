//! `cargo xtask bench [JOB…]`: runs the benchmarks, beside limits and peers, and writes
//! `benches/RESULTS.md`.

use std::path::{Path, PathBuf};

use crate::command::{cargo, program, root, run};

/// Builds the measured programs, creates the environment of the peers and runs `benches/run.py`.
pub(crate) fn bench(jobs: &[&str]) -> Result<(), String> {
    let target = root().join("target");
    run(cargo(&["build", "--release", "--package", "tenfold-cli"]))?;
    let mut build = cargo(&["build", "--release", "--manifest-path"]);
    build.arg(root().join("benches/native/Cargo.toml"));
    build.arg("--target-dir").arg(target.join("native"));
    run(build)?;
    let mut trains = cargo(&["build", "--release", "--package", "tenfold-train"]);
    trains.args(["--example", "workloads"]);
    run(trains)?;
    let mut measure = program(peers()?.join("bin/python"), &[]);
    measure.arg(root().join("benches/run.py")).args(jobs);
    measure.env("TENFOLD", target.join("release/tenfold"));
    measure.env("TENFOLD_NATIVE", target.join("native/release/native"));
    run(measure)
}

/// The Python environment with the newest versions of the peers: the one in `TENFOLD_PEERS`, or a
/// new one.
fn peers() -> Result<PathBuf, String> {
    if let Some(named) = std::env::var_os("TENFOLD_PEERS") {
        return Ok(named.into());
    }
    let environment = root().join("target/peers");
    let installed = environment.join("peers.txt");
    let lists = ["peers.txt", "peers-older.txt"].map(|name| root().join("benches").join(name));
    let wanted = lists.iter().map(|path| text(path));
    let wanted = wanted.collect::<Result<Vec<String>, String>>()?;
    if std::fs::read_to_string(&installed).is_ok_and(|text| text == wanted.concat()) {
        return Ok(environment);
    }
    let mut make = program("python3", &["-m", "venv", "--clear"]);
    make.arg(&environment);
    run(make)?;
    let python = environment.join("bin/python");
    let [newest, older] = &lists;
    let mut install = program(&python, &["-m", "pip", "install", "--quiet"]);
    install.arg("--requirement").arg(newest);
    run(install)?;
    for package in text(older)?.lines() {
        let folder = environment.join("older").join(package.replace("==", "-"));
        let mut install = program(&python, &["-m", "pip", "install", "--quiet", "--no-deps"]);
        install.arg("--target").arg(folder).arg(package);
        run(install)?;
    }
    std::fs::write(&installed, wanted.concat()).map_err(|error| error.to_string())?;
    Ok(environment)
}

fn text(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}
