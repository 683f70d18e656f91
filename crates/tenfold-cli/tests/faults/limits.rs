//! Every limit: with a flag, and exact.
#![expect(clippy::unwrap_used, reason = "only tests use it")]

use std::fs;
use std::path::Path;

use tenfold::Limits;

use crate::arena::{corpus, errors, npy, safetensors, tenfold};

/// A run that asks for exactly so much of a limit, and succeeds; `@` is the corpus.
struct Edge {
    limit: &'static str,
    wanted: u64,
    words: &'static [&'static str],
}

const fn edge(limit: &'static str, wanted: u64, words: &'static [&'static str]) -> Edge {
    Edge {
        limit,
        wanted,
        words,
    }
}

const EDGES: &[Edge] = &[
    // Three names, types, shapes and places, padded to a multiple of 8.
    edge("header", 168, &["verify", "three.safetensors"]),
    edge("tensors", 3, &["verify", "three.safetensors"]),
    edge("tensors", 5, &["verify", "@npz/good/several.npz"]),
    edge("ndim", 4, &["verify", "four.npy"]),
    edge("text", 6, &["verify", "three.safetensors"]),
    edge("depth", 2, &["verify", "@ztensor/good/v2_attributes.zt"]),
    edge("depth", 5, &["verify", "@torch/good/nested.pt"]),
    edge(
        "symmetries",
        1,
        &["verify", "@tens/good/packed_symmetric.tens"],
    ),
    edge("labels", 130, &["verify", "@vespa/good/blocks_130.tbf"]),
    // Two by three numbers of eight bytes.
    edge(
        "decoded",
        48,
        &[
            "reconstruct",
            "@blz/good/page_example.blz",
            "-o",
            "out.npy",
            "--force",
        ],
    ),
    // 6128 bytes come out of 6037.
    edge("ratio", 2, &["verify", "@npz/good/deflated_long.npz"]),
    // A swap and nothing.
    edge("orbit", 2, &["verify", "@tens/good/packed_symmetric.tens"]),
    // One element that stands for 2^20 cells of four bytes, in a file that allows 256 times its own bytes.
    edge("work", (4 << 20) - 256 * EXPANDED, &["hash", "expanded.pt"]),
    // The positions and the values of 40 000 cells, in a file each.
    edge("temp", 640_000, &["verify", "many.tns", "--memory", "1MiB"]),
];

/// How many bytes `expanded.pt` has.
const EXPANDED: u64 = 210;

/// A legacy checkpoint of one tensor, whose cells are all the one element of its storage.
fn expanded(count: u32) -> Vec<u8> {
    let count = &count.to_le_bytes();
    let parts: &[&[u8]] = &[
        b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.",
        b"\x80\x02M\xe9\x03.",
        b"\x80\x02}(X\x0d\0\0\0little_endian\x88u.",
        b"\x80\x02}X\x01\0\0\0wctorch._utils\n_rebuild_tensor_v2\n((",
        b"X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\x000X\x03\0\0\0cpuK\x01NtQ",
        b"K\0\x8a\x05",
        count,
        b"\0\x85K\0\x85\x89ccollections\nOrderedDict\n)RtRs.",
        b"\x80\x02](X\x01\0\0\x000e.",
        b"\x01\0\0\0\0\0\0\0\0\0\x80\x3f",
    ];
    parts.concat()
}

fn set(folder: &Path) {
    let file = expanded(1 << 20);
    assert_eq!(u64::try_from(file.len()), Ok(EXPANDED));
    fs::write(folder.join("expanded.pt"), file).unwrap();
    let lines: String = (1..=40_000).map(|cell| format!("{cell} 1\n")).collect();
    fs::write(folder.join("many.tns"), lines).unwrap();
    let three = safetensors(&[
        ("a", b"12345678"),
        ("bb", b"12345678"),
        ("cccccc", b"12345678"),
    ]);
    fs::write(folder.join("three.safetensors"), three).unwrap();
    fs::write(folder.join("four.npy"), npy("(1, 2, 1, 3)", false, 6)).unwrap();
}

/// The exit code and what is said with a limit set.
fn run(folder: &Path, edge: &Edge, value: u64) -> (Option<i32>, String) {
    let corpus = format!("{}/", corpus().display());
    let words: Vec<String> = edge
        .words
        .iter()
        .map(|word| word.replace('@', &corpus))
        .collect();
    let (flag, value) = (format!("--max-{}", edge.limit), value.to_string());
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    words.extend([flag.as_str(), value.as_str()]);
    let output = tenfold(folder, &words).output().unwrap();
    (output.status.code(), errors(&output))
}

#[test]
fn at_a_limit_all_is_well_and_one_beyond_is_refused_by_its_flag() {
    let folder = tempfile::tempdir().unwrap();
    set(folder.path());
    for edge in EDGES {
        let (limit, wanted) = (edge.limit, edge.wanted);
        let (code, said) = run(folder.path(), edge, wanted);
        assert_eq!(code, Some(0), "--max-{limit} {wanted}: {said}");
        let (code, said) = run(folder.path(), edge, wanted - 1);
        assert_eq!(code, Some(1), "--max-{limit} {}: {said}", wanted - 1);
        let allowed = wanted - 1;
        let expected =
            format!("({wanted} wanted, {allowed} allowed; raise it with --max-{limit})\n");
        assert!(said.ends_with(&expected), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        // Zero and the most there can be are values like any other.
        assert_eq!(run(folder.path(), edge, 0).0, Some(1), "--max-{limit} 0");
        assert_eq!(
            run(folder.path(), edge, u64::MAX).0,
            Some(0),
            "--max-{limit} {}",
            u64::MAX
        );
    }
}

/// Its unit is memory, so the edge depends on the sizes of types: each refusal says how much the next run needs.
#[test]
fn structure_is_refused_until_it_fits_to_the_byte() {
    let folder = tempfile::tempdir().unwrap();
    set(folder.path());
    let edge = edge("structure", 0, &["verify", "three.safetensors"]);
    let mut value = 0;
    for _ in 0..100 {
        let (exit, said) = run(folder.path(), &edge, value);
        if exit == Some(0) {
            assert!(value > 0);
            assert_eq!(run(folder.path(), &edge, value - 1).0, Some(1));
            return;
        }
        assert!(said.contains("--max-structure"), "{said}");
        let (before, _) = said.split_once(" wanted").unwrap();
        let wanted = before.rsplit('(').next().unwrap();
        assert!(wanted.parse::<u64>().unwrap() > value, "{said}");
        value = wanted.parse().unwrap();
    }
    panic!("never enough");
}

#[test]
fn a_tensor_of_2_to_the_31_cells_is_verified_by_its_one_element() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("expanded.pt"), expanded(1 << 31)).unwrap();
    let run = |words: &[&str]| tenfold(folder.path(), words).output().unwrap();
    // Not one of its cells is read, for which there would be no work left.
    let verified = run(&["verify", "expanded.pt", "--max-work", "0"]);
    assert!(verified.status.success(), "{}", errors(&verified));
    // Reading the values of all of them is refused by its flag.
    for command in ["hash", "stats"] {
        let refused = run(&[command, "expanded.pt"]);
        assert_eq!(refused.status.code(), Some(1), "{command}");
        let said = errors(&refused);
        assert!(said.contains("--max-work"), "{command}: {said}");
    }
}

#[test]
fn every_limit_has_an_edge_and_a_flag() {
    let help = tenfold(Path::new("."), &["verify", "--help"]);
    let help = { help }.output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    for limit in Limits::ALL {
        let name = limit.name;
        assert!(help.contains(&format!("--max-{name} ")), "{name}");
        let has_edge = EDGES.iter().any(|edge| edge.limit == name);
        assert!(has_edge || name == "structure", "{name}");
    }
}
