//! Files are there whole, or not at all: with the real program, and whatever happens to it.
#![expect(clippy::unwrap_used, reason = "only tests use it")]

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use tempfile::TempDir;

use crate::support::{corpus, interruptible};

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_tenfold"))
}

fn example() -> PathBuf {
    corpus("blz/good/page_example.blz").into()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn errors(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A folder with `big.npy`, an array of 100 MB, most of it a hole.
fn with_big() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("big.npy");
    let mut file = File::create(&path).unwrap();
    let mut head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (12500000,), }".to_vec();
    head.resize(117, b' ');
    head.push(b'\n');
    file.write_all(b"\x93NUMPY\x01\x00\x76\x00").unwrap();
    file.write_all(&head).unwrap();
    file.set_len(128 + 100_000_000).unwrap();
    (folder, path)
}

/// Begins a conversion that has to touch every number, and so takes a while.
fn begin(from: &Path, to: &Path, flags: &[&str]) -> Child {
    interruptible(env!("CARGO_BIN_EXE_tenfold"))
        .arg("convert")
        .args([from, to])
        .args(["--cast", "f32"])
        .args(flags)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

const MOMENTS: [u64; 6] = [0, 3, 10, 30, 100, 200];

#[test]
fn a_kill_leaves_no_part_of_a_new_file() {
    let (folder, big) = with_big();
    let out = folder.path().join("out.npy");
    for moment in MOMENTS {
        let mut child = begin(&big, &out, &[]);
        sleep(Duration::from_millis(moment));
        child.kill().unwrap();
        child.wait().unwrap();
        if out.exists() {
            assert_eq!(out.metadata().unwrap().len(), 128 + 50_000_000);
            fs::remove_file(&out).unwrap();
        }
        assert_eq!(names(folder.path()), ["big.npy"], "after {moment} ms");
    }
}

#[test]
fn a_kill_while_a_file_is_replaced_leaves_the_old_or_the_new_one() {
    let (folder, big) = with_big();
    let out = folder.path().join("out.npy");
    for moment in MOMENTS {
        fs::write(&out, "old").unwrap();
        let mut child = begin(&big, &out, &["--force", "--no-sync"]);
        sleep(Duration::from_millis(moment));
        child.kill().unwrap();
        child.wait().unwrap();
        let len = out.metadata().unwrap().len();
        assert!(
            len == 3 || len == 128 + 50_000_000,
            "{len} after {moment} ms"
        );
    }
    let mut child = begin(&big, &out, &["--force", "--no-sync"]);
    assert!(child.wait().unwrap().success());
    assert_eq!(names(folder.path()), ["big.npy", "out.npy"]);
}

#[test]
fn an_interrupt_ends_with_130_and_leaves_nothing() {
    let (folder, big) = with_big();
    let out = folder.path().join("out.npy");
    let mut codes = Vec::new();
    for moment in MOMENTS {
        let child = begin(&big, &out, &["--quiet"]);
        sleep(Duration::from_millis(moment));
        let id = child.id().to_string();
        // It fails if the conversion is over.
        Command::new("kill").args(["-INT", &id]).output().unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(errors(&output), "");
        codes.push((output.status.code(), out.exists()));
        if out.exists() {
            fs::remove_file(&out).unwrap();
        }
        assert_eq!(names(folder.path()), ["big.npy"]);
    }
    // Whoever is quicker than the signal has written the file; whoever is killed by it before it
    // is heeded has no code.
    let is_fine = |code: &(Option<i32>, bool)| match code {
        (Some(130) | None, _) | (Some(0), true) => true,
        (_, _) => false,
    };
    assert!(codes.iter().all(is_fine), "{codes:?}");
    assert!(codes.contains(&(Some(130), false)), "{codes:?}");
}

#[test]
fn a_full_disk_is_said_and_leaves_nothing() {
    let (folder, big) = with_big();
    let out = folder.path().join("out.npy");
    for (to, old) in [(&out, None), (&big, Some(128 + 100_000_000))] {
        // What the system does to a file that gets too long is what it does on a full disk, but
        // that it also sends a signal, which ends a program that does not heed it.
        let script = "ulimit -f 2000; exec \"$0\" \"$@\"";
        let output = Command::new("sh")
            .args(["-c", script, env!("CARGO_BIN_EXE_tenfold"), "convert"])
            .args([&big, to])
            .args(["--cast", "f32", "--force"])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
        let said = format!("tenfold: {}: File too large (os error 27)\n", to.display());
        assert_eq!(errors(&output), said);
        assert_eq!(to.metadata().ok().map(|about| about.len()), old);
        assert_eq!(names(folder.path()), ["big.npy"]);
    }
    let output = program()
        .arg("convert")
        .arg(example())
        .arg("/dev/full")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        errors(&output),
        "tenfold: /dev/full: No space left on device (os error 28)\n"
    );
}

#[test]
fn a_reader_that_goes_away_is_quiet() {
    let (_folder, big) = with_big();
    let script = "\"$0\" convert \"$1\" - | head -c 10 | wc -c";
    let output = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_tenfold")])
        .arg(big)
        .output()
        .unwrap();
    assert_eq!(errors(&output), "");
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), "10");
}

#[test]
fn a_file_can_be_replaced_by_what_is_made_of_it() {
    let (folder, big) = with_big();
    let mut child = begin(&big, &big, &["--force", "--no-sync"]);
    assert!(child.wait().unwrap().success());
    assert_eq!(big.metadata().unwrap().len(), 128 + 50_000_000);
    assert_eq!(names(folder.path()), ["big.npy"]);
}

#[test]
fn a_new_file_has_the_permissions_that_new_files_have_and_a_replaced_one_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.blz");
    let script = "umask 027; exec \"$0\" convert \"$1\" \"$2\" --force";
    let convert = || {
        let mut command = Command::new("sh");
        command.args(["-c", script, env!("CARGO_BIN_EXE_tenfold")]);
        command.arg(example()).arg(&out);
        assert!(command.status().unwrap().success());
        out.metadata().unwrap().mode() & 0o7777
    };
    assert_eq!(convert(), 0o640);
    fs::set_permissions(&out, fs::Permissions::from_mode(0o604)).unwrap();
    assert_eq!(convert(), 0o604);
}

#[test]
fn a_link_stays_and_what_it_points_to_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let (link, nothing) = (
        folder.path().join("link.blz"),
        folder.path().join("nothing.blz"),
    );
    fs::create_dir(folder.path().join("inner")).unwrap();
    fs::write(folder.path().join("inner/file.blz"), "old").unwrap();
    symlink("inner/file.blz", &link).unwrap();
    symlink("no/such/file", &nothing).unwrap();
    let convert = |to: &Path, flags: &[&str]| {
        program()
            .arg("convert")
            .arg(example())
            .arg(to)
            .args(flags)
            .output()
            .unwrap()
    };
    assert_eq!(convert(&link, &[]).status.code(), Some(2));
    assert_eq!(convert(&link, &["--force"]).status.code(), Some(0));
    assert!(link.is_symlink());
    let bytes = fs::read(folder.path().join("inner/file.blz")).unwrap();
    assert_eq!(bytes, fs::read(example()).unwrap());
    let output = convert(&nothing, &["--force"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).ends_with("nothing.blz is a link to nothing\n"));
}

#[test]
fn what_is_no_file_is_written_to_as_the_bytes_come() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let convert = || {
        let mut command = program();
        command.arg("convert").arg(example());
        command
    };
    let mut child = convert().arg(&pipe).spawn().unwrap();
    let read = fs::read(&pipe).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(pipe.metadata().unwrap().file_type().is_fifo());
    let expected = fs::read(example()).unwrap();
    assert_eq!(read, expected);
    assert_eq!(convert().arg("/dev/null").status().unwrap().code(), Some(0));
    // To a file that a shell has opened, once from its start and once to append.
    let path = folder.path().join("out");
    for times in [1, 2] {
        let file = File::options()
            .append(true)
            .create(true)
            .open(&path)
            .unwrap();
        let status = convert().arg("/dev/stdout").stdout(file).status().unwrap();
        assert_eq!(status.code(), Some(0));
        assert_eq!(fs::read(&path).unwrap(), expected.repeat(times));
    }
    let output = convert()
        .arg(folder.path())
        .arg("--force")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        errors(&output).contains("is a folder: --out-dir writes a file for every tensor"),
        "{}",
        errors(&output)
    );
}
