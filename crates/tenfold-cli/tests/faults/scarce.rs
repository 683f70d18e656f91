//! Address space from hardly any to enough, for every command: each run does its work or ends with exit code 2
//! and says that it is memory, never by a signal or a panic, and leaves no half of an output.
#![expect(clippy::unwrap_used, reason = "only tests use it")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Output;

use crate::arena::{Tree, amount, assert_faultless, errors, limited, npy, tenfold, tree};

/// What each command is asked to do; what it writes begins with `out`.
const COMMANDS: &[&str] = &[
    "info many.safetensors",
    "info many.safetensors --json",
    "info many.safetensors --tree",
    "hash many.safetensors --tensors",
    "stats many.safetensors",
    "verify many.safetensors",
    "diff many.safetensors many.safetensors",
    "show cube.npy --csv",
    "show cube.npy --json",
    "show sparse.mtx --json",
    "convert many.safetensors out.zt",
    "convert many.safetensors out.npz",
    "convert many.safetensors out.gguf",
    "convert cube.npy out.zt --opt compress=zstd",
    "convert cube.npy out.npy --permute 2,0,1",
    "convert cube.npy out.mtx --reshape 1600,40 --sparse",
    "convert sparse.mtx out.npy",
    "compress cube.npy out.blz --eps 1e-6",
    "reconstruct cube.blz out.npy",
    "tt round cube.blz out.blz --eps 1e-3",
    "plot cube.npy -o out.png --kind histogram",
    "edit many.safetensors --set a=b -o out.safetensors",
];

/// Kibibytes between two amounts of memory.
const STEP: usize = 512;
/// What is enough for each of the commands.
const MOST: usize = 1 << 20;

fn make_files(folder: &Path) {
    fs::write(folder.join("cube.npy"), npy("(40, 40, 40)", false, 64_000)).unwrap();
    let mut head = String::from("{");
    for number in 0..6000 {
        let comma = if number == 0 { "" } else { "," };
        let (from, to) = (number * 4, number * 4 + 4);
        write!(
            head,
            "{comma}\"layer.{number}\":{{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[{from},{to}]}}"
        )
        .unwrap();
    }
    head.push('}');
    let mut many = u64::try_from(head.len()).unwrap().to_le_bytes().to_vec();
    many.extend(head.bytes());
    many.extend([0; 24_000]);
    fs::write(folder.join("many.safetensors"), many).unwrap();
    let mut matrix = "%%MatrixMarket matrix coordinate real general\n300 300 20000\n".to_owned();
    for cell in 0..20_000 {
        writeln!(matrix, "{} {} 0.5", cell / 100 + 1, cell * 7 % 300 + 1).unwrap();
    }
    fs::write(folder.join("sparse.mtx"), matrix).unwrap();
    let words = ["compress", "cube.npy", "cube.blz", "--eps", "1e-8"];
    let made = tenfold(folder, &words).output().unwrap();
    assert!(made.status.success(), "{}", errors(&made));
}

fn run(folder: &Path, memory: usize, words: &str) -> Output {
    let words: Vec<&str> = words.split(' ').collect();
    limited(folder, &format!("ulimit -v {memory}"), &words)
        .env("RUST_BACKTRACE", "0")
        .output()
        .unwrap()
}

/// What is wrong with how a run ended.
fn fault(output: &Output) -> Option<String> {
    let said = errors(output);
    // Several threads may lack memory at once; Rust adds how a backtrace is had.
    let is_of_memory = |line: &str| {
        line.starts_with("tenfold: ")
            // The C library's own last words.
            || line.starts_with("Fatal glibc error") && line.contains("memory")
            || line.contains("memory allocation of ")
            || line.ends_with(" bytes failed")
    };
    let is_fine = |line: &str| {
        is_of_memory(line)
            || ["note: ", "skipping backtrace"]
                .iter()
                .any(|start| line.starts_with(start))
            || line.is_empty()
    };
    match output.status.code() {
        Some(0) => None,
        Some(2) if said.lines().any(is_of_memory) && said.lines().all(is_fine) => None,
        _ => Some(format!("{}: {said}", output.status)),
    }
}

#[test]
fn no_amount_of_memory_ends_a_command_by_a_signal() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    make_files(folder);
    let before = tree(folder);
    // With less the system does not even start the program.
    let least = (0..MOST)
        .step_by(STEP)
        .find(|memory| run(folder, *memory, "formats").status.success());
    let least = least.unwrap();
    let (mut faults, mut count, mut ended) = (Vec::new(), 0, 0);
    for (place, words) in COMMANDS.iter().enumerate() {
        // Steps that no other amount shares, so that many places are where it ends.
        let mut memory = least + place * 28;
        let step = STEP / amount(1, 8);
        let mut kept = Vec::new();
        loop {
            assert!(memory < MOST, "{words} needs more than is enough");
            let output = run(folder, memory, words);
            count += 1;
            ended += usize::from(output.status.code() == Some(2));
            if let Some(fault) = fault(&output) {
                faults.push(format!("{words} in {memory} KiB: {fault}"));
            }
            let mut made = tree(folder);
            made.retain(|name, _| !before.contains_key(name));
            for name in made.keys() {
                fs::remove_file(folder.join(name)).unwrap();
            }
            if output.status.success() {
                // Memory may be lacking when all has been written.
                kept.retain(|(_, other)| *other != made);
                let half = kept.iter().map(|(memory, half): &(usize, Tree)| {
                    let names: Vec<&String> = half.keys().collect();
                    format!("{words} in {memory} KiB: left {names:?}")
                });
                faults.extend(half);
                break;
            }
            if !made.is_empty() {
                kept.push((memory, made));
            }
            memory += step;
        }
    }
    assert_faultless(format!("{count} runs, {ended} without memory"), &faults);
    assert!(ended > COMMANDS.len(), "{ended} runs had too little memory");
}
