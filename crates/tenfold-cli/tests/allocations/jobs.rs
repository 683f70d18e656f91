//! What is done while memory runs out: small jobs that reach every buffer that grows with a file.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use tenfold_cli::{Exit, Streams, run};

/// Words of one run each, of which every lack of memory is an error; `out` is what a run writes, if it writes a
/// file.
pub(crate) const JOBS: &[&str] = &[
    "verify cube.zt",
    "stats cube.npy",
    "stats sparse.mtx",
    "hash cube.npy",
    "hash sparse.mtx",
    "diff cube.npy other.npy",
    "convert cube.npy out.zt --opt compress=zstd",
    "convert cube.npy out.zt --to ztensor@2 --opt compress=zstd",
    "convert cube.npy out.npy --cast f32 --allow precision",
    "convert cube.zt out.npy",
    "convert second.zt out.npy",
    "convert cube.npz out.npy",
    "convert cube.npy.gz out.npy",
    "convert cube.npy.zst out.npy",
    "convert sparse.mtx out.npy",
    "convert sparse.mtx out.zt",
    "info many.safetensors",
    "info many.safetensors --json",
    "info many.safetensors --tree --sort size",
    "info many.zt",
    "info many.npz",
    "info many.gguf",
    "verify many.zt",
    "verify many.npz",
    "verify many.safetensors",
    "hash many.safetensors --tensors",
    "hash many.zt",
    "stats many.zt",
    "diff many.safetensors many.zt",
    "show cube.npy --csv",
    "show cube.npy --json",
    "show tall.npy --csv",
    "show sparse.mtx --csv",
    "show sparse.mtx --json",
    "convert tall.npy out.mtx",
    "convert sparse.mtx out.mtx",
    "convert sparse.tns out.tns",
    "convert labels.json out.vespa --to vespa",
    "convert labels.vespa out.json --to vespa-json",
    "convert feed.jsonl out.vespa --to vespa",
    "convert integrals.fcidump out.fcidump",
    "convert cube.npy out.npy --permute 2,0,1",
    "convert turned.npy out.npy",
    "convert tall.npy out.zt",
    "hash turned.npy",
    "diff cube.npy turned.npy",
    "convert many.safetensors out.zt",
    "convert many.zt out.safetensors",
    "convert many.zt out.npz",
    "convert many.npz out.gguf",
    "convert many.gguf out.safetensors",
    "convert cube.npy.xz out.npy",
    "edit many.safetensors --set a=b -o out.safetensors",
];

/// The same for work in which the process may end before there is an error, with the exit code of one.
pub(crate) const ENDING_JOBS: &[&str] = &[
    "compress cube.npy out.blz --eps 1e-8",
    "compress noise.npy out.blz --eps 1e-1",
    "reconstruct cube.blz out.npy",
    "convert cube.blz out.npy --dense --allow train",
    "tt round cube.blz out.blz --eps 1e-3",
];

/// The words of a job, and whether it may end the process.
pub(crate) fn job(number: usize) -> Option<(&'static str, bool)> {
    let all = JOBS.iter().map(|words| (*words, false));
    let ending = ENDING_JOBS.iter().map(|words| (*words, true));
    all.chain(ending).nth(number)
}

/// What a run printed and how it ended.
pub(crate) struct Ran {
    pub(crate) exit: Exit,
    pub(crate) output: Vec<u8>,
    pub(crate) errors: String,
}

#[derive(Clone, Default)]
struct Shared(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);

impl std::io::Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut all = self.0.lock().unwrap();
        // What a test keeps is no part of what it tests.
        all.try_reserve(bytes.len())?;
        all.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Runs the command in the folder that this process is in.
pub(crate) fn ran(words: &str) -> Ran {
    let (output, errors) = (Shared::default(), Shared::default());
    let words = std::iter::once("tenfold").chain(words.split(' '));
    let mut streams = Streams::new(std::io::empty(), output.clone(), errors.clone());
    let exit = run(words, &mut streams);
    drop(streams);
    let output = std::mem::take(&mut *output.0.lock().unwrap());
    let errors = String::from_utf8_lossy(&errors.0.lock().unwrap()).into_owned();
    Ran {
        exit,
        output,
        errors,
    }
}

fn put(name: &str, bytes: impl AsRef<[u8]>) {
    fs::write(name, bytes).unwrap();
}

fn npy(shape: &str, is_fortran: bool, values: impl Iterator<Item = f64>) -> Vec<u8> {
    let order = if is_fortran { "True" } else { "False" };
    let head = format!("{{'descr': '<f8', 'fortran_order': {order}, 'shape': {shape}, }}");
    let mut file = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    file.extend(format!("{head:<117}\n").bytes());
    values.for_each(|value| file.extend(value.to_le_bytes()));
    file
}

/// The edge of a cube of doubles.
const EDGE: u32 = 40;

fn cube(value: impl Fn([f64; 3]) -> f64) -> impl Iterator<Item = f64> {
    (0..EDGE.pow(3)).map(move |cell| {
        value([cell / EDGE / EDGE, cell / EDGE % EDGE, cell % EDGE].map(f64::from))
    })
}

/// Makes the files of all jobs in the folder that this process is in.
pub(crate) fn make_files() {
    let shape = format!("({EDGE}, {EDGE}, {EDGE})");
    let smooth = |[i, j, k]: [f64; 3]| 1.0 / (1.0 + i + 2.0 * j + 3.0 * k);
    put("cube.npy", npy(&shape, false, cube(smooth)));
    put(
        "turned.npy",
        npy(&shape, true, cube(|[k, j, i]| smooth([i, j, k]))),
    );
    put(
        "other.npy",
        npy(&shape, false, cube(|[i, j, k]| smooth([i, k, j]))),
    );
    let noise =
        |[i, j, k]: [f64; 3]| (i * 12.9898 + j * 78.233 + k * 37.719).sin() * 43758.5453 % 1.0;
    put("noise.npy", npy(&shape, false, cube(noise)));
    let long = || (0..600_000).map(f64::from);
    put("tall.npy", npy("(1000, 600)", true, long()));
    let mut head = String::from("{");
    const MANY: usize = 6000;
    for number in 0..MANY {
        let comma = if number == 0 { "" } else { "," };
        let (from, to) = (number * 8, number * 8 + 8);
        write!(
            head,
            "{comma}\"layer.{number}.weight\":{{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[{from},{to}]}}"
        )
        .unwrap();
    }
    head.push('}');
    let mut many = (head.len() as u64).to_le_bytes().to_vec();
    many.extend(head.bytes());
    many.extend((0..MANY * 2).flat_map(|n| (n as f32).to_le_bytes()));
    put("many.safetensors", many);
    let mut matrix = "%%MatrixMarket matrix coordinate real general\n300 300 30000\n".to_owned();
    let mut tns = String::new();
    let mut labels = String::from("{\"type\":\"tensor(x{},y{})\",\"cells\":[");
    for cell in 0..30_000 {
        let i = cell / 100;
        let j = (cell * 7 + i) % 300;
        let (row, column, value) = (i + 1, j + 1, f64::from(cell) / 4.0);
        writeln!(matrix, "{row} {column} {value}").unwrap();
        writeln!(tns, "{row} {column} {value}").unwrap();
        if cell < 8000 {
            let comma = if cell == 0 { "" } else { "," };
            write!(
                labels,
                "{comma}{{\"address\":{{\"x\":\"a{cell}\",\"y\":\"b{j}\"}},\"value\":{value}}}"
            )
            .unwrap();
        }
    }
    labels.push_str("]}");
    put("sparse.mtx", matrix);
    put("sparse.tns", tns);
    put("labels.json", labels);
    let mut feed = String::new();
    for number in 0..3000 {
        writeln!(
            feed,
            "{{\"put\":\"id:a:b::{number}\",\"fields\":{{\"t\":{{\"type\":\"tensor<float>(x[4])\",\"values\":[1,2,3,4]}}}}}}"
        )
        .unwrap();
    }
    put("feed.jsonl", feed);
    let mut integrals = "&FCI NORB=12,NELEC=2,MS2=0,\n&END\n".to_owned();
    for (i, j, k, l) in quartets(12) {
        writeln!(integrals, "{} {i} {j} {k} {l}", f64::from(i + 2 * j) / 8.0).unwrap();
    }
    put("integrals.fcidump", integrals);
    for words in [
        "convert cube.npy cube.zt --opt compress=zstd",
        "convert cube.npy second.zt --to ztensor@2 --opt compress=zstd",
        "convert cube.npy cube.npz",
        "convert many.safetensors many.zt",
        "convert many.safetensors many.npz",
        "convert many.safetensors many.gguf",
        "convert sparse.mtx sparse.zt",
        "convert labels.json labels.vespa --to vespa",
        "compress cube.npy cube.blz --eps 1e-8",
    ] {
        let ran = ran(words);
        assert_eq!(ran.exit, Exit::Fine, "{words}: {}", ran.errors);
    }
    for (program, name) in [
        ("gzip", "cube.npy.gz"),
        ("zstd", "cube.npy.zst"),
        ("xz", "cube.npy.xz"),
    ] {
        packed(program, name);
    }
}

/// The distinct quartets of orbitals.
fn quartets(n: u32) -> impl Iterator<Item = (u32, u32, u32, u32)> {
    let pairs = move || (1..=n).flat_map(|i| (1..=i).map(move |j| (i, j)));
    pairs().flat_map(move |(i, j)| {
        pairs()
            .filter(move |pair| *pair <= (i, j))
            .map(move |(k, l)| (i, j, k, l))
    })
}

/// The cube compressed by another program; where there is none, its job shows an error whatever fails.
fn packed(program: &str, name: &str) {
    let cube = fs::File::open("cube.npy").unwrap();
    let output = std::process::Command::new(program)
        .stdin(cube)
        .arg("-c")
        .output();
    if let Ok(output) = output {
        put(name, output.stdout);
    }
}

/// What there is of the output of a run; its parts in the order of their names.
pub(crate) fn made(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut made: Vec<(String, Vec<u8>)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with("out") || name.starts_with('.'))
        .map(|name| (name.clone(), fs::read(folder.join(name)).unwrap()))
        .collect();
    made.sort();
    made
}
