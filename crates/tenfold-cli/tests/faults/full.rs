//! A file that may not grow any further, a device that is full, and a reader that goes away.

use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::arena::{amount, errors, limited, npy, tenfold};
use crate::scene::is_readable;

/// As many numbers as make a file of these kibibytes with its header of 128 bytes.
fn of_kibibytes(count: u32) -> Vec<u8> {
    let numbers = count * 128 - 16;
    npy(&format!("({numbers},)"), false, numbers)
}

#[test]
fn a_file_may_be_as_long_as_is_allowed_and_no_longer() {
    let folder = tempfile::tempdir().unwrap();
    // As `f32`, with a header of 128 bytes, they are one mebibyte.
    let numbers = (1 << 20) / 4 - 32;
    let file = npy(&format!("({numbers},)"), false, numbers);
    fs::write(folder.path().join("in.npy"), file).unwrap();
    let words = ["convert", "in.npy", "out.npy", "--force", "--cast", "f32"];
    let most: u32 = 2048;
    let lens: Vec<u32> = match amount(0, 1) {
        0 => vec![0, 1, 3, 1024, most - 1],
        _ => (0..most).step_by(17).chain([most - 1]).collect(),
    };
    for replaced in [false, true] {
        for len in &lens {
            let out = folder.path().join("out.npy");
            if replaced {
                fs::write(&out, "old").unwrap()
            } else {
                assert!(!out.exists())
            }
            // Blocks of 512 bytes; a write that reaches the end falls short, and the next one fails.
            let output = limited(folder.path(), &format!("ulimit -f {len}"), &words).output();
            let output = output.unwrap();
            assert_eq!(output.status.code(), Some(2), "{len}: {output:?}");
            let said = "tenfold: out.npy: File too large (os error 27)\n";
            assert_eq!(errors(&output), said);
            let left = fs::read(&out).ok();
            assert_eq!(left, replaced.then(|| b"old".to_vec()), "{len}");
            assert_eq!(
                fs::read_dir(folder.path()).unwrap().count(),
                1 + usize::from(replaced)
            );
        }
        let output = limited(folder.path(), &format!("ulimit -f {most}"), &words).output();
        assert_eq!(output.unwrap().status.code(), Some(0));
        fs::remove_file(folder.path().join("out.npy")).unwrap();
    }
}

#[test]
fn a_full_device_is_an_error_for_every_writer() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in.npy"), npy("(2, 2)", false, 4)).unwrap();
    for format in [
        "npy",
        "npz",
        "safetensors",
        "ztensor",
        "tens",
        "gguf",
        "mtx",
        "raw",
        "vespa",
    ] {
        let words = [
            "convert",
            "in.npy",
            "/dev/full",
            "--to",
            format,
            "--allow",
            "all",
        ];
        let output = tenfold(folder.path(), &words).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{format}: {output:?}");
        let said = errors(&output);
        let last = said.lines().last().unwrap_or_default();
        assert_eq!(
            last, "tenfold: /dev/full: No space left on device (os error 28)",
            "{format}"
        );
    }
    // The same for what is printed.
    for words in [
        &["info", "in.npy"][..],
        &["show", "in.npy"],
        &["info", "--json", "in.npy"],
    ] {
        let full = fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let output = tenfold(folder.path(), words).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {output:?}");
        assert!(is_readable(&errors(&output)), "{output:?}");
    }
}

#[test]
fn a_slow_reader_gets_every_byte() {
    let folder = tempfile::tempdir().unwrap();
    let file = of_kibibytes(512);
    fs::write(folder.path().join("in.npy"), &file).unwrap();
    let mut child = tenfold(folder.path(), &["convert", "in.npy", "-", "--to", "npy"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut from = child.stdout.take().unwrap();
    let (mut got, mut piece) = (Vec::<u8>::new(), vec![0; 7001]);
    loop {
        let len = from.read(&mut piece).unwrap();
        if len == 0 {
            break;
        }
        got.extend(piece.iter().take(len));
        sleep(Duration::from_micros(100));
    }
    assert!(child.wait().unwrap().success());
    assert!(got == file);
}

#[test]
fn a_reader_that_goes_away_is_no_success_of_a_conversion() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in.npy"), of_kibibytes(512)).unwrap();
    assert!(
        Command::new("mkfifo")
            .arg(folder.path().join("pipe"))
            .status()
            .unwrap()
            .success()
    );
    // What was cut off downstream is not a tensor file, and a script must be able to tell.
    for target in ["- --to npy > pipe", "pipe --to npy"] {
        let script = format!("head -c 10 pipe > part & \"$0\" convert in.npy {target}");
        let output = Command::new("sh")
            .arg("-c")
            .arg(&script)
            .arg(crate::arena::program())
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{script}: {output:?}");
        assert_eq!(errors(&output), "");
    }
    // Of words for people, as many as they want are enough.
    let script = "\"$0\" show in.npy --json 2>errors | head -c 10 >part; test ! -s errors";
    let status = Command::new("sh")
        .arg("-c")
        .arg(script)
        .arg(crate::arena::program())
        .current_dir(folder.path())
        .status();
    assert!(status.unwrap().success());
}
